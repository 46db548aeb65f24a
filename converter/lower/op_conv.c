/* Convolutions. */
#include "converter/lower/ops.h"

#include <stdio.h>
#include <string.h>

#include "converter/lower/layout.h"
#include "converter/lower/window.h"
#include "passes/ir/attr.h"
#include "runtime/base/file.h"
#include "runtime/kernels/conv.h"
#include "runtime/kernels/copy.h"

static const double FLOPS_PER_NS = 20.0;

static VfStatus conv_ranks(VfLowValue *const operand[3], VfErr *err)
{
    int32_t rank = operand[0]->rank;
    return rank >= 3 && rank <= 5 && operand[1]->rank == rank
               ? VF_OK
               : vf_low_refuse(err, "%d axes", rank);
}

static VfStatus conv_operands(VfLower *cx, VfLowValue *const operand[3], VfLowValue *in[3],
                              VfErr *err)
{
    VF_TRY(conv_ranks(operand, err));
    for (int32_t i = 0; i < 3; i++) {
        in[i] = operand[i];
        if (in[i] != NULL)
            VF_TRY(vf_low_dense(cx, in[i], &in[i], err));
    }
    return VF_OK;
}

/* Channels of a group on both sides, checked against the weight and the bias. */
static VfStatus conv_channels(const VfLowCall *call, VfLowValue *const in[3], const VfLowValue *out,
                              VfkConvParams *p, VfErr *err)
{
    bool is_back = call->node->op == VF_OP_CONV_TRANSPOSE;
    p->groups = vf_node_int(call->node, "group");
    p->batch = in[0]->dims[0];
    if (p->groups < 1 || in[0]->dims[1] % p->groups != 0 || out->dims[1] % p->groups != 0)
        return vf_fail(err, VF_INVALID, "node '%s': %lld groups", vf_node_label(call->node),
                       (long long)p->groups);
    p->in_channels = in[0]->dims[1] / p->groups;
    p->out_channels = out->dims[1] / p->groups;
    int64_t first = is_back ? in[0]->dims[1] : out->dims[1];
    int64_t second = is_back ? p->out_channels : p->in_channels;
    bool fits = in[1]->dims[0] == first && in[1]->dims[1] == second &&
                (in[2] == NULL || (int64_t)in[2]->count == out->dims[1]);
    return fits ? VF_OK
                : vf_fail(err, VF_INVALID, "node '%s': weight or bias do not fit the channels",
                          vf_node_label(call->node));
}

static VfStatus emit_conv(VfLower *cx, const char *op, VfLowValue **in, VfLowValue *out,
                          VfkConvParams *p, VfErr *err)
{
    bool is_plain = strcmp(op, "conv") == 0;
    size_t width = vf_low_width(in[0]->dtype);
    double taps = (double)p->in_channels * (double)vf_low_product(p->kernel, 0, 3);
    int64_t pixels = vf_low_product(p->out_dim, 0, 3),
            n_unit = p->batch * p->groups * p->out_channels;
    if (strcmp(op, "conv_transpose") == 0)
        pixels = vf_low_product(p->in_dim, 0, 3);
    double flops = 2 * taps * (double)pixels * (double)n_unit;
    VfLowEmit emit = {.op = op, .dtype = in[0]->dtype, .params = p, .n_in = 3, .n_out = 1, .in = in,
                      .out = &out, .flops = flops, .units = out->count == 0 ? 0 : n_unit};
    if (is_plain && out->count > 0) {
        p->block_cols = vfk_conv_block_cols(p, width);
        emit.units = p->batch * p->groups * ((pixels + p->block_cols - 1) / p->block_cols);
        emit.scratch_bytes = vfk_conv_scratch_bytes(p, width);
    }
    if (strcmp(op, "depthwise") == 0) {
        emit.n_in = 4;
        emit.units = out->count > 0 ? vfk_depthwise_units(p) : 0;
    }
    emit.unit_cost = emit.units > 0 ? flops / FLOPS_PER_NS / (double)emit.units : 0;
    return vf_low_emit(cx, &emit, err);
}

/* --- layouts --- */

static VfStatus turn_known(VfLower *cx, const VfTensor *from, const int64_t nrc[3], void *to,
                           VfErr *err)
{
    int64_t size = nrc[1] * nrc[2];
    size_t width = vf_low_width(from->dtype);
    VfkCopyParams p = {.rank = 3, .dim = {nrc[0], nrc[2], nrc[1]}, .src_stride = {size, 1, nrc[2]},
                       .dst_stride = {size, nrc[1], 1}};
    const void *in[1];
    VF_TRY(vf_low_aligned(cx, from->data, from->bytes, width, &in[0], err));
    VfkArgs args = {.in = in, .out = &to, .params = &p, .end = nrc[0] * nrc[2]};
    char name[32];
    snprintf(name, sizeof name, "copy_b%zu", width);
    vfk_kernel_find(name, VFK_BEST)->fn(&args);
    if (from->storage == VF_STORAGE_FILE)
        vf_file_release(from->data, from->bytes);
    return VF_OK;
}

