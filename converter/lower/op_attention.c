/* Attention as one operator, composed of products, a bias and a softmax.
 *
 * Letters: B batch, H heads of the queries, G heads of keys and values, S queries, L keys.
 */
#include "converter/lower/attention.h"

#include <math.h>
#include <string.h>

#include "passes/ir/attr.h"

VfStatus vf_low_split_heads(VfLower *cx, VfLowValue *x, int64_t heads, VfLowValue **out, VfErr *err)
{
    static const int64_t perm[4] = {0, 2, 1, 3};
    *out = x;
    if (x->rank == 4)
        return VF_OK;
    if (x->rank != 3 || heads < 1 || x->dims[2] % heads != 0)
        return vf_low_refuse(err, "%d axes and %lld heads", x->rank, (long long)heads);
    const int64_t dims[4] = {x->dims[0], x->dims[1], heads, x->dims[2] / heads};
    VF_TRY(vf_low_reshape(cx, x, 4, dims, out, err));
    return vf_low_permute(cx, *out, perm, out, err);
}

VfStatus vf_low_join_heads(VfLower *cx, VfLowValue *x, VfLowValue **out, VfErr *err)
{
    static const int64_t perm[4] = {0, 2, 1, 3};
    const int64_t dims[3] = {x->dims[0], x->dims[2], x->dims[1] * x->dims[3]};
    VF_TRY(vf_low_permute(cx, x, perm, out, err));
    return vf_low_reshape(cx, *out, 3, dims, out, err);
}

/* a (B H S x) times b (B G x y): each of the G heads serves H / G of a. */
static VfStatus grouped_product(VfLower *cx, VfLowValue *a, VfLowValue *b, double alpha,
                                const int64_t *perm, VfLowValue **out, VfErr *err)
{
    int64_t heads = a->dims[1], groups = b->dims[1];
    VfLowMatmul m = {.a = a, .b = b, .alpha = alpha};
    if (heads == groups) {
        m.perm = perm;
        return vf_low_matmul(cx, &m, out, err);
    }
    if (groups < 1 || heads % groups != 0)
        return vf_low_refuse(err, "%lld heads over %lld", (long long)heads, (long long)groups);
    const int64_t wide_a[5] = {a->dims[0], groups, heads / groups, a->dims[2], a->dims[3]};
    const int64_t wide_b[5] = {b->dims[0], groups, 1, b->dims[2], b->dims[3]};
    const int64_t dims[4] = {a->dims[0], heads, a->dims[2], b->dims[3]};
    VF_TRY(vf_low_reshape(cx, a, 5, wide_a, &m.a, err));
    VF_TRY(vf_low_reshape(cx, b, 5, wide_b, &m.b, err));
    VF_TRY(vf_low_matmul(cx, &m, out, err));
    return vf_low_reshape(cx, *out, 4, dims, out, err);
}

/* --- bias --- */

static VfStatus zero_or_masked(VfLower *cx, VfLowValue *allowed, VfDtype dtype, VfLowValue **out,
                               VfErr *err)
{
    VfLowValue *zero, *masked;
    VF_TRY(vf_low_scalar(cx, dtype, 0, &zero, err));
    VF_TRY(vf_low_scalar(cx, dtype, -(double)INFINITY, &masked, err));
    return vf_low_where(cx, allowed, zero, masked, out, err);
}

VfStatus vf_low_add_bias(VfLower *cx, VfLowValue **sum, VfLowValue *bias, VfErr *err)
{
    if (*sum == NULL) {
        *sum = bias;
        return VF_OK;
    }
    return vf_low_binary(cx, "add", *sum, bias, sum, err);
}

