/* Fourier transforms, as products with tables of cosines and sines. In f64: expected zeros are
 * sums that cancel.
 *
 * A transform of N numbers to K: y[k] = sum over n of x[n] e^(s 2 pi i k n / N), s -1 forwards
 * and 1 backwards, where the sum is divided by N.
 */
#include "converter/lower/ops.h"

#include <math.h>

#include "passes/ir/attr.h"

enum { MAX_AXES = 64, MAX_LENGTH = 8192 };

typedef struct Transform {
    int64_t n;       /* length of the transform */
    int64_t n_in;    /* numbers given: n, or n / 2 + 1 where the rest mirrors them */
    int64_t n_out;   /* numbers wanted */
    bool is_inverse;
    bool is_half;    /* n_in is half of a mirrored spectrum, results are real */
} Transform;

/* The share of term j of a mirrored half: the terms it stands for. */
static double share_of(const Transform *t, int64_t j)
{
    return !t->is_half || j == 0 || 2 * j == t->n ? 1 : 2;
}

/* n_in x n_out cosines, or sines with the sign of the direction. */
static VfStatus make_table(VfLower *cx, const Transform *t, bool is_sine, VfLowValue **out,
                           VfErr *err)
{
    static const double turn = 6.283185307179586476925287;
    const int64_t dims[2] = {t->n_in, t->n_out};
    VfTensor *tensor;
    void *data;
    VF_TRY(vf_tensor_new(cx->arena, VF_F64, 2, dims, &tensor, &data, err));
    double *at = data, scale = t->is_inverse ? 1 / (double)t->n : 1;
    for (int64_t j = 0; j < t->n_in; j++)
        for (int64_t k = 0; k < t->n_out; k++) {
            double angle = turn * (double)(j * k % t->n) / (double)t->n;
            double part = is_sine ? (t->is_inverse ? sin(angle) : -sin(angle)) : cos(angle);
            *at++ = part * scale * share_of(t, j);
        }
    return vf_low_const(cx, tensor, out, err);
}

static VfStatus times_table(VfLower *cx, VfLowValue *x, const Transform *t, bool is_sine,
                            VfLowValue **out, VfErr *err)
{
    VfLowMatmul m = {.a = x, .alpha = 1};
    VF_TRY(make_table(cx, t, is_sine, &m.b, err));
    return vf_low_matmul(cx, &m, out, err);
}

/* Rows of n_in numbers, part[1] NULL where they are real, to rows of n_out. */
static VfStatus transform_rows(VfLower *cx, const Transform *t, VfLowValue *const part[2],
                               VfLowValue *out[2], VfErr *err)
{
    VfLowValue *more;
    VF_TRY(times_table(cx, part[0], t, false, &out[0], err));
    if (part[1] != NULL) {
        VF_TRY(times_table(cx, part[1], t, true, &more, err));
        VF_TRY(vf_low_binary(cx, "sub", out[0], more, &out[0], err));
    }
    if (t->is_half)
        return VF_OK;
    VF_TRY(times_table(cx, part[0], t, true, &out[1], err));
    if (part[1] == NULL)
        return VF_OK;
    VF_TRY(times_table(cx, part[1], t, false, &more, err));
    return vf_low_binary(cx, "add", out[1], more, &out[1], err);
}

/* Rows of `have` numbers cut, or filled up with zeros, to n_in. */
static VfStatus fit_rows(VfLower *cx, VfLowValue *x, int64_t n_in, VfLowValue **out, VfErr *err)
{
    VfLowValue *list[2] = {x, NULL};
    *out = x;
    if (x->dims[1] > n_in)
        return vf_low_slice(cx, x, 1, 0, n_in, out, err);
    if (x->dims[1] == n_in)
        return VF_OK;
    VF_TRY(vf_low_scalar(cx, x->dtype, 0, &list[1], err));
    VF_TRY(vf_low_expand(cx, list[1], 2, (int64_t[2]){x->dims[0], n_in - x->dims[1]}, &list[1],
                         err));
    return vf_low_concat(cx, 2, list, 1, out, err);
}

/* x: any axes, then the transformed one, then 1 or 2 for real and imaginary parts. The result has
 * the same axes. */
