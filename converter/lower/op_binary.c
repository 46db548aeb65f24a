/* Operators of two or more operands with broadcasting, element by element. */
#include "converter/lower/ops.h"

#include <stdio.h>
#include <string.h>

#include "converter/lower/layout.h"
#include "passes/ir/attr.h"
#include "runtime/kernels/binary.h"
#include "runtime/kernels/where.h"

enum { MAX_AXES = 64 };

/* --- broadcasting --- */

static VfStatus broadcast_dims(int32_t n, VfLowValue *const *in, int32_t *rank, int64_t *dims,
                               VfErr *err)
{
    *rank = 0;
    for (int32_t k = 0; k < n; k++)
        *rank = in[k]->rank > *rank ? in[k]->rank : *rank;
    if (*rank > MAX_AXES)
        return vf_low_refuse(err, "%d axes", *rank);
    for (int32_t i = 0; i < *rank; i++) {
        dims[i] = 1;
        for (int32_t k = 0; k < n; k++) {
            int32_t at = i - (*rank - in[k]->rank);
            int64_t dim = at < 0 ? 1 : in[k]->dims[at];
            if (dim != 1 && dims[i] != 1 && dim != dims[i])
                return vf_fail(err, VF_INVALID, "axes of %lld and %lld do not broadcast",
                               (long long)dims[i], (long long)dim);
            dims[i] = dim != 1 ? dim : dims[i];
        }
    }
    return VF_OK;
}

/* Strides of the operands over the result's dims. An operand that would be read across memory
 * along the last axis is copied first: the kernels are slow then. */
static VfStatus align(VfLower *cx, int32_t n, VfLowValue **in, VfLowValue *out, VfLowAxes *axes,
                      VfErr *err)
{
    const int64_t *stride[4];
    for (int round = 0; round < 2; round++) {
        bool is_fast = true;
        for (int32_t k = 0; k < n; k++) {
            VfLowValue *view;
            VF_TRY(vf_low_expand(cx, in[k], out->rank, out->dims, &view, err));
            stride[k] = view->stride;
        }
        VF_TRY(vf_low_merge(n, out->rank, out->dims, stride, axes, err));
        for (int32_t k = 0; k < n && round == 0; k++) {
            int64_t step = axes->rank > 0 ? axes->stride[k][axes->rank - 1] : 0;
            if (step == 0 || step == 1)
                continue;
            is_fast = false;
            VF_TRY(vf_low_dense(cx, in[k], &in[k], err));
        }
        if (is_fast)
            break;
    }
    return VF_OK;
}

/* --- two operands --- */

static const char *const commutative_op[] = {"add",         "mul",        "min",        "max",
                                             "and",         "or",         "xor",        "equal",
                                             "bitwise_and", "bitwise_or", "bitwise_xor"};

static bool is_commutative(const char *op)
{
    for (size_t i = 0; i < sizeof commutative_op / sizeof *commutative_op; i++)
        if (strcmp(commutative_op[i], op) == 0)
            return true;
    return false;
}

static bool is_comparison(const char *op)
{
    return strcmp(op, "equal") == 0 || strncmp(op, "less", 4) == 0 ||
           strncmp(op, "greater", 7) == 0;
}

VfStatus vf_low_binary(VfLower *cx, const char *op, VfLowValue *a, VfLowValue *b, VfLowValue **out,
                       VfErr *err)
{
    VfLowValue *in[2] = {a, b};
    int32_t rank;
    int64_t dims[MAX_AXES];
    if (a->dtype != b->dtype)
        return vf_low_refuse(err, "operands of %s and %s", vf_dtype_info(a->dtype)->name,
                             vf_dtype_info(b->dtype)->name);
    VF_TRY(broadcast_dims(2, in, &rank, dims, err));
    VF_TRY(vf_low_new(cx, is_comparison(op) ? VF_BOOL : a->dtype, rank, dims, out, err));
    if (is_commutative(op) && a->count < (*out)->count && b->count == (*out)->count) {
        in[0] = b;
        in[1] = a;
    }
    VfLowAxes axes;
    VF_TRY(align(cx, 2, in, *out, &axes, err));
    VfkBinaryParams p = {.rank = axes.rank};
    memcpy(p.dim, axes.dim, sizeof p.dim);
    memcpy(p.stride_a, axes.stride[0], sizeof p.stride_a);
    memcpy(p.stride_b, axes.stride[1], sizeof p.stride_b);
    bool is_whole = in[0]->count == (*out)->count && vf_low_is_dense(in[0]);
    VfLowEmit emit = {.op = op, .dtype = a->dtype, .params = &p, .n_in = 2, .n_out = 1, .in = in,
                      .out = out, .units = (int64_t)(*out)->count,
                      .unit_cost = strcmp(op, "pow") == 0 ? 4 : 0.3,
                      .flops = (double)(*out)->count,
                      .may_overwrite = is_whole && in[0]->dtype == (*out)->dtype};
    return vf_low_emit(cx, &emit, err);
}

