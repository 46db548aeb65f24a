/* Operators composed of others. */
#include "converter/lower/ops.h"

#include <math.h>
#include <string.h>

#include "passes/ir/attr.h"

/* --- RotaryEmbedding --- */

/* Operands: places of the tokens, tables of cosines and sines. */
typedef struct RotaryForm {
    int8_t place, cos, sin;
} RotaryForm;

/* S places in a row from the given one on. */
static VfStatus places_from(VfLower *cx, VfLowValue *first, int64_t n, VfLowValue **out, VfErr *err)
{
    int64_t *list = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)n + 1);
    VF_TRY_ALLOC(list, err);
    for (int64_t i = 0; i < n; i++)
        list[i] = i;
    VF_TRY(vf_low_const_i64(cx, (size_t)n, list, out, err));
    VF_TRY(vf_low_cast(cx, first, VF_I64, &first, err));
    return vf_low_binary(cx, "add", *out, first, out, err);
}

/* Rows of a cos or sin table for B x S positions, as B x 1 x S x half; B is 1 when all rows are
 * alike. */
static VfStatus rotary_table(VfLower *cx, VfLowCall *call, int32_t slot, int32_t place_slot,
                             const VfLowValue *x, VfLowValue **out, VfErr *err)
{
    VfLowValue *table = call->in[slot], *place = vf_low_in(call, place_slot);
    if (table->rank < 1)
        return vf_low_refuse(err, "a table of another form");
    int64_t half = table->dims[table->rank - 1];
    bool is_first = place != NULL && place->rank == 1 && place->count == 1;
    const int64_t dims[4] = {is_first ? 1 : x->dims[0], 1, x->dims[2], half};
    if (is_first)
        VF_TRY(places_from(cx, place, x->dims[2], &place, err));
    if (place != NULL) {
        if (table->rank != 2 || (int64_t)place->count != dims[0] * dims[2])
            return vf_low_refuse(err, "positions of another form");
        VF_TRY(vf_low_gather_axis(cx, table, place, 0, &table, err));
    }
    if ((int64_t)table->count != dims[0] * dims[2] * half)
        return vf_low_refuse(err, "a table of another form");
    return vf_low_reshape(cx, table, 4, dims, out, err);
}

/* Elements first, first + step, ... of the last axis. */
static VfStatus every(VfLower *cx, VfLowValue *x, int64_t first, int64_t step, int64_t n,
                      VfLowValue **out, VfErr *err)
{
    int64_t dims[4], stride[4];
    memcpy(dims, x->dims, sizeof dims);
    memcpy(stride, x->stride, sizeof stride);
    dims[3] = n;
    stride[3] *= step;
    return vf_low_view(cx, x, 4, dims, stride, first * x->stride[3], out, err);
}

typedef struct Rotary {
    VfLowValue *cos, *sin;
    int64_t half, step, second; /* partner of element i * step is second behind it */
} Rotary;

static VfStatus rotate(VfLower *cx, VfLowValue *x, const Rotary *r, VfLowValue *y, VfErr *err)
{
    VfLowValue *a, *b, *to, *p, *q;
    VF_TRY(every(cx, x, 0, r->step, r->half, &a, err));
    VF_TRY(every(cx, x, r->second, r->step, r->half, &b, err));
    for (int side = 0; side < 2; side++) {
        VF_TRY(vf_low_binary(cx, "mul", r->cos, side == 0 ? a : b, &p, err));
        VF_TRY(vf_low_binary(cx, "mul", r->sin, side == 0 ? b : a, &q, err));
        VF_TRY(vf_low_binary(cx, side == 0 ? "sub" : "add", p, q, &p, err));
        VF_TRY(every(cx, y, side == 0 ? 0 : r->second, r->step, r->half, &to, err));
        VF_TRY(vf_low_copy(cx, p, to, err));
    }
    return VF_OK;
}

static VfStatus rotary(VfLower *cx, VfLowCall *call, const RotaryForm *form, int64_t heads,
                       VfErr *err)
{
    VfLowValue *x = call->in[0], *y, *rest, *to;
    int64_t size = vf_node_int(call->node, "rotary_embedding_dim");
    bool is_flat = x->rank == 3, is_mixed = vf_node_int(call->node, "interleaved") != 0;
    static const int64_t perm[4] = {0, 2, 1, 3};
    if ((x->rank != 3 && x->rank != 4) || (is_flat && (heads < 1 || x->dims[2] % heads != 0)))
        return vf_low_refuse(err, "%d axes and %lld heads", x->rank, (long long)heads);
    VF_TRY(vf_low_new(cx, x->dtype, x->rank, x->dims, &y, err));
    call->out[0] = y;
    if (is_flat) {
        const int64_t dims[4] = {x->dims[0], x->dims[1], heads, x->dims[2] / heads};
        VF_TRY(vf_low_reshape(cx, x, 4, dims, &x, err));
        VF_TRY(vf_low_permute(cx, x, perm, &x, err));
        VF_TRY(vf_low_reshape(cx, y, 4, dims, &y, err));
        VF_TRY(vf_low_permute(cx, y, perm, &y, err));
    }
    size = size == 0 ? x->dims[3] : size;
    if (size < 2 || size % 2 != 0 || size > x->dims[3])
        return vf_low_refuse(err, "rotary_embedding_dim %lld", (long long)size);
    Rotary r = {.half = size / 2, .step = is_mixed ? 2 : 1, .second = is_mixed ? 1 : size / 2};
    VF_TRY(rotary_table(cx, call, form->cos, form->place, x, &r.cos, err));
    VF_TRY(rotary_table(cx, call, form->sin, form->place, x, &r.sin, err));
    if (r.cos->dims[3] != r.half || r.sin->dims[3] != r.half)
        return vf_low_refuse(err, "tables of %lld columns", (long long)r.cos->dims[3]);
    VF_TRY(rotate(cx, x, &r, y, err));
    if (size == x->dims[3])
        return VF_OK;
    VF_TRY(every(cx, x, size, 1, x->dims[3] - size, &rest, err));
    VF_TRY(every(cx, y, size, 1, x->dims[3] - size, &to, err));
    return vf_low_copy(cx, rest, to, err);
}

VfStatus vf_lower_rotary(VfLower *cx, VfLowCall *call, VfErr *err)
{
    static const RotaryForm form = {.place = 3, .cos = 1, .sin = 2};
    return rotary(cx, call, &form, vf_node_int(call->node, "num_heads"), err);
}

/* com.microsoft: without a number of heads the tables tell their width. */
VfStatus vf_lower_ms_rotary(VfLower *cx, VfLowCall *call, VfErr *err)
{
    static const RotaryForm form = {.place = 1, .cos = 2, .sin = 3};
    const VfLowValue *x = call->in[0], *table = call->in[2];
    int64_t heads = vf_node_int(call->node, "num_heads");
    if (fabs(vf_node_float(call->node, "scale") - 1) > 0 ||
        vf_node_int(call->node, "is_packed_batching") != 0)
        return vf_low_refuse(err, "a scale or packed batches");
    if (table->rank != 2 || table->dims[1] < 1)
        return vf_low_refuse(err, "a table of another form");
    if (heads == 0 && x->rank == 3)
        heads = x->dims[2] / (2 * table->dims[1]);
    return rotary(cx, call, &form, heads, err);
}

/* --- small ones --- */

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