/* The matrices in value, `n` of rows x cols one after the other, each turned: at once if the
 * contents are known. */
static VfStatus turn(VfLower *cx, VfLowValue *value, const int64_t nrc[3], VfLowValue **out,
                     VfErr *err)
{
    static const int64_t perm[] = {0, 2, 1};
    const int64_t dims[3] = {nrc[0], nrc[2], nrc[1]};
    VfTensor *tensor;
    void *data;
    if (value->known == NULL) {
        VF_TRY(vf_low_reshape(cx, value, 3, nrc, &value, err));
        VF_TRY(vf_low_permute(cx, value, perm, &value, err));
        return vf_low_dense(cx, value, out, err);
    }
    VF_TRY(vf_tensor_new(cx->arena, value->dtype, 3, dims, &tensor, &data, err));
    VF_TRY(turn_known(cx, value->known, nrc, data, err));
    VF_TRY(vf_low_const(cx, tensor, out, err));
    (*out)->name = value->name;
    return VF_OK;
}

/* Steps of a batch of images as the kernels take them, absent axes first among the spatial ones. */
static void copy_steps(const VfLowValue *value, int64_t step[5])
{
    int32_t absent = 5 - value->rank;
    step[0] = value->stride[0];
    step[1] = value->stride[1];
    for (int32_t i = 2; i < 5; i++)
        step[i] = i - absent < 2 ? 0 : value->stride[i - absent];
}

/* --- as a product of matrices --- */

/* Bytes of unfolded windows that are taken without a thought; more than twice what the operator
 * reads and writes is not worth its memory. */
static const double UNFOLD_FREELY = 2 << 20;

static bool is_product(const VfLowValue *x, const VfLowValue *weight, const VfLowValue *out,
                       const VfkConvParams *p)
{
    double windows = (double)p->batch * (double)vf_low_product(p->out_dim, 0, 3) *
                     (double)p->in_channels * (double)vf_low_product(p->kernel, 0, 3);
    return p->groups == 1 && weight->known != NULL && windows > 0 && out->count > 0 &&
           p->kernel[0] * p->kernel[1] <= VFK_UNFOLD_ROWS &&
           (windows * (double)vf_low_width(x->dtype) <= UNFOLD_FREELY ||
            windows <= 2 * ((double)x->count + (double)out->count));
}

/* Windows of one element each are a view of x, whose channels are put last. */
static VfStatus single_elements(VfLower *cx, VfLowValue *x, const VfLowValue *out,
                                const VfkConvParams *p, VfLowValue **rows, VfErr *err)
{
    int64_t dims[5], stride[5];
    int32_t n = x->rank - 2;
    dims[0] = x->dims[0];
    stride[0] = x->stride[0];
    for (int32_t i = 0; i < n; i++) {
        dims[1 + i] = out->dims[2 + i];
        stride[1 + i] = x->stride[2 + i] * p->stride[3 - n + i];
    }
    dims[1 + n] = x->dims[1];
    stride[1 + n] = x->stride[1];
    return vf_low_view(cx, x, x->rank, dims, stride, 0, rows, err);
}

static VfStatus unfold(VfLower *cx, VfLowValue *x, VfkConvParams *p, const int64_t dims[2],
                       VfLowValue **rows, VfErr *err)
{
    char op[16];
    if (!p->channels_last)
        VF_TRY(vf_low_dense(cx, x, &x, err));
    copy_steps(x, p->x_step);
    VF_TRY(vf_low_new(cx, x->dtype, 2, dims, rows, err));
    snprintf(op, sizeof op, "unfold_b%zu", vf_low_width(x->dtype));
    VfLowEmit emit = {.op = op, .params = p, .n_in = 1, .n_out = 1, .in = &x, .out = rows,
                      .units = p->batch * p->out_dim[0] * p->out_dim[1]};
    emit.unit_cost = 0.3 * (double)(*rows)->count / (double)emit.units;
    return vf_low_emit(cx, &emit, err);
}

