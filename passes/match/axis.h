/* Where the axes of values come from: a role for every axis of every value.
 *
 * Roles start at the graph inputs (axis 0 batch, axis 1 or the last of an image channels, spatial
 * axes and sequences tokens, the last axis of a rank-2 or rank-3 input channels) and are carried
 * forward through every operator: a layer with constant weights makes channels (or, where it mixes
 * tokens, tokens), Reshape splits and joins axes factor by factor. So channel attention (its
 * scores count channels) can be told from token attention, heads from the batch, and windows
 * from images, without looking at names.
 *
 * An axis is a product of factors, outermost first. A token factor made from the two axes of
 * an image remembers its grid; a Concat before it, the prefix of class and register tokens.
 */
#ifndef VF_MATCH_AXIS_H
#define VF_MATCH_AXIS_H

#include "passes/ir/graph.h"
#include "passes/match/product.h"

enum {
    VF_ROLE_BATCH = 1,
    VF_ROLE_TOKEN = 2,   /* positions in space or in a sequence; windows too */
    VF_ROLE_CHANNEL = 4, /* features: widths and heads */
    VF_ROLE_STACK = 8    /* new axis of stacked values (Unsqueeze, Concat) */
};

enum { VF_FACTOR_MAX = 6 };

typedef struct VfFactor {
    VfDim dim;
    uint32_t role;        /* VF_ROLE_*, several when they could not be told apart; 0 unknown */
    VfDim grid_h, grid_w; /* token factor: the image it was made of; unknown when not */
    VfDim prefix;         /* tokens before the grid; unknown when there is no grid */
} VfFactor;

typedef struct VfAxis {
    int32_t n; /* 0: length 1 or unknown */
    VfFactor factor[VF_FACTOR_MAX];
} VfAxis;

/* Axes of all values of a model; by value id. */
typedef struct VfAxes {
    VfModel *model;
    VfArena *arena;
    VfAxis **of_value; /* VF_AXIS_MAX-bounded arrays, NULL when the rank is unknown */
    int32_t n_value;
} VfAxes;

/* Compute them for the main graph and its subgraphs. In `arena`. */
VfStatus vf_axes_new(VfArena *arena, VfModel *model, VfAxes **axes, VfErr *err);

/* The axis, or NULL when nothing is known of the value or `axis` is out of range. */
const VfAxis *vf_axis_get(const VfAxes *axes, const VfValue *value, int32_t axis);

/* Union of the roles of its factors; 0 when nothing is known. Constants have none. */
uint32_t vf_axis_role(const VfAxes *axes, const VfValue *value, int32_t axis);

/* Product of the factors with a role in `role`; 1 if none, unknown if one is not known. */
VfDim vf_axis_product(const VfAxes *axes, const VfAxis *axis, uint32_t role);

/* The axis of `to` that holds exactly what axis `axis` of `from` holds when both have the same
 * elements in the same order (a view), by comparing the products of dims; -1 when the axis was
 * split, joined or lost. */
int32_t vf_axis_through_view(VfSymbols *symbols, const VfType *from, const VfType *to,
                             int32_t axis);

/* The result axis that operand axis `axis` of operand 0 becomes in `node` (Transpose, views,
 * Expand, Slice, Pad, element-wise and same-rank operators); -1 when it does not survive. And the
 * other way round. */
int32_t vf_axis_down(const VfAxes *axes, const VfNode *node, int32_t slot, int32_t axis);
int32_t vf_axis_up(const VfAxes *axes, const VfNode *node, int32_t slot, int32_t axis);

#endif
