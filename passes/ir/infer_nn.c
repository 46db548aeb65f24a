/* Normalisation, recurrent layers, sampling of images, signals. */
#include "passes/ir/infer_op.h"

#include <math.h>

VfStatus vf_infer_batch_normalization(const VfInferCx *cx)
{
    VfDim channels = vf_infer_dim_of(cx, 0, 1);
    if (vf_infer_shape_of(cx, 0) && vf_infer_shape_of(cx, 0)->rank == 1)
        channels = vf_dim(1);
    for (int32_t slot = 1; slot < 5; slot++) {
        const VfType *type = vf_infer_shape_of(cx, slot);
        if (type && type->rank == 1)
            VF_TRY(vf_infer_unify(cx, channels, type->dims[0], "parameters do not fit the channels",
                                  &channels));
    }
    vf_infer_set_like(cx, 0, 0);
    for (int32_t i = 1; i < cx->n_out; i++)
        vf_infer_set_like(cx, i, i < 3 ? i + 2 : i);
    return VF_OK;
}

/* LayerNormalization: mean and inverse deviation keep the axes, with length 1. */
VfStatus vf_infer_layer_normalization(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    int64_t given = vf_node_int(cx->node, "stash_type");
    bool is_float = given == VF_F16 || given == VF_BF16 || given == VF_F64;
    VfDtype stash = is_float ? (VfDtype)given : VF_F32;
    int32_t axis;
    vf_infer_set_like(cx, 0, 0);
    vf_infer_set_dtype(cx, 1, stash);
    vf_infer_set_dtype(cx, 2, stash);
    if (!type)
        return VF_OK;
    VF_TRY(vf_infer_axis(cx, vf_node_int(cx->node, "axis"), type->rank, &axis));
    VfDim *dims = vf_infer_copy_dims(cx, type->rank, type->dims);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = axis; i < type->rank; i++)
        dims[i] = vf_dim(1);
    vf_infer_set(cx, 1, stash, type->rank, dims);
    vf_infer_set(cx, 2, stash, type->rank, dims);
    VF_TRY(vf_infer_broadcasts_to(cx, 1, type));
    return vf_infer_broadcasts_to(cx, 2, type);
}

VfStatus vf_infer_rms_normalization(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    int32_t axis;
    if (type) {
        VF_TRY(vf_infer_axis(cx, vf_node_int(cx->node, "axis"), type->rank, &axis));
        VF_TRY(vf_infer_broadcasts_to(cx, 1, type));
    }
    VfDtype scale = vf_infer_dtype_of(cx, 1);
    vf_infer_set_like_dtype(cx, 0, 0, scale != VF_UNDEFINED ? scale : vf_infer_dtype_of(cx, 0));
    return VF_OK;
}

/* Scale and bias hold a number for each channel, before opset 21 for each group. */
VfStatus vf_infer_group_normalization(const VfInferCx *cx)
{
    const VfAttr *attr = vf_node_attr(cx->node, "num_groups");
    int64_t groups = vf_node_int(cx->node, "num_groups");
    VfDim channels = vf_infer_dim_of(cx, 0, 1);
    vf_infer_set_like(cx, 0, 0);
    VF_TRY(vf_infer_need_rank(cx, 0, 2, INT32_MAX));
    if (attr == NULL || attr->ref.size > 0)
        return VF_OK;
    if (groups < 1)
        return vf_infer_fail(cx, "attribute 'num_groups' is %lld", (long long)groups);
    if (vf_dim_is_known(channels) && channels.k % groups != 0)
        return vf_infer_fail(cx, "%lld channels do not divide into %lld groups",
                             (long long)channels.k, (long long)groups);
    for (int32_t slot = 1; slot < 3; slot++) {
        const VfType *type = vf_infer_shape_of(cx, slot);
        VfDim want = cx->opset < 21 ? vf_dim(groups) : channels, count;
        const char *what = cx->opset < 21 ? "scale and bias have not one number for each group"
                                          : "scale and bias have not one number for each channel";
        if (type != NULL)
            VF_TRY(vf_infer_unify(cx, vf_infer_product(cx, type->rank, type->dims), want, what,
                                  &count));
    }
    return VF_OK;
}

/* --- RNN, GRU, LSTM --- */

