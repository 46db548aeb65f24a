/* Reductions, softmax, and walks along one axis. */
#include "converter/lower/ops.h"

#include <string.h>

#include "passes/ir/attr.h"
#include "runtime/kernels/reduce.h"
#include "runtime/kernels/scan.h"
#include "runtime/kernels/softmax.h"

enum { MAX_AXES = 64 };

/* A dtype with a kernel in which the result is the same; `dtype` itself if there is none. */
static VfDtype reduce_dtype(const VfLower *cx, const char *op, VfDtype dtype)
{
    const VfDtypeInfo *info = vf_dtype_info(dtype);
    if (vf_low_has_kernel(cx, op, dtype) || info->is_float || info->bits == 0)
        return dtype;
    /* Roots and logarithms of integers are real; the result is truncated. */
    if (strcmp(op, "reduce_l2") == 0 || strncmp(op, "reduce_log", 10) == 0)
        return VF_F64;
    /* Sums and products wrap alike in a wider type; extremes need one that holds all values. */
    VfDtype wide = info->bits < 32 ? VF_I32 : VF_I64;
    bool wraps = strcmp(op, "reduce_sum") == 0 || strcmp(op, "reduce_prod") == 0 ||
                 strcmp(op, "reduce_sum_square") == 0;
    return wraps || info->bits < 64 || info->is_signed ? wide : dtype;
}

/* The reduced axes, or the kept ones, as the kernel takes them. */
static VfStatus pick_axes(const VfLowValue *x, uint64_t axes, bool is_reduced, VfLowAxes *out,
                          VfErr *err)
{
    int64_t dims[MAX_AXES], stride[MAX_AXES];
    int32_t n = 0;
    for (int32_t i = 0; i < x->rank; i++) {
        if ((((axes >> i) & 1) != 0) != is_reduced)
            continue;
        dims[n] = x->dims[i];
        stride[n++] = x->stride[i];
    }
    const int64_t *strides[] = {stride};
    return vf_low_merge(1, n, dims, strides, out, err);
}

static void put_unit_stride_last(VfLowAxes *axes)
{
    int32_t last = axes->rank - 1;
    for (int32_t i = 0; i < last; i++) {
        if (axes->stride[0][i] != 1)
            continue;
        int64_t dim = axes->dim[i];
        axes->dim[i] = axes->dim[last];
        axes->stride[0][i] = axes->stride[0][last];
        axes->dim[last] = dim;
        axes->stride[0][last] = 1;
        return;
    }
}

