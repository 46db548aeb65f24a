/* Where the affine map of a norm can be folded to: asked by `inspect`, `explain` and fold-bn.
 *
 * f(x) = a⊙x + c on one axis of a value. Forward: every reader ends, through operators that
 * commute with f, in a MatMul, Gemm, Conv or ConvTranspose with constant weights. Backward:
 * x comes only from such a layer. Rules and conditions: spec section 2.3 and 2.4.
 */
#ifndef VF_FOLD_PLAN_H
#define VF_FOLD_PLAN_H

#include "passes/fold/walk.h"
#include "passes/match/norm.h"

typedef enum VfFoldDirection {
    VF_FOLD_NONE,
    VF_FOLD_FORWARD,
    VF_FOLD_BACKWARD,
    VF_FOLD_BOTH
} VfFoldDirection;

typedef struct VfFoldFacts {
    VfFoldDirection direction;
    bool needs_border_map;       /* forward into a zero-padded Conv */
    const char *why_not_forward; /* reason with node names, NULL when it can */
    const char *why_not_backward;
    const VfNode *node_forward, *node_backward; /* the node each reason is about */
} VfFoldFacts;

/* Decide without changing anything. Strings in `arena`. */
VfStatus vf_fold_facts(VfArena *arena, VfModel *model, const VfBatchNorm *bn, VfFoldFacts *facts,
                       VfErr *err);

/* What both walks of one norm found: the facts, and the steps to carry out. */
typedef struct VfFoldPlan {
    VfFoldFacts facts;
    VfValue *x, *y;  /* y becomes a use of x */
    VfAffine affine; /* of the norm, in the layout of x and y */
    VfFoldWalk forward, backward;
} VfFoldPlan;

VfStatus vf_fold_plan(VfArena *arena, VfModel *model, const VfBatchNorm *bn, VfFoldPlan *plan,
                      VfErr *err);

#endif
