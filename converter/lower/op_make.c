/* Tensors made from little, Pad, Cast. */
#include "converter/lower/ops.h"

#include <stdio.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "runtime/kernels/cast.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/fill.h"

VfStatus vf_lower_constant_of_shape(VfLower *cx, VfLowCall *call, VfErr *err)
{
    const VfAttr *attr = vf_node_attr(call->node, "value");
    const VfType *type = &call->fact[0].type;
    int64_t dims[64];
    VfLowValue *one;
    if (type->rank > 64)
        return vf_low_refuse(err, "%d axes", type->rank);
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = type->dims[i].k;
    if (attr == NULL)
        VF_TRY(vf_low_scalar(cx, VF_F32, 0, &one, err));
    else if (attr->tensor == NULL || attr->tensor->count != 1)
        return vf_low_refuse(err, "a value that is not one element");
    else
        VF_TRY(vf_low_const(cx, attr->tensor, &one, err));
    VF_TRY(vf_low_convert(cx, one, type->dtype, 1, &one, err));
    VF_TRY(vf_low_reshape(cx, one, 0, NULL, &one, err));
    return vf_low_expand(cx, one, type->rank, dims, &call->out[0], err);
}

/* Shape and Size know their result without the operand's contents. */
VfStatus vf_lower_shape(VfLower *cx, VfLowCall *call, VfErr *err)
{
    const VfLowValue *x = vf_low_in(call, 0);
    if (x == NULL || x->kind != LOW_TENSOR)
        return vf_low_refuse(err, "operand 0 is no tensor");
    if (call->node->op == VF_OP_SIZE)
        return vf_low_int(cx, (int64_t)x->count, &call->out[0], err);
    int64_t begin = 0, end = x->rank;
    if (call->opset >= 15) {
        begin = vf_node_int(call->node, "start");
        if (vf_node_attr(call->node, "end") != NULL)
            end = vf_node_int(call->node, "end");
    }
    begin += begin < 0 ? x->rank : 0;
    end += end < 0 ? x->rank : 0;
    begin = begin < 0 ? 0 : begin > x->rank ? x->rank : begin;
    end = end < begin ? begin : end > x->rank ? x->rank : end;
    return vf_low_const_i64(cx, (size_t)(end - begin), x->dims + begin, &call->out[0], err);
}

static VfStatus string_constant(VfLower *cx, int32_t rank, int64_t n, const VfBytes *text,
                                VfLowValue **out, VfErr *err)
{
    VfTensor *tensor;
    void *data;
    VF_TRY(vf_tensor_new(cx->arena, VF_STRING, rank, &n, &tensor, &data, err));
    if (n > 0)
        memcpy(data, text, (size_t)n * sizeof *text);
    return vf_low_const(cx, tensor, out, err);
}

/* Constants are values of the graph; only those whose attribute a function call gives come here. */
VfStatus vf_lower_constant(VfLower *cx, VfLowCall *call, VfErr *err)
{
    const VfAttr *attr = call->node->first_attr;
    const VfTensor *tensor = NULL;
    if (attr == NULL)
        return vf_low_refuse(err, "no value");
    VfTensor *list;
    void *data;
    int64_t dim = attr->n;
    switch (attr->type) {
    case VF_ATTR_TENSOR:
    case VF_ATTR_SPARSE_TENSOR: /* the reader filled it up */
        tensor = attr->tensor;
        break;
    case VF_ATTR_STRING:
        return string_constant(cx, 0, 1, &attr->s, &call->out[0], err);
    case VF_ATTR_STRINGS:
        return string_constant(cx, 1, attr->n, attr->strings, &call->out[0], err);
    case VF_ATTR_INT:
        return vf_low_int(cx, attr->i, &call->out[0], err);
    case VF_ATTR_FLOAT:
        return vf_low_scalar(cx, VF_F32, (double)attr->f, &call->out[0], err);
    case VF_ATTR_INTS:
        return vf_low_const_i64(cx, (size_t)attr->n, attr->ints, &call->out[0], err);
    case VF_ATTR_FLOATS:
        VF_TRY(vf_tensor_new(cx->arena, VF_F32, 1, &dim, &list, &data, err));
        if (dim > 0)
            memcpy(data, attr->floats, list->bytes);
        tensor = list;
        break;
    default:
        break;
    }
    if (tensor == NULL && attr->type == VF_ATTR_SPARSE_TENSOR)
        return vf_low_refuse(err, "a sparse tensor of too many elements");
    if (tensor == NULL)
        return vf_low_refuse_word("attribute", attr->name, err);
    return vf_low_const(cx, tensor, &call->out[0], err);
}

