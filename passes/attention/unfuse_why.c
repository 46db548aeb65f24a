/* Why a fused operator cannot be taken apart. */
#include <math.h>

#include "passes/attention/unfuse.h"
#include "passes/attention/unfuse_form.h"
#include "passes/ir/attr.h"
#include "passes/match/facts.h"

enum { WHERE_OPSET = 9, RANGE_OPSET = 11 };

/* Of fewer queries than keys ONNX Runtime lets the last query see all keys. */
static bool may_be_fewer(VfDim queries, VfDim keys)
{
    bool are_known = vf_dim_is_known(queries) && vf_dim_is_known(keys);
    return are_known ? queries.k < keys.k : !vf_dim_is_same(queries, keys);
}

static bool may_be_same(VfDim a, VfDim b)
{
    return !vf_dim_is_known(a) || !vf_dim_is_known(b) || a.k == b.k;
}

VfSeenForm vf_unfuse_seen_form(const VfNode *node)
{
    const VfValue *seen = vf_fused_in(node, vf_fused_form(node->op)->seen),
                  *x = vf_node_in(node, 0);
    if (seen == NULL)
        return VF_SEEN_NONE;
    /* what a prompt's rows of padding hold is not defined, and others see no padding */
    if (node->op == VF_OP_MS_GROUP_QUERY_ATTENTION)
        return vf_fused_is_causal(node) ? VF_SEEN_NONE : VF_SEEN_LAST;
    if (seen->type.rank == 2)
        return VF_SEEN_KEYS;
    if (seen->type.rank == 3)
        return VF_SEEN_PAIRS;
    if (seen->type.rank != 1 || x->type.rank < 1)
        return VF_SEEN_OTHER;
    VfDim batch = vf_dim_at(x, 0), n = vf_dim_at(seen, 0);
    bool has_both = batch.sym == n.sym && batch.sym != VF_SYM_UNKNOWN && n.k == 2 * batch.k;
    if (vf_dim_is_same(batch, n))
        return VF_SEEN_END;
    return has_both && node->op == VF_OP_MS_ATTENTION ? VF_SEEN_END_START : VF_SEEN_OTHER;
}

/* --- what the operator does beside plain attention --- */

/* Operands of a cache in which keys and values come first; others count keys, or move them. */
static int32_t past_end(const VfNode *node)
{
    int32_t first = vf_fused_form(node->op)->cache[0];
    switch (node->op) {
    case VF_OP_ATTENTION:
    case VF_OP_MS_MULTI_HEAD_ATTENTION:
        return first + 2;
    case VF_OP_MS_ATTENTION:
        return first + 1;
    default:
        return first;
    }
}

static const char *why_not_cache(const VfNode *node, const VfFusedForm *form)
{
    const VfValue *past = vf_fused_past(node);
    int32_t end = past_end(node);
    for (int32_t i = form->cache[0]; i < end; i++)
        if ((vf_node_in(node, i) == NULL) != (past == NULL))
            return "the fused operator reads earlier keys without values";
    if (past != NULL && past->type.rank != (node->op == VF_OP_MS_ATTENTION ? 5 : 4))
        return "the rank of the fused operator's earlier keys is not known";
    for (int32_t i = end; i < form->cache[1]; i++)
        if (vf_node_in(node, i) != NULL)
            return "the fused operator reads counts of keys, or keys at places told by counts";
    if (vf_fused_in(node, form->past_length) != NULL)
        return "the fused operator reads counts of keys, or keys at places told by counts";
    for (int32_t i = form->n_in; i < node->n_in; i++)
        if (vf_node_in(node, i) != NULL)
            return "the fused operator has an operand that is not understood";
    return NULL;
}

static const char *why_not_softmax(const VfNode *node)
{
    int64_t window[2];
    if (vf_fused_has_sink(node))
        return "the softmax of the fused operator has a term without a key";
    return vf_fused_window(node, window) && (window[0] < -1 || window[1] < -1)
               ? "the fused operator sees a window of no keys"
               : NULL;
}

static bool is_read(const VfNode *node, int32_t i)
{
    return vf_node_out(node, i) != NULL && vf_node_out(node, i)->n_use > 0;
}

