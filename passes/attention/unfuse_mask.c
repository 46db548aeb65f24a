/* The masks of fused operators: integers that tell which keys are seen, numbers or flags put on the
 * scores, the causal flag, and windows.
 */
#include <math.h>

#include "passes/attention/unfuse.h"
#include "passes/attention/unfuse_form.h"
#include "passes/ir/attr.h"
#include "passes/match/facts.h"

/* An added number from `mask_level` down removes a key; a function that is not a number at -inf is
 * zero at `finite_mask`. */
static const double mask_level = VF_MASK_LEVEL, finite_mask = VF_MASK_FINITE;

enum { TRILU_OPSET = 14 };

/* The mask or bias that is added to the scores; NULL: none, or flags. */
static VfValue *added_of(const VfAttention *site)
{
    VfValue *x = vf_fused_in(site->norm_node, vf_fused_form(site->norm_node->op)->added);
    return x != NULL && x->type.dtype != VF_BOOL ? x : NULL;
}

static VfValue *flags_of(const VfAttention *site)
{
    VfValue *x = vf_fused_in(site->norm_node, vf_fused_form(site->norm_node->op)->added);
    return x != NULL && x->type.dtype == VF_BOOL ? x : NULL;
}

/* Run-time numbers may be a mask, unless they are made like a bias. */
static bool may_hold_mask(const VfAttention *site)
{
    const VfValue *added = added_of(site);
    double low, high;
    if (added == NULL || vf_const_range(added, &low, &high))
        return added != NULL && !(low > mask_level);
    for (int32_t i = 0; i < site->n_term; i++)
        if (site->term[i].value == added)
            return site->term[i].is_mask || !site->term[i].is_bias;
    return true;
}

bool vf_unfuse_may_remove(const VfAttention *site)
{
    const VfNode *node = site->norm_node;
    int64_t window[2];
    return may_hold_mask(site) || flags_of(site) != NULL || vf_fused_is_causal(node) ||
           vf_unfuse_seen_form(node) != VF_SEEN_NONE || vf_fused_window(node, window);
}

static bool is_row(const VfValue *mask)
{
    return mask == NULL || mask->type.rank < 2 || vf_dim_is(vf_dim_at(mask, -2), 1);
}

bool vf_unfuse_removes_by_key(const VfAttention *site)
{
    const VfNode *node = site->norm_node;
    const VfValue *added = added_of(site);
    int64_t window[2];
    return (!may_hold_mask(site) || is_row(added)) && is_row(flags_of(site)) &&
           !vf_fused_is_causal(node) && vf_unfuse_seen_form(node) != VF_SEEN_PAIRS &&
           !vf_fused_window(node, window);
}

/* --- flags of keys that are seen --- */

/* 0, 1, ... along `axis` of `scores`. */
static VfValue *places(VfRewrite *rw, VfValue *scores, int64_t axis)
{
    VfValue *shape = vf_rewrite_unary(rw, VF_OP_SHAPE, scores);
    VfValue *end = vf_rewrite_binary(rw, VF_OP_GATHER, shape,
                                     vf_rewrite_scalar(rw, VF_I64, (double)axis, "axis"));
    VfValue *in[] = {vf_rewrite_scalar(rw, VF_I64, 0.0, "first"), end,
                     vf_rewrite_scalar(rw, VF_I64, 1.0, "step")};
    return vf_rewrite_node(rw, VF_OP_RANGE, 3, in);
}

/* How many keys come before the first query's, as an i64 scalar; NULL: none. */
static VfValue *count_past(VfRewrite *rw, const VfAttention *site)
{
    const VfValue *past = vf_fused_past(site->norm_node);
    if (past == NULL)
        return NULL;
    VfDim n = vf_dim_at(past, -2);
    if (vf_dim_is_known(n))
        return vf_rewrite_scalar(rw, VF_I64, (double)n.k, "n_past");
    VfValue *shape = vf_rewrite_unary(rw, VF_OP_SHAPE, vf_fused_past(site->norm_node));
    return vf_rewrite_binary(rw, VF_OP_GATHER, shape,
                             vf_rewrite_scalar(rw, VF_I64, past->type.rank - 2, "axis"));
}

