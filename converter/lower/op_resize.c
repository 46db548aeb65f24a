/* Resize and Upsample: tables of source elements and weights, one axis after the other. */
#include "converter/lower/ops.h"

#include <math.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "runtime/base/size.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/resize.h"

typedef enum Coordinates {
    HALF_PIXEL, HALF_PIXEL_SYMMETRIC, PYTORCH_HALF_PIXEL, ALIGN_CORNERS, ASYMMETRIC,
    CROP_AND_RESIZE, HALF_PIXEL_NN
} Coordinates;

typedef enum Method { NEAREST, LINEAR, CUBIC } Method;
typedef enum Nearest { PREFER_FLOOR, PREFER_CEIL, NEAREST_FLOOR, NEAREST_CEIL } Nearest;

static const char *const coordinate_name[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
    "tf_crop_and_resize", "tf_half_pixel_for_nn", NULL};
static const char *const method_name[] = {"nearest", "linear", "cubic", NULL};
static const char *const nearest_name[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                           "ceil", NULL};

typedef struct Resize {
    Coordinates coordinates;
    Method method;
    Nearest nearest;
    double cubic_a, extrapolation;
    bool exclude_outside, antialias;
    bool is_old; /* before opset 11: what shrinks takes the next pixel, what grows the one before */
} Resize;

/* One axis to be resized. */
typedef struct Axis {
    int64_t n_in, n_out;
    double scale, roi_start, roi_end;
} Axis;

static VfStatus read_resize(const VfLowCall *call, Resize *r, VfErr *err)
{
    int32_t index;
    VfBytes mode = vf_node_string(call->node, "mode");
    bool is_bilinear = call->opset < 9 && vf_bytes_is_equal(mode, vf_bytes("bilinear"));
    VF_TRY(vf_low_choose(is_bilinear ? vf_bytes("linear") : mode, method_name, &index, err));
    *r = (Resize){.method = (Method)index, .coordinates = ASYMMETRIC, .nearest = NEAREST_FLOOR};
    r->is_old = call->node->op == VF_OP_UPSAMPLE || call->opset < 11;
    if (r->is_old)
        return VF_OK;
    VF_TRY(vf_low_choose(vf_node_string(call->node, "coordinate_transformation_mode"),
                         coordinate_name, &index, err));
    r->coordinates = (Coordinates)index;
    VF_TRY(vf_low_choose(vf_node_string(call->node, "nearest_mode"), nearest_name, &index, err));
    r->nearest = (Nearest)index;
    r->cubic_a = vf_node_float(call->node, "cubic_coeff_a");
    r->extrapolation = call->is_imaginary ? 0 : vf_node_float(call->node, "extrapolation_value");
    r->exclude_outside = vf_node_int(call->node, "exclude_outside") != 0;
    r->antialias = call->opset >= 18 && vf_node_int(call->node, "antialias") != 0;
    return VF_OK;
}

static double source_of(const Resize *r, const Axis *a, int64_t i)
{
    double x = (double)i, resized = a->scale * (double)a->n_in, n = (double)a->n_in;
    switch (r->coordinates) {
    case HALF_PIXEL:
        return (x + 0.5) / a->scale - 0.5;
    case HALF_PIXEL_SYMMETRIC:
        return n / 2 * (1 - (double)a->n_out / resized) + (x + 0.5) / a->scale - 0.5;
    case PYTORCH_HALF_PIXEL:
        return resized > 1 ? (x + 0.5) / a->scale - 0.5 : 0;
    case ALIGN_CORNERS:
        return resized == 1 ? 0 : x * (n - 1) / (resized - 1);
    case ASYMMETRIC:
        return x / a->scale;
    case CROP_AND_RESIZE:
        if (resized > 1)
            return a->roi_start * (n - 1) +
                   x * (a->roi_end - a->roi_start) * (n - 1) / (resized - 1);
        return 0.5 * (a->roi_start + a->roi_end) * (n - 1);
    case HALF_PIXEL_NN:
        return (x + 0.5) / a->scale;
    }
    return 0;
}

