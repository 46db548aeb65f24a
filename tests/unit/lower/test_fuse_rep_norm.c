/* RepBN, as images have it and on rows of channels behind transposes. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/fuse_case.h"

#define CONSTANTS                                                                               \
    "    s = const f32[24] random(3)\n"                                                         \
    "    b = const f32[24] random(4)\n"                                                         \
    "    m = const f32[24] random(5)\n"                                                         \
    "    v0 = const f32[24] random(6)\n"                                                        \
    "    v = Exp(v0)\n"                                                                         \
    "    a = const f32[1] {0.75}\n"

static const FuseCase case_table[] = {
    {"an image", "batch_norm_f32", 2e-6,
     "graph g (x: f32[2, 24, 3, 5] = f32[2, 24, 3, 5] random(1)) -> (y: f32[2, 24, 3, 5]) "
     "{\n" CONSTANTS "    n = BatchNormalization(x, s, b, m, v)\n"
     "    t = Mul(a, x)\n"
     "    y = Add(t, n)\n"
     "}\n"},
    {"rows before a product", "batch_norm_f32 linear_f32", 4e-6,
     "graph g (x: f32[2, 7, 24] = f32[2, 7, 24] random(1)) -> (y: f32[2, 7, 16]) "
     "{\n" CONSTANTS "    w = const f32[24, 16] random(2)\n"
     "    c = Transpose(x) {perm=[0, 2, 1]}\n"
     "    n = BatchNormalization(c, s, b, m, v)\n"
     "    t = Mul(a, c)\n"
     "    r = Add(n, t)\n"
     "    z = Transpose(r) {perm=[0, 2, 1]}\n"
     "    y = MatMul(z, w)\n"
     "}\n"},
    {"a multiple of another value", "neg_f32 batch_norm_f32 mul_f32 add_f32", 0,
     "graph g (x: f32[2, 24, 3] = f32[2, 24, 3] random(1)) -> (y: f32[2, 24, 3]) "
     "{\n" CONSTANTS "    d = Neg(x)\n"
     "    n = BatchNormalization(x, s, b, m, v)\n"
     "    t = Mul(a, d)\n"
     "    y = Add(n, t)\n"
     "}\n"},
};

START_TEST(two_branches_are_one_step)
{
    case_fuse(&case_table[_i]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/fuse_rep_norm");
    TCase *tcase = tcase_create("rep_norm");
    tcase_add_loop_test(tcase, two_branches_are_one_step, 0,
                        (int)(sizeof case_table / sizeof *case_table));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
