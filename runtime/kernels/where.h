/* Choice between two operands by a condition, with broadcasting (ONNX Where).
 *
 * out[i] = c[i] ? x[i] : y[i]. in: c (bool), x, y; out is contiguous. Units: elements of out.
 * Kernels by the bytes of an element: where_b1 b2 b4 b8 b16.
 */
#ifndef VFK_WHERE_H
#define VFK_WHERE_H

#include "runtime/kernels/kernel.h"

typedef struct VfkWhereParams {
    int64_t rank; /* 0 for one element */
    int64_t dim[VFK_MAX_RANK];
    int64_t stride_c[VFK_MAX_RANK]; /* in elements, 0 where broadcast */
    int64_t stride_x[VFK_MAX_RANK];
    int64_t stride_y[VFK_MAX_RANK];
} VfkWhereParams;

#endif
