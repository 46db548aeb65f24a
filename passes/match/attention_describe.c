/* What stands around the scores: operands, scale factors, biases and masks. */
#include "passes/match/attention_parts.h"

#include <math.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"

enum { SCALE_WALK_MAX = 24 };

static void add_scale(VfAttention *site, VfNode *node, double factor, VfValue *by)
{
    if (site->n_scale_node < VF_ATTENTION_TERM_MAX)
        site->scale_node[site->n_scale_node++] = node;
    if (!isnan(factor))
        site->scale *= factor;
    else if (site->scale_value == NULL)
        site->scale_value = by;
}

/* Collect scale factors on an operand of the scores, up to its projection. */
static void scale_of_operand(VfAttention *site, VfValue *value)
{
    for (int32_t i = 0; i < SCALE_WALK_MAX && value != NULL && value->kind == VF_VALUE_RESULT;
         i++) {
        VfNode *node = value->def;
        int32_t slot = 0;
        double factor;
        VfValue *by;
        if (vf_is_scale(node, &slot, &factor, &by))
            add_scale(site, node, factor, by);
        else if (!vf_is_mover(node))
            return;
        value = vf_node_in(node, slot);
    }
}

/* The operand before casts, the swap of the last two axes and, of queries and keys, scaling. */
static VfValue *bare_operand(VfValue *value, bool is_scaled)
{
    for (int32_t i = 0; i < SCALE_WALK_MAX && value != NULL && value->kind == VF_VALUE_RESULT;
         i++) {
        int32_t slot = 0;
        double factor;
        VfNode *node = value->def;
        bool is_scale = is_scaled && vf_is_scale(node, &slot, &factor, NULL);
        if (!is_scale && !vf_is_carrier(node) && !vf_is_swap_last_two(node))
            return value;
        value = vf_node_in(node, slot);
    }
    return value;
}

/* --- terms --- */

/* Lowest element of a constant, also behind movers; NaN when not constant. */
static double lowest_of(VfValue *value)
{
    double low, high;
    return vf_const_range(vf_skip_movers(value), &low, &high) ? low : (double)NAN;
}

/* The same of what is taken away. */
static double lowest_of_taken(VfValue *value)
{
    double low, high;
    return vf_const_range(vf_skip_movers(value), &low, &high) ? -high : (double)NAN;
}

static void add_term(VfAttention *site, VfNode *node, int32_t slot, VfValue *value, bool is_mask,
                     double lowest)
{
    if (site->n_term == VF_ATTENTION_TERM_MAX || value == NULL)
        return;
    VfLogitTerm *term = &site->term[site->n_term++];
    *term = vf_make_term(node, slot, value, is_mask, lowest);
    double low, high;
    bool is_nothing =
        vf_const_range(vf_skip_movers(value), &low, &high) && low == 0.0 && high == 0.0;
    site->has_bias = site->has_bias || (!term->is_mask && !is_nothing);
}

static void describe_step(VfAttention *site, VfNode *node, int32_t slot, int32_t axis)
{
    int32_t scaled;
    double factor;
    VfValue *by;
    if (vf_is_scale(node, &scaled, &factor, &by) && scaled == slot) {
        add_scale(site, node, factor, by);
        return;
    }
    VfValue *other = vf_other_in(node, slot);
    switch (node->op) {
    case VF_OP_MUL:
    case VF_OP_DIV:
        if (other != NULL && vf_is_same_along(other, node, axis))
            add_scale(site, node, (double)NAN, other);
        else
            add_term(site, node, slot, other, false, (double)NAN);
        return;
    case VF_OP_SUB:
        add_term(site, node, slot, other, false,
                 slot == 0 ? lowest_of_taken(other) : lowest_of(other));
        return;
    case VF_OP_ADD:
    case VF_OP_MAX:
        add_term(site, node, slot, other, false, lowest_of(other));
        return;
    case VF_OP_WHERE:
        add_term(site, node, slot, vf_node_in(node, 0), true,
                 lowest_of(vf_node_in(node, slot == 1 ? 2 : 1)));
        return;
    default:
        return;
    }
}

/* Steps from the product towards the logits. */
static void describe_path(const VfScores *scores, VfAttention *site)
{
    const VfPath *path = &scores->path;
    for (int32_t i = path->n - 1; i >= 0; i--)
        if (!vf_describe_shift(path, i, site))
            describe_step(site, path->node[i], path->slot[i], path->axis[i]);
}

/* --- cross attention --- */

enum { STREAM_MAX = 96 };

/* Values on the way up along first run-time operands; the stream a projection reads. */
static int32_t stream_of(VfValue *value, VfValue **list)
{
    int32_t n = 0;
    while (value != NULL && n < STREAM_MAX) {
        list[n++] = value;
        VfNode *node = value->kind == VF_VALUE_RESULT ? value->def : NULL;
        VfValue *next = NULL;
        for (int32_t i = 0; node != NULL && i < node->n_in && next == NULL; i++) {
            VfValue *in = vf_node_in(node, i);
            next = in != NULL && !vf_is_fixed(in) ? in : NULL;
        }
        value = next;
    }
    return n;
}

static bool have_common_stream(VfValue *a, VfValue *b)
{
    VfValue *list_a[STREAM_MAX], *list_b[STREAM_MAX];
    int32_t n_a = stream_of(a, list_a), n_b = stream_of(b, list_b);
    for (int32_t i = 0; i < n_a; i++) {
        for (int32_t j = 0; j < n_b; j++) {
            if (list_a[i] == list_b[j])
                return true;
        }
    }
    return false;
}

static bool differ(VfDim a, VfDim b)
{
    return vf_dim_is_known(a) && vf_dim_is_known(b) && a.k != b.k;
}

/* --- all of it --- */

static void describe_values(const VfValues *values, VfAttention *site)
{
    const VfProduct *p = &values->product;
    site->value_node = values->node;
    site->probs = values->probs;
    site->out = vf_node_out(values->node, 0);
    site->v = bare_operand(values->v, false);
    site->gain = vf_gain_of(site);
    if (p->n_in == 0)
        return;
    for (int32_t a = 0; a < p->rank[values->value_in]; a++) {
        int8_t letter = p->letter[values->value_in][a];
        if (vf_product_axis(p, values->probs_in, letter) < 0 && vf_product_out_axis(p, letter) >= 0)
            site->d_v = vf_dim_at(p->in[values->value_in], a);
    }
}

VfStatus vf_describe_scores(VfScan *scan, const VfScores *scores, const VfValues *values,
                            VfAttention *site, VfErr *err)
{
    (void)err;
    const VfProduct *p = &scores->product;
    site->score_node = p->node;
    site->raw_scores = p->out;
    VfValue *query = p->in[scores->query_in], *key = p->in[scores->key_in];
    site->q = bare_operand(query, true);
    site->k = bare_operand(key, true);
    scale_of_operand(site, query);
    scale_of_operand(site, key);
    if (p->node->op == VF_OP_MS_FUSED_MATMUL || p->node->op == VF_OP_MS_TRANSPOSE_MATMUL)
        site->scale *= vf_node_float(p->node, "alpha");
    describe_path(scores, site);
    if (values != NULL)
        describe_values(values, site);
    vf_describe_axes(scan, scores, site);
    vf_describe_mask(scan, site);
    site->is_cross =
        differ(site->n_q, site->n_k) || vf_is_fixed(site->q) || !have_common_stream(query, key);
    return VF_OK;
}
