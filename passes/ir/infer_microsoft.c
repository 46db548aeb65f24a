/* Operators of com.microsoft that are no products and no attention.
 *
 * Letters: B batch, S tokens, C channels, H heads.
 */
#include "passes/ir/infer_op.h"

/* Operators whose first result is like their first operand, whatever the others are. */
VfStatus vf_infer_first_like(const VfInferCx *cx)
{
    vf_infer_set_like(cx, 0, 0);
    return VF_OK;
}

/* SkipLayerNormalization and its like: the mean and the inverse deviation [B, S, 1] in f32, the sum
 * before the norm. */
VfStatus vf_infer_ms_skip_norm(const VfInferCx *cx)
{
    const VfType *x = vf_infer_shape_of(cx, 0);
    vf_infer_set_like(cx, 0, 0);
    vf_infer_set_like(cx, 3, 0);
    vf_infer_set_dtype(cx, 1, VF_F32);
    vf_infer_set_dtype(cx, 2, VF_F32);
    if (x == NULL || x->rank < 1)
        return VF_OK;
    VfDim *dims = vf_infer_copy_dims(cx, x->rank, x->dims);
    VF_TRY_ALLOC(dims, cx->err);
    dims[x->rank - 1] = vf_dim(1);
    vf_infer_set(cx, 1, VF_F32, x->rank, dims);
    vf_infer_set(cx, 2, VF_F32, x->rank, dims);
    return VF_OK;
}

/* SkipGroupNorm: the second result is the sum. */
VfStatus vf_infer_ms_skip_group_norm(const VfInferCx *cx)
{
    vf_infer_set_like(cx, 0, 0);
    vf_infer_set_like(cx, 1, 0);
    return VF_OK;
}

/* BiasSplitGelu: one half gates the other. */
VfStatus vf_infer_ms_bias_split_gelu(const VfInferCx *cx)
{
    const VfType *x = vf_infer_shape_of(cx, 0);
    vf_infer_set_dtype(cx, 0, vf_infer_dtype_of(cx, 0));
    if (x == NULL || x->rank < 1)
        return VF_OK;
    VfDim *dims = vf_infer_copy_dims(cx, x->rank, x->dims);
    VF_TRY_ALLOC(dims, cx->err);
    dims[x->rank - 1] = vf_infer_over(cx, dims[x->rank - 1], 2);
    vf_infer_set(cx, 0, x->dtype, x->rank, dims);
    return VF_OK;
}

/* EmbedLayerNormalization: words [B, S] of a table [words, C]; the lengths [B], the sum. */
VfStatus vf_infer_ms_embed_layer_normalization(const VfInferCx *cx)
{
    VfDtype dtype = vf_infer_dtype_of(cx, 2);
    VF_TRY(vf_infer_need_rank(cx, 0, 2, 2));
    VfDim *dims = vf_infer_new_dims(cx, 3);
    VF_TRY_ALLOC(dims, cx->err);
    dims[0] = vf_infer_dim_of(cx, 0, 0);
    dims[1] = vf_infer_dim_of(cx, 0, 1);
    dims[2] = vf_infer_dim_of(cx, 2, 1);
    vf_infer_set(cx, 0, dtype, 3, dims);
    vf_infer_set(cx, 1, VF_I32, 1, dims);
    vf_infer_set(cx, 2, dtype, 3, dims);
    return VF_OK;
}

/* RelativePositionBias: a table [buckets, H], numbers of queries and of keys. */
VfStatus vf_infer_ms_relative_position_bias(const VfInferCx *cx)
{
    VfDim *dims = vf_infer_new_dims(cx, 4);
    VF_TRY_ALLOC(dims, cx->err);
    dims[0] = vf_dim(1);
    dims[1] = vf_infer_dim_of(cx, 0, 1);
    for (int32_t slot = 1; slot < 3; slot++) {
        int32_t n = 0;
        const VfDim *length = vf_infer_content_of(cx, slot, &n);
        if (length != NULL && n == 1)
            dims[slot + 1] = length[0];
    }
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), 4, dims);
    return VF_OK;
}
