/* Reductions along axes. */
#include "passes/ir/infer_op.h"

/* Marks the axes to reduce; *known false when they cannot be told. */
static VfStatus reduced_axes(const VfInferCx *cx, int32_t rank, bool *marks, bool *known)
{
    VfIntList axes;
    VF_TRY(vf_infer_ints(cx, "axes", 1, &axes));
    *known = !axes.is_there || axes.is_known;
    if (!*known)
        return VF_OK;
    bool is_empty = !axes.is_there || axes.n == 0;
    bool reduces_all = is_empty && vf_node_int(cx->node, "noop_with_empty_axes") == 0;
    for (int32_t i = 0; i < rank; i++)
        marks[i] = reduces_all;
    for (int32_t i = 0; !is_empty && i < axes.n; i++) {
        int32_t axis;
        VF_TRY(vf_infer_axis(cx, axes.value[i], rank, &axis));
        marks[axis] = true;
    }
    return VF_OK;
}

static VfStatus set_reduced(const VfInferCx *cx, VfDtype dtype, const bool *marks, bool keeps)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfDim *dims = vf_infer_new_dims(cx, type->rank);
    VF_TRY_ALLOC(dims, cx->err);
    int32_t rank = 0;
    for (int32_t i = 0; i < type->rank; i++) {
        if (!marks[i])
            dims[rank++] = type->dims[i];
        else if (keeps)
            dims[rank++] = vf_dim(1);
    }
    vf_infer_set(cx, 0, dtype, rank, dims);
    return VF_OK;
}

static bool combine(VfSymbols *symbols, VfOp op, VfDim *into, VfDim next)
{
    bool are_known = vf_dim_is_known(*into) && vf_dim_is_known(next);
    switch (op) {
    case VF_OP_REDUCE_PROD:
        *into = vf_dim_mul(symbols, *into, next);
        return true;
    case VF_OP_REDUCE_SUM:
        *into = vf_dim_add(symbols, *into, next);
        return true;
    case VF_OP_REDUCE_MAX:
        *into = are_known && next.k > into->k ? next : *into;
        return are_known;
    case VF_OP_REDUCE_MIN:
        *into = are_known && next.k < into->k ? next : *into;
        return are_known;
    default:
        return false;
    }
}

/* A whole vector of known numbers reduced to one. */
static VfStatus reduce_content(const VfInferCx *cx, const bool *marks)
{
    int32_t n;
    const VfDim *content = vf_infer_content_of(cx, 0, &n);
    if (!content || n < 1 || vf_infer_shape_of(cx, 0)->rank != 1 || !marks[0])
        return VF_OK;
    VfDim *result = vf_infer_copy_dims(cx, 1, content);
    VF_TRY_ALLOC(result, cx->err);
    for (int32_t i = 1; i < n; i++)
        if (!combine(cx->symbols, cx->node->op, result, content[i]))
            return VF_OK;
    bool has_rule = n > 1 || combine(cx->symbols, cx->node->op, &(VfDim){0, VF_SYM_ONE}, vf_dim(0));
    if (has_rule)
        vf_infer_set_content(cx, 0, 1, result);
    return VF_OK;
}

VfStatus vf_infer_reduce(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    bool keeps = vf_node_int(cx->node, "keepdims") != 0, known;
    vf_infer_set_dtype(cx, 0, dtype);
    if (!type)
        return VF_OK;
    bool *marks = VF_NEW_ARRAY(cx->arena, bool, (size_t)type->rank);
    VF_TRY_ALLOC(marks, cx->err);
    VF_TRY(reduced_axes(cx, type->rank, marks, &known));
    if (known) {
        VF_TRY(set_reduced(cx, dtype, marks, keeps));
        return reduce_content(cx, marks);
    }
    if (!keeps)
        return VF_OK;
    VfDim *dims = vf_infer_new_dims(cx, type->rank);
    VF_TRY_ALLOC(dims, cx->err);
    vf_infer_set(cx, 0, dtype, type->rank, dims);
    return VF_OK;
}

VfStatus vf_infer_arg_reduce(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    int32_t axis;
    vf_infer_set_dtype(cx, 0, VF_I64);
    if (!type)
        return VF_OK;
    VF_TRY(vf_infer_axis(cx, vf_node_int(cx->node, "axis"), type->rank, &axis));
    bool *marks = VF_NEW_ARRAY(cx->arena, bool, (size_t)type->rank);
    VF_TRY_ALLOC(marks, cx->err);
    marks[axis] = true;
    return set_reduced(cx, VF_I64, marks, vf_node_int(cx->node, "keepdims") != 0);
}

/* Losses: a scalar, or one number per target. */
VfStatus vf_infer_loss(const VfInferCx *cx)
{
    VfBytes reduction = vf_node_string(cx->node, "reduction");
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    const VfType *weight = vf_infer_shape_of(cx, 2);
    if (weight != NULL && weight->rank != 1)
        return vf_infer_fail(cx, "the weights of the classes have rank %d", (int)weight->rank);
    if (vf_bytes_is_equal(reduction, (VfBytes){"none", 4}))
        vf_infer_set_like_dtype(cx, 0, 1, dtype);
    else
        vf_infer_set(cx, 0, dtype, 0, NULL);
    vf_infer_set_like(cx, 1, 0); /* log_prob of SoftmaxCrossEntropyLoss */
    return VF_OK;
}
