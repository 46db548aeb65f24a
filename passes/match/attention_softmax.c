/* Attention with a softmax: which of SOFTMAX and OTHER it is, or why it is no attention. */
#include "passes/match/attention_parts.h"

#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/match/pattern.h"

/* --- normalisers --- */

/* exp(x) / sum(exp(x)), x perhaps with its maximum subtracted. */
static const VfPattern exp_part = VF_PAT_OP1(EXP, VF_PAT_ANY(1));
static const VfPattern exp_sum = {
    .kind = VF_PATTERN_OP, .op = VF_OP_REDUCE_SUM, .slot = 2, .n_in = 1, .in = {&exp_part}};
static const VfPattern exp_share = VF_PAT_OP2(DIV, &exp_part, &exp_sum);
static const VfPattern exp_inverse = VF_PAT_OP1(RECIPROCAL, &exp_sum);
static const VfPattern exp_scaled = VF_PAT_OP2(MUL, &exp_part, &exp_inverse);
static const VfPattern written_out = VF_PAT_ALT2(&exp_share, &exp_scaled);
static const VfPattern max_part = VF_PAT_OP1(REDUCE_MAX, VF_PAT_ANY(1));
static const VfPattern centred = VF_PAT_OP2(SUB, VF_PAT_ANY(1), &max_part);

/* A normaliser over one axis: Softmax, BiasSoftmax, or Exp/ReduceSum/Div written out. */
typedef struct Normaliser {
    VfNode *node;    /* makes the probabilities */
    VfValue *logits; /* operand before any subtraction of the maximum */
    VfValue *probs;
    int64_t axis;  /* as stated; negative from the end */
    VfValue *bias; /* BiasSoftmax: what it adds, NULL otherwise */
    bool is_flat;  /* old opset: axes from `axis` on are normalised over together */
} Normaliser;

static bool written_out_of(VfNode *node, Normaliser *norm)
{
    VfMatch match, inner;
    int64_t axis[VF_AXIS_MAX];
    if (node->op != VF_OP_DIV && node->op != VF_OP_MUL)
        return false;
    if (!vf_pattern_match(&written_out, vf_node_out(node, 0), &match))
        return false;
    const VfNode *sum = match.slot[2]->def;
    if (vf_reduce_axes(sum, axis) != 1 || vf_node_int(sum, "keepdims") == 0)
        return false;
    norm->axis = axis[0];
    norm->logits = match.slot[1];
    if (vf_pattern_match_open(&centred, norm->logits, &inner) &&
        vf_is_same_along(vf_node_in(norm->logits->def, 1), norm->logits->def,
                         vf_axis_of(axis[0], norm->logits->type.rank)))
        norm->logits = inner.slot[1];
    return true;
}

static bool normaliser_of(VfNode *node, Normaliser *norm)
{
    *norm = (Normaliser){.node = node, .probs = vf_node_out(node, 0)};
    if (norm->probs == NULL)
        return false;
    if (node->op != VF_OP_SOFTMAX && node->op != VF_OP_MS_BIAS_SOFTMAX)
        return written_out_of(node, norm);
    norm->logits = vf_node_in(node, 0);
    norm->axis = vf_node_int(node, "axis");
    norm->is_flat =
        node->op == VF_OP_MS_BIAS_SOFTMAX || vf_graph_opset(node->graph, node->domain) < 13;
    if (node->op == VF_OP_MS_BIAS_SOFTMAX)
        norm->bias = vf_node_in(node, 1);
    return norm->logits != NULL;
}

/* Several axes normalised over together? */
static bool is_flattening(const Normaliser *norm, int32_t axis)
{
    const VfType *type = &norm->logits->type;
    for (int32_t a = axis + 1; norm->is_flat && a < type->rank; a++) {
        if (!vf_dim_is(type->dims[a], 1))
            return true;
    }
    return false;
}

/* --- facts --- */

/* The value before movers, scalings, constant offsets and cuts: a projection's own result, when
 * `*is_projection`. */