/* Results that are neither the output nor a cache. */
static const char *why_not_results(const VfNode *node)
{
    for (int32_t i = node->op == VF_OP_MS_ATTENTION ? 2 : 3; i < node->n_out; i++)
        if (is_read(node, i))
            return "the scores of the fused operator are read from it, too";
    return NULL;
}

const char *vf_unfuse_why_not_alone(const VfAttention *site)
{
    if (vf_fused_past(site->norm_node) != NULL)
        return "the fused operator reads earlier keys";
    if (vf_fused_softcap(site->norm_node) > 0.0)
        return "the fused operator bounds its scores";
    for (int32_t i = 1; i < site->norm_node->n_out; i++)
        if (is_read(site->norm_node, i))
            return "more than the attention's output is read from the fused operator";
    return NULL;
}

/* --- operands --- */

static const char *why_not_mask(const VfAttention *site)
{
    const VfNode *node = site->norm_node;
    const VfValue *mask = vf_fused_in(node, vf_fused_form(node->op)->added);
    VfSeenForm form = vf_unfuse_seen_form(node);
    if (mask != NULL && mask->type.rank < 0)
        return "the rank of the fused operator's mask is not known";
    VfDim keys = mask != NULL ? vf_dim_at(mask, -1) : vf_dim_unknown();
    if (!may_be_same(keys, site->n_k) && keys.k != 1)
        return "the mask of the fused operator is shorter than the keys";
    if (form == VF_SEEN_OTHER)
        return "the fused operator tells the keys that are seen in a form that is not known";
    return NULL;
}

static bool has_equal_dtypes(const VfNode *node, const VfFusedForm *form)
{
    VfDtype dtype = vf_node_in(node, 0)->type.dtype;
    if (!vf_dtype_info(dtype)->is_float)
        return false;
    for (int32_t i = 1; i < node->n_in; i++) {
        const VfValue *x = vf_node_in(node, i);
        bool is_flags = i == form->added && x != NULL && x->type.dtype == VF_BOOL;
        bool is_count = x != NULL && (x->type.dtype == VF_I32 || x->type.dtype == VF_I64);
        if (x != NULL && !is_count && !is_flags && x->type.dtype != dtype)
            return false;
    }
    return true;
}

static const char *why_not_onnx(const VfAttention *site)
{
    const VfNode *node = site->norm_node;
    for (int32_t i = 0; i < 3; i++) {
        const VfValue *x = vf_node_in(node, i);
        if (x == NULL || (x->type.rank != 3 && x->type.rank != 4) ||
            x->type.rank != vf_node_in(node, 0)->type.rank)
            return "the ranks of the fused operator's operands are not known, or differ";
    }
    int64_t heads = vf_fused_heads(node), groups = vf_fused_groups(node);
    if (heads < 1 || groups < 1 || heads % groups != 0)
        return "the heads of the fused operator are not known";
    if (heads != groups && (!vf_dim_is_known(vf_dim_at(vf_node_in(node, 1), -1)) ||
                            !vf_dim_is_known(vf_dim_at(vf_node_in(node, 2), -1))))
        return "the width of the fused operator's grouped heads is not known";
    return NULL;
}

static const char *why_not_rotary(const VfNode *node)
{
    if (node->op == VF_OP_MS_ATTENTION && vf_node_int(node, "do_rotary") != 0)
        return "the fused operator rotates queries and keys by their places";
    if (node->op != VF_OP_MS_GROUP_QUERY_ATTENTION || vf_node_int(node, "do_rotary") == 0)
        return NULL;
    for (int32_t i = 7; i < 9; i++) {
        const VfValue *table = vf_node_in(node, i);
        if (table == NULL || table->type.rank != 2 || !vf_dim_is_known(vf_dim_at(table, 1)))
            return "the width of the fused operator's rotary tables is not known";
    }
    return NULL;
}

/* Keys that do not come from a cache. */
static VfDim new_keys(const VfNode *node)
{
    const VfValue *k = vf_node_in(node, 1) != NULL ? vf_node_in(node, 1) : vf_node_in(node, 0);
    return vf_dim_at(k, k->type.rank == 4 ? 2 : 1);
}