static VfStatus reduce_step(VfLower *cx, const char *op, VfLowValue *x, uint64_t axes,
                            VfLowValue *out, VfErr *err)
{
    VfLowAxes keep, red;
    VF_TRY(pick_axes(x, axes, false, &keep, err));
    VF_TRY(pick_axes(x, axes, true, &red, err));
    put_unit_stride_last(&red);
    VfkReduceParams p = {.keep_rank = keep.rank, .red_rank = red.rank};
    memcpy(p.keep_dim, keep.dim, sizeof p.keep_dim);
    memcpy(p.keep_stride, keep.stride[0], sizeof p.keep_stride);
    memcpy(p.red_dim, red.dim, sizeof p.red_dim);
    memcpy(p.red_stride, red.stride[0], sizeof p.red_stride);
    double each = (double)vf_low_product(red.dim, 0, red.rank);
    VfLowEmit emit = {.op = op, .dtype = x->dtype, .params = &p, .n_in = 1, .n_out = 1, .in = &x,
                      .out = &out, .units = (int64_t)out->count, .unit_cost = 3 + 0.4 * each,
                      .flops = each * (double)out->count};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_low_reduce(VfLower *cx, const char *op, VfLowValue *x, uint64_t axes, VfLowValue **out,
                       VfErr *err)
{
    int64_t dims[MAX_AXES];
    const VfDtypeInfo *info = vf_dtype_info(x->dtype);
    /* Without a sign the sum of lengths is the sum, which may wrap as it is. */
    if (strcmp(op, "reduce_l1") == 0 && !info->is_float && !info->is_signed)
        op = "reduce_sum";
    VfDtype dtype = x->dtype, wide = reduce_dtype(cx, op, dtype);
    if (x->rank > MAX_AXES)
        return vf_low_refuse(err, "%d axes", x->rank);
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = ((axes >> i) & 1) != 0 ? 1 : x->dims[i];
    VF_TRY(vf_low_cast(cx, x, wide, &x, err));
    VF_TRY(vf_low_place(cx, x, err));
    VF_TRY(vf_low_new(cx, wide, x->rank, dims, out, err));
    VF_TRY(reduce_step(cx, op, x, axes, *out, err));
    return vf_low_cast(cx, *out, dtype, out, err);
}

static VfStatus axes_of(VfLower *cx, const VfLowCall *call, uint64_t *axes, bool *is_noop,
                        VfErr *err)
{
    const VfLowValue *x = call->in[0];
    const int64_t *list;
    int32_t n;
    int64_t since = call->node->op == VF_OP_REDUCE_SUM ? 13 : 18; /* axes as an operand */
    bool is_new = call->opset >= since;
    VF_TRY(vf_low_ints(cx, call, "axes", is_new ? 1 : -1, &list, &n, err));
    *axes = 0;
    *is_noop = false;
    if (x->rank > MAX_AXES)
        return vf_low_refuse(err, "%d axes", x->rank);
    if (list == NULL || n == 0) {
        *is_noop = is_new && vf_node_int(call->node, "noop_with_empty_axes") != 0;
        *axes = *is_noop ? 0 : ~UINT64_C(0);
        return VF_OK;
    }
    for (int32_t i = 0; i < n; i++) {
        int64_t axis = list[i];
        VF_TRY(vf_low_norm_axis(call, x->rank, &axis, err));
        *axes |= UINT64_C(1) << axis;
    }
    return VF_OK;
}

/* arg: the kernel. */
VfStatus vf_lower_reduce(VfLower *cx, VfLowCall *call, VfErr *err)
{
    uint64_t axes;
    bool is_noop;
    VfLowValue *y;
    VF_TRY(axes_of(cx, call, &axes, &is_noop, err));
    /* Nothing reduced: each element is still squared, made absolute and so on. */
    VF_TRY(vf_low_reduce(cx, call->arg, call->in[0], axes, &y, err));
    return vf_low_reshape_to(cx, call, 0, y, err);
}

/* --- softmax and the like --- */

static VfStatus softmax_step(VfLower *cx, const char *op, VfLowValue *x, VfkSoftmaxParams p,
                             VfLowValue **out, VfErr *err)
{
    VF_TRY(vf_low_dense(cx, x, &x, err));
    VF_TRY(vf_low_new(cx, x->dtype, x->rank, x->dims, out, err));
    VfLowEmit emit = {.op = op, .dtype = x->dtype, .params = &p, .n_in = 1, .n_out = 1, .in = &x,
                      .out = out, .units = x->count == 0 ? 0 : p.outer * p.inner,
                      .unit_cost = 5 + 1.2 * (double)p.n, .flops = 4 * (double)x->count,
                      .may_overwrite = true};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_low_softmax(VfLower *cx, const char *op, VfLowValue *x, int32_t axis, VfLowValue **out,
                        VfErr *err)
{
    VfkSoftmaxParams p = {vf_low_product(x->dims, 0, axis), x->dims[axis],
                          vf_low_product(x->dims, axis + 1, x->rank)};
    return softmax_step(cx, op, x, p, out, err);
}

/* arg: the kernel. Before opset 13 the axes from `axis` on are one. */
VfStatus vf_lower_softmax(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0];
    int64_t axis = vf_node_int(call->node, "axis");
    if (call->opset < 13 && axis == x->rank) {
        VfkSoftmaxParams p = {(int64_t)x->count, 1, 1};
        return softmax_step(cx, call->arg, x, p, &call->out[0], err);
    }
    VF_TRY(vf_low_norm_axis(call, x->rank, &axis, err));
    if (call->opset >= 13)
        return vf_low_softmax(cx, call->arg, x, (int32_t)axis, &call->out[0], err);
    VfkSoftmaxParams p = {vf_low_product(x->dims, 0, (int32_t)axis),
                          vf_low_product(x->dims, (int32_t)axis, x->rank), 1};
    return softmax_step(cx, call->arg, x, p, &call->out[0], err);
}

/* --- walks along one axis --- */

/* arg: the kernel. */
VfStatus vf_lower_arg(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x, *out;
    int64_t axis;
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    VF_TRY(vf_low_axis(call, "axis", x->rank, &axis, err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    VfkArgParams p = {vf_low_product(x->dims, 0, (int32_t)axis), x->dims[axis],
                      vf_low_product(x->dims, (int32_t)axis + 1, x->rank), 0};
    if (call->opset >= 12)
        p.select_last = vf_node_int(call->node, "select_last_index");
    if (p.n == 0 && out->count > 0)
        return vf_low_refuse(err, "an empty axis");
    VfLowEmit emit = {.op = call->arg, .dtype = x->dtype, .params = &p, .n_in = 1, .n_out = 1,
                      .in = &x, .out = &out, .units = (int64_t)out->count,
                      .unit_cost = 3 + (double)p.n};
    return vf_low_emit(cx, &emit, err);
}

/* arg: the kernel. */
VfStatus vf_lower_cumulate(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x, *out;
    VF_TRY(vf_low_need_known(call, call->in[1], err));
    if (call->in[1]->count != 1)
        return vf_low_refuse(err, "the axis is no single number");
    int64_t axis = vf_tensor_get_i64(call->in[1]->known, 0);
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    VF_TRY(vf_low_norm_axis(call, x->rank, &axis, err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    VfkCumulateParams p = {vf_low_product(x->dims, 0, (int32_t)axis), x->dims[axis],
                         vf_low_product(x->dims, (int32_t)axis + 1, x->rank),
                         vf_node_int(call->node, "exclusive"), vf_node_int(call->node, "reverse")};
    VfLowEmit emit = {.op = call->arg, .dtype = x->dtype, .params = &p, .n_in = 1, .n_out = 1,
                      .in = &x, .out = &out, .units = x->count == 0 ? 0 : p.outer * p.inner,
                      .unit_cost = 3 + (double)p.n, .may_overwrite = true};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_lower_top_k(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x, *out[2];
    int64_t axis, largest = 1, sorted = 1;
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    VF_TRY(vf_low_axis(call, "axis", x->rank, &axis, err));
    if (call->opset >= 11) {
        largest = vf_node_int(call->node, "largest");
        sorted = vf_node_int(call->node, "sorted");
    }
    for (int32_t i = 0; i < 2; i++) {
        if (vf_low_has_out(call, i)) {
            VF_TRY(vf_low_result(cx, call, i, &out[i], err));
            continue;
        }
        const VfLowValue *like = i == 1 ? out[0] : call->in[0];
        if (i == 0)
            return vf_low_refuse(err, "the values are omitted");
        VF_TRY(vf_low_new(cx, VF_I64, like->rank, like->dims, &out[i], err));
    }
    VfkTopkParams p = {vf_low_product(x->dims, 0, (int32_t)axis), x->dims[axis],
                       vf_low_product(x->dims, (int32_t)axis + 1, x->rank), out[0]->dims[axis],
                       largest, sorted};
    if (p.k < 0 || p.k > p.n)
        return vf_fail(err, VF_INVALID, "node '%s': the %lld best of %lld",
                       vf_node_label(call->node), (long long)p.k, (long long)p.n);
    VfLowEmit emit = {.op = "topk", .dtype = x->dtype, .params = &p, .n_in = 1, .n_out = 2,
                      .in = &x, .out = out,
                      .units = x->count == 0 || p.k == 0 ? 0 : p.outer * p.inner,
                      .unit_cost = 10 + 8 * (double)p.n,
                      .scratch_bytes = vfk_topk_scratch_bytes(&p)};
    return vf_low_emit(cx, &emit, err);
}
