/* Work and memory of a model, counted from shapes.
 *
 * The count is of the mathematics, not of an implementation: products and convolutions as they
 * are written, a few operations an element for the rest. Views cost nothing.
 */
#include <string.h>

#include "converter/api/sites.h"
#include "passes/ir/attr.h"

/* Elements of a type, or -1 if it is not known. */
static double count_of(const VfValue *value)
{
    double count = 1;
    if (value == NULL || value->type.rank < 0)
        return -1;
    for (int32_t i = 0; i < value->type.rank; i++) {
        if (!vf_dim_is_known(value->type.dims[i]))
            return -1;
        count *= (double)value->type.dims[i].k;
    }
    return count;
}

/* Axis `axis` (from the end if negative), or -1. */
static double dim_of(const VfValue *value, int32_t axis)
{
    if (value == NULL || value->type.rank < 0)
        return -1;
    int32_t i = axis < 0 ? axis + value->type.rank : axis;
    if (i < 0 || i >= value->type.rank || !vf_dim_is_known(value->type.dims[i]))
        return -1;
    return (double)value->type.dims[i].k;
}

/* Work of a node for `out` elements of its first result; below 0 if not known. */
typedef double WorkFn(const VfNode *node, double out);

static double matmul_work(const VfNode *node, double out)
{
    double k = dim_of(vf_node_in(node, 0), -1);
    return k < 0 ? -1 : 2 * out * k;
}

static double gemm_work(const VfNode *node, double out)
{
    double k = dim_of(vf_node_in(node, 0), vf_node_int(node, "transA") != 0 ? 0 : 1);
    return k < 0 ? -1 : 2 * out * k + (vf_node_in(node, 2) == NULL ? 0 : out);
}

static double fused_matmul_work(const VfNode *node, double out)
{
    int32_t first = vf_node_int(node, "transBatchA") != 0 ? 0 : -2;
    double k = dim_of(vf_node_in(node, 0), vf_node_int(node, "transA") != 0 ? first : -1);
    return k < 0 ? -1 : 2 * out * k;
}

/* Every result element is a product with the weights of its group. */
static double conv_work(const VfNode *node, double out)
{
    double weight = count_of(vf_node_in(node, 1));
    double channels = dim_of(vf_node_in(node, 1), 0);
    if (weight < 0 || channels <= 0)
        return weight < 0 || channels < 0 ? -1 : 0;
    return 2 * out * weight / channels + (vf_node_in(node, 2) == NULL ? 0 : out);
}

static double conv_transpose_work(const VfNode *node, double out)
{
    double in = count_of(vf_node_in(node, 0)), weight = count_of(vf_node_in(node, 1));
    double channels = dim_of(vf_node_in(node, 1), 0);
    (void)out;
    if (in < 0 || weight < 0 || channels <= 0)
        return in < 0 || weight < 0 || channels < 0 ? -1 : 0;
    return 2 * in * weight / channels;
}

/* Two operands: each result element sums over the letters that it lacks. */
static double einsum_work(const VfNode *node, double out)
{
    double size[256];
    VfBytes equation = vf_node_string(node, "equation");
    int32_t operand = 0, axis = 0;
    bool is_result = false, in_result[256] = {false};
    for (int i = 0; i < 256; i++)
        size[i] = 1;
    for (size_t i = 0; i < equation.size; i++) {
        unsigned char c = (unsigned char)equation.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (c == '>')
            is_result = true;
        else if (c == ',')
            operand++, axis = 0;
        else if (is_letter && is_result)
            in_result[c] = true;
        else if (is_letter)
            size[c] = dim_of(vf_node_in(node, operand), axis++);
    }
    double work = 2 * out;
    for (int i = 0; i < 256; i++)
        work *= in_result[i] ? 1 : size[i];
    return work;
}

static double reduce_work(const VfNode *node, double out)
{
    (void)out;
    return count_of(vf_node_in(node, 0));
}

static double attention_work(const VfNode *node, double out)
{
    /* Scores, and their product with V: each result element once over the keys, twice. */
    const VfValue *k = vf_node_in(node, 1);
    double n_k = dim_of(k, -2);
    return n_k < 0 ? -1 : 4 * out * n_k;
}

