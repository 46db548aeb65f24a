/* Quantized operators. */
#include "converter/lower/ops.h"

#include <stdio.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "runtime/kernels/quantize.h"

/* How scale and zero point spread over x. */
static VfStatus spread(const VfLowCall *call, const VfLowValue *x, const VfLowValue *scale,
                       VfkQuantizeParams *p, VfErr *err)
{
    int64_t axis = call->opset >= 13 ? vf_node_int(call->node, "axis") : 1;
    int64_t block = call->opset >= 21 ? vf_node_int(call->node, "block_size") : 0;
    *p = (VfkQuantizeParams){(int64_t)x->count, 1, 1, 1, 0, 0, 0};
    if (scale->count == 1 && block == 0)
        return VF_OK;
    VF_TRY(vf_low_norm_axis(call, x->rank, &axis, err));
    p->outer = vf_low_product(x->dims, 0, (int32_t)axis);
    p->n = x->dims[axis];
    p->inner = vf_low_product(x->dims, (int32_t)axis + 1, x->rank);
    p->scale_axis = 1;
    if (block == 0)
        return (int64_t)scale->count == p->n
                   ? VF_OK
                   : vf_low_refuse(err, "%zu scales for %lld", scale->count, (long long)p->n);
    int64_t n_block = (p->n + block - 1) / block;
    if (block < 1 || scale->rank != x->rank ||
        (int64_t)scale->count != p->outer * n_block * p->inner)
        return vf_low_refuse(err, "blocks of %lld", (long long)block);
    p->block = block;
    p->scale_outer = n_block * p->inner;
    p->scale_axis = p->inner;
    p->scale_inner = 1;
    return VF_OK;
}

/* Scale or zero point with an element for each element of x, as a view. */
static VfStatus spread_view(VfLower *cx, VfLowValue *value, const VfLowValue *x,
                            const VfkQuantizeParams *p, VfLowValue **out, VfErr *err)
{
    int64_t n_block = (p->n + p->block - 1) / p->block;
    int64_t dims[4] = {p->outer, n_block, p->block, p->inner};
    const int64_t stride[4] = {p->scale_outer, p->scale_axis, 0, p->scale_inner};
    VF_TRY(vf_low_dense(cx, value, &value, err));
    VF_TRY(vf_low_view(cx, value, 4, dims, stride, 0, out, err));
    VF_TRY(vf_low_reshape(cx, *out, 3, (int64_t[3]){p->outer, n_block * p->block, p->inner}, out,
                          err));
    VF_TRY(vf_low_slice(cx, *out, 1, 0, p->n, out, err));
    return vf_low_reshape(cx, *out, x->rank, x->dims, out, err);
}

static VfStatus emit_quantize(VfLower *cx, const char *op, VfLowValue *const operand[3],
                              const VfkQuantizeParams *p, VfLowValue *out, VfErr *err)
{
    VfLowValue *in[3] = {operand[0], operand[1], operand[2]};
    for (int32_t i = 0; i < 3; i++)
        if (in[i] != NULL)
            VF_TRY(vf_low_dense(cx, in[i], &in[i], err));
    VfLowEmit emit = {.op = op, .params = p, .n_in = 3, .n_out = 1, .in = in, .out = &out,
                      .units = out->count == 0 ? 0 : p->outer * p->n,
                      .unit_cost = 2 + (double)p->inner, .flops = 2 * (double)out->count};
    return vf_low_emit(cx, &emit, err);
}

static bool has_kernel(const VfLower *cx, const char *name)
{
    return vfk_kernel_find(name, cx->options.reference) != NULL;
}

/* Into the range of an integer dtype of at most 16 bits; still floats. */
static VfStatus saturate_to(VfLower *cx, VfLowValue *x, VfDtype to, VfLowValue **out, VfErr *err)
{
    const VfDtypeInfo *info = vf_dtype_info(to);
    double n = (double)(INT64_C(1) << (info->bits < 16 ? info->bits : 16));
    VfLowValue *limit;
    VF_TRY(vf_low_scalar(cx, x->dtype, info->is_signed ? n / 2 - 1 : n - 1, &limit, err));
    VF_TRY(vf_low_binary(cx, "min", x, limit, &x, err));
    VF_TRY(vf_low_scalar(cx, x->dtype, info->is_signed ? -n / 2 : 0, &limit, err));
    return vf_low_binary(cx, "max", x, limit, out, err);
}

