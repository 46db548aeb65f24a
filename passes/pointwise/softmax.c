/* What goes away with a softmax. */
#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/pointwise/act.h"

/* S of S - max(S) over the keys: softmax does not see the difference, h would. */
static VfValue *without_maximum(const VfAttention *site, VfValue *logits)
{
    const VfNode *sub = vf_def_if(logits, VF_OP_SUB);
    const VfNode *max = sub != NULL ? vf_def_if(vf_node_in(sub, 1), VF_OP_REDUCE_MAX) : NULL;
    int64_t axis[VF_AXIS_MAX];
    bool is_row_maximum = max != NULL && vf_node_in(max, 0) == vf_node_in(sub, 0) &&
                          vf_reduce_axes(max, axis) == 1 && axis[0] == site->key_axis;
    return is_row_maximum ? vf_node_in(sub, 0) : logits;
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
    VfValue *logits = without_maximum(site, site->logits);
    *is_cast = is_cast_pair(logits, vf_node_out(site->norm_node, 0));
    return *is_cast ? vf_node_in(logits->def, 0) : logits;
}
