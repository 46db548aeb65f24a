/* The point-wise functions that can stand in for softmax; private to
 * softmax_to_relu.c and this folder. */
#ifndef VF_POINTWISE_ACT_H
#define VF_POINTWISE_ACT_H

#include "passes/attention/unfuse.h"
#include "passes/match/attention.h"
#include "passes/rewrite/rewrite.h"

typedef struct VfAct {
    const char *name; /* as the option spells it */
    int64_t opset;    /* first opset that has the operators */
    VfMaskNeed need;
    double power; /* p of c h(S) = h(c^(1/p) S), c > 0, where that is made use of; else 0 */
    VfValue *(*build)(VfRewrite *rw, VfValue *x);
} VfAct;

/* Rows in the order of the option's choices. */
extern const VfAct vf_act_table[];

/* Changes to the masks of one site. */
typedef struct VfMaskGuard {
    VfRewrite *rw;
    VfArena *arena; /* the model's, for new constants */
    const VfAttention *site;
    const char *why; /* set when the site must be left alone */
} VfMaskGuard;

/* Change what is added to the logits so that removed keys get weight zero under `act`, and return
 * the logits to use in place of `logits`. NULL with `guard->why` set when that cannot be done.
 * pointwise/mask.c */
VfValue *vf_act_guard_masks(VfMaskGuard *guard, const VfAct *act, VfValue *logits);

/* What the function is applied to at a site that is not fused: the logits, without a shift right in
 * front of the softmax, such as a maximum subtracted. `*is_cast`: the softmax was computed in a
 * wider dtype; the Casts around it go away. pointwise/softmax.c */
VfValue *vf_relu_logits(const VfAttention *site, bool *is_cast);

/* Why the site's other shifts, which stand before `logits`, cannot be taken away, or NULL. And:
 * take them away. pointwise/softmax.c */
const char *vf_relu_why_not_shifts(const VfAttention *site, const VfValue *logits);
void vf_relu_drop_shifts(VfRewrite *rw, const VfAttention *site, const VfValue *logits);

#endif
