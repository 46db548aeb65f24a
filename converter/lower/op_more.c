/* Operators composed of others, and some that stand alone. */
#include "converter/lower/ops.h"

#include <math.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "runtime/base/size.h"
#include "runtime/kernels/det.h"

VfStatus vf_lower_swiglu(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *gate;
    VF_TRY(vf_low_map(cx, "silu", call->in[0], vf_node_float(call->node, "alpha"), 0, &gate, err));
    return vf_low_binary(cx, "mul", gate, call->in[1], &call->out[0], err);
}

/* Axes to be cropped or padded around their middle. */
VfStatus vf_lower_center_crop_pad(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0], *y, *to;
    const VfType *type = &call->fact[0].type;
    VF_TRY(vf_low_result(cx, call, 0, &y, err));
    VfLowValue *zero, *from = x;
    VF_TRY(vf_low_scalar(cx, x->dtype, 0, &zero, err));
    VF_TRY(vf_low_expand(cx, zero, y->rank, y->dims, &zero, err));
    VF_TRY(vf_low_copy(cx, zero, y, err));
    to = y;
    for (int32_t i = 0; i < type->rank; i++) {
        int64_t have = x->dims[i], want = y->dims[i];
        int64_t both = have < want ? have : want;
        VF_TRY(vf_low_slice(cx, from, i, (have - both) / 2, both, &from, err));
        VF_TRY(vf_low_slice(cx, to, i, (want - both) / 2, both, &to, err));
    }
    return vf_low_copy(cx, from, to, err);
}

VfStatus vf_lower_det(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x, *out;
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    VfkDetParams p = {x->dims[x->rank - 1]};
    double n = (double)p.n;
    VfLowEmit emit = {.op = "det", .dtype = x->dtype, .params = &p, .n_in = 1, .n_out = 1,
                      .in = &x, .out = &out, .units = (int64_t)out->count,
                      .unit_cost = 5 + n * n + n * n * n / 3,
                      .flops = 2 * n * n * n / 3 * (double)out->count,
                      .scratch_bytes = (size_t)p.n * (size_t)p.n * sizeof(double)};
    return vf_low_emit(cx, &emit, err);
}

/* Slices where the known condition is true. */
VfStatus vf_lower_compress(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0], *keep = call->in[1], *index;
    int64_t axis = 0;
    bool is_flat = vf_node_attr(call->node, "axis") == NULL;
    VF_TRY(vf_low_need_known(call, keep, err));
    if (is_flat)
        VF_TRY(vf_low_reshape(cx, x, 1, (int64_t[1]){(int64_t)x->count}, &x, err));
    else
        VF_TRY(vf_low_axis(call, "axis", x->rank, &axis, err));
    int64_t *list = VF_NEW_ARRAY(cx->arena, int64_t, keep->count + 1);
    VF_TRY_ALLOC(list, err);
    size_t n = 0;
    for (size_t i = 0; i < keep->count && (int64_t)i < x->dims[axis]; i++)
        if (vf_tensor_get_i64(keep->known, i) != 0)
            list[n++] = (int64_t)i;
    VF_TRY(vf_low_const_i64(cx, n, list, &index, err));
    return vf_low_gather_axis(cx, x, index, (int32_t)axis, &call->out[0], err);
}

/* Coordinates of the elements that are not 0, of a known operand. */
VfStatus vf_lower_non_zero(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0];
    VF_TRY(vf_low_need_known(call, x, err));
    size_t n = 0;
    for (size_t i = 0; i < x->count; i++)
        n += vf_tensor_get_double(x->known, i) != 0;
    int64_t dims[2] = {x->rank, (int64_t)n};
    VfTensor *tensor;
    void *data;
    size_t bytes;
    if (!vf_size_mul(n, 8 * (size_t)x->rank, &bytes))
        bytes = SIZE_MAX;
    VF_TRY(vf_low_allow(cx, bytes, err));
    VF_TRY(vf_tensor_new(cx->arena, VF_I64, 2, dims, &tensor, &data, err));
    int64_t *out = data;
    size_t at = 0;
    for (size_t i = 0; i < x->count; i++) {
        if (vf_tensor_get_double(x->known, i) == 0)
            continue;
        int64_t left = (int64_t)i;
        for (int32_t k = x->rank; k-- > 0; left /= x->dims[k])
            out[(size_t)k * n + at] = left % x->dims[k];
        at++;
    }
    return vf_low_const(cx, tensor, &call->out[0], err);
}

/* --- windows of signal processing: tables --- */

typedef struct WindowTerms {
    VfOp op;
    double a0, a1, a2; /* a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n) */
} WindowTerms;

static const WindowTerms window_table[] = {
    {VF_OP_HANN_WINDOW, 0.5, 0.5, 0},
    {VF_OP_HAMMING_WINDOW, 25.0 / 46, 21.0 / 46, 0},
    {VF_OP_BLACKMAN_WINDOW, 0.42, 0.5, 0.08},
};

VfStatus vf_lower_window(VfLower *cx, VfLowCall *call, VfErr *err)
{
    const WindowTerms *w = window_table;
    static const double pi = 3.14159265358979323846;
    VfTensor *tensor;
    void *data;
    VF_TRY(vf_low_need_known(call, call->in[0], err));
    while (w->op != call->node->op)
        w++;
    int64_t n = call->in[0]->count == 1 ? vf_tensor_get_i64(call->in[0]->known, 0) : -1;
    VfDtype dtype = call->fact[0].type.dtype;
    double length = (double)n - (vf_node_int(call->node, "periodic") != 0 ? 0 : 1);
    if (n < 0 || vf_low_width(dtype) == 0)
        return vf_low_refuse(err, "a window of %lld", (long long)n);
    VF_TRY(vf_tensor_new(cx->arena, dtype, 1, &n, &tensor, &data, err));
    for (int64_t i = 0; i < n; i++) {
        double x = 2 * pi * (double)i / length;
        vf_tensor_put_double(data, dtype, (size_t)i, w->a0 - w->a1 * cos(x) + w->a2 * cos(2 * x));
    }
    return vf_low_const(cx, tensor, &call->out[0], err);
}