/* In steps: for narrow integers, 8-bit floats and a `precision` of 16 bits. */
static VfStatus quantize_in_steps(VfLower *cx, VfLowCall *call, const VfkQuantizeParams *p,
                                  VfLowValue *scale, VfDtype precision, VfErr *err)
{
    VfLowValue *x = call->in[0], *zero = vf_low_in(call, 2), *wide;
    VfDtype to = call->fact[0].type.dtype;
    int64_t saturate = call->opset >= 19 ? vf_node_int(call->node, "saturate") : 1;
    VF_TRY(vf_low_round_to(cx, &x, precision, err));
    VF_TRY(vf_low_round_to(cx, &scale, precision, err));
    VF_TRY(spread_view(cx, scale, x, p, &wide, err));
    VF_TRY(vf_low_binary(cx, "div", x, wide, &x, err));
    VF_TRY(vf_low_round_to(cx, &x, precision, err));
    if (!vf_dtype_info(to)->is_float)
        VF_TRY(vf_low_map(cx, "round", x, 0, 0, &x, err));
    if (zero != NULL && !vf_dtype_info(to)->is_float) {
        VF_TRY(vf_low_convert(cx, zero, VF_F32, 1, &zero, err));
        VF_TRY(spread_view(cx, zero, x, p, &zero, err));
        VF_TRY(vf_low_binary(cx, "add", x, zero, &x, err));
    }
    if (!vf_dtype_info(to)->is_float)
        VF_TRY(saturate_to(cx, x, to, &x, err));
    return vf_low_convert(cx, x, to, saturate, &call->out[0], err);
}

VfStatus vf_lower_quantize_linear(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[3] = {call->in[0], call->in[1], vf_low_in(call, 2)}, *out;
    VfkQuantizeParams p;
    char op[40];
    int64_t given = call->opset >= 23 ? vf_node_int(call->node, "precision") : VF_UNDEFINED;
    VfDtype precision = given == VF_F16 || given == VF_BF16 ? (VfDtype)given : VF_F32;
    if (given != VF_UNDEFINED && given != (int64_t)precision)
        return vf_low_refuse(err, "precision %lld", (long long)given);
    for (int32_t i = 0; i < 2; i++)
        VF_TRY(vf_low_cast(cx, in[i], VF_F32, &in[i], err));
    call->in[0] = in[0];
    VF_TRY(spread(call, in[0], in[1], &p, err));
    snprintf(op, sizeof op, "quantize_f32_%s", vf_dtype_info(call->fact[0].type.dtype)->name);
    if (!has_kernel(cx, op) || precision != VF_F32)
        return quantize_in_steps(cx, call, &p, in[1], precision, err);
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    return emit_quantize(cx, op, in, &p, out, err);
}

VfStatus vf_lower_dequantize_linear(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[3] = {call->in[0], call->in[1], vf_low_in(call, 2)}, *y, *scale;
    VfkQuantizeParams p;
    char op[40];
    VF_TRY(vf_low_cast(cx, in[1], VF_F32, &in[1], err));
    VF_TRY(spread(call, in[0], in[1], &p, err));
    snprintf(op, sizeof op, "dequantize_%s_f32", vf_dtype_info(in[0]->dtype)->name);
    if (has_kernel(cx, op)) {
        VF_TRY(vf_low_new(cx, VF_F32, in[0]->rank, in[0]->dims, &y, err));
        VF_TRY(emit_quantize(cx, op, in, &p, y, err));
    } else {
        VF_TRY(vf_low_convert(cx, in[0], VF_F32, 1, &y, err));
        if (in[2] != NULL) {
            VF_TRY(vf_low_convert(cx, in[2], VF_F32, 1, &in[2], err));
            VF_TRY(spread_view(cx, in[2], y, &p, &in[2], err));
            VF_TRY(vf_low_binary(cx, "sub", y, in[2], &y, err));
        }
        VF_TRY(spread_view(cx, in[1], y, &p, &scale, err));
        VF_TRY(vf_low_binary(cx, "mul", y, scale, &y, err));
    }
    return vf_low_cast(cx, y, call->fact[0].type.dtype, &call->out[0], err);
}

VfStatus vf_lower_dynamic_quantize(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x, *out[3];
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    for (int32_t i = 0; i < 3; i++) {
        if (!vf_low_has_out(call, i))
            return vf_low_refuse(err, "result %d is omitted", i);
        VF_TRY(vf_low_result(cx, call, i, &out[i], err));
    }
    VfkDynamicQuantizeParams p = {(int64_t)x->count};
    VfLowEmit emit = {.op = "dynamic_quantize_f32", .params = &p, .n_in = 1, .n_out = 3, .in = &x,
                      .out = out, .units = 1, .unit_cost = 3 * (double)p.n};
    return vf_low_emit(cx, &emit, err);
}

/* `y`, an f32 in units of y's scale, plus the zero point, as result 0: integers are rounded and
 * saturated, 8-bit floats rounded once. */
