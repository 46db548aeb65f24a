/* Which variant takes products whose sizes do not fit int. The plans are made, not run. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/lower_case.h"

typedef struct Wide {
    const char *what;
    const char *text;
    int64_t dims[2][4]; /* of the inputs x and w */
    bool fits;
} Wide;

static const char matmul[] = "graph g (x: f32[m, k], w: f32[k, n]) -> (y) { y = MatMul(x, w) }";
static const char left[] =
    "graph g (x: f32[k, m], w: f32[k, n]) -> (y) { y = Gemm(x, w) {transA=1} }";
static const char conv[] =
    "graph g (x: f32[1, c, h, v], w: f32[o, c, k, l]) -> (y) { y = Conv(x, w) }";

#define WIDE (INT64_C(1) << 31)

static const Wide wide_table[] = {
    {"a usual product", matmul, {{64, 32}, {32, 16}}, true},
    {"the largest that fits", matmul, {{1, WIDE - 1}, {WIDE - 1, 1}}, true},
    {"terms", matmul, {{1, WIDE}, {WIDE, 1}}, false},
    {"columns", matmul, {{1, 1}, {1, WIDE}}, false},
    /* Blocks of rows fit, so that the number of rows does not matter, unless they are columns. */
    {"rows", matmul, {{WIDE, 2}, {2, 2}}, true},
    {"rows that are columns in memory", left, {{2, WIDE}, {2, 2}}, false},
    {"a usual convolution", conv, {{1, 2, 8, 8}, {3, 2, 1, 1}}, true},
    {"pixels", conv, {{1, 2, 65536, 32768}, {3, 2, 1, 1}}, false},
    {"channels", conv, {{1, WIDE, 1, 1}, {2, WIDE, 1, 1}}, false},
    {"the window", conv, {{1, 2, 32768, 32768}, {2, 2, 32768, 32768}}, false},
};

static const VfkKernel *kernel_of(const VfPlan *plan, const char *name)
{
    for (int32_t i = 0; i < plan->n_step; i++)
        if (strcmp(plan->step[i].kernel->name, name) == 0)
            return plan->step[i].kernel;
    ck_abort_msg("the plan has no %s", name);
    return NULL;
}

START_TEST(sizes_beyond_int_are_kept_from_blas)
{
    const Wide *wide = &wide_table[_i];
    const char *name = wide->text == conv ? "conv_f32" : "matmul_f32";
    int32_t rank = wide->text == conv ? 4 : 2;
    LowerCase c;
    case_open(&c, wide->text);
    VfBinding binding[2] = {{vf_bytes("x"), VF_F32, rank, wide->dims[0], NULL},
                            {vf_bytes("w"), VF_F32, rank, wide->dims[1], NULL}};
    VfStatus status =
        vf_lower(c.model, 2, binding, &(VfLowerOptions){0}, c.arena, &c.plan, NULL, &c.err);
    ck_assert_msg(status == VF_OK, "%s: %s", wide->what, c.err.text);
    const VfkKernel *wanted = vfk_kernel_find(name, wide->fits ? VFK_BEST : VFK_WIDE);
    const VfkKernel *chosen = kernel_of(c.plan, name);
    ck_assert_msg(chosen == wanted, "%s: %s in place of %s", wide->what, chosen->symbol,
                  wanted->symbol);
    ck_assert(wide->fits || strcmp(chosen->variant, "blas") != 0);
    case_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/wide");
    TCase *tcase = tcase_create("cases");
    int n = (int)(sizeof wide_table / sizeof *wide_table);
    tcase_add_loop_test(tcase, sizes_beyond_int_are_kept_from_blas, 0, n);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
