/* What lowering functions build with: operands, values, views, steps, and composed pieces.
 *
 * All functions allocate in the plan's arena. Results are fresh values unless it says otherwise.
 */
#ifndef VF_LOWER_EMIT_H
#define VF_LOWER_EMIT_H

#include "converter/lower/low.h"

/* --- operands and attributes of a call --- */

/* Operand or NULL. */
VfLowValue *vf_low_in(const VfLowCall *call, int32_t slot);
bool vf_low_has_out(const VfLowCall *call, int32_t index);
/* VF_UNSUPPORTED with the printf sentence: only the reason; the walk adds operator and node. */
VfStatus vf_low_refuse(VfErr *err, const char *fmt, ...) VF_PRINTF(2, 3);
/* The same where contents that are not known are the reason. */
VfStatus vf_low_await(const VfLowCall *call, VfErr *err, const char *fmt, ...) VF_PRINTF(3, 4);
/* The same for a word of the file that names no mode we have: "mode 'mirror'". */
VfStatus vf_low_refuse_word(const char *what, VfBytes word, VfErr *err);
/* Which of the names, of which NULL is the last, the word of the file is. */
VfStatus vf_low_choose(VfBytes given, const char *const *name, int32_t *index, VfErr *err);
/* VF_UNSUPPORTED: `why` after operator, opset, dtype and node. */
VfStatus vf_low_blame(const VfLowCall *call, VfErr *err, const char *why);
/* The axis attribute `name`, made non-negative, of an operand of `rank` axes. VF_INVALID: out of
 * range. */
VfStatus vf_low_axis(const VfLowCall *call, const char *name, int64_t rank, int64_t *axis,
                     VfErr *err);
/* Make `axis` non-negative. */
VfStatus vf_low_norm_axis(const VfLowCall *call, int64_t rank, int64_t *axis, VfErr *err);
/* Integers from attribute `name`, else from operand `slot` (-1: none), which must be known.
 * *list NULL when both are absent. */
VfStatus vf_low_ints(VfLower *cx, const VfLowCall *call, const char *name, int32_t slot,
                     const int64_t **list, int32_t *n, VfErr *err);
/* Contents of `value` as doubles; VF_UNSUPPORTED when not known. */
VfStatus vf_low_numbers(VfLower *cx, const VfLowCall *call, const VfLowValue *value,
                        const double **list, int32_t *n, VfErr *err);
/* VF_UNSUPPORTED unless the contents are known. */
VfStatus vf_low_need_known(const VfLowCall *call, const VfLowValue *value, VfErr *err);

/* --- values --- */

/* The next input of the plan (cx->n_input is not counted up). */
VfStatus vf_low_input(VfLower *cx, VfDtype dtype, int32_t rank, const int64_t *dims,
                      VfLowValue **out, VfErr *err);
/* A fresh contiguous tensor in the arena of the run. */
VfStatus vf_low_new(VfLower *cx, VfDtype dtype, int32_t rank, const int64_t *dims, VfLowValue **out,
                    VfErr *err);
/* The result `index` of the call, fresh, of the inferred shape and dtype; stored in call->out. */
VfStatus vf_low_result(VfLower *cx, VfLowCall *call, int32_t index, VfLowValue **out, VfErr *err);
/* Make `value` result `index`, under the inferred shape and in the inferred dtype. */
VfStatus vf_low_reshape_to(VfLower *cx, VfLowCall *call, int32_t index, VfLowValue *value,
                           VfErr *err);
/* Operands of equal dims but along `axis`, one after the other. */
VfStatus vf_low_concat(VfLower *cx, int32_t n, VfLowValue *const *in, int32_t axis,
                       VfLowValue **out, VfErr *err);
/* A value known when the plan is made. */
VfStatus vf_low_const(VfLower *cx, const VfTensor *tensor, VfLowValue **out, VfErr *err);
/* i64 or f32 or f64 constants from numbers. */
VfStatus vf_low_const_i64(VfLower *cx, size_t n, const int64_t *list, VfLowValue **out, VfErr *err);
VfStatus vf_low_int(VfLower *cx, int64_t number, VfLowValue **out, VfErr *err);
VfStatus vf_low_scalar(VfLower *cx, VfDtype dtype, double number, VfLowValue **out, VfErr *err);
/* Another view on the buffer of `of` (which gets a place): offset in elements from that of `of`. */
VfStatus vf_low_view(VfLower *cx, VfLowValue *of, int32_t rank, const int64_t *dims,
                     const int64_t *stride, int64_t offset, VfLowValue **out, VfErr *err);
/* The same elements in the same order under other dims: a view if strides allow, else of a copy. */
VfStatus vf_low_reshape(VfLower *cx, VfLowValue *of, int32_t rank, const int64_t *dims,
                        VfLowValue **out, VfErr *err);
VfStatus vf_low_permute(VfLower *cx, VfLowValue *of, const int64_t *perm, VfLowValue **out,
                        VfErr *err);
/* Broadcast `of` to dims (aligned at the last axis): strides of 0, no copy. Dims must fit. */
VfStatus vf_low_expand(VfLower *cx, VfLowValue *of, int32_t rank, const int64_t *dims,
                       VfLowValue **out, VfErr *err);
/* A vector laid along `axis` of `rank` axes, the others of length 1. `rank` at most 64. */
VfStatus vf_low_along(VfLower *cx, VfLowValue *of, int32_t rank, int32_t axis, VfLowValue **out,
                      VfErr *err);