static VfValue *source_of(VfValue *value, bool *is_projection)
{
    *is_projection = false;
    for (int32_t i = 0; i < 32 && value != NULL && value->kind == VF_VALUE_RESULT; i++) {
        VfNode *def = value->def;
        VfProduct p;
        int32_t slot = 0;
        double factor;
        if (vf_product_of(def, &p) || def->op == VF_OP_CONV) {
            *is_projection = vf_is_fixed(vf_node_in(def, 1)) || vf_is_fixed(vf_node_in(def, 0));
            return value;
        }
        bool is_cut = def->op == VF_OP_SPLIT || def->op == VF_OP_SLICE || def->op == VF_OP_GATHER ||
                      def->op == VF_OP_BATCH_NORMALIZATION || vf_is_mover(def);
        if (def->op == VF_OP_ADD && vf_is_fixed(vf_node_in(def, 0)))
            slot = 1;
        bool is_offset = def->op == VF_OP_ADD && vf_is_fixed(vf_other_in(def, slot));
        if (!is_cut && !is_offset && !vf_is_scale(def, &slot, &factor, NULL))
            return value;
        value = vf_node_in(def, slot);
    }
    return value;
}

/* Keys of a constant query that were projected for themselves, apart from the values. */
static bool has_own_keys(const VfScores *scores, const VfValues *values)
{
    bool k_is_projection, v_is_projection;
    VfValue *key = scores->product.in[scores->key_in];
    if (vf_skip_movers(key) == vf_skip_movers(values->v))
        return false;
    source_of(key, &k_is_projection);
    source_of(values->v, &v_is_projection);
    return k_is_projection && v_is_projection;
}

/* A "constant query" that is just the weights of the layer in front: neither its own keys nor the
 * values' tokens. */
static bool is_linear_layer(const VfScores *scores, const VfValues *values)
{
    const VfValue *key =
        scores->rank == VF_SCORE_CONST_QUERY ? scores->product.in[scores->key_in] : NULL;
    if (key == NULL || values->v == NULL || has_own_keys(scores, values))
        return false;
    return vf_skip_movers(scores->product.in[scores->key_in]) != vf_skip_movers(values->v);
}

/* --- decision --- */

/* The reason that a softmax between products is OTHER, in the scan's arena; NULL: it is SOFTMAX. */
static VfStatus why_other(const VfScan *scan, const Normaliser *norm, const VfScores *scores,
                          const VfValues *values, const char **why, VfErr *err)
{
    bool is_before = values->mixer == NULL && scores->rank == VF_SCORE_MIXED;
    const VfNode *mixer = is_before ? scores->mixer : values->mixer;
    *why = NULL;
    if (mixer != NULL) {
        *why = vf_arena_printf(
            scan->arena, "'%s' changes the %s (talking heads or a gate)", vf_node_label(mixer),
            is_before ? "scores before the softmax" : "probabilities before they meet the values");
        VF_TRY_ALLOC(*why, err);
    } else if (scores->product.node->graph != norm->node->graph ||
               values->node->graph != norm->node->graph) {
        *why = "its products and its softmax lie in different graphs";
    } else if (vf_score_axes(scan, scores) == VF_SCORES_CHANNELS) {
        *why = "channel attention: the scores sum over tokens and count channels";
    } else if (values->product.n_in == 0) {
        *why = "the values are weighted by Mul and summed by ReduceSum";
    } else if (scores->rank == VF_SCORE_CONST_QUERY && !has_own_keys(scores, values)) {
        *why = "pooling: a constant query on tokens that are also the values";
    }
    return VF_OK;
}

static VfStatus add_site(VfScan *scan, const Normaliser *norm, const VfScores *scores,
                         const VfValues *values, VfErr *err)
{
    const char *why;
    VF_TRY(why_other(scan, norm, scores, values, &why, err));
    VfAttention *site =
        vf_scan_add(scan, why ? VF_ATTENTION_OTHER : VF_ATTENTION_SOFTMAX, norm->node);
    VF_TRY_ALLOC(site, err);
    site->why = why;
    site->logits = norm->logits;
    site->key_axis = vf_axis_of(norm->axis, norm->logits->type.rank);
    VF_TRY(vf_describe_scores(scan, scores, values, site, err));
    if (norm->bias != NULL && site->n_term < VF_ATTENTION_TERM_MAX) {
        double low = (double)NAN, high;
        (void)vf_const_range(vf_skip_movers(norm->bias), &low, &high);
        VfLogitTerm *term = &site->term[site->n_term++];
        *term = vf_make_term(norm->node, 0, norm->bias, false, low);
        site->has_bias = site->has_bias || !term->is_mask;
        vf_describe_mask(scan, site);
    }
    scan->is_taken[values->node->id] = true;
    scan->is_taken[scores->product.node->id] = true;
    if (why == NULL)
        return VF_OK;
    return vf_scan_miss(scan, norm->node, "softmax-attention", err, "'%s' (%s): %s",
                        vf_node_label(norm->node), vf_scan_type(scan, norm->logits), why);
}

