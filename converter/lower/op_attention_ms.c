/* Attention operators of com.microsoft, as ONNX Runtime's CPU provider computes them.
 *
 * Letters as in attention.h; hidden: all heads side by side.
 */
#include "converter/lower/attention.h"

#include <math.h>
#include <string.h>

#include "passes/ir/attr.h"

/* Results that are not there yet are not made. */
static VfStatus finish(VfLower *cx, VfLowCall *call, VfLowAttention *x, VfErr *err)
{
    const VfNode *node = call->node;
    x->window[0] = x->window[1] = -1;
    x->softmax_dtype = x->q->dtype;
    x->is_causal = vf_node_int(node, "unidirectional") != 0;
    x->scale = 1 / sqrt((double)x->q->dims[3]);
    if (vf_node_attr(node, "scale") != NULL && fabs(vf_node_float(node, "scale")) > 0)
        x->scale = vf_node_float(node, "scale");
    for (int32_t i = 1; i < call->n_out; i++)
        if (vf_low_has_out(call, i) && call->out[i] == NULL)
            return vf_low_refuse(err, "result %d", i);
    VF_TRY(vf_low_attend(cx, x, err));
    return vf_low_join_heads(cx, x->out, &call->out[0], err);
}

/* --- keys that are seen --- */

/* Keys before `seen[0..B)`, and from `seen[B..2B)` on, as B x 1 x 1 x L. */
static VfStatus keys_between(VfLower *cx, VfLowValue *seen, const VfLowAttention *x,
                             VfLowValue **out, VfErr *err)
{
    int64_t batch = x->q->dims[0];
    const int64_t dims[4] = {batch, 1, 1, 1};
    VfLowValue *place, *bound, *after;
    VF_TRY(vf_low_count_up(cx, x->k->dims[2], &place, err));
    VF_TRY(vf_low_cast(cx, seen, VF_I64, &seen, err));
    VF_TRY(vf_low_slice(cx, seen, 0, 0, batch, &bound, err));
    VF_TRY(vf_low_reshape(cx, bound, 4, dims, &bound, err));
    VF_TRY(vf_low_binary(cx, "less", place, bound, out, err));
    if (seen->dims[0] == batch)
        return VF_OK;
    VF_TRY(vf_low_slice(cx, seen, 0, batch, batch, &bound, err));
    VF_TRY(vf_low_reshape(cx, bound, 4, dims, &bound, err));
    VF_TRY(vf_low_binary(cx, "greater_equal", place, bound, &after, err));
    return vf_low_binary(cx, "and", *out, after, out, err);
}

/* Lengths (B, or B ends and B starts), or flags (B x L, B x S x L), of keys: the others get the
 * attribute mask_filter_value added. */
static VfStatus add_seen(VfLower *cx, const VfLowCall *call, VfLowValue *seen, VfLowAttention *x,
                         VfErr *err)
{
    VfLowValue *kept, *zero, *filter;
    int64_t batch = x->q->dims[0], n_key = x->k->dims[2];
    if (seen == NULL)
        return VF_OK;
    const int64_t dims[4] = {batch, 1, seen->rank == 3 ? x->q->dims[2] : 1, n_key};
    bool is_bound = seen->rank == 1 && (seen->dims[0] == batch || seen->dims[0] == 2 * batch);
    bool is_flags = (seen->rank == 2 || seen->rank == 3) &&
                    seen->count == (size_t)dims[0] * (size_t)dims[2] * (size_t)dims[3];
    if (!is_bound && !is_flags)
        return vf_low_refuse(err, "a mask of keys of another form");
    VF_TRY(vf_low_int(cx, 0, &zero, err));
    if (is_bound) {
        VF_TRY(keys_between(cx, seen, x, &kept, err));
    } else {
        VF_TRY(vf_low_cast(cx, seen, VF_I64, &kept, err));
        VF_TRY(vf_low_binary(cx, "greater", kept, zero, &kept, err));
        VF_TRY(vf_low_reshape(cx, kept, 4, dims, &kept, err));
    }
    double value = vf_node_float(call->node, "mask_filter_value");
    VF_TRY(vf_low_scalar(cx, x->q->dtype, value, &filter, err));
    VF_TRY(vf_low_scalar(cx, x->q->dtype, 0, &zero, err));
    return vf_low_where(cx, kept, zero, filter, &x->extra, err);
}

