/* Products with constant matrices: what becomes part of the step and what does not. With reference
 * kernels the bits are those of single steps.
 */
#include "tests/support/check_main.h"
#include "tests/unit/lower/fuse_case.h"

#define MODEL(body)                                                                             \
    "graph g (x: f32[2, 12, 24] = f32[2, 12, 24] random(1), r: f32[2, 12, 40] = f32[2, 12, 40] " \
    "random(2)) -> (y: f32[2, 12, 40]) {\n"                                                     \
    "    w = const f32[24, 40] random(3)\n"                                                     \
    "    b = const f32[40] random(4)\n"                                                         \
    "    s = const f32[40] random(5)\n"                                                         \
    "    h = const f32[] {0.25}\n" body "}\n"

static const FuseCase case_table[] = {
    {"alone", "linear_f32", 0, MODEL("    y = MatMul(x, w)\n")},
    {"bias", "linear_f32", 0, MODEL("    p = MatMul(x, w)\n    y = Add(b, p)\n")},
    {"all of the formula", "linear_f32", 0,
     MODEL("    p = MatMul(x, w)\n"
           "    q = Mul(p, h)\n"
           "    t = Add(q, b)\n"
           "    u = Relu(t)\n"
           "    v = Mul(s, u)\n"
           "    y = Add(r, v)\n")},
    {"an activation in pieces", "linear_f32", 2e-6,
     MODEL("    p = MatMul(x, w)\n"
           "    q = Add(p, b)\n"
           "    t = Sigmoid(q)\n"
           "    y = Mul(t, q)\n")},
    {"a residual after the activation", "linear_f32", 0,
     MODEL("    p = MatMul(x, w)\n    q = Tanh(p)\n    y = Add(q, r)\n")},
    {"an activation after the residual", "linear_f32 relu_f32", 0,
     MODEL("    p = MatMul(x, w)\n    q = Add(p, r)\n    y = Relu(q)\n")},
    {"two residuals", "linear_f32 add_f32", 0,
     MODEL("    p = MatMul(x, w)\n    q = Add(p, r)\n    y = Add(q, r)\n")},
    {"a vector twice", "linear_f32", 0,
     MODEL("    p = MatMul(x, w)\n    q = Add(p, b)\n    y = Add(q, s)\n")},
    {"added to all images", "linear_f32", 0,
     MODEL("    t = const f32[12, 40] random(6)\n"
           "    p = MatMul(x, w)\n    q = Add(p, b)\n    y = Add(q, t)\n")},
    {"a number for each row", "linear_f32 mul_f32", 0,
     MODEL("    t = const f32[12, 1] random(6)\n"
           "    p = MatMul(x, w)\n    y = Mul(p, t)\n")},
    {"added to itself", "linear_f32 add_f32", 0,
     MODEL("    p = MatMul(x, w)\n    y = Add(p, p)\n")},
    {"a transposed matrix", "linear_f32", 0,
     MODEL("    t = const f32[40, 24] random(6)\n"
           "    u = Transpose(t) {perm=[1, 0]}\n"
           "    y = MatMul(x, u)\n")},
    {"a matrix that is computed", "neg_f32 matmul_f32", 0,
     "graph g (x: f32[4, 24] = f32[4, 24] random(1), v: f32[24, 16] = f32[24, 16] random(2)) -> "
     "(y: f32[4, 16]) {\n"
     "    w = Neg(v)\n"
     "    y = MatMul(x, w)\n"
     "}\n"},
    {"one matrix for two products", "linear_f32 linear_f32", 0,
     "graph g (x: f32[4, 24] = f32[4, 24] random(1)) -> (y: f32[4, 24]) {\n"
     "    w = const f32[24, 24] random(3)\n"
     "    p = MatMul(x, w)\n"
     "    y = MatMul(p, w)\n"
     "}\n"},
    {"an MLP that might be attention", "linear_f32 linear_f32", 0,
     MODEL("    v = const f32[40, 40] random(7)\n    p = MatMul(x, w)\n    q = Relu(p)\n"
           "    y = MatMul(q, v)\n")},
    {"keys and values that are learned", "attention_f32", 1e-6,
     MODEL("    v = const f32[40, 40] random(7)\n    p = MatMul(x, w)\n"
           "    q = Softmax(p) {axis=-1}\n    y = MatMul(q, v)\n")},
    {"a Gemm", "linear_f32", 0,
     "graph g (x: f32[5, 24] = f32[5, 24] random(1)) -> (y: f32[5, 33]) {\n"
     "    w = const f32[33, 24] random(3)\n"
     "    b = const f32[33] random(4)\n"
     "    p = Gemm(x, w, b) {alpha=0.5, transB=1}\n"
     "    y = Relu(p)\n"
     "}\n"},
    {"a vector", "linear_f32", 0,
     "graph g (x: f32[24] = f32[24] random(1)) -> (y: f32[40]) {\n"
     "    w = const f32[24, 40] random(3)\n"
     "    y = MatMul(x, w)\n"
     "}\n"},
    {"windows of a product and back", "linear_f32 linear_f32", 0,
     "graph g (x: f32[1, 8, 12, 24] = f32[1, 8, 12, 24] random(1)) -> (y: f32[1, 8, 12, 24]) {\n"
     "    a = const i64[6] {1, 2, 4, 3, 4, 40}\n"
     "    c = const i64[3] {6, 16, 40}\n"
     "    d = const i64[6] {1, 2, 3, 4, 4, 24}\n"
     "    e = const i64[4] {1, 8, 12, 24}\n"
     "    w = const f32[24, 40] random(3)\n"
     "    v = const f32[40, 24] random(4)\n"
     "    p0 = MatMul(x, w)\n"
     "    p1 = Reshape(p0, a)\n"
     "    p2 = Transpose(p1) {perm=[0, 1, 3, 2, 4, 5]}\n"
     "    p3 = Reshape(p2, c)\n"
     "    q0 = MatMul(p3, v)\n"
     "    q1 = Reshape(q0, d)\n"
     "    q2 = Transpose(q1) {perm=[0, 1, 3, 2, 4, 5]}\n"
     "    q3 = Reshape(q2, e)\n"
     "    y = Add(x, q3)\n"
     "}\n"},
    {"pieces of a Concat", "copy_b4 linear_f32 copy_b4", 0,
     "graph g (x: f32[1, 6, 24] = f32[1, 6, 24] random(1)) -> (y: f32[1, 8, 24]) {\n"
     "    t = const f32[1, 1, 24] random(2)\n"
     "    u = const f32[1, 1, 24] random(4)\n"
     "    w = const f32[24, 24] random(3)\n"
     "    p = MatMul(x, w)\n"
     "    y = Concat(t, p, u) {axis=1}\n"
     "}\n"},
    {"rows that a Transpose makes", "linear_f32", 0,
     "graph g (x: f32[5, 2, 24] = f32[5, 2, 24] random(1)) -> (y: f32[2, 5, 40]) {\n"
     "    w = const f32[24, 40] random(3)\n"
     "    t = Transpose(x) {perm=[1, 0, 2]}\n"
     "    y = MatMul(t, w)\n"
     "}\n"},
    {"a copy that others read, too", "copy_b4 linear_f32", 0,
     "graph g (x: f32[3, 2, 4, 24] = f32[3, 2, 4, 24] random(1)) -> (y: f32[2, 12, 24]) {\n"
     "    s = const i64[3] {2, 12, 24}\n"
     "    w = const f32[24, 24] random(3)\n"
     "    t = Transpose(x) {perm=[1, 0, 2, 3]}\n"
     "    u = Reshape(t, s)\n"
     "    p = MatMul(u, w)\n"
     "    v = Relu(p)\n"
     "    y = Add(v, u)\n"
     "}\n"},
    {"a copy that is rows and bias of one product", "copy_b4 linear_f32", 0,
     "graph g (x: f32[2, 3, 8] = f32[2, 3, 8] random(1)) -> (y: f32[6, 8]) {\n"
     "    s = const i64[2] {6, 8}\n"
     "    w = const f32[8, 8] random(3)\n"
     "    t = Transpose(x) {perm=[1, 0, 2]}\n"
     "    u = Reshape(t, s)\n"
     "    y = Gemm(u, w, u)\n"
     "}\n"},
};

