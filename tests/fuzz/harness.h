/* What the fuzzing harnesses share. A harness is one function, LLVMFuzzerTestOneInput, that must
 * come back from any bytes: an abort, a leak or a sanitizer's report is a finding.
 */
#ifndef VF_TESTS_FUZZ_HARNESS_H
#define VF_TESTS_FUZZ_HARNESS_H

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/arena.h"
#include "runtime/base/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise that the harness checks: broken, it is a finding. */
#define VF_FUZZ_PROMISE(holds, ...)       \
    do {                                  \
        if (!(holds)) {                   \
            fprintf(stderr, __VA_ARGS__); \
            abort();                      \
        }                                 \
    } while (0)

#endif
