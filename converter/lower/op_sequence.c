/* Sequences and optionals: lists of values while the plan is made, nothing at run time. */
#include "converter/lower/ops.h"

#include <string.h>

#include "passes/ir/attr.h"

/* Items of all sequences: each node that changes one makes a list of its own. */
enum { MAX_ITEMS = 1 << 26 };

static VfStatus new_sequence(VfLower *cx, VfDtype dtype, int32_t n, VfLowValue ***item,
                             VfLowValue **out, VfErr *err)
{
    VfLowValue *value = VF_NEW(cx->arena, VfLowValue);
    cx->n_item += (size_t)n;
    if (cx->n_item > MAX_ITEMS)
        return vf_low_refuse(err, "more than %d items in all sequences", MAX_ITEMS);
    *item = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)n + 1);
    VF_TRY_ALLOC(value, err);
    VF_TRY_ALLOC(*item, err);
    value->kind = LOW_SEQUENCE;
    value->dtype = dtype;
    value->buffer = LOW_NO_BUFFER;
    value->n_item = n;
    value->item = *item;
    *out = value;
    return VF_OK;
}

static VfStatus need_sequence(const VfLowCall *call, VfErr *err)
{
    const VfLowValue *value = vf_low_in(call, 0);
    return value != NULL && value->kind == LOW_SEQUENCE
               ? VF_OK
               : vf_low_refuse(err, "operand 0 is no sequence");
}

/* Position operand `slot`; `fallback` when omitted. From -n on, below n + `extra`. */
static VfStatus position(const VfLowCall *call, int32_t slot, int64_t fallback, int32_t extra,
                         int32_t *at, VfErr *err)
{
    const VfLowValue *given = vf_low_in(call, slot);
    int64_t n = call->in[0]->n_item, place = fallback;
    if (given != NULL) {
        VF_TRY(vf_low_need_known(call, given, err));
        if (given->count != 1)
            return vf_low_refuse(err, "a position that is not one number");
        place = vf_tensor_get_i64(given->known, 0);
    }
    if (place < 0)
        place += n;
    if (place < 0 || place >= n + extra)
        return vf_fail(err, VF_INVALID, "node '%s': position %lld in a sequence of %lld",
                       vf_node_label(call->node), (long long)place, (long long)n);
    *at = (int32_t)place;
    return VF_OK;
}

VfStatus vf_lower_sequence_empty(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue **item;
    return new_sequence(cx, VF_F32, 0, &item, &call->out[0], err);
}

VfStatus vf_lower_sequence_construct(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue **item;
    if (call->n_in < 1 || call->in[0] == NULL)
        return vf_low_refuse(err, "no operand");
    VF_TRY(new_sequence(cx, call->in[0]->dtype, call->n_in, &item, &call->out[0], err));
    memcpy(item, call->in, (size_t)call->n_in * sizeof *item);
    return VF_OK;
}

VfStatus vf_lower_sequence_insert(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue **item, *s = vf_low_in(call, 0);
    int32_t at;
    VF_TRY(need_sequence(call, err));
    VF_TRY(position(call, 2, s->n_item, 1, &at, err));
    if (vf_low_in(call, 1) == NULL || s->n_item == INT32_MAX)
        return vf_low_refuse(err, "no tensor to insert");
    VF_TRY(new_sequence(cx, call->in[1]->dtype, s->n_item + 1, &item, &call->out[0], err));
    for (int32_t i = 0; i <= s->n_item; i++)
        item[i] = i < at ? s->item[i] : i == at ? call->in[1] : s->item[i - 1];
    return VF_OK;
}

VfStatus vf_lower_sequence_erase(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue **item, *s = vf_low_in(call, 0);
    int32_t at;
    VF_TRY(need_sequence(call, err));
    VF_TRY(position(call, 1, -1, 0, &at, err));
    VF_TRY(new_sequence(cx, s->dtype, s->n_item - 1, &item, &call->out[0], err));
    for (int32_t i = 0; i + 1 < s->n_item; i++)
        item[i] = s->item[i < at ? i : i + 1];
    return VF_OK;
}

VfStatus vf_lower_sequence_at(VfLower *cx, VfLowCall *call, VfErr *err)
{
    int32_t at;
    (void)cx;
    VF_TRY(need_sequence(call, err));
    VF_TRY(position(call, 1, 0, 0, &at, err));
    call->out[0] = call->in[0]->item[at];
    return VF_OK;
}

VfStatus vf_lower_sequence_length(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VF_TRY(need_sequence(call, err));
    return vf_low_scalar(cx, VF_I64, call->in[0]->n_item, &call->out[0], err);
}

VfStatus vf_lower_concat_from_sequence(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *s = vf_low_in(call, 0);
    int64_t axis = vf_node_int(call->node, "axis"), dims[64];
    bool is_new = vf_node_int(call->node, "new_axis") != 0;
    VF_TRY(need_sequence(call, err));
    if (s->n_item == 0 || s->item[0]->kind != LOW_TENSOR)
        return vf_low_refuse(err, "an empty sequence");
    VF_TRY(vf_low_norm_axis(call, s->item[0]->rank + (is_new ? 1 : 0), &axis, err));
    VfLowValue **list = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)s->n_item);
    VF_TRY_ALLOC(list, err);
    for (int32_t i = 0; i < s->n_item; i++) {
        VfLowValue *x = list[i] = s->item[i];
        if (x->kind != LOW_TENSOR || x->rank > 62)
            return vf_low_refuse(err, "item %d is no tensor", i);
        for (int32_t k = 0; is_new && k <= x->rank; k++)
            dims[k] = k < axis ? x->dims[k] : k == axis ? 1 : x->dims[k - 1];
        if (is_new)
            VF_TRY(vf_low_reshape(cx, x, x->rank + 1, dims, &list[i], err));
    }
    return vf_low_concat(cx, s->n_item, list, (int32_t)axis, &call->out[0], err);
}

