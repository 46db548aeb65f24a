#include "passes/ir/infer_op.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/text.h"

enum { SENTENCE_BYTES = 512, OPERANDS_SHOWN = 6 };

static void add_operands(const VfInferCx *cx, VfText *text)
{
    for (int32_t i = 0; i < cx->n_in && i < OPERANDS_SHOWN; i++) {
        const char *type = cx->in[i] ? vf_type_text(cx->arena, cx->symbols, &cx->in[i]->type) : "-";
        vf_text_printf(text, "%s%s", i > 0 ? ", " : "", type ? type : "?");
    }
    if (cx->n_in > OPERANDS_SHOWN)
        vf_text_string(text, ", ...");
}

VfStatus vf_infer_fail(const VfInferCx *cx, const char *fmt, ...)
{
    char sentence[SENTENCE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    VfText text;
    VfBytes operands;
    vf_text_init(&text, cx->arena);
    add_operands(cx, &text);
    VF_TRY(vf_text_get(&text, &operands, cx->err));
    return vf_fail(cx->err, VF_INVALID, "node '%s': %.*s of (%s): %s", vf_node_label(cx->node),
                   (int)cx->node->op_type.size, cx->node->op_type.data,
                   operands.size > 0 ? operands.data : "", sentence);
}

/* --- operands --- */

const VfFact *vf_infer_in(const VfInferCx *cx, int32_t slot)
{
    return slot >= 0 && slot < cx->n_in ? cx->in[slot] : NULL;
}

const VfType *vf_infer_shape_of(const VfInferCx *cx, int32_t slot)
{
    const VfFact *fact = vf_infer_in(cx, slot);
    if (!fact || fact->type.kind != VF_TYPE_TENSOR || fact->type.rank == VF_RANK_UNKNOWN)
        return NULL;
    return &fact->type;
}

VfDtype vf_infer_dtype_of(const VfInferCx *cx, int32_t slot)
{
    const VfFact *fact = vf_infer_in(cx, slot);
    return fact ? fact->type.dtype : VF_UNDEFINED;
}

VfDim vf_infer_dim_of(const VfInferCx *cx, int32_t slot, int32_t axis)
{
    const VfType *type = vf_infer_shape_of(cx, slot);
    return type && axis >= 0 && axis < type->rank ? type->dims[axis] : vf_dim_unknown();
}

/* --- results --- */

VfDim *vf_infer_new_dims(const VfInferCx *cx, int32_t rank)
{
    VfDim *dims = VF_NEW_ARRAY(cx->arena, VfDim, (size_t)rank);
    for (int32_t i = 0; dims && i < rank; i++)
        dims[i] = vf_dim_unknown();
    return dims;
}

VfDim *vf_infer_copy_dims(const VfInferCx *cx, int32_t rank, const VfDim *dims)
{
    VfDim *copy = vf_infer_new_dims(cx, rank);
    if (copy && rank > 0)
        memcpy(copy, dims, (size_t)rank * sizeof *copy);
    return copy;
}

void vf_infer_set(const VfInferCx *cx, int32_t index, VfDtype dtype, int32_t rank,
                  const VfDim *dims)
{
    if (index < cx->n_out)
        cx->out[index].type = (VfType){VF_TYPE_TENSOR, dtype, rank, rank > 0 ? dims : NULL};
}

void vf_infer_set_dtype(const VfInferCx *cx, int32_t index, VfDtype dtype)
{
    vf_infer_set(cx, index, dtype, VF_RANK_UNKNOWN, NULL);
}

void vf_infer_set_like(const VfInferCx *cx, int32_t index, int32_t slot)
{
    vf_infer_set_like_dtype(cx, index, slot, vf_infer_dtype_of(cx, slot));
}

void vf_infer_set_like_dtype(const VfInferCx *cx, int32_t index, int32_t slot, VfDtype dtype)
{
    const VfType *type = vf_infer_shape_of(cx, slot);
    if (type)
        vf_infer_set(cx, index, dtype, type->rank, type->dims);
    else
        vf_infer_set_dtype(cx, index, dtype);
}

void vf_infer_set_content(const VfInferCx *cx, int32_t index, int32_t n, const VfDim *content)
{
    if (index >= cx->n_out || n < 0 || n > VF_CONTENT_MAX)
        return;
    cx->out[index].content = content;
    cx->out[index].n_content = n;
}

/* --- checks --- */

VfStatus vf_infer_axis(const VfInferCx *cx, int64_t axis, int32_t rank, int32_t *out)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return vf_infer_fail(cx, "axis %lld is out of range for rank %d", (long long)axis,
                             (int)rank);
    *out = (int32_t)(axis < 0 ? axis + rank : axis);
    return VF_OK;
}

VfStatus vf_infer_need_rank(const VfInferCx *cx, int32_t slot, int32_t min, int32_t max)
{
    const VfType *type = vf_infer_shape_of(cx, slot);
    if (type && (type->rank < min || type->rank > max))
        return vf_infer_fail(cx, "operand %d has rank %d", (int)slot, (int)type->rank);
    return VF_OK;
}

/* --- dims --- */

VfDim vf_infer_product(const VfInferCx *cx, int32_t n, const VfDim *dims)
{
    VfDim product = vf_dim(1);
    for (int32_t i = 0; i < n; i++)
        product = vf_dim_is(product, 1) ? dims[i] : vf_dim_mul(cx->symbols, product, dims[i]);
    return product;
}

VfDim vf_infer_plus(const VfInferCx *cx, VfDim a, int64_t n)
{
    if (n == 0)
        return a;
    if (n > 0)
        return vf_dim_add(cx->symbols, a, vf_dim(n));
    /* The least number has no opposite: it goes in two steps. */
    if (n == INT64_MIN)
        return vf_infer_plus(cx, vf_infer_plus(cx, a, -1), n + 1);
    return vf_dim_sub(cx->symbols, a, vf_dim(-n));
}

VfDim vf_infer_times(const VfInferCx *cx, VfDim a, int64_t n)
{
    return n == 1 ? a : vf_dim_mul(cx->symbols, a, vf_dim(n));
}

VfDim vf_infer_over(const VfInferCx *cx, VfDim a, int64_t n)
{
    return n == 1 ? a : vf_dim_div(cx->symbols, a, vf_dim(n));
}
