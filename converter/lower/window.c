#include "converter/lower/window.h"

#include <string.h>

#include "passes/ir/attr.h"

enum { LARGEST = 1 << 30 }; /* kernels, strides, dilations and pads: products of two fit */

static VfStatus spatial_ints(const VfLowCall *call, const char *name, int32_t n, int64_t least,
                             int64_t *out, VfErr *err)
{
    int32_t n_given;
    const int64_t *list = vf_node_ints(call->node, name, &n_given);
    if (list == NULL)
        return VF_OK;
    if (n_given != n)
        return vf_fail(err, VF_INVALID, "node '%s': %s has %d entries, %d expected",
                       vf_node_label(call->node), name, n_given, n);
    for (int32_t i = 0; i < n; i++) {
        if (list[i] < least || list[i] > LARGEST)
            return vf_fail(err, VF_INVALID, "node '%s': %s of %lld", vf_node_label(call->node),
                           name, (long long)list[i]);
        out[i] = list[i];
    }
    return VF_OK;
}

static void same_pads(VfLowWindow *w, bool is_lower)
{
    for (int32_t i = 3 - w->n; i < 3; i++) {
        int64_t total = (w->out_dim[i] - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] +
                        1 - w->in_dim[i];
        total = total < 0 ? 0 : total;
        w->pad[i] = is_lower ? total - total / 2 : total / 2;
        w->pad_end[i] = total - w->pad[i];
    }
}

static VfStatus read_pads(const VfLowCall *call, VfLowWindow *w, VfErr *err)
{
    VfBytes mode = vf_node_string(call->node, "auto_pad");
    int64_t pads[6] = {0};
    bool is_upper = vf_bytes_is_equal(mode, vf_bytes("SAME_UPPER"));
    bool is_lower = vf_bytes_is_equal(mode, vf_bytes("SAME_LOWER"));
    if (is_upper || is_lower)
        same_pads(w, is_lower);
    if (is_upper || is_lower || vf_bytes_is_equal(mode, vf_bytes("VALID")))
        return VF_OK;
    if (mode.size > 0 && !vf_bytes_is_equal(mode, vf_bytes("NOTSET")))
        return vf_low_refuse_word("auto_pad", mode, err);
    VF_TRY(spatial_ints(call, "pads", 2 * w->n, -LARGEST, pads, err));
    for (int32_t i = 0; i < w->n; i++) {
        w->pad[3 - w->n + i] = pads[i];
        w->pad_end[3 - w->n + i] = pads[w->n + i];
    }
    return VF_OK;
}

VfStatus vf_low_window(const VfLowCall *call, const VfLowValue *in, const VfLowValue *out,
                       const int64_t *kernel, VfLowWindow *window, VfErr *err)
{
    int32_t n = in->rank - 2, at = 3 - n;
    if (n < 1 || n > 3 || out->rank != in->rank)
        return vf_low_refuse(err, "%d axes", in->rank);
    VfLowWindow w = {.n = n, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .kernel = {1, 1, 1},
                     .in_dim = {1, 1, 1}, .out_dim = {1, 1, 1}};
    memcpy(w.in_dim + at, in->dims + 2, (size_t)n * sizeof(int64_t));
    memcpy(w.out_dim + at, out->dims + 2, (size_t)n * sizeof(int64_t));
    if (kernel != NULL)
        memcpy(w.kernel + at, kernel, (size_t)n * sizeof(int64_t));
    else
        VF_TRY(spatial_ints(call, "kernel_shape", n, 1, w.kernel + at, err));
    for (int32_t i = at; i < 3; i++)
        if (w.kernel[i] < 1 || w.kernel[i] > LARGEST)
            return vf_low_refuse(err, "a kernel of %lld", (long long)w.kernel[i]);
    VF_TRY(spatial_ints(call, "strides", n, 1, w.stride + at, err));
    VF_TRY(spatial_ints(call, "dilations", n, 1, w.dilation + at, err));
    VF_TRY(read_pads(call, &w, err));
    *window = w;
    return VF_OK;
}
