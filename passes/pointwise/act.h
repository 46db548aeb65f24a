/* The point-wise functions that can stand in for softmax; private to
 * softmax_to_relu.c and this folder. */
#ifndef VF_POINTWISE_ACT_H
#define VF_POINTWISE_ACT_H

#include "passes/match/attention.h"
#include "passes/rewrite/rewrite.h"

/* What a removed key needs, so that its weight is zero. */
typedef enum VfMaskNeed {
    VF_MASK_NEEDS_NOTHING, /* the function is zero far below zero, also at -inf */
    VF_MASK_NEEDS_FINITE,  /* not a number at -inf: masks must be finite */
    VF_MASK_NEEDS_ZERO     /* not zero there: removed keys must be set to zero */
} VfMaskNeed;

typedef struct VfAct {
    const char *name; /* as the option spells it */
    int64_t opset;    /* first opset that has the operators */
    VfMaskNeed need;
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

/* Why a fused operator cannot be taken apart for `act`, or NULL. pointwise/unfuse.c */
const char *vf_unfuse_why_not(const VfAttention *site, const VfAct *act);

/* The logits [B, H, N_q, N_k] of a fused operator in plain nodes, masks made safe for `act`. */
VfValue *vf_unfuse_logits(VfRewrite *rw, const VfAttention *site, const VfAct *act);

/* What the fused operator results in, given the weights of the keys. */
VfValue *vf_unfuse_output(VfRewrite *rw, const VfAttention *site, VfValue *weights);

#endif
