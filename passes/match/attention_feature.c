/* Feature maps φ, and the sums of weights that linear attention divides by. */
#include "passes/match/attention_parts.h"

#include "passes/match/facts.h"

enum { FEATURE_VISIT_MAX = 32, SUM_VISIT_MAX = 48, DIVISION_DEPTH_MAX = 8 };

/* --- feature maps --- */

/* Numbers that a mask or table gives: constant, or truth made a number. */
static bool is_fixed_or_mask(const VfValue *value)
{
    const VfNode *cast = vf_def_if(value, VF_OP_CAST);
    return vf_is_fixed(value) || (cast != NULL && vf_node_in(cast, 0)->type.dtype == VF_BOOL);
}

/* One number for several elements of the result, such as the norm of a token. */
static bool is_spread(const VfValue *value, const VfValue *out)
{
    int32_t shift = out->type.rank - value->type.rank;
    for (int32_t a = 0; a < value->type.rank && shift >= 0; a++) {
        if (vf_dim_is(value->type.dims[a], 1) && !vf_dim_is(out->type.dims[a + shift], 1))
            return true;
    }
    return false;
}

/* The operand that carries features on through masks, factors and an epsilon, or -1. */
static int32_t feature_slot(const VfNode *node)
{
    int32_t slot = 0;
    double number;
    if (vf_is_mover(node) || vf_is_scale(node, &slot, &number, NULL))
        return slot;
    for (slot = 0; slot < 2 && node->n_in == 2; slot++) {
        const VfValue *other = vf_node_in(node, 1 - slot);
        bool is_factor = node->op == VF_OP_MUL || (node->op == VF_OP_DIV && slot == 0);
        if (is_factor && (is_fixed_or_mask(other) || is_spread(other, vf_node_out(node, 0))))
            return slot;
        if (node->op == VF_OP_ADD && vf_scalar_of(other, &number))
            return slot;
    }
    return -1;
}

static bool is_feature(VfValue *value, int32_t *budget)
{
    VfValue *of;
    while (value->kind == VF_VALUE_RESULT && --*budget >= 0) {
        VfNode *node = value->def;
        int32_t slot = feature_slot(node);
        if (vf_pointwise_of(value, &of) != NULL)
            return true;
        if (slot < 0)
            return node->op == VF_OP_MUL && is_feature(vf_node_in(node, 0), budget) &&
                   is_feature(vf_node_in(node, 1), budget);
        value = vf_node_in(node, slot);
    }
    return false;
}

bool vf_has_feature_map(VfValue *value)
{
    int32_t budget = FEATURE_VISIT_MAX;
    return is_feature(value, &budget);
}

/* --- division by the sum of the weights --- */

typedef struct Sums {
    const VfValue *query, *weights, *out; /* what a sum of weights is made of */
    int32_t budget;
} Sums;

static bool is_made_of(Sums *sums, const VfValue *value)
{
    if (value == NULL || --sums->budget < 0)
        return false;
    if (value == sums->query || value == sums->weights || value == sums->out)
        return true;
    const VfNode *node = value->kind == VF_VALUE_RESULT ? value->def : NULL;
    for (int32_t i = 0; node != NULL && i < node->n_in; i++) {
        if (is_made_of(sums, vf_node_in(node, i)))
            return true;
    }
    return false;
}

static bool is_sum(Sums *sums, const VfValue *value)
{
    sums->budget = SUM_VISIT_MAX;
    return is_made_of(sums, value);
}

static bool divides(Sums *sums, const VfNode *node, int32_t slot)
{
    bool is_factor = node->op == VF_OP_MUL || (node->op == VF_OP_DIV && slot == 0);
    return is_factor && is_sum(sums, vf_other_in(node, slot));
}

/* Is `value`, or the part of it that a mover or Slice takes, divided? */
static bool is_divided_below(Sums *sums, const VfValue *value, int32_t depth)
{
    for (const VfUse *use = value->first_use; use != NULL; use = use->next) {
        const VfNode *node = use->node;
        bool goes_on = use->slot == 0 && (vf_is_mover(node) || node->op == VF_OP_SLICE ||
                                          node->op == VF_OP_SPLIT || node->op == VF_OP_SQUEEZE);
        if (divides(sums, node, use->slot))
            return true;
        for (int32_t i = 0; goes_on && i < node->n_out && depth < DIVISION_DEPTH_MAX; i++) {
            if (vf_node_out(node, i) != NULL &&
                is_divided_below(sums, vf_node_out(node, i), depth + 1))
                return true;
        }
    }
    return false;
}

bool vf_is_divided_by_sums(const VfProduct *p, int32_t operand, int32_t other, const VfScores *s,
                           const VfValue *query)
{
    Sums sums = {.query = query, .weights = s->product.out, .out = p->out};
    for (int32_t i = 0; i < s->path.n; i++) {
        if (divides(&sums, s->path.node[i], s->path.slot[i]))
            return true;
    }
    for (int32_t i = 0; i < p->n_in; i++) {
        if (i != operand && i != other && is_sum(&sums, p->in[i]))
            return true;
    }
    return is_divided_below(&sums, p->out, 0);
}
