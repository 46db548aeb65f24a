/* Source: ONNX Attention (23, 24), LinearAttention (27); com.microsoft Attention,
 * MultiHeadAttention, GroupQueryAttention, PackedAttention, DecoderMaskedMultiHeadAttention.
 */
#include "passes/match/fused.h"

#include <math.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"

static const char linear[] = "the softmax lies inside a fused operator",
                  ragged[] =
                      "the softmax lies inside PackedAttention, whose rows are of different "
                      "lengths",
                  cached[] = "the softmax lies inside a fused operator that keeps earlier keys";

/* Columns: as the fields of VfFusedForm. */
static const VfFusedForm form_table[] = {
    {VF_OP_ATTENTION, VF_ATTENTION_SOFTMAX, "q_num_heads", "kv_num_heads", "is_causal", 0, 1, 2, -1,
     3, VF_ADDED_MASK, {4, 7}, -1, 7, NULL},
    {VF_OP_LINEAR_ATTENTION, VF_ATTENTION_LINEAR, "q_num_heads", "kv_num_heads", NULL, 0, 1, 2, -1,
     -1, VF_ADDED_BIAS, {0, 0}, -1, 6, linear},
    {VF_OP_MS_ATTENTION, VF_ATTENTION_SOFTMAX, "num_heads", NULL, "unidirectional", 0, 0, 0, 3, 5,
     VF_ADDED_BIAS, {4, 5}, 6, 7, NULL},
    {VF_OP_MS_MULTI_HEAD_ATTENTION, VF_ATTENTION_SOFTMAX, "num_heads", NULL, "unidirectional", 0, 1,
     2, 4, 5, VF_ADDED_BIAS, {6, 10}, -1, 10, NULL},
    {VF_OP_MS_GROUP_QUERY_ATTENTION, VF_ATTENTION_SOFTMAX, "num_heads", "kv_num_heads", "causal", 0,
     1, 2, 5, 10, VF_ADDED_BIAS, {3, 5}, -1, 12, NULL},
    {VF_OP_MS_PACKED_ATTENTION, VF_ATTENTION_SOFTMAX, "num_heads", NULL, NULL, 0, 0, 0, -1, 5,
     VF_ADDED_BIAS, {0, 0}, -1, 6, ragged},
    {VF_OP_MS_DECODER_MASKED_MULTI_HEAD_ATTENTION, VF_ATTENTION_SOFTMAX, "num_heads", NULL, NULL, 0,
     1, 2, 3, 4, VF_ADDED_BIAS, {5, 7}, -1, 11, cached},
};

const VfFusedForm *vf_fused_form(VfOp op)
{
    for (size_t i = 0; i < sizeof form_table / sizeof form_table[0]; i++) {
        if (form_table[i].op == op)
            return &form_table[i];
    }
    return NULL;
}

VfValue *vf_fused_in(const VfNode *node, int32_t slot)
{
    return slot < 0 ? NULL : vf_node_in(node, slot);
}

static int64_t heads_of(const VfNode *node, const VfValue *x, const char *attr)
{
    if (node->op == VF_OP_ATTENTION && x != NULL && x->type.rank == 4)
        return vf_dim_is_known(vf_dim_at(x, 1)) ? vf_dim_at(x, 1).k : 0;
    return vf_node_attr(node, attr) != NULL ? vf_node_int(node, attr) : 0;
}

int64_t vf_fused_heads(const VfNode *node)
{
    const VfFusedForm *form = vf_fused_form(node->op);
    return heads_of(node, vf_node_in(node, form->q), form->heads);
}

int64_t vf_fused_groups(const VfNode *node)
{
    const VfFusedForm *form = vf_fused_form(node->op);
    const char *groups = form->groups != NULL ? form->groups : form->heads;
    return heads_of(node, vf_node_in(node, form->k), groups);
}

bool vf_fused_is_causal(const VfNode *node)
{
    const char *name = vf_fused_form(node->op)->causal;
    return name != NULL && vf_node_int(node, name) != 0;
}

bool vf_fused_is_packed_row(const VfNode *node)
{
    return node->op == VF_OP_MS_GROUP_QUERY_ATTENTION && vf_node_in(node, 1) == NULL &&
           vf_node_in(node, 2) == NULL;
}

/* An attribute that some opsets lack; `def` then. */
static int64_t int_or(const VfNode *node, const char *name, int64_t def)
{
    return vf_node_attr(node, name) != NULL ? vf_node_int(node, name) : def;
}

bool vf_fused_has_sink(const VfNode *node)
{
    return node->op == VF_OP_MS_GROUP_QUERY_ATTENTION &&
           (vf_node_in(node, 11) != NULL || vf_node_int(node, "smooth_softmax") != 0);
}

/* Of GroupQueryAttention the query's own key counts among those before it. */
bool vf_fused_window(const VfNode *node, int64_t window[2])
{
    bool is_local = node->op == VF_OP_MS_GROUP_QUERY_ATTENTION;
    int64_t local = int_or(node, "local_window_size", -1);
    window[0] = is_local ? (local > 0 ? local - 1 : -1) : int_or(node, "left_window_size", -1);
    window[1] = is_local ? -1 : int_or(node, "right_window_size", -1);
    if (is_local && local == 0)
        window[0] = window[1] = -2;
    return window[0] != -1 || window[1] != -1;
}

double vf_fused_softcap(const VfNode *node)
{
    double cap = vf_node_attr(node, "softcap") != NULL ? (double)vf_node_float(node, "softcap") : 0;
    return cap > 0.0 ? cap : 0.0;
}

VfValue *vf_fused_past(const VfNode *node)
{
    const VfFusedForm *form = vf_fused_form(node->op);
    return form->cache[0] < form->cache[1] ? vf_node_in(node, form->cache[0]) : NULL;
}
