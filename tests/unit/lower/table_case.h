/* A program that checks a table of models, `case_table`: the name of each and its text, whose
 * constants state what it gives (lower_case.h). It ends with CASE_TABLE_MAIN("lower/name").
 */
#ifndef VF_TESTS_TABLE_CASE_H
#define VF_TESTS_TABLE_CASE_H

#include "tests/support/check_main.h"
#include "tests/unit/lower/lower_case.h"

#define CASE_TABLE_MAIN(name)                                           \
    START_TEST(gives_the_expected_values)                               \
    {                                                                   \
        case_check(case_table[_i][0], case_table[_i][1]);               \
    }                                                                   \
    END_TEST                                                            \
                                                                        \
    static Suite *make_suite(void)                                      \
    {                                                                   \
        Suite *suite = suite_create(name);                              \
        TCase *tcase = tcase_create("cases");                           \
        int n = (int)(sizeof case_table / sizeof *case_table);          \
        tcase_add_loop_test(tcase, gives_the_expected_values, 0, n);    \
        suite_add_tcase(suite, tcase);                                  \
        return suite;                                                   \
    }                                                                   \
                                                                        \
    VF_CHECK_MAIN(make_suite)

#endif
