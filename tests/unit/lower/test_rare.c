/* Operands, dtypes and attributes that operators are rarely given. Expected values were computed by
 * hand. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/lower_case.h"

/* What is tested, the model. */
static const char *const case_table[][2] = {
    {"the place of a maximum that is the least number there is",
     "model opset=12\n"
     "graph g (x: f32[1, 1, 4] = f32[1, 1, 4] {5, -inf, -inf, 1}, "
     "z: u8[1, 1, 3] = u8[1, 1, 3] {3, 0, 0}) "
     "-> (y: f32[1, 1, 3], i: i64[1, 1, 3], u: u8[1, 1, 2], k: i64[1, 1, 2]) {\n"
     "    want_y = const f32[1, 1, 3] {5, -inf, 1}\n"
     "    want_i = const i64[1, 1, 3] {0, 1, 3}\n"
     "    want_u = const u8[1, 1, 2] {3, 0}\n"
     "    want_k = const i64[1, 1, 2] {0, 1}\n"
     "    y, i = MaxPool(x) {kernel_shape=[2]}\n"
     "    u, k = MaxPool(z) {kernel_shape=[2]}\n"
     "}\n"},
};

START_TEST(gives_the_expected_values)
{
    case_check(case_table[_i][0], case_table[_i][1]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/rare");
    TCase *tcase = tcase_create("cases");
    int n = (int)(sizeof case_table / sizeof *case_table);
    tcase_add_loop_test(tcase, gives_the_expected_values, 0, n);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
