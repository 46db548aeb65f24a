/* What is known before a node is lowered: inference on concrete operands, and results computed
 * when the plan is made.
 */
#include <string.h>

#include "converter/lower/emit.h"

/* Elements of the operands, and of each result, of a node computed now. */
enum { MAX_FOLD = 1 << 19 }; /* masks of shifted windows: 64 of 49 x 49 tokens */
/* Bytes: results that may be sizes are always computed; what is only settled is a guess that it
 * will be asked for, on which no more is spent. */
enum { ALWAYS_COMPUTED = 1 << 12, MAX_SETTLED = 1 << 26 };

static VfStatus content_of(VfLower *cx, const VfLowValue *value, VfFact *fact, VfErr *err)
{
    const VfTensor *known = value->known;
    bool is_whole = value->dtype == VF_I64 || value->dtype == VF_I32 || value->dtype == VF_BOOL;
    if (known == NULL || !is_whole || value->rank > 1 || value->count > VF_CONTENT_MAX)
        return VF_OK;
    VfDim *content = VF_NEW_ARRAY(cx->arena, VfDim, value->count + 1);
    VF_TRY_ALLOC(content, err);
    for (size_t i = 0; i < value->count; i++)
        content[i] = vf_dim(vf_tensor_get_i64(known, i));
    fact->content = content;
    fact->n_content = (int32_t)value->count;
    return VF_OK;
}

static VfStatus fact_of(VfLower *cx, const VfLowValue *value, VfFact *fact, VfErr *err)
{
    static const VfTypeKind kind[] = {[LOW_TENSOR] = VF_TYPE_TENSOR,
                                      [LOW_SEQUENCE] = VF_TYPE_SEQUENCE,
                                      [LOW_ABSENT] = VF_TYPE_OPTIONAL,
                                      [LOW_UNKNOWN] = VF_TYPE_TENSOR};
    *fact = (VfFact){.type = {kind[value->kind], value->dtype, VF_RANK_UNKNOWN, NULL}};
    if (value->kind != LOW_TENSOR)
        return VF_OK;
    VfDim *dims = VF_NEW_ARRAY(cx->arena, VfDim, (size_t)value->rank + 1);
    VF_TRY_ALLOC(dims, err);
    for (int32_t i = 0; i < value->rank; i++)
        dims[i] = vf_dim(value->dims[i]);
    fact->type.rank = value->rank;
    fact->type.dims = dims;
    fact->tensor = value->known;
    return content_of(cx, value, fact, err);
}

VfStatus vf_low_infer(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfFact *facts = VF_NEW_ARRAY(cx->arena, VfFact, (size_t)call->n_in + 1);
    const VfFact **in = VF_NEW_ARRAY(cx->arena, const VfFact *, (size_t)call->n_in + 1);
    VfFact *out = VF_NEW_ARRAY(cx->arena, VfFact, (size_t)call->n_out + 1);
    if (facts == NULL || in == NULL || out == NULL)
        return vf_no_memory(err);
    for (int32_t i = 0; i < call->n_in; i++) {
        if (call->in[i] == NULL)
            continue;
        VF_TRY(fact_of(cx, call->in[i], &facts[i], err));
        in[i] = &facts[i];
    }
    call->fact = out;
    return vf_infer_node(cx->arena, cx->symbols, call->node, in, out, err);
}

/* The contents inference found as a tensor, or NULL. */
static VfStatus known_result(VfLower *cx, const VfFact *fact, const VfTensor **known, VfErr *err)
{
    *known = fact->tensor;
    bool is_whole = fact->type.dtype == VF_I64 || fact->type.dtype == VF_I32 ||
                    fact->type.dtype == VF_BOOL;
    if (*known != NULL || fact->content == NULL || !is_whole || fact->type.rank < 0 ||
        fact->type.rank > 1)
        return VF_OK;
    for (int32_t i = 0; i < fact->n_content; i++)
        if (!vf_dim_is_known(fact->content[i]))
            return VF_OK;
    int64_t dim = fact->n_content;
    VfTensor *tensor;
    void *data;
    VF_TRY(vf_tensor_new(cx->arena, fact->type.dtype, fact->type.rank, &dim, &tensor, &data, err));
    size_t width = vf_low_width(fact->type.dtype);
    for (int32_t i = 0; i < fact->n_content; i++) {
        int64_t number = fact->content[i].k;
        memcpy((char *)data + (size_t)i * width, &number,
               width); /* little endian: low bytes first */
    }
    *known = tensor;
    return VF_OK;
}

