/* An operand that is something else times a power of two: who reads it may read the other and take
 * the factor to its result without a change of bits.
 */
#ifndef VF_LOWER_FUSE_SCALED_H
#define VF_LOWER_FUSE_SCALED_H

#include "converter/lower/fuse.h"
#include "converter/lower/fuse_axes.h"
#include "runtime/kernels/binary.h"

typedef struct VfFuseScaled {
    int32_t step; /* the product */
    VfLowRef ref; /* what it scales */
    double number;
    VfFuseMap map; /* from the product's elements to those of `ref` */
    int64_t at[VFK_MAX_RANK];
} VfFuseScaled;

/* Whether an operand with these strides is one number for all elements. */
bool vf_fuse_is_scalar(const VfkBinaryParams *p, const int64_t *stride);

/* Whether step `reader` alone reads `ref`, and that is an f32 product by a constant power of two.
 * `scaled->map` points into `scaled` and the step's parameters. */
bool vf_fuse_find_scaled(const VfFuse *fuse, VfLowRef ref, int32_t reader, VfFuseScaled *scaled);

#endif
