/* Nodes that do nothing: the value each result equals. */
#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/normalize/rule.h"

/* Views of views of views are looked through this far. */
enum { VIEW_CHAIN_MAX = 16 };

/* Provably the same shape. */
static bool is_same_shape(const VfType *a, const VfType *b)
{
    if (a->kind != VF_TYPE_TENSOR || b->kind != VF_TYPE_TENSOR || a->rank != b->rank ||
        a->rank == VF_RANK_UNKNOWN)
        return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (!vf_dim_is_same(a->dims[i], b->dims[i]))
            return false;
    return true;
}

/* Shapes of the same elements that agree in all dims but one agree in that one too, if none of the
 * others is 0. */
static bool is_same_view(const VfType *a, const VfType *b)
{
    int32_t n_open = 0;
    if (is_same_shape(a, b))
        return true;
    if (a->kind != VF_TYPE_TENSOR || b->kind != VF_TYPE_TENSOR || a->rank != b->rank || a->rank < 1)
        return false;
    for (int32_t i = 0; i < a->rank; i++) {
        bool is_number = vf_dim_is_known(a->dims[i]) && vf_dim_is_same(a->dims[i], b->dims[i]);
        n_open += !is_number || a->dims[i].k == 0;
    }
    return n_open <= 1;
}

/* Is it only there to give a graph output its name, where the operand cannot have that name: an
 * input, a constant, a value of another graph, another output? Functions are to be inlined, and
 * then nothing in them is an output. */
static bool names_output(const VfNode *node)
{
    const VfValue *x = vf_node_in(node, 0), *y = vf_node_out(node, 0);
    if (x == NULL || y == NULL || y->n_use == 0 || node->graph->function != NULL)
        return false;
    for (const VfUse *use = y->first_use; use != NULL; use = use->next) {
        if (use->node->op != VF_OP_RETURN)
            return false;
    }
    return x->kind != VF_VALUE_RESULT || x->graph != node->graph || vf_value_is_output(x);
}

VfValue *vf_same_identity(const VfNode *node)
{
    return names_output(node) ? NULL : vf_node_in(node, 0);
}

/* Dropout at inference hands its operand on; the mask must not be read. */
VfValue *vf_same_dropout(const VfNode *node)
{
    const VfValue *mask = vf_node_out(node, 1), *training = vf_node_in(node, 2);
    const VfTensor *mode = vf_value_const(training);
    if (mask != NULL && mask->n_use > 0)
        return NULL;
    bool is_off =
        training == NULL || (mode != NULL && mode->count == 1 && vf_tensor_get_i64(mode, 0) == 0);
    return is_off ? vf_node_in(node, 0) : NULL;
}

VfValue *vf_same_cast(const VfNode *node)
{
    VfValue *x = vf_node_in(node, 0);
    const VfValue *like = vf_node_in(node, 1);
    int64_t to = node->op == VF_OP_CAST ? vf_node_int(node, "to")
                 : like                 ? (int64_t)like->type.dtype
                                        : 0;
    bool is_same = x != NULL && x->type.dtype != VF_UNDEFINED && (int64_t)x->type.dtype == to;
    return is_same ? x : NULL;
}

static bool is_view(const VfNode *node)
{
    return vf_op_has(node->op, VF_OPF_VIEW) && node->n_in > 0;
}

/* The first value up a chain of views that has the same shape again. */
VfValue *vf_same_view(const VfNode *node)
{
    const VfValue *y = vf_node_out(node, 0);
    VfValue *x = vf_node_in(node, 0), *found = NULL;
    for (int32_t i = 0; i < VIEW_CHAIN_MAX && x != NULL; i++) {
        if (is_same_view(&y->type, &x->type))
            found = x;
        if (x->kind != VF_VALUE_RESULT || !is_view(x->def) || x->graph != node->graph)
            break;
        x = vf_node_in(x->def, 0);
    }
    return found;
}

/* The identity, or the inverse of the Transpose before it. */
VfValue *vf_same_transpose(const VfNode *node)
{
    int32_t perm[VF_AXIS_MAX], first[VF_AXIS_MAX];
    int32_t rank = vf_transpose_perm(node, perm);
    VfValue *x = vf_node_in(node, 0);
    const VfNode *before = vf_def_if(x, VF_OP_TRANSPOSE);
    bool is_identity = rank >= 0, is_inverse = rank >= 0 && before != NULL;
    if (is_inverse && vf_transpose_perm(before, first) != rank)
        is_inverse = false;
    for (int32_t i = 0; i < rank; i++) {
        is_identity = is_identity && perm[i] == i;
        is_inverse = is_inverse && first[perm[i]] == i;
    }
    return is_identity ? x : is_inverse ? vf_node_in(before, 0) : NULL;
}

/* Expand, Tile: they repeat elements, so an equal shape is an equal value. */
VfValue *vf_same_expand(const VfNode *node)
{
    VfValue *x = vf_node_in(node, 0);
    const VfValue *y = vf_node_out(node, 0);
    return x != NULL && y != NULL && is_same_shape(&x->type, &y->type) ? x : NULL;
}

static bool are_all(const VfValue *value, double number)
{
    const VfTensor *tensor = vf_value_const(value);
    return tensor != NULL && (tensor->count == 0 || vf_tensor_is_all(tensor, number));
}

/* With steps of 1 only the whole axis has the length of the axis. */
VfValue *vf_same_slice(const VfNode *node)
{
    const VfValue *steps = vf_node_in(node, 4);
    return steps == NULL || are_all(steps, 1) ? vf_same_expand(node) : NULL;
}

VfValue *vf_same_pad(const VfNode *node)
{
    int32_t n;
    const int64_t *pads = vf_node_ints_or_operand(node, "pads", 1, &n);
    if (pads == NULL || n < 0)
        return NULL;
    for (int32_t i = 0; i < n; i++)
        if (pads[i] != 0)
            return NULL;
    return vf_node_in(node, 0);
}

/* Concat, Sum, Min, Max, Mean of one operand. */
VfValue *vf_same_concat(const VfNode *node)
{
    return node->n_in == 1 ? vf_node_in(node, 0) : NULL;
}

VfValue *vf_same_split(const VfNode *node)
{
    return node->n_out == 1 ? vf_same_expand(node) : NULL;
}
