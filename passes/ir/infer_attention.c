/* Attention operators of ONNX (opset 23) and of com.microsoft.
 *
 * Letters: B batch, H heads of the queries, G heads of keys and values, S queries, L keys, D and E
 * widths of a key's and a value's head.
 */
#include "passes/ir/infer_op.h"

typedef struct Heads {
    VfDim batch, q_heads, kv_heads, queries, width, value_width;
    VfDim total;  /* keys, with those of the cache */
    bool is_flat; /* rank 3: heads lie in the last axis */
} Heads;

static VfStatus head_count(const VfInferCx *cx, const char *name, VfDim *out)
{
    int64_t n = vf_node_int(cx->node, name);
    if (n < 1)
        return vf_infer_fail(cx, "attribute '%s' is %lld", name, (long long)n);
    *out = vf_dim(n);
    return VF_OK;
}

static VfStatus head_width(const VfInferCx *cx, int32_t slot, VfDim heads, VfDim *out)
{
    VfDim all = vf_infer_dim_of(cx, slot, 2);
    if (vf_dim_is_known(all) && all.k % heads.k != 0)
        return vf_infer_fail(cx, "%lld columns do not divide into %lld heads", (long long)all.k,
                             (long long)heads.k);
    *out = vf_infer_over(cx, all, heads.k);
    return VF_OK;
}

/* Keys or values of operand `slot`, and before them those of its cache, operand slot + 3. */
static VfDim length_of(const VfInferCx *cx, const Heads *h, int32_t slot)
{
    VfDim now = vf_infer_dim_of(cx, slot, h->is_flat ? 1 : 2);
    VfDim past = vf_infer_in(cx, slot + 3) ? vf_infer_dim_of(cx, slot + 3, 2) : vf_dim(0);
    return vf_dim_add(cx->symbols, past, now);
}

/* Caches have the heads and widths of what follows them. */
static VfStatus fit_caches(const VfInferCx *cx, Heads *h)
{
    static const char what[] = "a cache does not fit the new keys or values";
    for (int32_t slot = 4; slot < 6; slot++) {
        VfDim *width = slot == 4 ? &h->width : &h->value_width;
        VF_TRY(vf_infer_need_rank(cx, slot, 4, 4));
        VF_TRY(vf_infer_unify(cx, h->kv_heads, vf_infer_dim_of(cx, slot, 1), what, &h->kv_heads));
        VF_TRY(vf_infer_unify(cx, *width, vf_infer_dim_of(cx, slot, 3), what, width));
    }
    return VF_OK;
}

static VfStatus fit_heads(const VfInferCx *cx, Heads *h, VfDim key_width, VfDim value_heads)
{
    VF_TRY(vf_infer_unify(cx, h->width, key_width, "heads of queries and keys differ in width",
                          &h->width));
    VF_TRY(vf_infer_unify(cx, h->kv_heads, value_heads, "keys and values differ in heads",
                          &h->kv_heads));
    VF_TRY(fit_caches(cx, h));
    VF_TRY(vf_infer_unify(cx, length_of(cx, h, 1), length_of(cx, h, 2),
                          "keys and values differ in number", &h->total));
    if (vf_dim_is_known(h->q_heads) && vf_dim_is_known(h->kv_heads) && h->kv_heads.k > 0 &&
        h->q_heads.k % h->kv_heads.k != 0)
        return vf_infer_fail(cx, "%lld heads of queries do not divide into %lld of keys",
                             (long long)h->q_heads.k, (long long)h->kv_heads.k);
    return VF_OK;
}

static VfStatus read_heads(const VfInferCx *cx, Heads *h)
{
    const VfType *q = vf_infer_shape_of(cx, 0);
    VfDim key_width = vf_infer_dim_of(cx, 1, 3), value_heads = vf_infer_dim_of(cx, 2, 1);
    h->is_flat = q->rank == 3;
    h->batch = q->dims[0];
    h->queries = q->dims[h->is_flat ? 1 : 2];
    if (!h->is_flat) {
        h->q_heads = q->dims[1];
        h->kv_heads = vf_infer_dim_of(cx, 1, 1);
        h->width = q->dims[3];
        h->value_width = vf_infer_dim_of(cx, 2, 3);
        return fit_heads(cx, h, key_width, value_heads);
    }
    VF_TRY(head_count(cx, "q_num_heads", &h->q_heads));
    VF_TRY(head_count(cx, "kv_num_heads", &h->kv_heads));
    VF_TRY(head_width(cx, 0, h->q_heads, &h->width));
    VF_TRY(head_width(cx, 1, h->kv_heads, &key_width));
    VF_TRY(head_width(cx, 2, h->kv_heads, &h->value_width));
    return fit_heads(cx, h, key_width, h->kv_heads);
}