static VfStatus transform(VfLower *cx, const Transform *t, VfLowValue *x, VfLowValue **out,
                          VfErr *err)
{
    VfLowValue *part[2] = {NULL, NULL}, *result[2] = {NULL, NULL};
    int64_t dims[MAX_AXES];
    int32_t last = x->rank - 1;
    const int64_t rows[2] = {vf_low_product(x->dims, 0, last - 1), x->dims[last - 1]};
    VF_TRY(vf_low_cast(cx, x, VF_F64, &x, err));
    for (int32_t i = 0; i < x->dims[last]; i++) {
        VF_TRY(vf_low_slice(cx, x, last, i, 1, &part[i], err));
        VF_TRY(vf_low_reshape(cx, part[i], 2, rows, &part[i], err));
        VF_TRY(fit_rows(cx, part[i], t->n_in, &part[i], err));
    }
    VF_TRY(transform_rows(cx, t, part, result, err));
    for (int32_t i = 0; i < last; i++)
        dims[i] = i == last - 1 ? t->n_out : x->dims[i];
    dims[last] = 1;
    for (int32_t i = 0; i < 2 && result[i] != NULL; i++)
        VF_TRY(vf_low_reshape(cx, result[i], x->rank, dims, &result[i], err));
    *out = result[0];
    return result[1] != NULL ? vf_low_concat(cx, 2, result, last, out, err) : VF_OK;
}

/* One known number of an operand; `fallback` when it is omitted. */
static VfStatus number_of(VfLower *cx, const VfLowCall *call, int32_t slot, int64_t fallback,
                          int64_t *number, VfErr *err)
{
    const int64_t *list;
    int32_t n;
    VF_TRY(vf_low_ints(cx, call, NULL, slot, &list, &n, err));
    if (list != NULL && n != 1)
        return vf_low_refuse(err, "operand %d is no single number", slot);
    *number = list != NULL ? list[0] : fallback;
    return VF_OK;
}

static VfStatus check_length(int64_t n, VfErr *err)
{
    return n >= 1 && n <= MAX_LENGTH ? VF_OK
                                     : vf_low_refuse(err, "a transform of %lld", (long long)n);
}

VfStatus vf_lower_dft(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0], *y;
    bool is_onesided = vf_node_int(call->node, "onesided") != 0;
    Transform t = {.is_inverse = vf_node_int(call->node, "inverse") != 0};
    int64_t axis = call->opset < 20 ? vf_node_int(call->node, "axis") : -2, perm[MAX_AXES];
    VF_TRY(number_of(cx, call, call->opset < 20 ? -1 : 2, axis, &axis, err));
    VF_TRY(vf_low_norm_axis(call, x->rank, &axis, err));
    int32_t last = x->rank - 1;
    if (x->rank < 2 || x->rank > MAX_AXES || axis == last || x->dims[last] < 1 || x->dims[last] > 2)
        return vf_low_refuse(err, "%d axes", x->rank);
    t.is_half = is_onesided && t.is_inverse;
    int64_t given = x->dims[axis];
    VF_TRY(number_of(cx, call, 1, t.is_half ? 2 * (given - 1) : given, &t.n, err));
    VF_TRY(check_length(t.n, err));
    t.n_in = t.is_half ? t.n / 2 + 1 : t.n;
    t.n_out = is_onesided && !t.is_inverse ? t.n / 2 + 1 : t.n;
    for (int32_t i = 0; i <= last; i++)
        perm[i] = i == axis ? last - 1 : i == last - 1 ? axis : i;
    VF_TRY(vf_low_permute(cx, x, perm, &x, err));
    VF_TRY(transform(cx, &t, x, &y, err));
    VF_TRY(vf_low_permute(cx, y, perm, &y, err));
    return vf_low_cast(cx, y, call->fact[0].type.dtype, &call->out[0], err);
}

/* Frames of the signal, which overlap, as a view; each times the window, then transformed. */
VfStatus vf_lower_stft(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0], *window = vf_low_in(call, 2), *y;
    Transform t = {0};
    int64_t step;
    VF_TRY(number_of(cx, call, 1, 0, &step, err));
    VF_TRY(number_of(cx, call, 3, window != NULL ? (int64_t)window->count : 0, &t.n, err));
    VF_TRY(check_length(t.n, err));
    if (x->rank != 3 || x->dims[2] < 1 || x->dims[2] > 2 || step < 1 || x->dims[1] < t.n)
        return vf_low_refuse(err, "frames of %lld every %lld", (long long)t.n, (long long)step);
    t.n_in = t.n;
    t.n_out = vf_node_int(call->node, "onesided") != 0 ? t.n / 2 + 1 : t.n;
    const int64_t dims[4] = {x->dims[0], (x->dims[1] - t.n) / step + 1, t.n, x->dims[2]};
    const int64_t stride[4] = {x->stride[0], x->stride[1] * step, x->stride[1], x->stride[2]};
    VF_TRY(vf_low_view(cx, x, 4, dims, stride, 0, &x, err));
    VF_TRY(vf_low_cast(cx, x, VF_F64, &x, err));
    if (window != NULL) {
        VF_TRY(vf_low_cast(cx, window, VF_F64, &window, err));
        VF_TRY(vf_low_along(cx, window, 4, 2, &window, err));
        VF_TRY(vf_low_binary(cx, "mul", x, window, &x, err));
    }
    VF_TRY(transform(cx, &t, x, &y, err));
    return vf_low_cast(cx, y, call->fact[0].type.dtype, &call->out[0], err);
}
