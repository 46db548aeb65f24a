/* Operators whose spelling depends on the opset of the graph. */
#include <math.h>

#include "passes/rewrite/rewrite_state.h"

/* First opsets in which the parameters of an operator became operands. */
enum {
    SQUEEZE_OPERAND = 13,
    REDUCE_SUM_OPERAND = 13,
    REDUCE_OPERAND = 18,
    SLICE_OPERAND = 10,
    CLIP_OPERAND = 11
};

static int64_t opset_of(const VfRewrite *rw)
{
    return vf_graph_opset(rw->graph, vf_bytes(""));
}

/* `op` with axes as attribute or as second operand. */
static VfValue *with_axes(VfRewrite *rw, VfOp op, VfValue *x, int32_t n, const int64_t *axes,
                          bool is_operand)
{
    if (is_operand)
        return vf_rewrite_binary(rw, op, x, vf_rewrite_const_i64(rw, n, axes, "axes"));
    VfValue *y = vf_rewrite_unary(rw, op, x);
    vf_rewrite_ints(rw, "axes", n, axes);
    return y;
}

VfValue *vf_rewrite_squeeze(VfRewrite *rw, VfValue *x, int32_t n, const int64_t *axes)
{
    return with_axes(rw, VF_OP_SQUEEZE, x, n, axes, opset_of(rw) >= SQUEEZE_OPERAND);
}

VfValue *vf_rewrite_unsqueeze(VfRewrite *rw, VfValue *x, int32_t n, const int64_t *axes)
{
    return with_axes(rw, VF_OP_UNSQUEEZE, x, n, axes, opset_of(rw) >= SQUEEZE_OPERAND);
}

VfValue *vf_rewrite_reduce(VfRewrite *rw, VfOp op, VfValue *x, int32_t n, const int64_t *axes,
                           bool keepdims)
{
    int64_t since = op == VF_OP_REDUCE_SUM ? REDUCE_SUM_OPERAND : REDUCE_OPERAND;
    VfValue *y = with_axes(rw, op, x, n, axes, opset_of(rw) >= since);
    vf_rewrite_int(rw, "keepdims", keepdims ? 1 : 0);
    return y;
}

VfValue *vf_rewrite_slice(VfRewrite *rw, VfValue *x, int64_t axis, int64_t start, int64_t end)
{
    if (opset_of(rw) >= SLICE_OPERAND) {
        VfValue *in[] = {x, vf_rewrite_const_i64(rw, 1, &start, "starts"),
                         vf_rewrite_const_i64(rw, 1, &end, "ends"),
                         vf_rewrite_const_i64(rw, 1, &axis, "axes")};
        return vf_rewrite_node(rw, VF_OP_SLICE, 4, in);
    }
    VfValue *y = vf_rewrite_unary(rw, VF_OP_SLICE, x);
    vf_rewrite_ints(rw, "starts", 1, &start);
    vf_rewrite_ints(rw, "ends", 1, &end);
    vf_rewrite_ints(rw, "axes", 1, &axis);
    return y;
}

VfValue *vf_rewrite_transpose(VfRewrite *rw, VfValue *x, int32_t n, const int64_t *perm)
{
    VfValue *y = vf_rewrite_unary(rw, VF_OP_TRANSPOSE, x);
    vf_rewrite_ints(rw, "perm", n, perm);
    return y;
}

VfValue *vf_rewrite_reshape(VfRewrite *rw, VfValue *x, int32_t n, const int64_t *dims)
{
    return vf_rewrite_binary(rw, VF_OP_RESHAPE, x, vf_rewrite_const_i64(rw, n, dims, "shape"));
}

VfValue *vf_rewrite_cast(VfRewrite *rw, VfValue *x, VfDtype dtype)
{
    VfValue *y = vf_rewrite_unary(rw, VF_OP_CAST, x);
    vf_rewrite_int(rw, "to", (int64_t)dtype);
    return y;
}

VfValue *vf_rewrite_clip(VfRewrite *rw, VfValue *x, double low, double high)
{
    if (x == NULL)
        return NULL;
    if (opset_of(rw) < CLIP_OPERAND) {
        VfValue *y = vf_rewrite_unary(rw, VF_OP_CLIP, x);
        if (!isinf(low))
            vf_rewrite_float(rw, "min", (float)low);
        if (!isinf(high))
            vf_rewrite_float(rw, "max", (float)high);
        return y;
    }
    VfDtype dtype = x->type.dtype;
    VfValue *in[] = {x, isinf(low) ? VF_NO_OPERAND : vf_rewrite_scalar(rw, dtype, low, "min"),
                     isinf(high) ? VF_NO_OPERAND : vf_rewrite_scalar(rw, dtype, high, "max")};
    return vf_rewrite_node(rw, VF_OP_CLIP, isinf(high) ? 2 : 3, in);
}