/* A mask of numbers is added, whatever their dtype; one shorter than the keys hides the rest. */
static VfStatus mask_bias(VfLower *cx, const VfLowAttention *x, VfLowValue **out, VfErr *err)
{
    VfLowValue *mask = x->mask, *list[2], *fill;
    int64_t n_key = x->k->dims[2], dims[64];
    if (mask->rank < 1 || mask->rank > 4 || mask->dims[mask->rank - 1] > n_key)
        return vf_low_refuse(err, "a mask of %d axes", mask->rank);
    if (mask->dtype == VF_BOOL)
        VF_TRY(zero_or_masked(cx, mask, x->q->dtype, &mask, err));
    else if (mask->dtype != x->q->dtype)
        VF_TRY(vf_low_convert(cx, mask, x->q->dtype, 1, &mask, err));
    *out = mask;
    int64_t n_given = mask->dims[mask->rank - 1];
    if (n_given == n_key || n_given == 1)
        return VF_OK;
    memcpy(dims, mask->dims, (size_t)mask->rank * sizeof *dims);
    dims[mask->rank - 1] = n_key - n_given;
    VF_TRY(vf_low_scalar(cx, mask->dtype, -(double)INFINITY, &fill, err));
    list[0] = mask;
    VF_TRY(vf_low_expand(cx, fill, mask->rank, dims, &list[1], err));
    return vf_low_concat(cx, 2, list, mask->rank - 1, out, err);
}

/* Key minus query position for S x L, as a constant; `offset` is added to the query's. */
static VfStatus distances(VfLower *cx, const VfLowAttention *x, int64_t offset, VfLowValue **out,
                          VfErr *err)
{
    int64_t dims[2] = {x->q->dims[2], x->k->dims[2]};
    VfTensor *tensor;
    void *data;
    VF_TRY(vf_tensor_new(cx->arena, VF_I64, 2, dims, &tensor, &data, err));
    int64_t *number = data;
    for (int64_t i = 0; i < dims[0]; i++)
        for (int64_t j = 0; j < dims[1]; j++)
            *number++ = j - i - offset;
    return vf_low_const(cx, tensor, out, err);
}

VfStatus vf_low_count_up(VfLower *cx, int64_t n, VfLowValue **out, VfErr *err)
{
    int64_t *list = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)n + 1);
    VF_TRY_ALLOC(list, err);
    for (int64_t i = 0; i < n; i++)
        list[i] = i;
    return vf_low_const_i64(cx, (size_t)n, list, out, err);
}

/* Keys from `left` before a query to `right` behind it are seen; -1: no bound. */
static VfStatus position_bias(VfLower *cx, const VfLowAttention *x, int64_t left, int64_t right,
                              VfLowValue **bias, VfErr *err)
{
    VfLowValue *distance, *limit, *allowed, *shift = NULL;
    VF_TRY(distances(cx, x, x->first != NULL ? 0 : x->n_past, &distance, err));
    if (x->first != NULL) {
        const int64_t dims[4] = {(int64_t)x->first->count, 1, 1, 1};
        VF_TRY(vf_low_reshape(cx, x->first, 4, dims, &shift, err));
        VF_TRY(vf_low_binary(cx, "sub", distance, shift, &distance, err));
    }
    for (int side = 0; side < 2; side++) {
        int64_t reach = side == 0 ? left : right;
        if (reach < 0)
            continue;
        VF_TRY(vf_low_int(cx, side == 0 ? -reach : reach, &limit, err));
        VF_TRY(vf_low_binary(cx, side == 0 ? "greater_equal" : "less_equal", distance, limit,
                             &allowed, err));
        VF_TRY(zero_or_masked(cx, allowed, x->q->dtype, &allowed, err));
        VF_TRY(vf_low_add_bias(cx, bias, allowed, err));
    }
    return VF_OK;
}

/* Keys at and behind n_valid are padding. */
static VfStatus padding_bias(VfLower *cx, const VfLowAttention *x, VfLowValue **bias, VfErr *err)
{
    const int64_t dims[4] = {(int64_t)x->n_valid->count, 1, 1, 1};
    VfLowValue *valid, *allowed, *place;
    VF_TRY(vf_low_count_up(cx, x->k->dims[2], &place, err));
    VF_TRY(vf_low_reshape(cx, x->n_valid, 4, dims, &valid, err));
    VF_TRY(vf_low_binary(cx, "less", place, valid, &allowed, err));
    VF_TRY(zero_or_masked(cx, allowed, x->q->dtype, &allowed, err));
    return vf_low_add_bias(cx, bias, allowed, err);
}