/* --- Attention --- */

/* Where queries, keys and values begin in the product with the weights. */
static VfStatus read_widths(const VfLowCall *call, int64_t all, int64_t size[3], VfErr *err)
{
    int32_t n = 0;
    int64_t rest = all;
    const int64_t *given = vf_node_attr(call->node, "qkv_hidden_sizes") != NULL
                               ? vf_node_ints(call->node, "qkv_hidden_sizes", &n)
                               : NULL;
    for (int32_t i = 0; i < 3; i++) {
        size[i] = given != NULL && n == 3 ? given[i] : all / 3;
        if (size[i] < 1 || size[i] > rest)
            return vf_low_refuse(err, "weights that do not divide in three");
        rest -= size[i];
    }
    return rest == 0 ? VF_OK : vf_low_refuse(err, "weights that do not divide in three");
}

/* Keys, then values, in one operand: past 2 x B x heads x P x D, and the same of all tokens. */
static VfStatus keep_both(VfLower *cx, VfLowCall *call, VfLowAttention *x, VfErr *err)
{
    VfLowValue *past = vf_low_in(call, 4), **part[2] = {&x->k, &x->v}, *list[2];
    if (past != NULL && (past->rank != 5 || past->dims[0] != 2))
        return vf_low_refuse(err, "a cache of another form than the new keys or values");
    x->n_past = past != NULL ? past->dims[3] : 0;
    for (int32_t i = 0; i < 2; i++) {
        VfLowValue *own = NULL;
        if (past != NULL) {
            VF_TRY(vf_low_slice(cx, past, 0, i, 1, &own, err));
            VF_TRY(vf_low_reshape(cx, own, 4, past->dims + 1, &own, err));
        }
        VF_TRY(vf_low_append_past(cx, own, part[i], err));
        const int64_t dims[5] = {1, x->k->dims[0], x->k->dims[1], x->k->dims[2],
                                 (*part[i])->dims[3]};
        VF_TRY(vf_low_reshape(cx, *part[i], 5, dims, &list[i], err));
    }
    if (!vf_low_has_out(call, 1))
        return VF_OK;
    if (x->k->dims[3] != x->v->dims[3])
        return vf_low_refuse(err, "a cache of keys and values of different width");
    return vf_low_concat(cx, 2, list, 0, &call->out[1], err);
}

/* input B x S x C, weights C x (Q + K + V), bias; a number for each score is added. */
VfStatus vf_lower_ms_attention(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in = call->in[0], *w = call->in[1], *qkv;
    VfLowAttention x = {.mask = vf_low_in(call, 5)};
    VfLowValue **part[3] = {&x.q, &x.k, &x.v};
    int64_t heads = vf_node_int(call->node, "num_heads"), begin = 0, size[3];
    if (vf_low_in(call, 6) != NULL || vf_node_int(call->node, "do_rotary") != 0)
        return vf_low_refuse(err, "a shared cache or rotary positions");
    if (in->rank != 3 || w->rank != 2 || w->dims[0] != in->dims[2])
        return vf_low_refuse(err, "operands of another form");
    VF_TRY(read_widths(call, w->dims[1], size, err));
    const int64_t dims[3] = {1, w->dims[0], w->dims[1]};
    VF_TRY(vf_low_reshape(cx, w, 3, dims, &w, err));
    VfLowMatmul m = {.a = in, .b = w, .bias = vf_low_in(call, 2), .alpha = 1, .beta = 1};
    VF_TRY(vf_low_matmul(cx, &m, &qkv, err));
    for (int32_t i = 0; i < 3; i++) {
        VF_TRY(vf_low_slice(cx, qkv, 2, begin, size[i], part[i], err));
        VF_TRY(vf_low_split_heads(cx, *part[i], heads, part[i], err));
        begin += size[i];
    }
    VF_TRY(keep_both(cx, call, &x, err));
    VF_TRY(add_seen(cx, call, vf_low_in(call, 3), &x, err));
    return finish(cx, call, &x, err);
}

/* --- MultiHeadAttention --- */

