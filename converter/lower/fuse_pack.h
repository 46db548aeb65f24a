/* Constant matrices packed for linear_f32, once for all steps that read them. */
#ifndef VF_LOWER_FUSE_PACK_H
#define VF_LOWER_FUSE_PACK_H

#include "converter/lower/fuse.h"
#include "converter/lower/fuse_axes.h"
#include "runtime/kernels/linear.h"

/* A matrix in a weight. */
typedef struct VfFusePack {
    VfLowRef b;
    VfkPackParams p;
    int32_t buffer; /* of the packed one */
} VfFusePack;

/* Where the packed matrix is: a weight of the plan, made on the first call for the same bytes. */
VfStatus vf_fuse_pack(VfFuse *fuse, const VfFusePack *pack, VfLowRef *ref, VfErr *err);

#endif
