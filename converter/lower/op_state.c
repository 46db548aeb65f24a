/* Operators that carry a state from token to token: causal convolution, linear attention, caches;
 * and the reversal of sequences. Composed of others.
 *
 * Letters: B batch, T tokens, H heads of the queries, G heads of keys and values.
 */
#include "converter/lower/attention.h"
#include "converter/lower/ops.h"

#include <math.h>

#include "passes/ir/attr.h"

enum { MAX_AXES = 64, MAX_TAPS = 64, MAX_TOKENS = 1 << 16 };

/* Zeros of these dims, as a view on one. */
static VfStatus zeros(VfLower *cx, VfDtype dtype, int32_t rank, const int64_t *dims,
                      VfLowValue **out, VfErr *err)
{
    VF_TRY(vf_low_scalar(cx, dtype, 0, out, err));
    return vf_low_expand(cx, *out, rank, dims, out, err);
}

/* --- CausalConvWithState --- */

/* Each channel with its own taps, the last of which meets the token itself. */
static VfStatus convolve(VfLower *cx, VfLowValue *x, VfLowValue *weight, int64_t n,
                         VfLowValue **sum, VfErr *err)
{
    VfLowValue *tap, *piece, *product;
    int64_t channels = weight->dims[0], taps = weight->dims[2];
    for (int64_t i = 0; i < taps; i++) {
        VF_TRY(vf_low_slice(cx, weight, 2, i, 1, &tap, err));
        VF_TRY(vf_low_reshape(cx, tap, 3, (int64_t[3]){1, channels, 1}, &tap, err));
        VF_TRY(vf_low_slice(cx, x, 2, i, n, &piece, err));
        VF_TRY(vf_low_binary(cx, "mul", piece, tap, &product, err));
        if (i == 0)
            *sum = product;
        else
            VF_TRY(vf_low_binary(cx, "add", *sum, product, sum, err));
    }
    return VF_OK;
}

VfStatus vf_lower_causal_conv(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0], *weight = call->in[1], *bias = vf_low_in(call, 2), *y;
    VfLowValue *list[2] = {vf_low_in(call, 3), x}, *whole;
    VfBytes word = vf_node_string(call->node, "activation");
    bool is_silu = vf_bytes_is_equal(word, vf_bytes("silu")) ||
                   vf_bytes_is_equal(word, vf_bytes("swish"));
    if (!is_silu && !vf_bytes_is_equal(word, vf_bytes("none")))
        return vf_low_refuse_word("activation", word, err);
    if (x->rank != 3 || weight->rank != 3 || weight->dims[1] != 1 || weight->dims[2] < 1 ||
        weight->dims[2] > MAX_TAPS || weight->dims[0] != x->dims[1])
        return vf_low_refuse(err, "a weight of another form");
    const int64_t before[3] = {x->dims[0], x->dims[1], weight->dims[2] - 1};
    if (list[0] == NULL)
        VF_TRY(zeros(cx, x->dtype, 3, before, &list[0], err));
    if (list[0]->rank != 3 || list[0]->dims[2] != before[2])
        return vf_low_refuse(err, "a state of another form");
    VF_TRY(vf_low_concat(cx, 2, list, 2, &whole, err));
    VF_TRY(convolve(cx, whole, weight, x->dims[2], &y, err));
    if (bias != NULL) {
        VF_TRY(vf_low_along(cx, bias, 3, 1, &bias, err));
        VF_TRY(vf_low_binary(cx, "add", y, bias, &y, err));
    }
    if (is_silu)
        VF_TRY(vf_low_map(cx, "silu", y, 1, 0, &y, err));
    call->out[0] = y;
    if (!vf_low_has_out(call, 1))
        return VF_OK;
    return vf_low_slice(cx, whole, 2, x->dims[2], before[2], &call->out[1], err);
}

/* --- LinearAttention --- */

typedef struct Recurrence {
    VfLowValue *q, *k, *v, *decay, *beta; /* B T (heads * size); decay already exponential */
    VfLowValue *state;                    /* B G key value */
    int64_t batch, tokens, heads, groups, key, value;
    double scale;
    bool is_delta;
} Recurrence;

/* Token t of a packed operand, as B G rows columns. */
static VfStatus token_of(VfLower *cx, const Recurrence *r, VfLowValue *packed, int64_t t,
                         int64_t rows, int64_t columns, VfLowValue **out, VfErr *err)
{
    const int64_t dims[4] = {r->batch, r->groups, rows, columns};
    VF_TRY(vf_low_slice(cx, packed, 1, t, 1, out, err));
    return vf_low_reshape(cx, *out, 4, dims, out, err);
}

