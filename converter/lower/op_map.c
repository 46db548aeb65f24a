/* Operators of one operand, element by element. */
#include "converter/lower/ops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "converter/lower/layout.h"
#include "passes/ir/attr.h"
#include "runtime/kernels/map.h"

typedef struct MapCost {
    const char *op;
    double ns; /* of an element */
} MapCost;

/* Those that take much longer than moving the element. */
static const MapCost cost_table[] = {
    {"exp", 1}, {"log", 1}, {"sin", 8}, {"cos", 8}, {"tan", 12}, {"asin", 12}, {"acos", 12},
    {"atan", 12}, {"sinh", 12}, {"cosh", 12}, {"asinh", 15}, {"acosh", 15}, {"atanh", 15},
    {"sigmoid", 1.2}, {"tanh", 1.5}, {"erf", 1.5}, {"gelu", 2}, {"gelu_tanh", 2}, {"softplus", 2},
    {"mish", 3}, {"silu", 1.5}, {"elu", 1.2}, {"selu", 1.2}, {"celu", 1.2},
};

double vf_low_map_cost(const char *op)
{
    for (size_t i = 0; i < sizeof cost_table / sizeof *cost_table; i++)
        if (strcmp(cost_table[i].op, op) == 0)
            return cost_table[i].ns;
    return 0.3;
}

/* One step from x to a placed result; limits are those of clip. */
static VfStatus emit_map(VfLower *cx, const char *op, VfkMapParams p, VfLowValue *const operand[3],
                         VfLowValue *out, VfErr *err)
{
    VfLowValue *in[] = {operand[0], operand[1], operand[2]};
    p.n = (int64_t)in[0]->count;
    VfLowEmit emit = {.op = op, .dtype = in[0]->dtype, .params = &p, .n_in = 1, .n_out = 1,
                      .in = in, .out = &out, .units = p.n, .unit_cost = vf_low_map_cost(op),
                      .flops = (double)p.n, .may_overwrite = in[0]->dtype == out->dtype};
    emit.n_in = strcmp(op, "clip") == 0 ? 3 : 1;
    return vf_low_emit(cx, &emit, err);
}

/* x to a fresh value of `dtype`. */
static VfStatus map_to(VfLower *cx, const char *op, VfLowValue *x, VfkMapParams p, VfDtype dtype,
                       VfLowValue **out, VfErr *err)
{
    VfLowValue *in[3] = {NULL, NULL, NULL};
    VF_TRY(vf_low_dense(cx, x, &in[0], err));
    VF_TRY(vf_low_new(cx, dtype, x->rank, x->dims, out, err));
    return emit_map(cx, op, p, in, *out, err);
}

VfStatus vf_low_map(VfLower *cx, const char *op, VfLowValue *x, double alpha, double beta,
                    VfLowValue **out, VfErr *err)
{
    VfkMapParams p = {.alpha = alpha, .beta = beta};
    return map_to(cx, op, x, p, x->dtype, out, err);
}

/* The same, the result laid out as x is. */
static VfStatus map_as_it_lies(VfLower *cx, const char *op, VfLowValue *x, const double ab[2],
                               VfDtype dtype, VfLowValue **out, VfErr *err)
{
    VfLowOrder order;
    VfLowValue *y;
    vf_low_order_of(x, &order);
    VF_TRY(vf_low_to_order(cx, x, &order, &x, err));
    VfkMapParams p = {.alpha = ab[0], .beta = ab[1]};
    VF_TRY(map_to(cx, op, x, p, dtype, &y, err));
    return vf_low_from_order(cx, y, &order, out, err);
}

/* arg: kernel, then the attributes that are alpha and beta. */
VfStatus vf_lower_map(VfLower *cx, VfLowCall *call, VfErr *err)
{
    char op[24] = "", alpha[24] = "", beta[24] = "";
    int n_word = sscanf(call->arg, "%23s %23s %23s", op, alpha, beta);
    double ab[2] = {0, 0};
    if (n_word > 1)
        ab[0] = vf_node_float(call->node, alpha);
    if (n_word > 2)
        ab[1] = vf_node_float(call->node, beta);
    return map_as_it_lies(cx, op, call->in[0], ab, call->fact[0].type.dtype,
                          &call->out[0], err);
}