VfStatus vf_lower_range(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *in[2] = {call->in[0], call->in[2]}, *out;
    if (in[0]->count != 1 || in[1]->count != 1 || in[0]->dtype != in[1]->dtype)
        return vf_low_refuse(err, "operands that are no scalars of one dtype");
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    VfkFillParams p = {(int64_t)out->count};
    VfLowEmit emit = {.op = "range", .dtype = in[0]->dtype, .params = &p, .n_in = 2, .n_out = 1,
                      .in = in, .out = &out, .units = p.n, .unit_cost = 0.5};
    return vf_low_emit(cx, &emit, err);
}

static VfStatus known_number(const VfLowCall *call, int32_t slot, int64_t *number, VfErr *err)
{
    VfLowValue *value = vf_low_in(call, slot);
    if (value == NULL)
        return VF_OK;
    VF_TRY(vf_low_need_known(call, value, err));
    if (value->count != 1)
        return vf_low_refuse(err, "operand %d is not one number", slot);
    *number = vf_tensor_get_i64(value->known, 0);
    return VF_OK;
}

/* A diagonal beyond the corners is the same as one just outside of them. */
static int64_t clamp_diagonal(int64_t k, int64_t rows, int64_t cols)
{
    return k > cols ? cols : k < -rows ? -rows : k;
}