/* Elements [begin, begin + size) of an axis. */
VfStatus vf_low_slice(VfLower *cx, VfLowValue *of, int32_t axis, int64_t begin, int64_t size,
                      VfLowValue **out, VfErr *err);
bool vf_low_is_dense(const VfLowValue *value);
/* `value` itself if contiguous, else its contiguous copy. */
VfStatus vf_low_dense(VfLower *cx, VfLowValue *value, VfLowValue **out, VfErr *err);
/* Give a value that is only known a place among the weights. */
VfStatus vf_low_place(VfLower *cx, VfLowValue *value, VfErr *err);
/* The `bytes` at `data`, elements of `width` bytes, where a kernel may read them: `data` itself if
 * it is aligned, else a copy, which is there until the next call. */
VfStatus vf_low_aligned(VfLower *cx, const void *data, size_t bytes, size_t width,
                        const void **out, VfErr *err);
/* A further weight of the plan, with its data, aligned or not; the reference in `weight` is not
 * read. */
VfStatus vf_low_add_weight(VfLower *cx, const VfPlanTensor *weight, int32_t *buffer, VfErr *err);
/* `value` in another dtype; itself if it is that already. */
VfStatus vf_low_cast(VfLower *cx, VfLowValue *value, VfDtype dtype, VfLowValue **out, VfErr *err);
/* Round `*x` to what `dtype` holds; it stays in its own. */
VfStatus vf_low_round_to(VfLower *cx, VfLowValue **x, VfDtype dtype, VfErr *err);
/* Write `of` (any strides) into `to` (any strides), same dims. */
VfStatus vf_low_copy(VfLower *cx, VfLowValue *of, VfLowValue *to, VfErr *err);
/* The same for contiguous values of any dtype, sub-byte ones as bytes. */
VfStatus vf_low_copy_any(VfLower *cx, VfLowValue *of, VfLowValue *to, VfErr *err);

int64_t vf_low_product(const int64_t *dims, int32_t begin, int32_t end);
size_t vf_low_width(VfDtype dtype); /* bytes of an element; 0 for strings and sub-byte dtypes */

/* --- steps --- */

typedef struct VfLowEmit {
    const char *op;      /* kernel name without dtype, or whole if dtype is VF_UNDEFINED */
    VfDtype dtype;       /* suffix */
    const void *params;  /* copied */
    int32_t n_in, n_out;
    VfLowValue *
        *in; /* NULL entries are absent; each must be placed by strides the params describe */
    VfLowValue **out;
    int64_t units;
    double unit_cost;    /* rough nanoseconds of a unit: decides the grain */
    double flops;
    size_t scratch_bytes;
    bool may_overwrite;
} VfLowEmit;

/* VF_UNSUPPORTED when no such kernel exists. Nothing is emitted for 0 units. */
VfStatus vf_low_emit(VfLower *cx, const VfLowEmit *emit, VfErr *err);
/* Whether a kernel exists. */
bool vf_low_has_kernel(const VfLower *cx, const char *op, VfDtype dtype);

/* Axes of several operands with the same dims, merged where all strides allow, those of length 1
 * left out. */
typedef struct VfLowAxes {
    int32_t n_operand; /* at most LOW_MAX_OPERAND */
    int32_t rank;
    int64_t dim[VFK_MAX_RANK];
    int64_t stride[4][VFK_MAX_RANK];
} VfLowAxes;

/* VF_UNSUPPORTED when more than VFK_MAX_RANK axes are left. */
VfStatus vf_low_merge(int32_t n_operand, int32_t rank, const int64_t *dims,
                      const int64_t *const *stride, VfLowAxes *axes, VfErr *err);

/* --- pieces that composed operators are made of; results are fresh --- */

VfStatus vf_low_map(VfLower *cx, const char *op, VfLowValue *x, double alpha, double beta,
                    VfLowValue **out, VfErr *err);
/* Broadcasting. Comparison results are bool. */
VfStatus vf_low_binary(VfLower *cx, const char *op, VfLowValue *a, VfLowValue *b, VfLowValue **out,
                       VfErr *err);
VfStatus vf_low_where(VfLower *cx, VfLowValue *c, VfLowValue *x, VfLowValue *y, VfLowValue **out,
                      VfErr *err);
/* Reduce the axes of the bit set; keeps them with length 1. */
VfStatus vf_low_reduce(VfLower *cx, const char *op, VfLowValue *x, uint64_t axes, VfLowValue **out,
                       VfErr *err);
VfStatus vf_low_softmax(VfLower *cx, const char *op, VfLowValue *x, int32_t axis, VfLowValue **out,
                        VfErr *err);

/* A product of matrices in the last two axes, with broadcast batches in the others. */
typedef struct VfLowMatmul {
    VfLowValue *a, *b;
    VfLowValue *bias; /* broadcast to the result, or NULL */
    double alpha, beta;
    const int64_t *perm; /* memory order of the result's axes, or NULL: as its dims */
} VfLowMatmul;

/* Bring operands of any ranks but 0 to what vf_low_matmul takes, as ONNX MatMul does. */
VfStatus vf_low_align_product(VfLower *cx, VfLowMatmul *m, VfErr *err);
/* Ranks at least 2 and equal. */
VfStatus vf_low_matmul(VfLower *cx, const VfLowMatmul *m, VfLowValue **out, VfErr *err);

/* a, b, zero points of both (may be NULL); the result is i32. */
VfStatus vf_low_matmul_integer(VfLower *cx, VfLowValue *const operand[4], VfLowValue **out,
                               VfErr *err);

#endif
