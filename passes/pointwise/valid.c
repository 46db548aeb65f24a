/* L=valid: the number of keys that the masks leave to each row, a vector where there is one
 * constant mask, else counted at run time.
 *
 * Source: spec of the conversion passes, section 1.2.
 */
#include <math.h>

#include "passes/match/facts.h"
#include "passes/pointwise/scale.h"

/* An added number from `mask_level` down removes a key. */
static const double mask_level = VF_MASK_LEVEL;

enum { N_STEP_MAX = 16, EXPAND_OPSET = 8 };

/* The terms of a site that remove keys. */
typedef struct ValidMasks {
    int32_t n;
    const VfLogitTerm *term[VF_ATTENTION_TERM_MAX];
    bool is_viewed[VF_ATTENTION_TERM_MAX]; /* applied where the logits have other dims */
} ValidMasks;

/* --- finding them --- */

/* Does the Where fill places where its condition holds? */
static bool fills_where_true(const VfNode *node)
{
    return vf_where_const_slot(node) == 1;
}

/* The operand through which the scores go on upwards from a node that does not change which keys
 * there are; -1: another node. */
static int32_t score_slot(const VfAttention *site, const VfNode *node)
{
    int32_t slot = 0;
    double factor;
    for (int32_t i = 0; i < site->n_term; i++) {
        const VfLogitTerm *term = &site->term[i];
        if (term->node != node)
            continue;
        if (node->op == VF_OP_WHERE)
            return fills_where_true(node) ? 2 : 1;
        return vf_node_in(node, 0) == term->value ? 1 : 0;
    }
    return vf_is_scale(node, &slot, &factor, NULL) ? slot : -1;
}

/* Is `sum` the logits but for views, casts, scales and terms? `*is_viewed`: in other dims. */
static bool is_logits(const VfAttention *site, const VfValue *sum, const VfValue *logits,
                      bool *is_viewed)
{
    *is_viewed = false;
    for (int32_t i = 0; i < N_STEP_MAX && logits != NULL && logits != sum; i++) {
        const VfNode *node = logits->def;
        bool is_view = node != NULL && (node->op == VF_OP_RESHAPE || node->op == VF_OP_SQUEEZE ||
                                        node->op == VF_OP_UNSQUEEZE);
        int32_t slot = node == NULL                     ? -1
                       : is_view || vf_is_carrier(node) ? 0
                                                        : score_slot(site, node);
        if (slot < 0)
            return false;
        *is_viewed = *is_viewed || is_view;
        logits = vf_node_in(node, slot);
    }
    return logits == sum;
}

/* Why the masks cannot be counted, or NULL and all of them. */
static const char *find_masks(const VfAttention *site, const VfValue *logits, ValidMasks *masks)
{
    masks->n = 0;
    if (site->n_term == VF_ATTENTION_TERM_MAX)
        return "L=valid: too many terms are added to the scores";
    for (int32_t i = 0; i < site->n_term; i++) {
        const VfLogitTerm *term = &site->term[i];
        VfOp op = term->node->op;
        if (!vf_term_may_remove(term))
            continue;
        if (op != VF_OP_ADD && (op != VF_OP_WHERE || vf_where_const_slot(term->node) < 0))
            return "L=valid: a mask is neither added nor chosen by Where with a constant";
        if (!is_logits(site, vf_node_out(term->node, 0), logits, &masks->is_viewed[masks->n]))
            return "L=valid: something is done to the scores behind the mask";
        masks->term[masks->n++] = term;
    }
    if (masks->n > 0 && site->key_axis != logits->type.rank - 1)
        return "L=valid: the keys are not the last axis of the scores";
    return masks->n == 0 && site->mask != VF_MASK_NONE ? "L=valid: the mask was not found" : NULL;
}

/* One constant with an axis of all keys: then the factors are constants too. */
static bool is_static(const ValidMasks *masks, const VfValue *logits)
{
    const VfTensor *t = masks->n == 1 ? vf_value_const(masks->term[0]->value) : NULL;
    return t != NULL && t->rank >= 1 && t->rank <= VF_AXIS_MAX &&
           vf_dim_is(vf_dim_at(logits, -1), t->dims[t->rank - 1]);
}

const char *vf_relu_why_not_valid(const VfAttention *site, VfValue *logits)
{
    ValidMasks masks;
    const char *why = find_masks(site, logits, &masks);
    bool is_old = vf_graph_opset(site->graph, vf_bytes("")) < EXPAND_OPSET;
    if (why == NULL && masks.n > 0 && is_old && !is_static(&masks, logits))
        return "L=valid: the opset has no operators to count keys at run time";
    return why;
}

/* --- a constant mask --- */

