/* What lowering functions ask of a call: operands, attributes, known contents. */
#include "converter/lower/emit.h"

#include <stdarg.h>
#include <stdio.h>

#include "passes/ir/attr.h"

VfLowValue *vf_low_in(const VfLowCall *call, int32_t slot)
{
    return slot < call->n_in ? call->in[slot] : NULL;
}

bool vf_low_has_out(const VfLowCall *call, int32_t index)
{
    return index < call->n_out && call->node->out[index] != NULL;
}

static VfStatus refuse(VfErr *err, const char *fmt, va_list list)
{
    char why[512];
    vsnprintf(why, sizeof why, fmt, list);
    return vf_fail(err, VF_UNSUPPORTED, "%s", why);
}

VfStatus vf_low_refuse(VfErr *err, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    VfStatus status = refuse(err, fmt, list);
    va_end(list);
    return status;
}

VfStatus vf_low_await(const VfLowCall *call, VfErr *err, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    VfStatus status = refuse(err, fmt, list);
    va_end(list);
    *call->waits = true;
    return status;
}

/* A word of the file cut to what fits a sentence, with ? for what cannot be printed. */
static const char *show(VfBytes word, char text[64])
{
    size_t n = word.size < 63 ? word.size : 63;
    for (size_t i = 0; i < n; i++)
        text[i] = word.data[i] >= ' ' && word.data[i] <= '~' ? word.data[i] : '?';
    text[n] = '\0';
    return text;
}

VfStatus vf_low_refuse_word(const char *what, VfBytes word, VfErr *err)
{
    char text[64];
    return vf_low_refuse(err, "%s '%s'", what, show(word, text));
}

VfStatus vf_low_blame(const VfLowCall *call, VfErr *err, const char *why)
{
    const VfNode *node = call->node;
    const VfLowValue *first = vf_low_in(call, 0);
    const char *dtype = first != NULL ? vf_dtype_info(first->dtype)->name : "no operand";
    char domain[64], op[64];
    return vf_fail(err, VF_UNSUPPORTED, "operator %s%s%s (opset %lld, %s), node '%s': %s",
                   show(node->domain, domain), node->domain.size > 0 ? "." : "",
                   show(node->op_type, op), (long long)call->opset, dtype, vf_node_label(node),
                   why);
}

VfStatus vf_low_norm_axis(const VfLowCall *call, int64_t rank, int64_t *axis, VfErr *err)
{
    int64_t given = *axis;
    if (given < 0)
        *axis += rank;
    if (given < -rank || given >= rank)
        return vf_fail(err, VF_INVALID, "node '%s': axis %lld of a tensor of %lld axes",
                       vf_node_label(call->node), (long long)given, (long long)rank);
    return VF_OK;
}

VfStatus vf_low_axis(const VfLowCall *call, const char *name, int64_t rank, int64_t *axis,
                     VfErr *err)
{
    *axis = vf_node_int(call->node, name);
    return vf_low_norm_axis(call, rank, axis, err);
}

VfStatus vf_low_need_known(const VfLowCall *call, const VfLowValue *value, VfErr *err)
{
    if (value->kind == LOW_TENSOR && value->known != NULL && value->dtype != VF_STRING)
        return VF_OK;
    for (int32_t i = 0; i < call->n_in; i++)
        if (call->in[i] == value)
            return vf_low_await(call, err, "operand %d is not known when the plan is made", i);
    return vf_low_await(call, err, "an operand is not known when the plan is made");
}

VfStatus vf_low_ints(VfLower *cx, const VfLowCall *call, const char *name, int32_t slot,
                     const int64_t **list, int32_t *n, VfErr *err)
{
    *list = name != NULL ? vf_node_ints(call->node, name, n) : NULL;
    if (*list != NULL || (name != NULL && vf_node_attr(call->node, name) != NULL))
        return VF_OK;
    *n = 0;
    const VfLowValue *value = slot >= 0 ? vf_low_in(call, slot) : NULL;
    if (value == NULL)
        return VF_OK;
    VF_TRY(vf_low_need_known(call, value, err));
    if (value->count > INT32_MAX)
        return vf_low_refuse(err, "operand %d is too long", slot);
    int64_t *copy = VF_NEW_ARRAY(cx->arena, int64_t, value->count + 1);
    VF_TRY_ALLOC(copy, err);
    for (size_t i = 0; i < value->count; i++)
        copy[i] = vf_tensor_get_i64(value->known, i);
    *list = copy;
    *n = (int32_t)value->count;
    return VF_OK;
}

VfStatus vf_low_numbers(VfLower *cx, const VfLowCall *call, const VfLowValue *value,
                        const double **list, int32_t *n, VfErr *err)
{
    VF_TRY(vf_low_need_known(call, value, err));
    if (value->count > INT32_MAX)
        return vf_low_refuse(err, "an operand is too long");
    double *copy = VF_NEW_ARRAY(cx->arena, double, value->count + 1);
    VF_TRY_ALLOC(copy, err);
    for (size_t i = 0; i < value->count; i++)
        copy[i] = vf_tensor_get_double(value->known, i);
    *list = copy;
    *n = (int32_t)value->count;
    return VF_OK;
}

VfStatus vf_low_result(VfLower *cx, VfLowCall *call, int32_t index, VfLowValue **out, VfErr *err)
{
    const VfType *type = &call->fact[index].type;
    int64_t *dims = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)type->rank + 1);
    VF_TRY_ALLOC(dims, err);
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = type->dims[i].k;
    VF_TRY(vf_low_new(cx, type->dtype, type->rank, dims, out, err));
    call->out[index] = *out;
    return VF_OK;
}

VfStatus vf_low_reshape_to(VfLower *cx, VfLowCall *call, int32_t index, VfLowValue *value,
                           VfErr *err)
{
    const VfType *type = &call->fact[index].type;
    int64_t *dims = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)type->rank + 1);
    VF_TRY_ALLOC(dims, err);
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = type->dims[i].k;
    if (vf_low_product(dims, 0, type->rank) != (int64_t)value->count)
        return vf_fail(err, VF_INTERNAL, "node '%s': inference and lowering disagree on the shape",
                       vf_node_label(call->node));
    VF_TRY(vf_low_cast(cx, value, type->dtype, &value, err));
    return vf_low_reshape(cx, value, type->rank, dims, &call->out[index], err);
}

VfStatus vf_low_choose(VfBytes given, const char *const *name, int32_t *index, VfErr *err)
{
    for (*index = 0; name[*index] != NULL; (*index)++)
        if (vf_bytes_is_equal(given, vf_bytes(name[*index])))
            return VF_OK;
    return vf_low_refuse_word("mode", given, err);
}