VfStatus vf_low_take_known(VfLower *cx, VfLowCall *call, bool *is_done, VfErr *err)
{
    *is_done = call->n_out > 0;
    for (int32_t i = 0; i < call->n_out; i++) {
        const VfTensor *known;
        if (call->node->out[i] == NULL)
            continue;
        VF_TRY(known_result(cx, &call->fact[i], &known, err));
        if (known != NULL)
            VF_TRY(vf_low_const(cx, known, &call->out[i], err));
        *is_done = *is_done && known != NULL;
    }
    return VF_OK;
}

/* Numbers that are repeated need no memory of their own: readers take them with stride 0. Integers
 * are computed, since shapes may depend on them. `n_result`: elements of the result. */
static bool is_view_of_weight(const VfLowCall *call, size_t n_result)
{
    return call->node->op == VF_OP_EXPAND && n_result > call->in[0]->count &&
           vf_dtype_info(call->in[0]->dtype)->is_float;
}

/* Bytes that the options leave for a plan. */
static size_t room_of(const VfLower *cx)
{
    size_t limit = cx->options.max_arena_bytes, held = cx->options.held_bytes;
    return limit == 0 ? SIZE_MAX : limit > held ? limit - held : 0;
}

/* The plan holds what is computed for it, of which loops may make any amount. */
static bool claim(VfLower *cx, size_t bytes, size_t most)
{
    if (bytes > ALWAYS_COMPUTED && (cx->computed_bytes > most || bytes > most - cx->computed_bytes))
        return false;
    cx->computed_bytes += bytes;
    return true;
}

bool vf_low_may_compute(VfLower *cx, size_t bytes)
{
    bool may = claim(cx, bytes, room_of(cx));
    cx->lacks_room = cx->lacks_room || !may;
    return may;
}

/* At most: sizes that depend on data count as 1. */
static size_t result_bytes(const VfLowCall *call)
{
    size_t bytes = 0;
    for (int32_t i = 0; i < call->n_out; i++) {
        const VfType *type = &call->fact[i].type;
        size_t count = 1;
        for (int32_t k = 0; k < type->rank; k++)
            count *= vf_dim_is_known(type->dims[k]) ? (size_t)type->dims[k].k : 1;
        bytes += vf_dtype_bytes(type->dtype, count);
    }
    return bytes;
}

static bool can_fold(const VfLower *cx, const VfLowCall *call)
{
    VfOp op = call->node->op;
    size_t total = 0, n_result = 0;
    if (cx->is_inner || vf_op_has(op, VF_OPF_IMPURE | VF_OPF_CONTROL | VF_OPF_VIEW))
        return false;
    for (int32_t i = 0; i < call->n_in; i++) {
        const VfLowValue *value = call->in[i];
        if (value == NULL)
            continue;
        if (value->kind != LOW_TENSOR || value->known == NULL || value->count > MAX_FOLD)
            return false;
        total += value->count;
    }
    for (int32_t i = 0; i < call->n_out; i++) {
        const VfType *type = &call->fact[i].type;
        size_t count = 1;
        if (type->kind != VF_TYPE_TENSOR)
            return false;
        /* What depends on data is a part of the operands. */
        for (int32_t k = 0; k < type->rank; k++)
            if (vf_dim_is_known(type->dims[k]) &&
                __builtin_mul_overflow(count, (size_t)type->dims[k].k, &count))
                return false;
        n_result = count;
        total = total > count ? total : count;
    }
    return total <= MAX_FOLD && !is_view_of_weight(call, n_result);
}

/* What is known of a buffer, or NULL. */
static const char *contents_of(const VfLower *cx, int32_t buffer)
{
    const VfLowBuffer *b = &cx->buffer[buffer];
    return b->space == VF_SPACE_WEIGHT ? cx->weight[b->index].data : b->known;
}

