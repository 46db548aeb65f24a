/* Scores that are split for a while: relative positions of a grid are added to scores reshaped to
 * [B, q_h, q_w, k_h, k_w], so the keys' axis is two axes there (ViTDet, SAM, MViT).
 */
#include "passes/match/attention_parts.h"

#include "passes/match/facts.h"

enum { SPLIT_STEP_MAX = 8 };

/* Neighbouring axes that together count keys. */
typedef struct Group {
    int32_t at, n;
} Group;

static VfDim product(VfSymbols *symbols, const VfType *type, int32_t from, int32_t to)
{
    VfDim p = vf_dim(1);
    for (int32_t i = from; i < to; i++)
        p = vf_dim_mul(symbols, p, type->dims[i]);
    return p;
}

/* The axes of `type` that hold `length` elements behind `before`; n 0 if there are none. */
static Group find_group(VfSymbols *symbols, const VfType *type, VfDim before, VfDim length)
{
    for (int32_t at = 0; at < type->rank; at++) {
        if (!vf_dim_is_same(product(symbols, type, 0, at), before))
            continue;
        for (int32_t end = at + 1; end <= type->rank; end++) {
            if (vf_dim_is_same(product(symbols, type, at, end), length))
                return (Group){at, end - at};
        }
    }
    return (Group){0, 0};
}

/* The group one view further up. */
static Group through_view(VfSymbols *symbols, const VfType *out, Group g, const VfType *in)
{
    if (out->rank < 0 || in->rank < 0)
        return (Group){0, 0};
    VfDim before = product(symbols, out, 0, g.at);
    return find_group(symbols, in, before, product(symbols, out, g.at, g.at + g.n));
}

/* The operand of an element-wise node that has all of the group, not broadcast; -1 if none. */
static int32_t whole_operand(const VfNode *node, Group g)
{
    const VfType *out = &vf_node_out(node, 0)->type;
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *in = vf_node_in(node, i);
        if (in == NULL || vf_is_fixed(in) || in->type.rank != out->rank)
            continue;
        bool is_whole = true;
        for (int32_t a = 0; a < g.at + g.n; a++)
            is_whole = is_whole && vf_dim_is_same(in->type.dims[a], out->dims[a]);
        if (is_whole)
            return i;
    }
    return -1;
}

static bool push(VfPath *path, VfNode *node, int32_t slot, int32_t axis)
{
    if (path->n == VF_PATH_MAX)
        return false;
    path->node[path->n] = node;
    path->axis[path->n] = axis;
    path->slot[path->n++] = slot;
    return true;
}

bool vf_through_split(const VfScan *scan, VfPath *path, VfNode *view, int32_t axis, VfValue **value,
                      int32_t *up)
{
    VfSymbols *symbols = scan->model->symbols;
    VfNode *node = view;
    Group g = {axis, 1};
    int32_t n = path->n;
    for (int32_t i = 0; i < SPLIT_STEP_MAX && node != NULL; i++) {
        int32_t slot = 0, own = g.n == 1 ? g.at : -1;
        if (vf_op_has(node->op, VF_OPF_VIEW) && vf_node_in(node, 0) != NULL)
            g = through_view(symbols, &vf_node_out(node, 0)->type, g, &vf_node_in(node, 0)->type);
        else
            slot = vf_op_has(node->op, VF_OPF_ELEMENTWISE) ? whole_operand(node, g) : -1;
        if (slot < 0 || g.n == 0 || !push(path, node, slot, own))
            break;
        *value = vf_node_in(node, slot);
        *up = g.at;
        if (g.n == 1)
            return true;
        node = (*value)->kind == VF_VALUE_RESULT ? (*value)->def : NULL;
    }
    path->n = n;
    return false;
}