static VfStatus make_bias(VfLower *cx, const VfLowAttention *x, VfLowValue **bias, VfErr *err)
{
    *bias = NULL;
    if (x->mask != NULL)
        VF_TRY(mask_bias(cx, x, bias, err));
    if (x->is_causal)
        VF_TRY(position_bias(cx, x, -1, 0, bias, err));
    if (x->window[0] >= 0 || x->window[1] >= 0)
        VF_TRY(position_bias(cx, x, x->window[0], x->window[1], bias, err));
    if (x->n_valid != NULL)
        VF_TRY(padding_bias(cx, x, bias, err));
    return x->extra != NULL ? vf_low_add_bias(cx, bias, x->extra, err) : VF_OK;
}

/* --- the whole --- */

/* Queries that may see no key give 0, not NaN. */
static VfStatus clear_masked_rows(VfLower *cx, VfLowValue *bias, VfLowValue **p, VfErr *err)
{
    VfLowValue *most, *masked, *zero;
    VF_TRY(vf_low_reduce(cx, "reduce_max", bias, UINT64_C(1) << (bias->rank - 1), &most, err));
    VF_TRY(vf_low_scalar(cx, bias->dtype, -(double)INFINITY, &masked, err));
    VF_TRY(vf_low_binary(cx, "equal", most, masked, &most, err));
    VF_TRY(vf_low_scalar(cx, (*p)->dtype, 0, &zero, err));
    return vf_low_where(cx, most, zero, *p, p, err);
}

/* softmax of B H S L, with one more score where there is a sink. */
static VfStatus softmax_of(VfLower *cx, const VfLowAttention *x, VfLowValue *score,
                           VfLowValue **p, VfErr *err)
{
    VfLowValue *list[2] = {score};
    int64_t n_key = score->dims[3];
    if (x->sink == NULL)
        return vf_low_softmax(cx, "softmax", score, 3, p, err);
    const int64_t own[4] = {1, score->dims[1], 1, 1};
    const int64_t dims[4] = {score->dims[0], score->dims[1], score->dims[2], 1};
    if ((int64_t)x->sink->count != own[1])
        return vf_low_refuse(err, "a sink of another form");
    VF_TRY(vf_low_reshape(cx, x->sink, 4, own, &list[1], err));
    VF_TRY(vf_low_cast(cx, list[1], score->dtype, &list[1], err));
    VF_TRY(vf_low_expand(cx, list[1], 4, dims, &list[1], err));
    VF_TRY(vf_low_concat(cx, 2, list, 3, &score, err));
    VF_TRY(vf_low_softmax(cx, "softmax", score, 3, p, err));
    return vf_low_slice(cx, *p, 3, 0, n_key, p, err);
}

VfStatus vf_low_attend(VfLower *cx, VfLowAttention *x, VfErr *err)
{
    static const int64_t swap[4] = {0, 1, 3, 2}, by_token[4] = {0, 2, 1, 3};
    VfLowValue *kt, *score, *bias, *p;
    bool fits = x->q->rank == 4 && x->k->rank == 4 && x->v->rank == 4 &&
                x->q->dims[3] == x->k->dims[3] && x->k->dims[2] == x->v->dims[2] &&
                x->k->dims[1] == x->v->dims[1];
    if (!fits)
        return vf_low_refuse(err, "queries, keys and values that do not fit");
    VF_TRY(vf_low_permute(cx, x->k, swap, &kt, err));
    VF_TRY(grouped_product(cx, x->q, kt, x->scale, NULL, &score, err));
    x->stage[0] = score;
    if (x->softcap > 0) {
        VF_TRY(vf_low_map(cx, "affine", score, 1 / x->softcap, 0, &score, err));
        VF_TRY(vf_low_map(cx, "tanh", score, 0, 0, &score, err));
        VF_TRY(vf_low_map(cx, "affine", score, x->softcap, 0, &score, err));
    }
    x->stage[1] = score;
    VF_TRY(make_bias(cx, x, &bias, err));
    if (bias != NULL)
        VF_TRY(vf_low_binary(cx, "add", score, bias, &score, err));
    x->stage[2] = score;
    VF_TRY(vf_low_cast(cx, score, x->softmax_dtype, &p, err));
    VF_TRY(softmax_of(cx, x, p, &p, err));
    VF_TRY(vf_low_cast(cx, p, score->dtype, &p, err));
    /* A plain causal mask lets every query see itself. */
    if (bias != NULL && (x->mask != NULL || x->n_valid != NULL || x->window[0] >= 0 ||
                         x->window[1] >= 0))
        VF_TRY(clear_masked_rows(cx, bias, &p, err));
    x->stage[3] = p;
    return grouped_product(cx, p, x->v, 1, by_token, &x->out, err);
}

