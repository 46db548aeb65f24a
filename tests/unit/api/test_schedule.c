/* The laws of lambda: worked example [prepbn_schedule], ends, and what cannot be. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "converter/api/vitfold.h"
#include "tests/support/check_main.h"

/* T = 5, step with n = 4 */
static const double example[3][8] = {
    {1.0, 0.8, 0.6, 0.4, 0.2, 0.0, 0.0, 0.0},
    {1.0, 0.904508497187474, 0.654508497187474, 0.345491502812526, 0.0954915028125263, 0, 0, 0},
    {1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0, 0.0},
};

START_TEST(worked_example)
{
    for (int64_t t = 0; t < 8; t++)
        ck_assert_double_eq_tol(vitfold_norm_lambda(_i, 4, t, 5), example[_i][t], 1e-14);
}
END_TEST

START_TEST(falls_from_one_to_zero)
{
    static const int64_t total[] = {1, 7, 300000, INT64_MAX};
    for (size_t k = 0; k < sizeof total / sizeof *total; k++) {
        double before = 1;
        ck_assert(vitfold_norm_lambda(_i, 3, 0, total[k]) == 1.0);
        ck_assert(vitfold_norm_lambda(_i, 3, total[k], total[k]) == 0.0);
        ck_assert(vitfold_norm_lambda(_i, 3, -5, total[k]) == 1.0);
        for (int64_t i = 0; i <= 100; i++) {
            double now = vitfold_norm_lambda(_i, 3, total[k] / 100 * i, total[k]);
            ck_assert(now <= before && now >= 0);
            before = now;
        }
    }
}
END_TEST

START_TEST(asked_wrong)
{
    VitfoldScheduleOptions none = {.total = 0};
    VitfoldReport *report = NULL;
    VitfoldError *error = vitfold_error_new();
    ck_assert(isnan(vitfold_norm_lambda(3, 1, 1, 2)));
    ck_assert(isnan(vitfold_norm_lambda(VITFOLD_SCHEDULE_STEP, 0, 1, 2)));
    ck_assert(isnan(vitfold_norm_lambda(VITFOLD_SCHEDULE_LINEAR, 0, 1, 0)));
    ck_assert_int_eq(vitfold_norm_schedule(&none, &report, error), VITFOLD_USAGE);
    ck_assert_str_eq(vitfold_error_text(error), "a schedule of 0 steps has no end");
    vitfold_error_free(error);
}
END_TEST

START_TEST(table)
{
    static const char want[] =
        "t    lambda\n0  1.000000\n1  0.800000\n2  0.600000\n3  0.400000\n4  0.200000\n"
        "5  0.000000\n";
    VitfoldScheduleOptions five = {.total = 5}, many = {.total = 300000, .kind = 2};
    VitfoldReport *report = NULL;
    size_t size;
    ck_assert_int_eq(vitfold_norm_schedule(&five, &report, NULL), VITFOLD_OK);
    ck_assert_str_eq(vitfold_report_text(report, &size), want);
    vitfold_report_free(report);
    ck_assert_int_eq(vitfold_norm_schedule(&many, &report, NULL), VITFOLD_OK);
    const char *json = vitfold_report_json(report, &size);
    ck_assert_ptr_nonnull(strstr(json, "\"steps\": 4"));
    ck_assert_ptr_nonnull(strstr(json, "{\"t\": 75000, \"lambda\": 0.75}"));
    ck_assert_ptr_nonnull(strstr(json, "{\"t\": 300000, \"lambda\": 0}"));
    vitfold_report_free(report);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("schedule");
    TCase *tcase = tcase_create("schedule");
    tcase_add_loop_test(tcase, worked_example, 0, 3);
    tcase_add_loop_test(tcase, falls_from_one_to_zero, 0, 3);
    tcase_add_test(tcase, asked_wrong);
    tcase_add_test(tcase, table);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
