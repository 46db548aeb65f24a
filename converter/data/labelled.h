/* Labelled data: an npz file with `x` (samples along the first axis) and `y` (a class number
 * for each).
 */
#ifndef VF_DATA_LABELLED_H
#define VF_DATA_LABELLED_H

#include "converter/data/array.h"

typedef struct VfLabelled {
    const char *path;
    VfArray x;
    const int64_t *y; /* n_sample class numbers, each >= 0 */
    size_t n_sample;
    size_t sample_bytes; /* bytes of one sample of x */
} VfLabelled;

/* Read `path`. All memory in `arena`. Missing arrays, labels that are not whole numbers, and
 * different counts are VF_INVALID. */
VfStatus vf_labelled_read(VfArena *arena, const char *path, VfLabelled *data, VfErr *err);

#endif