/* Places of the queries among the keys, one below the other. */
static VfValue *query_places(VfRewrite *rw, const VfAttention *site, VfValue *scores)
{
    static const int64_t down[1] = {1};
    VfValue *query = vf_rewrite_unsqueeze(rw, places(rw, scores, 2), 1, down);
    VfValue *n_past = count_past(rw, site);
    return n_past != NULL ? vf_rewrite_binary(rw, VF_OP_ADD, query, n_past) : query;
}

/* True where the key does not come after the query. */
static VfValue *causal_keys(VfRewrite *rw, const VfAttention *site, VfValue *scores)
{
    if (vf_graph_opset(site->graph, vf_bytes("")) < TRILU_OPSET) {
        VfValue *query = query_places(rw, site, scores);
        VfValue *after = vf_rewrite_binary(rw, VF_OP_GREATER, places(rw, scores, 3), query);
        return vf_rewrite_unary(rw, VF_OP_NOT, after);
    }
    VfValue *n_past = count_past(rw, site);
    VfValue *shape = vf_rewrite_slice(rw, vf_rewrite_unary(rw, VF_OP_SHAPE, scores), 0, 2, 4);
    VfValue *one = vf_rewrite_scalar(rw, VF_BOOL, 1.0, "kept");
    VfValue *in[2] = {vf_rewrite_binary(rw, VF_OP_EXPAND, one, shape), n_past};
    VfValue *lower = vf_rewrite_node(rw, VF_OP_TRILU, n_past != NULL ? 2 : 1, in);
    vf_rewrite_int(rw, "upper", 0);
    return lower;
}

/* True where the key is within the window of the query. */
static VfValue *window_keys(VfRewrite *rw, const VfAttention *site, VfValue *scores,
                            const int64_t window[2])
{
    VfValue *query = query_places(rw, site, scores), *key = places(rw, scores, 3), *all = NULL;
    for (int32_t side = 0; side < 2; side++) {
        if (window[side] < 0)
            continue;
        double reach = (double)(side == 0 ? -window[side] : window[side]);
        VfValue *bound = vf_rewrite_binary(rw, VF_OP_ADD, query,
                                           vf_rewrite_scalar(rw, VF_I64, reach, "reach"));
        VfOp op = side == 0 ? VF_OP_LESS : VF_OP_GREATER;
        VfValue *kept =
            vf_rewrite_unary(rw, VF_OP_NOT, vf_rewrite_binary(rw, op, key, bound));
        all = all == NULL ? kept : vf_rewrite_binary(rw, VF_OP_AND, all, kept);
    }
    return all;
}

/* Keys before `end` of each image, and from `start` on. */
static VfValue *keys_between(VfRewrite *rw, VfValue *seen, VfValue *scores, bool has_start)
{
    static const int64_t apart[5] = {2, -1, 1, 1, 1}, one[4] = {-1, 1, 1, 1}, first[1] = {0};
    VfValue *place = places(rw, scores, 3), *bound = vf_rewrite_cast(rw, seen, VF_I64);
    if (!has_start)
        return vf_rewrite_binary(rw, VF_OP_LESS, place, vf_rewrite_reshape(rw, bound, 4, one));
    bound = vf_rewrite_reshape(rw, bound, 5, apart);
    VfValue *end = vf_rewrite_squeeze(rw, vf_rewrite_slice(rw, bound, 0, 0, 1), 1, first);
    VfValue *start = vf_rewrite_squeeze(rw, vf_rewrite_slice(rw, bound, 0, 1, 2), 1, first);
    VfValue *before =
        vf_rewrite_unary(rw, VF_OP_NOT, vf_rewrite_binary(rw, VF_OP_LESS, place, start));
    return vf_rewrite_binary(rw, VF_OP_AND, vf_rewrite_binary(rw, VF_OP_LESS, place, end), before);
}

