/* Elements computed part by part: complex numbers as their real and imaginary parts, by operators
 * that are linear over the reals; wide integers as their halves, by operators that only choose.
 */
#include "converter/lower/ops.h"

VfDtype vf_low_part_dtype(VfDtype dtype)
{
    switch (dtype) {
    case VF_C64: return VF_F32;
    case VF_C128: return VF_F64;
    case VF_I64:
    case VF_U64: return VF_U32;
    default: return VF_UNDEFINED;
    }
}

/* Dims and strides of `of` seen in its parts, of which each element has two. */
static VfStatus view_part(VfLower *cx, VfLowValue *of, int32_t part, VfLowValue **out, VfErr *err)
{
    VfDtype dtype = vf_low_part_dtype(of->dtype);
    int64_t *stride = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)of->rank + 1);
    VF_TRY_ALLOC(stride, err);
    for (int32_t i = 0; i < of->rank; i++)
        stride[i] = 2 * of->stride[i];
    VF_TRY(vf_low_view(cx, of, of->rank, of->dims, stride, 0, out, err));
    (*out)->dtype = dtype;
    (*out)->offset += (*out)->count > 0 ? (size_t)part * vf_low_width(dtype) : 0;
    return VF_OK;
}

VfStatus vf_low_part(VfLower *cx, VfLowValue *x, int32_t part, VfLowValue **out, VfErr *err)
{
    VF_TRY(vf_low_dense(cx, x, &x, err));
    return view_part(cx, x, part, out, err);
}

VfStatus vf_low_join(VfLower *cx, VfLowValue *const part[2], VfDtype dtype, VfLowValue **out,
                     VfErr *err)
{
    VF_TRY(vf_low_new(cx, dtype, part[0]->rank, part[0]->dims, out, err));
    for (int32_t i = 0; i < 2; i++) {
        VfLowValue *place;
        VF_TRY(view_part(cx, *out, i, &place, err));
        VF_TRY(vf_low_copy(cx, part[i], place, err));
    }
    return VF_OK;
}

bool vf_low_is_complex(VfDtype dtype) { return dtype == VF_C64 || dtype == VF_C128; }

bool vf_low_has_complex(const VfLowCall *call)
{
    for (int32_t i = 0; i < call->n_in; i++)
        if (call->in[i] != NULL && vf_low_is_complex(call->in[i]->dtype))
            return true;
    return false;
}

/* What `fn` makes of one part of all complex operands; the others are given as they are. */
static VfStatus call_part(VfLower *cx, VfLowFn *fn, const VfLowCall *call, int32_t part,
                          VfLowValue **out, VfErr *err)
{
    VfFact *fact = VF_NEW_ARRAY(cx->arena, VfFact, (size_t)call->n_out + 1);
    VfLowValue **in = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)call->n_in + 1);
    VF_TRY_ALLOC(fact, err);
    VF_TRY_ALLOC(in, err);
    VfLowCall own = *call;
    own.in = in;
    own.out = out;
    own.fact = fact;
    own.is_imaginary = part == 1;
    for (int32_t i = 0; i < call->n_in; i++) {
        in[i] = call->in[i];
        if (in[i] != NULL && vf_low_is_complex(in[i]->dtype))
            VF_TRY(vf_low_part(cx, in[i], part, &in[i], err));
    }
    for (int32_t i = 0; i < call->n_out; i++) {
        fact[i] = call->fact[i];
        if (vf_low_is_complex(fact[i].type.dtype))
            fact[i].type.dtype = vf_low_part_dtype(fact[i].type.dtype);
    }
    return fn(cx, &own, err);
}

VfStatus vf_low_call_parts(VfLower *cx, VfLowFn *fn, VfLowCall *call, VfErr *err)
{
    VfLowValue **out = VF_NEW_ARRAY(cx->arena, VfLowValue *, 2 * (size_t)call->n_out + 1);
    VF_TRY_ALLOC(out, err);
    for (int32_t part = 0; part < 2; part++)
        VF_TRY(call_part(cx, fn, call, part, out + part * call->n_out, err));
    for (int32_t i = 0; i < call->n_out; i++) {
        VfLowValue *const pair[2] = {out[i], out[call->n_out + i]};
        if (pair[0] != NULL)
            VF_TRY(vf_low_join(cx, pair, call->fact[i].type.dtype, &call->out[i], err));
    }
    return VF_OK;
}
