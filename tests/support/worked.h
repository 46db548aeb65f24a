/* The numbers of worked-examples.json, read from the corpus folder: VITFOLD_CORPUS/spec, or
 * ../shared/spec where that is not set.
 *
 * A path names keys and list places with dots: "espa_causal.layers.1.A". Lists in lists are
 * flattened in row-major order; null stands for infinity.
 */
#ifndef VF_TESTS_WORKED_H
#define VF_TESTS_WORKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tests/support/check_main.h"

enum { VF_WORKED_MAX = 64 };

typedef struct VfWorked {
    size_t n;
    double at[VF_WORKED_MAX];
} VfWorked;

/* Whether the file is here. */
bool vf_worked_is_here(void);

/* The numbers at `path`. The test fails where there are none, or more than VF_WORKED_MAX. */
VfWorked vf_worked(const char *path);

/* One number. */
double vf_worked_number(const char *path);

/* The main function of a program that reads the file; without it the program is skipped. */
#define VF_WORKED_MAIN(make_suite)                                        \
    int main(void)                                                        \
    {                                                                     \
        if (vf_worked_is_here())                                          \
            return vf_check_run(make_suite);                              \
        puts("skipped: there is no spec/worked-examples.json to read");   \
        return VF_TEST_SKIPPED;                                           \
    }

/* Fail unless got[0..n) are the numbers at `path`, to `tolerance` of the larger of 1 and each. */
void vf_worked_check(const char *path, const double *got, size_t n, double tolerance);

#endif