VfStatus vf_infer_recurrent(const VfInferCx *cx)
{
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    VfBytes direction = vf_node_string(cx->node, "direction");
    bool is_batch_first = vf_node_int(cx->node, "layout") != 0;
    int64_t hidden_size = vf_node_int(cx->node, "hidden_size");
    VfDim seq = vf_infer_dim_of(cx, 0, is_batch_first ? 1 : 0);
    VfDim batch = vf_infer_dim_of(cx, 0, is_batch_first ? 0 : 1);
    VfDim ways = vf_dim(vf_bytes_is_equal(direction, vf_bytes("bidirectional")) ? 2 : 1);
    VfDim hidden = hidden_size > 0 ? vf_dim(hidden_size) : vf_infer_dim_of(cx, 2, 2);
    VF_TRY(vf_infer_need_rank(cx, 0, 3, 3));
    VF_TRY(vf_infer_need_rank(cx, 1, 3, 3));
    VF_TRY(vf_infer_need_rank(cx, 2, 3, 3));
    VfDim *all = vf_infer_new_dims(cx, 4), *last = vf_infer_new_dims(cx, 3);
    VF_TRY_ALLOC(all, cx->err);
    VF_TRY_ALLOC(last, cx->err);
    const VfDim time_first[4] = {seq, ways, batch, hidden},
                batch_first[4] = {batch, seq, ways, hidden};
    for (int32_t i = 0; i < 4; i++)
        all[i] = is_batch_first ? batch_first[i] : time_first[i];
    last[0] = is_batch_first ? batch : ways;
    last[1] = is_batch_first ? ways : batch;
    last[2] = hidden;
    vf_infer_set(cx, 0, dtype, 4, all);
    for (int32_t i = 1; i < cx->n_out; i++)
        vf_infer_set(cx, i, dtype, 3, last);
    return VF_OK;
}

/* --- Resize, Upsample --- */

typedef struct Sizing {
    int32_t n; /* axes named */
    const VfTensor *scales;
    const VfDim *sizes;
    const int64_t *axes; /* NULL: all in order */
} Sizing;

/* floor(dim * scale) in binary32, as the operator document and runtimes compute it. */
static VfStatus scale_dim(const VfInferCx *cx, VfDim dim, double scale, VfDim *out)
{
    if (!(scale > 0) || scale > 1e9)
        return vf_infer_fail(cx, "a scale is %g", scale);
    if (vf_dim_is_known(dim) && dim.k < INT32_MAX)
        *out = vf_dim((int64_t)floorf((float)dim.k * (float)scale));
    else if (nearbyint(scale) == scale)
        *out = vf_infer_times(cx, dim, (int64_t)scale);
    else
        *out = vf_dim_unknown();
    return VF_OK;
}

/* keep_aspect_ratio_policy: one factor for all axes, the smallest or the largest of those asked
 * for. */
static void keep_ratio(const VfType *type, const Sizing *sizing, bool is_smallest, VfDim *dims)
{
    double factor = (double)NAN;
    for (int32_t i = 0; i < sizing->n; i++) {
        VfDim in = type->dims[sizing->axes ? sizing->axes[i] : i];
        if (!vf_dim_is_known(in) || !vf_dim_is_known(sizing->sizes[i]) || in.k == 0)
            return;
        double f = (double)sizing->sizes[i].k / (double)in.k;
        factor = isnan(factor) || (is_smallest ? f < factor : f > factor) ? f : factor;
    }
    for (int32_t i = 0; i < sizing->n; i++) {
        int64_t axis = sizing->axes ? sizing->axes[i] : i;
        double length = floor(factor * (double)type->dims[axis].k + 0.5);
        dims[axis] = length < 0x1p53 ? vf_dim((int64_t)length) : vf_dim_unknown();
    }
}

static VfStatus resize_axes(const VfInferCx *cx, const VfType *type, const Sizing *sizing,
                            VfDim *dims)
{
    for (int32_t i = 0; i < sizing->n; i++) {
        int64_t axis = sizing->axes ? sizing->axes[i] : i;
        if (sizing->scales)
            VF_TRY(scale_dim(cx, type->dims[axis], vf_tensor_get_double(sizing->scales, (size_t)i),
                             &dims[axis]));
        else
            dims[axis] = sizing->sizes ? sizing->sizes[i] : vf_dim_unknown();
        if (dims[axis].k < 0)
            return vf_infer_fail(cx, "axis %d would have length %lld", (int)axis,
                                 (long long)dims[axis].k);
    }
    VfBytes policy = vf_node_string(cx->node, "keep_aspect_ratio_policy");
    bool is_smallest = vf_bytes_is_equal(policy, vf_bytes("not_larger"));
    if (sizing->sizes && (is_smallest || vf_bytes_is_equal(policy, vf_bytes("not_smaller"))))
        keep_ratio(type, sizing, is_smallest, dims);
    return VF_OK;
}