static VfStatus put_quantized(VfLower *cx, VfLowCall *call, VfLowValue *y, VfLowValue *zero,
                              VfErr *err)
{
    VfDtype to = call->fact[0].type.dtype;
    bool is_float = vf_dtype_info(to)->is_float != 0;
    if (!is_float)
        VF_TRY(vf_low_map(cx, "round", y, 0, 0, &y, err));
    VF_TRY(vf_low_convert(cx, zero, VF_F32, 1, &zero, err));
    VF_TRY(vf_low_binary(cx, "add", y, zero, &y, err));
    if (!is_float)
        VF_TRY(saturate_to(cx, y, to, &y, err));
    VF_TRY(vf_low_convert(cx, y, to, 1, &y, err));
    return vf_low_reshape_to(cx, call, 0, y, err);
}

/* sum, an i32, times a scale over y's scale. */
static VfStatus requantize(VfLower *cx, VfLowCall *call, VfLowValue *sum,
                           VfLowValue *const scale[3], VfLowValue *zero, VfErr *err)
{
    VfLowValue *factor, *f[3];
    for (int32_t i = 0; i < 3; i++)
        VF_TRY(vf_low_cast(cx, scale[i], VF_F32, &f[i], err));
    VF_TRY(vf_low_binary(cx, "mul", f[0], f[1], &factor, err));
    VF_TRY(vf_low_binary(cx, "div", factor, f[2], &factor, err));
    VF_TRY(vf_low_cast(cx, sum, VF_F32, &sum, err));
    VF_TRY(vf_low_binary(cx, "mul", sum, factor, &sum, err));
    return put_quantized(cx, call, sum, zero, err);
}

/* A list of one number for each row of a matrix, as its column. */
static VfStatus as_column(VfLower *cx, VfLowValue *list, VfLowValue **out, VfErr *err)
{
    *out = list;
    if (list->rank != 1 || list->count <= 1)
        return VF_OK;
    return vf_low_reshape(cx, list, 2, (int64_t[2]){list->dims[0], 1}, out, err);
}

/* Operand `i`, 0 or 1, of a QLinearMatMul: the numbers it stands for. */
static VfStatus dequantized(VfLower *cx, const VfLowCall *call, int32_t i, VfLowValue *x,
                            VfLowValue **out, VfErr *err)
{
    VfLowValue *scale = call->in[3 * i + 1], *zero = call->in[3 * i + 2];
    if (i == 0) {
        VF_TRY(as_column(cx, scale, &scale, err));
        VF_TRY(as_column(cx, zero, &zero, err));
    }
    VF_TRY(vf_low_convert(cx, x, VF_F32, 1, &x, err));
    VF_TRY(vf_low_convert(cx, zero, VF_F32, 1, &zero, err));
    VF_TRY(vf_low_cast(cx, scale, VF_F32, &scale, err));
    VF_TRY(vf_low_binary(cx, "sub", x, zero, &x, err));
    return vf_low_binary(cx, "mul", x, scale, out, err);
}

/* With 8-bit floats: what the operands stand for is multiplied in f32. */
static VfStatus matmul_of_floats(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowMatmul m = {.a = call->in[0], .b = call->in[3], .alpha = 1};
    VfLowValue *y, *scale;
    VF_TRY(vf_low_align_product(cx, &m, err));
    VF_TRY(dequantized(cx, call, 0, m.a, &m.a, err));
    VF_TRY(dequantized(cx, call, 1, m.b, &m.b, err));
    VF_TRY(vf_low_matmul(cx, &m, &y, err));
    VF_TRY(vf_low_cast(cx, call->in[6], VF_F32, &scale, err));
    VF_TRY(vf_low_binary(cx, "div", y, scale, &y, err));
    return put_quantized(cx, call, y, call->in[7], err);
}

VfStatus vf_lower_qlinear_matmul(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[4] = {call->in[0], call->in[3], call->in[2], call->in[5]}, *sum;
    VfLowValue *scale[3] = {call->in[1], call->in[4], call->in[6]};
    if (vf_dtype_info(in[0]->dtype)->is_float || vf_dtype_info(in[1]->dtype)->is_float)
        return matmul_of_floats(cx, call, err);
    VF_TRY(vf_low_matmul_integer(cx, in, &sum, err));
    VF_TRY(as_column(cx, scale[0], &scale[0], err));
    return requantize(cx, call, sum, scale, call->in[7], err);
}

/* Operands as in QLinearMatMul, then a bias in units of the product of x's and w's scale. */
VfStatus vf_lower_qlinear_conv(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[4] = {call->in[0], call->in[3], call->in[2], call->in[5]}, *sum;
    VfLowValue *scale[3] = {call->in[1], call->in[4], call->in[6]}, *bias = vf_low_in(call, 8);
    VF_TRY(vf_low_conv_integer(cx, call, in, &sum, err));
    if (bias != NULL) {
        VF_TRY(vf_low_along(cx, bias, sum->rank, 1, &bias, err));
        VF_TRY(vf_low_binary(cx, "add", sum, bias, &sum, err));
    }
    if (scale[1]->count > 1)
        VF_TRY(vf_low_along(cx, scale[1], sum->rank, 1, &scale[1], err));
    return requantize(cx, call, sum, scale, call->in[7], err);
}
