/* Convolution and pooling.
 *
 * Letters: N batch, C channels in, M channels out, D spatial axes.
 */
#include "passes/ir/infer_op.h"

enum { SPATIAL_MAX = 16 };

/* One window operator's geometry. */
typedef struct Window {
    int32_t n; /* spatial axes */
    VfDim kernel[SPATIAL_MAX];
    int64_t stride[SPATIAL_MAX], dilation[SPATIAL_MAX], before[SPATIAL_MAX], after[SPATIAL_MAX];
    bool is_same, is_valid; /* auto_pad */
    bool is_ceil;
} Window;

static VfStatus read_list(const VfInferCx *cx, const char *name, int32_t n, int64_t low,
                          int64_t *value)
{
    VfIntList list;
    VF_TRY(vf_infer_ints(cx, name, -1, &list));
    if (!list.is_there)
        return VF_OK;
    if (list.n != n)
        return vf_infer_fail(cx, "attribute '%s' has %d entries for %d axes", name, (int)list.n,
                             (int)n);
    for (int32_t i = 0; i < n; i++) {
        if (list.value[i] < low || list.value[i] > INT32_MAX)
            return vf_infer_fail(cx, "attribute '%s' holds %lld", name, (long long)list.value[i]);
        value[i] = list.value[i];
    }
    return VF_OK;
}

static VfStatus read_pads(const VfInferCx *cx, Window *window)
{
    VfIntList pads;
    VfBytes mode = vf_node_string(cx->node, "auto_pad");
    window->is_same = vf_bytes_is_equal(mode, vf_bytes("SAME_UPPER")) ||
                      vf_bytes_is_equal(mode, vf_bytes("SAME_LOWER"));
    window->is_valid = vf_bytes_is_equal(mode, vf_bytes("VALID"));
    VF_TRY(vf_infer_ints(cx, "pads", -1, &pads));
    if (!pads.is_there || window->is_same || window->is_valid)
        return VF_OK;
    if (pads.n != 2 * window->n)
        return vf_infer_fail(cx, "attribute 'pads' has %d entries for %d axes", (int)pads.n,
                             (int)window->n);
    for (int32_t i = 0; i < window->n; i++) {
        window->before[i] = pads.value[i];
        window->after[i] = pads.value[window->n + i];
        if (pads.value[i] > INT32_MAX || pads.value[i] < -INT32_MAX ||
            window->after[i] > INT32_MAX || window->after[i] < -INT32_MAX)
            return vf_infer_fail(cx, "attribute 'pads' holds a number that is too large");
    }
    return VF_OK;
}

/* `weight_slot` -1: the kernel is the attribute alone. */
static VfStatus read_window(const VfInferCx *cx, int32_t n, int32_t weight_slot, Window *window)
{
    int64_t kernel[SPATIAL_MAX] = {0};
    if (n < 1 || n > SPATIAL_MAX)
        return vf_infer_fail(cx, "%d spatial axes", (int)n);
    *window = (Window){.n = n};
    for (int32_t i = 0; i < n; i++)
        window->stride[i] = window->dilation[i] = 1;
    VF_TRY(read_list(cx, "kernel_shape", n, 1, kernel));
    VF_TRY(read_list(cx, "strides", n, 1, window->stride));
    VF_TRY(read_list(cx, "dilations", n, 1, window->dilation));
    VF_TRY(read_pads(cx, window));
    for (int32_t i = 0; i < n; i++) {
        VfDim weight = weight_slot < 0 ? vf_dim_unknown() : vf_infer_dim_of(cx, weight_slot, i + 2);
        VfDim given = kernel[i] > 0 ? vf_dim(kernel[i]) : vf_dim_unknown();
        VF_TRY(vf_infer_unify(cx, weight, given, "attribute 'kernel_shape' differs from the weight",
                              &window->kernel[i]));
    }
    return VF_OK;
}

/* With ceil_mode the last window must start inside the image or its leading pad. */
static int64_t ceil_positions(int64_t in, int64_t extent, const Window *window, int32_t i)
{
    int64_t stride = window->stride[i], span = in + window->before[i] + window->after[i] - extent;
    int64_t out = span < 0 ? 0 : (span + stride - 1) / stride + 1;
    return out > 0 && (out - 1) * stride >= in + window->before[i] ? out - 1 : out;
}

