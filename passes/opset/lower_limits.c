#include "passes/opset/lower_limits.h"

#include "passes/ir/attr.h"

/* Dtypes that an operator takes or gives from an opset on only: bit d stands for the dtype of that
 * number. Those after 15 came late almost everywhere and are not lowered at all. */
static const struct {
    VfOp op;
    int32_t since;
    uint32_t dtypes;
} widened[] = {
    {VF_OP_ADD, 14, 0x003c},
    {VF_OP_BIT_SHIFT, 28, 0x00e8},
    {VF_OP_CAST, 9, 0x0100},
    {VF_OP_CELU, 28, 0x0c00},
    {VF_OP_CLIP, 12, 0x30fc},
    {VF_OP_CONSTANT, 9, 0xf3fc},
    {VF_OP_CUM_SUM, 14, 0x0400},
    {VF_OP_DEQUANTIZE_LINEAR, 19, 0x0400},
    {VF_OP_DEQUANTIZE_LINEAR, 21, 0x0030},
    {VF_OP_DIV, 14, 0x003c},
    {VF_OP_DROPOUT, 10, 0x0200},
    {VF_OP_EQUAL, 11, 0x3c3e},
    {VF_OP_EQUAL, 19, 0x0100},
    {VF_OP_FLATTEN, 9, 0xf3fc},
    {VF_OP_GEMM, 9, 0x30c0},
    {VF_OP_GREATER, 9, 0x30fc},
    {VF_OP_IS_INF, 20, 0x0400},
    {VF_OP_LESS, 9, 0x30fc},
    {VF_OP_MATMUL, 9, 0x30c0},
    {VF_OP_MAX, 12, 0x30fc},
    {VF_OP_MAX_POOL, 8, 0x0080},
    {VF_OP_MAX_POOL, 12, 0x000c},
    {VF_OP_MIN, 12, 0x30fc},
    {VF_OP_MUL, 14, 0x003c},
    {VF_OP_PRELU, 9, 0x30c0},
    {VF_OP_PAD, 11, 0x30fc},
    {VF_OP_PAD, 13, 0xc300},
    {VF_OP_POW, 12, 0x30fc},
    {VF_OP_QLINEAR_MATMUL, 21, 0x0400},
    {VF_OP_QUANTIZE_LINEAR, 19, 0x0400},
    {VF_OP_QUANTIZE_LINEAR, 21, 0x0030},
    {VF_OP_RANGE, 27, 0x0400},
    {VF_OP_REDUCE_MAX, 12, 0x000c},
    {VF_OP_REDUCE_MAX, 20, 0x0200},
    {VF_OP_REDUCE_MIN, 12, 0x000c},
    {VF_OP_REDUCE_MIN, 20, 0x0200},
    {VF_OP_RELU, 14, 0x00e8},
    {VF_OP_SUB, 14, 0x003c},
    {VF_OP_TOP_K, 11, 0x307c},
};

/* Operands that came after the first form: operator, opset, how many there were before. */
static const struct {
    VfOp op;
    int32_t since, n_before;
} longer[] = {
    {VF_OP_ATTENTION, 24, 6},
    {VF_OP_PAD, 18, 3},
};

/* Operands that may be omitted from an opset on only. */
static const struct {
    VfOp op;
    int32_t since, slot;
} optional[] = {
    {VF_OP_GEMM, 11, 2},
    {VF_OP_RESIZE, 13, 1},
    {VF_OP_RESIZE, 13, 2},
};

static const char *dtype_limit(const VfNode *node, const VfValue *value, int64_t opset)
{
    if (value == NULL || value->type.dtype == VF_UNDEFINED)
        return NULL;
    if (value->type.dtype > VF_C128)
        return "bfloat16 and dtypes of less than 16 bits are not lowered";
    for (size_t i = 0; i < sizeof widened / sizeof *widened; i++)
        if (widened[i].op == node->op && widened[i].since > opset &&
            (widened[i].dtypes >> value->type.dtype & 1u) != 0)
            return "it did not take this dtype there";
    return NULL;
}

static bool is_mod_of_floats(const VfNode *node)
{
    const VfValue *x = vf_node_in(node, 0);
    return node->op == VF_OP_MOD && vf_node_int(node, "fmod") == 0 && x != NULL &&
           vf_dtype_info(x->type.dtype)->is_float;
}

const char *vf_lower_limit(const VfNode *node, int64_t opset)
{
    const char *reason = NULL;
    for (int32_t i = 0; i < node->n_in && reason == NULL; i++)
        reason = dtype_limit(node, vf_node_in(node, i), opset);
    for (int32_t i = 0; i < node->n_out && reason == NULL; i++)
        reason = dtype_limit(node, vf_node_out(node, i), opset);
    for (size_t i = 0; i < sizeof longer / sizeof *longer && reason == NULL; i++)
        if (longer[i].op == node->op && longer[i].since > opset &&
            node->n_in > longer[i].n_before && vf_node_in(node, longer[i].n_before) != NULL)
            reason = "it has an operand more than there";
    for (size_t i = 0; i < sizeof optional / sizeof *optional && reason == NULL; i++)
        if (optional[i].op == node->op && optional[i].since > opset &&
            vf_node_in(node, optional[i].slot) == NULL)
            reason = "it omits an operand that it needs there";
    if (reason == NULL && opset < 28 && is_mod_of_floats(node))
        reason = "it takes no floats there without fmod";
    return reason;
}