/* Operators that do more than one operation a result element, or none. */
static const struct {
    const char *op;
    WorkFn *work;       /* NULL: `each` operations a result element */
    double each;
} row[] = {
    {"MatMul", matmul_work, 0},
    {"Gemm", gemm_work, 0},
    {"FusedMatMul", fused_matmul_work, 0},
    {"TransposeMatMul", fused_matmul_work, 0},
    {"GemmFastGelu", matmul_work, 0},
    {"MatMulNBits", matmul_work, 0},
    {"Conv", conv_work, 0},
    {"ConvTranspose", conv_transpose_work, 0},
    {"Einsum", einsum_work, 0},
    {"Attention", attention_work, 0},
    {"MultiHeadAttention", attention_work, 0},
    {"ReduceMean", reduce_work, 0},
    {"ReduceSum", reduce_work, 0},
    {"ReduceMax", reduce_work, 0},
    {"ReduceL2", reduce_work, 0},
    {"GlobalAveragePool", reduce_work, 0},
    {"AveragePool", reduce_work, 0},
    {"Softmax", NULL, 5},
    {"LayerNormalization", NULL, 8},
    {"RMSNormalization", NULL, 6},
    {"GroupNormalization", NULL, 8},
    {"InstanceNormalization", NULL, 8},
    {"BatchNormalization", NULL, 2},
    {"Gelu", NULL, 8},
    {"Erf", NULL, 8},
    {"Reshape", NULL, 0},
    {"Transpose", NULL, 0},
    {"Identity", NULL, 0},
    {"Squeeze", NULL, 0},
    {"Unsqueeze", NULL, 0},
    {"Flatten", NULL, 0},
    {"Concat", NULL, 0},
    {"Split", NULL, 0},
    {"Slice", NULL, 0},
    {"Gather", NULL, 0},
    {"Expand", NULL, 0},
    {"Shape", NULL, 0},
    {"Constant", NULL, 0},
    {"ConstantOfShape", NULL, 0},
    {"Cast", NULL, 0},
    {"Pad", NULL, 0},
    {"Dropout", NULL, 0},
    {"Range", NULL, 0},
    {"Tile", NULL, 0},
};

double vf_node_work(const VfNode *node)
{
    const VfValue *result = vf_node_out(node, 0);
    double out = count_of(result);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        if (!vf_bytes_is_equal(node->op_type, vf_bytes(row[i].op)))
            continue;
        if (row[i].work == NULL && row[i].each <= 0)
            return 0;
        if (out < 0)
            return -1;
        return row[i].work != NULL ? row[i].work(node, out) : row[i].each * out;
    }
    return out;
}

double vf_value_bytes(const VfValue *value)
{
    double count = count_of(value);
    return count < 0 ? 0 : count * vf_dtype_info(value->type.dtype)->bits / 8;
}

/* Where each value was last read, by value id; -1: never. */
static void note_uses(const VfNode *node, int32_t at, int32_t *last)
{
    for (int32_t i = 0; i < node->n_in; i++)
        if (node->in[i].value != NULL)
            last[node->in[i].value->id] = at;
}

static void add_constants(const VfGraph *graph, VfCost *cost)
{
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        if (value->tensor == NULL || value->kind == VF_VALUE_RESULT)
            continue;
        cost->parameter_bytes += (double)value->tensor->bytes;
        if (vf_dtype_info(value->tensor->dtype)->is_float)
            cost->n_parameter += (int64_t)value->tensor->count;
    }
}

VfStatus vf_cost_of(VfArena *arena, const VfModel *model, VfCost *cost, VfErr *err)
{
    const VfGraph *graph = model->graph;
    int32_t *last = VF_NEW_ARRAY(arena, int32_t, (size_t)model->n_value_id);
    VF_TRY_ALLOC(last, err);
    *cost = (VfCost){0};
    add_constants(graph, cost);
    for (int32_t i = 0; i < model->n_value_id; i++)
        last[i] = -1;
    int32_t at = 0;
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next)
        note_uses(node, at++, last);
    note_uses(graph->ret, at, last);
    double alive = 0;
    at = 0;
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next, at++) {
        double work = vf_node_work(node);
        cost->n_unknown += work < 0;
        cost->flops += work < 0 ? 0 : work;
        bool is_view = vf_op_has(node->op, VF_OPF_VIEW);
        for (int32_t i = 0; i < node->n_out && !is_view; i++)
            alive += node->out[i] == NULL ? 0 : vf_value_bytes(node->out[i]);
        if (alive > cost->activation_bytes)
            cost->activation_bytes = alive;
        for (int32_t i = 0; i < node->n_in; i++) {
            const VfValue *value = node->in[i].value;
            if (value != NULL && value->kind == VF_VALUE_RESULT && last[value->id] == at) {
                alive -= vf_op_has(value->def->op, VF_OPF_VIEW) ? 0 : vf_value_bytes(value);
                last[value->id] = -1;
            }
        }
    }
    return VF_OK;
}
