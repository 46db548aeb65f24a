#include "passes/match/pointwise.h"

#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/match/pattern.h"

/* Slot 1 is always what the function is applied to. */
static const VfPattern relu_part = {
    .kind = VF_PATTERN_OP, .op = VF_OP_RELU, .is_open = true, .n_in = 1, .in = {VF_PAT_ANY(1)}};
static const VfPattern relu_squared = VF_PAT_OP2(MUL, &relu_part, &relu_part);
static const VfPattern relu_power = VF_PAT_OP2(POW, &relu_part, VF_PAT_NUMBER(2.0));
static const VfPattern relu_times_x = VF_PAT_OP2(MUL, &relu_part, VF_PAT_ANY(1));
static const VfPattern relu2 = VF_PAT_ALT3(&relu_squared, &relu_power, &relu_times_x);

static const VfPattern div_root2 = VF_PAT_OP2(DIV, VF_PAT_ANY(1), VF_PAT_NUMBER(1.41421356237));
static const VfPattern mul_root_half = VF_PAT_OP2(MUL, VF_PAT_ANY(1), VF_PAT_NUMBER(0.70710678118));
static const VfPattern over_root2 = VF_PAT_ALT2(&div_root2, &mul_root_half);
static const VfPattern erf_part = VF_PAT_OP1(ERF, &over_root2);
static const VfPattern one_plus = VF_PAT_OP2(ADD, &erf_part, VF_PAT_NUMBER(1.0));
static const VfPattern x_one_plus = VF_PAT_OP2(MUL, &one_plus, VF_PAT_ANY(1));
static const VfPattern half_x = VF_PAT_OP2(MUL, VF_PAT_ANY(1), VF_PAT_NUMBER(0.5));
static const VfPattern half_one_plus = VF_PAT_OP2(MUL, &one_plus, VF_PAT_NUMBER(0.5));
static const VfPattern gelu_a = VF_PAT_OP2(MUL, &x_one_plus, VF_PAT_NUMBER(0.5));
static const VfPattern gelu_b = VF_PAT_OP2(MUL, &one_plus, &half_x);
static const VfPattern gelu_c = VF_PAT_OP2(MUL, &half_one_plus, VF_PAT_ANY(1));
static const VfPattern gelu_erf = VF_PAT_ALT3(&gelu_a, &gelu_b, &gelu_c);

static const VfPattern sigmoid_part = VF_PAT_OP1(SIGMOID, VF_PAT_ANY(1));
static const VfPattern silu = VF_PAT_OP2(MUL, &sigmoid_part, VF_PAT_ANY(1));

static const VfPattern elu_part = VF_PAT_OP1(ELU, VF_PAT_ANY(1));
static const VfPattern elu1 = VF_PAT_OP2(ADD, &elu_part, VF_PAT_NUMBER(1.0));

typedef struct Form {
    const char *name;
    const VfPattern *pattern;
} Form;

static const Form form[] = {
    {"relu2", &relu2},
    {"gelu", &gelu_erf},
    {"silu", &silu},
    {"elu1", &elu1},
};

typedef struct Unary {
    VfOp op;
    const char *name;
} Unary;

static const Unary unary[] = {
    {VF_OP_RELU, "relu"},
    {VF_OP_GELU, "gelu"},
    {VF_OP_MS_GELU, "gelu"},
    {VF_OP_SIGMOID, "sigmoid"},
    {VF_OP_SOFTPLUS, "softplus"},
    {VF_OP_TANH, "tanh"},
    {VF_OP_ELU, "elu"},
    {VF_OP_EXP, "exp"},
    {VF_OP_LEAKY_RELU, "leaky_relu"},
    {VF_OP_HARD_SIGMOID, "hard_sigmoid"},
    {VF_OP_HARD_SWISH, "hard_swish"},
    {VF_OP_SELU, "selu"},
    {VF_OP_CELU, "celu"},
    {VF_OP_MISH, "mish"},
    {VF_OP_SOFTSIGN, "softsign"},
    {VF_OP_MS_FAST_GELU, "gelu"},
    {VF_OP_MS_QUICK_GELU, "quick_gelu"},
    {VF_OP_SWISH, "silu"},
    {VF_OP_PRELU, "prelu"},
    {VF_OP_ABS, "abs"},
};

/* The bound of a Clip, attribute or operand. */
static bool clip_bound(const VfNode *node, const char *attr, int32_t slot, double *bound)
{
    if (vf_node_in(node, slot) != NULL)
        return vf_scalar_of(vf_node_in(node, slot), bound);
    if (vf_node_attr(node, attr) == NULL)
        return false;
    *bound = vf_node_float(node, attr);
    return true;
}

static const char *clip_name(const VfNode *node)
{
    double low, high;
    if (!clip_bound(node, "min", 1, &low) || low != 0.0)
        return "clip";
    if (!clip_bound(node, "max", 2, &high))
        return "relu";
    return high == 6.0 ? "relu6" : high >= 1e30 ? "relu" : "clip";
}

const char *vf_pointwise_of(VfValue *value, VfValue **of)
{
    VfNode *node = value->kind == VF_VALUE_RESULT ? value->def : NULL;
    VfMatch match;
    if (node == NULL || vf_is_fixed(vf_node_in(node, 0)))
        return NULL;
    for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
        if (vf_pattern_match(form[i].pattern, value, &match)) {
            *of = match.slot[1];
            return form[i].name;
        }
    }
    *of = vf_node_in(node, 0);
    if (node->op == VF_OP_MS_FAST_GELU && vf_node_in(node, 1) != NULL)
        return NULL; /* of x plus a bias */
    if (node->op == VF_OP_CLIP)
        return clip_name(node);
    double number;
    if (node->op == VF_OP_MAX && node->n_in == 2 && vf_scalar_of(vf_node_in(node, 1), &number))
        return number == 0.0 ? "relu" : NULL;
    for (size_t i = 0; i < sizeof(unary) / sizeof(unary[0]); i++) {
        if (unary[i].op == node->op)
            return unary[i].name;
    }
    return NULL;
}
