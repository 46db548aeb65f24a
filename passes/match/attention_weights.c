/* From the weights to the product with the values. */
#include "passes/match/attention_parts.h"

#include <math.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"

enum { STEP_MAX = 24, DEPTH_MAX = 6 };

/* Operand of a step behind softmax or function that leads to it; -1: none that is known. */
static int32_t slot_up(const VfNode *node, double *factor)
{
    int32_t slot = 0;
    *factor = 1.0;
    if (vf_is_scale(node, &slot, factor, NULL))
        return slot;
    if (vf_is_nan_guard(node))
        return 2;
    *factor = 1.0;
    return vf_is_mover(node) ? 0 : -1;
}

static double alpha_of(const VfNode *node)
{
    bool has_alpha = node != NULL && vf_node_attr(node, "alpha") != NULL;
    return has_alpha ? vf_node_float(node, "alpha") : 1.0;
}

double vf_gain_of(const VfAttention *site)
{
    const VfValue *from = site->probs, *to = vf_node_out(site->norm_node, 0);
    double gain = alpha_of(site->value_node), factor;
    if (site->norm_node == site->value_node)
        return gain;
    for (int32_t i = 0; i < STEP_MAX && from != to; i++) {
        const VfNode *node = from != NULL && from->kind == VF_VALUE_RESULT ? from->def : NULL;
        int32_t slot = node != NULL ? slot_up(node, &factor) : -1;
        if (slot < 0)
            return (double)NAN;
        gain *= factor;
        from = vf_node_in(node, slot);
    }
    return from == to ? gain : (double)NAN;
}

/* Is the use that of a guard against NaN, whose result is read as the weights? */
static bool is_guard_of(const VfUse *use, const VfNode *reader)
{
    const VfNode *user = use->node;
    return user->op == VF_OP_IS_NAN && vf_is_nan_guard(reader) &&
           vf_node_in(reader, 0) == vf_node_out(user, 0) &&
           vf_value_single_user(vf_node_out(user, 0)) == reader;
}

/* Does the use lead to a product, or further down than is looked? Outputs and shapes do not. */
static bool leads_to_values(const VfUse *use, int32_t depth)
{
    VfNode *user = use->node;
    VfProduct p;
    if (user->op == VF_OP_RETURN || user->op == VF_OP_SHAPE)
        return false;
    bool is_weighing = user->op == VF_OP_MUL && !vf_is_fixed(vf_other_in(user, use->slot));
    if (depth == 0 || is_weighing || vf_product_of(user, &p))
        return true;
    for (int32_t i = 0; i < user->n_out; i++) {
        const VfValue *out = vf_node_out(user, i);
        for (const VfUse *next = out != NULL ? out->first_use : NULL; next; next = next->next)
            if (leads_to_values(next, depth - 1))
                return true;
    }
    return false;
}

static bool is_read_elsewhere(const VfValue *value, const VfNode *reader, VfWeightReaders which)
{
    for (const VfUse *use = value->first_use; use != NULL; use = use->next) {
        bool is_other = use->node != reader && !is_guard_of(use, reader);
        if (is_other && (which == VF_ALL_READERS || leads_to_values(use, DEPTH_MAX)))
            return true;
    }
    return false;
}

bool vf_attention_shares_weights(const VfAttention *site, VfWeightReaders which)
{
    const VfValue *value = site->probs, *first = vf_node_out(site->norm_node, 0);
    const VfNode *reader = site->value_node;
    double factor;
    for (int32_t i = 0; i < STEP_MAX && value != NULL; i++) {
        if (is_read_elsewhere(value, reader, which))
            return true;
        reader = value->kind == VF_VALUE_RESULT ? value->def : NULL;
        if (value == first || reader == NULL || reader == site->norm_node)
            return false;
        int32_t slot = slot_up(reader, &factor);
        value = vf_node_in(reader, slot > 0 ? slot : 0);
    }
    return false;
}
