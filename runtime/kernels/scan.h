/* Walks along one axis: ArgMax, ArgMin, CumSum, CumProd, TopK.
 *
 * Operands have the shape outer x n x inner, contiguous. Units: outer * inner; unit u is the
 * line with outer index u / inner and inner index u % inner.
 *
 *   argmax argmin  floats and integers; VfkArgParams; out[0] i64. NaN counts as the extreme
 *   cumsum cumprod floats and integers; VfkCumulateParams; may run in place. f32 adds and
 *                  multiplies in double; integers wrap
 *   topk           floats and integers; VfkTopkParams; out: values, indices (i64), both outer
 *                  x k x inner. Among equals the lower index comes first. NaN counts as the
 *                  largest. Needs vfk_topk_scratch_bytes of scratch
 */
#ifndef VFK_SCAN_H
#define VFK_SCAN_H

#include "runtime/kernels/kernel.h"

typedef struct VfkArgParams {
    int64_t outer;
    int64_t n;
    int64_t inner;
    int64_t select_last; /* among equals the last index instead of the first */
} VfkArgParams;

typedef struct VfkCumulateParams {
    int64_t outer;
    int64_t n;
    int64_t inner;
    int64_t exclusive;
    int64_t reverse;
} VfkCumulateParams;

typedef struct VfkTopkParams {
    int64_t outer;
    int64_t n;
    int64_t inner;
    int64_t k;       /* 0 <= k <= n */
    int64_t largest; /* else the smallest */
    int64_t sorted;  /* results are sorted either way */
} VfkTopkParams;

/* Scratch of a topk step. */
size_t vfk_topk_scratch_bytes(const VfkTopkParams *params);

#endif