/* A softmax whose scores are no product: weights over tokens pool them, others are gates. */
static VfStatus add_pooling(VfScan *scan, const Normaliser *norm, const VfValues *values,
                            int32_t axis, VfErr *err)
{
    VfAttention *site = vf_scan_add(scan, VF_ATTENTION_OTHER, norm->node);
    VF_TRY_ALLOC(site, err);
    site->why = "weights over tokens made without a product of queries and keys";
    site->logits = norm->logits;
    site->key_axis = axis;
    site->v = values->v;
    site->value_node = values->node;
    site->probs = values->probs;
    site->out = vf_node_out(values->node, 0);
    site->n_k = norm->logits->type.dims[axis];
    scan->is_taken[values->node->id] = true;
    return vf_scan_miss(scan, norm->node, "softmax-attention", err, "'%s' (%s): %s",
                        vf_node_label(norm->node), vf_scan_type(scan, norm->logits), site->why);
}

static VfStatus miss_values(VfScan *scan, const Normaliser *norm, int32_t axis,
                            const VfValues *values, VfErr *err)
{
    if (values->stop != NULL)
        return vf_scan_miss(scan, norm->node, "softmax-attention", err,
                            "no product with values sums over axis %d of '%s': '%s' %s", axis,
                            vf_node_label(norm->node), vf_node_label(values->stop),
                            values->stop_why);
    return vf_scan_miss(scan, norm->node, "softmax-attention", err,
                        "no node multiplies the result of '%s' (%s) with values: class "
                        "probabilities or an unused result",
                        vf_node_label(norm->node), vf_scan_type(scan, norm->logits));
}

static VfStatus miss_scores(VfScan *scan, const Normaliser *norm, const VfScores *scores,
                            VfErr *err)
{
    if (scores->stop != NULL)
        return vf_scan_miss(scan, norm->node, "softmax-attention", err,
                            "what '%s' normalises (%s) is no product of queries and keys: '%s' %s",
                            vf_node_label(norm->node), vf_scan_type(scan, norm->logits),
                            vf_node_label(scores->stop), scores->stop_why);
    return vf_scan_miss(scan, norm->node, "softmax-attention", err,
                        "what '%s' normalises (%s) is no product of queries and keys",
                        vf_node_label(norm->node), vf_scan_type(scan, norm->logits));
}

VfStatus vf_match_softmax(VfScan *scan, VfNode *node, VfErr *err)
{
    Normaliser norm;
    VfScores scores;
    VfValues values;
    if (!normaliser_of(node, &norm))
        return VF_OK;
    int32_t axis = vf_axis_of(norm.axis, norm.logits->type.rank);
    if (axis < 0)
        return vf_scan_miss(scan, node, "softmax-attention", err,
                            "the rank of '%s', which '%s' normalises, is not known",
                            vf_value_label(norm.logits), vf_node_label(node));
    if (is_flattening(&norm, axis))
        return vf_scan_miss(scan, node, "softmax-attention", err,
                            "'%s' normalises over all axes from %d on of %s (the rule before opset "
                            "13), not over one axis of keys",
                            vf_node_label(node), axis, vf_scan_type(scan, norm.logits));
    vf_find_scores(scan, norm.logits, axis, &scores);
    vf_find_values(scan, norm.probs, axis, &values);
    if (values.node == NULL)
        return miss_values(scan, &norm, axis, &values, err);
    if (is_linear_layer(&scores, &values))
        scores.rank = VF_SCORE_NONE;
    if (scores.rank >= VF_SCORE_CONST_QUERY)
        return add_site(scan, &norm, &scores, &values, err);
    uint32_t role = vf_axis_role(scan->axes, norm.logits, axis);
    if (values.mixer == NULL && (role & VF_ROLE_TOKEN) != 0 && (role & VF_ROLE_CHANNEL) == 0)
        return add_pooling(scan, &norm, &values, axis, err);
    return miss_scores(scan, &norm, &scores, err);
}
