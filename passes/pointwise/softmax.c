/* What goes away with a softmax. */
#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/pointwise/act.h"

/* The shift that makes `value`, or NULL. */
static const VfLogitShift *shift_of(const VfAttention *site, const VfValue *value)
{
    for (int32_t i = 0; i < site->n_shift; i++)
        if (vf_node_out(site->shift[i].node, 0) == value)
            return &site->shift[i];
    return NULL;
}

/* S of S - max(S) over the keys: softmax does not see the difference, h would. */
static VfValue *without_shift(const VfAttention *site, VfValue *logits)
{
    const VfLogitShift *shift = shift_of(site, logits);
    return shift == NULL ? logits : without_shift(site, vf_node_in(shift->node, shift->slot));
}

/* Softmax computed in a wider dtype: every reader casts back to what the logits were. */
static bool is_cast_pair(const VfValue *logits, const VfValue *weights)
{
    const VfNode *cast = vf_def_if(logits, VF_OP_CAST);
    const VfValue *x = cast != NULL ? vf_node_in(cast, 0) : NULL;
    if (x == NULL || !vf_dtype_info(x->type.dtype)->is_float || vf_value_is_output(weights))
        return false;
    for (const VfUse *use = weights->first_use; use != NULL; use = use->next)
        if (use->node->op != VF_OP_CAST || vf_node_int(use->node, "to") != (int64_t)x->type.dtype)
            return false;
    return weights->n_use > 0;
}

VfValue *vf_relu_logits(const VfAttention *site, bool *is_cast)
{
    VfValue *logits = without_shift(site, site->logits);
    *is_cast = is_cast_pair(logits, vf_node_out(site->norm_node, 0));
    return *is_cast ? without_shift(site, vf_node_in(logits->def, 0)) : logits;
}

/* Does the shift stand right in front of the softmax, so that `logits` are those without it? */
static bool is_skipped(const VfAttention *site, const VfLogitShift *shift, const VfValue *logits)
{
    const VfValue *value = site->logits;
    while (value != logits) {
        const VfLogitShift *last = shift_of(site, value);
        if (last == shift)
            return true;
        value = last != NULL ? vf_node_in(last->node, last->slot) : vf_node_in(value->def, 0);
    }
    return false;
}

/* Does nothing but the way to `logits`, and one node behind, read the shifted scores? */
static bool is_read_once(const VfLogitShift *shift, const VfValue *logits)
{
    const VfValue *value = vf_node_out(shift->node, 0);
    while (value != NULL && value != logits) {
        const VfNode *user = vf_value_single_user(value);
        value = user != NULL ? vf_node_out(user, 0) : NULL;
    }
    return value != NULL && vf_value_single_user(value) != NULL;
}

const char *vf_relu_why_not_shifts(const VfAttention *site, const VfValue *logits)
{
    for (int32_t i = 0; i < site->n_shift; i++) {
        const VfLogitShift *shift = &site->shift[i];
        if (!is_skipped(site, shift, logits) && !is_read_once(shift, logits))
            return "what its scores are shifted by, such as their maximum, cannot be taken away: "
                   "the shifted scores are read elsewhere too";
    }
    return site->why_shift;
}

void vf_relu_drop_shifts(VfRewrite *rw, const VfAttention *site, const VfValue *logits)
{
    for (int32_t i = 0; i < site->n_shift; i++) {
        const VfLogitShift *shift = &site->shift[i];
        if (!is_skipped(site, shift, logits))
            vf_rewrite_replace(rw, vf_node_out(shift->node, 0),
                               without_shift(site, vf_node_in(shift->node, shift->slot)));
    }
}
