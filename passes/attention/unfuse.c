/* Source: ONNX Attention (23): Y = softmax(scale Q Kᵀ + mask) V, heads of K and V repeated for
 * groups of heads of Q; 3-D operands hold the heads side by side in the last axis. com.microsoft
 * Attention and MultiHeadAttention: operator schemas and CPU kernels of ONNX Runtime.
 */
#include "passes/attention/unfuse.h"

#include <stddef.h>

#include "passes/attention/unfuse_form.h"
#include "passes/ir/attr.h"
#include "passes/match/facts.h"

bool vf_is_fused(const VfAttention *site)
{
    return site->score_node == NULL && site->kind != VF_ATTENTION_LINEAR;
}

/* --- widths --- */

VfUnfusePacking vf_unfuse_packing(const VfNode *node)
{
    const VfValue *q = vf_node_in(node, 0), *k = vf_node_in(node, 1);
    if (node->op == VF_OP_MS_ATTENTION)
        return VF_UNFUSE_WEIGHTS;
    if (node->op == VF_OP_ATTENTION)
        return VF_UNFUSE_APART;
    if (q != NULL && q->type.rank == 5)
        return VF_UNFUSE_PACKED;
    return k != NULL && k->type.rank == 5 ? VF_UNFUSE_PACKED_KV : VF_UNFUSE_APART;
}

/* Width of operand `slot` of MultiHeadAttention over all heads; -1: not known. */
static int64_t all_width(const VfNode *node, int32_t slot, int64_t heads)
{
    const VfValue *x = vf_node_in(node, slot);
    VfDim last = x != NULL && x->type.rank > 0 ? vf_dim_at(x, -1) : vf_dim_unknown();
    int64_t all;
    if (!vf_dim_is_known(last) || last.k < 0)
        return -1;
    if (x->type.rank == 3)
        return last.k;
    return __builtin_mul_overflow(last.k, heads, &all) ? -1 : all;
}

bool vf_unfuse_widths(const VfNode *node, int64_t heads, int64_t width[3])
{
    VfUnfusePacking packing = vf_unfuse_packing(node);
    int32_t n = 0;
    const VfAttr *sizes = vf_node_attr(node, "qkv_hidden_sizes");
    const int64_t *given = sizes != NULL ? vf_node_ints(node, "qkv_hidden_sizes", &n) : NULL;
    VfDim all =
        packing == VF_UNFUSE_WEIGHTS ? vf_dim_at(vf_node_in(node, 1), -1) : vf_dim_unknown();
    for (int32_t i = 0; i < 3; i++) {
        int32_t slot = packing == VF_UNFUSE_PACKED               ? 0
                       : packing == VF_UNFUSE_PACKED_KV && i > 0 ? 1
                                                                 : i;
        if (packing != VF_UNFUSE_WEIGHTS)
            width[i] = all_width(node, slot, heads);
        else if (given != NULL && n == 3)
            width[i] = given[i];
        else
            width[i] = vf_dim_is_known(all) && all.k % 3 == 0 ? all.k / 3 : -1;
        if (heads < 1 || width[i] < 1 || width[i] % heads != 0)
            return false;
    }
    return true;
}

/* --- layouts --- */

/* B N (H d) as B H N d; 4-D operands as they are. */
static VfValue *split_heads(VfRewrite *rw, VfValue *x, int64_t heads)
{
    static const int64_t perm[4] = {0, 2, 1, 3};
    const int64_t dims[4] = {0, 0, heads, -1};
    return x != NULL && x->type.rank == 3
               ? vf_rewrite_transpose(rw, vf_rewrite_reshape(rw, x, 4, dims), 4, perm)
               : x;
}

/* B G N d as B H N d, each head H / G times in a row. */
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

/* Head width of `x`, which may still hold all `heads` side by side. */
static int64_t width_of(const VfValue *x, int64_t heads)
{
    VfDim width = vf_dim_at(x, -1);
    return !vf_dim_is_known(width) ? -1 : x->type.rank == 3 ? width.k / heads : width.k;
}

/* Operand `i` of a packed B N H n d, as B H N d. */
static VfValue *unpack(VfRewrite *rw, VfValue *x, int64_t i)
{
    static const int64_t axis[1] = {3}, perm[4] = {0, 2, 1, 3};
    VfValue *part = vf_rewrite_squeeze(rw, vf_rewrite_slice(rw, x, 3, i, i + 1), 1, axis);
    return vf_rewrite_transpose(rw, part, 4, perm);
}

/* Earlier keys or values, which may be none, before the others: B G N d. */
static VfValue *behind(const VfUnfused *x, VfValue *past, VfValue *now)
{
    VfValue *in[2] = {past, now};
    if (past == NULL)
        return now;
    VfValue *all = vf_rewrite_node(x->rw, VF_OP_CONCAT, 2, in);
    vf_rewrite_int(x->rw, "axis", 2);
    return all;
}

