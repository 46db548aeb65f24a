/* Strings: only the plan knows them, so what is computed from them is computed as it is made. */
#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/lower/ops.h"
#include "runtime/kernels/number.h"

/* A tensor of the shape inferred for result 0, whose data is to be filled. */
static VfStatus new_result(VfLower *cx, const VfLowCall *call, VfDtype dtype, VfTensor **tensor,
                           void **data, VfErr *err)
{
    const VfType *type = &call->fact[0].type;
    int64_t *dims = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)type->rank + 1);
    VF_TRY_ALLOC(dims, err);
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = type->dims[i].k;
    return vf_tensor_new(cx->arena, dtype, type->rank, dims, tensor, data, err);
}

/* The element of a known operand that is broadcast to element `place` of a tensor. */
static size_t broadcast_place(const VfLowValue *operand, const VfTensor *to, size_t place)
{
    size_t at = 0, stride = 1;
    for (int32_t i = to->rank - 1, k = operand->rank - 1; k >= 0; i--, k--) {
        size_t dim = (size_t)operand->dims[k];
        at += dim == 1 ? 0 : place % (size_t)to->dims[i] * stride;
        stride *= dim;
        place /= (size_t)to->dims[i];
    }
    return at;
}

static VfStatus need_strings(const VfLowValue *value, VfErr *err)
{
    return value->known != NULL && value->dtype == VF_STRING
               ? VF_OK
               : vf_low_refuse(err, "strings that are not known when the plan is made");
}

VfStatus vf_low_equal_strings(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfTensor *tensor;
    void *data;
    if (call->node->op != VF_OP_EQUAL)
        return vf_low_refuse(err, "strings");
    for (int k = 0; k < 2; k++)
        VF_TRY(need_strings(call->in[k], err));
    const VfBytes *a = call->in[0]->known->data, *b = call->in[1]->known->data;
    VF_TRY(new_result(cx, call, VF_BOOL, &tensor, &data, err));
    for (size_t i = 0; i < tensor->count; i++)
        ((char *)data)[i] = vf_bytes_is_equal(a[broadcast_place(call->in[0], tensor, i)],
                                              b[broadcast_place(call->in[1], tensor, i)]);
    return vf_low_const(cx, tensor, &call->out[0], err);
}

/* --- numbers in strings: plain or scientific notation, "INF", "-inf", "NaN" --- */

/* The text must be a number from end to end, and no hexadecimal one. */
static bool is_number(const char *text, size_t size, const char *end)
{
    return size > 0 && end == text + size && !isspace((unsigned char)text[0]) &&
           strpbrk(text, "xXpP(") == NULL;
}

static bool put_number(const char *text, size_t size, VfTensor *to, void *data, size_t i,
                       locale_t locale)
{
    char *end;
    if (to->dtype == VF_F32) {
        ((float *)data)[i] = strtof_l(text, &end, locale);
    } else if (to->dtype == VF_I64) {
        ((int64_t *)data)[i] = strtoll(text, &end, 10);
    } else if (to->dtype == VF_U64) {
        ((uint64_t *)data)[i] = strtoull(text, &end, 10);
    } else {
        double value = strtod_l(text, &end, locale);
        vf_tensor_put_double(data, to->dtype, i, value);
    }
    return is_number(text, size, end);
}

VfStatus vf_low_parse_strings(VfLower *cx, const VfLowCall *call, VfDtype dtype, VfLowValue **out,
                              VfErr *err)
{
    VfTensor *tensor;
    void *data;
    VF_TRY(need_strings(call->in[0], err));
    VF_TRY(new_result(cx, call, dtype, &tensor, &data, err));
    const VfBytes *text = call->in[0]->known->data;
    locale_t locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    VF_TRY_ALLOC(locale, err);
    VfStatus status = VF_OK;
    for (size_t i = 0; i < tensor->count && status == VF_OK; i++) {
        const char *copy = vf_arena_copy(cx->arena, text[i].data, text[i].size);
        if (copy == NULL)
            status = vf_no_memory(err);
        else if (!put_number(copy, text[i].size, tensor, data, i, locale))
            status = vf_fail(err, VF_INVALID, "node '%s': '%s' is no number",
                             vf_node_label(call->node), copy);
    }
    freelocale(locale);
    return status == VF_OK ? vf_low_const(cx, tensor, out, err) : status;
}

