/* Operators whose result element i depends on operand elements i, and others that keep the shape.
 */
#include "passes/ir/infer_op.h"

/* Also for sequences and optionals. */
VfStatus vf_infer_identity(const VfInferCx *cx)
{
    const VfFact *fact = vf_infer_in(cx, 0);
    if (!fact || cx->n_out == 0)
        return VF_OK;
    cx->out[0].type = fact->type;
    return fact->type.kind == VF_TYPE_TENSOR ? vf_infer_elementwise_content(cx) : VF_OK;
}

VfStatus vf_infer_same(const VfInferCx *cx)
{
    vf_infer_set_like(cx, 0, 0);
    return vf_infer_elementwise_content(cx);
}

VfStatus vf_infer_to_bool(const VfInferCx *cx)
{
    vf_infer_set_like_dtype(cx, 0, 0, VF_BOOL);
    return VF_OK;
}

/* The shape of operands [first, n_in) broadcast together. */
static VfStatus broadcast_from(const VfInferCx *cx, int32_t first, VfDtype dtype)
{
    VfType shape = {VF_TYPE_TENSOR, dtype, 0, NULL};
    for (int32_t i = first; i < cx->n_in; i++) {
        const VfType *type = vf_infer_shape_of(cx, i);
        if (!type) {
            vf_infer_set_dtype(cx, 0, dtype);
            return VF_OK;
        }
        VF_TRY(vf_infer_broadcast(cx, &shape, type, &shape));
    }
    vf_infer_set(cx, 0, dtype, shape.rank, shape.dims);
    return VF_OK;
}

static VfDtype first_dtype(const VfInferCx *cx, int32_t first)
{
    for (int32_t i = first; i < cx->n_in; i++)
        if (vf_infer_dtype_of(cx, i) != VF_UNDEFINED)
            return vf_infer_dtype_of(cx, i);
    return VF_UNDEFINED;
}

VfStatus vf_infer_broadcasting(const VfInferCx *cx)
{
    VF_TRY(broadcast_from(cx, 0, first_dtype(cx, 0)));
    return vf_infer_elementwise_content(cx);
}

VfStatus vf_infer_compare(const VfInferCx *cx)
{
    VF_TRY(broadcast_from(cx, 0, VF_BOOL));
    return vf_infer_elementwise_content(cx);
}

/* Pow may have an exponent of another dtype since opset 12. */
VfStatus vf_infer_pow(const VfInferCx *cx)
{
    VF_TRY(broadcast_from(cx, 0, vf_infer_dtype_of(cx, 0)));
    return vf_infer_elementwise_content(cx);
}

VfStatus vf_infer_where(const VfInferCx *cx)
{
    VF_TRY(broadcast_from(cx, 0, first_dtype(cx, 1)));
    return vf_infer_elementwise_content(cx);
}

/* Operand 1 broadcasts to operand 0, not the other way round; before opset 7 it went along axis 1.
 */
VfStatus vf_infer_prelu(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    if (type && cx->opset >= 7)
        VF_TRY(vf_infer_broadcasts_to(cx, 1, type));
    vf_infer_set_like(cx, 0, 0);
    return VF_OK;
}

VfStatus vf_infer_clip(const VfInferCx *cx)
{
    vf_infer_set_like(cx, 0, 0);
    return VF_OK;
}

VfStatus vf_infer_cast(const VfInferCx *cx)
{
    int64_t to = vf_node_int(cx->node, "to");
    if (to <= 0 || to >= VF_DTYPE_COUNT)
        return vf_infer_fail(cx, "attribute 'to' is %lld, no dtype", (long long)to);
    vf_infer_set_like_dtype(cx, 0, 0, (VfDtype)to);
    return vf_infer_elementwise_content(cx);
}

VfStatus vf_infer_bit_cast(const VfInferCx *cx)
{
    int64_t to = vf_node_int(cx->node, "to");
    if (to <= 0 || to >= VF_DTYPE_COUNT)
        return vf_infer_fail(cx, "attribute 'to' is %lld, no dtype", (long long)to);
    vf_infer_set_like_dtype(cx, 0, 0, (VfDtype)to);
    return VF_OK;
}

VfStatus vf_infer_cast_like(const VfInferCx *cx)
{
    vf_infer_set_like_dtype(cx, 0, 0, vf_infer_dtype_of(cx, 1));
    return VF_OK;
}

VfStatus vf_infer_dropout(const VfInferCx *cx)
{
    vf_infer_set_like(cx, 0, 0);
    /* the mask had the dtype of the data before opset 10 */
    vf_infer_set_like_dtype(cx, 1, 0, cx->opset < 10 ? vf_infer_dtype_of(cx, 0) : VF_BOOL);
    return VF_OK;
}

/* Softmax and its kin: same type, an axis to check. */
VfStatus vf_infer_along_axis(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    int64_t axis = vf_node_int(cx->node, "axis");
    int32_t unused;
    /* the flattening forms before opset 13 allow the axis after the last one */
    if (type && !(cx->opset < 13 && axis == type->rank) && type->rank > 0)
        VF_TRY(vf_infer_axis(cx, axis, type->rank, &unused));
    vf_infer_set_like(cx, 0, 0);
    return VF_OK;
}

VfStatus vf_infer_like_with_dtype(const VfInferCx *cx)
{
    int64_t dtype = vf_node_int(cx->node, "dtype");
    if (dtype < 0 || dtype >= VF_DTYPE_COUNT)
        return vf_infer_fail(cx, "attribute 'dtype' is %lld, no dtype", (long long)dtype);
    vf_infer_set_like_dtype(cx, 0, 0, dtype > 0 ? (VfDtype)dtype : vf_infer_dtype_of(cx, 0));
    return VF_OK;
}