/* Keys (0) or values (1) of a cache that holds both, 2 B H N d; NULL: none. */
static VfValue *past_part(const VfUnfused *x, VfValue *past, int64_t i)
{
    static const int64_t first[1] = {0};
    return past == NULL
               ? NULL
               : vf_rewrite_squeeze(x->rw, vf_rewrite_slice(x->rw, past, 0, i, i + 1), 1, first);
}

/* --- the operators --- */

static void unfuse_onnx(VfUnfused *x)
{
    const VfNode *node = x->site->norm_node;
    int64_t groups = vf_fused_groups(node);
    VfValue *k = vf_node_in(node, 1), *v = vf_node_in(node, 2);
    x->own[0] = behind(x, vf_node_in(node, 4), split_heads(x->rw, k, groups));
    x->k = repeat_heads(x->rw, x->own[0], x->heads, groups, width_of(k, groups));
    x->q = split_heads(x->rw, vf_node_in(node, 0), x->heads);
    x->own[1] = behind(x, vf_node_in(node, 5), split_heads(x->rw, v, groups));
    x->v = repeat_heads(x->rw, x->own[1], x->heads, groups, width_of(v, groups));
}

/* B G N d turned by its places in a prompt, which begin at the first given one, or at 0. */
static VfValue *turn(const VfUnfused *x, VfValue *value, int64_t heads, int64_t width)
{
    static const int64_t first[1] = {0}, row[1] = {-1};
    const VfNode *node = x->site->norm_node;
    VfValue *place = vf_node_in(node, 9), *cos = vf_node_in(node, 7);
    if (vf_node_int(node, "do_rotary") == 0)
        return value;
    place = place == NULL
                ? vf_rewrite_const_i64(x->rw, 1, first, "first_place")
                : vf_rewrite_slice(x->rw, vf_rewrite_reshape(x->rw, place, 1, row), 0, 0, 1);
    VfValue *in[] = {value, place, cos, vf_node_in(node, 8)};
    VfValue *turned = vf_rewrite_node(x->rw, VF_OP_MS_ROTARY_EMBEDDING, 4, in);
    vf_rewrite_int(x->rw, "interleaved", vf_node_int(node, "rotary_interleaved"));
    int64_t size = 2 * vf_dim_at(cos, 1).k;
    if (size < width) {
        vf_rewrite_int(x->rw, "num_heads", heads);
        vf_rewrite_int(x->rw, "rotary_embedding_dim", size);
    }
    return turned;
}

static void unfuse_groups(VfUnfused *x)
{
    VfRewrite *rw = x->rw;
    const VfNode *node = x->site->norm_node;
    int64_t heads = x->heads, groups = vf_fused_groups(node), width = x->site->d.k;
    bool is_packed = vf_fused_is_packed_row(node);
    const int64_t n[3] = {heads, groups, groups};
    VfValue *part[3];
    int64_t begin = 0;
    for (int32_t i = 0; i < 3; i++) {
        VfValue *own = is_packed ? vf_rewrite_slice(rw, vf_node_in(node, 0), 2, begin * width,
                                                    (begin + n[i]) * width)
                                 : vf_node_in(node, i);
        part[i] = split_heads(rw, own, n[i]);
        if (i < 2)
            part[i] = turn(x, part[i], n[i], width);
        begin += n[i];
    }
    x->q = part[0];
    x->own[0] = part[1];
    x->own[1] = part[2];
    x->k = repeat_heads(rw, part[1], heads, groups, width);
    x->v = repeat_heads(rw, part[2], heads, groups, x->site->d_v.k);
}

/* X W + b, cut in three. */
static void unfuse_weights(VfUnfused *x, const int64_t width[3])
{
    VfRewrite *rw = x->rw;
    const VfNode *node = x->site->norm_node;
    VfValue *bias = vf_node_in(node, 2), **part[3] = {&x->q, &x->k, &x->v};
    VfValue *all = vf_rewrite_binary(rw, VF_OP_MATMUL, vf_node_in(node, 0), vf_node_in(node, 1));
    if (bias != NULL)
        all = vf_rewrite_binary(rw, VF_OP_ADD, all, bias);
    int64_t begin = 0;
    for (int32_t i = 0; i < 3; i++) {
        VfValue *own = vf_rewrite_slice(rw, all, 2, begin, begin + width[i]);
        *part[i] = split_heads(rw, own, x->heads);
        begin += width[i];
    }
    x->k = behind(x, past_part(x, vf_node_in(node, 4), 0), x->k);
    x->v = behind(x, past_part(x, vf_node_in(node, 4), 1), x->v);
}

/* The bias of one part, as it is added to B N (H d), or to B H N d. */
static VfValue *part_bias(VfUnfused *x, VfValue *bias, int64_t begin, int64_t width, bool is_split)
{
    const int64_t dims[3] = {x->heads, 1, width / x->heads};
    VfValue *own = vf_rewrite_slice(x->rw, bias, 0, begin, begin + width);
    return is_split ? vf_rewrite_reshape(x->rw, own, 3, dims) : own;
}

