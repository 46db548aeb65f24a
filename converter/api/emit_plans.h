/* The plans that an emitted program is made of. */
#ifndef VF_API_EMIT_PLANS_H
#define VF_API_EMIT_PLANS_H

#include "converter/api/session.h"
#include "converter/emit/batch.h"

/* What models are lowered for: the shapes of data, or those with other batches. */
typedef struct VfEmitShapes {
    const VitfoldData *in;
    int64_t min, max;      /* of the batch; both 0: only the shapes of `in` */
    const bool *has_batch; /* of each array of `in`: its first dim is the batch */
    bool no_fuse;          /* as in VitfoldEmitOptions; false after init */
} VfEmitShapes;

typedef struct VfEmitPlans {
    VfEmitRange range[VF_EMIT_MAX_RANGES];
    int32_t n_range;
    VfPlan *plan[3]; /* those of the ranges; they own them */
    int32_t n_plan;
} VfEmitPlans;

/* Which arrays of `in` have the batch. VF_USAGE: `batch` is no range, is the first dimension of no
 * input or another dimension of one, or the data is of several batches or of one out of range.
 * `batch` may be NULL. Memory is `arena`'s. */
VfStatus vf_emit_shapes_init(VfEmitShapes *shapes, const VitfoldModel *model,
                             const VitfoldData *in, const VitfoldBatch *batch, VfArena *arena,
                             VfErr *err);

/* Plans with reference kernels for the shapes. For a batch from `min` to `max` they were held
 * against those of batches in between; the smallest batch may have a plan of its own.
 * VF_UNSUPPORTED names the node that keeps the batch from being open. Free with the call below, in
 * any case. */
VfStatus vf_emit_plans_init(VfEmitPlans *plans, const VitfoldModel *model,
                            const VfEmitShapes *shapes, VfArena *arena, VfErr *err);
void vf_emit_plans_release(VfEmitPlans *plans);

#endif
