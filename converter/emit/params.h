/* The params structs of steps, field by field. */
#ifndef VF_EMIT_PARAMS_H
#define VF_EMIT_PARAMS_H

#include "converter/emit/batch.h"

static inline bool vf_emit_is_floating(const VfkField *field)
{
    return field->type == VFK_FIELD_F32 || field->type == VFK_FIELD_F64;
}

/* Element `i` of a field of integers. */
int64_t vf_emit_get_int(const void *params, const VfkField *field, int32_t i);

/* Whether element `i` of a field of floating-point numbers has the same bits in both. */
bool vf_emit_is_same_float(const void *a, const void *b, const VfkField *field, int32_t i);

/* Whether the params of a step are not the same for all batches. */
bool vf_emit_params_vary(const VfEmitRange *range, int32_t step);

/* The initializer of the params of a step, braces included; lines begin with `indent`. Where the
 * params vary, fields that are derived (converter/emit/derived.h) are left out. */
void vf_emit_params(const VfEmitRange *range, int32_t step, const char *indent, VfText *text);

#endif
