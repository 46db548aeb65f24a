/* A layer norm becomes a part of the product that reads it. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/fuse_case.h"

#define X "graph g (x: f32[2, 9, 20] = f32[2, 9, 20] random(1)) -> "
#define WEIGHTS \
    "    s = const f32[20] random(2)\n    c = const f32[20] random(3)\n" \
    "    w = const f32[20, 48] random(4)\n    b = const f32[48] random(5)\n"
#define NORM "    n = LayerNormalization(x, s, c)\n"

static const FuseCase case_table[] = {
    {"a norm and a product", "linear_f32", 0,
     X "(y: f32[2, 9, 48]) {\n" WEIGHTS NORM "    y = MatMul(n, w)\n}\n"},
    {"without a bias of the norm", "linear_f32", 0,
     X "(y: f32[2, 9, 48]) {\n" WEIGHTS
       "    n = LayerNormalization(x, s) {epsilon=0.25}\n    y = MatMul(n, w)\n}\n"},
    {"with bias, activation and residual", "linear_f32", 0,
     X "(y: f32[2, 9, 20]) {\n" WEIGHTS NORM
       "    v = const f32[20, 20] random(6)\n    p = MatMul(n, v)\n    q = Add(p, s)\n"
       "    t = Tanh(q)\n    y = Add(t, x)\n}\n"},
    {"windows of rows", "linear_f32", 0,
     X "(y: f32[9, 2, 48]) {\n" WEIGHTS NORM
       "    t = Transpose(n) {perm=[1, 0, 2]}\n    y = MatMul(t, w)\n}\n"},
    {"columns of another axis", "layer_norm_f32 linear_f32", 0,
     X "(y: f32[2, 20, 48]) {\n" WEIGHTS NORM
       "    v = const f32[9, 48] random(6)\n    t = Transpose(n) {perm=[0, 2, 1]}\n"
       "    y = MatMul(t, v)\n}\n"},
    {"two products", "layer_norm_f32 linear_f32 linear_f32", 0,
     X "(y: f32[2, 9, 48], z: f32[2, 9, 48]) {\n" WEIGHTS NORM
       "    v = const f32[20, 48] random(6)\n    y = MatMul(n, w)\n    z = MatMul(n, v)\n}\n"},
    {"a norm that is an output", "layer_norm_f32 linear_f32", 0,
     X "(y: f32[2, 9, 48], n: f32[2, 9, 20]) {\n" WEIGHTS NORM "    y = MatMul(n, w)\n}\n"},
    {"added to the product", "layer_norm_f32 linear_f32", 0,
     X "(y: f32[2, 9, 20]) {\n" WEIGHTS NORM
       "    v = const f32[20, 20] random(6)\n    p = MatMul(n, v)\n    y = Add(p, n)\n}\n"},
    {"a row of it added to all", "layer_norm_f32 linear_f32", 0,
     X "(y: f32[2, 9, 20]) {\n" WEIGHTS NORM
       "    v = const f32[20, 20] random(6)\n    p = MatMul(n, v)\n"
       "    from = const i64[2] {1, 3}\n    to = const i64[2] {2, 4}\n"
       "    axes = const i64[2] {0, 1}\n    r = Slice(n, from, to, axes)\n"
       "    y = Add(p, r)\n}\n"},
    {"one row, multiplied with itself", "layer_norm_f32 linear_f32", 0,
     "graph g (x: f32[1, 20] = f32[1, 20] random(1)) -> (y: f32[1, 20]) {\n" WEIGHTS NORM
     "    v = const f32[20, 20] random(6)\n    p = MatMul(n, v)\n    y = Mul(p, n)\n}\n"},
    {"one row that is the bias of a Gemm", "layer_norm_f32 linear_f32", 0,
     "graph g (x: f32[1, 20] = f32[1, 20] random(1)) -> (y: f32[1, 20]) {\n" WEIGHTS NORM
     "    v = const f32[20, 20] random(6)\n    y = Gemm(n, v, n)\n}\n"},
    {"statistics that are read", "layer_norm_f32 linear_f32", 0,
     X "(y: f32[2, 9, 48], m: f32[2, 9, 1]) {\n" WEIGHTS
       "    n, m = LayerNormalization(x, s, c)\n    y = MatMul(n, w)\n}\n"},
    {"over two axes", "layer_norm_f32 linear_f32", 0,
     X "(y: f32[2, 9, 48]) {\n" WEIGHTS
       "    u = const f32[9, 20] random(6)\n    n = LayerNormalization(x, u) {axis=1}\n"
       "    y = MatMul(n, w)\n}\n"},
    {"some of the rows", "layer_norm_f32 linear_f32", 0,
     X "(y: f32[2, 1, 48]) {\n" WEIGHTS NORM
       "    from = const i64[1] {0}\n    to = const i64[1] {1}\n    axis = const i64[1] {1}\n"
       "    t = Slice(n, from, to, axis)\n    y = MatMul(t, w)\n}\n"},
    {"a sum goes with the norm", "layer_norm_f32 linear_f32", 0,
     X "(y: f32[2, 9, 48]) {\n" WEIGHTS
       "    d = Add(x, x)\n    n = LayerNormalization(d, s, c)\n    y = MatMul(n, w)\n}\n"},
    {"a large matrix", "layer_norm_f32 linear_f32", 0,
     "graph g (x: f32[3, 520] = f32[3, 520] random(1)) -> (y: f32[3, 520]) {\n"
     "    s = const f32[520] random(2)\n    w = const f32[520, 520] random(3)\n"
     "    n = LayerNormalization(x, s)\n    y = MatMul(n, w)\n}\n"},
};

START_TEST(the_norm_is_part_of_the_product)
{
    case_fuse(&case_table[_i]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/fuse_normed");
    TCase *tcase = tcase_create("normed");
    tcase_add_loop_test(tcase, the_norm_is_part_of_the_product, 0,
                        (int)(sizeof case_table / sizeof *case_table));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