/* Sizes of the pieces: 1 each (then the axis may be dropped), one number for all, or one each. */
static VfStatus piece_sizes(VfLower *cx, const VfLowCall *call, int64_t dim, const int64_t **size,
                            int32_t *n, VfErr *err)
{
    int32_t n_given;
    const int64_t *given;
    VF_TRY(vf_low_ints(cx, call, NULL, 1, &given, &n_given, err));
    const VfLowValue *split = vf_low_in(call, 1);
    bool is_each = split != NULL && split->rank == 1;
    int64_t step = is_each ? 0 : given != NULL && n_given == 1 ? given[0] : 1;
    if (is_each) {
        *size = given;
        *n = n_given;
        return VF_OK;
    }
    if (step < 1 || dim > INT32_MAX)
        return vf_low_refuse(err, "pieces of %lld", (long long)step);
    step = step < dim || dim == 0 ? step : dim;
    *n = (int32_t)(dim == 0 ? 0 : (dim + step - 1) / step);
    int64_t *list = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)*n + 1);
    VF_TRY_ALLOC(list, err);
    for (int32_t i = 0; i < *n; i++)
        list[i] = (i + 1) * step <= dim ? step : dim - i * step;
    *size = list;
    return VF_OK;
}

VfStatus vf_lower_split_to_sequence(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = vf_low_in(call, 0), **item;
    const int64_t *size = NULL;
    int64_t axis, begin = 0, dims[64];
    int32_t n = 0;
    if (x == NULL || x->kind != LOW_TENSOR || x->rank > 64)
        return vf_low_refuse(err, "operand 0 is no tensor");
    VF_TRY(vf_low_axis(call, "axis", x->rank, &axis, err));
    VF_TRY(piece_sizes(cx, call, x->dims[axis], &size, &n, err));
    /* Exporters give pieces of one as a scalar and still want the axis gone. */
    const VfLowValue *split = vf_low_in(call, 1);
    bool is_each_one = split == NULL || (split->rank == 0 && n > 0 && size[0] == 1);
    bool drops = is_each_one && vf_node_int(call->node, "keepdims") == 0;
    VF_TRY(new_sequence(cx, x->dtype, n, &item, &call->out[0], err));
    for (int32_t i = 0; i + 1 < x->rank; i++)
        dims[i] = x->dims[i < axis ? i : i + 1];
    for (int32_t i = 0; i < n; i++) {
        VF_TRY(vf_low_slice(cx, x, (int32_t)axis, begin, size[i], &item[i], err));
        begin += size[i];
        if (drops)
            VF_TRY(vf_low_reshape(cx, item[i], x->rank - 1, dims, &item[i], err));
    }
    return VF_OK;
}

/* --- optionals --- */

VfStatus vf_lower_optional(VfLower *cx, VfLowCall *call, VfErr *err)
{
    call->out[0] = vf_low_in(call, 0);
    if (call->out[0] != NULL)
        return VF_OK;
    call->out[0] = VF_NEW(cx->arena, VfLowValue);
    VF_TRY_ALLOC(call->out[0], err);
    call->out[0]->kind = LOW_ABSENT;
    call->out[0]->buffer = LOW_NO_BUFFER;
    return VF_OK;
}

VfStatus vf_lower_optional_has(VfLower *cx, VfLowCall *call, VfErr *err)
{
    const VfLowValue *value = vf_low_in(call, 0);
    return vf_low_scalar(cx, VF_BOOL, value != NULL && value->kind != LOW_ABSENT, &call->out[0],
                         err);
}

VfStatus vf_lower_optional_get(VfLower *cx, VfLowCall *call, VfErr *err)
{
    (void)cx;
    if (vf_low_in(call, 0) == NULL || call->in[0]->kind == LOW_ABSENT)
        return vf_low_refuse(err, "an optional without a value");
    call->out[0] = call->in[0];
    return VF_OK;
}

/* SequenceMap: the body once for each item; other tensors are given to every trip. */
VfStatus vf_lower_sequence_map(VfLower *cx, VfLowCall *call, VfErr *err)
{
    const VfGraph *body = vf_low_body(call->node, "body");
    VF_TRY(need_sequence(call, err));
    int32_t n = call->in[0]->n_item;
    if (body == NULL || body->n_input != call->n_in || body->ret->n_in < call->n_out)
        return vf_low_refuse(err, "the body does not fit the operands");
    VfLowValue ***item = VF_NEW_ARRAY(cx->arena, VfLowValue **, (size_t)call->n_out + 1);
    VF_TRY_ALLOC(item, err);
    for (int32_t k = 0; k < call->n_out; k++)
        VF_TRY(new_sequence(cx, VF_UNDEFINED, n, &item[k], &call->out[k], err));
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < call->n_in; k++) {
            VfLowValue *x = call->in[k];
            bool is_list = x != NULL && x->kind == LOW_SEQUENCE;
            if (is_list && x->n_item != n)
                return vf_low_refuse(err, "sequences of unlike lengths");
            cx->env[body->input[k]->id] = is_list ? x->item[i] : x;
        }
        VF_TRY(vf_low_walk(cx, body, err));
        for (int32_t k = 0; k < call->n_out; k++)
            VF_TRY(vf_low_lookup(cx, vf_node_in(body->ret, k), &item[k][i], err));
    }
    for (int32_t k = 0; k < call->n_out; k++)
        if (n > 0 && item[k][0] != NULL)
            call->out[k]->dtype = item[k][0]->dtype;
    return VF_OK;
}