/* A gate has an element for each head, or one for all, or one for each row of the state. */
static VfStatus gate_of(VfLower *cx, const Recurrence *r, VfLowValue *gate, int64_t t,
                        VfLowValue **out, VfErr *err)
{
    int64_t n = gate->dims[2];
    bool is_single = n == 1, is_row = n == r->groups * r->key && n != r->groups;
    if (!is_single && !is_row && n != r->groups)
        return vf_low_refuse(err, "a gate of %lld columns", (long long)n);
    const int64_t dims[4] = {r->batch, is_single ? 1 : r->groups, is_row ? r->key : 1, 1};
    VF_TRY(vf_low_slice(cx, gate, 1, t, 1, out, err));
    return vf_low_reshape(cx, *out, 4, dims, out, err);
}

static VfStatus product(VfLower *cx, VfLowValue *a, VfLowValue *b, double alpha, VfLowValue **out,
                        VfErr *err)
{
    const VfLowMatmul m = {.a = a, .b = b, .alpha = alpha};
    return vf_low_matmul(cx, &m, out, err);
}

/* The state after token t, and what the queries read from it. */
static VfStatus step(VfLower *cx, Recurrence *r, int64_t t, VfLowValue **out, VfErr *err)
{
    VfLowValue *k, *v, *q, *gate, *seen;
    VF_TRY(token_of(cx, r, r->k, t, r->key, 1, &k, err));
    VF_TRY(token_of(cx, r, r->v, t, 1, r->value, &v, err));
    VF_TRY(token_of(cx, r, r->q, t, r->heads / r->groups, r->key, &q, err));
    if (r->decay != NULL) {
        VF_TRY(gate_of(cx, r, r->decay, t, &gate, err));
        VF_TRY(vf_low_binary(cx, "mul", r->state, gate, &r->state, err));
    }
    if (r->is_delta) {
        VF_TRY(token_of(cx, r, r->k, t, 1, r->key, &seen, err));
        VF_TRY(product(cx, seen, r->state, 1, &seen, err));
        VF_TRY(vf_low_binary(cx, "sub", v, seen, &v, err));
        VF_TRY(gate_of(cx, r, r->beta, t, &gate, err));
        VF_TRY(vf_low_binary(cx, "mul", v, gate, &v, err));
    }
    VF_TRY(vf_low_binary(cx, "mul", k, v, &v, err));
    VF_TRY(vf_low_binary(cx, "add", r->state, v, &r->state, err));
    VF_TRY(product(cx, q, r->state, r->scale, out, err));
    return vf_low_reshape(cx, *out, 3, (int64_t[3]){r->batch, 1, r->heads * r->value}, out, err);
}

static VfStatus read_rule(VfLower *cx, const VfLowCall *call, Recurrence *r, VfErr *err)
{
    static const struct {
        const char *word;
        bool is_gated, is_delta;
    } rule[] = {{"linear", false, false}, {"gated", true, false}, {"delta", false, true},
                {"gated_delta", true, true}};
    VfBytes word = vf_node_string(call->node, "update_rule");
    size_t i = 0;
    while (i < 4 && !vf_bytes_is_equal(word, vf_bytes(rule[i].word)))
        i++;
    if (i == 4)
        return vf_low_refuse_word("update_rule", word, err);
    r->is_delta = rule[i].is_delta;
    r->decay = rule[i].is_gated ? vf_low_in(call, 4) : NULL;
    r->beta = rule[i].is_delta ? vf_low_in(call, 5) : NULL;
    if ((rule[i].is_gated && r->decay == NULL) || (rule[i].is_delta && r->beta == NULL))
        return vf_low_refuse(err, "a rule without its gate");
    if ((r->decay != NULL && r->decay->rank != 3) || (r->beta != NULL && r->beta->rank != 3))
        return vf_low_refuse(err, "a gate that is not packed");
    return r->decay != NULL ? vf_low_map(cx, "exp", r->decay, 0, 0, &r->decay, err) : VF_OK;
}

static VfStatus read_heads(VfLower *cx, const VfLowCall *call, Recurrence *r, VfErr *err)
{
    r->q = call->in[0];
    r->k = call->in[1];
    r->v = call->in[2];
    r->heads = vf_node_int(call->node, "q_num_heads");
    r->groups = vf_node_int(call->node, "kv_num_heads");
    bool fits = r->q->rank == 3 && r->k->rank == 3 && r->v->rank == 3 && r->groups > 0 &&
                r->heads > 0 && r->heads % r->groups == 0 && r->q->dims[2] % r->heads == 0 &&
                r->k->dims[2] % r->groups == 0 && r->v->dims[2] % r->groups == 0;
    if (!fits || r->q->dims[2] / r->heads != r->k->dims[2] / r->groups)
        return vf_low_refuse(err, "%lld and %lld heads that do not fit", (long long)r->heads,
                             (long long)r->groups);
    r->batch = r->q->dims[0];
    r->tokens = r->q->dims[1];
    r->key = r->k->dims[2] / r->groups;
    r->value = r->v->dims[2] / r->groups;
    r->scale = vf_node_float(call->node, "scale");
    if (!(fabs(r->scale) > 0))
        r->scale = 1 / sqrt((double)r->key);
    const int64_t dims[4] = {r->batch, r->groups, r->key, r->value};
    r->state = vf_low_in(call, 3);
    if (r->state == NULL)
        return zeros(cx, r->q->dtype, 4, dims, &r->state, err);
    if (r->state->rank != 4 || (int64_t)r->state->count != vf_low_product(dims, 0, 4))
        return vf_low_refuse(err, "a state of another form");
    return vf_low_cast(cx, r->state, r->q->dtype, &r->state, err);
}