static VfValue *seen_keys(VfRewrite *rw, const VfAttention *site, VfValue *scores)
{
    static const int64_t keys[2] = {1, 2}, pairs[1] = {1};
    VfValue *seen = vf_fused_in(site->norm_node, vf_fused_form(site->norm_node->op)->seen);
    VfSeenForm form = vf_unfuse_seen_form(site->norm_node);
    if (form == VF_SEEN_LAST)
        seen = vf_rewrite_binary(rw, VF_OP_ADD, seen,
                                 vf_rewrite_scalar(rw, seen->type.dtype, 1.0, "one"));
    if (form == VF_SEEN_END || form == VF_SEEN_END_START || form == VF_SEEN_LAST)
        return keys_between(rw, seen, scores, form == VF_SEEN_END_START);
    VfValue *zero = vf_rewrite_scalar(rw, seen->type.dtype, 0.0, "unseen");
    VfValue *flags = vf_rewrite_binary(rw, VF_OP_GREATER, seen, zero);
    return form == VF_SEEN_KEYS ? vf_rewrite_unsqueeze(rw, flags, 2, keys)
                                : vf_rewrite_unsqueeze(rw, flags, 1, pairs);
}

/* What the operator removes by flags: fills x->kept once. */
static void build_kept(VfUnfused *x, VfValue *scores)
{
    const VfAttention *site = x->site;
    int64_t window[2];
    if (x->has_kept)
        return;
    x->has_kept = true;
    if (flags_of(site) != NULL)
        x->kept[x->n_kept++] = flags_of(site);
    if (vf_unfuse_seen_form(site->norm_node) != VF_SEEN_NONE)
        x->kept[x->n_kept++] = seen_keys(x->rw, site, scores);
    if (vf_fused_is_causal(site->norm_node))
        x->kept[x->n_kept++] = causal_keys(x->rw, site, scores);
    if (vf_fused_window(site->norm_node, window))
        x->kept[x->n_kept++] = window_keys(x->rw, site, scores, window);
}

static VfValue *kept_by_added(VfRewrite *rw, VfValue *added)
{
    return vf_rewrite_binary(rw, VF_OP_GREATER, added,
                             vf_rewrite_scalar(rw, added->type.dtype, mask_level, "mask_level"));
}

VfValue *vf_unfuse_kept(VfUnfused *x, VfValue *scores)
{
    VfValue *added = added_of(x->site);
    build_kept(x, scores);
    VfValue *all = may_hold_mask(x->site) ? kept_by_added(x->rw, added) : NULL;
    for (int32_t i = 0; i < x->n_kept; i++)
        all = all == NULL ? x->kept[i] : vf_rewrite_binary(x->rw, VF_OP_AND, all, x->kept[i]);
    return all;
}

/* --- logits --- */

static VfValue *remove_keys(const VfUnfused *x, VfMaskNeed need, VfValue *kept, VfValue *scores)
{
    static const double fill[] = {[VF_MASK_NEEDS_NOTHING] = -(double)INFINITY,
                                  [VF_MASK_NEEDS_FINITE] = finite_mask,
                                  [VF_MASK_NEEDS_ZERO] = 0.0};
    VfValue *in[] = {kept, scores, vf_rewrite_scalar(x->rw, x->dtype, fill[need], "removed")};
    return vf_rewrite_node(x->rw, VF_OP_WHERE, 3, in);
}

VfValue *vf_unfuse_logits(VfUnfused *x, VfValue *scores, VfMaskNeed need)
{
    VfRewrite *rw = x->rw;
    VfValue *added = added_of(x->site), *logits = scores;
    build_kept(x, scores);
    if (added != NULL)
        logits = vf_rewrite_binary(rw, VF_OP_ADD, logits, added);
    if (may_hold_mask(x->site) && need == VF_MASK_NEEDS_FINITE)
        logits = vf_rewrite_clip(rw, logits, finite_mask, (double)INFINITY);
    if (may_hold_mask(x->site) && need == VF_MASK_NEEDS_ZERO)
        logits = remove_keys(x, need, kept_by_added(rw, added), logits);
    for (int32_t i = 0; i < x->n_kept; i++)
        logits = remove_keys(x, need, x->kept[i], logits);
    return logits;
}
