/* com.microsoft GroupQueryAttention, as ONNX Runtime's CPU provider computes it.
 *
 * Letters as in attention.h; P: rows of the given cache, C: rows of the cache that results. T, the
 * tokens of an image after this step, is operand seqlens_k plus one. In a prompt (as many tokens in
 * all as queries) the queries stand at the first keys; else at the last S of the T keys.
 *
 * Not made: caches of other dtypes or of a window, norms of queries and keys, padded chunks, the
 * scores as a result.
 */
#include "converter/lower/attention.h"

#include <math.h>

#include "passes/ir/attr.h"

enum {
    QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, SEQLENS, TOTAL, COS, SIN, POSITION, BIAS, SINK,
    OPERAND_COUNT
};

typedef struct Group {
    VfLower *cx;
    VfLowCall *call;
    VfLowAttention x;
    int64_t heads, groups, n_past, n_query, n_total;
} Group;

/* --- operands --- */

static VfStatus check_attributes(const Group *g, VfErr *err)
{
    static const char *const off[] = {"sliding_window_cache", "qk_output"};
    const VfNode *node = g->call->node;
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        if (vf_node_int(node, off[i]) != 0)
            return vf_low_refuse(err, "attribute %s", off[i]);
    for (int32_t i = OPERAND_COUNT; i < g->call->n_in; i++)
        if (vf_low_in(g->call, i) != NULL)
            return vf_low_refuse(err, "operand %d", i);
    if (vf_low_has_out(g->call, 3))
        return vf_low_refuse(err, "result 3");
    int64_t window = vf_node_int(node, "local_window_size");
    if (window == 0 || (window > 0 && vf_node_int(node, "causal") == 0))
        return vf_low_refuse(err, "local_window_size %lld", (long long)window);
    if (g->heads < 1 || g->groups < 1 || g->heads % g->groups != 0)
        return vf_low_refuse(err, "%lld heads over %lld", (long long)g->heads,
                             (long long)g->groups);
    return VF_OK;
}

/* Columns [begin, begin + heads * width) of `from`, as B heads L width. */
static VfStatus take_heads(Group *g, VfLowValue *from, int64_t begin, int64_t heads, int64_t width,
                           VfLowValue **out, VfErr *err)
{
    if (from->dims[2] < begin + heads * width)
        return vf_low_refuse(err, "operands of another form");
    VF_TRY(vf_low_slice(g->cx, from, 2, begin, heads * width, out, err));
    return vf_low_split_heads(g->cx, *out, heads, out, err);
}

static VfStatus take_operands(Group *g, VfErr *err)
{
    VfLowValue *q = g->call->in[QUERY], *k = vf_low_in(g->call, KEY),
               *v = vf_low_in(g->call, VALUE);
    bool is_packed = k == NULL && v == NULL;
    int64_t parts = is_packed ? g->heads + 2 * g->groups : g->heads;
    if (q->rank != 3 || q->dims[2] % parts != 0 ||
        (!is_packed && (k == NULL || v == NULL || k->rank != 3 || v->rank != 3)))
        return vf_low_refuse(err, "operands of another form");
    int64_t width = q->dims[2] / parts;
    if (!is_packed && (k->dims[1] != q->dims[1] || v->dims[1] != q->dims[1] ||
                       k->dims[2] != g->groups * width || v->dims[2] % g->groups != 0))
        return vf_low_refuse(err, "keys of another form than the queries");
    g->n_query = q->dims[1];
    VF_TRY(take_heads(g, q, 0, g->heads, width, &g->x.q, err));
    VF_TRY(take_heads(g, is_packed ? q : k, is_packed ? g->heads * width : 0, g->groups, width,
                      &g->x.k, err));
    return is_packed ? take_heads(g, q, (g->heads + g->groups) * width, g->groups, width, &g->x.v,
                                  err)
                     : take_heads(g, v, 0, g->groups, v->dims[2] / g->groups, &g->x.v, err);
}

/* Numbers of keys: x.n_valid, x.first, n_total. */
static VfStatus take_lengths(Group *g, VfErr *err)
{
    VfLower *cx = g->cx;
    const VfLowValue *past = vf_low_in(g->call, PAST_KEY);
    VfLowValue *last = g->call->in[SEQLENS], *number;
    const int64_t *total;
    int32_t n;
    VF_TRY(vf_low_ints(cx, g->call, NULL, TOTAL, &total, &n, err));
    if (n != 1 || (past != NULL && past->rank != 4) ||
        (past == NULL) != (vf_low_in(g->call, PAST_VALUE) == NULL))
        return vf_low_refuse(err, "operands of another form");
    g->n_total = total[0];
    g->n_past = past != NULL ? past->dims[2] : 0;
    if (g->n_total < g->n_query || g->n_total > g->n_past + g->n_query)
        return vf_low_refuse(err, "%lld tokens in all, of %lld queries and %lld earlier keys",
                             (long long)g->n_total, (long long)g->n_query, (long long)g->n_past);
    const int64_t batch = g->x.q->dims[0];
    if ((int64_t)last->count != batch)
        return vf_low_refuse(err, "seqlens_k of another form");
    VF_TRY(vf_low_reshape(cx, last, 1, &batch, &last, err));
    VF_TRY(vf_low_cast(cx, last, VF_I64, &last, err));
    VF_TRY(vf_low_int(cx, 1, &number, err));
    VF_TRY(vf_low_binary(cx, "add", last, number, &g->x.n_valid, err));
    if (g->n_total == g->n_query)
        return VF_OK;
    VF_TRY(vf_low_int(cx, g->n_query, &number, err));
    VF_TRY(vf_low_binary(cx, "sub", g->x.n_valid, number, &g->x.first, err));
    VF_TRY(vf_low_int(cx, 0, &number, err));
    return vf_low_binary(cx, "max", g->x.first, number, &g->x.first, err);
}