/* The windows as rows of a matrix, [pixels, depth], in the order that p->channels_last tells. */
static VfStatus windows_of(VfLower *cx, VfLowValue *x, const VfLowValue *out, VfkConvParams *p,
                           VfLowValue **rows, VfErr *err)
{
    int64_t taps = vf_low_product(p->kernel, 0, 3);
    int64_t dims[2] = {p->batch * vf_low_product(p->out_dim, 0, 3), p->in_channels * taps};
    bool is_single = taps == 1;
    for (int32_t i = 0; i < 3; i++)
        is_single &= p->pad[i] == 0 && (p->out_dim[i] - 1) * p->stride[i] < p->in_dim[i];
    if (!is_single)
        return unfold(cx, x, p, dims, rows, err);
    VF_TRY(single_elements(cx, x, out, p, rows, err));
    return vf_low_reshape(cx, *rows, 2, dims, rows, err);
}

/* The weight as [out channels, depth], its terms in the order of the windows. */
static VfStatus weight_of(VfLower *cx, VfLowValue *weight, const VfkConvParams *p,
                          VfLowValue **matrix, VfErr *err)
{
    const int64_t nrc[3] = {p->out_channels, p->in_channels, vf_low_product(p->kernel, 0, 3)};
    const int64_t dims[2] = {nrc[0], nrc[1] * nrc[2]};
    if (p->channels_last && nrc[2] > 1)
        VF_TRY(turn(cx, weight, nrc, &weight, err));
    return vf_low_reshape(cx, weight, 2, dims, matrix, err);
}

/* Rows of windows times the weight are rows of channels: seen as planes without a copy. */
static VfStatus lower_product(VfLower *cx, VfLowCall *call, VfLowValue *const operand[3],
                              VfkConvParams *p, VfErr *err)
{
    static const int64_t swap[] = {1, 0};
    static const int64_t to_planes[3][5] = {{0, 2, 1}, {0, 3, 1, 2}, {0, 4, 1, 2, 3}};
    const VfLowValue *out = call->out[0];
    VfLowMatmul m = {.bias = operand[2], .alpha = 1, .beta = 1};
    VfLowValue *y;
    int64_t dims[5];
    p->channels_last = vf_low_has_channels_last(operand[0]);
    VF_TRY(windows_of(cx, operand[0], out, p, &m.a, err));
    VF_TRY(weight_of(cx, operand[1], p, &m.b, err));
    VF_TRY(vf_low_permute(cx, m.b, swap, &m.b, err));
    VF_TRY(vf_low_matmul(cx, &m, &y, err));
    dims[0] = out->dims[0];
    for (int32_t i = 2; i < out->rank; i++)
        dims[i - 1] = out->dims[i];
    dims[out->rank - 1] = out->dims[1];
    VF_TRY(vf_low_reshape(cx, y, out->rank, dims, &y, err));
    return vf_low_permute(cx, y, to_planes[out->rank - 3], &call->out[0], err);
}

/* --- depthwise --- */

/* Planes, or channels last where x lies so; the result lies as x does. */
static VfStatus lower_depthwise(VfLower *cx, VfLowCall *call, VfLowValue *const operand[3],
                                VfkConvParams *p, VfErr *err)
{
    VfLowValue *in[4] = {operand[0], operand[1], operand[2]}, *out = call->out[0];
    const int64_t nrc[3] = {1, p->groups, vf_low_product(p->kernel, 0, 3)};
    p->channels_last = p->out_channels == 1 && vf_low_has_channels_last(in[0]);
    if (p->channels_last) {
        VF_TRY(turn(cx, in[1], nrc, &in[1], err));
        VF_TRY(vf_low_as_rows_of_channels(cx, out, &out, err));
        call->out[0] = out;
    } else {
        VF_TRY(vf_low_dense(cx, in[0], &in[0], err));
        VF_TRY(vf_low_dense(cx, in[1], &in[1], err));
    }
    if (in[2] != NULL)
        VF_TRY(vf_low_dense(cx, in[2], &in[2], err));
    copy_steps(in[0], p->x_step);
    copy_steps(out, p->y_step);
    return emit_conv(cx, "depthwise", in, out, p, err);
}