static VfStatus set_four(const VfInferCx *cx, int32_t index, VfDtype dtype, const VfDim four[4])
{
    VfDim *dims = vf_infer_copy_dims(cx, 4, four);
    VF_TRY_ALLOC(dims, cx->err);
    vf_infer_set(cx, index, dtype, 4, dims);
    return VF_OK;
}

static VfStatus set_output(const VfInferCx *cx, const Heads *h)
{
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    if (!h->is_flat)
        return set_four(cx, 0, dtype, (VfDim[4]){h->batch, h->q_heads, h->queries, h->value_width});
    VfDim *dims = vf_infer_new_dims(cx, 3);
    VF_TRY_ALLOC(dims, cx->err);
    dims[0] = h->batch;
    dims[1] = h->queries;
    dims[2] = vf_dim_mul(cx->symbols, h->q_heads, h->value_width);
    vf_infer_set(cx, 0, dtype, 3, dims);
    return VF_OK;
}

VfStatus vf_infer_attention(const VfInferCx *cx)
{
    const VfType *q = vf_infer_shape_of(cx, 0), *k = vf_infer_shape_of(cx, 1),
                 *v = vf_infer_shape_of(cx, 2);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    Heads h = {0};
    vf_infer_set_dtype(cx, 0, dtype);
    vf_infer_set_dtype(cx, 1, vf_infer_dtype_of(cx, 1));
    vf_infer_set_dtype(cx, 2, vf_infer_dtype_of(cx, 2));
    vf_infer_set_dtype(cx, 3, dtype);
    if (!q)
        return VF_OK;
    if ((q->rank != 3 && q->rank != 4) || (k && k->rank != q->rank) || (v && v->rank != q->rank))
        return vf_infer_fail(cx, "queries, keys and values are not all of rank 3 or all of rank 4");
    VF_TRY(read_heads(cx, &h));
    VF_TRY(set_output(cx, &h));
    VF_TRY(set_four(cx, 1, vf_infer_dtype_of(cx, 1),
                    (VfDim[4]){h.batch, h.kv_heads, h.total, h.width}));
    VF_TRY(set_four(cx, 2, vf_infer_dtype_of(cx, 2),
                    (VfDim[4]){h.batch, h.kv_heads, h.total, h.value_width}));
    return set_four(cx, 3, dtype, (VfDim[4]){h.batch, h.q_heads, h.queries, h.total});
}

VfStatus vf_infer_rotary_embedding(const VfInferCx *cx)
{
    VF_TRY(vf_infer_need_rank(cx, 0, 3, 4));
    vf_infer_set_like(cx, 0, 0);
    return VF_OK;
}

/* com.microsoft: columns of V in a weight [hidden in, Q + K + V]. */
static VfStatus packed_value_width(const VfInferCx *cx, VfDim *width)
{
    VfIntList sizes;
    VF_TRY(vf_infer_ints(cx, "qkv_hidden_sizes", -1, &sizes));
    *width = vf_infer_over(cx, vf_infer_dim_of(cx, 1, 1), 3);
    if (sizes.is_known && sizes.n == 3 && sizes.value[2] >= 0)
        *width = vf_dim(sizes.value[2]);
    return VF_OK;
}

/* com.microsoft: operand 0 [B, S, hidden in], weight [hidden in, Q + K + V]. */
VfStatus vf_infer_ms_attention(const VfInferCx *cx)
{
    VfDim *dims = vf_infer_new_dims(cx, 3);
    VF_TRY_ALLOC(dims, cx->err);
    dims[0] = vf_infer_dim_of(cx, 0, 0);
    dims[1] = vf_infer_dim_of(cx, 0, 1);
    VF_TRY(packed_value_width(cx, &dims[2]));
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), 3, dims);
    VfDim *both = vf_infer_new_dims(cx, 5), heads = vf_dim(0);
    VF_TRY_ALLOC(both, cx->err);
    VF_TRY(head_count(cx, "num_heads", &heads));
    VfDim past = vf_infer_in(cx, 4) != NULL ? vf_infer_dim_of(cx, 4, 3) : vf_dim(0);
    both[0] = vf_dim(2);
    both[1] = dims[0];
    both[2] = heads;
    both[3] = vf_dim_add(cx->symbols, past, dims[1]);
    both[4] = vf_infer_over(cx, dims[2], heads.k);
    vf_infer_set(cx, 1, vf_infer_dtype_of(cx, 0), 5, both);
    return VF_OK;
}

