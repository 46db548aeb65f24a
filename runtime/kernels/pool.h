/* Pooling in one, two or three spatial axes; axes as in conv.h.
 *
 *   max_pool      f32 f64 u8 i8; out: y, indices (i64, may be NULL). Padding is never chosen;
 *                 indices count in the whole tensor x. NaN wins
 *   average_pool  f32 f64; the window is clipped to the padded input (in_dim + pad + pad_end),
 *                 and the divisor is its size with count_include_pad, else the number of
 *                 elements inside the input
 *   lp_pool       f32 f64; (sum |x|^p)^(1/p)
 *
 * in: x. Units: planes. Global pools have kernel = in_dim, out_dim 1.
 */
#ifndef VFK_POOL_H
#define VFK_POOL_H

#include "runtime/kernels/kernel.h"

typedef struct VfkPoolParams {
    int64_t planes; /* batch * channels */
    int64_t in_dim[3];
    int64_t out_dim[3];
    int64_t kernel[3];
    int64_t stride[3];
    int64_t pad[3];     /* before the first element */
    int64_t pad_end[3]; /* behind the last; read by average_pool only */
    int64_t dilation[3];
    int64_t count_include_pad;
    int64_t column_major; /* max_pool indices: storage_order 1, the last axis slowest */
    int64_t p;            /* lp_pool */
} VfkPoolParams;

#endif
