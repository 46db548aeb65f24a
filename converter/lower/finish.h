/* From what the walk collected to a plan. */
#ifndef VF_LOWER_FINISH_H
#define VF_LOWER_FINISH_H

#include "converter/lower/low.h"

/* Copy the weights whose data is not aligned for its dtype, so that kernels may read all. */
VfStatus vf_low_align_weights(VfLower *cx, VfErr *err);
/* Lifetimes, sharing and offsets of the arena buffers. */
VfStatus vf_low_memory(VfLower *cx, VfPlan *plan, VfErr *err);
/* Move what was collected into the plan, with refs resolved. */
VfStatus vf_low_finish(VfLower *cx, VfPlan *plan, VfErr *err);

#endif