/* PackedAttention: tokens of all sequences [T, C]. */
VfStatus vf_infer_ms_packed_attention(const VfInferCx *cx)
{
    VfDim *dims = vf_infer_new_dims(cx, 2);
    VF_TRY_ALLOC(dims, cx->err);
    VF_TRY(vf_infer_need_rank(cx, 0, 2, 2));
    dims[0] = vf_infer_dim_of(cx, 0, 0);
    VF_TRY(packed_value_width(cx, &dims[1]));
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), 2, dims);
    return VF_OK;
}

/* Rows of the cache of GroupQueryAttention: those given, or all tokens where these are more. */
static VfDim cache_rows(const VfInferCx *cx, VfDim queries)
{
    VfDim given = vf_infer_dim_of(cx, 3, 2);
    int64_t total;
    if (vf_infer_in(cx, 3) == NULL)
        return queries;
    if (!vf_dim_is_known(given) || !vf_infer_int_of(cx, 6, &total))
        return vf_dim_unknown();
    return vf_dim(given.k > total ? given.k : total);
}

/* com.microsoft: queries [B, S, H*D] with keys [B, S, G*D], or all packed [B, S, (H + 2 G)*D];
 * caches [B, G, C, D]. */
VfStatus vf_infer_ms_group_query_attention(const VfInferCx *cx)
{
    const VfType *q = vf_infer_shape_of(cx, 0);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    VfDim heads, groups;
    bool is_packed = vf_infer_in(cx, 1) == NULL;
    VF_TRY(head_count(cx, "num_heads", &heads));
    VF_TRY(head_count(cx, "kv_num_heads", &groups));
    for (int32_t i = 0; i < 3; i++)
        vf_infer_set_dtype(cx, i, dtype);
    if (q == NULL)
        return VF_OK;
    VF_TRY(vf_infer_need_rank(cx, 0, 3, 3));
    VfDim *dims = vf_infer_copy_dims(cx, 3, q->dims), width;
    VF_TRY_ALLOC(dims, cx->err);
    VF_TRY(head_width(cx, 0, is_packed ? vf_dim(heads.k + 2 * groups.k) : heads, &width));
    dims[2] = vf_dim_mul(cx->symbols, heads, width);
    vf_infer_set(cx, 0, dtype, 3, dims);
    for (int32_t i = 1; i < 3; i++)
        VF_TRY(set_four(cx, i, dtype,
                        (VfDim[4]){dims[0], groups, cache_rows(cx, dims[1]), width}));
    return VF_OK;
}

/* Of one cache: [B, H, P + L, D]. Operands 1 and 2 tell L and D, or the one that packs them. */
static VfStatus set_multi_head_caches(const VfInferCx *cx, VfDim batch)
{
    VfDim heads;
    VF_TRY(head_count(cx, "num_heads", &heads));
    for (int32_t i = 1; i < 3; i++) {
        int32_t slot = vf_infer_in(cx, i) != NULL ? i : vf_infer_in(cx, 1) != NULL ? 1 : 0;
        const VfType *x = vf_infer_shape_of(cx, slot);
        if (x == NULL || x->rank < 3)
            continue;
        VfDim width = x->dims[x->rank - 1];
        VfDim past = vf_infer_in(cx, 5 + i) != NULL ? vf_infer_dim_of(cx, 5 + i, 2) : vf_dim(0);
        VfDim all = vf_dim_add(cx->symbols, past, x->dims[x->rank == 4 ? 2 : 1]);
        if (x->rank == 3)
            width = vf_infer_over(cx, width, heads.k);
        VF_TRY(set_four(cx, i, vf_infer_dtype_of(cx, 0), (VfDim[4]){batch, heads, all, width}));
    }
    return VF_OK;
}

