/* Small facts about values and nodes that recognisers share. Nothing here changes a graph. */
#ifndef VF_MATCH_FACTS_H
#define VF_MATCH_FACTS_H

#include "passes/ir/graph.h"
#include "passes/match/product.h"

/* --- constants --- */

/* A weight: constant, or a constant behind movers that folding left (large transposed weights), or
 * an input with a default. It need not be readable as a constant. */
bool vf_is_fixed(const VfValue *value);

/* The one number a constant holds (one element, or all equal), also through Cast, Identity, views
 * and Expand that folding left. False: run-time or several numbers. */
bool vf_scalar_of(const VfValue *value, double *number);

/* Smallest and largest finite-or-infinite element of a float, integer or bool constant; false if
 * not constant, empty, or of strings. */
bool vf_const_range(const VfValue *value, double *lowest, double *highest);

/* --- axes --- */

/* `axis` of an attribute made non-negative; -1 when out of range or the rank unknown. */
int32_t vf_axis_of(int64_t axis, int32_t rank);

/* The permutation of a Transpose (the default reverses). Returns its length, -1 when unknown or
 * over VF_AXIS_MAX. */
int32_t vf_transpose_perm(const VfNode *node, int32_t *perm);

/* Is the node a Transpose that swaps the last two axes and leaves the others? */
bool vf_is_swap_last_two(const VfNode *node);

/* Axes of a ReduceX (attribute or operand), non-negative and ascending; all axes when absent.
 * Returns how many, -1 when not constant or the rank is unknown. `axis` has room for VF_AXIS_MAX.
 */
int32_t vf_reduce_axes(const VfNode *node, int64_t *axis);

/* Length of an axis (may be negative: from the end); unknown when the rank is. */
VfDim vf_dim_at(const VfValue *value, int32_t axis);

/* Number of elements; unknown when a dim is. */
VfDim vf_value_count(VfSymbols *symbols, const VfValue *value);

/* --- walking --- */

/* Cast between floats, Identity, Dropout: same numbers for a matcher. */
bool vf_is_carrier(const VfNode *node);

/* Same elements, maybe in other places: carriers, views, Transpose, Expand. */
bool vf_is_mover(const VfNode *node);

/* Where(IsNaN(x), constant, x): x but in rows where every key is removed, whose softmax is NaN. */
bool vf_is_nan_guard(const VfNode *node);

/* Walk up through movers. */
VfValue *vf_skip_movers(VfValue *value);

/* The node that makes `value` if its op is `op`, else NULL. */
VfNode *vf_def_if(const VfValue *value, VfOp op);

/* Of a two-operand node: the other operand than `slot`. */
VfValue *vf_other_in(const VfNode *node, int32_t slot);

/* A node that multiplies its operand `*slot` by one number: Mul or Div by a scalar constant or by a
 * single run-time value. `*factor`: the number, NaN at run time. `*by` (may be NULL): the scalar
 * operand. */
bool vf_is_scale(const VfNode *node, int32_t *slot, double *factor, VfValue **by);

/* Operand of a Where, 1 or 2, that is constant; -1: both are, or none is. Masks fill it in. */
int32_t vf_where_const_slot(const VfNode *where);

#endif
