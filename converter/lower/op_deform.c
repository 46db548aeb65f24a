/* DeformConv: a kernel gathers what the taps see, a product of matrices makes the channels. */
#include "converter/lower/ops.h"

#include <string.h>

#include "converter/lower/window.h"
#include "passes/ir/attr.h"
#include "runtime/kernels/deform.h"

static VfStatus check_dims(const VfLowCall *call, int32_t slot, int32_t rank, const int64_t *dims,
                           VfErr *err)
{
    const VfLowValue *value = vf_low_in(call, slot);
    bool fits = value == NULL || value->rank == rank;
    for (int32_t i = 0; fits && value != NULL && i < rank; i++)
        fits = value->dims[i] == dims[i];
    return fits ? VF_OK
                : vf_fail(err, VF_INVALID, "node '%s': operand %d does not fit the others",
                          vf_node_label(call->node), slot);
}

/* Offsets, bias and mask must fit image, weight and result; that the weight does, inference has
 * seen. */
static VfStatus check_operands(const VfLowCall *call, const VfkDeformParams *p, VfErr *err)
{
    int64_t taps, count, offsets[4] = {p->batch, 0, p->out_dim[0], p->out_dim[1]};
    if (p->groups < 1 || p->channels % p->groups != 0)
        return vf_fail(err, VF_INVALID, "node '%s': %lld groups of offsets for %lld channels",
                       vf_node_label(call->node), (long long)p->groups, (long long)p->channels);
    if (__builtin_mul_overflow(p->kernel[0] * p->kernel[1], p->groups, &taps) ||
        __builtin_mul_overflow(taps, 2, &count))
        return vf_low_refuse(err, "%lld groups of offsets", (long long)p->groups);
    offsets[1] = count;
    VF_TRY(check_dims(call, 2, 4, offsets, err));
    VF_TRY(check_dims(call, 3, 1, call->in[1]->dims, err));
    offsets[1] = taps;
    return check_dims(call, 4, 4, offsets, err);
}

static VfStatus read_deform(const VfLowCall *call, VfkDeformParams *p, VfErr *err)
{
    const VfLowValue *x = call->in[0];
    const VfType *type = &call->fact[0].type;
    int64_t dims[4];
    VfLowWindow w;
    if (x->rank != 4)
        return vf_low_refuse(err, "%d axes", x->rank);
    for (int32_t i = 0; i < 4; i++)
        dims[i] = type->dims[i].k;
    const VfLowValue out = {.rank = type->rank, .dims = dims};
    VF_TRY(vf_low_window(call, x, &out, call->in[1]->dims + 2, &w, err));
    *p = (VfkDeformParams){.batch = x->dims[0], .channels = x->dims[1],
                           .groups = vf_node_int(call->node, "offset_group")};
    for (int32_t i = 0; i < 2; i++) {
        p->in_dim[i] = w.in_dim[1 + i];
        p->out_dim[i] = w.out_dim[1 + i];
        p->kernel[i] = w.kernel[1 + i];
        p->stride[i] = w.stride[1 + i];
        p->pad[i] = w.pad[1 + i];
        p->dilation[i] = w.dilation[1 + i];
    }
    return check_operands(call, p, err);
}

/* batch x groups x (channels and taps of a group) x places. */
static VfStatus gather_taps(VfLower *cx, const VfLowCall *call, const VfkDeformParams *p,
                            VfLowValue **out, VfErr *err)
{
    VfLowValue *in[3] = {call->in[0], call->in[2], vf_low_in(call, 4)};
    int64_t groups = vf_node_int(call->node, "group"), taps = p->kernel[0] * p->kernel[1];
    int64_t dims[4] = {p->batch, groups, p->channels / groups, p->out_dim[0] * p->out_dim[1]};
    if (__builtin_mul_overflow(dims[2], taps, &dims[2]))
        return vf_low_refuse(err, "%lld taps", (long long)taps);
    for (int32_t i = 0; i < 3; i++)
        if (in[i] != NULL)
            VF_TRY(vf_low_dense(cx, in[i], &in[i], err));
    VF_TRY(vf_low_new(cx, in[0]->dtype, 4, dims, out, err));
    double seen = (double)p->channels * (double)dims[3];
    VfLowEmit emit = {.op = "deform", .dtype = in[0]->dtype, .params = p, .n_in = 3, .n_out = 1,
                      .in = in, .out = out,
                      .units = (*out)->count == 0 ? 0 : p->batch * p->groups * taps,
                      .unit_cost = 4 * seen / (double)p->groups,
                      .flops = 8 * (double)(*out)->count};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_lower_deform_conv(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfkDeformParams p;
    VfLowValue *y, *bias = vf_low_in(call, 3);
    VfLowMatmul m = {.alpha = 1, .beta = 1};
    VF_TRY(read_deform(call, &p, err));
    VF_TRY(gather_taps(cx, call, &p, &m.b, err));
    int64_t groups = m.b->dims[1];
    int64_t dims[4] = {1, groups, call->in[1]->dims[0] / groups, m.b->dims[2]};
    VF_TRY(vf_low_reshape(cx, call->in[1], 4, dims, &m.a, err));
    dims[3] = 1;
    if (bias != NULL)
        VF_TRY(vf_low_reshape(cx, bias, 4, dims, &m.bias, err));
    VF_TRY(vf_low_matmul(cx, &m, &y, err));
    return vf_low_reshape_to(cx, call, 0, y, err);
}