static VfStatus window_out(const VfInferCx *cx, const Window *window, int32_t i, VfDim in,
                           VfDim *out)
{
    int64_t stride = window->stride[i], extent;
    *out = vf_dim_unknown();
    if (window->is_same) {
        *out = vf_infer_over(cx, vf_infer_plus(cx, in, stride - 1), stride);
        return VF_OK;
    }
    if (!vf_dim_is_known(window->kernel[i]) || in.sym == VF_SYM_UNKNOWN)
        return VF_OK;
    if (__builtin_mul_overflow(window->kernel[i].k - 1, window->dilation[i], &extent) ||
        extent > INT64_MAX / 4 || (vf_dim_is_known(in) && in.k > INT64_MAX / 4))
        return vf_infer_fail(cx, "the window of axis %d is too large", (int)i);
    extent++;
    if (vf_dim_is_known(in)) {
        int64_t span = in.k + window->before[i] + window->after[i] - extent;
        if (span < 0)
            return vf_infer_fail(cx, "the window of spatial axis %d is larger than the image",
                                 (int)i);
        *out =
            vf_dim(window->is_ceil ? ceil_positions(in.k, extent, window, i) : span / stride + 1);
        return VF_OK;
    }
    if (!window->is_ceil) /* floor(span / stride) + 1, the 1 moved inside so that terms cancel */
        *out = vf_infer_over(
            cx, vf_infer_plus(cx, in, window->before[i] + window->after[i] - extent + stride),
            stride);
    return VF_OK;
}

/* Dims [N, channels, windows...]. */
static VfStatus set_windowed(const VfInferCx *cx, const Window *window, int32_t index,
                             VfDtype dtype, VfDim channels)
{
    VfDim *dims = vf_infer_new_dims(cx, window->n + 2);
    VF_TRY_ALLOC(dims, cx->err);
    dims[0] = vf_infer_dim_of(cx, 0, 0);
    dims[1] = channels;
    for (int32_t i = 0; i < window->n; i++)
        VF_TRY(window_out(cx, window, i, vf_infer_dim_of(cx, 0, i + 2), &dims[i + 2]));
    vf_infer_set(cx, index, dtype, window->n + 2, dims);
    return VF_OK;
}

static VfStatus check_groups(const VfInferCx *cx, VfDim channels, VfDim per_group, VfDim out)
{
    int64_t group = vf_node_int(cx->node, "group");
    if (group < 1)
        return vf_infer_fail(cx, "attribute 'group' is %lld", (long long)group);
    if (vf_dim_is_known(channels) && vf_dim_is_known(per_group) &&
        (channels.k % group != 0 || channels.k / group != per_group.k))
        return vf_infer_fail(cx, "%lld channels in %lld groups do not fit a weight of %lld",
                             (long long)channels.k, (long long)group, (long long)per_group.k);
    if (vf_dim_is_known(out) && out.k % group != 0)
        return vf_infer_fail(cx, "%lld results do not divide into %lld groups", (long long)out.k,
                             (long long)group);
    return VF_OK;
}

static VfStatus convolve(const VfInferCx *cx, int32_t weight_slot, VfDtype dtype)
{
    const VfType *x = vf_infer_shape_of(cx, 0), *w = vf_infer_shape_of(cx, weight_slot);
    Window window;
    vf_infer_set_dtype(cx, 0, dtype);
    if (!x && !w)
        return VF_OK;
    if (x && w && x->rank != w->rank)
        return vf_infer_fail(cx, "image and weight differ in rank");
    VF_TRY(read_window(cx, (x ? x->rank : w->rank) - 2, weight_slot, &window));
    VfDim m = vf_infer_dim_of(cx, weight_slot, 0);
    VF_TRY(check_groups(cx, vf_infer_dim_of(cx, 0, 1), vf_infer_dim_of(cx, weight_slot, 1), m));
    return set_windowed(cx, &window, 0, dtype, m);
}

VfStatus vf_infer_conv(const VfInferCx *cx)
{
    VfDim m = vf_infer_dim_of(cx, 1, 0), unused;
    const VfType *bias = vf_infer_shape_of(cx, 2);
    if (bias && bias->rank != 1)
        return vf_infer_fail(cx, "the bias has rank %d", (int)bias->rank);
    VF_TRY(vf_infer_unify(cx, m, vf_infer_dim_of(cx, 2, 0), "the bias does not fit", &unused));
    return convolve(cx, 1, vf_infer_dtype_of(cx, 0));
}

