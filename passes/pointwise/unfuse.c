/* The fused Attention operator taken apart, so that what stands between its products can change.
 *
 * Source: ONNX Attention (23): Y = softmax(scale Q Kᵀ + mask) V, heads of K and V repeated for
 * groups of heads of Q; 3-D operands hold the heads side by side in the last axis.
 */
#include <math.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/pointwise/act.h"

enum { IN_MASK = 3, IN_PAST = 4, IN_MAX = 7 };

/* Every function that is not a number at -inf is zero here. */
static const double finite_mask = -1e4;

static int64_t heads_of(const VfNode *node, const VfValue *x, const char *attr)
{
    if (x->type.rank == 3)
        return vf_node_attr(node, attr) != NULL ? vf_node_int(node, attr) : 0;
    return vf_dim_is_known(vf_dim_at(x, 1)) ? vf_dim_at(x, 1).k : 0;
}

static const char *why_not_mask(const VfAttention *site, const VfAct *act)
{
    const VfValue *mask = vf_node_in(site->norm_node, IN_MASK);
    if (mask == NULL)
        return NULL;
    VfDim keys = vf_dim_at(mask, -1);
    if (vf_dim_is_known(keys) && vf_dim_is_known(site->n_k) && keys.k != site->n_k.k && keys.k != 1)
        return "the mask of the fused operator is shorter than the keys";
    if (mask->type.dtype != VF_BOOL && act->need == VF_MASK_NEEDS_ZERO)
        return "the mask of the fused operator is added, and the function needs removed keys told";
    return NULL;
}

static bool has_equal_dtypes(const VfNode *node)
{
    VfDtype dtype = vf_node_in(node, 0)->type.dtype;
    const VfValue *mask = vf_node_in(node, IN_MASK);
    return vf_dtype_info(dtype)->is_float && vf_node_in(node, 1)->type.dtype == dtype &&
           vf_node_in(node, 2)->type.dtype == dtype &&
           (mask == NULL || mask->type.dtype == VF_BOOL || mask->type.dtype == dtype);
}

/* An integer attribute that some opsets lack; `def` then. */
static int64_t int_or(const VfNode *node, const char *name, int64_t def)
{
    return vf_node_attr(node, name) != NULL ? vf_node_int(node, name) : def;
}

static bool has_window(const VfNode *node)
{
    return int_or(node, "left_window_size", -1) >= 0 || int_or(node, "right_window_size", -1) >= 0;
}

const char *vf_unfuse_why_not(const VfAttention *site, const VfAct *act)
{
    const VfNode *node = site->norm_node;
    if (node->op != VF_OP_ATTENTION)
        return "the softmax lies inside a fused operator";
    for (int32_t i = IN_PAST; i < IN_MAX; i++)
        if (vf_node_in(node, i) != NULL)
            return "the fused operator reads earlier keys or counts of keys";
    for (int32_t i = 1; i < node->n_out; i++)
        if (vf_node_out(node, i) != NULL && vf_node_out(node, i)->n_use > 0)
            return "more than the attention's output is read from the fused operator";
    if (vf_node_float(node, "softcap") != 0.0)
        return "the fused operator bounds its scores";
    if (has_window(node))
        return "the fused operator sees a window of keys";
    for (int32_t i = 0; i < 3; i++)
        if (vf_node_in(node, i) == NULL || vf_node_in(node, i)->type.rank != site->q->type.rank)
            return "the ranks of the fused operator's operands are not known, or differ";
    int64_t heads = heads_of(node, site->q, "q_num_heads");
    int64_t groups = heads_of(node, site->k, "kv_num_heads");
    if (groups < 1 || heads % groups != 0 || isnan(site->scale) || !has_equal_dtypes(node))
        return "the heads, the scale or the dtypes of the fused operator are not known";
    if (heads != groups && (!vf_dim_is_known(vf_dim_at(site->k, -1)) ||
                            !vf_dim_is_known(vf_dim_at(site->v, -1))))
        return "the width of the fused operator's grouped heads is not known";
    return why_not_mask(site, act);
}

/* B L (H d) as B H L d. */
static VfValue *split_heads(VfRewrite *rw, VfValue *x, int64_t heads)
{
    static const int64_t perm[4] = {0, 2, 1, 3};
    const int64_t dims[4] = {0, 0, heads, -1};
    return x->type.rank == 3
               ? vf_rewrite_transpose(rw, vf_rewrite_reshape(rw, x, 4, dims), 4, perm)
               : x;
}

