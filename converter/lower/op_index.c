/* Reading and writing through indices. */
#include "converter/lower/ops.h"

#include <stdio.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "runtime/kernels/fill.h"
#include "runtime/kernels/gather.h"
#include "runtime/kernels/scatter.h"

static VfStatus sized_name(const char *op, const VfLowValue *data, char name[40], VfErr *err)
{
    size_t width = vf_low_width(data->dtype);
    if (width == 0)
        return vf_low_refuse(err, "elements of %s", vf_dtype_info(data->dtype)->name);
    snprintf(name, 40, "%s_b%zu", op, width);
    return VF_OK;
}

static VfStatus index_operand(VfLower *cx, VfLowValue *index, VfLowValue **out, int64_t *bytes,
                              VfErr *err)
{
    if (index->dtype != VF_I32 && index->dtype != VF_I64)
        return vf_low_refuse(err, "indices of %s", vf_dtype_info(index->dtype)->name);
    *bytes = index->dtype == VF_I32 ? 4 : 8;
    VF_TRY(vf_low_dense(cx, index, out, err));
    return vf_low_place(cx, *out, err);
}

/* Known indices that step evenly are a view: one index, or a range. */
static VfStatus gather_view(VfLower *cx, VfLowCall *call, int32_t axis, bool *is_done, VfErr *err)
{
    VfLowValue *x = call->in[0], *index = call->in[1], *view;
    *is_done = false;
    if (index->known == NULL || index->count == 0 || index->rank > 1 || vf_low_width(x->dtype) == 0)
        return VF_OK;
    int64_t n = (int64_t)index->count, dim = x->dims[axis], first = 0, step = 0, last = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = vf_tensor_get_i64(index->known, (size_t)i);
        at += at < 0 ? dim : 0;
        if ((at < 0 || at >= dim) && cx->choice != NULL)
            return VF_OK;
        if (at < 0 || at >= dim)
            return vf_fail(err, VF_INVALID, "node '%s': index %lld lies outside an axis of %lld",
                           vf_node_label(call->node),
                           (long long)vf_tensor_get_i64(index->known, (size_t)i), (long long)dim);
        first = i == 0 ? at : first;
        step = i == 1 ? at - last : step;
        if (i > 1 && at - last != step)
            return VF_OK;
        last = at;
    }
    int64_t *list = VF_NEW_ARRAY(cx->arena, int64_t, 2 * (size_t)x->rank + 1);
    VF_TRY_ALLOC(list, err);
    int32_t rank = 0;
    for (int32_t i = 0; i < x->rank; i++) {
        if (i == axis && index->rank == 0)
            continue;
        list[rank] = i == axis ? n : x->dims[i];
        list[x->rank + rank++] = i == axis ? x->stride[i] * step : x->stride[i];
    }
    VF_TRY(vf_low_place(cx, x, err));
    VF_TRY(vf_low_view(cx, x, rank, list, list + x->rank, first * x->stride[axis], &view, err));
    call->out[0] = view;
    *is_done = true;
    return VF_OK;
}

