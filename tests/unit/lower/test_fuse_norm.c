/* A sum becomes a part of the layer norm that is taken of it. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/fuse_case.h"

#define INPUTS \
    "graph g (a: f32[2, 9, 20] = f32[2, 9, 20] random(1), " \
    "b: f32[2, 9, 20] = f32[2, 9, 20] random(2)) -> "
#define WEIGHTS "    w = const f32[20] random(3)\n    c = const f32[20] random(4)\n"
#define NORM "    n = LayerNormalization(s, w, c)\n"

static const FuseCase case_table[] = {
    {"a sum that nobody else reads", "layer_norm_f32", 0,
     INPUTS "(n: f32[2, 9, 20]) {\n" WEIGHTS "    s = Add(a, b)\n" NORM "}\n"},
    {"a residual that goes on", "layer_norm_f32 sqrt_f32 mul_f32", 0,
     INPUTS "(y: f32[2, 9, 20]) {\n" WEIGHTS "    s = Add(a, b)\n" NORM
            "    r = Sqrt(s)\n    y = Mul(n, r)\n}\n"},
    {"a sum that is an output", "layer_norm_f32", 0,
     INPUTS "(n: f32[2, 9, 20], s: f32[2, 9, 20]) {\n" WEIGHTS "    s = Add(a, b)\n" NORM "}\n"},
    {"two norms of one sum", "layer_norm_f32 layer_norm_f32", 0,
     INPUTS "(n: f32[2, 9, 20], m: f32[2, 9, 20]) {\n" WEIGHTS
            "    s = Add(a, b)\n" NORM "    m = LayerNormalization(s, c)\n}\n"},
    {"norms in a row, each with a residual", "layer_norm_f32 layer_norm_f32", 0,
     INPUTS "(m: f32[2, 9, 20]) {\n" WEIGHTS "    s = Add(a, b)\n" NORM
            "    t = Add(s, n)\n    m = LayerNormalization(t, w)\n}\n"},
    {"over two axes, with statistics", "layer_norm_f32", 0,
     INPUTS "(n: f32[2, 9, 20], m: f32[2, 1, 1], i: f32[2, 1, 1]) {\n"
            "    u = const f32[9, 20] random(5)\n    s = Add(b, a)\n"
            "    n, m, i = LayerNormalization(s, u) {axis=1}\n}\n"},
    {"added to itself", "layer_norm_f32", 0,
     INPUTS "(n: f32[2, 9, 20]) {\n" WEIGHTS "    s = Add(a, a)\n" NORM "}\n"},
    {"an addend for each channel", "add_f32 layer_norm_f32", 0,
     INPUTS "(n: f32[2, 9, 20]) {\n" WEIGHTS "    s = Add(a, c)\n" NORM "}\n"},
    {"a reader before the norm", "add_f32 sqrt_f32 layer_norm_f32", 0,
     INPUTS "(n: f32[2, 9, 20], r: f32[2, 9, 20]) {\n" WEIGHTS
            "    s = Add(a, b)\n    r = Sqrt(s)\n" NORM "}\n"},
    {"doubles", "add_f64 layer_norm_f64", 0,
     "graph g (a: f64[3, 4] = f64[3, 4] random(1)) -> (n: f64[3, 4]) {\n"
     "    w = const f64[4] random(2)\n    s = Add(a, a)\n"
     "    n = LayerNormalization(s, w) {stash_type=11}\n}\n"},
};

START_TEST(the_sum_is_part_of_the_norm)
{
    case_fuse(&case_table[_i]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/fuse_norm");
    TCase *tcase = tcase_create("norm");
    tcase_add_loop_test(tcase, the_sum_is_part_of_the_norm, 0,
                        (int)(sizeof case_table / sizeof *case_table));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
