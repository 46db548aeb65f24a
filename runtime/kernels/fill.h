/* Tensors made from little: constants, ranges, triangles, one-hot rows.
 *
 *   fill_b1 b2 b4 b8 b16 VfkFillParams; out[i] = in[0][0], or zero bytes if in[0] is NULL.
 *                        Units: elements
 *   range_f32 f64 i16 i32 i64
 *                        VfkFillParams; out[i] = in[0][0] + i * in[1][0] (start, delta).
 *                        Units: elements
 *   eyelike_f32 f64 u8 u16 u32 u64 i8 i16 i32 i64 bool
 *                        VfkTriangleParams; 1 on diagonal k, else 0; no operands; `outer` 1.
 *                        Units: rows
 *   trilu_b1 ... b16     VfkTriangleParams; zero below (upper) or above (not upper) diagonal k.
 *                        Units: rows of all matrices, outer * rows. May run in place
 *   one_hot_b1 ... b16   VfkOneHotParams; in: indices, values (off, on). out[o, d, i] is `on` where
 *                        d == index[o, i]; a negative index counts from depth; an index outside
 *                        gives no `on`. Units: outer
 */
#ifndef VFK_FILL_H
#define VFK_FILL_H

#include "runtime/kernels/kernel.h"

typedef struct VfkFillParams {
    int64_t n; /* elements of the whole result */
} VfkFillParams;

typedef struct VfkTriangleParams {
    int64_t outer; /* number of matrices */
    int64_t rows;
    int64_t cols;
    int64_t k;     /* diagonal: 0 main, positive above */
    int64_t upper; /* trilu: keep the upper part */
} VfkTriangleParams;

typedef struct VfkOneHotParams {
    int64_t outer;
    int64_t depth;
    int64_t inner;
    int64_t index_bytes; /* 4 or 8: indices are i32 or i64 */
} VfkOneHotParams;

#endif