/* --- rotary positions --- */

/* Of a prompt the first given position counts, and the others follow it. */
static VfStatus places_of(Group *g, VfLowValue **place, VfErr *err)
{
    static const int64_t one[1] = {1};
    VfLowValue *given = vf_low_in(g->call, POSITION), *first = NULL;
    bool is_prompt = g->x.first == NULL;
    const int64_t flat[1] = {given != NULL ? (int64_t)given->count : 0};
    const int64_t column[2] = {g->x.n_valid->dims[0], 1};
    *place = given;
    if (given != NULL && !is_prompt)
        return VF_OK;
    if (given != NULL) {
        VF_TRY(vf_low_reshape(g->cx, given, 1, flat, &first, err));
        VF_TRY(vf_low_slice(g->cx, first, 0, 0, one[0], &first, err));
    } else if (!is_prompt) {
        VF_TRY(vf_low_reshape(g->cx, g->x.first, 2, column, &first, err));
    }
    return vf_low_places_from(g->cx, first, g->n_query, place, err);
}

static VfStatus turn(Group *g, VfErr *err)
{
    VfLowRotary r = {.cos = vf_low_in(g->call, COS), .sin = vf_low_in(g->call, SIN)};
    VfLowValue **part[2] = {&g->x.q, &g->x.k}, *y;
    if (vf_node_int(g->call->node, "do_rotary") == 0)
        return VF_OK;
    if (r.cos == NULL || r.sin == NULL || r.cos->rank != 2)
        return vf_low_refuse(err, "rotary positions without a table");
    r.size = 2 * r.cos->dims[1];
    r.is_interleaved = vf_node_int(g->call->node, "rotary_interleaved") != 0;
    VF_TRY(places_of(g, &r.place, err));
    for (int32_t i = 0; i < 2; i++) {
        VF_TRY(vf_low_new(g->cx, (*part[i])->dtype, 4, (*part[i])->dims, &y, err));
        VF_TRY(vf_low_rotate(g->cx, &r, *part[i], y, err));
        *part[i] = y;
    }
    return VF_OK;
}

/* --- the cache --- */

/* Row of [past; new] that becomes row j of the cache of each image, B x 1 x C; those from T on are
 * cleared later. */
static VfStatus cache_rows(Group *g, int64_t n_row, VfLowValue **out, VfErr *err)
{
    VfLower *cx = g->cx;
    const int64_t dims[3] = {g->x.first->dims[0], 1, 1};
    VfLowValue *first, *row, *moved, *number, *is_old;
    VF_TRY(vf_low_count_up(cx, n_row, &row, err));
    VF_TRY(vf_low_reshape(cx, g->x.first, 3, dims, &first, err));
    VF_TRY(vf_low_binary(cx, "less", row, first, &is_old, err));
    VF_TRY(vf_low_int(cx, g->n_past, &number, err));
    VF_TRY(vf_low_binary(cx, "sub", number, first, &moved, err));
    VF_TRY(vf_low_binary(cx, "add", row, moved, &moved, err));
    VF_TRY(vf_low_where(cx, is_old, row, moved, &row, err));
    VF_TRY(vf_low_int(cx, g->n_past + g->n_query - 1, &number, err));
    return vf_low_binary(cx, "min", row, number, out, err);
}

/* Rows of `x`, B G (P + S) D, where each image wants them, B G C D. */
static VfStatus place_rows(Group *g, VfLowValue *x, int64_t n_row, VfLowValue **out, VfErr *err)
{
    VfLower *cx = g->cx;
    int64_t batch = x->dims[0], n_list = batch * x->dims[1];
    const int64_t flat[2] = {n_list * x->dims[2], x->dims[3]}, lists[3] = {batch, x->dims[1], 1};
    VfLowValue *row, *begin;
    int64_t *list = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)n_list + 1);
    VF_TRY_ALLOC(list, err);
    for (int64_t i = 0; i < n_list; i++)
        list[i] = i * x->dims[2];
    VF_TRY(vf_low_const_i64(cx, (size_t)n_list, list, &begin, err));
    VF_TRY(vf_low_reshape(cx, begin, 3, lists, &begin, err));
    VF_TRY(cache_rows(g, n_row, &row, err));
    VF_TRY(vf_low_binary(cx, "add", begin, row, &row, err));
    VF_TRY(vf_low_reshape(cx, x, 2, flat, &x, err));
    return vf_low_gather_axis(cx, x, row, 0, out, err);
}