static const char *why_not_microsoft(const VfAttention *site)
{
    const VfNode *node = site->norm_node;
    VfUnfusePacking packing = vf_unfuse_packing(node);
    if (why_not_rotary(node) != NULL)
        return why_not_rotary(node);
    int32_t rank = packing == VF_UNFUSE_PACKED ? 5 : 3;
    int64_t width[3];
    if (vf_node_in(node, 0) == NULL || vf_node_in(node, 0)->type.rank != rank)
        return "the rank of the fused operator's operand is not known";
    for (int32_t i = 1; i < 3 && packing == VF_UNFUSE_APART; i++) {
        const VfValue *x = vf_node_in(node, i);
        if (x == NULL || (x->type.rank != 3 && x->type.rank != 4))
            return "the ranks of the fused operator's operands are not known, or differ";
    }
    if (packing == VF_UNFUSE_WEIGHTS &&
        (vf_node_in(node, 1) == NULL || vf_node_in(node, 1)->type.rank != 2))
        return "the rank of the fused operator's weights is not known";
    bool is_apart = vf_fused_is_causal(node) && node->op != VF_OP_MS_ATTENTION;
    if (is_apart && may_be_fewer(site->n_q, new_keys(node)))
        return "the fused operator is causal, with queries that may be fewer than the keys";
    return vf_unfuse_widths(node, vf_fused_heads(node), width)
               ? NULL
               : "the heads or widths of the fused operator are not known";
}

static const char *why_not_groups(const VfAttention *site)
{
    const VfNode *node = site->norm_node;
    int64_t heads = vf_fused_heads(node), groups = vf_fused_groups(node);
    bool is_packed = vf_fused_is_packed_row(node);
    if (heads < 1 || groups < 1 || heads % groups != 0)
        return "the heads of the fused operator are not known";
    for (int32_t i = 0; i < 3; i++) {
        const VfValue *x = vf_node_in(node, i);
        if (is_packed && i > 0)
            break;
        if (x == NULL || x->type.rank != 3)
            return "the ranks of the fused operator's operands are not known, or differ";
        if (!vf_dim_is_known(vf_dim_at(x, 2)))
            return "the width of the fused operator's grouped heads is not known";
        if (!may_be_same(vf_dim_at(x, 1), site->n_q))
            return "the fused operator has fewer or more queries than keys";
    }
    return why_not_rotary(node);
}

/* Operators that are built: Where for what is removed, Range for places. */
static const char *why_not_opset(const VfAttention *site)
{
    int64_t opset = vf_graph_opset(site->graph, vf_bytes(""));
    VfSeenForm form = vf_unfuse_seen_form(site->norm_node);
    int64_t window[2];
    bool has_bounds = form == VF_SEEN_END || form == VF_SEEN_END_START || form == VF_SEEN_LAST;
    bool has_places = vf_fused_is_causal(site->norm_node) || has_bounds ||
                      vf_fused_window(site->norm_node, window);
    if (vf_unfuse_may_remove(site) && opset < (has_places ? RANGE_OPSET : WHERE_OPSET))
        return "the opset has no operators for the mask of the fused operator";
    return NULL;
}

static const char *why_not_operands(const VfAttention *site)
{
    switch (site->norm_node->op) {
    case VF_OP_ATTENTION:
        return why_not_onnx(site);
    case VF_OP_MS_GROUP_QUERY_ATTENTION:
        return why_not_groups(site);
    default:
        return why_not_microsoft(site);
    }
}

const char *vf_unfuse_why_not(const VfAttention *site)
{
    const VfNode *node = site->norm_node;
    const VfFusedForm *form = vf_fused_form(node->op);
    const char *why = form->why;
    if (why == NULL)
        why = why_not_cache(node, form);
    if (why == NULL)
        why = why_not_results(node);
    if (why == NULL)
        why = why_not_softmax(node);
    if (why == NULL)
        why = why_not_operands(site);
    if (why == NULL && (isnan(site->scale) || !has_equal_dtypes(node, form)))
        why = "the scale or the dtypes of the fused operator are not known";
    if (why == NULL)
        why = why_not_mask(site);
    return why != NULL ? why : why_not_opset(site);
}
