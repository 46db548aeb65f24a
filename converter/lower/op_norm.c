/* Normalisations. */
#include "converter/lower/ops.h"

#include <string.h>

#include "converter/lower/layout.h"
#include "passes/ir/attr.h"
#include "runtime/kernels/norm.h"

/* --- norms of rows --- */

/* Axes of length 1 before all others. */
static int32_t leading_ones(const VfLowValue *value)
{
    int32_t n = 0;
    while (n < value->rank && value->dims[n] == 1)
        n++;
    return n;
}

/* Whether `value` (may be NULL) broadcasts to the axes of x from `axis` on. */
static bool broadcasts_to(const VfLowValue *x, int32_t axis, const VfLowValue *value)
{
    if (value == NULL)
        return true;
    int32_t first = leading_ones(value), n = value->rank - first;
    if (n > x->rank - axis)
        return false;
    for (int32_t i = 0; i < n; i++) {
        int64_t dim = value->dims[first + i];
        if (dim != 1 && dim != x->dims[x->rank - n + i])
            return false;
    }
    return true;
}

/* Scale and bias of x, in[1] and in[2], that are not alike for all rows become late[0] and late[1]:
 * they are applied to the norm without them. Operands keep their order, so a bias waits for its
 * scale. */
static VfStatus hold_back(const VfLowCall *call, VfLowValue *in[3], int32_t axis,
                          VfLowValue *late[2], VfErr *err)
{
    late[0] = late[1] = NULL;
    for (int32_t i = 1; i < 3; i++) {
        if (!broadcasts_to(in[0], 0, in[i]))
            return vf_fail(err, VF_INVALID, "node '%s': operand %d does not broadcast to operand 0",
                           vf_node_label(call->node), i);
        if (late[0] != NULL || !broadcasts_to(in[0], axis, in[i])) {
            late[i - 1] = in[i];
            in[i] = NULL;
        }
    }
    return VF_OK;
}

static VfStatus apply_late(VfLower *cx, VfLowValue *const late[2], VfLowValue **y, VfErr *err)
{
    static const char *const op[2] = {"mul", "add"};
    VfLowValue *value;
    for (int32_t i = 0; i < 2; i++) {
        if (late[i] == NULL)
            continue;
        VF_TRY(vf_low_cast(cx, late[i], (*y)->dtype, &value, err));
        VF_TRY(vf_low_binary(cx, op[i], *y, value, y, err));
    }
    return VF_OK;
}

/* Scale or bias of a row norm: as many elements as a row, repeated if it broadcasts. */
static VfStatus row_operand(VfLower *cx, const VfLowValue *x, int32_t axis, VfLowValue **value,
                            VfErr *err)
{
    if (*value == NULL)
        return VF_OK;
    VF_TRY(vf_low_cast(cx, *value, x->dtype, value, err));
    if ((int64_t)(*value)->count != vf_low_product(x->dims, axis, x->rank)) {
        int32_t first = leading_ones(*value);
        VF_TRY(vf_low_reshape(cx, *value, (*value)->rank - first, (*value)->dims + first, value,
                              err));
        VF_TRY(vf_low_expand(cx, *value, x->rank - axis, x->dims + axis, value, err));
    }
    return vf_low_dense(cx, *value, value, err);
}

