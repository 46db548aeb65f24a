/* Pools, and back. */
#include "converter/lower/ops.h"

#include <string.h>

#include "converter/lower/window.h"
#include "passes/ir/attr.h"
#include "runtime/kernels/pool.h"

static VfStatus emit_pool(VfLower *cx, const char *op, VfLowValue *x, VfLowValue *const out[2],
                          VfkPoolParams *p, VfErr *err)
{
    VfLowValue *list[2] = {out[0], out[1]};
    double taps = (double)vf_low_product(p->kernel, 0, 3);
    double pixels = (double)vf_low_product(p->out_dim, 0, 3);
    p->planes = x->dims[0] * x->dims[1];
    VfLowEmit emit = {.op = op, .dtype = x->dtype, .params = p, .n_in = 1,
                      .n_out = strcmp(op, "max_pool") == 0 ? 2 : 1, .in = &x, .out = list,
                      .units = out[0]->count == 0 ? 0 : p->planes, .unit_cost = taps * pixels,
                      .flops = taps * (double)out[0]->count};
    return vf_low_emit(cx, &emit, err);
}

/* arg: the kernel. */
VfStatus vf_lower_pool(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x, *out[2] = {NULL, NULL};
    VfLowWindow w;
    VfkPoolParams p = {0};
    VfOp op = call->node->op;
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    for (int32_t i = 0; i < 2; i++)
        if (vf_low_has_out(call, i))
            VF_TRY(vf_low_result(cx, call, i, &out[i], err));
    if (out[0] == NULL)
        return vf_low_refuse(err, "the first result is omitted");
    VF_TRY(vf_low_window(call, x, out[0], NULL, &w, err));
    VF_LOW_COPY_WINDOW(&w, &p);
    memcpy(p.pad_end, w.pad_end, sizeof p.pad_end);
    if (op == VF_OP_AVERAGE_POOL)
        p.count_include_pad = vf_node_int(call->node, "count_include_pad");
    if (op == VF_OP_MAX_POOL && call->opset >= 8)
        p.column_major = vf_node_int(call->node, "storage_order");
    if (op == VF_OP_LP_POOL)
        p.p = vf_node_int(call->node, "p");
    if (op == VF_OP_LP_POOL && call->opset < 2)
        return vf_low_refuse(err, "a float p");
    return emit_pool(cx, call->arg, x, out, &p, err);
}

/* The window is the whole plane, which is one long axis. */
VfStatus vf_lower_global_pool(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x, *out[2] = {NULL, NULL};
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    if (x->rank < 3)
        return vf_low_refuse(err, "%d axes", x->rank);
    VF_TRY(vf_low_result(cx, call, 0, &out[0], err));
    int64_t n = vf_low_product(x->dims, 2, x->rank);
    VfkPoolParams p = {.in_dim = {1, 1, n}, .out_dim = {1, 1, 1}, .kernel = {1, 1, n},
                       .stride = {1, 1, 1}, .dilation = {1, 1, 1}};
    if (call->node->op == VF_OP_GLOBAL_LP_POOL)
        p.p = vf_node_int(call->node, "p");
    if (n == 0)
        return vf_low_refuse(err, "empty planes");
    return emit_pool(cx, call->arg, x, out, &p, err);
}

/* --- MaxUnpool --- */

/* The dims that MaxPool of the same window makes into those of x. */
static VfStatus unpooled_dims(VfLower *cx, const VfLowCall *call, const VfLowValue *x,
                              int64_t **dims, size_t *count, VfErr *err)
{
    VfLowWindow w;
    VF_TRY(vf_low_window(call, x, x, NULL, &w, err));
    *dims = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)x->rank);
    VF_TRY_ALLOC(*dims, err);
    memcpy(*dims, x->dims, 2 * sizeof(int64_t));
    for (int32_t i = 2; i < x->rank; i++) {
        int32_t at = 3 - x->rank + i;
        int64_t more = w.kernel[at] - w.stride[at] - w.pad[at] - w.pad_end[at];
        if (__builtin_mul_overflow(x->dims[i], w.stride[at], &(*dims)[i]) ||
            __builtin_add_overflow((*dims)[i], more, &(*dims)[i]) || (*dims)[i] < 0)
            return vf_fail(err, VF_INVALID, "node '%s': the window does not fit",
                           vf_node_label(call->node));
    }
    return vf_dims_count(x->rank, *dims, count, err);
}

/* A result that is larger has zeros behind. */
static VfStatus put_first(VfLower *cx, VfLowCall *call, VfLowValue *y, VfErr *err)
{
    VfLowValue *out, *zero;
    const VfType *type = &call->fact[0].type;
    bool is_same = true;
    for (int32_t i = 0; i < y->rank; i++) {
        is_same = is_same && type->dims[i].k == y->dims[i];
        if (type->rank != y->rank || type->dims[i].k < y->dims[i])
            return vf_fail(err, VF_INVALID, "node '%s': the output_shape is too small",
                           vf_node_label(call->node));
    }
    if (is_same)
        return vf_low_reshape_to(cx, call, 0, y, err);
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    VF_TRY(vf_low_scalar(cx, out->dtype, 0, &zero, err));
    VF_TRY(vf_low_expand(cx, zero, out->rank, out->dims, &zero, err));
    VF_TRY(vf_low_copy(cx, zero, out, err));
    for (int32_t i = 0; i < y->rank; i++)
        VF_TRY(vf_low_slice(cx, out, i, 0, y->dims[i], &out, err));
    return vf_low_copy(cx, y, out, err);
}

/* Elements put where the indices say; these count in the tensor without what output_shape adds. */
VfStatus vf_lower_max_unpool(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0], *index = call->in[1], *operand[3], *y;
    int64_t *dims;
    size_t count;
    if (index->rank != x->rank || index->count != x->count)
        return vf_fail(err, VF_INVALID, "node '%s': %zu indices for %zu elements",
                       vf_node_label(call->node), index->count, x->count);
    VF_TRY(unpooled_dims(cx, call, x, &dims, &count, err));
    VF_TRY(vf_low_scalar(cx, x->dtype, 0, &operand[0], err));
    VF_TRY(vf_low_expand(cx, operand[0], 1, (int64_t[1]){(int64_t)count}, &operand[0], err));
    for (int32_t i = 0; i < 2; i++)
        VF_TRY(vf_low_reshape(cx, call->in[1 - i], 1, (int64_t[1]){(int64_t)x->count},
                              &operand[1 + i], err));
    VF_TRY(vf_low_scatter_along(cx, call, operand, 0, &y, err));
    VF_TRY(vf_low_reshape(cx, y, x->rank, dims, &y, err));
    return put_first(cx, call, y, err);
}
