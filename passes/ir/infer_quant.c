/* Quantisation. */
#include "passes/ir/infer_op.h"

/* The dtype of the zero point, or the attribute, or u8. */
VfStatus vf_infer_quantize(const VfInferCx *cx)
{
    VfDtype zero = vf_infer_dtype_of(cx, 2);
    int64_t dtype = vf_node_int(cx->node, "output_dtype");
    if (dtype < 0 || dtype >= VF_DTYPE_COUNT)
        return vf_infer_fail(cx, "attribute 'output_dtype' is %lld, no dtype", (long long)dtype);
    if (vf_infer_in(cx, 2))
        dtype = zero;
    else if (dtype == 0)
        dtype = VF_U8;
    vf_infer_set_like_dtype(cx, 0, 0, (VfDtype)dtype);
    return VF_OK;
}

/* The dtype of the scale, or the attribute. */
VfStatus vf_infer_dequantize(const VfInferCx *cx)
{
    int64_t dtype = vf_node_int(cx->node, "output_dtype");
    if (dtype < 0 || dtype >= VF_DTYPE_COUNT)
        return vf_infer_fail(cx, "attribute 'output_dtype' is %lld, no dtype", (long long)dtype);
    vf_infer_set_like_dtype(cx, 0, 0, dtype > 0 ? (VfDtype)dtype : vf_infer_dtype_of(cx, 1));
    return VF_OK;
}

VfStatus vf_infer_dynamic_quantize(const VfInferCx *cx)
{
    vf_infer_set_like_dtype(cx, 0, 0, VF_U8);
    vf_infer_set(cx, 1, VF_F32, 0, NULL);
    vf_infer_set(cx, 2, VF_U8, 0, NULL);
    return VF_OK;
}