VfStatus vf_lower_conv(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *const operand[3] = {call->in[0], call->in[1], vf_low_in(call, 2)};
    VfLowValue *in[3], *out;
    VfLowWindow w;
    VfkConvParams p = {0};
    VF_TRY(conv_ranks(operand, err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    VF_TRY(conv_channels(call, operand, out, &p, err));
    VF_TRY(vf_low_window(call, operand[0], out, operand[1]->dims + 2, &w, err));
    VF_LOW_COPY_WINDOW(&w, &p);
    if (p.in_channels == 1 && p.groups > 1)
        return lower_depthwise(cx, call, operand, &p, err);
    if (is_product(operand[0], operand[1], out, &p))
        return lower_product(cx, call, operand, &p, err);
    VF_TRY(conv_operands(cx, operand, in, err));
    return emit_conv(cx, "conv", in, out, &p, err);
}

/* --- others --- */

/* Pads of a transposed convolution follow from the size of the result where that is given. */
static VfStatus transpose_pads(const VfLowCall *call, VfLowWindow *w, VfErr *err)
{
    int32_t n, n_pad;
    int64_t extra[3] = {0};
    VfBytes mode = vf_node_string(call->node, "auto_pad");
    bool is_upper = vf_bytes_is_equal(mode, vf_bytes("SAME_UPPER"));
    bool is_lower = vf_bytes_is_equal(mode, vf_bytes("SAME_LOWER"));
    bool is_given = vf_node_attr(call->node, "output_shape") != NULL;
    if (!is_upper && !is_lower && !is_given)
        return VF_OK;
    const int64_t *list = vf_node_ints(call->node, "output_padding", &n_pad);
    if (list != NULL && n_pad != w->n)
        return vf_low_refuse(err, "output_padding of %d entries", n_pad);
    for (n = 0; list != NULL && n < w->n; n++)
        extra[3 - w->n + n] = list[n];
    for (int32_t i = 3 - w->n; i < 3; i++) {
        int64_t total = w->stride[i] * (w->in_dim[i] - 1) + extra[i] +
                        (w->kernel[i] - 1) * w->dilation[i] + 1 - w->out_dim[i];
        total = total < 0 ? 0 : total;
        w->pad[i] = is_upper ? total / 2 : total - total / 2;
    }
    return VF_OK;
}

VfStatus vf_lower_conv_transpose(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *const operand[3] = {call->in[0], call->in[1], vf_low_in(call, 2)};
    VfLowValue *in[3], *out;
    VfLowWindow w;
    VfkConvParams p = {0};
    VF_TRY(conv_operands(cx, operand, in, err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    VF_TRY(conv_channels(call, in, out, &p, err));
    VF_TRY(vf_low_window(call, in[0], out, in[1]->dims + 2, &w, err));
    VF_TRY(transpose_pads(call, &w, err));
    VF_LOW_COPY_WINDOW(&w, &p);
    return emit_conv(cx, "conv_transpose", in, out, &p, err);
}

VfStatus vf_low_transposed_conv(VfLower *cx, VfLowValue *in[3], const VfLowWindow *w,
                                VfLowValue *out, VfErr *err)
{
    VfkConvParams p = {.batch = out->dims[0], .groups = out->dims[1], .out_channels = 1};
    if (out->dims[1] == 0)
        return VF_OK;
    p.in_channels = in[0]->dims[1] / p.groups;
    VF_LOW_COPY_WINDOW(w, &p);
    return emit_conv(cx, "conv_transpose", in, out, &p, err);
}

/* Exact in f64: products of 8-bit numbers, fewer than 2^37 of them. */
VfStatus vf_low_conv_integer(VfLower *cx, VfLowCall *call, VfLowValue *const operand[4],
                             VfLowValue **out, VfErr *err)
{
    VfLowValue *const pair[3] = {operand[0], operand[1], NULL};
    VfLowValue *in[3], *like, *y, *zero;
    VfLowWindow w;
    VfkConvParams p = {0};
    VF_TRY(conv_operands(cx, pair, in, err));
    VF_TRY(vf_low_result(cx, call, 0, &like, err));
    VF_TRY(conv_channels(call, in, like, &p, err));
    VF_TRY(vf_low_window(call, in[0], like, in[1]->dims + 2, &w, err));
    VF_LOW_COPY_WINDOW(&w, &p);
    for (int32_t i = 0; i < 2; i++) {
        VF_TRY(vf_low_cast(cx, in[i], VF_F64, &in[i], err));
        zero = operand[2 + i];
        if (zero == NULL)
            continue;
        if (i == 1 && zero->rank == 1 && zero->count > 1)
            VF_TRY(vf_low_along(cx, zero, in[1]->rank, 0, &zero, err));
        VF_TRY(vf_low_cast(cx, zero, VF_F64, &zero, err));
        VF_TRY(vf_low_binary(cx, "sub", in[i], zero, &in[i], err));
    }
    VF_TRY(vf_low_new(cx, VF_F64, like->rank, like->dims, &y, err));
    VF_TRY(emit_conv(cx, "conv", in, y, &p, err));
    return vf_low_cast(cx, y, VF_I32, out, err);
}

VfStatus vf_lower_conv_integer(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *operand[4] = {call->in[0], call->in[1], vf_low_in(call, 2), vf_low_in(call, 3)};
    return vf_low_conv_integer(cx, call, operand, &call->out[0], err);
}