/* A dense copy of a tensor in a known buffer. */
static VfStatus read_buffer(VfLower *cx, const VfLowValue *value, VfLowValue **out, VfErr *err)
{
    VfTensor *tensor;
    void *data;
    size_t width = vf_low_width(value->dtype);
    const char *from = contents_of(cx, value->buffer);
    VF_TRY(vf_tensor_new(cx->arena, value->dtype, value->rank, value->dims, &tensor, &data, err));
    for (size_t i = 0; i < value->count; i++) {
        size_t rest = i;
        int64_t at = 0;
        for (int32_t k = value->rank; k-- > 0; rest /= (size_t)value->dims[k])
            at += (int64_t)(rest % (size_t)value->dims[k]) * value->stride[k];
        memcpy((char *)data + i * width, from + value->offset + at * (int64_t)width, width);
    }
    return vf_low_const(cx, tensor, out, err);
}

/* In a known buffer, or nothing at all. */
static bool can_settle(const VfLower *cx, const VfLowValue *value)
{
    return value->kind == LOW_TENSOR && value->known == NULL && value->buffer != LOW_NO_BUFFER &&
           (value->count == 0 || contents_of(cx, value->buffer) != NULL) &&
           value->count <= MAX_FOLD && vf_low_width(value->dtype) > 0;
}

static VfStatus settle_items(VfLower *cx, VfLowValue **value, VfErr *err)
{
    VfLowValue **item = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)(*value)->n_item + 1);
    VfLowValue *settled = VF_NEW(cx->arena, VfLowValue);
    VF_TRY_ALLOC(item, err);
    VF_TRY_ALLOC(settled, err);
    *settled = **value;
    settled->item = item;
    for (int32_t i = 0; i < settled->n_item; i++) {
        item[i] = (*value)->item[i];
        VF_TRY(vf_low_settle(cx, &item[i], err));
    }
    *value = settled;
    return VF_OK;
}

size_t vf_low_fold_max(const VfLower *cx)
{
    bool is_asked = !cx->is_inner && cx->depth > 1 && (cx->use_values || cx->options.n_given > 0);
    return is_asked ? MAX_FOLD : 0;
}

VfStatus vf_low_settle(VfLower *cx, VfLowValue **value, VfErr *err)
{
    if (vf_low_fold_max(cx) == 0 || *value == NULL)
        return VF_OK;
    size_t most = room_of(cx) / 4 < MAX_SETTLED ? room_of(cx) / 4 : MAX_SETTLED;
    if (can_settle(cx, *value) &&
        claim(cx, vf_dtype_bytes((*value)->dtype, (*value)->count), most))
        return read_buffer(cx, *value, value, err);
    return (*value)->kind == LOW_SEQUENCE ? settle_items(cx, value, err) : VF_OK;
}

VfStatus vf_low_fold(VfLower *cx, VfLowCall *call, bool *is_done, VfErr *err)
{
    *is_done = false;
    if (!can_fold(cx, call) || !vf_low_may_compute(cx, result_bytes(call)))
        return VF_OK;
    const VfTensor **list =
        VF_NEW_ARRAY(cx->arena, const VfTensor *, (size_t)call->n_in + (size_t)call->n_out + 1);
    VF_TRY_ALLOC(list, err);
    const VfTensor **out = list + call->n_in;
    for (int32_t i = 0; i < call->n_in; i++)
        list[i] = call->in[i] != NULL ? call->in[i]->known : NULL;
    VfErr why = {0};
    VfStatus status = vf_low_evaluate(cx->arena, cx->model, call->node, list, out, &why);
    *is_done = status == VF_OK;
    if (status == VF_UNSUPPORTED || (status == VF_INVALID && cx->choice != NULL))
        return VF_OK; /* the ordinary way gives the same refusal, with the node noted */
    if (status != VF_OK)
        return vf_fail(err, status, "%s", why.text);
    for (int32_t i = 0; i < call->n_out; i++)
        if (out[i] != NULL)
            VF_TRY(vf_low_const(cx, out[i], &call->out[i], err));
    return VF_OK;
}
