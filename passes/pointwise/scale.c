#include "passes/pointwise/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/match/facts.h"

VfStatus vf_relu_read_number(const char *name, const char *text, double for_auto, double *number,
                             VfErr *err)
{
    char *end;
    bool is_auto = strcmp(text, "auto") == 0;
    if (is_auto && isnan(for_auto))
        return vf_fail(err, VF_USAGE, "option '%s': auto is known for act=relu only", name);
    *number = is_auto ? for_auto : strtod(text, &end);
    if (!is_auto && (end == text || *end != '\0' || !isfinite(*number)))
        return vf_fail(err, VF_USAGE, "option '%s': '%s' is neither auto nor a number", name, text);
    return VF_OK;
}

/* --- all keys --- */

/* L as a scalar of the logits' dtype, read from their shape at run time. */
static VfValue *run_time_length(VfRewrite *rw, const VfAttention *site, VfValue *logits)
{
    VfValue *axis = vf_rewrite_scalar(rw, VF_I64, (double)site->key_axis, "key_axis");
    VfValue *shape = vf_rewrite_unary(rw, VF_OP_SHAPE, logits);
    return vf_rewrite_cast(rw, vf_rewrite_binary(rw, VF_OP_GATHER, shape, axis),
                           logits->type.dtype);
}

static bool is_one(double x)
{
    return fabs(x - 1.0) <= 0.0;
}

static VfValue *times(VfRewrite *rw, VfValue *x, double factor, VfDtype dtype, const char *hint)
{
    return is_one(factor) ? x
                          : vf_rewrite_binary(rw, VF_OP_MUL, x,
                                              vf_rewrite_scalar(rw, dtype, factor, hint));
}

/* By the length at run time. */
static VfValue *scale_at_run_time(VfRewrite *rw, const VfAttention *site, const VfReluScale *scale,
                                  VfValue *logits, VfValue *weights)
{
    VfDtype dtype = logits->type.dtype;
    VfValue *length = run_time_length(rw, site, logits);
    if (is_one(scale->alpha))
        return times(rw, vf_rewrite_binary(rw, VF_OP_DIV, weights, length), scale->gain, dtype,
                     "gain");
    VfValue *exponent = vf_rewrite_scalar(rw, dtype, -scale->alpha, "minus_alpha");
    VfValue *share = vf_rewrite_binary(rw, VF_OP_POW, length, exponent);
    return vf_rewrite_binary(rw, VF_OP_MUL, weights, times(rw, share, scale->gain, dtype, "gain"));
}

VfValue *vf_relu_scale_weights(VfRewrite *rw, VfArena *arena, const VfAttention *site,
                               const VfReluScale *scale, VfValue *logits, VfValue *weights)
{
    VfDtype dtype = logits->type.dtype;
    VfDim keys = vf_dim_at(logits, site->key_axis);
    if (scale->is_valid && vf_relu_has_valid(site, logits))
        return vf_relu_scale_valid(rw, arena, site, scale, logits, weights);
    if (fabs(scale->alpha) <= 0.0 || vf_dim_is(keys, 1))
        return times(rw, weights, scale->gain, dtype, "gain");
    if (!vf_dim_is_known(keys))
        return scale_at_run_time(rw, site, scale, logits, weights);
    double share = scale->gain * pow((double)keys.k, -scale->alpha);
    return vf_rewrite_binary(rw, VF_OP_MUL, weights,
                             vf_rewrite_scalar(rw, dtype, share, "key_share"));
}