/* The order in memory that operands of full size share, if that is not the order of the axes. */
static void shared_order(VfLowValue *const in[2], int32_t rank, const int64_t *dims,
                         VfLowOrder *order)
{
    size_t count = (size_t)vf_low_product(dims, 0, rank);
    VfLowOrder own;
    memset(order, 0, sizeof *order);
    for (int32_t k = 0; k < 2; k++) {
        if (in[k]->count != count)
            continue;
        vf_low_order_of(in[k], &own);
        bool is_first = !order->is_moved && (k == 0 || in[0]->count != count);
        if (in[k]->rank != rank || (!is_first && !vf_low_is_same_order(order, &own, rank)))
            own.is_moved = false;
        *order = own;
    }
}

/* As vf_low_binary, the result laid out as the operands are. */
static VfStatus binary_as_it_lies(VfLower *cx, const char *op, VfLowValue *a, VfLowValue *b,
                                  VfLowValue **out, VfErr *err)
{
    VfLowValue *in[2] = {a, b}, *y;
    VfLowOrder order;
    int32_t rank;
    int64_t dims[MAX_AXES], wide[VFK_MAX_RANK];
    VF_TRY(broadcast_dims(2, in, &rank, dims, err));
    shared_order(in, rank, dims, &order);
    for (int32_t k = 0; k < 2 && order.is_moved; k++) {
        int32_t more = rank - in[k]->rank;
        for (int32_t i = 0; i < rank; i++)
            wide[i] = i < more ? 1 : in[k]->dims[i - more];
        if (more > 0)
            VF_TRY(vf_low_reshape(cx, in[k], rank, wide, &in[k], err));
        VF_TRY(vf_low_to_order(cx, in[k], &order, &in[k], err));
    }
    VF_TRY(vf_low_binary(cx, op, in[0], in[1], &y, err));
    return vf_low_from_order(cx, y, &order, out, err);
}

/* Before opset 7 the second operand was aligned at `axis`, and only when `broadcast` was set. */
static VfStatus align_old(VfLower *cx, const VfLowCall *call, VfLowValue **b, VfErr *err)
{
    const VfLowValue *a = call->in[0];
    if (call->opset >= 7 || call->node->domain.size > 0 ||
        vf_node_int(call->node, "broadcast") == 0 || vf_node_attr(call->node, "axis") == NULL)
        return VF_OK;
    int64_t axis = vf_node_int(call->node, "axis"), dims[MAX_AXES];
    VF_TRY(vf_low_norm_axis(call, a->rank, &axis, err));
    if (a->rank > MAX_AXES || axis + (*b)->rank > a->rank)
        return vf_low_refuse(err, "broadcast at axis %lld", (long long)axis);
    int32_t rank = a->rank - (int32_t)axis;
    for (int32_t i = 0; i < rank; i++)
        dims[i] = i < (*b)->rank ? (*b)->dims[i] : 1;
    return vf_low_reshape(cx, *b, rank, dims, b, err);
}

/* arg: the kernel. */
VfStatus vf_lower_binary(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *b = call->in[1];
    if (call->in[0]->dtype == VF_STRING)
        return vf_low_equal_strings(cx, call, err);
    VF_TRY(align_old(cx, call, &b, err));
    return binary_as_it_lies(cx, call->arg, call->in[0], b, &call->out[0], err);
}

VfStatus vf_lower_pow(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *a = call->in[0], *b = call->in[1], *y;
    bool a_is_float = vf_dtype_info(a->dtype)->is_float,
         b_is_float = vf_dtype_info(b->dtype)->is_float;
    VfDtype dtype = !a_is_float && b_is_float ? VF_F64 : a->dtype;
    VF_TRY(align_old(cx, call, &b, err));
    VF_TRY(vf_low_cast(cx, b, dtype, &b, err));
    VfLowValue *wide;
    VF_TRY(vf_low_cast(cx, a, dtype, &wide, err));
    VF_TRY(vf_low_binary(cx, "pow", wide, b, &y, err));
    return vf_low_cast(cx, y, a->dtype, &call->out[0], err);
}

