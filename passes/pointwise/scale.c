#include "passes/pointwise/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/match/facts.h"

/* An added number from `mask_level` down removes a key. */
static const double mask_level = -100.0;

enum { N_VIEW_MAX = 8 };

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

/* --- keys left by the mask --- */

/* The one term that removes keys; NULL with `*why` set when there are several, or one that may. */
static const VfLogitTerm *only_mask(const VfAttention *site, const char **why)
{
    const VfLogitTerm *mask = NULL;
    for (int32_t i = 0; i < site->n_term; i++) {
        const VfLogitTerm *term = &site->term[i];
        if (!term->is_mask && isnan(term->lowest) && term->node->op == VF_OP_ADD)
            *why = "L=valid: what may be a mask is only known at run time";
        if (!term->is_mask || term->node->op == VF_OP_MAX)
            continue;
        if (mask != NULL)
            *why = "L=valid: several masks are added to the scores";
        mask = term;
    }
    if (mask == NULL && site->mask != VF_MASK_NONE)
        *why = "L=valid: what may be a mask is only known at run time";
    if (site->n_term == VF_ATTENTION_TERM_MAX)
        *why = "L=valid: too many terms are added to the scores";
    return *why == NULL ? mask : NULL;
}

/* Is `sum` the logits but for views and casts? `*is_viewed`: in other dims. */
static bool is_logits(const VfValue *sum, const VfValue *logits, bool *is_viewed)
{
    *is_viewed = false;
    for (int32_t i = 0; i < N_VIEW_MAX && logits != NULL && logits != sum; i++) {
        const VfNode *node = logits->def;
        bool is_view = node != NULL && (node->op == VF_OP_RESHAPE || node->op == VF_OP_SQUEEZE ||
                                        node->op == VF_OP_UNSQUEEZE);
        if (node == NULL || (!is_view && !vf_is_carrier(node)))
            return false;
        *is_viewed = *is_viewed || is_view;
        logits = vf_node_in(node, 0);
    }
    return logits == sum;
}

/* Does the Where fill places where its condition holds? -1: not told. */
static int32_t fills_where_true(const VfNode *node)
{
    bool first = vf_value_const(vf_node_in(node, 1)) != NULL;
    bool second = vf_value_const(vf_node_in(node, 2)) != NULL;
    return first == second ? -1 : first ? 1 : 0;
}

const char *vf_relu_why_not_valid(const VfAttention *site, VfValue *logits)
{
    const char *why = NULL;
    bool is_viewed;
    const VfLogitTerm *mask = only_mask(site, &why);
    if (mask == NULL)
        return why;
    const VfTensor *t = vf_value_const(mask->value);
    const VfValue *sum = vf_node_out(mask->node, 0);
    VfOp op = mask->node->op;
    if (t == NULL || (op != VF_OP_ADD && (op != VF_OP_WHERE || fills_where_true(mask->node) < 0)))
        return "L=valid: the mask is not a constant that is added or chosen by";
    if (!is_logits(sum, logits, &is_viewed))
        return "L=valid: something is done to the scores behind the mask";
    if (site->key_axis != logits->type.rank - 1 || t->rank < 1 ||
        !vf_dim_is(vf_dim_at(logits, -1), t->dims[t->rank - 1]))
        return "L=valid: the mask has no axis of keys";
    return NULL;
}

/* gain max(1, L_i)^-alpha for each row of the mask. */
static VfValue *row_factors(VfRewrite *rw, VfArena *arena, const VfLogitTerm *mask,
                            const VfReluScale *scale, VfDtype dtype)
{
    const VfTensor *t = vf_value_const(mask->value);
    bool is_where = mask->node->op == VF_OP_WHERE;
    bool is_removed_by = is_where && fills_where_true(mask->node) == 1;
    int64_t dims[VF_AXIS_MAX];
    VfTensor *tensor = NULL;
    void *data = NULL;
    for (int32_t i = 0; i < t->rank && i < VF_AXIS_MAX; i++)
        dims[i] = i == t->rank - 1 ? 1 : t->dims[i];
    if (t->rank > VF_AXIS_MAX ||
        vf_tensor_new(arena, dtype, t->rank, dims, &tensor, &data, NULL) != VF_OK)
        return vf_rewrite_const(rw, NULL, "row_share");
    size_t n_key = (size_t)t->dims[t->rank - 1];
    for (size_t row = 0; row < tensor->count; row++) {
        double count = 0.0;
        for (size_t k = 0; k < n_key; k++) {
            double x = vf_tensor_get_double(t, row * n_key + k);
            bool is_set = is_where ? fabs(x) > 0.0 : x > mask_level;
            count += is_set != is_removed_by ? 1.0 : 0.0;
        }
        vf_tensor_put_double(data, dtype, row, scale->gain * pow(fmax(count, 1.0), -scale->alpha));
    }
    return vf_rewrite_const(rw, tensor, "row_share");
}

/* The mask may be added where windows are apart; the rows are scaled in those dims. */
static VfValue *scale_rows(VfRewrite *rw, VfValue *sum, VfValue *logits, VfValue *factors,
                           VfValue *weights)
{
    bool is_viewed;
    if (is_logits(sum, logits, &is_viewed) && !is_viewed)
        return vf_rewrite_binary(rw, VF_OP_MUL, weights, factors);
    VfValue *apart = vf_rewrite_binary(rw, VF_OP_RESHAPE, weights,
                                       vf_rewrite_unary(rw, VF_OP_SHAPE, sum));
    return vf_rewrite_binary(rw, VF_OP_RESHAPE, vf_rewrite_binary(rw, VF_OP_MUL, apart, factors),
                             vf_rewrite_unary(rw, VF_OP_SHAPE, logits));
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
    const char *why = NULL;
    VfDtype dtype = logits->type.dtype;
    VfDim keys = vf_dim_at(logits, site->key_axis);
    const VfLogitTerm *mask = scale->is_valid ? only_mask(site, &why) : NULL;
    if (mask != NULL)
        return scale_rows(rw, vf_node_out(mask->node, 0), logits,
                          row_factors(rw, arena, mask, scale, dtype), weights);
    if (fabs(scale->alpha) <= 0.0 || vf_dim_is(keys, 1))
        return times(rw, weights, scale->gain, dtype, "gain");
    if (!vf_dim_is_known(keys))
        return scale_at_run_time(rw, site, scale, logits, weights);
    double share = scale->gain * pow((double)keys.k, -scale->alpha);
    return vf_rewrite_binary(rw, VF_OP_MUL, weights,
                             vf_rewrite_scalar(rw, dtype, share, "key_share"));
}
