#include "converter/emit/params.h"

#include <math.h>
#include <string.h>

#include "converter/emit/derived.h"
#include "converter/emit/spell.h"

static double get_double(const void *params, const VfkField *field, int32_t i)
{
    const char *at = (const char *)params + field->offset;
    float f;
    double d;
    if (field->type == VFK_FIELD_F32) {
        memcpy(&f, at + (size_t)i * sizeof f, sizeof f);
        return (double)f;
    }
    memcpy(&d, at + (size_t)i * sizeof d, sizeof d);
    return d;
}

int64_t vf_emit_get_int(const void *params, const VfkField *field, int32_t i)
{
    const char *at = (const char *)params + field->offset;
    int32_t small;
    int64_t large;
    if (field->type == VFK_FIELD_I32) {
        memcpy(&small, at + (size_t)i * sizeof small, sizeof small);
        return small;
    }
    memcpy(&large, at + (size_t)i * sizeof large, sizeof large);
    return large;
}

bool vf_emit_is_same_float(const void *a, const void *b, const VfkField *field, int32_t i)
{
    double x = get_double(a, field, i), y = get_double(b, field, i);
    return memcmp(&x, &y, sizeof x) == 0;
}

/* The params of one step at both ends of its range. */
typedef struct Ends {
    const VfEmitRange *range;
    const VfkKernel *kernel;
    const void *low, *high;
} Ends;

static Ends ends_of(const VfEmitRange *range, int32_t step)
{
    const VfPlanStep *low = &range->low->step[step], *high = &range->high->step[step];
    return (Ends){range, high->kernel, low->params, high->params};
}

bool vf_emit_params_vary(const VfEmitRange *range, int32_t step)
{
    Ends ends = ends_of(range, step);
    for (int32_t f = 0; f < ends.kernel->n_field; f++) {
        const VfkField *field = &ends.kernel->field[f];
        for (int32_t i = 0; i < field->count && !vf_emit_is_floating(field); i++)
            if (vf_emit_get_int(ends.low, field, i) != vf_emit_get_int(ends.high, field, i))
                return true;
    }
    return false;
}

/* Whether leaving the element out of an initializer gives the same bits. */
static bool is_zero(const Ends *ends, const VfkField *field, int32_t i)
{
    if (!vf_emit_is_floating(field))
        return vf_emit_get_int(ends->low, field, i) == 0 &&
               vf_emit_get_int(ends->high, field, i) == 0;
    double x = get_double(ends->high, field, i);
    return x == 0 && !signbit(x);
}

static void print_element(const Ends *ends, const VfkField *field, int32_t i, VfText *text)
{
    if (vf_emit_is_floating(field)) {
        vf_spell_double(text, get_double(ends->high, field, i),
                        field->type == VFK_FIELD_F32 ? "f" : "");
        return;
    }
    int64_t low = vf_emit_get_int(ends->low, field, i),
            high = vf_emit_get_int(ends->high, field, i);
    bool is_cast = low != high && field->type == VFK_FIELD_I32;
    vf_text_string(text, is_cast ? "(int32_t)(" : "");
    vf_emit_number(ends->range, low, high, text);
    vf_text_string(text, is_cast ? ")" : "");
}

/* False when the field is all zeros and is left out. */
static bool print_field(const Ends *ends, const VfkField *field, const char *indent, VfText *text)
{
    int32_t n = field->count;
    while (n > 0 && is_zero(ends, field, n - 1))
        n--;
    if (n == 0)
        return false;
    vf_text_printf(text, "\n%s    .%s = %s", indent, field->name, field->count > 1 ? "{" : "");
    for (int32_t i = 0; i < n; i++) {
        vf_text_string(text, i > 0 ? ", " : "");
        print_element(ends, field, i, text);
    }
    vf_text_string(text, field->count > 1 ? "}," : ",");
    return true;
}

void vf_emit_params(const VfEmitRange *range, int32_t step, const char *indent, VfText *text)
{
    Ends ends = ends_of(range, step);
    bool has_field = false, varies = vf_emit_params_vary(range, step);
    vf_text_char(text, '{');
    for (int32_t i = 0; i < ends.kernel->n_field; i++)
        if (!varies || !vf_emit_is_derived(ends.kernel, &ends.kernel->field[i]))
            has_field |= print_field(&ends, &ends.kernel->field[i], indent, text);
    if (has_field)
        vf_text_printf(text, "\n%s}", indent);
    else
        vf_text_string(text, "0}");
}