VfStatus vf_low_gather_axis(VfLower *cx, VfLowValue *x, VfLowValue *index, int32_t axis,
                            VfLowValue **out, VfErr *err)
{
    VfLowValue *in[2];
    VfkGatherParams p = {0};
    char op[40];
    int64_t dims[64];
    int32_t rank = 0;
    VF_TRY(vf_low_dense(cx, x, &in[0], err));
    VF_TRY(index_operand(cx, index, &in[1], &p.index_bytes, err));
    VF_TRY(sized_name("gather", x, op, err));
    if (x->rank + index->rank > 64)
        return vf_low_refuse(err, "%d axes", x->rank + index->rank);
    for (int32_t i = 0; i < x->rank; i++) {
        for (int32_t k = 0; i == axis && k < index->rank; k++)
            dims[rank++] = index->dims[k];
        if (i != axis)
            dims[rank++] = x->dims[i];
    }
    VF_TRY(vf_low_new(cx, x->dtype, rank, dims, out, err));
    p.outer = vf_low_product(x->dims, 0, axis);
    p.axis_dim = x->dims[axis];
    p.n_index = (int64_t)index->count;
    p.inner = vf_low_product(x->dims, axis + 1, x->rank);
    VfLowEmit emit = {.op = op, .params = &p, .n_in = 2, .n_out = 1, .in = in, .out = out,
                      .units = (*out)->count == 0 ? 0 : p.outer * p.n_index,
                      .unit_cost = 2 + 0.3 * (double)p.inner};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_lower_gather(VfLower *cx, VfLowCall *call, VfErr *err)
{
    int64_t axis;
    bool is_done;
    VF_TRY(vf_low_axis(call, "axis", call->in[0]->rank, &axis, err));
    VF_TRY(gather_view(cx, call, (int32_t)axis, &is_done, err));
    if (is_done)
        return VF_OK;
    return vf_low_gather_axis(cx, call->in[0], call->in[1], (int32_t)axis, &call->out[0], err);
}

VfStatus vf_low_gather_elements(VfLower *cx, const VfLowCall *call, VfLowValue *x,
                                VfLowValue *index, int32_t axis, VfLowValue **out, VfErr *err)
{
    VfLowValue *in[2];
    VfkGatherElementsParams p = {.rank = x->rank, .axis = axis};
    char op[40];
    VF_TRY(vf_low_dense(cx, x, &in[0], err));
    VF_TRY(index_operand(cx, index, &in[1], &p.index_bytes, err));
    VF_TRY(sized_name("gather_elements", in[0], op, err));
    if (x->rank > VFK_MAX_RANK || index->rank != x->rank)
        return vf_low_refuse(err, "%d axes", x->rank);
    VF_TRY(vf_low_new(cx, x->dtype, index->rank, index->dims, out, err));
    p.axis_dim = x->dims[axis];
    for (int32_t i = 0; i < x->rank; i++) {
        p.dim[i] = index->dims[i];
        p.data_stride[i] = in[0]->stride[i];
        if (i != axis && p.dim[i] > x->dims[i])
            return vf_fail(err, VF_INVALID, "node '%s': more indices than data along axis %d",
                           vf_node_label(call->node), i);
    }
    VfLowEmit emit = {.op = op, .params = &p, .n_in = 2, .n_out = 1, .in = in, .out = out,
                      .units = (int64_t)(*out)->count, .unit_cost = 2};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_lower_gather_elements(VfLower *cx, VfLowCall *call, VfErr *err)
{
    int64_t axis;
    VF_TRY(vf_low_axis(call, "axis", call->in[0]->rank, &axis, err));
    return vf_low_gather_elements(cx, call, call->in[0], call->in[1], (int32_t)axis,
                                  &call->out[0], err);
}

/* Tuples of indices into axes [first, first + depth) of data. */
typedef struct Tuples {
    int64_t n, depth, inner;
    int64_t dim[VFK_MAX_RANK], stride[VFK_MAX_RANK];
} Tuples;

static VfStatus read_tuples(const VfLowCall *call, const VfLowValue *data, const VfLowValue *index,
                            int32_t first, Tuples *t, VfErr *err)
{
    if (index->rank < 1 || index->rank <= first)
        return vf_fail(err, VF_INVALID, "node '%s': indices of %d axes", vf_node_label(call->node),
                       index->rank);
    t->depth = index->dims[index->rank - 1];
    if (t->depth > VFK_MAX_RANK || t->depth + first > data->rank)
        return vf_low_refuse(err, "index tuples of %lld", (long long)t->depth);
    t->n = vf_low_product(index->dims, first, index->rank - 1);
    t->inner = vf_low_product(data->dims, first + (int32_t)t->depth, data->rank);
    for (int32_t i = 0; i < t->depth; i++) {
        t->dim[i] = data->dims[first + i];
        t->stride[i] = vf_low_product(data->dims, first + i + 1, data->rank);
    }
    return VF_OK;
}

VfStatus vf_lower_gather_nd(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[2], *out;
    VfkGatherNdParams p = {0};
    Tuples t = {0};
    char op[40];
    int64_t first = call->opset >= 12 ? vf_node_int(call->node, "batch_dims") : 0;
    VF_TRY(vf_low_dense(cx, call->in[0], &in[0], err));
    VF_TRY(index_operand(cx, call->in[1], &in[1], &p.index_bytes, err));
    VF_TRY(sized_name("gather_nd", in[0], op, err));
    if (first < 0 || first > in[0]->rank)
        return vf_low_refuse(err, "batch_dims %lld", (long long)first);
    VF_TRY(read_tuples(call, in[0], in[1], (int32_t)first, &t, err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    p.batch = vf_low_product(in[0]->dims, 0, (int32_t)first);
    p.batch_stride = vf_low_product(in[0]->dims, (int32_t)first, in[0]->rank);
    p.n_tuple = t.n;
    p.depth = t.depth;
    p.inner = t.inner;
    memcpy(p.dim, t.dim, sizeof p.dim);
    memcpy(p.stride, t.stride, sizeof p.stride);
    VfLowEmit emit = {.op = op, .params = &p, .n_in = 2, .n_out = 1, .in = in, .out = &out,
                      .units = out->count == 0 ? 0 : p.batch * p.n_tuple,
                      .unit_cost = 4 + 0.3 * (double)p.inner};
    return vf_low_emit(cx, &emit, err);
}

/* --- Scatter --- */

static VfStatus reduction_of(const VfLowCall *call, int64_t *reduction, VfErr *err)
{
    static const char *const name[] = {"none", "add", "mul", "max", "min", NULL};
    int32_t index;
    *reduction = VFK_SCATTER_SET;
    if (call->opset < 16 || call->node->op == VF_OP_SCATTER)
        return VF_OK;
    VF_TRY(vf_low_choose(vf_node_string(call->node, "reduction"), name, &index, err));
    bool needs_order = index == VFK_SCATTER_MAX || index == VFK_SCATTER_MIN;
    if (needs_order && vf_low_is_complex(call->in[0]->dtype))
        return vf_low_refuse(err, "complex numbers have no greatest and no least");
    *reduction = index;
    return VF_OK;
}

static VfDtype dtype_of_reduction(VfDtype dtype)
{
    return dtype == VF_F16 || dtype == VF_BF16 ? VF_F32 : dtype == VF_BOOL ? VF_I32 : dtype;
}

/* Elements are moved as they are; what is reduced is computed, 16-bit floats in f32. Sums and
 * products of truth values are 0 or not, so the last cast makes them or and and. */
static VfStatus emit_scatter(VfLower *cx, const char *op, VfLowValue **in, const void *params,
                             bool is_set, VfLowValue **out, VfErr *err)
{
    char name[40];
    VfDtype dtype = in[0]->dtype, wide = is_set ? dtype : dtype_of_reduction(dtype);
    VF_TRY(vf_low_cast(cx, in[0], wide, &in[0], err));
    VF_TRY(vf_low_cast(cx, in[2], wide, &in[2], err));
    VF_TRY(vf_low_new(cx, wide, in[0]->rank, in[0]->dims, out, err));
    VfLowEmit emit = {.op = op, .dtype = wide, .params = params, .n_in = 3, .n_out = 1,
                      .in = in, .out = out, .units = (*out)->count == 0 ? 0 : 1,
                      .unit_cost = (double)(*out)->count, .may_overwrite = true};
    if (is_set) {
        VF_TRY(sized_name(op, in[0], name, err));
        emit.op = name;
        emit.dtype = VF_UNDEFINED;
    }
    VF_TRY(vf_low_emit(cx, &emit, err));
    return vf_low_cast(cx, *out, dtype, out, err);
}

static VfStatus scatter_operands(VfLower *cx, VfLowValue *const operand[3], VfLowValue *in[3],
                                 int64_t *index_bytes, VfErr *err)
{
    VF_TRY(vf_low_dense(cx, operand[0], &in[0], err));
    VF_TRY(index_operand(cx, operand[1], &in[1], index_bytes, err));
    VF_TRY(vf_low_dense(cx, operand[2], &in[2], err));
    if (in[2]->dtype != in[0]->dtype)
        return vf_low_refuse(err, "updates of %s", vf_dtype_info(in[2]->dtype)->name);
    return VF_OK;
}

/* p: axis and reduction are set. */
static VfStatus scatter_elements(VfLower *cx, const VfLowCall *call, VfLowValue *const operand[3],
                                 VfkScatterElementsParams p, VfLowValue **out, VfErr *err)
{
    VfLowValue *in[3];
    VF_TRY(scatter_operands(cx, operand, in, &p.index_bytes, err));
    if (in[0]->rank > VFK_MAX_RANK || in[1]->rank != in[0]->rank || in[2]->count != in[1]->count)
        return vf_low_refuse(err, "%d axes", in[0]->rank);
    p.n = (int64_t)in[0]->count;
    p.rank = in[0]->rank;
    p.axis_dim = in[0]->dims[p.axis];
    for (int32_t i = 0; i < p.rank; i++) {
        p.dim[i] = in[1]->dims[i];
        p.data_stride[i] = in[0]->stride[i];
        if (i != p.axis && p.dim[i] > in[0]->dims[i])
            return vf_fail(err, VF_INVALID, "node '%s': more indices than data along axis %d",
                           vf_node_label(call->node), i);
    }
    return emit_scatter(cx, "scatter_elements", in, &p, p.reduction == VFK_SCATTER_SET, out, err);
}

VfStatus vf_low_scatter_along(VfLower *cx, const VfLowCall *call, VfLowValue *const operand[3],
                              int32_t axis, VfLowValue **out, VfErr *err)
{
    const VfkScatterElementsParams p = {.axis = axis, .reduction = VFK_SCATTER_SET};
    return scatter_elements(cx, call, operand, p, out, err);
}

VfStatus vf_lower_scatter_elements(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfkScatterElementsParams p = {0};
    VF_TRY(reduction_of(call, &p.reduction, err));
    VF_TRY(vf_low_axis(call, "axis", call->in[0]->rank, &p.axis, err));
    return scatter_elements(cx, call, call->in, p, &call->out[0], err);
}

VfStatus vf_lower_scatter_nd(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[3];
    VfkScatterNdParams p = {0};
    Tuples t = {0};
    VF_TRY(scatter_operands(cx, call->in, in, &p.index_bytes, err));
    VF_TRY(reduction_of(call, &p.reduction, err));
    VF_TRY(read_tuples(call, in[0], in[1], 0, &t, err));
    if ((int64_t)in[2]->count != t.n * t.inner)
        return vf_fail(err, VF_INVALID, "node '%s': %zu updates for %lld places",
                       vf_node_label(call->node), in[2]->count, (long long)(t.n * t.inner));
    p.n = (int64_t)in[0]->count;
    p.n_tuple = t.n;
    p.depth = t.depth;
    p.inner = t.inner;
    memcpy(p.dim, t.dim, sizeof p.dim);
    memcpy(p.stride, t.stride, sizeof p.stride);
    return emit_scatter(cx, "scatter_nd", in, &p, p.reduction == VFK_SCATTER_SET, &call->out[0],
                        err);
}

/* --- OneHot --- */

VfStatus vf_lower_one_hot(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[2], *out, *index = call->in[0];
    char op[40];
    VfkOneHotParams p = {0};
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    int64_t axis = vf_node_int(call->node, "axis");
    VF_TRY(vf_low_norm_axis(call, out->rank, &axis, err));
    if (index->dtype != VF_I32 && index->dtype != VF_I64)
        VF_TRY(vf_low_cast(cx, index, VF_I64, &index, err));
    VF_TRY(index_operand(cx, index, &in[0], &p.index_bytes, err));
    VF_TRY(vf_low_dense(cx, call->in[2], &in[1], err));
    VF_TRY(sized_name("one_hot", in[1], op, err));
    if (in[1]->count != 2)
        return vf_low_refuse(err, "%zu values for on and off", in[1]->count);
    p.outer = vf_low_product(out->dims, 0, (int32_t)axis);
    p.depth = out->dims[axis];
    p.inner = vf_low_product(out->dims, (int32_t)axis + 1, out->rank);
    VfLowEmit emit = {.op = op, .params = &p, .n_in = 2, .n_out = 1, .in = in, .out = &out,
                      .units = out->count == 0 ? 0 : p.outer,
                      .unit_cost = (double)p.depth * (double)p.inner};
    return vf_low_emit(cx, &emit, err);
}
