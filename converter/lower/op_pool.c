/* Pools. */
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