/* Queries [B, S, H*D] with values [B, L, H*E] or [B, H, L, E], or keys packed with values
 * [B, L, H, 2, D]; or all packed [B, S, H, 3, D]. */
static VfStatus set_multi_head_out(const VfInferCx *cx, bool *is_set)
{
    *is_set = false;
    const VfType *q = vf_infer_shape_of(cx, 0), *k = vf_infer_shape_of(cx, 1),
                 *v = vf_infer_shape_of(cx, 2);
    vf_infer_set_dtype(cx, 0, vf_infer_dtype_of(cx, 0));
    const VfType *from = q && q->rank == 5 ? q : k && k->rank == 5 ? k : v;
    if (!q || !from || (q->rank != 3 && q->rank != 5) || from->rank < 3)
        return VF_OK;
    VfDim *dims = vf_infer_new_dims(cx, 3);
    VF_TRY_ALLOC(dims, cx->err);
    dims[0] = q->dims[0];
    dims[1] = q->dims[1];
    dims[2] = from->dims[from->rank - 1];
    if (from->rank > 3)
        dims[2] = vf_dim_mul(cx->symbols, dims[2], from->dims[from->rank == 4 ? 1 : 2]);
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), 3, dims);
    *is_set = true;
    return VF_OK;
}

/* com.microsoft: MultiHeadAttention; DecoderMaskedMultiHeadAttention, whose caches share a buffer
 * as long as the caller likes. */
VfStatus vf_infer_ms_multi_head_attention(const VfInferCx *cx)
{
    bool is_set;
    VF_TRY(set_multi_head_out(cx, &is_set));
    return is_set ? set_multi_head_caches(cx, cx->out[0].type.dims[0]) : VF_OK;
}

VfStatus vf_infer_ms_decoder_masked(const VfInferCx *cx)
{
    bool is_set;
    return set_multi_head_out(cx, &is_set);
}

/* [B, C, L...] stays; the state is the last k - 1 columns. */
VfStatus vf_infer_causal_conv(const VfInferCx *cx)
{
    const VfType *x = vf_infer_shape_of(cx, 0), *w = vf_infer_shape_of(cx, 1);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    vf_infer_set_like(cx, 0, 0);
    vf_infer_set_dtype(cx, 1, dtype);
    if (!x || !w || x->rank != 3 || w->rank != 3)
        return VF_OK;
    VfDim *dims = vf_infer_copy_dims(cx, 3, x->dims);
    VF_TRY_ALLOC(dims, cx->err);
    dims[2] = vf_infer_plus(cx, w->dims[2], -1);
    vf_infer_set(cx, 1, dtype, 3, dims);
    return VF_OK;
}

/* Packed operands B T (heads * size); the state is B, heads of keys, key size, value size. */
VfStatus vf_infer_linear_attention(const VfInferCx *cx)
{
    int64_t heads = vf_node_int(cx->node, "q_num_heads");
    int64_t groups = vf_node_int(cx->node, "kv_num_heads");
    VfDtype dtype = vf_infer_dtype_of(cx, 0), state = vf_infer_dtype_of(cx, 3);
    if (heads < 1 || groups < 1)
        return vf_infer_fail(cx, "%lld and %lld heads", (long long)heads, (long long)groups);
    for (int32_t slot = 0; slot < 3; slot++)
        VF_TRY(vf_infer_need_rank(cx, slot, 3, 3));
    VfDim *dims = vf_infer_new_dims(cx, 3), *kept = vf_infer_new_dims(cx, 4);
    VF_TRY_ALLOC(dims, cx->err);
    VF_TRY_ALLOC(kept, cx->err);
    VfDim value = vf_infer_over(cx, vf_infer_dim_of(cx, 2, 2), groups);
    dims[0] = kept[0] = vf_infer_dim_of(cx, 0, 0);
    dims[1] = vf_infer_dim_of(cx, 0, 1);
    dims[2] = vf_infer_times(cx, value, heads);
    kept[1] = vf_dim(groups);
    kept[2] = vf_infer_over(cx, vf_infer_dim_of(cx, 1, 2), groups);
    kept[3] = value;
    vf_infer_set(cx, 0, dtype, 3, dims);
    vf_infer_set(cx, 1, state == VF_UNDEFINED ? dtype : state, 4, kept);
    return VF_OK;
}