static int64_t nearest_of(const Resize *r, const Axis *a, double x)
{
    switch (r->is_old && a->scale < 1 ? NEAREST_CEIL : r->nearest) {
    case PREFER_FLOOR:
        return (int64_t)ceil(x - 0.5);
    case PREFER_CEIL:
        return (int64_t)floor(x + 0.5);
    case NEAREST_FLOOR:
        return (int64_t)floor(x);
    case NEAREST_CEIL:
        return (int64_t)ceil(x);
    }
    return 0;
}

static int64_t clamp(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

static bool is_outside(const Resize *r, const Axis *a, double x)
{
    return r->coordinates == CROP_AND_RESIZE && (x < 0 || x > (double)a->n_in - 1);
}

static double kernel_weight(const Resize *r, double x)
{
    double a = r->cubic_a;
    x = fabs(x);
    if (r->method == LINEAR)
        return x < 1 ? 1 - x : 0;
    if (x <= 1)
        return (a + 2) * x * x * x - (a + 3) * x * x + 1;
    return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

/* Taps of an axis: the reach of the function, wider when it smooths a shrinking axis. */
static int64_t tap_count(const Resize *r, const Axis *a, int64_t *first)
{
    double reach = r->method == LINEAR ? 1 : 2;
    double scale = r->antialias && a->scale < 1 ? a->scale : 1;
    *first = (int64_t)floor(-reach / scale) + 1;
    return 2 - 2 * *first;
}

static void fill_taps(const Resize *r, const Axis *a, int64_t i, int64_t *index, double *weight)
{
    int64_t first, n = tap_count(r, a, &first);
    double scale = r->antialias && a->scale < 1 ? a->scale : 1;
    double x = source_of(r, a, i), base = floor(x), sum = 0;
    for (int64_t t = 0; t < n; t++) {
        int64_t at = (int64_t)base + first + t;
        weight[t] = kernel_weight(r, scale * ((double)(first + t) - (x - base)));
        if (r->exclude_outside && (at < 0 || at >= a->n_in))
            weight[t] = 0;
        index[t] = clamp(at, a->n_in);
        sum += weight[t];
    }
    for (int64_t t = 0; t < n && sum != 0 && (r->antialias || r->exclude_outside); t++)
        weight[t] /= sum;
    if (is_outside(r, a, x))
        index[0] = -1;
}

static VfStatus resample(VfLower *cx, const Resize *r, const Axis *a, int32_t axis, VfLowValue **x,
                         VfErr *err)
{
    int64_t first, taps = tap_count(r, a, &first), dims[64], table_dims[2] = {a->n_out, taps};
    VfLowValue *in[3], *out;
    size_t n;
    if ((*x)->rank > 64 || taps > 1 << 20 || !vf_size_mul((size_t)a->n_out, (size_t)taps, &n))
        return vf_low_refuse(err, "%lld taps", (long long)taps);
    VF_TRY(vf_low_dense(cx, *x, &in[0], err));
    int64_t *index = VF_NEW_ARRAY(cx->arena, int64_t, n + 1);
    double *weight = VF_NEW_ARRAY(cx->arena, double, n + 1);
    if (index == NULL || weight == NULL)
        return vf_no_memory(err);
    for (int64_t i = 0; i < a->n_out; i++)
        fill_taps(r, a, i, index + i * taps, weight + i * taps);
    VfTensor *tensor;
    void *data;
    VF_TRY(vf_low_const_i64(cx, n, index, &in[1], err));
    VF_TRY(vf_tensor_new(cx->arena, in[0]->dtype, 2, table_dims, &tensor, &data, err));
    for (size_t i = 0; i < n; i++)
        vf_tensor_put_double(data, in[0]->dtype, i, weight[i]);
    VF_TRY(vf_low_const(cx, tensor, &in[2], err));
    memcpy(dims, in[0]->dims, (size_t)in[0]->rank * sizeof *dims);
    dims[axis] = a->n_out;
    VF_TRY(vf_low_new(cx, in[0]->dtype, in[0]->rank, dims, &out, err));
    VfkResampleParams p = {vf_low_product(dims, 0, axis), a->n_in, a->n_out,
                           vf_low_product(dims, axis + 1, in[0]->rank), taps, r->extrapolation};
    VfLowEmit emit = {.op = "resample", .dtype = in[0]->dtype, .params = &p, .n_in = 3, .n_out = 1,
                      .in = in, .out = &out, .units = out->count == 0 ? 0 : p.outer * p.n_out,
                      .unit_cost = 5 + 0.5 * (double)p.inner * (double)taps,
                      .flops = 2 * (double)out->count * (double)taps};
    VF_TRY(vf_low_emit(cx, &emit, err));
    *x = out;
    return VF_OK;
}

static VfStatus resize_nearest(VfLower *cx, VfLowCall *call, const Resize *r, const Axis *axis,
                               VfErr *err)
{
    VfLowValue *x, *out, *fill;
    size_t n = 1, at = 0;
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    for (int32_t i = 0; i < out->rank; i++)
        n += (size_t)out->dims[i];
    int64_t *table = VF_NEW_ARRAY(cx->arena, int64_t, n);
    VF_TRY_ALLOC(table, err);
    for (int32_t i = out->rank - 1; i >= 0; i--)
        for (int64_t k = 0; k < out->dims[i]; k++, at++) {
            double from = source_of(r, &axis[i], k);
            table[at] = is_outside(r, &axis[i], from)
                            ? VFK_INDEX_FILL
                            : clamp(nearest_of(r, &axis[i], from), x->dims[i]) * x->stride[i];
        }
    VF_TRY(vf_low_scalar(cx, x->dtype, r->extrapolation, &fill, err));
    return vf_low_index_copy(cx, x, table, fill, out, err);
}

/* Which numbers the operator was given: scales or, if `is_size`, sizes, for `axes` or all. */
static VfStatus read_targets(VfLower *cx, const VfLowCall *call, const double **list, int32_t *n,
                             bool *is_size, VfErr *err)
{
    int32_t slot = call->node->op == VF_OP_UPSAMPLE || call->opset < 11 ? 1 : 2;
    VfLowValue *scales = vf_low_in(call, slot);
    VfLowValue *sizes = slot == 2 ? vf_low_in(call, 3) : NULL;
    *is_size = sizes != NULL;
    if (call->node->op == VF_OP_UPSAMPLE && scales == NULL) {
        const float *given = vf_node_floats(call->node, "scales", n);
        double *copy = VF_NEW_ARRAY(cx->arena, double, (size_t)*n + 1);
        VF_TRY_ALLOC(copy, err);
        for (int32_t i = 0; i < *n; i++)
            copy[i] = (double)given[i];
        *list = copy;
        return VF_OK;
    }
    if (scales == NULL && sizes == NULL)
        return vf_low_refuse(err, "neither scales nor sizes");
    return vf_low_numbers(cx, call, sizes != NULL ? sizes : scales, list, n, err);
}

static VfStatus read_axes(VfLower *cx, const VfLowCall *call, const Resize *r, Axis *axis,
                          VfErr *err)
{
    const VfLowValue *x = call->in[0];
    const VfType *type = &call->fact[0].type;
    const double *target, *roi = NULL;
    int32_t n, n_roi = 0, n_axes = 0;
    bool is_size;
    VF_TRY(read_targets(cx, call, &target, &n, &is_size, err));
    bool has_axes = call->node->op == VF_OP_RESIZE && call->opset >= 18;
    const int64_t *axes = has_axes ? vf_node_ints(call->node, "axes", &n_axes) : NULL;
    if (r->coordinates == CROP_AND_RESIZE && vf_low_in(call, 1) != NULL)
        VF_TRY(vf_low_numbers(cx, call, call->in[1], &roi, &n_roi, err));
    for (int32_t i = 0; i < x->rank; i++)
        axis[i] = (Axis){x->dims[i], type->dims[i].k, 1, 0, 1};
    if (n != (axes != NULL ? n_axes : x->rank) || (roi != NULL && n_roi != 2 * n))
        return vf_low_refuse(err, "%d scales for %d axes", n, x->rank);
    for (int32_t i = 0; i < n; i++) {
        int64_t at = axes != NULL ? axes[i] : i;
        VF_TRY(vf_low_norm_axis(call, x->rank, &at, err));
        axis[at].scale = is_size ? (double)axis[at].n_out / (double)axis[at].n_in : target[i];
        axis[at].roi_start = roi != NULL ? roi[i] : 0;
        axis[at].roi_end = roi != NULL ? roi[n + i] : 1;
        if (!(fabs(axis[at].roi_start) < 1e6 && fabs(axis[at].roi_end) < 1e6))
            return vf_low_refuse(err, "a region of %g to %g", axis[at].roi_start, axis[at].roi_end);
        if (!(axis[at].scale > 1e-6 && axis[at].scale < 1e6) || axis[at].n_out > INT32_MAX)
            return vf_low_refuse(err, "a scale of %g", axis[at].scale);
    }
    return VF_OK;
}

/* A policy that keeps the aspect ratio uses one scale: the least or the greatest of all. */
static VfStatus keep_aspect(VfLower *cx, const VfLowCall *call, Axis *axis, VfErr *err)
{
    int32_t n, n_axes;
    const double *target;
    bool is_size;
    if (call->node->op != VF_OP_RESIZE || call->opset < 18)
        return VF_OK;
    VfBytes policy = vf_node_string(call->node, "keep_aspect_ratio_policy");
    bool is_larger = vf_bytes_is_equal(policy, vf_bytes("not_smaller"));
    if (!is_larger && !vf_bytes_is_equal(policy, vf_bytes("not_larger")))
        return VF_OK;
    VF_TRY(read_targets(cx, call, &target, &n, &is_size, err));
    const int64_t *axes = vf_node_ints(call->node, "axes", &n_axes);
    double scale = 0;
    for (int32_t pass = 0; is_size && pass < 2; pass++)
        for (int32_t i = 0; i < n; i++) {
            int64_t at = axes != NULL ? axes[i] : i;
            at += at < 0 ? call->in[0]->rank : 0;
            double own = target[i] / (double)axis[at].n_in;
            if (pass == 1)
                axis[at].scale = scale;
            else if (i == 0 || (is_larger ? own > scale : own < scale))
                scale = own;
        }
    return VF_OK;
}

/* Linear and cubic, one axis after the other; integers are computed in floats that hold them and
 * rounded once, half to even. */
static VfStatus resize_smooth(VfLower *cx, VfLowCall *call, const Resize *r, const Axis *axis,
                              VfErr *err)
{
    VfLowValue *x = call->in[0];
    const VfDtypeInfo *info = vf_dtype_info(x->dtype);
    VfDtype dtype = info->is_float ? x->dtype : info->bits <= 16 ? VF_F32 : VF_F64;
    VF_TRY(vf_low_cast(cx, x, dtype, &x, err));
    for (int32_t i = 0; i < x->rank; i++)
        if (axis[i].scale != 1 || axis[i].n_in != axis[i].n_out ||
            r->coordinates == CROP_AND_RESIZE)
            VF_TRY(resample(cx, r, &axis[i], i, &x, err));
    if (!info->is_float)
        VF_TRY(vf_low_map(cx, "round", x, 0, 0, &x, err));
    return vf_low_reshape_to(cx, call, 0, x, err);
}

static VfStatus resize_empty(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *out;
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    return out->count == 0 ? vf_low_reshape_to(cx, call, 0, call->in[0], err)
                           : vf_low_refuse(err, "an empty axis that grows");
}

VfStatus vf_lower_resize(VfLower *cx, VfLowCall *call, VfErr *err)
{
    Resize r;
    VfLowValue *x = call->in[0];
    VF_TRY(read_resize(call, &r, err));
    Axis *axis = VF_NEW_ARRAY(cx->arena, Axis, (size_t)x->rank + 1);
    VF_TRY_ALLOC(axis, err);
    if (x->count == 0)
        return resize_empty(cx, call, err);
    VF_TRY(read_axes(cx, call, &r, axis, err));
    VF_TRY(keep_aspect(cx, call, axis, err));
    return r.method == NEAREST ? resize_nearest(cx, call, &r, axis, err)
                               : resize_smooth(cx, call, &r, axis, err);
}
