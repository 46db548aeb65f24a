/* Masks keep their meaning: a removed key has weight zero whatever function stands in for softmax.
 *
 * Source: spec of the conversion passes, sections 1.1 (mask safety) and 1.4.
 */
#include <math.h>

#include "passes/match/facts.h"
#include "passes/pointwise/act.h"

/* An added number from `mask_level` down removes a key; below `endless` it may as well be -inf,
 * also because a score can push it there. A finite number that every function takes to zero stands
 * for both. */
static const double mask_level = VF_MASK_LEVEL, endless = -1e30, finite_mask = VF_MASK_FINITE;

enum { WHERE_OPSET = 9 };

/* --- constants made from constants --- */

static double to_finite(double x)
{
    return x < endless ? finite_mask : x;
}

static double to_kept(double x)
{
    return x > mask_level ? 1.0 : 0.0;
}

static double to_zero(double x)
{
    (void)x;
    return 0.0;
}

/* A constant like `from` with each element changed. */
static VfValue *map_const(VfMaskGuard *guard, const VfTensor *from, VfDtype dtype,
                          double (*change)(double))
{
    return vf_rewrite_const(guard->rw, vf_tensor_map(guard->arena, from, dtype, change), "mask");
}

/* --- what a term is --- */

/* Max with one low number bounds the logits from below; it removes nothing by itself. */
static bool is_clamp(const VfLogitTerm *term)
{
    return term->node->op == VF_OP_MAX;
}

/* Operand of an Add that is the term. */
static int32_t term_slot(const VfLogitTerm *term)
{
    return vf_node_in(term->node, 0) == term->value ? 0 : 1;
}

/* Does anything but this site read the logits behind the term? */
static bool is_shared(const VfLogitTerm *term)
{
    const VfValue *out = vf_node_out(term->node, 0);
    return out == NULL || out->n_use != 1 || vf_value_is_output(out);
}

/* --- finite masks --- */

/* Where the constant of the term lies: operand of the term's node, or -1. */
static int32_t const_slot(const VfLogitTerm *term)
{
    int32_t slot =
        term->node->op == VF_OP_WHERE ? vf_where_const_slot(term->node) : term_slot(term);
    bool is_known = term->node->op == VF_OP_WHERE || term->node->op == VF_OP_ADD;
    return is_known && slot >= 0 && vf_value_const(vf_node_in(term->node, slot)) != NULL ? slot
                                                                                         : -1;
}

/* True when the term can no longer drive the logits to -inf. */
static bool make_finite(VfMaskGuard *guard, const VfLogitTerm *term)
{
    int32_t slot = const_slot(term);
    if (is_clamp(term) || (!isnan(term->lowest) && term->lowest >= endless))
        return true;
    if (slot < 0 || is_shared(term))
        return false;
    const VfTensor *from = vf_value_const(vf_node_in(term->node, slot));
    VfValue *to = map_const(guard, from, from->dtype, to_finite);
    vf_rewrite_set_in(guard->rw, term->node, slot, to);
    vf_rewrite_weight(guard->rw, vf_node_in(term->node, slot), to);
    return true;
}

/* Constant masks are rewritten; for others the logits are bounded from below, which says the same.
 */
static VfValue *finite_logits(VfMaskGuard *guard, VfValue *logits)
{
    bool needs_bound = false;
    for (int32_t i = 0; i < guard->site->n_term; i++) {
        const VfLogitTerm *term = &guard->site->term[i];
        if (term->is_mask || isnan(term->lowest))
            needs_bound = !make_finite(guard, term) || needs_bound;
    }
    return needs_bound ? vf_rewrite_clip(guard->rw, logits, finite_mask, (double)INFINITY) : logits;
}

/* --- zeroed masks --- */

/* Add(S, M) becomes Where(M > -100, Add(S, M), 0), also where `*logits` is meant. */
static void zero_added(VfMaskGuard *guard, const VfLogitTerm *term, VfValue **logits)
{
    VfRewrite *rw = guard->rw;
    VfValue *sum = vf_node_out(term->node, 0);
    const VfTensor *mask = vf_value_const(term->value);
    VfValue *zero = vf_rewrite_scalar(rw, sum->type.dtype, 0.0, "zero");
    VfValue *kept = mask != NULL ? map_const(guard, mask, VF_BOOL, to_kept)
                                 : vf_rewrite_binary(rw, VF_OP_GREATER, term->value,
                                                     vf_rewrite_scalar(rw, term->value->type.dtype,
                                                                       mask_level, "mask_level"));
    VfValue *in[] = {kept, sum, zero};
    VfValue *chosen = vf_rewrite_node(rw, VF_OP_WHERE, 3, in);
    if (*logits == sum)
        *logits = chosen;
    else
        vf_rewrite_replace(rw, sum, chosen);
}

static void zero_filled(VfMaskGuard *guard, const VfLogitTerm *term)
{
    int32_t slot = vf_where_const_slot(term->node);
    const VfTensor *fill = vf_value_const(vf_node_in(term->node, slot));
    vf_rewrite_set_in(guard->rw, term->node, slot, map_const(guard, fill, fill->dtype, to_zero));
}

static const char *why_not_zeroed(const VfMaskGuard *guard, const VfLogitTerm *term)
{
    VfOp op = term->node->op;
    if (op != VF_OP_ADD && op != VF_OP_WHERE)
        return "the mask is neither added nor chosen by Where";
    if (op == VF_OP_WHERE && vf_where_const_slot(term->node) < 0)
        return "what the mask fills in is not constant";
    if (is_shared(term))
        return "the masked scores are read elsewhere too";
    if (op == VF_OP_ADD && vf_graph_opset(guard->site->graph, vf_bytes("")) < WHERE_OPSET)
        return "the opset has no Where";
    return NULL;
}

/* Zero stays zero only if nothing is added behind the mask. */
static VfValue *zeroed_logits(VfMaskGuard *guard, VfValue *logits)
{
    bool is_masked = false;
    VfValue *result = logits;
    for (int32_t i = 0; i < guard->site->n_term; i++) {
        const VfLogitTerm *term = &guard->site->term[i];
        if (is_clamp(term) && term->is_mask)
            continue;
        if (is_masked && !vf_term_may_remove(term))
            guard->why = "something is added to the scores behind the mask";
        if (vf_term_may_remove(term) && guard->why == NULL)
            guard->why = why_not_zeroed(guard, term);
        if (guard->why != NULL)
            return NULL;
        is_masked = is_masked || vf_term_may_remove(term);
    }
    for (int32_t i = 0; i < guard->site->n_term; i++) {
        const VfLogitTerm *term = &guard->site->term[i];
        if (!vf_term_may_remove(term))
            continue;
        if (term->node->op == VF_OP_WHERE)
            zero_filled(guard, term);
        else
            zero_added(guard, term, &result);
    }
    return result;
}

VfValue *vf_act_guard_masks(VfMaskGuard *guard, const VfAct *act, VfValue *logits)
{
    if (guard->site->n_term == VF_ATTENTION_TERM_MAX && act->need != VF_MASK_NEEDS_NOTHING) {
        guard->why = "too many terms are added to the scores to keep masks apart";
        return NULL;
    }
    switch (act->need) {
    case VF_MASK_NEEDS_FINITE:
        return finite_logits(guard, logits);
    case VF_MASK_NEEDS_ZERO:
        return zeroed_logits(guard, logits);
    default:
        return logits;
    }
}
