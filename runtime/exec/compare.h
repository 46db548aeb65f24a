/* How far two arrays of one dtype and shape are apart.
 *
 * Floats of any width up to f64 are compared as doubles, integers and bools too (equality is
 * exact all the same). Complex numbers are compared as points of the plane: |a - b| is their
 * distance, ULP are those of the worse part, and lines have no largest element. Elements where
 * either side is NaN or infinite count as special: equal specials (both NaN, or the same infinity)
 * agree, others are counted in n_special_differ and left out of all distances.
 */
#ifndef VF_EXEC_COMPARE_H
#define VF_EXEC_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/status.h"
#include "runtime/kernels/dtype.h"

typedef struct VfDistance {
    size_t count;            /* elements */
    size_t n_differ;         /* elements of another value; NaN is the same as NaN, 0 as -0 */
    size_t n_special_differ; /* of these: NaN or infinity on one side, or unlike infinities */
    double max_abs;          /* largest |a - b| */
    double mean_abs;         /* mean |a - b| */
    double max_rel;          /* largest |a - b| / |b| over b != 0 */
    double norm_rel;         /* ||a - b|| / ||b||; 0 when both are 0, infinity when b alone is 0 */
    double cosine;           /* a.b / (||a|| ||b||); 1 when both are 0, 0 when one is */
    double max_ulp;          /* largest distance in units in the last place; floats only */
    double max_abs_b;        /* largest |b| */
    size_t worst;            /* index of max_abs; 0 when nothing differs */
    int64_t n_row;           /* lines along the last axis */
    int64_t n_top1;          /* of these, how many have their largest element at the same place */
} VfDistance;

/* Compare `count` elements; `row` is the length of the last axis (0: no lines; it divides count).
 * b is the reference. VF_UNSUPPORTED for strings. */
VfStatus vf_compare(VfDtype dtype, size_t count, size_t row, const void *a, const void *b,
                    VfDistance *distance, VfErr *err);

/* Within |a - b| <= atol + rtol * |b| everywhere and no special differs. Integers and bools with
 * both 0 must be equal. */
VfStatus vf_compare_is_close(VfDtype dtype, size_t count, const void *a, const void *b, double rtol,
                             double atol, bool *is_close, VfErr *err);

#endif