VfStatus vf_lower_is_inf(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[3] = {NULL, NULL, NULL}, *out;
    VfkMapParams p = {.alpha = (double)vf_node_int(call->node, "detect_negative"),
                      .beta = (double)vf_node_int(call->node, "detect_positive")};
    VF_TRY(vf_low_dense(cx, call->in[0], &in[0], err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    return emit_map(cx, "isinf", p, in, out, err);
}

VfStatus vf_lower_gelu(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfBytes form = vf_node_string(call->node, "approximate");
    bool is_tanh = vf_bytes_is_equal(form, vf_bytes("tanh"));
    if (!is_tanh && form.size > 0 && !vf_bytes_is_equal(form, vf_bytes("none")))
        return vf_low_refuse_word("approximate", form, err);
    return map_as_it_lies(cx, is_tanh ? "gelu_tanh" : "gelu", call->in[0], (const double[2]){0, 0},
                          call->in[0]->dtype, &call->out[0], err);
}

/* x, bias: arg is the function of their sum (com.microsoft BiasGelu, FastGelu). */
VfStatus vf_lower_bias_map(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0];
    if (vf_low_in(call, 1) != NULL)
        VF_TRY(vf_low_binary(cx, "add", x, call->in[1], &x, err));
    return vf_low_map(cx, call->arg, x, 0, 0, &call->out[0], err);
}

static VfStatus clip_limit(VfLower *cx, const VfLowCall *call, const char *name, int32_t slot,
                           VfLowValue **limit, VfErr *err)
{
    *limit = vf_low_in(call, slot);
    if (*limit != NULL && (*limit)->dtype == call->in[0]->dtype && (*limit)->count == 1)
        return VF_OK;
    if (*limit != NULL)
        return vf_low_refuse(err, "limit '%s' is not one element of the operand's dtype", name);
    /* From opset 11 on the limits are operands alone. */
    if (call->opset >= 11 || (call->opset < 6 && vf_node_attr(call->node, name) == NULL))
        return VF_OK;
    return vf_low_scalar(cx, call->in[0]->dtype, vf_node_float(call->node, name), limit, err);
}

VfStatus vf_lower_clip(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[3], *out;
    VF_TRY(clip_limit(cx, call, "min", 1, &in[1], err));
    VF_TRY(clip_limit(cx, call, "max", 2, &in[2], err));
    VF_TRY(vf_low_dense(cx, call->in[0], &in[0], err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    return emit_map(cx, "clip", (VfkMapParams){0}, in, out, err);
}

static bool is_known_false(const VfLowValue *value)
{
    return value->known != NULL && value->count == 1 && vf_tensor_get_i64(value->known, 0) == 0;
}

/* Elements stay with probability 1 - ratio and are scaled by its reciprocal. */
static VfStatus drop(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0], *ratio = vf_low_in(call, 1), *u, *keep, *one, *zero, *y;
    if (vf_dtype_info(x->dtype)->bits <= 8)
        VF_TRY(vf_low_convert(cx, x, VF_F32, 1, &x, err));
    if (ratio == NULL)
        VF_TRY(vf_low_scalar(cx, x->dtype, vf_node_float(call->node, "ratio"), &ratio, err));
    VF_TRY(vf_low_convert(cx, ratio, x->dtype, 1, &ratio, err));
    VF_TRY(vf_low_random_like(cx, call, x, &u, err));
    VF_TRY(vf_low_binary(cx, "greater_equal", u, ratio, &keep, err));
    VF_TRY(vf_low_scalar(cx, x->dtype, 1, &one, err));
    VF_TRY(vf_low_scalar(cx, x->dtype, 0, &zero, err));
    VF_TRY(vf_low_binary(cx, "sub", one, ratio, &one, err));
    VF_TRY(vf_low_map(cx, "reciprocal", one, 0, 0, &one, err));
    VF_TRY(vf_low_binary(cx, "mul", x, one, &y, err));
    if (vf_low_has_out(call, 1))
        VF_TRY(vf_low_cast(cx, keep, call->fact[1].type.dtype, &call->out[1], err));
    VF_TRY(vf_low_where(cx, keep, y, zero, &y, err));
    return vf_low_convert(cx, y, call->fact[0].type.dtype, 1, &call->out[0], err);
}

/* In inference the identity, with a mask of ones. */
VfStatus vf_lower_dropout(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *training = vf_low_in(call, 2), *ratio = vf_low_in(call, 1);
    bool drops_none = ratio != NULL && ratio->known != NULL && ratio->count == 1 &&
                      vf_tensor_get_double(ratio->known, 0) == 0;
    if (training != NULL && !drops_none)
        VF_TRY(vf_low_need_known(call, training, err));
    if (training != NULL && !drops_none && !is_known_false(training))
        return drop(cx, call, err);
    if (call->opset < 7 && vf_node_int(call->node, "is_test") == 0)
        return drop(cx, call, err);
    call->out[0] = call->in[0];
    if (!vf_low_has_out(call, 1))
        return VF_OK;
    VfLowValue *one, *x = call->in[0];
    VF_TRY(vf_low_scalar(cx, call->opset < 10 ? x->dtype : VF_BOOL, 1, &one, err));
    return vf_low_expand(cx, one, x->rank, x->dims, &call->out[1], err);
}

/* Of integers -1, 0 or 1: f32 truncated. arg: the kernel. */
VfStatus vf_lower_erf(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0];
    if (vf_dtype_info(x->dtype)->is_float)
        return vf_lower_map(cx, call, err);
    VF_TRY(vf_low_cast(cx, x, VF_F32, &x, err));
    VF_TRY(vf_low_map(cx, call->arg, x, 0, 0, &x, err));
    return vf_low_cast(cx, x, call->fact[0].type.dtype, &call->out[0], err);
}
