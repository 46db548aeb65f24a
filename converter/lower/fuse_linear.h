/* What all that makes a step of linear_f32 says of it. */
#ifndef VF_LOWER_FUSE_LINEAR_H
#define VF_LOWER_FUSE_LINEAR_H

#include "converter/lower/fuse.h"
#include "runtime/kernels/linear.h"

/* Operands by the places of linear.h. */
enum {
    LINEAR_A,
    LINEAR_B,
    LINEAR_BIAS,
    LINEAR_SCALE,
    LINEAR_ADD,
    LINEAR_FETCH,
    LINEAR_NORM_SCALE,
    LINEAR_NORM_BIAS,
    LINEAR_N_IN
};

/* Kernel, params, units, cost and scratch; operands, result and flops are for the caller. */
VfLowEmit vf_fuse_linear_emit(const VfkLinearParams *params);

/* Whether the step is a product of matmul_f32 with a constant matrix, the same for all batches: a
 * step of linear_f32 to be, unless what it adds lies otherwise. */
bool vf_fuse_is_linear(const VfFuse *fuse, const VfLowStep *step);

#endif