VfStatus vf_infer_conv_integer(const VfInferCx *cx)
{
    return convolve(cx, 1, VF_I32);
}

VfStatus vf_infer_qlinear_conv(const VfInferCx *cx)
{
    return convolve(cx, 3, vf_infer_dtype_of(cx, 7));
}

VfStatus vf_infer_deform_conv(const VfInferCx *cx)
{
    return convolve(cx, 1, vf_infer_dtype_of(cx, 0));
}

/* --- ConvTranspose --- */

static VfDim transposed_out(const VfInferCx *cx, const Window *window, int32_t i, int64_t extra)
{
    VfDim in = vf_infer_dim_of(cx, 0, i + 2), kernel = window->kernel[i];
    if (window->is_same)
        return vf_infer_times(cx, in, window->stride[i]);
    if (!vf_dim_is_known(kernel) || kernel.k > INT32_MAX)
        return vf_dim_unknown();
    int64_t extent = (kernel.k - 1) * window->dilation[i] + 1;
    return vf_infer_plus(cx, vf_infer_times(cx, in, window->stride[i]),
                         extent - window->stride[i] + extra - window->before[i] - window->after[i]);
}

VfStatus vf_infer_conv_transpose(const VfInferCx *cx)
{
    const VfType *x = vf_infer_shape_of(cx, 0), *w = vf_infer_shape_of(cx, 1);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    int64_t extra[SPATIAL_MAX] = {0}, fixed[SPATIAL_MAX] = {0};
    Window window;
    vf_infer_set_dtype(cx, 0, dtype);
    if (!x && !w)
        return VF_OK;
    if (x && w && x->rank != w->rank)
        return vf_infer_fail(cx, "image and weight differ in rank");
    VF_TRY(read_window(cx, (x ? x->rank : w->rank) - 2, 1, &window));
    VF_TRY(read_list(cx, "output_padding", window.n, 0, extra));
    VF_TRY(read_list(cx, "output_shape", window.n, 0, fixed));
    int64_t group = vf_node_int(cx->node, "group");
    VfDim unused, *dims = vf_infer_new_dims(cx, window.n + 2);
    VF_TRY_ALLOC(dims, cx->err);
    VF_TRY(vf_infer_unify(cx, vf_infer_dim_of(cx, 0, 1), vf_infer_dim_of(cx, 1, 0),
                          "channels do not fit the weight", &unused));
    dims[0] = vf_infer_dim_of(cx, 0, 0);
    dims[1] = vf_infer_times(cx, vf_infer_dim_of(cx, 1, 1), group);
    for (int32_t i = 0; i < window.n; i++) {
        dims[i + 2] = vf_node_attr(cx->node, "output_shape")
                          ? vf_dim(fixed[i])
                          : transposed_out(cx, &window, i, extra[i]);
        if (vf_dim_is_known(dims[i + 2]) && dims[i + 2].k < 0)
            return vf_infer_fail(cx, "spatial axis %d would have length %lld", (int)i,
                                 (long long)dims[i + 2].k);
    }
    vf_infer_set(cx, 0, dtype, window.n + 2, dims);
    return VF_OK;
}

/* --- pooling --- */

VfStatus vf_infer_pool(const VfInferCx *cx)
{
    const VfType *x = vf_infer_shape_of(cx, 0);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    Window window;
    vf_infer_set_dtype(cx, 0, dtype);
    if (cx->node->op == VF_OP_MAX_POOL)
        vf_infer_set_dtype(cx, 1, VF_I64);
    if (!x || !vf_node_attr(cx->node, "kernel_shape"))
        return VF_OK;
    VF_TRY(read_window(cx, x->rank - 2, -1, &window));
    window.is_ceil = vf_node_int(cx->node, "ceil_mode") != 0;
    VF_TRY(set_windowed(cx, &window, 0, dtype, x->dims[1]));
    if (cx->node->op == VF_OP_MAX_POOL)
        VF_TRY(set_windowed(cx, &window, 1, VF_I64, x->dims[1]));
    return VF_OK;
}

