/* Scales of ReLU attention moved into the weights around it.
 *
 *     O = t h(s Q Kᵀ) V        s: factor of the scores, t = gain L^-alpha
 *
 * s stands before h, so the query or the key projection can take it whatever h is; t stands behind,
 * so the value projection can, or the layers that read O. Where h is homogeneous (relu(cS) =
 * c relu(S), c > 0; relu2: c² relu2(S)) and nothing is added to the scores but masks, each can also
 * go to the other side.
 *
 * Source: spec of the conversion passes, section 1.3. Private to softmax_to_relu.c and this folder.
 */
#ifndef VF_POINTWISE_FOLD_SCALE_H
#define VF_POINTWISE_FOLD_SCALE_H

#include "passes/fold/walk.h"
#include "passes/match/attention.h"
#include "passes/pointwise/act.h"
#include "passes/pointwise/scale.h"
#include "passes/rewrite/rewrite.h"

/* What is asked. */
typedef struct VfReluFoldCx {
    VfArena *arena; /* of the pass; walks lie here */
    VfModel *model;
    const VfAttention *site;
    const VfAct *act;
    const VfReluScale *scale;
    VfDim keys;       /* L, may be unknown */
    bool is_by_row;   /* L differs by row */
    bool has_qk_norm; /* LayerNorms will stand between the projections and the product */
} VfReluFoldCx;

typedef struct VfReluFold {
    bool folds_scores;  /* the factor of the scores goes away where it stands */
    bool folds_weights; /* so does gain L^-alpha */
    int32_t n_walk;
    VfFoldWalk walk[2];
    const char *scores_into, *weights_into;       /* where to, NULL: nowhere */
    const char *why_not_scores, *why_not_weights; /* sentences; NULL: folded, or there is none */
} VfReluFold;

/* Decide without changing anything. */
VfStatus vf_relu_fold_plan(const VfReluFoldCx *cx, VfReluFold *fold, VfErr *err);

/* Add the new weights to the rewrite, and take away the nodes that apply the factor of the scores
 * (not those of a fused operator, which has none). VF_DIFFERS, VF_UNSUPPORTED: a weight does not
 * hold its new number; abandon the rewrite. fold_scale_apply.c */
VfStatus vf_relu_fold_apply(VfRewrite *rw, const VfReluFoldCx *cx, VfReluFold *fold, VfErr *err);

/* What h is applied to once the nodes that apply the factor are gone. */
VfValue *vf_relu_fold_logits(const VfReluFoldCx *cx, const VfReluFold *fold, VfValue *logits);

/* Are queries and keys read by the product of this site alone, through scales and the like?
 * pointwise/qk_norm.c */
bool vf_relu_owns_operands(const VfAttention *site);

#endif
