/* What is added to a depthwise convolution of tokens, and where its result goes. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/fuse_case.h"

/* Three heads of 7 x 8 tokens with 20 channels; r is their convolution, 5 x 5. */
#define INPUTS \
    "graph g (x: f32[3, 56, 20] = f32[3, 56, 20] random(1), " \
    "o: f32[3, 56, 20] = f32[3, 56, 20] random(2)) -> "
#define CONVOLVED(side, attributes, rest) \
    " {\n    w = const f32[20, 1, " side ", " side "] random(3)\n" \
    "    b = const f32[20] random(4)\n" \
    "    to_image = const i64[4] {3, 20, 7, 8}\n    to_rows = const i64[3] {3, 20, -1}\n" \
    "    t = Transpose(x) {perm=[0, 2, 1]}\n    image = Reshape(t, to_image)\n" \
    "    d = Conv(image, w, b) {group=20, " attributes "}\n" \
    "    back = Reshape(d, to_rows)\n    r = Transpose(back) {perm=[0, 2, 1]}\n" rest "}\n"
#define FIVE(rest) CONVOLVED("5", "pads=[2, 2, 2, 2]", rest)

static const FuseCase case_table[] = {
    {"heads that come to lie side by side", "depthwise_f32", 0,
     INPUTS "(y: f32[56, 60])" FIVE("    s = Add(o, r)\n    to_y = const i64[2] {56, 60}\n"
                                    "    p = Transpose(s) {perm=[1, 0, 2]}\n"
                                    "    y = Reshape(p, to_y)\n")},
    {"its own input", "depthwise_f32", 0,
     INPUTS "(y: f32[3, 56, 20])" FIVE("    y = Add(r, x)\n")},
    {"a number for each channel", "depthwise_f32", 0,
     INPUTS "(y: f32[3, 56, 20])" FIVE("    c = const f32[20] random(5)\n"
                                       "    y = Add(r, c)\n")},
    {"more positions than are summed at once", "depthwise_f32", 0,
     INPUTS "(y: f32[3, 56, 20])" CONVOLVED("9", "pads=[4, 4, 4, 4]", "    y = Add(r, o)\n")},
    {"a larger stride", "depthwise_f32", 0,
     INPUTS "(y: f32[3, 16, 20])" CONVOLVED("3", "pads=[1, 1, 1, 1], strides=[2, 2]",
                                            "    c = const f32[3, 16, 20] random(5)\n"
                                            "    y = Add(c, r)\n")},
    {"two tensors", "depthwise_f32 add_f32", 0,
     INPUTS "(y: f32[3, 56, 20])" FIVE("    s = Add(r, o)\n    y = Add(x, s)\n")},
    {"a number for each token", "depthwise_f32 add_f32", 0,
     INPUTS "(y: f32[3, 56, 20])" FIVE("    c = const f32[56, 1] random(5)\n"
                                       "    y = Add(r, c)\n")},
    {"added to itself", "depthwise_f32 add_f32", 0,
     INPUTS "(y: f32[3, 56, 20])" FIVE("    y = Add(r, r)\n")},
    {"a result that is read twice", "depthwise_f32 add_f32 mul_f32", 0,
     INPUTS "(y: f32[3, 56, 20])" FIVE("    s = Add(r, o)\n    y = Mul(s, r)\n")},
    {"a result that is an output", "depthwise_f32 add_f32", 0,
     INPUTS "(r: f32[3, 56, 20], y: f32[3, 56, 20])" FIVE("    y = Add(r, o)\n")},
    {"planes", "depthwise_f32 add_f32", 0,
     "graph g (x: f32[2, 3, 7, 8] = f32[2, 3, 7, 8] random(1)) -> (y: f32[2, 3, 7, 8]) {\n"
     "    w = const f32[3, 1, 3, 3] random(2)\n"
     "    d = Conv(x, w) {group=3, pads=[1, 1, 1, 1]}\n    y = Add(d, x)\n}\n"},
};

START_TEST(what_is_added_is_part_of_the_step)
{
    case_fuse(&case_table[_i]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/fuse_depthwise");
    TCase *tcase = tcase_create("depthwise");
    tcase_add_loop_test(tcase, what_is_added_is_part_of_the_step, 0,
                        (int)(sizeof case_table / sizeof *case_table));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