START_TEST(pieces_are_one_step)
{
    case_fuse(&case_table[_i]);
}
END_TEST

/* Packed once; what was packed is no weight any more unless others read it. */
START_TEST(a_matrix_is_packed_once)
{
    LowerCase c;
    case_open(&c, "graph g (x: f32[4, 24] = f32[4, 24] random(1)) -> (y: f32[4, 24]) {\n"
                  "    w = const f32[24, 24] random(3)\n"
                  "    p = MatMul(x, w)\n"
                  "    q = MatMul(p, w)\n"
                  "    y = MatMul(q, w)\n"
                  "}\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_int_eq(c.plan->n_weight, 1);
    ck_assert_uint_eq(c.plan->weight[0].bytes, 2 * 16 * 24 * 4);
    ck_assert_uint_eq((uintptr_t)c.plan->weight[0].data % 64, 0);
    ck_assert(c.plan->weight[0].is_made);
    case_close(&c);
    case_open(&c, "graph g (x: f32[24, 24] = f32[24, 24] random(1)) -> (y: f32[24, 24]) {\n"
                  "    w = const f32[24, 24] random(3)\n"
                  "    p = MatMul(x, w)\n"
                  "    y = Sub(w, p)\n"
                  "}\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_int_eq(c.plan->n_weight, 2);
    case_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/fuse_linear");
    TCase *tcase = tcase_create("linear");
    tcase_add_loop_test(tcase, pieces_are_one_step, 0,
                        (int)(sizeof case_table / sizeof *case_table));
    tcase_add_test(tcase, a_matrix_is_packed_once);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
