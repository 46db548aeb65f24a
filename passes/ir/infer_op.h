/* What the inference functions share: their one signature and the helpers they are written with.
 *
 * Private to passes/ir/infer*.c. A function reads facts of operands, sets facts of results and
 * leaves unknown what it cannot know. Dims and contents it makes lie in `cx->arena`. Results are
 * unknown tensors on entry (rank VF_RANK_UNKNOWN, dtype VF_UNDEFINED).
 */
#ifndef VF_IR_INFER_OP_H
#define VF_IR_INFER_OP_H

#include "passes/ir/attr.h"
#include "passes/ir/infer.h"

typedef struct VfInferCx {
    VfArena *arena;
    VfSymbols *symbols;
    const VfNode *node;
    int64_t opset; /* version of the node's domain that its graph imports */
    int32_t n_in, n_out;
    const VfFact *const *in;
    VfFact *out;
    VfErr *err;
} VfInferCx;

typedef VfStatus VfInferFn(const VfInferCx *cx);

/* One prototype per function named in infer_table.def. */
#define VF_INFER(op, function) VfInferFn function;
#include "passes/ir/infer_table.def" /* NOLINT: the same function may be named in many rows */
#undef VF_INFER

/* A list of integers that is an attribute or an operand. */
typedef struct VfIntList {
    bool is_there; /* given at all */
    bool is_known; /* its values are in `value` */
    int32_t n;     /* number of values, also when only that is known; -1 if not */
    const int64_t *value;
} VfIntList;

/* VF_INVALID with a sentence that names the node and the types of its operands. */
VfStatus vf_infer_fail(const VfInferCx *cx, const char *fmt, ...) VF_PRINTF(2, 3);

/* Fact of operand `slot`; NULL when omitted. */
const VfFact *vf_infer_in(const VfInferCx *cx, int32_t slot);
/* Its type if it is a tensor of known rank, else NULL. */
const VfType *vf_infer_shape_of(const VfInferCx *cx, int32_t slot);
/* Its dtype; VF_UNDEFINED when omitted or unknown. */
VfDtype vf_infer_dtype_of(const VfInferCx *cx, int32_t slot);
/* Dim `axis` of it, unknown when not known. */
VfDim vf_infer_dim_of(const VfInferCx *cx, int32_t slot, int32_t axis);

/* Symbolic contents of an integer operand of rank 0 or 1; NULL when nothing is known. A tensor
 * whose length alone is known gives unknown elements. */
const VfDim *vf_infer_content_of(const VfInferCx *cx, int32_t slot, int32_t *n);
/* Has the tensor few enough integers, and these as contents, NULL without memory; numbers beyond 63
 * bits are unknown. */
bool vf_infer_has_content(const VfTensor *tensor);
const VfDim *vf_infer_content_of_tensor(VfArena *arena, const VfTensor *tensor, int32_t *n);
/* Attribute `name` (may be NULL), else operand `slot` (-1: none). */
VfStatus vf_infer_ints(const VfInferCx *cx, const char *name, int32_t slot, VfIntList *list);
/* A single integer operand of known value. */
bool vf_infer_int_of(const VfInferCx *cx, int32_t slot, int64_t *value);

/* `rank` unknown dims in the arena; never NULL for rank 0. NULL when out of memory. */
VfDim *vf_infer_new_dims(const VfInferCx *cx, int32_t rank);
VfDim *vf_infer_copy_dims(const VfInferCx *cx, int32_t rank, const VfDim *dims);
/* Set result `index` if the node has it. */
void vf_infer_set(const VfInferCx *cx, int32_t index, VfDtype dtype, int32_t rank,
                  const VfDim *dims);
void vf_infer_set_dtype(const VfInferCx *cx, int32_t index, VfDtype dtype);
/* Result `index` has the type of operand `slot`, or its shape with another dtype. */
void vf_infer_set_like(const VfInferCx *cx, int32_t index, int32_t slot);
void vf_infer_set_like_dtype(const VfInferCx *cx, int32_t index, int32_t slot, VfDtype dtype);
void vf_infer_set_content(const VfInferCx *cx, int32_t index, int32_t n, const VfDim *content);

/* `axis` of the node counted from the front: [-rank, rank) to [0, rank). */
VfStatus vf_infer_axis(const VfInferCx *cx, int64_t axis, int32_t rank, int32_t *out);
/* VF_INVALID if the known dtypes of the operands contradict operand_dtypes.def. Called before the
 * operator's function, which need not ask again. */
VfStatus vf_infer_check_dtypes(const VfInferCx *cx);
VfStatus vf_infer_need_rank(const VfInferCx *cx, int32_t slot, int32_t min, int32_t max);

/* The shape two types broadcast to; unknown rank in gives unknown rank out. `out->dtype` is left
 * alone; `out` may be `a` or `b`. */
VfStatus vf_infer_broadcast(const VfInferCx *cx, const VfType *a, const VfType *b, VfType *out);
/* VF_INVALID if operand `slot` (may be omitted) provably does not broadcast to `to`, of known rank,
 * as it is. */
VfStatus vf_infer_broadcasts_to(const VfInferCx *cx, int32_t slot, const VfType *to);
/* Two dims that must be equal: the better known of both; VF_INVALID when provably different. */
VfStatus vf_infer_unify(const VfInferCx *cx, VfDim a, VfDim b, const char *what, VfDim *out);
/* Two dims known to be equal: the better known. */
VfDim vf_infer_better_dim(VfDim a, VfDim b);
/* What is true of both types (dims that differ become unknown); `out` may be `a` or `b`. */
VfStatus vf_infer_join(VfArena *arena, const VfType *a, const VfType *b, VfType *out, VfErr *err);
/* What is known of one value: `a` follows from the graph, `b` is declared. Where both know a dim
 * the graph counts: files are made dynamic by changing their inputs alone, and numbers declared
 * elsewhere stay behind. VF_INVALID (without a sentence) when numbers, ranks, dtypes or kinds
 * contradict. */
VfStatus vf_infer_meet(VfArena *arena, const VfType *a, const VfType *b, VfType *out, VfErr *err);

/* Product of dims. */
VfDim vf_infer_product(const VfInferCx *cx, int32_t n, const VfDim *dims);
/* a + n and a * n and floor(a / n) for plain n. */
VfDim vf_infer_plus(const VfInferCx *cx, VfDim a, int64_t n);
VfDim vf_infer_times(const VfInferCx *cx, VfDim a, int64_t n);
VfDim vf_infer_over(const VfInferCx *cx, VfDim a, int64_t n);

/* Contents of result 0 of an elementwise operator from the contents of its operands; needs the type
 * of result 0 to be set. Does nothing for operators without a rule. */
VfStatus vf_infer_elementwise_content(const VfInferCx *cx);

#endif