static VfStatus emit_row_norm(VfLower *cx, const char *op, VfLowValue *const operand[3],
                              int32_t axis, double eps, VfLowValue *const result[3], VfErr *err)
{
    VfLowValue *in[3] = {operand[0], operand[1], operand[2]};
    VfLowValue *out[3] = {result[0], result[1], result[2]};
    bool is_layer = strcmp(op, "layer_norm") == 0;
    VF_TRY(vf_low_dense(cx, in[0], &in[0], err));
    VF_TRY(row_operand(cx, in[0], axis, &in[1], err));
    VF_TRY(row_operand(cx, in[0], axis, &in[2], err));
    VfkRowNormParams p = {vf_low_product(in[0]->dims, 0, axis),
                          vf_low_product(in[0]->dims, axis, in[0]->rank), eps, 0};
    VfLowEmit emit = {.op = op, .dtype = in[0]->dtype, .params = &p, .n_in = is_layer ? 3 : 2,
                      .n_out = is_layer ? 3 : 1, .in = in, .out = out,
                      .units = in[0]->count == 0 ? 0 : p.rows, .unit_cost = 10 + (double)p.n,
                      .flops = 7 * (double)in[0]->count, .may_overwrite = true};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_low_row_norm(VfLower *cx, const char *op, VfLowValue *const operand[3], int32_t axis,
                         double eps, VfLowValue **out, VfErr *err)
{
    VfLowValue *result[3] = {NULL, NULL, NULL};
    VF_TRY(vf_low_new(cx, operand[0]->dtype, operand[0]->rank, operand[0]->dims, &result[0], err));
    *out = result[0];
    return emit_row_norm(cx, op, operand, axis, eps, result, err);
}

/* stash_type: what x is converted to before its statistics are taken. f64 is computed in, with all
 * `n` operands; narrower ones round x alone, for sums are never formed in them. */
static VfStatus stash(VfLower *cx, const VfLowCall *call, int32_t n, VfLowValue **in, VfErr *err)
{
    VfDtype dtype = (VfDtype)vf_node_int(call->node, "stash_type");
    if (dtype == VF_F32)
        return VF_OK;
    if (dtype == VF_F16 || dtype == VF_BF16)
        return vf_low_round_to(cx, &in[0], dtype, err);
    if (dtype != VF_F64)
        return vf_low_refuse(err, "stash_type %d", (int)dtype);
    for (int32_t i = 0; i < n; i++)
        if (in[i] != NULL)
            VF_TRY(vf_low_cast(cx, in[i], VF_F64, &in[i], err));
    return VF_OK;
}

VfStatus vf_lower_layer_norm(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[3] = {call->in[0], call->in[1], vf_low_in(call, 2)},
               *out[3] = {NULL, NULL, NULL}, *late[2];
    int64_t axis;
    VF_TRY(vf_low_axis(call, "axis", in[0]->rank, &axis, err));
    VF_TRY(stash(cx, call, 3, in, err));
    VF_TRY(hold_back(call, in, (int32_t)axis, late, err));
    for (int32_t i = 0; i < 3; i++) {
        if (i > 0 && !vf_low_has_out(call, i))
            continue;
        const VfType *type = &call->fact[i].type;
        int64_t dims[64];
        if (type->rank > 64)
            return vf_low_refuse(err, "%d axes", type->rank);
        for (int32_t k = 0; k < type->rank; k++)
            dims[k] = type->dims[k].k;
        VF_TRY(vf_low_new(cx, in[0]->dtype, type->rank, dims, &out[i], err));
        call->out[i] = out[i];
    }
    double eps = vf_node_float(call->node, "epsilon");
    VF_TRY(emit_row_norm(cx, "layer_norm", in, (int32_t)axis, eps, out, err));
    VF_TRY(apply_late(cx, late, &out[0], err));
    for (int32_t i = 0; i < 3; i++)
        if (out[i] != NULL)
            VF_TRY(vf_low_cast(cx, out[i], call->fact[i].type.dtype, &call->out[i], err));
    return VF_OK;
}

/* RMSNormalization and its forerunner SimplifiedLayerNormalization. With a scale of another dtype
 * than x the norm is one of x's dtype, as the operator says, then multiplied in the scale's, which
 * is the result's. */
VfStatus vf_lower_rms_norm(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[3] = {call->in[0], call->in[1], NULL}, *late[2], *y;
    int64_t axis;
    VF_TRY(vf_low_axis(call, "axis", in[0]->rank, &axis, err));
    if (vf_low_has_out(call, 1))
        return vf_low_refuse(err, "a second result");
    VF_TRY(stash(cx, call, 2, in, err));
    VF_TRY(hold_back(call, in, (int32_t)axis, late, err));
    if (in[1] != NULL && in[0]->dtype != in[1]->dtype) {
        late[0] = in[1];
        in[1] = NULL;
    }
    VF_TRY(vf_low_row_norm(cx, "rms_norm", in, (int32_t)axis, vf_node_float(call->node, "epsilon"),
                           &y, err));
    if (late[0] != NULL)
        VF_TRY(vf_low_cast(cx, y, late[0]->dtype, &y, err));
    VF_TRY(apply_late(cx, late, &y, err));
    return vf_low_cast(cx, y, call->fact[0].type.dtype, &call->out[0], err);
}

/* x + skip (+ bias), then a norm (com.microsoft). arg: the kernel. */
VfStatus vf_lower_skip_norm(VfLower *cx, VfLowCall *call, VfErr *err)
{
    bool is_layer = strcmp(call->arg, "layer_norm") == 0;
    VfLowValue *sum, *in[3], *bias = vf_low_in(call, is_layer ? 4 : 3);
    VF_TRY(vf_low_binary(cx, "add", call->in[0], call->in[1], &sum, err));
    if (bias != NULL)
        VF_TRY(vf_low_binary(cx, "add", sum, bias, &sum, err));
    in[0] = sum;
    in[1] = call->in[2];
    in[2] = is_layer ? vf_low_in(call, 3) : NULL;
    if (vf_low_has_out(call, 1) || vf_low_has_out(call, 2))
        return vf_low_refuse(err, "mean and deviation as results");
    if (vf_low_has_out(call, 3))
        call->out[3] = sum;
    return vf_low_row_norm(cx, call->arg, in, sum->rank - 1, vf_node_float(call->node, "epsilon"),
                           &call->out[0], err);
}

/* --- norms of channels --- */

/* Operand `slot` must have one element for each of `n` channels. */
static VfStatus channel_operand(VfLower *cx, const VfLowCall *call, int32_t slot, int64_t n,
                                VfLowValue **out, VfErr *err)
{
    *out = vf_low_in(call, slot);
    if (*out == NULL || (int64_t)(*out)->count != n)
        return vf_fail(err, VF_INVALID,
                       "node '%s': operand %d has not one element for each of %lld "
                       "channels",
                       vf_node_label(call->node), slot, (long long)n);
    VF_TRY(vf_low_cast(cx, *out, call->in[0]->dtype, out, err));
    return vf_low_dense(cx, *out, out, err);
}

/* Batch norm takes rows of channels as they lie, each element a plane; the result lies so, too. */
static VfStatus emit_channel_norm(VfLower *cx, const char *op, int32_t n_in, VfLowValue **in,
                                  double eps, VfLowValue **out, VfErr *err)
{
    VfLowValue *x = in[0];
    bool is_rows = strcmp(op, "batch_norm") == 0 && vf_low_is_rows_of_channels(x);
    VF_TRY(vf_low_new(cx, x->dtype, x->rank, x->dims, out, err));
    if (is_rows)
        VF_TRY(vf_low_as_rows_of_channels(cx, *out, out, err));
    else
        VF_TRY(vf_low_dense(cx, x, &x, err));
    in[0] = x;
    VfkChannelNormParams p = {x->dims[0], x->rank > 1 ? x->dims[1] : 1,
                              x->rank > 2 ? vf_low_product(x->dims, 2, x->rank) : 1, eps};
    if (is_rows) {
        p.batch *= p.inner;
        p.inner = 1;
    }
    bool over_batch = strcmp(op, "mean_variance_norm") == 0;
    double each = (double)p.inner * (over_batch ? (double)p.batch : 1);
    VfLowEmit emit = {.op = op, .dtype = x->dtype, .params = &p, .n_in = n_in, .n_out = 1, .in = in,
                      .out = out, .unit_cost = 5 + 0.5 * each, .flops = 2 * (double)x->count,
                      .units = x->count == 0 ? 0 : (over_batch ? 1 : p.batch) * p.channels,
                      .may_overwrite = true};
    return vf_low_emit(cx, &emit, err);
}

/* Mean and variance over all axes but the channels, as vectors. */
static VfStatus batch_statistics(VfLower *cx, VfLowValue *x, VfLowValue *statistic[2], VfErr *err)
{
    uint64_t axes = ((UINT64_C(1) << x->rank) - 1) & ~UINT64_C(2);
    VfLowValue *mean, *d;
    VF_TRY(vf_low_reduce(cx, "reduce_mean", x, axes, &mean, err));
    VF_TRY(vf_low_binary(cx, "sub", x, mean, &d, err));
    VF_TRY(vf_low_binary(cx, "mul", d, d, &d, err));
    VF_TRY(vf_low_reduce(cx, "reduce_mean", d, axes, &d, err));
    VF_TRY(vf_low_reshape(cx, mean, 1, &x->dims[1], &statistic[0], err));
    return vf_low_reshape(cx, d, 1, &x->dims[1], &statistic[1], err);
}

/* Training mode of opset 14: norms by the batch's own statistics, and moves the given ones
 * towards them. in: x, scale, bias, mean, variance. */
static VfStatus train_batch_norm(VfLower *cx, VfLowCall *call, VfLowValue *in[5], VfErr *err)
{
    double momentum = vf_node_float(call->node, "momentum");
    VfLowValue *own[2], *old, *now;
    if (in[0]->rank < 2 || in[0]->rank > 63)
        return vf_low_refuse(err, "%d axes", in[0]->rank);
    VF_TRY(batch_statistics(cx, in[0], own, err));
    for (int32_t i = 0; i < 2; i++) {
        if (vf_low_has_out(call, i + 1)) {
            VF_TRY(vf_low_map(cx, "affine", in[i + 3], momentum, 0, &old, err));
            VF_TRY(vf_low_map(cx, "affine", own[i], 1 - momentum, 0, &now, err));
            VF_TRY(vf_low_binary(cx, "add", old, now, &now, err));
            VF_TRY(vf_low_cast(cx, now, call->fact[i + 1].type.dtype, &call->out[i + 1], err));
        }
        in[i + 3] = own[i];
    }
    return emit_channel_norm(cx, "batch_norm", 5, in, vf_node_float(call->node, "epsilon"),
                             &call->out[0], err);
}

VfStatus vf_lower_batch_norm(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[5] = {call->in[0]};
    bool is_training = call->opset >= 14 && vf_node_int(call->node, "training_mode") != 0;
    if (call->opset < 7 && vf_node_int(call->node, "is_test") == 0)
        return vf_low_refuse(err, "training mode before opset 14");
    if (call->opset < 9 && vf_node_int(call->node, "spatial") == 0)
        return vf_low_refuse(err, "spatial 0");
    for (int32_t i = 1; i < call->n_out && !is_training; i++)
        if (vf_low_has_out(call, i) && call->node->out[i]->n_use > 0)
            return vf_low_refuse(err, "statistics as results");
    if (in[0]->rank < 1)
        return vf_low_refuse(err, "a scalar");
    int64_t n = in[0]->rank > 1 ? in[0]->dims[1] : 1;
    for (int32_t i = 1; i < 5; i++)
        VF_TRY(channel_operand(cx, call, i, n, &in[i], err));
    if (is_training)
        return train_batch_norm(cx, call, in, err);
    return emit_channel_norm(cx, "batch_norm", 5, in, vf_node_float(call->node, "epsilon"),
                             &call->out[0], err);
}

VfStatus vf_lower_instance_norm(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[3] = {call->in[0]};
    if (in[0]->rank < 3)
        return vf_low_refuse(err, "%d axes", in[0]->rank);
    for (int32_t i = 1; i < 3; i++)
        VF_TRY(channel_operand(cx, call, i, in[0]->dims[1], &in[i], err));
    return emit_channel_norm(cx, "instance_norm", 3, in, vf_node_float(call->node, "epsilon"),
                             &call->out[0], err);
}

VfStatus vf_lower_group_norm(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[3], *out;
    in[0] = call->in[0];
    VfkGroupNormParams p = {.groups = vf_node_int(call->node, "num_groups"),
                            .per_group = call->opset < 21,
                            .eps = vf_node_float(call->node, "epsilon")};
    if (in[0]->rank < 2 || p.groups < 1 || in[0]->dims[1] % p.groups != 0)
        return vf_fail(err, VF_INVALID, "node '%s': %lld groups", vf_node_label(call->node),
                       (long long)p.groups);
    p.batch = in[0]->dims[0];
    p.channels = in[0]->dims[1];
    p.inner = vf_low_product(in[0]->dims, 2, in[0]->rank);
    int64_t n = p.per_group ? p.groups : p.channels;
    for (int32_t i = 1; i < 3; i++)
        VF_TRY(channel_operand(cx, call, i, n, &in[i], err));
    VF_TRY(stash(cx, call, 3, in, err));
    VF_TRY(vf_low_dense(cx, in[0], &in[0], err));
    VF_TRY(vf_low_new(cx, in[0]->dtype, in[0]->rank, in[0]->dims, &out, err));
    VfLowEmit emit = {.op = "group_norm", .dtype = in[0]->dtype, .params = &p, .n_in = 3,
                      .n_out = 1, .in = in, .out = &out,
                      .units = out->count == 0 ? 0 : p.batch * p.groups,
                      .unit_cost = (double)(p.channels / p.groups * p.inner),
                      .flops = 7 * (double)out->count, .may_overwrite = true};
    VF_TRY(vf_low_emit(cx, &emit, err));
    return vf_low_cast(cx, out, call->fact[0].type.dtype, &call->out[0], err);
}

VfStatus vf_lower_lp_norm(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x, *out;
    int64_t axis;
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    VF_TRY(vf_low_axis(call, "axis", x->rank, &axis, err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    VfkLpNormParams p = {vf_low_product(x->dims, 0, (int32_t)axis), x->dims[axis],
                         vf_low_product(x->dims, (int32_t)axis + 1, x->rank),
                         vf_node_int(call->node, "p")};
    if (p.p != 1 && p.p != 2)
        return vf_low_refuse(err, "p of %lld", (long long)p.p);
    VfLowEmit emit = {.op = "lp_norm", .dtype = x->dtype, .params = &p, .n_in = 1, .n_out = 1,
                      .in = &x, .out = &out, .units = x->count == 0 ? 0 : p.outer * p.inner,
                      .unit_cost = (double)p.n, .flops = 3 * (double)x->count,
                      .may_overwrite = true};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_lower_lrn(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x, *out;
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    if (x->rank < 2)
        return vf_low_refuse(err, "%d axes", x->rank);
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    VfkLrnParams p = {x->dims[0], x->dims[1], vf_low_product(x->dims, 2, x->rank),
                      vf_node_int(call->node, "size"), vf_node_float(call->node, "alpha"),
                      vf_node_float(call->node, "beta"), vf_node_float(call->node, "bias")};
    if (p.size < 1)
        return vf_fail(err, VF_INVALID, "node '%s': size %lld", vf_node_label(call->node),
                       (long long)p.size);
    VfLowEmit emit = {.op = "lrn", .dtype = x->dtype, .params = &p, .n_in = 1, .n_out = 1, .in = &x,
                      .out = &out, .units = x->count == 0 ? 0 : p.batch * p.channels,
                      .unit_cost = (double)p.inner * (double)p.size,
                      .flops = (double)x->count * (double)p.size};
    return vf_low_emit(cx, &emit, err);
}

/* (x - mean) / (sqrt(mean of squares - squared mean) + 1e-9) over `axes`. */
VfStatus vf_lower_mean_variance_norm(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0], *mean, *y;
    int32_t n;
    static const int64_t usual[] = {0, 2, 3};
    const int64_t *list = vf_node_ints(call->node, "axes", &n);
    uint64_t axes = 0;
    if (list == NULL) {
        list = usual;
        n = 3;
    }
    for (int32_t i = 0; i < n; i++) {
        int64_t axis = list[i];
        VF_TRY(vf_low_norm_axis(call, x->rank, &axis, err));
        axes |= UINT64_C(1) << (axis & 63);
    }
    if (x->rank > 2 && axes == (((UINT64_C(1) << x->rank) - 1) & ~UINT64_C(2)))
        return emit_channel_norm(cx, "mean_variance_norm", 1, &x, 1e-9, &call->out[0], err);
    VF_TRY(vf_low_reduce(cx, "reduce_mean", x, axes, &mean, err));
    VF_TRY(vf_low_binary(cx, "sub", x, mean, &x, err));
    VF_TRY(vf_low_binary(cx, "mul", x, x, &y, err));
    VF_TRY(vf_low_reduce(cx, "reduce_mean", y, axes, &y, err));
    VF_TRY(vf_low_map(cx, "sqrt", y, 0, 0, &y, err));
    VF_TRY(vf_low_map(cx, "affine", y, 1, 1e-9, &y, err));
    return vf_low_binary(cx, "div", x, y, &call->out[0], err);
}