/* gain max(1, L_i)^-alpha for each row of the mask. */
static VfValue *row_factors(VfRewrite *rw, VfArena *arena, const VfLogitTerm *mask,
                            const VfReluScale *scale, VfDtype dtype)
{
    const VfTensor *t = vf_value_const(mask->value);
    bool is_where = mask->node->op == VF_OP_WHERE;
    bool is_removed_by = is_where && fills_where_true(mask->node);
    int64_t dims[VF_AXIS_MAX];
    VfTensor *tensor = NULL;
    void *data = NULL;
    for (int32_t i = 0; i < t->rank && i < VF_AXIS_MAX; i++)
        dims[i] = i == t->rank - 1 ? 1 : t->dims[i];
    if (vf_tensor_new(arena, dtype, t->rank, dims, &tensor, &data, NULL) != VF_OK)
        return vf_rewrite_const(rw, NULL, "row_share");
    size_t n_key = (size_t)t->dims[t->rank - 1];
    for (size_t row = 0; row < tensor->count; row++) {
        double count = 0.0;
        for (size_t k = 0; k < n_key; k++) {
            double x = vf_tensor_get_double(t, row * n_key + k);
            bool is_set = is_where ? fabs(x) > 0.0 : x > mask_level;
            count += is_set != is_removed_by ? 1.0 : 0.0;
        }
        vf_tensor_put_double(data, dtype, row, scale->gain * pow(fmax(count, 1.0), -scale->alpha));
    }
    return vf_rewrite_const(rw, tensor, "row_share");
}

/* The mask may be added where windows are apart; the rows are scaled in those dims. */
static VfValue *scale_rows(VfRewrite *rw, const ValidMasks *masks, VfValue *logits,
                           VfValue *factors, VfValue *weights)
{
    VfValue *sum = vf_node_out(masks->term[0]->node, 0);
    if (!masks->is_viewed[0])
        return vf_rewrite_binary(rw, VF_OP_MUL, weights, factors);
    VfValue *apart =
        vf_rewrite_binary(rw, VF_OP_RESHAPE, weights, vf_rewrite_unary(rw, VF_OP_SHAPE, sum));
    VfValue *shape = vf_rewrite_unary(rw, VF_OP_SHAPE, logits);
    return vf_rewrite_binary(rw, VF_OP_RESHAPE, vf_rewrite_binary(rw, VF_OP_MUL, apart, factors),
                             shape);
}

/* --- at run time --- */

VfValue *vf_relu_scale_by_kept(VfRewrite *rw, const VfReluScale *scale, VfValue *kept,
                               VfValue *logits, VfValue *weights)
{
    static const int64_t keys[1] = {-1};
    if (logits == NULL)
        return NULL;
    VfDtype dtype = logits->type.dtype;
    if (!vf_dim_is_same(vf_dim_at(kept, -1), vf_dim_at(logits, -1)))
        kept = vf_rewrite_binary(rw, VF_OP_EXPAND, kept, vf_rewrite_unary(rw, VF_OP_SHAPE, logits));
    VfValue *count =
        vf_rewrite_reduce(rw, VF_OP_REDUCE_SUM, vf_rewrite_cast(rw, kept, dtype), 1, keys, true);
    count = vf_rewrite_binary(rw, VF_OP_MAX, count, vf_rewrite_scalar(rw, dtype, 1.0, "one_key"));
    VfValue *exponent = vf_rewrite_scalar(rw, dtype, -scale->alpha, "minus_alpha");
    VfValue *factors = vf_rewrite_binary(rw, VF_OP_POW, count, exponent);
    if (fabs(scale->gain - 1.0) > 0.0)
        factors = vf_rewrite_binary(rw, VF_OP_MUL, factors,
                                    vf_rewrite_scalar(rw, dtype, scale->gain, "gain"));
    return vf_rewrite_binary(rw, VF_OP_MUL, weights, factors);
}

/* True where mask `i` leaves the key, in dims that broadcast to those of the logits. */
static VfValue *kept_by(VfRewrite *rw, const ValidMasks *masks, int32_t i, VfValue *logits)
{
    const VfLogitTerm *term = masks->term[i];
    VfValue *kept = term->value;
    if (term->node->op == VF_OP_ADD)
        kept = vf_rewrite_binary(rw, VF_OP_GREATER, kept,
                                 vf_rewrite_scalar(rw, kept->type.dtype, mask_level, "mask_level"));
    else if (fills_where_true(term->node))
        kept = vf_rewrite_unary(rw, VF_OP_NOT, kept);
    if (!masks->is_viewed[i])
        return kept;
    VfValue *whole = vf_rewrite_unary(rw, VF_OP_SHAPE, vf_node_out(term->node, 0));
    VfValue *shape = vf_rewrite_unary(rw, VF_OP_SHAPE, logits);
    return vf_rewrite_binary(rw, VF_OP_RESHAPE, vf_rewrite_binary(rw, VF_OP_EXPAND, kept, whole),
                             shape);
}

VfValue *vf_relu_scale_valid(VfRewrite *rw, VfArena *arena, const VfAttention *site,
                             const VfReluScale *scale, VfValue *logits, VfValue *weights)
{
    ValidMasks masks;
    if (find_masks(site, logits, &masks) != NULL || masks.n == 0)
        return NULL;
    if (is_static(&masks, logits)) {
        VfDtype dtype = logits->type.dtype;
        return scale_rows(rw, &masks, logits, row_factors(rw, arena, masks.term[0], scale, dtype),
                          weights);
    }
    VfValue *kept = kept_by(rw, &masks, 0, logits);
    for (int32_t i = 1; i < masks.n; i++)
        kept = vf_rewrite_binary(rw, VF_OP_AND, kept, kept_by(rw, &masks, i, logits));
    return vf_relu_scale_by_kept(rw, scale, kept, logits, weights);
}

bool vf_relu_has_valid(const VfAttention *site, VfValue *logits)
{
    ValidMasks masks;
    return find_masks(site, logits, &masks) == NULL && masks.n > 0;
}