VfStatus vf_lower_mod(VfLower *cx, VfLowCall *call, VfErr *err)
{
    bool is_c = vf_node_int(call->node, "fmod") != 0;
    if (!is_c && call->opset < 28 && vf_dtype_info(call->in[0]->dtype)->is_float)
        return vf_low_refuse(err, "floats need fmod 1 before opset 28");
    return vf_low_binary(cx, is_c ? "fmod" : "mod", call->in[0], call->in[1], &call->out[0], err);
}

VfStatus vf_lower_bit_shift(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfBytes way = vf_node_string(call->node, "direction");
    const char *op = vf_bytes_is_equal(way, vf_bytes("LEFT"))    ? "shift_left"
                     : vf_bytes_is_equal(way, vf_bytes("RIGHT")) ? "shift_right"
                                                                 : NULL;
    if (op == NULL)
        return vf_low_refuse_word("direction", way, err);
    return vf_low_binary(cx, op, call->in[0], call->in[1], &call->out[0], err);
}

/* A slope of fewer axes than x is aligned at the last axis, as for any broadcast. */
VfStatus vf_lower_prelu(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *slope = call->in[1];
    const VfLowValue *x = call->in[0];
    int64_t dims[MAX_AXES];
    /* Before opset 7 a vector of slopes went along axis 1. */
    if (call->opset < 7 && slope->rank == 1 && slope->count > 1 && x->rank > 1 &&
        x->rank <= MAX_AXES) {
        for (int32_t i = 0; i + 1 < x->rank; i++)
            dims[i] = i == 0 ? slope->dims[0] : 1;
        VF_TRY(vf_low_reshape(cx, slope, x->rank - 1, dims, &slope, err));
    }
    return vf_low_binary(cx, "prelu", call->in[0], slope, &call->out[0], err);
}

/* Any number of operands, folded from the left. arg: the kernel. */
VfStatus vf_lower_variadic(VfLower *cx, VfLowCall *call, VfErr *err)
{
    bool is_mean = call->node->op == VF_OP_MEAN;
    VfLowValue *sum = vf_low_in(call, 0), *n;
    for (int32_t i = 0; i < call->n_in; i++)
        if (call->in[i] == NULL)
            return vf_low_refuse(err, "operand %d is omitted", i);
    if (sum == NULL)
        return vf_low_refuse(err, "no operand");
    for (int32_t i = 1; i < call->n_in; i++)
        VF_TRY(binary_as_it_lies(cx, call->arg, sum, call->in[i], &sum, err));
    if (is_mean) {
        VF_TRY(vf_low_scalar(cx, sum->dtype, call->n_in, &n, err));
        VF_TRY(vf_low_binary(cx, "div", sum, n, &sum, err));
    }
    call->out[0] = sum;
    return VF_OK;
}

/* --- Where --- */

VfStatus vf_low_where(VfLower *cx, VfLowValue *c, VfLowValue *x, VfLowValue *y, VfLowValue **out,
                      VfErr *err)
{
    VfLowValue *in[3] = {c, x, y};
    int32_t rank;
    int64_t dims[MAX_AXES];
    VfLowAxes axes;
    if (x->dtype != y->dtype || c->dtype != VF_BOOL || vf_low_width(x->dtype) == 0)
        return vf_low_refuse(err, "operands of %s, %s and %s", vf_dtype_info(c->dtype)->name,
                             vf_dtype_info(x->dtype)->name, vf_dtype_info(y->dtype)->name);
    VF_TRY(broadcast_dims(3, in, &rank, dims, err));
    VF_TRY(vf_low_new(cx, x->dtype, rank, dims, out, err));
    VF_TRY(align(cx, 3, in, *out, &axes, err));
    VfkWhereParams p = {.rank = axes.rank};
    memcpy(p.dim, axes.dim, sizeof p.dim);
    memcpy(p.stride_c, axes.stride[0], sizeof p.stride_c);
    memcpy(p.stride_x, axes.stride[1], sizeof p.stride_x);
    memcpy(p.stride_y, axes.stride[2], sizeof p.stride_y);
    char op[16];
    snprintf(op, sizeof op, "where_b%zu", vf_low_width(x->dtype));
    VfLowEmit emit = {.op = op, .params = &p, .n_in = 3, .n_out = 1, .in = in, .out = out,
                      .units = (int64_t)(*out)->count, .unit_cost = 0.4,
                      .flops = (double)(*out)->count};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_lower_where(VfLower *cx, VfLowCall *call, VfErr *err)
{
    return vf_low_where(cx, call->in[0], call->in[1], call->in[2], &call->out[0], err);
}