static VfStatus read_axes(const VfInferCx *cx, int32_t rank, Sizing *sizing)
{
    VfIntList list;
    VF_TRY(vf_infer_ints(cx, "axes", -1, &list));
    sizing->n = rank;
    if (!list.is_there)
        return VF_OK;
    int64_t *axes = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)list.n);
    VF_TRY_ALLOC(axes, cx->err);
    for (int32_t i = 0; i < list.n; i++) {
        int32_t axis;
        VF_TRY(vf_infer_axis(cx, list.value[i], rank, &axis));
        axes[i] = axis;
    }
    sizing->n = list.n;
    sizing->axes = axes;
    return VF_OK;
}

/* Elements of a list; unknown when omitted. */
static VfDim length_of(const VfInferCx *cx, int32_t slot)
{
    const VfFact *fact = vf_infer_in(cx, slot);
    if (fact && fact->tensor)
        return vf_dim((int64_t)fact->tensor->count);
    const VfType *type = vf_infer_shape_of(cx, slot);
    return type && type->rank == 1 ? type->dims[0] : vf_dim_unknown();
}

/* An operand that is given and may have elements. */
static const VfFact *given(const VfInferCx *cx, int32_t slot)
{
    const VfFact *fact = vf_infer_in(cx, slot);
    return fact && vf_dim_is(length_of(cx, slot), 0) ? NULL : fact;
}

/* One of both says how large the result is; exporters leave the other empty. */
static VfStatus check_sizing(const VfInferCx *cx)
{
    if (cx->opset < 11)
        return VF_OK;
    if (!given(cx, 2) && !given(cx, 3))
        return vf_infer_fail(cx, "neither scales nor sizes are given");
    VfDim n_scale = length_of(cx, 2), n_size = length_of(cx, 3);
    if (vf_dim_is_known(n_scale) && n_scale.k > 0 && vf_dim_is_known(n_size) && n_size.k > 0)
        return vf_infer_fail(cx, "both scales and sizes are given");
    return VF_OK;
}

VfStatus vf_infer_resize(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    Sizing sizing = {0};
    vf_infer_set_dtype(cx, 0, dtype);
    VF_TRY(check_sizing(cx));
    if (!type)
        return VF_OK;
    VfDim *dims = vf_infer_copy_dims(cx, type->rank, type->dims);
    VF_TRY_ALLOC(dims, cx->err);
    VF_TRY(read_axes(cx, type->rank, &sizing));
    const VfFact *scales = given(cx, cx->opset < 11 ? 1 : 2);
    int32_t n = sizing.n;
    if (scales)
        sizing.scales = scales->tensor;
    else if (cx->opset >= 11)
        sizing.sizes = vf_infer_content_of(cx, 3, &n);
    if ((sizing.scales && sizing.scales->count != (size_t)sizing.n) ||
        (sizing.sizes && n != sizing.n))
        return vf_infer_fail(cx, "scales or sizes are not %d numbers", (int)sizing.n);
    VF_TRY(resize_axes(cx, type, &sizing, dims));
    vf_infer_set(cx, 0, dtype, type->rank, dims);
    return VF_OK;
}

VfStatus vf_infer_upsample(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    vf_infer_set_dtype(cx, 0, dtype);
    if (!type)
        return VF_OK;
    int32_t n = 0;
    const float *list = vf_node_floats(cx->node, "scales", &n);
    const VfFact *fact = vf_infer_in(cx, 1);
    const VfTensor *tensor = fact ? fact->tensor : NULL;
    if ((list && n != type->rank) || (tensor && tensor->count != (size_t)type->rank))
        return vf_infer_fail(cx, "scales are not %d numbers", (int)type->rank);
    VfDim *dims = vf_infer_new_dims(cx, type->rank);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; (list || tensor) && i < type->rank; i++)
        VF_TRY(scale_dim(cx, type->dims[i],
                         list ? (double)list[i] : vf_tensor_get_double(tensor, (size_t)i),
                         &dims[i]));
    vf_infer_set(cx, 0, dtype, type->rank, dims);
    return VF_OK;
}

/* --- grids --- */

VfStatus vf_infer_grid_sample(const VfInferCx *cx)
{
    const VfType *x = vf_infer_shape_of(cx, 0), *grid = vf_infer_shape_of(cx, 1);
    vf_infer_set_dtype(cx, 0, vf_infer_dtype_of(cx, 0));
    if (!x)
        return VF_OK;
    if (x->rank < 3 || (grid && grid->rank != x->rank))
        return vf_infer_fail(cx, "image and grid differ in rank");
    VfDim *dims = vf_infer_new_dims(cx, x->rank);
    VF_TRY_ALLOC(dims, cx->err);
    dims[0] = x->dims[0];
    dims[1] = x->dims[1];
    for (int32_t i = 2; i < x->rank; i++)
        dims[i] = vf_infer_dim_of(cx, 1, i - 1);
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), x->rank, dims);
    return VF_OK;
}

