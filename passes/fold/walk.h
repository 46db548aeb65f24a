/* Following a scale and shift through the graph, to the layers that can take it up.
 *
 * Forward: value y was made by f(u) = a⊙u + c and shall become u. Every reader of y then makes
 * something else, and the walk says what: through operators that commute with f (Transpose,
 * Reshape, Slice, pooling, ...) it carries the pair of fields along, until every branch ends in a
 * layer with constant weights. Backward: value x shall become a⊙x + c, and the walk goes to
 * the operands, which must have no other reader.
 *
 * Walking changes nothing. Its result is a list of steps, or the first obstacle as a sentence
 * with the node it is about. Rules: spec section 2.3 and 2.4.
 */
#ifndef VF_FOLD_WALK_H
#define VF_FOLD_WALK_H

#include "passes/fold/affine.h"

typedef enum VfFoldKind {
    VF_FOLD_INTO_NEXT,     /* the layer reads a⊙u + c in `slot`; it shall read u */
    VF_FOLD_INTO_PREVIOUS, /* the layer's result shall become a⊙r + c */
    VF_FOLD_INTO_CONST     /* the constant in `slot` shall become a⊙k + c */
} VfFoldKind;

typedef struct VfFoldStep {
    VfFoldKind kind;
    VfNode *node;
    int32_t slot;
    VfAffine
        affine; /* fields of the rank of the operand (NEXT, CONST) or of the result (PREVIOUS) */
} VfFoldStep;

/* A value and the map it carries. */
typedef struct VfCarrier {
    VfValue *value;
    VfAffine affine;
} VfCarrier;

typedef struct VfFoldWalk {
    VfArena *arena; /* everything lies here */
    VfModel *model;
    VfCarrier *carrier;
    size_t n_carrier, carrier_capacity;
    VfNode **todo; /* readers to visit, the last in graph order first */
    size_t n_todo, todo_capacity;
    VfFoldStep *step;
    size_t n_step, step_capacity;
    bool needs_border_map; /* some step meets the zero padding of a convolution */
    const char *why;       /* the obstacle; NULL when the walk reached its ends */
    const VfNode *where;
} VfFoldWalk;

/* A walk of `y` to its readers, or of `x` to what makes it; the caller knows that nothing else
 * reads x. VF_OK also when there is an obstacle: see walk->why. */
VfStatus vf_fold_walk_forward(VfFoldWalk *walk, VfArena *arena, VfModel *model, VfValue *y,
                              const VfAffine *affine, VfErr *err);
VfStatus vf_fold_walk_backward(VfFoldWalk *walk, VfArena *arena, VfModel *model, VfValue *x,
                               const VfAffine *affine, VfErr *err);

/* --- for the rules --- */

/* Record the obstacle, if it is the first. Always VF_OK, or VF_NO_MEMORY. */
VfStatus vf_fold_stop(VfFoldWalk *walk, const VfNode *node, VfErr *err, const char *fmt, ...)
    VF_PRINTF(4, 5);

/* False for Shape and Size: they see no difference. */
bool vf_fold_reads_contents(const VfNode *node);

/* What `value` carries, or NULL. */
const VfAffine *vf_fold_carried(const VfFoldWalk *walk, const VfValue *value);

/* `value` carries `affine` from now on; its readers will be visited. */
VfStatus vf_fold_carry(VfFoldWalk *walk, VfValue *value, const VfAffine *affine, VfErr *err);

/* Operand `slot` of `node` shall become a⊙v + c: go on to what makes it. */
VfStatus vf_fold_demand(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *affine,
                        VfErr *err);

VfStatus vf_fold_add_step(VfFoldWalk *walk, VfFoldKind kind, VfNode *node, int32_t slot,
                          const VfAffine *affine, VfErr *err);

/* Times one number, without a shift. */
VfStatus vf_affine_uniform(VfArena *arena, int32_t rank, double factor, VfAffine *out, VfErr *err);
bool vf_affine_is_identity(const VfAffine *affine);
/* Does a or c vary along `axis`? */
bool vf_affine_varies(const VfAffine *affine, int32_t axis);
bool vf_affine_is_on_axis(const VfAffine *affine, int32_t axis);

/* The map of a value of `rank` axes whose i-th is axis from[i] of x, or new when that is negative.
 * Axes left out do not vary. */
VfStatus vf_affine_move_axes(VfArena *arena, const VfAffine *x, int32_t rank, const int32_t *from,
                             VfAffine *out, VfErr *err);
/* Elements index[0..n) along `axis`; a field that does not vary there stays as it is. */
VfStatus vf_affine_take(VfArena *arena, const VfAffine *x, int32_t axis, size_t n,
                        const int64_t *index, VfAffine *out, VfErr *err);
/* The map that is `x` at index[0..n) along `axis` of extent `extent`, and changes nothing
 * elsewhere. */
VfStatus vf_affine_spread(VfArena *arena, const VfAffine *x, int32_t axis, size_t n,
                          const int64_t *index, int64_t extent, VfAffine *out, VfErr *err);

/* The same map with leading axes of extent 1 added or taken away, so that it has `rank` axes. */
VfStatus vf_affine_to_rank(VfArena *arena, const VfAffine *x, int32_t rank, VfAffine *out,
                           VfErr *err);
/* Can a value of `type`, its axes aligned at the end with those of the map, carry the map: does it
 * have, on each axis along which the map varies, provably the same extent? */
bool vf_affine_fits(const VfAffine *x, const VfType *type);

/* One operator: how it hands the map on. */
typedef struct VfFoldRule {
    VfOp op;
    bool any_slot; /* forward: the map may come in at any operand, also at several; else only at the
                      first */
    /* `in` is what operand `slot` carries (the first that does). */
    VfStatus (*forward)(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                        VfErr *err);
    /* Result `index` shall become a⊙r + c. NULL: not known how. */
    VfStatus (*backward)(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                         VfErr *err);
} VfFoldRule;

/* The row of an operator, or NULL: it does not commute with a scale and shift. */
const VfFoldRule *vf_fold_rule(VfOp op);

/* Rows by file; see fold/rules.c for the table. */
#define VF_FOLD_RULE(name)                                                                         \
    VfStatus vf_fold_##name##_forward(VfFoldWalk *walk, VfNode *node, int32_t slot,                \
                                      const VfAffine *in, VfErr *err);                             \
    VfStatus vf_fold_##name##_backward(VfFoldWalk *walk, VfNode *node, int32_t index,              \
                                       const VfAffine *out, VfErr *err)
VF_FOLD_RULE(view); /* fold/move.c: axes renamed, merged, split, repeated */
VF_FOLD_RULE(dropout);
VF_FOLD_RULE(transpose);
VF_FOLD_RULE(expand);
VF_FOLD_RULE(tile);
VF_FOLD_RULE(slice); /* fold/pick.c: elements picked or put side by side */
VF_FOLD_RULE(gather);
VF_FOLD_RULE(split);
VF_FOLD_RULE(concat);
VF_FOLD_RULE(pad);    /* fold/pad.c */
VF_FOLD_RULE(reduce); /* fold/pool.c: averages and the like over other axes */
VF_FOLD_RULE(pool);
VF_FOLD_RULE(resize);
VF_FOLD_RULE(add); /* fold/term.c: sums and products with constants, sums of two branches */
VF_FOLD_RULE(scale);
VF_FOLD_RULE(matmul); /* fold/layer.c: where the map ends */
VF_FOLD_RULE(gemm);
VF_FOLD_RULE(einsum);
VF_FOLD_RULE(conv); /* and ConvTranspose */
#undef VF_FOLD_RULE

#endif
