/* Operators that only move elements, of strings. The plan knows all strings, so their numbers in
 * one list are moved in their place when the plan is made.
 */
#include <string.h>

#include "converter/lower/ops.h"
#include "passes/ir/attr.h"

enum { MAX_MOVED = 1 << 19 }; /* strings of all operands, and of each result */

/* Strings that are moved are numbered from 1; 0 is the empty one, with which places are filled that
 * get none. */
typedef struct Words {
    size_t n;
    VfBytes *word;
} Words;

/* With these attributes the operator only moves elements. */
static const struct {
    VfOp op;
    const char *attr, *value;
} only_moves[] = {
    {VF_OP_SCATTER_ND, "reduction", "none"}, {VF_OP_SCATTER_ELEMENTS, "reduction", "none"},
    {VF_OP_RESIZE, "mode", "nearest"},       {VF_OP_UPSAMPLE, "mode", "nearest"},
    {VF_OP_GRID_SAMPLE, "mode", "nearest"},
};

static VfStatus check_moves(const VfLowCall *call, VfErr *err)
{
    for (size_t i = 0; i < sizeof only_moves / sizeof *only_moves; i++) {
        if (only_moves[i].op != call->node->op)
            continue;
        VfBytes value = vf_node_string(call->node, only_moves[i].attr);
        if (value.size > 0 && !vf_bytes_is_equal(value, vf_bytes(only_moves[i].value)))
            return vf_low_refuse(err, "strings with %s '%.*s'", only_moves[i].attr,
                                 (int)value.size, value.data);
    }
    double fill = call->node->op == VF_OP_RESIZE && call->opset >= 11
                      ? vf_node_float(call->node, "extrapolation_value")
                      : 0;
    return fill == 0 ? VF_OK : vf_low_refuse(err, "strings with extrapolation_value %g", fill);
}

/* Strings are added by joining them. */
static bool adds(const VfLowCall *call)
{
    bool is_scatter =
        call->node->op == VF_OP_SCATTER_ND || call->node->op == VF_OP_SCATTER_ELEMENTS;
    return is_scatter &&
           vf_bytes_is_equal(vf_node_string(call->node, "reduction"), vf_bytes("add"));
}

static bool is_strings(const VfLowValue *value)
{
    return value != NULL && value->kind == LOW_TENSOR && value->dtype == VF_STRING;
}

bool vf_low_has_strings(const VfLowCall *call)
{
    for (int32_t i = 0; i < call->n_in; i++)
        if (is_strings(call->in[i]))
            return true;
    return false;
}

/* All operands are known, and neither they nor the results are too many elements. */
static VfStatus check_sizes(const VfLowCall *call, size_t *n_string, VfErr *err)
{
    *n_string = 0;
    for (int32_t i = 0; i < call->n_in; i++) {
        if (call->in[i] == NULL)
            continue;
        if (call->in[i]->kind != LOW_TENSOR || call->in[i]->known == NULL)
            return vf_low_await(call, err, "operand %d is not known when the plan is made", i);
        *n_string += is_strings(call->in[i]) ? call->in[i]->count : 0;
        if (*n_string > MAX_MOVED)
            return vf_low_refuse(err, "more than %d strings", MAX_MOVED);
    }
    for (int32_t i = 0; i < call->n_out; i++) {
        const VfType *type = &call->fact[i].type;
        size_t count = 1;
        for (int32_t k = 0; k < type->rank; k++)
            if (vf_dim_is_known(type->dims[k]) &&
                (__builtin_mul_overflow(count, (size_t)type->dims[k].k, &count) ||
                 count > MAX_MOVED))
                return vf_low_refuse(err, "more than %d strings", MAX_MOVED);
    }
    return VF_OK;
}

/* The numbers of an operand's strings, which are put in the list. */
static VfStatus number_strings(VfLower *cx, const VfLowValue *value, Words *words,
                               const VfTensor **numbers, VfErr *err)
{
    VfTensor *tensor;
    void *data;
    const VfBytes *from = value->known->data;
    VF_TRY(vf_tensor_new(cx->arena, VF_I32, value->rank, value->dims, &tensor, &data, err));
    for (size_t i = 0; i < tensor->count; i++) {
        ((int32_t *)data)[i] = (int32_t)words->n;
        words->word[words->n++] = from[i];
    }
    *numbers = tensor;
    return VF_OK;
}

static VfStatus name_numbers(VfLower *cx, const VfTensor *numbers, const Words *words,
                             VfLowValue **out, VfErr *err)
{
    VfTensor *tensor;
    void *data;
    VF_TRY(vf_tensor_new(cx->arena, VF_STRING, numbers->rank, numbers->dims, &tensor, &data, err));
    for (size_t i = 0; i < numbers->count; i++) {
        int64_t number = vf_tensor_get_i64(numbers, i);
        if (number < 0 || (size_t)number >= words->n)
            return vf_fail(err, VF_INTERNAL, "string %lld of %zu", (long long)number, words->n);
        ((VfBytes *)data)[i] = words->word[number];
    }
    return vf_low_const(cx, tensor, out, err);
}

VfStatus vf_low_move_strings(VfLower *cx, VfLowCall *call, VfErr *err)
{
    size_t n_string;
    VF_TRY(check_sizes(call, &n_string, err));
    if (adds(call))
        return vf_low_scatter_strings(cx, call, err);
    VF_TRY(check_moves(call, err));
    const VfTensor **list =
        VF_NEW_ARRAY(cx->arena, const VfTensor *, (size_t)call->n_in + (size_t)call->n_out + 1);
    Words words = {1, VF_NEW_ARRAY(cx->arena, VfBytes, n_string + 1)};
    VF_TRY_ALLOC(list, err);
    VF_TRY_ALLOC(words.word, err);
    const VfTensor **out = list + call->n_in;
    words.word[0] = vf_bytes("");
    for (int32_t i = 0; i < call->n_in; i++) {
        list[i] = call->in[i] != NULL ? call->in[i]->known : NULL;
        if (is_strings(call->in[i]))
            VF_TRY(number_strings(cx, call->in[i], &words, &list[i], err));
    }
    VF_TRY(vf_low_evaluate(cx->arena, cx->model, call->node, list, out, err));
    for (int32_t i = 0; i < call->n_out; i++)
        if (out[i] != NULL)
            VF_TRY(name_numbers(cx, out[i], &words, &call->out[i], err));
    return VF_OK;
}
