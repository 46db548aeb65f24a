#include "passes/pointwise/act.h"

#include <math.h>

static VfValue *number(VfRewrite *rw, const VfValue *like, double value, const char *hint)
{
    return like != NULL ? vf_rewrite_scalar(rw, like->type.dtype, value, hint) : NULL;
}

static VfValue *build_relu(VfRewrite *rw, VfValue *x)
{
    return vf_rewrite_unary(rw, VF_OP_RELU, x);
}

static VfValue *build_relu2(VfRewrite *rw, VfValue *x)
{
    VfValue *r = build_relu(rw, x);
    return vf_rewrite_binary(rw, VF_OP_MUL, r, r);
}

static VfValue *build_relu6(VfRewrite *rw, VfValue *x)
{
    return vf_rewrite_clip(rw, x, 0.0, 6.0);
}

/* x Φ(x), in operators that every opset with Erf has. */
static VfValue *build_gelu(VfRewrite *rw, VfValue *x)
{
    VfValue *erf = vf_rewrite_unary(
        rw, VF_OP_ERF, vf_rewrite_binary(rw, VF_OP_MUL, x, number(rw, x, sqrt(0.5), "sqrt_half")));
    VfValue *share = vf_rewrite_binary(rw, VF_OP_ADD, erf, number(rw, x, 1.0, "one"));
    VfValue *half = vf_rewrite_binary(rw, VF_OP_MUL, x, number(rw, x, 0.5, "half"));
    return vf_rewrite_binary(rw, VF_OP_MUL, half, share);
}

static VfValue *build_softplus(VfRewrite *rw, VfValue *x)
{
    return vf_rewrite_unary(rw, VF_OP_SOFTPLUS, x);
}

static VfValue *build_sigmoid(VfRewrite *rw, VfValue *x)
{
    return vf_rewrite_unary(rw, VF_OP_SIGMOID, x);
}

static VfValue *build_identity(VfRewrite *rw, VfValue *x)
{
    (void)rw;
    return x;
}

const VfAct vf_act_table[] = {
    {"relu", 1, VF_MASK_NEEDS_NOTHING, 1.0, build_relu},
    {"relu2", 1, VF_MASK_NEEDS_NOTHING, 2.0, build_relu2},
    {"relu6", 1, VF_MASK_NEEDS_NOTHING, 0.0, build_relu6},
    {"gelu", 9, VF_MASK_NEEDS_FINITE, 0.0, build_gelu},
    {"softplus", 1, VF_MASK_NEEDS_NOTHING, 0.0, build_softplus},
    {"sigmoid", 1, VF_MASK_NEEDS_NOTHING, 0.0, build_sigmoid},
    {"identity", 1, VF_MASK_NEEDS_ZERO, 0.0, build_identity},
};