/* Rows that hold no token are zero. */
static VfStatus clear_rows(Group *g, VfLowValue **x, VfErr *err)
{
    VfLower *cx = g->cx;
    int64_t n_row = (*x)->dims[2];
    const int64_t column[4] = {1, 1, n_row, 1}, bound[4] = {(*x)->dims[0], 1, 1, 1};
    VfLowValue *row, *end, *zero, *is_token;
    VF_TRY(vf_low_count_up(cx, n_row, &row, err));
    VF_TRY(vf_low_reshape(cx, row, 4, column, &row, err));
    VF_TRY(vf_low_reshape(cx, g->x.n_valid, 4, bound, &end, err));
    VF_TRY(vf_low_binary(cx, "less", row, end, &is_token, err));
    VF_TRY(vf_low_scalar(cx, (*x)->dtype, 0, &zero, err));
    return vf_low_where(cx, is_token, *x, zero, x, err);
}

/* `*now`, B G S D, becomes the cache, B G C D. */
static VfStatus keep(Group *g, int32_t slot, VfLowValue **now, VfErr *err)
{
    VfLower *cx = g->cx;
    VfLowValue *past = vf_low_in(g->call, slot), *list[2] = {*now};
    int64_t n_row = g->n_past > g->n_total ? g->n_past : g->n_total;
    if (past == NULL)
        return VF_OK;
    if (past->rank != 4 || past->dims[0] != (*now)->dims[0] || past->dims[1] != g->groups ||
        past->dims[2] != g->n_past || past->dims[3] != (*now)->dims[3])
        return vf_low_refuse(err, "a cache of another form than the new keys or values");
    if (g->x.first != NULL) {
        VF_TRY(vf_low_append_past(cx, past, now, err));
        VF_TRY(place_rows(g, *now, n_row, now, err));
        return clear_rows(g, now, err);
    }
    const int64_t rest[4] = {past->dims[0], g->groups, n_row - g->n_query, past->dims[3]};
    if (rest[2] == 0)
        return VF_OK;
    VF_TRY(vf_low_scalar(cx, past->dtype, 0, &list[1], err));
    VF_TRY(vf_low_expand(cx, list[1], 4, rest, &list[1], err));
    return vf_low_concat(cx, 2, list, 2, now, err);
}

/* --- the operator --- */

static VfStatus take_sink(Group *g, VfErr *err)
{
    const int64_t heads = g->heads;
    g->x.sink = vf_low_in(g->call, SINK);
    if (g->x.sink != NULL || vf_node_int(g->call->node, "smooth_softmax") == 0)
        return VF_OK;
    VF_TRY(vf_low_scalar(g->cx, g->x.q->dtype, 0, &g->x.sink, err));
    return vf_low_expand(g->cx, g->x.sink, 1, &heads, &g->x.sink, err);
}

VfStatus vf_lower_ms_group_query(VfLower *cx, VfLowCall *call, VfErr *err)
{
    const VfNode *node = call->node;
    Group g = {.cx = cx,
               .call = call,
               .heads = vf_node_int(node, "num_heads"),
               .groups = vf_node_int(node, "kv_num_heads"),
               .x = {.mask = vf_low_in(call, BIAS),
                     .softcap = vf_node_float(node, "softcap"),
                     .is_causal = vf_node_int(node, "causal") != 0,
                     .window = {-1, -1}}};
    int64_t window = vf_node_int(node, "local_window_size");
    VF_TRY(check_attributes(&g, err));
    VF_TRY(take_operands(&g, err));
    VF_TRY(take_lengths(&g, err));
    VF_TRY(turn(&g, err));
    VF_TRY(keep(&g, PAST_KEY, &g.x.k, err));
    VF_TRY(keep(&g, PAST_VALUE, &g.x.v, err));
    VF_TRY(take_sink(&g, err));
    g.x.softmax_dtype = g.x.q->dtype;
    g.x.window[0] = window > 0 ? window - 1 : -1;
    g.x.scale = vf_node_float(node, "scale");
    if (!(fabs(g.x.scale) > 0))
        g.x.scale = 1 / sqrt((double)g.x.q->dims[3]);
    VF_TRY(vf_low_attend(cx, &g.x, err));
    VF_TRY(vf_low_join_heads(cx, g.x.out, &call->out[0], err));
    if (vf_low_has_out(call, 1))
        call->out[1] = g.x.k;
    if (vf_low_has_out(call, 2))
        call->out[2] = g.x.v;
    return VF_OK;
}