VfStatus vf_low_append_past(VfLower *cx, VfLowValue *past, VfLowValue **now, VfErr *err)
{
    VfLowValue *list[2] = {past, *now};
    if (past == NULL)
        return VF_OK;
    const int64_t *dims = (*now)->dims;
    if (past->rank != 4 || past->dims[0] != dims[0] || past->dims[1] != dims[1] ||
        past->dims[3] != dims[3])
        return vf_low_refuse(err, "a cache of another form than the new keys or values");
    return vf_low_concat(cx, 2, list, 2, now, err);
}

static VfStatus read_attention(VfLower *cx, const VfLowCall *call, VfLowAttention *x, VfErr *err)
{
    const VfNode *node = call->node;
    x->is_causal = vf_node_int(node, "is_causal") != 0;
    x->softcap = vf_node_float(node, "softcap");
    x->mask = vf_low_in(call, 3);
    x->n_valid = call->opset >= 24 ? vf_low_in(call, 6) : NULL;
    x->window[0] = call->opset >= 25 ? vf_node_int(node, "left_window_size") : -1;
    x->window[1] = call->opset >= 25 ? vf_node_int(node, "right_window_size") : -1;
    x->scale = vf_node_attr(node, "scale") != NULL ? vf_node_float(node, "scale")
                                                   : 1 / sqrt((double)x->q->dims[3]);
    x->softmax_dtype = x->q->dtype;
    /* Lower precisions than the operands' are met by computing in the operands'. */
    if (vf_node_attr(node, "softmax_precision") != NULL &&
        vf_node_int(node, "softmax_precision") == VF_F64)
        x->softmax_dtype = VF_F64;
    if (x->n_valid != NULL && (x->n_valid->dtype != VF_I64 || vf_low_in(call, 4) != NULL ||
                               (int64_t)x->n_valid->count != x->q->dims[0]))
        return vf_low_refuse(err, "nonpad_kv_seqlen of another form");
    if (x->n_valid == NULL)
        return VF_OK;
    /* the last query stands at the last key that is no padding */
    VfLowValue *n_query;
    VF_TRY(vf_low_int(cx, x->q->dims[2], &n_query, err));
    return vf_low_binary(cx, "sub", x->n_valid, n_query, &x->first, err);
}

VfStatus vf_lower_attention(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowAttention x = {0};
    bool is_flat = call->in[0]->rank == 3;
    int64_t mode = vf_node_int(call->node, "qk_matmul_output_mode");
    int64_t heads = vf_node_int(call->node, "q_num_heads");
    int64_t groups = vf_node_int(call->node, "kv_num_heads");
    VF_TRY(vf_low_split_heads(cx, call->in[0], heads, &x.q, err));
    VF_TRY(vf_low_split_heads(cx, call->in[1], groups, &x.k, err));
    VF_TRY(vf_low_split_heads(cx, call->in[2], groups, &x.v, err));
    VF_TRY(read_attention(cx, call, &x, err));
    x.n_past = vf_low_in(call, 4) != NULL && call->in[4]->rank == 4 ? call->in[4]->dims[2] : 0;
    VF_TRY(vf_low_append_past(cx, vf_low_in(call, 4), &x.k, err));
    VF_TRY(vf_low_append_past(cx, vf_low_in(call, 5), &x.v, err));
    VfLowValue *present = x.v; /* its dtype need not be that of the queries */
    VF_TRY(vf_low_cast(cx, x.v, x.q->dtype, &x.v, err));
    VF_TRY(vf_low_attend(cx, &x, err));
    call->out[0] = x.out;
    if (is_flat)
        VF_TRY(vf_low_join_heads(cx, x.out, &call->out[0], err));
    if (vf_low_has_out(call, 1))
        call->out[1] = x.k;
    if (vf_low_has_out(call, 2))
        call->out[2] = present;
    if (vf_low_has_out(call, 3)) {
        if (mode < 0 || mode > 3)
            return vf_low_refuse(err, "qk_matmul_output_mode %lld", (long long)mode);
        call->out[3] = x.stage[mode];
    }
    return VF_OK;
}
