/* Matrix products. Letters: M rows, K inner, N columns. */
#include "passes/ir/infer_op.h"

#include <string.h>

/* numpy's rule: rank 1 on the left is a row, on the right a column; leading axes broadcast. */
static VfStatus multiply_types(const VfInferCx *cx, const VfType *a, const VfType *b,
                               VfDtype dtype)
{
    VfType lead;
    VfDim inner;
    if (a->rank < 1 || b->rank < 1)
        return vf_infer_fail(cx, "an operand is a scalar");
    VF_TRY(vf_infer_unify(cx, a->dims[a->rank - 1], b->dims[b->rank > 1 ? b->rank - 2 : 0],
                          "inner dims differ", &inner));
    VfType lead_a = {VF_TYPE_TENSOR, dtype, a->rank > 2 ? a->rank - 2 : 0, a->dims};
    VfType lead_b = {VF_TYPE_TENSOR, dtype, b->rank > 2 ? b->rank - 2 : 0, b->dims};
    VF_TRY(vf_infer_broadcast(cx, &lead_a, &lead_b, &lead));
    VfDim *dims = vf_infer_new_dims(cx, lead.rank + 2);
    VF_TRY_ALLOC(dims, cx->err);
    int32_t rank = 0;
    for (int32_t i = 0; i < lead.rank; i++)
        dims[rank++] = lead.dims[i];
    if (a->rank > 1)
        dims[rank++] = a->dims[a->rank - 2];
    if (b->rank > 1)
        dims[rank++] = b->dims[b->rank - 1];
    vf_infer_set(cx, 0, dtype, rank, dims);
    return VF_OK;
}

static VfStatus multiply(const VfInferCx *cx, int32_t slot_a, int32_t slot_b, VfDtype dtype)
{
    const VfType *a = vf_infer_shape_of(cx, slot_a), *b = vf_infer_shape_of(cx, slot_b);
    vf_infer_set_dtype(cx, 0, dtype);
    return a && b ? multiply_types(cx, a, b, dtype) : VF_OK;
}

VfStatus vf_infer_matmul(const VfInferCx *cx)
{
    return multiply(cx, 0, 1, vf_infer_dtype_of(cx, 0));
}

VfStatus vf_infer_matmul_integer(const VfInferCx *cx)
{
    return multiply(cx, 0, 1, VF_I32);
}

VfStatus vf_infer_qlinear_matmul(const VfInferCx *cx)
{
    return multiply(cx, 0, 3, vf_infer_dtype_of(cx, 7));
}

/* Operand `slot` as it is multiplied: `batch` puts its first axis behind the batch axes, `last`
 * swaps the last two; vectors stay. */
static VfStatus turned(const VfInferCx *cx, int32_t slot, const char *batch, const char *last,
                       VfType *out)
{
    int32_t rank = out->rank;
    if (rank < 2)
        return VF_OK;
    VfDim *dims = vf_infer_copy_dims(cx, rank, out->dims), first = out->dims[0];
    VF_TRY_ALLOC(dims, cx->err);
    if (vf_node_int(cx->node, batch) != 0) {
        if (rank < 3)
            return vf_infer_fail(cx, "operand %d has no batch axes to transpose", (int)slot);
        memmove(dims, dims + 1, sizeof *dims * (size_t)(rank - 2));
        dims[rank - 2] = first;
    }
    if (vf_node_int(cx->node, last) != 0) {
        VfDim row = dims[rank - 2];
        dims[rank - 2] = dims[rank - 1];
        dims[rank - 1] = row;
    }
    out->dims = dims;
    return VF_OK;
}

/* com.microsoft FusedMatMul and TransposeMatMul. */
VfStatus vf_infer_fused_matmul(const VfInferCx *cx)
{
    const VfType *a = vf_infer_shape_of(cx, 0), *b = vf_infer_shape_of(cx, 1);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    vf_infer_set_dtype(cx, 0, dtype);
    if (!a || !b)
        return VF_OK;
    VfType left = *a, right = *b;
    VF_TRY(turned(cx, 0, "transBatchA", "transA", &left));
    VF_TRY(turned(cx, 1, "transBatchB", "transB", &right));
    return multiply_types(cx, &left, &right, dtype);
}

/* com.microsoft MatMulNBits: A [..., K] by a packed B of N columns; attributes tell both. */
VfStatus vf_infer_matmul_nbits(const VfInferCx *cx)
{
    const VfType *a = vf_infer_shape_of(cx, 0);
    int64_t columns = vf_node_int(cx->node, "N");
    vf_infer_set_dtype(cx, 0, vf_infer_dtype_of(cx, 0));
    if (!a || a->rank < 1 || columns < 1)
        return VF_OK;
    VfDim *dims = vf_infer_copy_dims(cx, a->rank, a->dims);
    VF_TRY_ALLOC(dims, cx->err);
    dims[a->rank - 1] = vf_dim(columns);
    vf_infer_set(cx, 0, a->dtype, a->rank, dims);
    return VF_OK;
}

VfStatus vf_infer_gemm(const VfInferCx *cx)
{
    VF_TRY(vf_infer_need_rank(cx, 0, 2, 2));
    VF_TRY(vf_infer_need_rank(cx, 1, 2, 2));
    VF_TRY(vf_infer_need_rank(cx, 2, 0, 2));
    int32_t ta = vf_node_int(cx->node, "transA") != 0, tb = vf_node_int(cx->node, "transB") != 0;
    VfDim inner, *dims = vf_infer_new_dims(cx, 2);
    VF_TRY_ALLOC(dims, cx->err);
    VF_TRY(vf_infer_unify(cx, vf_infer_dim_of(cx, 0, 1 - ta), vf_infer_dim_of(cx, 1, tb),
                          "inner dims differ", &inner));
    dims[0] = vf_infer_dim_of(cx, 0, ta);
    dims[1] = vf_infer_dim_of(cx, 1, 1 - tb);
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), 2, dims);
    return vf_infer_broadcasts_to(cx, 2, &cx->out[0].type);
}

VfStatus vf_infer_det(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfDim side;
    vf_infer_set_dtype(cx, 0, vf_infer_dtype_of(cx, 0));
    if (!type)
        return VF_OK;
    if (type->rank < 2)
        return vf_infer_fail(cx, "the operand has rank %d", (int)type->rank);
    VF_TRY(vf_infer_unify(cx, type->dims[type->rank - 1], type->dims[type->rank - 2],
                          "the matrices are not square", &side));
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), type->rank - 2, type->dims);
    return VF_OK;
}