VfStatus vf_lower_linear_attention(VfLower *cx, VfLowCall *call, VfErr *err)
{
    Recurrence r = {0};
    VF_TRY(read_heads(cx, call, &r, err));
    VF_TRY(read_rule(cx, call, &r, err));
    if (r.tokens < 1 || r.tokens > MAX_TOKENS)
        return vf_low_refuse(err, "%lld tokens", (long long)r.tokens);
    VfLowValue **list = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)r.tokens);
    VF_TRY_ALLOC(list, err);
    for (int64_t t = 0; t < r.tokens; t++)
        VF_TRY(step(cx, &r, t, &list[t], err));
    VF_TRY(vf_low_concat(cx, (int32_t)r.tokens, list, 1, &call->out[0], err));
    if (vf_low_has_out(call, 1))
        VF_TRY(vf_low_cast(cx, r.state, call->fact[1].type.dtype, &call->out[1], err));
    return VF_OK;
}

/* --- TensorScatter --- */

/* Numbers counted up along `axis` of `rank` axes. */
static VfStatus count_along(VfLower *cx, int64_t n, int32_t rank, int32_t axis, VfLowValue **out,
                            VfErr *err)
{
    VF_TRY(vf_low_count_up(cx, n, out, err));
    return vf_low_along(cx, *out, rank, axis, out, err);
}

VfStatus vf_lower_tensor_scatter(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *cache = call->in[0], *update = call->in[1], *first = vf_low_in(call, 2), *index;
    VfBytes mode = vf_node_string(call->node, "mode");
    bool is_ring = vf_bytes_is_equal(mode, vf_bytes("circular"));
    int64_t axis;
    VF_TRY(vf_low_axis(call, "axis", cache->rank, &axis, err));
    if (!is_ring && !vf_bytes_is_equal(mode, vf_bytes("linear")))
        return vf_low_refuse_word("mode", mode, err);
    if (axis == 0 || update->rank != cache->rank || update->dims[axis] > cache->dims[axis])
        return vf_low_refuse(err, "an update of another form");
    VF_TRY(count_along(cx, update->dims[axis], cache->rank, (int32_t)axis, &index, err));
    if (first != NULL) {
        VF_TRY(vf_low_along(cx, first, cache->rank, 0, &first, err));
        VF_TRY(vf_low_cast(cx, first, VF_I64, &first, err));
        VF_TRY(vf_low_binary(cx, "add", index, first, &index, err));
    }
    if (is_ring) {
        VfLowValue *length;
        VF_TRY(vf_low_int(cx, cache->dims[axis], &length, err));
        VF_TRY(vf_low_binary(cx, "mod", index, length, &index, err));
    }
    VF_TRY(vf_low_expand(cx, index, update->rank, update->dims, &index, err));
    VfLowValue *const operand[3] = {cache, index, update};
    return vf_low_scatter_along(cx, call, operand, (int32_t)axis, &call->out[0], err);
}

/* --- ReverseSequence --- */

/* The first n[b] steps of each sequence the other way round; the lengths must be known. */
VfStatus vf_lower_reverse_sequence(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0], *n = call->in[1], *index;
    int64_t time, batch, dims[MAX_AXES];
    VF_TRY(vf_low_need_known(call, n, err));
    VF_TRY(vf_low_axis(call, "time_axis", x->rank, &time, err));
    VF_TRY(vf_low_axis(call, "batch_axis", x->rank, &batch, err));
    if (x->rank > MAX_AXES || time == batch || (int64_t)n->count != x->dims[batch])
        return vf_low_refuse(err, "%zu lengths", n->count);
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = i == time || i == batch ? x->dims[i] : 1;
    VfTensor *tensor;
    void *data;
    VF_TRY(vf_tensor_new(cx->arena, VF_I64, x->rank, dims, &tensor, &data, err));
    int64_t *list = data, steps = x->dims[time], rows = x->dims[batch];
    for (int64_t i = 0; i < steps * rows; i++) {
        int64_t t = time < batch ? i / rows : i % steps, b = time < batch ? i % rows : i / steps;
        int64_t length = vf_tensor_get_i64(n->known, (size_t)b);
        if (length < 0 || length > steps)
            return vf_fail(err, VF_INVALID, "node '%s': a sequence of %lld of %lld steps",
                           vf_node_label(call->node), (long long)length, (long long)steps);
        list[i] = t < length ? length - 1 - t : t;
    }
    VF_TRY(vf_low_const(cx, tensor, &index, err));
    VF_TRY(vf_low_expand(cx, index, x->rank, x->dims, &index, err));
    return vf_low_gather_elements(cx, call, x, index, (int32_t)time, &call->out[0], err);
}
