/* Additive attention: one weighted sum of all tokens, spread over the tokens again.
 *
 *     w = a linear layer's weights of tokens, perhaps normalised      [.., N, 1]
 *     O = v * sum over tokens of (w * q)                              no softmax, no matrix of
 * tokens
 */
#include "passes/match/attention_parts.h"

#include "passes/match/facts.h"

enum { STEP_MAX = 24 };

/* Weights of tokens made by a linear layer and element-wise operators. */
static bool is_made_by_layer(VfValue *value)
{
    for (int32_t i = 0; i < STEP_MAX && value != NULL && value->kind == VF_VALUE_RESULT; i++) {
        VfNode *node = value->def;
        VfProduct p;
        if (node->op == VF_OP_CONV)
            return true;
        if (vf_product_of(node, &p))
            return vf_product_n_runtime(&p) == 1;
        if (!vf_is_mover(node) && !vf_op_has(node->op, VF_OPF_ELEMENTWISE))
            return false;
        VfValue *next = NULL;
        for (int32_t k = 0; k < node->n_in && next == NULL; k++)
            next = !vf_is_fixed(vf_node_in(node, k)) ? vf_node_in(node, k) : NULL;
        value = next;
    }
    return false;
}

/* The Mul that spreads the sum over the tokens again, or NULL. */
static VfNode *find_spread(VfValue *sum, VfDim tokens, VfValue **query)
{
    for (int32_t i = 0; i < 4 && sum != NULL; i++) {
        VfValue *next = NULL;
        for (VfUse *use = sum->first_use; use != NULL; use = use->next) {
            VfValue *other = vf_other_in(use->node, use->slot);
            if (use->node->op == VF_OP_MUL && other != NULL && !vf_is_fixed(other)) {
                for (int32_t a = 0; a < other->type.rank; a++) {
                    if (vf_dim_is_same(other->type.dims[a], tokens)) {
                        *query = other;
                        return use->node;
                    }
                }
            }
            if (use->slot == 0 && vf_is_mover(use->node))
                next = vf_node_out(use->node, 0);
        }
        sum = next;
    }
    return NULL;
}

VfStatus vf_match_additive(VfScan *scan, VfNode *node, VfErr *err)
{
    int64_t axis[VF_AXIS_MAX];
    if (node->op != VF_OP_REDUCE_SUM || scan->is_taken[node->id] || vf_reduce_axes(node, axis) != 1)
        return VF_OK;
    VfNode *mul = vf_def_if(vf_node_in(node, 0), VF_OP_MUL);
    if (mul == NULL ||
        (vf_axis_role(scan->axes, vf_node_out(mul, 0), (int32_t)axis[0]) & VF_ROLE_TOKEN) == 0)
        return VF_OK;
    for (int32_t i = 0; i < 2; i++) {
        VfValue *weight = vf_node_in(mul, i), *x = vf_node_in(mul, 1 - i), *query;
        VfDim tokens = vf_dim_at(x, (int32_t)axis[0]);
        VfDim w = vf_value_count(scan->model->symbols, weight),
              n = vf_value_count(scan->model->symbols, x);
        bool is_larger = vf_dim_is_known(w) && vf_dim_is_known(n) && w.k > n.k;
        if (weight == NULL || x == NULL || vf_dim_is_same(w, n) || is_larger ||
            !vf_dim_is_same(tokens, vf_dim_at(weight, (int32_t)axis[0])))
            continue;
        VfNode *spread = find_spread(vf_node_out(node, 0), tokens, &query);
        if (spread == NULL || !is_made_by_layer(weight))
            continue;
        VfAttention *site = vf_scan_add(scan, VF_ATTENTION_LINEAR, spread);
        VF_TRY_ALLOC(site, err);
        site->q = x;
        site->k = weight;
        site->v = query;
        site->value_node = spread;
        site->out = vf_node_out(spread, 0);
        site->n_q = site->n_k = tokens;
        site->heads = site->windows = vf_dim(1);
        return VF_OK;
    }
    return VF_OK;
}
