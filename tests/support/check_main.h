/* The main function of a test program: VF_CHECK_MAIN(make_suite) after a
 * `static Suite *make_suite(void)`. Exit status 0 if every case passed, 1 if not. A case may take
 * five minutes unless it says otherwise: Check's four seconds would make tests of a busy machine.
 * A program that has nothing to test here returns VF_TEST_SKIPPED from a main of its own
 * after a line that says why.
 */
#ifndef VF_TESTS_CHECK_MAIN_H
#define VF_TESTS_CHECK_MAIN_H

#include <check.h>
#include <stdlib.h>

enum { VF_TEST_SKIPPED = 77 };

/* The limit is set first: Check reads it when a suite makes its cases. */
static inline int vf_check_run(Suite *(*make)(void))
{
    setenv("CK_DEFAULT_TIMEOUT", "300", 0);
    SRunner *runner = srunner_create(make());
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#define VF_CHECK_MAIN(make_suite)        \
    int main(void)                       \
    {                                    \
        return vf_check_run(make_suite); \
    }

#endif
