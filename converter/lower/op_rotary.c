/* RotaryEmbedding of ONNX (opset 23) and com.microsoft, and the same inside of attention. */
#include "converter/lower/attention.h"

#include <math.h>
#include <string.h>

#include "passes/ir/attr.h"

VfStatus vf_low_places_from(VfLower *cx, VfLowValue *first, int64_t n, VfLowValue **out, VfErr *err)
{
    VF_TRY(vf_low_count_up(cx, n, out, err));
    if (first == NULL)
        return VF_OK;
    VF_TRY(vf_low_cast(cx, first, VF_I64, &first, err));
    return vf_low_binary(cx, "add", *out, first, out, err);
}

/* Rows of a cos or sin table for the places, as B x 1 x S x half; B is 1 when all rows are
 * alike. */
static VfStatus rows_of(VfLower *cx, VfLowValue *table, VfLowValue *place, const VfLowValue *x,
                        VfLowValue **out, VfErr *err)
{
    if (table->rank < 1)
        return vf_low_refuse(err, "a table of another form");
    int64_t half = table->dims[table->rank - 1], n = x->dims[2];
    bool is_alike = place != NULL && (int64_t)place->count == n;
    const int64_t dims[4] = {is_alike ? 1 : x->dims[0], 1, n, half};
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

typedef struct Turn {
    VfLowValue *cos, *sin;
    int64_t half, step, second; /* partner of element i * step is second behind it */
} Turn;

static VfStatus turn(VfLower *cx, VfLowValue *x, const Turn *t, VfLowValue *y, VfErr *err)
{
    VfLowValue *a, *b, *to, *p, *q;
    VF_TRY(every(cx, x, 0, t->step, t->half, &a, err));
    VF_TRY(every(cx, x, t->second, t->step, t->half, &b, err));
    for (int side = 0; side < 2; side++) {
        VF_TRY(vf_low_binary(cx, "mul", t->cos, side == 0 ? a : b, &p, err));
        VF_TRY(vf_low_binary(cx, "mul", t->sin, side == 0 ? b : a, &q, err));
        VF_TRY(vf_low_binary(cx, side == 0 ? "sub" : "add", p, q, &p, err));
        VF_TRY(every(cx, y, side == 0 ? 0 : t->second, t->step, t->half, &to, err));
        VF_TRY(vf_low_copy(cx, p, to, err));
    }
    return VF_OK;
}

VfStatus vf_low_rotate(VfLower *cx, const VfLowRotary *r, VfLowValue *x, VfLowValue *y, VfErr *err)
{
    VfLowValue *rest, *to;
    int64_t size = r->size == 0 ? x->dims[3] : r->size;
    if (size < 2 || size % 2 != 0 || size > x->dims[3])
        return vf_low_refuse(err, "rotary_embedding_dim %lld", (long long)size);
    Turn t = {.half = size / 2,
              .step = r->is_interleaved ? 2 : 1,
              .second = r->is_interleaved ? 1 : size / 2};
    VF_TRY(rows_of(cx, r->cos, r->place, x, &t.cos, err));
    VF_TRY(rows_of(cx, r->sin, r->place, x, &t.sin, err));
    if (t.cos->dims[3] != t.half || t.sin->dims[3] != t.half)
        return vf_low_refuse(err, "tables of %lld columns", (long long)t.cos->dims[3]);
    VF_TRY(turn(cx, x, &t, y, err));
    if (size == x->dims[3])
        return VF_OK;
    VF_TRY(every(cx, x, size, 1, x->dims[3] - size, &rest, err));
    VF_TRY(every(cx, y, size, 1, x->dims[3] - size, &to, err));
    return vf_low_copy(cx, rest, to, err);
}

/* --- the operators --- */

static VfStatus rotary(VfLower *cx, VfLowCall *call, VfLowRotary *r, int64_t heads, VfErr *err)
{
    VfLowValue *x = call->in[0], *y;
    bool is_flat = x->rank == 3;
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
    r->size = vf_node_int(call->node, "rotary_embedding_dim");
    r->is_interleaved = vf_node_int(call->node, "interleaved") != 0;
    if (r->place != NULL && r->place->rank == 1 && r->place->count == 1)
        VF_TRY(vf_low_places_from(cx, r->place, x->dims[2], &r->place, err));
    return vf_low_rotate(cx, r, x, y, err);
}

VfStatus vf_lower_rotary(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowRotary r = {.cos = call->in[1], .sin = call->in[2], .place = vf_low_in(call, 3)};
    return rotary(cx, call, &r, vf_node_int(call->node, "num_heads"), err);
}

/* com.microsoft: without a number of heads the tables tell their width. */
VfStatus vf_lower_ms_rotary(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowRotary r = {.cos = call->in[2], .sin = call->in[3], .place = vf_low_in(call, 1)};
    const VfLowValue *x = call->in[0], *table = call->in[2];
    int64_t heads = vf_node_int(call->node, "num_heads");
    if (fabs(vf_node_float(call->node, "scale") - 1) > 0 ||
        vf_node_int(call->node, "is_packed_batching") != 0)
        return vf_low_refuse(err, "a scale or packed batches");
    if (table->rank != 2 || table->dims[1] < 1)
        return vf_low_refuse(err, "a table of another form");
    if (heads == 0 && x->rank == 3)
        heads = x->dims[2] / (2 * table->dims[1]);
    return rotary(cx, call, &r, heads, err);
}