/* --- numbers as strings, as Python writes them: "3.0", "1e-05", "nan"; "True" --- */

/* Digits of a positive number d.ddd 10^exponent, the fewest that read back as the same element. */
typedef struct Digits {
    int n, exponent;
    char digit[20];
} Digits;

/* The locale decides what stands between the digits of `text`. */
static void take_digits(const char *text, Digits *d)
{
    d->n = 0;
    for (; *text != 'e'; text++)
        if (isdigit((unsigned char)*text))
            d->digit[d->n++] = *text;
    d->exponent = (int)strtol(text + 1, NULL, 10);
}

static bool reads_back(const Digits *d, const VfTensor *of, size_t i, locale_t locale)
{
    char text[48];
    uint64_t element[2] = {0};
    snprintf(text, sizeof text, "%.1s.%.*se%d", d->digit, d->n - 1, d->digit + 1, d->exponent);
    vf_tensor_put_double(element, of->dtype, 0, strtod_l(text, NULL, locale));
    VfTensor read = *of;
    read.data = element;
    return vf_tensor_get_double(&read, 0) == fabs(vf_tensor_get_double(of, i));
}

static void find_digits(const VfTensor *of, size_t i, locale_t locale, Digits *d)
{
    for (int n = 0; n < 17; n++) {
        char text[48];
        snprintf(text, sizeof text, "%.*e", n, fabs(vf_tensor_get_double(of, i)));
        take_digits(text, d);
        if (reads_back(d, of, i, locale))
            return;
    }
}

static const char *digits_text(VfArena *arena, const Digits *d, const char *sign)
{
    if (d->exponent < -4 || d->exponent >= 16)
        return vf_arena_printf(arena, "%s%.1s%s%.*se%c%02d", sign, d->digit, d->n > 1 ? "." : "",
                               d->n - 1, d->digit + 1, d->exponent < 0 ? '-' : '+',
                               abs(d->exponent));
    if (d->exponent < 0)
        return vf_arena_printf(arena, "%s0.%.*s%.*s", sign, -d->exponent - 1, "000", d->n,
                               d->digit);
    int whole = d->exponent + 1, missing = whole > d->n ? whole - d->n : 0;
    const char *rest = whole < d->n ? d->digit + whole : "0";
    return vf_arena_printf(arena, "%s%.*s%.*s.%.*s", sign, whole - missing, d->digit, missing,
                           "0000000000000000", whole < d->n ? d->n - whole : 1, rest);
}

static const char *float_text(VfArena *arena, const VfTensor *of, size_t i, locale_t locale)
{
    Digits d = {0};
    double x = vf_tensor_get_double(of, i);
    const char *sign = signbit(x) ? "-" : "";
    if (isnan(x))
        return "nan";
    if (isinf(x))
        return x < 0 ? "-inf" : "inf";
    find_digits(of, i, locale, &d);
    return digits_text(arena, &d, sign);
}

static const char *element_text(VfArena *arena, const VfTensor *of, size_t i, locale_t locale)
{
    if (vf_dtype_info(of->dtype)->is_float)
        return float_text(arena, of, i, locale);
    if (of->dtype == VF_U64)
        return vf_arena_printf(arena, "%" PRIu64, vf_number_bits(of->data, VF_U64, i));
    int64_t number = vf_tensor_get_i64(of, i);
    if (of->dtype == VF_BOOL)
        return number != 0 ? "True" : "False";
    return vf_arena_printf(arena, "%" PRId64, number);
}

VfStatus vf_low_print_strings(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfTensor *tensor;
    void *data;
    VF_TRY(vf_low_need_known(call, call->in[0], err));
    VF_TRY(new_result(cx, call, VF_STRING, &tensor, &data, err));
    locale_t locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    VF_TRY_ALLOC(locale, err);
    VfStatus status = VF_OK;
    for (size_t i = 0; i < tensor->count && status == VF_OK; i++) {
        const char *text = element_text(cx->arena, call->in[0]->known, i, locale);
        status = text == NULL ? vf_no_memory(err) : VF_OK;
        ((VfBytes *)data)[i] = text == NULL ? (VfBytes){NULL, 0} : vf_bytes(text);
    }
    freelocale(locale);
    return status == VF_OK ? vf_low_const(cx, tensor, &call->out[0], err) : status;
}