/* B G L d as B H L d, each head H / G times in a row. */
static VfValue *repeat_heads(VfRewrite *rw, VfValue *x, int64_t heads, int64_t groups,
                             int64_t width)
{
    static const int64_t axis[1] = {2};
    const int64_t times[5] = {1, 1, heads / groups, 1, 1}, dims[4] = {0, heads, -1, width};
    if (heads == groups)
        return x;
    VfValue *apart = vf_rewrite_unsqueeze(rw, x, 1, axis);
    VfValue *shape = vf_rewrite_const_i64(rw, 5, times, "repeats");
    return vf_rewrite_reshape(rw, vf_rewrite_binary(rw, VF_OP_EXPAND, apart, shape), 4, dims);
}

/* Head width of operand `x`, which may still hold all `heads` side by side. */
static int64_t width_of(const VfValue *x, int64_t heads)
{
    VfDim width = vf_dim_at(x, -1);
    return !vf_dim_is_known(width) ? -1 : x->type.rank == 3 ? width.k / heads : width.k;
}

/* True where the key does not come after the query. */
static VfValue *causal_keys(VfRewrite *rw, VfValue *scores)
{
    VfValue *shape = vf_rewrite_slice(rw, vf_rewrite_unary(rw, VF_OP_SHAPE, scores), 0, 2, 4);
    VfValue *one = vf_rewrite_scalar(rw, VF_BOOL, 1.0, "kept");
    VfValue *all = vf_rewrite_binary(rw, VF_OP_EXPAND, one, shape);
    VfValue *lower = vf_rewrite_unary(rw, VF_OP_TRILU, all);
    vf_rewrite_int(rw, "upper", 0);
    return lower;
}

/* What keys that are not `kept` have for a score, so that their weight is zero. */
static VfValue *remove_keys(VfRewrite *rw, const VfAct *act, VfValue *kept, VfValue *scores,
                            VfDtype dtype)
{
    static const double fill[] = {[VF_MASK_NEEDS_NOTHING] = -(double)INFINITY,
                                  [VF_MASK_NEEDS_FINITE] = finite_mask,
                                  [VF_MASK_NEEDS_ZERO] = 0.0};
    VfValue *in[] = {kept, scores, vf_rewrite_scalar(rw, dtype, fill[act->need], "removed")};
    return vf_rewrite_node(rw, VF_OP_WHERE, 3, in);
}

VfValue *vf_unfuse_logits(VfRewrite *rw, const VfAttention *site, const VfAct *act)
{
    static const int64_t swap[4] = {0, 1, 3, 2};
    const VfNode *node = site->norm_node;
    VfDtype dtype = site->q->type.dtype;
    VfValue *mask = vf_node_in(node, IN_MASK);
    int64_t heads = heads_of(node, site->q, "q_num_heads");
    int64_t groups = heads_of(node, site->k, "kv_num_heads");
    VfValue *k = repeat_heads(rw, split_heads(rw, site->k, groups), heads, groups,
                              width_of(site->k, groups));
    VfValue *q = vf_rewrite_binary(rw, VF_OP_MUL, split_heads(rw, site->q, heads),
                                   vf_rewrite_scalar(rw, dtype, site->scale, "scale"));
    VfValue *scores =
        vf_rewrite_binary(rw, VF_OP_MATMUL, q, vf_rewrite_transpose(rw, k, 4, swap));
    bool is_added = mask != NULL && mask->type.dtype != VF_BOOL;
    if (is_added)
        scores = vf_rewrite_binary(rw, VF_OP_ADD, scores, mask);
    if (is_added && act->need == VF_MASK_NEEDS_FINITE)
        scores = vf_rewrite_clip(rw, scores, finite_mask, (double)INFINITY);
    if (mask != NULL && !is_added)
        scores = remove_keys(rw, act, mask, scores, dtype);
    if (vf_node_int(node, "is_causal") != 0)
        scores = remove_keys(rw, act, causal_keys(rw, scores), scores, dtype);
    return scores;
}

VfValue *vf_unfuse_output(VfRewrite *rw, const VfAttention *site, VfValue *weights)
{
    static const int64_t perm[4] = {0, 2, 1, 3}, dims[3] = {0, 0, -1};
    const VfNode *node = site->norm_node;
    int64_t heads = heads_of(node, site->q, "q_num_heads");
    int64_t groups = heads_of(node, site->k, "kv_num_heads");
    VfValue *v = repeat_heads(rw, split_heads(rw, site->v, groups), heads, groups,
                              width_of(site->v, groups));
    VfValue *out = vf_rewrite_binary(rw, VF_OP_MATMUL, weights, v);
    if (site->q->type.rank == 4)
        return out;
    return vf_rewrite_reshape(rw, vf_rewrite_transpose(rw, out, 4, perm), 3, dims);
}
