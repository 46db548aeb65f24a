/* Attention that is one operator. */
#include "passes/match/attention_parts.h"

#include <math.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/match/fused.h"

/* Widths of queries and values of com.microsoft Attention, whose weights make them. */
static void describe_packed(const VfNode *node, int64_t heads, VfAttention *site)
{
    int32_t n = 0;
    VfDim all = vf_dim_at(vf_node_in(node, 1), -1);
    const int64_t *given = vf_node_attr(node, "qkv_hidden_sizes") != NULL
                               ? vf_node_ints(node, "qkv_hidden_sizes", &n)
                               : NULL;
    bool is_equal = vf_dim_is_known(all) && all.k % 3 == 0;
    int64_t width = given != NULL && n == 3 ? given[0] : is_equal ? all.k / 3 : 0;
    int64_t width_v = given != NULL && n == 3 ? given[2] : width;
    if (heads < 1 || width < 1 || width_v < 1)
        return;
    site->d = vf_dim(width / heads);
    site->d_v = vf_dim(width_v / heads);
}

/* MultiHeadAttention with operands whose heads are split: [B, L, H, n, d], [B, H, L, d]. */
static void describe_split(VfAttention *site)
{
    const VfValue *last = site->v;
    if (site->q->type.rank == 5)
        site->n_q = site->n_k = vf_dim_at(site->q, 1);
    else if (site->k->type.rank == 5)
        site->n_k = vf_dim_at(site->k, 1);
    site->d = vf_dim_at(site->q->type.rank == 5 ? site->q : site->k, -1);
    site->d_v = last->type.rank >= 4 ? vf_dim_at(last, -1) : site->d;
}

/* GroupQueryAttention with all three in one row: [B, L, (H + 2 G)*d]. */
static void describe_row(const VfNode *node, int64_t heads, VfAttention *site)
{
    int64_t parts = heads + 2 * vf_fused_groups(node);
    VfDim all = vf_dim_at(site->q, -1);
    if (heads > 0 && parts > heads && vf_dim_is_known(all))
        site->d = site->d_v = vf_dim(all.k / parts);
}

/* Keys of a cache come before the others. */
static void describe_cache(const VfScan *scan, const VfNode *node, VfAttention *site)
{
    const VfValue *past = vf_fused_past(node);
    const VfValue *all = node->n_out > 1 ? vf_node_out(node, 1) : NULL;
    if (past == NULL)
        return;
    if (node->op == VF_OP_MS_GROUP_QUERY_ATTENTION)
        site->n_k = all != NULL ? vf_dim_at(all, 2) : vf_dim_unknown();
    else
        site->n_k = vf_dim_add(scan->model->symbols, vf_dim_at(past, -2), site->n_k);
}

/* [B, H, L, d], or [B, L, H*d] with the heads as an attribute. */
static void describe_sizes(const VfNode *node, const VfFusedForm *form, VfAttention *site)
{
    int64_t heads = vf_node_attr(node, form->heads) ? vf_node_int(node, form->heads) : 0;
    bool is_4d = site->q != NULL && site->q->type.rank == 4;
    if (site->k == NULL)
        site->k = site->q;
    if (site->v == NULL)
        site->v = site->k;
    site->heads = is_4d ? vf_dim_at(site->q, 1) : heads > 0 ? vf_dim(heads) : vf_dim_unknown();
    site->n_q = vf_dim_at(site->q, -2);
    site->n_k = vf_dim_at(site->k, -2);
    VfDim width = vf_dim_at(site->q, -1), width_v = vf_dim_at(site->v, -1);
    bool is_packed = form->q == form->k;
    if (node->op == VF_OP_MS_ATTENTION) {
        describe_packed(node, heads, site);
    } else if (node->op == VF_OP_MS_MULTI_HEAD_ATTENTION && site->q != NULL && site->k != NULL &&
               (site->q->type.rank == 5 || site->k->type.rank >= 4)) {
        describe_split(site);
    } else if (vf_fused_is_packed_row(node)) {
        describe_row(node, heads, site);
    } else if (is_4d) {
        site->d = width;
        site->d_v = width_v;
    } else if (!is_packed && heads > 0 && vf_dim_is_known(width) && vf_dim_is_known(width_v)) {
        int64_t groups = vf_fused_groups(node);
        site->d = vf_dim(width.k / heads);
        site->d_v = vf_dim(width_v.k / (groups > 0 ? groups : heads));
    }
    site->windows = vf_dim(1);
}

static void add_operand(VfAttention *site, VfNode *node, int8_t slot, bool is_mask)
{
    VfValue *value = vf_fused_in(node, slot);
    double low = (double)NAN, high;
    if (value == NULL)
        return;
    /* flags and integers tell which keys are seen, numbers by what they are or how they are made */
    bool is_float = vf_dtype_info(value->type.dtype)->is_float;
    bool is_const = vf_const_range(value, &low, &high);
    VfLogitTerm *term = &site->term[site->n_term++];
    *term = vf_make_term(node, -1, value, is_mask && !is_float, low);
    term->is_mask = term->is_mask || (is_mask && !is_const && !term->is_bias);
    site->has_bias = site->has_bias || !term->is_mask;
}

VfStatus vf_match_fused(VfScan *scan, VfNode *node, VfErr *err)
{
    const VfFusedForm *form = vf_fused_form(node->op);
    int64_t window[2];
    if (form == NULL)
        return VF_OK;
    VfAttention *site = vf_scan_add(scan, form->kind, node);
    VF_TRY_ALLOC(site, err);
    site->q = vf_node_in(node, form->q);
    site->k = vf_node_in(node, form->k);
    site->v = vf_node_in(node, form->v);
    site->value_node = node;
    site->out = vf_node_out(node, 0);
    describe_sizes(node, form, site);
    describe_cache(scan, node, site);
    add_operand(site, node, form->seen, true);
    add_operand(site, node, form->added, form->is == VF_ADDED_MASK);
    bool has_scale = vf_node_attr(node, "scale") != NULL && vf_node_float(node, "scale") != 0.0;
    if (has_scale)
        site->scale = vf_node_float(node, "scale");
    else if (vf_dim_is_known(site->d) && site->d.k > 0)
        site->scale = 1.0 / sqrt((double)site->d.k);
    else
        site->scale = (double)NAN;
    vf_describe_mask(scan, site);
    site->is_causal = site->is_causal || vf_fused_is_causal(node);
    if (site->is_causal)
        site->mask = VF_MASK_CAUSAL;
    else if (site->mask == VF_MASK_NONE && vf_fused_window(node, window))
        site->mask = VF_MASK_CONST;
    site->is_cross = site->q != site->k && vf_dim_is_known(site->n_q) &&
                     vf_dim_is_known(site->n_k) && site->n_q.k != site->n_k.k;
    return VF_OK;
}
