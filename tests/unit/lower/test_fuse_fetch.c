/* What products are told to ask for: the matrix of the next one, if all threads begin with it. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/fuse_case.h"
#include "runtime/kernels/linear.h"

static void must_name(const LowerCase *c, int32_t at, int32_t next, int64_t bytes)
{
    const VfPlanStep *step = &c->plan->step[at];
    const VfPlanRef *ref = &step->in[5];
    ck_assert_int_eq(step->n_in, 8);
    ck_assert_int_eq(((const VfkLinearParams *)step->params)->fetch, bytes);
    if (bytes == 0) {
        ck_assert_int_eq(ref->space, VF_SPACE_NONE);
        return;
    }
    ck_assert_int_eq(ref->space, VF_SPACE_WEIGHT);
    ck_assert_int_eq(ref->index, c->plan->step[next].in[1].index);
}

START_TEST(a_product_names_the_next_one)
{
    LowerCase c;
    case_open(&c, "graph g (x: f32[4, 24] = f32[4, 24] random(1)) -> (y: f32[4, 16]) {\n"
                  "    w = const f32[24, 40] random(3)\n"
                  "    v = const f32[40, 16] random(4)\n"
                  "    p = MatMul(x, w)\n"
                  "    q = Cos(p)\n"
                  "    y = MatMul(q, v)\n"
                  "}\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_str_eq(case_kernels(&c), "linear_f32 cos_f32 linear_f32");
    must_name(&c, 0, 2, 40 * 16 * 4);
    must_name(&c, 2, 0, 0);
    case_close(&c);
}
END_TEST

/* Of a large one each thread reads other columns. */
START_TEST(a_large_matrix_is_not_named)
{
    LowerCase c;
    case_open(&c, "graph g (x: f32[1, 24] = f32[1, 24] random(1)) -> (y: f32[1, 512]) {\n"
                  "    w = const f32[24, 513] random(3)\n"
                  "    v = const f32[513, 512] random(4)\n"
                  "    p = MatMul(x, w)\n"
                  "    y = MatMul(p, v)\n"
                  "}\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_str_eq(case_kernels(&c), "linear_f32 linear_f32");
    must_name(&c, 0, 1, 0);
    case_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/fuse_fetch");
    TCase *tcase = tcase_create("fetch");
    tcase_add_test(tcase, a_product_names_the_next_one);
    tcase_add_test(tcase, a_large_matrix_is_not_named);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