static void unfuse_multi_head(VfUnfused *x, const int64_t width[3])
{
    VfRewrite *rw = x->rw;
    const VfNode *node = x->site->norm_node;
    VfUnfusePacking packing = vf_unfuse_packing(node);
    VfValue *bias = vf_node_in(node, 3), **part[3] = {&x->q, &x->k, &x->v};
    int64_t begin = 0;
    for (int32_t i = 0; i < 3; i++) {
        bool is_packed = packing == VF_UNFUSE_PACKED || (packing == VF_UNFUSE_PACKED_KV && i > 0);
        VfValue *own = packing == VF_UNFUSE_PACKED ? unpack(rw, vf_node_in(node, 0), i)
                       : is_packed                 ? unpack(rw, vf_node_in(node, 1), i - 1)
                                                   : vf_node_in(node, i);
        /* keys and values whose heads are split have their bias */
        bool has_own = !is_packed && own != NULL && own->type.rank == 4;
        if (bias != NULL && !has_own)
            own = vf_rewrite_binary(rw, VF_OP_ADD, own,
                                    part_bias(x, bias, begin, width[i], is_packed));
        *part[i] = split_heads(rw, own, x->heads);
        begin += width[i];
    }
    x->k = behind(x, vf_node_in(node, 6), x->k);
    x->v = behind(x, vf_node_in(node, 7), x->v);
}

void vf_unfuse(VfRewrite *rw, const VfAttention *site, VfUnfused *out)
{
    const VfNode *node = site->norm_node;
    int64_t width[3];
    *out = (VfUnfused){.rw = rw,
                       .site = site,
                       .dtype = vf_node_in(node, 0)->type.dtype,
                       .heads = vf_fused_heads(node),
                       .scale = site->scale};
    if (node->op == VF_OP_ATTENTION)
        unfuse_onnx(out);
    else if (node->op == VF_OP_MS_GROUP_QUERY_ATTENTION)
        unfuse_groups(out);
    else if (!vf_unfuse_widths(node, out->heads, width))
        return;
    else if (node->op == VF_OP_MS_ATTENTION)
        unfuse_weights(out, width);
    else
        unfuse_multi_head(out, width);
    if (out->own[0] == NULL) { /* heads are not grouped */
        out->own[0] = out->k;
        out->own[1] = out->v;
    }
}

/* --- what a pass builds on --- */

VfValue *vf_unfuse_scores(const VfUnfused *x)
{
    static const int64_t swap[4] = {0, 1, 3, 2};
    VfRewrite *rw = x->rw;
    double cap = vf_fused_softcap(x->site->norm_node);
    VfValue *scale = vf_rewrite_scalar(rw, x->dtype, x->scale, "scale");
    VfValue *k = vf_rewrite_transpose(rw, x->k, 4, swap);
    VfValue *q = vf_rewrite_binary(rw, VF_OP_MUL, x->q, scale);
    VfValue *scores = vf_rewrite_binary(rw, VF_OP_MATMUL, q, k);
    if (!(cap > 0.0))
        return scores;
    scale = vf_rewrite_scalar(rw, x->dtype, cap, "softcap");
    VfValue *share = vf_rewrite_binary(rw, VF_OP_DIV, scores, scale);
    return vf_rewrite_binary(rw, VF_OP_MUL, vf_rewrite_unary(rw, VF_OP_TANH, share), scale);
}

VfValue *vf_unfuse_join(const VfUnfused *x, VfValue *o)
{
    static const int64_t perm[4] = {0, 2, 1, 3}, dims[3] = {0, 0, -1};
    const VfNode *node = x->site->norm_node;
    if (node->op == VF_OP_ATTENTION && vf_node_in(node, 0)->type.rank == 4)
        return o;
    return vf_rewrite_reshape(x->rw, vf_rewrite_transpose(x->rw, o, 4, perm), 3, dims);
}

/* Keys on top of values. */
static VfValue *stack(const VfUnfused *x)
{
    static const int64_t first[1] = {0};
    VfValue *in[2] = {vf_rewrite_unsqueeze(x->rw, x->own[0], 1, first),
                      vf_rewrite_unsqueeze(x->rw, x->own[1], 1, first)};
    VfValue *both = vf_rewrite_node(x->rw, VF_OP_CONCAT, 2, in);
    vf_rewrite_int(x->rw, "axis", 0);
    return both;
}

void vf_unfuse_caches(const VfUnfused *x)
{
    const VfNode *node = x->site->norm_node;
    for (int32_t i = 1; i < node->n_out && i < 3; i++) {
        VfValue *old = vf_node_out(node, i);
        if (old != NULL && old->n_use > 0)
            vf_rewrite_replace(x->rw, old,
                               node->op == VF_OP_MS_ATTENTION ? stack(x) : x->own[i - 1]);
    }
}