VfStatus vf_infer_global_pool(const VfInferCx *cx)
{
    const VfType *x = vf_infer_shape_of(cx, 0);
    vf_infer_set_dtype(cx, 0, vf_infer_dtype_of(cx, 0));
    if (!x)
        return VF_OK;
    if (x->rank < 2)
        return vf_infer_fail(cx, "the image has rank %d", (int)x->rank);
    VfDim *dims = vf_infer_copy_dims(cx, x->rank, x->dims);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 2; i < x->rank; i++)
        dims[i] = vf_dim(1);
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), x->rank, dims);
    return VF_OK;
}

/* The shape operand, or the inverse of MaxPool's. */
VfStatus vf_infer_max_unpool(const VfInferCx *cx)
{
    const VfType *x = vf_infer_shape_of(cx, 0);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    int32_t n;
    const VfDim *given = vf_infer_content_of(cx, 2, &n);
    Window window;
    vf_infer_set_dtype(cx, 0, dtype);
    if (given && (!x || n == x->rank)) {
        vf_infer_set(cx, 0, dtype, n, given);
        return VF_OK;
    }
    if (!x || vf_infer_in(cx, 2))
        return VF_OK;
    VF_TRY(read_window(cx, x->rank - 2, -1, &window));
    VfDim *dims = vf_infer_copy_dims(cx, x->rank, x->dims);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; i < window.n; i++)
        dims[i + 2] = transposed_out(cx, &window, i, 0);
    vf_infer_set(cx, 0, dtype, x->rank, dims);
    return VF_OK;
}

/* Regions are of two corners; RoiAlign has the image of each apart, MaxRoiPool before them. */
static VfStatus check_regions(const VfInferCx *cx, VfDim *n)
{
    bool is_align = cx->node->op == VF_OP_ROI_ALIGN;
    VfDim unused;
    VF_TRY(vf_infer_need_rank(cx, 0, 4, 4));
    VF_TRY(vf_infer_need_rank(cx, 1, 2, 2));
    VF_TRY(vf_infer_unify(cx, vf_infer_dim_of(cx, 1, 1), vf_dim(is_align ? 4 : 5),
                          "regions of another length", &unused));
    *n = vf_infer_dim_of(cx, 1, 0);
    if (!is_align)
        return VF_OK;
    VF_TRY(vf_infer_need_rank(cx, 2, 1, 1));
    return vf_infer_unify(cx, *n, vf_infer_dim_of(cx, 2, 0), "regions and images differ in number",
                          n);
}

VfStatus vf_infer_roi(const VfInferCx *cx)
{
    VfDim *dims = vf_infer_new_dims(cx, 4);
    VF_TRY_ALLOC(dims, cx->err);
    VF_TRY(check_regions(cx, &dims[0]));
    dims[1] = vf_infer_dim_of(cx, 0, 1);
    if (cx->node->op == VF_OP_ROI_ALIGN) {
        dims[2] = vf_dim(vf_node_int(cx->node, "output_height"));
        dims[3] = vf_dim(vf_node_int(cx->node, "output_width"));
    } else {
        int64_t size[2] = {-1, -1};
        VF_TRY(read_list(cx, "pooled_shape", 2, 1, size));
        dims[2] = vf_dim(size[0]);
        dims[3] = vf_dim(size[1]);
    }
    if (dims[2].k < 0 || dims[3].k < 0)
        return vf_infer_fail(cx, "the pooled size is negative or missing");
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), 4, dims);
    return VF_OK;
}

/* Inverse of image to columns: [N, C*block, L] to [N, C, image...]. */
VfStatus vf_infer_col2im(const VfInferCx *cx)
{
    int32_t n, n_block;
    const VfDim *image = vf_infer_content_of(cx, 1, &n);
    const VfDim *block = vf_infer_content_of(cx, 2, &n_block);
    vf_infer_set_dtype(cx, 0, vf_infer_dtype_of(cx, 0));
    if (!image)
        return VF_OK;
    VfDim *dims = vf_infer_new_dims(cx, n + 2);
    VF_TRY_ALLOC(dims, cx->err);
    dims[0] = vf_infer_dim_of(cx, 0, 0);
    if (block)
        dims[1] = vf_dim_div(cx->symbols, vf_infer_dim_of(cx, 0, 1),
                             vf_infer_product(cx, n_block, block));
    for (int32_t i = 0; i < n; i++)
        dims[i + 2] = image[i];
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), n + 2, dims);
    return VF_OK;
}