VfStatus vf_lower_trilu(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x, *out;
    VfkTriangleParams p = {.upper = vf_node_int(call->node, "upper")};
    char op[40];
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    VF_TRY(known_number(call, 1, &p.k, err));
    size_t width = vf_low_width(x->dtype);
    if (x->rank < 2 || width == 0)
        return vf_low_refuse(err, "%d axes of %s", x->rank, vf_dtype_info(x->dtype)->name);
    snprintf(op, sizeof op, "trilu_b%zu", width);
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    p.outer = vf_low_product(x->dims, 0, x->rank - 2);
    p.rows = x->dims[x->rank - 2];
    p.cols = x->dims[x->rank - 1];
    p.k = clamp_diagonal(p.k, p.rows, p.cols);
    VfLowEmit emit = {.op = op, .params = &p, .n_in = 1, .n_out = 1, .in = &x, .out = &out,
                      .units = x->count == 0 ? 0 : p.outer * p.rows,
                      .unit_cost = 3 + 0.3 * (double)p.cols, .may_overwrite = true};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_lower_eye_like(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *out;
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    if (out->rank != 2)
        return vf_low_refuse(err, "%d axes", out->rank);
    int64_t k = clamp_diagonal(vf_node_int(call->node, "k"), out->dims[0], out->dims[1]);
    VfkTriangleParams p = {1, out->dims[0], out->dims[1], k, 0};
    VfLowEmit emit = {.op = "eyelike", .dtype = out->dtype, .params = &p, .n_out = 1, .out = &out,
                      .units = out->count == 0 ? 0 : p.rows, .unit_cost = (double)p.cols};
    return vf_low_emit(cx, &emit, err);
}

/* --- Cast --- */

/* Whether a cast kernel from one to the other exists. */
static bool has_cast(const VfLower *cx, VfDtype from, VfDtype to)
{
    char name[48];
    snprintf(name, sizeof name, "cast_%s_%s", vf_dtype_info(from)->name, vf_dtype_info(to)->name);
    return vfk_kernel_find(name, cx->options.reference) != NULL;
}

/* A dtype between the two, or VF_UNDEFINED; between integers an integer, to keep the low bits. */
static VfDtype cast_between(const VfLower *cx, VfDtype from, VfDtype to)
{
    static const VfDtype via[] = {VF_U8, VF_I8, VF_F32};
    for (size_t i = vf_dtype_info(from)->is_float ? 2 : 0; i < sizeof via / sizeof *via; i++)
        if (has_cast(cx, from, via[i]) && has_cast(cx, via[i], to))
            return via[i];
    return VF_UNDEFINED;
}

static VfStatus cast_once(VfLower *cx, VfLowValue *x, VfDtype to, VfkCastParams p,
                          VfLowValue **out, VfErr *err)
{
    char name[48];
    VF_TRY(vf_low_dense(cx, x, &x, err));
    VF_TRY(vf_low_new(cx, to, x->rank, x->dims, out, err));
    snprintf(name, sizeof name, "cast_%s_%s", vf_dtype_info(x->dtype)->name,
             vf_dtype_info(to)->name);
    VfDtype packed = vf_dtype_info(x->dtype)->bits < 8 ? x->dtype : to;
    size_t bytes = vf_dtype_bytes(packed, x->count);
    p.n = (int64_t)x->count;
    VfLowEmit emit = {.op = name, .params = &p, .n_in = 1, .n_out = 1, .in = &x, .out = out,
                      .units = vf_low_width(packed) == 0 ? (int64_t)bytes : p.n, .unit_cost = 0.7};
    return vf_low_emit(cx, &emit, err);
}

/* `rule` without its n. */
static VfStatus convert(VfLower *cx, VfLowValue *x, VfDtype to, VfkCastParams rule,
                        VfLowValue **out, VfErr *err)
{
    *out = x;
    if (x->dtype == to)
        return VF_OK;
    if (!has_cast(cx, x->dtype, to)) {
        VfDtype via = cast_between(cx, x->dtype, to);
        if (via == VF_UNDEFINED)
            return vf_low_refuse(err, "no conversion from %s to %s", vf_dtype_info(x->dtype)->name,
                                 vf_dtype_info(to)->name);
        VF_TRY(cast_once(cx, x, via, rule, &x, err));
    }
    return cast_once(cx, x, to, rule, out, err);
}

VfStatus vf_low_convert(VfLower *cx, VfLowValue *x, VfDtype to, int64_t saturate, VfLowValue **out,
                        VfErr *err)
{
    return convert(cx, x, to, (VfkCastParams){.saturate = saturate}, out, err);
}

VfDtype vf_low_byte_dtype(VfDtype dtype)
{
    const VfDtypeInfo *info = vf_dtype_info(dtype);
    if (info->bits == 0 || info->bits >= 8)
        return dtype;
    return info->is_float ? VF_F32 : info->is_signed ? VF_I8 : VF_U8;
}

/* Only to f8e8m0 there is a choice. */
static VfStatus read_rounding(const VfLowCall *call, VfDtype to, VfkCastParams *rule, VfErr *err)
{
    static const char *const mode[] = {
        [VFK_CAST_UP] = "up", [VFK_CAST_DOWN] = "down", [VFK_CAST_NEAREST] = "nearest"};
    VfBytes given = vf_node_string(call->node, "round_mode");
    rule->rounding = VFK_CAST_UP;
    if (to != VF_F8E8M0 || given.size == 0)
        return VF_OK;
    for (size_t i = 0; i < sizeof mode / sizeof *mode; i++)
        if (vf_bytes_is_equal(given, vf_bytes(mode[i]))) {
            rule->rounding = (int64_t)i;
            return VF_OK;
        }
    return vf_low_refuse_word("round_mode", given, err);
}

/* Cast and CastLike: the dtype is that of the result. */
VfStatus vf_lower_cast(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfDtype to = call->fact[0].type.dtype;
    VfkCastParams rule = {.saturate =
                              call->opset >= 19 ? vf_node_int(call->node, "saturate") : 1};
    VF_TRY(read_rounding(call, to, &rule, err));
    VfLowValue *x = call->in[0];
    bool is_narrow = vf_dtype_info(to)->is_float && vf_dtype_info(to)->bits <= 8;
    if (x->dtype == VF_STRING && to != VF_STRING)
        VF_TRY(vf_low_parse_strings(cx, call, is_narrow ? VF_F32 : to, &x, err));
    if (x->dtype != VF_STRING && to == VF_STRING)
        return vf_low_print_strings(cx, call, err);
    /* A float becomes an integer first, of which a narrow type keeps the low bits. */
    if (vf_dtype_info(to)->bits < 8 && !vf_dtype_info(to)->is_float && x->dtype != to) {
        if (vf_dtype_info(x->dtype)->is_float)
            VF_TRY(vf_low_convert(cx, x, VF_I32, 1, &x, err));
        VF_TRY(vf_low_convert(cx, x, vf_dtype_info(to)->is_signed ? VF_I8 : VF_U8, 1, &x, err));
    }
    return convert(cx, x, to, rule, &call->out[0], err);
}

/* Element i of the operand becomes element i of the result whatever it means. */
VfStatus vf_lower_bit_cast(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x, *view;
    VfDtype to = call->fact[0].type.dtype;
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    if (vf_low_width(to) == 0 || vf_low_width(to) != vf_low_width(x->dtype))
        return vf_low_refuse(err, "widths that differ");
    VF_TRY(vf_low_view(cx, x, x->rank, x->dims, x->stride, 0, &view, err));
    view->dtype = to;
    call->out[0] = view;
    return VF_OK;
}

/* --- Pad --- */

typedef enum PadMode { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP } PadMode;

static VfStatus pad_mode(const VfLowCall *call, PadMode *mode, VfErr *err)
{
    static const char *const name[] = {"constant", "reflect", "edge", "wrap"};
    VfBytes given = vf_node_string(call->node, "mode");
    *mode = PAD_CONSTANT;
    for (int32_t i = 0; i < 4; i++)
        if (vf_bytes_is_equal(given, vf_bytes(name[i]))) {
            *mode = (PadMode)i;
            return VF_OK;
        }
    return given.size == 0 ? VF_OK : vf_low_refuse_word("mode", given, err);
}

/* Where element `i` of an axis extended on both sides comes from; VFK_INDEX_FILL: nowhere. */
static int64_t pad_source(PadMode mode, int64_t i, int64_t dim)
{
    if (i >= 0 && i < dim)
        return i;
    if (mode == PAD_CONSTANT || dim == 0)
        return VFK_INDEX_FILL;
    if (mode == PAD_EDGE)
        return i < 0 ? 0 : dim - 1;
    if (mode == PAD_WRAP)
        return (i % dim + dim) % dim;
    int64_t period = dim > 1 ? 2 * (dim - 1) : 1;
    i = (i % period + period) % period;
    return i < dim ? i : period - i;
}

/* Pads before each axis, with the axes operand of opset 18 applied. */
static VfStatus pad_begins(VfLower *cx, const VfLowCall *call, int64_t begin[VFK_MAX_RANK],
                           VfErr *err)
{
    const VfLowValue *x = call->in[0];
    const int64_t *pads, *axes;
    int32_t n, n_axis;
    bool is_old = call->opset < 11;
    VF_TRY(vf_low_ints(cx, call, !is_old ? NULL : call->opset < 2 ? "paddings" : "pads",
                       is_old ? -1 : 1, &pads, &n, err));
    VF_TRY(vf_low_ints(cx, call, NULL, call->opset >= 18 ? 3 : -1, &axes, &n_axis, err));
    int32_t n_given = axes != NULL ? n_axis : x->rank;
    if (pads == NULL || n != 2 * n_given || x->rank > VFK_MAX_RANK)
        return vf_low_refuse(err, "%d pads for %d axes", n, n_given);
    for (int32_t i = 0; i < n_given; i++) {
        int64_t axis = axes != NULL ? axes[i] : i;
        VF_TRY(vf_low_norm_axis(call, x->rank, &axis, err));
        begin[axis] = pads[i];
    }
    return VF_OK;
}

VfStatus vf_low_index_copy(VfLower *cx, VfLowValue *x, const int64_t *table, VfLowValue *fill,
                           VfLowValue *out, VfErr *err)
{
    VfLowValue *in[3] = {x, NULL, fill};
    VfkIndexCopyParams p = {.rank = out->rank};
    size_t width = vf_low_width(x->dtype), n = 0;
    char op[40];
    if (width == 0 || out->rank > VFK_MAX_RANK || out->rank < 1)
        return vf_low_refuse(err, "%d axes of %s", out->rank, vf_dtype_info(x->dtype)->name);
    for (int32_t i = 0; i < out->rank; i++) {
        p.dim[i] = out->dims[i];
        n += (size_t)out->dims[i];
    }
    VF_TRY(vf_low_const_i64(cx, n, table, &in[1], err));
    snprintf(op, sizeof op, "index_copy_b%zu", width);
    int64_t row = p.dim[p.rank - 1];
    VfLowEmit emit = {.op = op, .params = &p, .n_in = 3, .n_out = 1, .in = in, .out = &out,
                      .units = out->count == 0 ? 0 : (int64_t)out->count / row,
                      .unit_cost = 5 + (double)row};
    return vf_low_emit(cx, &emit, err);
}

static bool pads_nothing(const VfLowValue *x, const VfType *result, const int64_t *begin)
{
    for (int32_t i = 0; i < x->rank; i++)
        if (begin[i] != 0 || result->dims[i].k != x->dims[i])
            return false;
    return true;
}

/* All but the constant modes copy elements of an axis, which must have some. */
static VfStatus check_source(const VfLowCall *call, PadMode mode, VfErr *err)
{
    const VfType *type = &call->fact[0].type;
    const VfLowValue *x = call->in[0];
    for (int32_t i = 0; i < type->rank && mode != PAD_CONSTANT; i++)
        if (x->dims[i] == 0 && type->dims[i].k > 0)
            return vf_fail(err, VF_INVALID, "node '%s': axis %d of operand 0 has no element to pad "
                           "with", vf_node_label(call->node), i);
    return VF_OK;
}

VfStatus vf_lower_pad(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x, *out, *fill = call->opset >= 11 ? vf_low_in(call, 2) : NULL;
    int64_t begin[VFK_MAX_RANK] = {0};
    PadMode mode;
    VF_TRY(pad_mode(call, &mode, err));
    VF_TRY(check_source(call, mode, err));
    VF_TRY(pad_begins(cx, call, begin, err));
    if (pads_nothing(call->in[0], &call->fact[0].type, begin)) {
        call->out[0] = call->in[0];
        return VF_OK;
    }
    VF_TRY(vf_low_dense(cx, call->in[0], &x, err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    if (call->opset < 11 && vf_node_float(call->node, "value") != 0)
        VF_TRY(vf_low_scalar(cx, x->dtype, vf_node_float(call->node, "value"), &fill, err));
    if (fill != NULL && (fill->dtype != x->dtype || fill->count != 1))
        return vf_low_refuse(err, "a fill value of another dtype");
    size_t n = 1, at = 0;
    for (int32_t i = 0; i < out->rank; i++)
        n += (size_t)out->dims[i];
    int64_t *table = VF_NEW_ARRAY(cx->arena, int64_t, n);
    VF_TRY_ALLOC(table, err);
    for (int32_t i = out->rank - 1; i >= 0; i--)
        for (int64_t k = 0; k < out->dims[i]; k++, at++) {
            table[at] = pad_source(mode, k - begin[i], x->dims[i]);
            table[at] *= table[at] == VFK_INDEX_FILL ? 1 : x->stride[i];
        }
    return vf_low_index_copy(cx, x, table, fill, out, err);
}
