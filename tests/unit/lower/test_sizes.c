/* Sizes that are given and that no tensor can have are faults of the model. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/lower_case.h"

#define SIZED(opset, x, n, sizes, call) \
    "model opset=" opset "\ngraph g (x: f32[" x "] = f32[" x "] iota) -> (y) {\n" \
    "    s = const i64[" n "] " sizes "\n    b = const i64[2] {1, 0}\n    y = " call " @n0\n}\n"

/* Words of the sentence, the model. */
static const char *const case_table[][2] = {
    {"node 'n0': an axis of the result is too long",
     SIZED("18", "2", "1", "{4611686018427387904}", "Tile(x, s)")},
    {"node 'n0': an axis of the result is too long",
     SIZED("18", "2", "2", "{9223372036854775807, 9223372036854775807}", "Pad(x, s)")},
    {"node 'n0': no size in place of -1 fits beside one of 0",
     SIZED("18", "0, 3", "2", "{0, -1}", "Reshape(x, s) {allowzero=1}")},
    {"node 'n0': the elements of a block do not divide the channels",
     SIZED("18", "1, 5, 5", "2", "{5, 6}", "Col2Im(x, s, b)")},
    {"node 'n0': dimension 0 of result 0 is -1",
     SIZED("18", "3, 4", "2", "{-1, 5}", "CenterCropPad(x, s)")},
    {"node 'n0': dimension 2 of result 0 is -2",
     SIZED("20", "1, 2, 3", "4", "{1, 1, 2, -2}", "AffineGrid(x, s)")},
    {"node 'n0': operand 0 is not [7, 2, 3]",
     SIZED("20", "1, 2, 3", "4", "{7, 1, 2, 2}", "AffineGrid(x, s)")},
#define PAD_NOTHING(mode) \
    {"node 'n0': axis 0 of operand 0 has no element to pad with", \
     SIZED("19", "0", "2", "{1, 1}", "Pad(x, s) {mode=\"" mode "\"}")}
    PAD_NOTHING("edge"),
    PAD_NOTHING("reflect"),
    PAD_NOTHING("wrap"),
};

START_TEST(says_what_is_wrong_with_the_size)
{
    LowerCase c;
    case_open(&c, case_table[_i][1]);
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_INVALID);
    ck_assert_msg(strstr(c.err.text, case_table[_i][0]) != NULL, "'%s' is not in '%s'",
                  case_table[_i][0], c.err.text);
    case_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/sizes");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, says_what_is_wrong_with_the_size, 0,
                        sizeof case_table / sizeof case_table[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