/* Size [N, C, H, W] or [N, C, D, H, W] to [N, H, W, 2] or [N, D, H, W, 3]. */
VfStatus vf_infer_affine_grid(const VfInferCx *cx)
{
    int32_t n;
    const VfDim *size = vf_infer_content_of(cx, 1, &n);
    vf_infer_set_dtype(cx, 0, vf_infer_dtype_of(cx, 0));
    if (!size)
        return VF_OK;
    if (n != 4 && n != 5)
        return vf_infer_fail(cx, "the size has %d numbers", (int)n);
    VfDim *dims = vf_infer_new_dims(cx, n);
    VF_TRY_ALLOC(dims, cx->err);
    dims[0] = size[0];
    for (int32_t i = 2; i < n; i++)
        dims[i - 1] = size[i];
    dims[n - 1] = vf_dim(n - 2);
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), n, dims);
    return VF_OK;
}

/* --- signals --- */

/* The axis is an attribute before opset 20 and an operand since; the last axis holds real and
 * imaginary part. */
VfStatus vf_infer_dft(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    int64_t axis = cx->opset < 20 ? vf_node_int(cx->node, "axis") : -2, length = 0;
    int32_t at;
    vf_infer_set_dtype(cx, 0, dtype);
    if (!type || (vf_infer_in(cx, 2) && !vf_infer_int_of(cx, 2, &axis)))
        return VF_OK;
    VF_TRY(vf_infer_axis(cx, axis, type->rank, &at));
    VfDim *dims = vf_infer_copy_dims(cx, type->rank, type->dims);
    VF_TRY_ALLOC(dims, cx->err);
    bool is_onesided = vf_node_int(cx->node, "onesided") != 0;
    if (vf_infer_in(cx, 1))
        dims[at] =
            vf_infer_int_of(cx, 1, &length) && length >= 0 ? vf_dim(length) : vf_dim_unknown();
    else if (is_onesided && vf_node_int(cx->node, "inverse") != 0)
        dims[at] = vf_infer_times(cx, vf_infer_plus(cx, dims[at], -1), 2);
    if (is_onesided && vf_node_int(cx->node, "inverse") == 0)
        dims[at] = vf_infer_plus(cx, vf_infer_over(cx, dims[at], 2), 1);
    dims[type->rank - 1] = vf_dim(is_onesided && vf_node_int(cx->node, "inverse") != 0 ? 1 : 2);
    vf_infer_set(cx, 0, dtype, type->rank, dims);
    return VF_OK;
}

VfStatus vf_infer_stft(const VfInferCx *cx)
{
    VfDim *dims = vf_infer_new_dims(cx, 4), signal = vf_infer_dim_of(cx, 0, 1);
    VF_TRY_ALLOC(dims, cx->err);
    int64_t step, length = -1;
    bool has_length = vf_infer_in(cx, 3) && vf_infer_int_of(cx, 3, &length);
    if (!vf_infer_in(cx, 3) && vf_dim_is_known(vf_infer_dim_of(cx, 2, 0))) {
        length = vf_infer_dim_of(cx, 2, 0).k;
        has_length = true;
    }
    dims[0] = vf_infer_dim_of(cx, 0, 0);
    if (has_length && vf_infer_int_of(cx, 1, &step) && step > 0 && vf_dim_is_known(signal) &&
        signal.k >= length && length > 0)
        dims[1] = vf_dim((signal.k - length) / step + 1);
    if (has_length)
        dims[2] = vf_dim(vf_node_int(cx->node, "onesided") != 0 ? length / 2 + 1 : length);
    dims[3] = vf_dim(2);
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), 4, dims);
    return VF_OK;
}

VfStatus vf_infer_mel_weight_matrix(const VfInferCx *cx)
{
    int64_t bins, length, dtype = vf_node_int(cx->node, "output_datatype");
    VfDim *dims = vf_infer_new_dims(cx, 2);
    VF_TRY_ALLOC(dims, cx->err);
    if (dtype <= 0 || dtype >= VF_DTYPE_COUNT)
        return vf_infer_fail(cx, "attribute 'output_datatype' is %lld, no dtype", (long long)dtype);
    if (vf_infer_int_of(cx, 1, &length) && length >= 0)
        dims[0] = vf_dim(length / 2 + 1);
    if (vf_infer_int_of(cx, 0, &bins) && bins >= 0)
        dims[1] = vf_dim(bins);
    vf_infer_set(cx, 0, (VfDtype)dtype, 2, dims);
    return VF_OK;
}
