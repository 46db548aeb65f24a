/* Rows between two products lie where the second one reads them; results keep their bits. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/fuse_case.h"
#include "runtime/kernels/linear.h"

#define X(dims) "graph g (x: f32[" dims "] = f32[" dims "] random(1)) -> "
#define WEIGHTS "    w = const f32[24, 768] random(3)\n    v = const f32[768, 16] random(4)\n"

/* a_step: between the last rows that the last step reads. */
static const struct UnpackedCase {
    FuseCase fuse;
    int64_t a_step;
} case_table[] = {
    {{"a block of an MLP", "linear_f32 linear_f32", 0,
      X("2, 9, 24") "(y: f32[2, 9, 16]) {\n" WEIGHTS
                    "    p = MatMul(x, w)\n    q = Tanh(p)\n    y = MatMul(q, v)\n}\n"},
     GEMM_STRIDE},
    {{"two readers", "linear_f32 linear_f32 linear_f32", 0,
      X("9, 24") "(y: f32[9, 16], z: f32[9, 32]) {\n" WEIGHTS
                 "    u = const f32[768, 32] random(5)\n    p = MatMul(x, w)\n"
                 "    y = MatMul(p, v)\n    z = MatMul(p, u)\n}\n"},
     GEMM_STRIDE},
    {{"windows of 49 rows", "linear_f32 linear_f32", 0,
      X("3, 49, 24") "(y: f32[3, 49, 16]) {\n" WEIGHTS
                     "    p = MatMul(x, w)\n    y = MatMul(p, v)\n}\n"},
     GEMM_STRIDE},
    {{"a single row, as in a plan of more", "linear_f32 linear_f32", 0,
      X("1, 24") "(y: f32[1, 16]) {\n" WEIGHTS
                 "    p = MatMul(x, w)\n    y = MatMul(p, v)\n}\n"},
     GEMM_STRIDE},
    {{"another reader", "linear_f32 linear_f32 sqrt_f32", 0,
      X("9, 24") "(y: f32[9, 16], z: f32[9, 768]) {\n" WEIGHTS
                 "    p = MatMul(x, w)\n    y = MatMul(p, v)\n    z = Sqrt(p)\n}\n"},
     768},
    {{"an output of the model", "linear_f32 linear_f32", 0,
      X("9, 24") "(y: f32[9, 16], p: f32[9, 768]) {\n" WEIGHTS
                 "    p = MatMul(x, w)\n    y = MatMul(p, v)\n}\n"},
     768},
    {{"another writer", "cos_f32 linear_f32", 0,
      X("9, 768") "(y: f32[9, 16]) {\n    v = const f32[768, 16] random(4)\n"
                  "    p = Cos(x)\n    y = MatMul(p, v)\n}\n"},
     768},
    {{"added as well", "linear_f32 linear_f32", 0,
      X("9, 24") "(y: f32[9, 768]) {\n    w = const f32[24, 768] random(3)\n"
                 "    v = const f32[768, 768] random(4)\n    p = MatMul(x, w)\n"
                 "    q = MatMul(p, v)\n    y = Add(q, p)\n}\n"},
     768},
    {{"columns of another axis", "linear_f32 linear_f32", 0,
      X("9, 24") "(y: f32[768, 16]) {\n    w = const f32[24, 768] random(3)\n"
                 "    v = const f32[9, 16] random(4)\n    p = MatMul(x, w)\n"
                 "    t = Transpose(p) {perm=[1, 0]}\n    y = MatMul(t, v)\n}\n"},
     1},
    {{"short rows", "linear_f32 linear_f32", 0,
      X("9, 24") "(y: f32[9, 16]) {\n    w = const f32[24, 384] random(3)\n"
                 "    v = const f32[384, 16] random(4)\n    p = MatMul(x, w)\n"
                 "    y = MatMul(p, v)\n}\n"},
     384},
    {{"long rows", "linear_f32 linear_f32", 0,
      X("9, 24") "(y: f32[9, 16]) {\n    w = const f32[24, 784] random(3)\n"
                 "    v = const f32[784, 16] random(4)\n    p = MatMul(x, w)\n"
                 "    y = MatMul(p, v)\n}\n"},
     784},
    {{"heads of attention", "linear_f32 attention_f32 linear_f32", 1e-6,
      X("2, 8, 768") "(y: f32[2, 8, 16]) {\n" WEIGHTS
                     "    u = const f32[768, 768] random(6)\n    p = MatMul(x, u)\n"
                     "    d = const i64[4] {2, 8, 3, 256}\n    e = const i64[3] {2, 8, 768}\n"
                     "    h = Reshape(p, d)\n"
                     "    q = Transpose(h) {perm=[0, 2, 1, 3]}\n"
                     "    k = Transpose(h) {perm=[0, 2, 3, 1]}\n"
                     "    s = MatMul(q, k)\n    a = Softmax(s) {axis=-1}\n    o = MatMul(a, q)\n"
                     "    t = Transpose(o) {perm=[0, 2, 1, 3]}\n"
                     "    m = Reshape(t, e)\n    y = MatMul(m, v)\n}\n"},
     GEMM_STRIDE},
};

static int64_t last_a_step(const char *text)
{
    LowerCase c;
    case_open(&c, text);
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){.reference = true}, false), VF_OK);
    const VfPlanStep *last = NULL;
    for (int32_t i = 0; i < c.plan->n_step; i++)
        if (strcmp(c.plan->step[i].kernel->name, "linear_f32") == 0)
            last = &c.plan->step[i];
    ck_assert_ptr_nonnull(last);
    const VfkLinearParams *p = last->params;
    int64_t step = p->a_step[p->rank - 1];
    case_close(&c);
    return step;
}

START_TEST(rows_lie_where_they_are_read)
{
    case_fuse(&case_table[_i].fuse);
    ck_assert_int_eq(last_a_step(case_table[_i].fuse.text), case_table[_i].a_step);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/fuse_unpacked");
    TCase *tcase = tcase_create("unpacked");
    tcase_add_loop_test(tcase, rows_lie_where_they_are_read, 0,
                        (int)(sizeof case_table / sizeof *case_table));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
