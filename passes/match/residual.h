/* Residual adds: a sum of which one operand, the skip, is what the others are computed from.
 *
 * A branch goes through at least one layer with weights on its way from the skip to the sum, so
 * that what only looks alike (x + c x³ inside a GELU, BN(x) + x) is none; and the skip has the
 * shape of the sum, so that a mask is none on scores that depend on it. The skip may be moved,
 * sliced or pooled on its way; a shortcut with weights of its own is no skip. Pre-norm and
 * post-norm blocks, tokens and images, parallel branches (x + f + g) look the same here.
 */
#ifndef VF_MATCH_RESIDUAL_H
#define VF_MATCH_RESIDUAL_H

#include "passes/ir/graph.h"

enum { VF_RESIDUAL_LEAF_MAX = 6 };

/* An operand of a sum. */
typedef struct VfResidualLeaf {
    VfNode *node;
    int32_t slot;
    double factor; /* constant it was multiplied by last; 1 if by none */
} VfResidualLeaf;

typedef struct VfResidual {
    VfNode *add; /* the Add or Sum that ends it */
    VfResidualLeaf skip, branch[VF_RESIDUAL_LEAF_MAX - 1];
    int32_t n_branch;
    int32_t depth; /* residual adds on the longest path to here, with this one */
    bool is_attention; /* a branch multiplies two run-time values */
} VfResidual;

typedef struct VfResiduals {
    VfResidual *site; /* graph order */
    int32_t n_site, depth; /* and the largest depth */
} VfResiduals;

/* Find the residual adds of `graph` itself, not of its subgraphs. All memory in `arena`. */
VfStatus vf_find_residuals(VfArena *arena, VfGraph *graph, VfResiduals *found, VfErr *err);

/* Is it alpha x + beta f(x) with alpha² + beta² = 1 already? */
bool vf_residual_is_normal(const VfResidual *site);

/* A layer with constant weights: MatMul, Gemm, Einsum, Conv, or a fused attention operator. */
bool vf_is_layer(const VfNode *node);

#endif