/* Operand `i` of the n packed in x, B x L x heads x n x D, as B x heads x L x D. */
static VfStatus unpack(VfLower *cx, VfLowValue *x, int64_t i, VfLowValue **out, VfErr *err)
{
    static const int64_t perm[4] = {0, 2, 1, 3};
    const int64_t dims[4] = {x->dims[0], x->dims[1], x->dims[2], x->dims[4]};
    VF_TRY(vf_low_slice(cx, x, 3, i, 1, out, err));
    VF_TRY(vf_low_reshape(cx, *out, 4, dims, out, err));
    return vf_low_permute(cx, *out, perm, out, err);
}

/* Queries, keys or values as B x heads x L x D, without their bias. */
static VfStatus take_part(VfLower *cx, VfLowCall *call, int32_t i, VfLowValue **out, VfErr *err)
{
    VfLowValue *q = vf_low_in(call, 0), *k = vf_low_in(call, 1), *own = vf_low_in(call, i);
    int64_t heads = vf_node_int(call->node, "num_heads");
    VfLowValue *packed = q->rank == 5 ? q : i > 0 && k != NULL && k->rank == 5 ? k : NULL;
    int32_t n = q->rank == 5 ? 3 : 2, at = q->rank == 5 ? i : i - 1;
    if (packed != NULL)
        return packed->dims[3] == n && packed->dims[2] == heads
                   ? unpack(cx, packed, at, out, err)
                   : vf_low_refuse(err, "packed operands of another form");
    if (own == NULL || (own->rank == 4 && own->dims[1] != heads))
        return vf_low_refuse(err, "operands of another form");
    return vf_low_split_heads(cx, own, heads, out, err);
}

static VfStatus add_part_bias(VfLower *cx, VfLowValue *bias, int64_t *begin, VfLowValue **x,
                              VfErr *err)
{
    VfLowValue *own;
    int64_t heads = (*x)->dims[1], width = (*x)->dims[3];
    const int64_t dims[4] = {1, heads, 1, width};
    if (bias->rank != 1 || bias->dims[0] - *begin < heads * width)
        return vf_low_refuse(err, "a bias of another form");
    VF_TRY(vf_low_slice(cx, bias, 0, *begin, heads * width, &own, err));
    VF_TRY(vf_low_reshape(cx, own, 4, dims, &own, err));
    *begin += heads * width;
    return vf_low_binary(cx, "add", *x, own, x, err);
}

/* past_key, past_value B x heads x P x D, and the same of all tokens. */
static VfStatus keep_each(VfLower *cx, VfLowCall *call, VfLowAttention *x, VfErr *err)
{
    VfLowValue **part[2] = {&x->k, &x->v};
    x->n_past = -x->k->dims[2];
    for (int32_t i = 0; i < 2; i++) {
        VF_TRY(vf_low_append_past(cx, vf_low_in(call, 6 + i), part[i], err));
        if (vf_low_has_out(call, 1 + i))
            call->out[1 + i] = *part[i];
    }
    x->n_past += x->k->dims[2];
    return VF_OK;
}

/* query, key, value B x S x hidden each, or packed; a bias of all three in one vector, of which
 * operands that are split in heads have theirs already. A causal flag between fewer queries than
 * keys is refused: ONNX Runtime lets the last query see all keys then. */
VfStatus vf_lower_ms_multi_head(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *bias = vf_low_in(call, 3);
    VfLowAttention x = {.mask = vf_low_in(call, 5)};
    VfLowValue **part[3] = {&x.q, &x.k, &x.v};
    int64_t begin = 0;
    for (int32_t i = 8; i < call->n_in; i++)
        if (vf_low_in(call, i) != NULL)
            return vf_low_refuse(err, "operand %d", i);
    for (int32_t i = 0; i < 3; i++) {
        VF_TRY(take_part(cx, call, i, part[i], err));
        bool is_split = vf_low_in(call, i) != NULL && call->in[i]->rank == 4;
        if (bias != NULL && !is_split)
            VF_TRY(add_part_bias(cx, bias, &begin, part[i], err));
    }
    if (vf_node_int(call->node, "unidirectional") != 0 && x.q->dims[2] < x.k->dims[2])
        return vf_low_refuse(err, "causal attention of %lld queries and %lld keys",
                             (long long)x.q->dims[2], (long long)x.k->dims[2]);
    VF_TRY(keep_each(cx, call, &x, err));
    VF_TRY(add_seen(cx, call, vf_low_in(call, 4), &x, err));
    return finish(cx, call, &x, err);
}
