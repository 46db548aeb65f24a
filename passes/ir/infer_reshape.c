/* Operators that rename, repeat or permute axes, and those that read shapes. */
#include "passes/ir/infer_op.h"

#include "runtime/base/size.h"

/* --- Reshape --- */

/* Takes one factor of symbol `sym` out of `left`, where `left[i].sym` becomes the number one. */
static bool take_symbol(int32_t n, VfDim *left, int32_t sym)
{
    for (int32_t i = 0; i < n; i++)
        if (left[i].sym == sym) {
            left[i].sym = VF_SYM_ONE;
            return true;
        }
    return false;
}

/* The one dim of `target` (index `open`) that the element count leaves open: count(from) /
 * count(others). Symbols that stand alone on both sides cancel first, so that batch*heads needs no
 * factoring. */
static VfStatus solve_open_dim(const VfInferCx *cx, const VfType *from, int32_t rank,
                               const VfDim *target, int32_t open, VfDim *out)
{
    VfDim *left = vf_infer_copy_dims(cx, from->rank, from->dims);
    VF_TRY_ALLOC(left, cx->err);
    VfDim others = vf_dim(1);
    for (int32_t i = 0; i < rank; i++) {
        VfDim d = target[i];
        if (i == open)
            continue;
        if (d.sym > VF_SYM_ONE && take_symbol(from->rank, left, d.sym))
            d.sym = VF_SYM_ONE;
        others = vf_dim_mul(cx->symbols, others, d);
    }
    VfDim total = vf_infer_product(cx, from->rank, left);
    if (vf_dim_is(others, 0))
        return VF_OK;
    if (vf_dim_is_known(total) && vf_dim_is_known(others) && total.k % others.k != 0)
        return vf_infer_fail(cx, "%lld elements do not divide by %lld", (long long)total.k,
                             (long long)others.k);
    *out = vf_dim_div(cx->symbols, total, others);
    return VF_OK;
}

static VfStatus check_count(const VfInferCx *cx, const VfType *from, int32_t rank,
                            const VfDim *dims)
{
    VfDim before = vf_infer_product(cx, from->rank, from->dims);
    VfDim after = vf_infer_product(cx, rank, dims);
    if (vf_dim_is_known(before) && vf_dim_is_known(after) && before.k != after.k)
        return vf_infer_fail(cx, "%lld elements cannot become %lld", (long long)before.k,
                             (long long)after.k);
    return VF_OK;
}

/* Replace 0 by the operand's dim and find the dim left open (-1, or the only unknown one). */
static VfStatus read_target(const VfInferCx *cx, const VfType *from, int32_t rank, VfDim *dims,
                            int32_t *open)
{
    bool keeps_zero = vf_node_int(cx->node, "allowzero") != 0;
    int32_t n_minus = 0, n_unknown = 0, unknown = -1;
    for (int32_t i = 0; i < rank; i++) {
        if (vf_dim_is(dims[i], -1)) {
            n_minus++;
            *open = i;
        } else if (dims[i].sym == VF_SYM_UNKNOWN) {
            n_unknown++;
            unknown = i;
        } else if (vf_dim_is(dims[i], 0) && !keeps_zero) {
            if (from && i >= from->rank)
                return vf_infer_fail(cx, "target %d is 0 but there is no such axis", (int)i);
            dims[i] = from ? from->dims[i] : vf_dim_unknown();
        } else if (dims[i].k < 0) {
            if (vf_dim_is_known(dims[i]))
                return vf_infer_fail(cx, "target %d is %lld", (int)i, (long long)dims[i].k);
            dims[i] = vf_dim_unknown();
        }
    }
    if (n_minus > 1)
        return vf_infer_fail(cx, "more than one target is -1");
    if (n_minus == 0 && n_unknown == 1)
        *open = unknown;
    else if (n_unknown > 0 && n_minus > 0)
        dims[*open] = vf_dim_unknown();
    return VF_OK;
}

/* A view keeps the contents of a small integer tensor. */
static void keep_content(const VfInferCx *cx)
{
    int32_t n;
    const VfDim *content = vf_infer_content_of(cx, 0, &n);
    const VfType *type = &cx->out[0].type;
    bool fits =
        content && (type->rank == 0 ? n == 1 : type->rank == 1 && vf_dim_is(type->dims[0], n));
    if (fits && (vf_infer_in(cx, 0)->content || vf_infer_in(cx, 0)->tensor))
        vf_infer_set_content(cx, 0, n, content);
}

VfStatus vf_infer_reshape(const VfInferCx *cx)
{
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    const VfType *from = vf_infer_shape_of(cx, 0), *target = vf_infer_shape_of(cx, 1);
    vf_infer_set_dtype(cx, 0, dtype);
    if (target && target->rank != 1)
        return vf_infer_fail(cx, "the target has rank %d", (int)target->rank);
    int32_t rank, open = -1;
    const VfDim *content = vf_infer_content_of(cx, 1, &rank);
    if (!content)
        return VF_OK;
    VfDim *dims = vf_infer_copy_dims(cx, rank, content);
    VF_TRY_ALLOC(dims, cx->err);
    VF_TRY(read_target(cx, from, rank, dims, &open));
    if (open >= 0) {
        VfDim solved = vf_dim_unknown();
        if (from)
            VF_TRY(solve_open_dim(cx, from, rank, dims, open, &solved));
        dims[open] = solved;
    }
    if (from)
        VF_TRY(check_count(cx, from, rank, dims));
    vf_infer_set(cx, 0, dtype, rank, dims);
    keep_content(cx);
    return VF_OK;
}

VfStatus vf_infer_flatten(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfDim *dims = vf_infer_new_dims(cx, 2);
    VF_TRY_ALLOC(dims, cx->err);
    if (type) {
        int64_t axis = vf_node_int(cx->node, "axis");
        int32_t at = type->rank;
        if (axis != type->rank)
            VF_TRY(vf_infer_axis(cx, axis, type->rank, &at));
        dims[0] = vf_infer_product(cx, at, type->dims);
        dims[1] = vf_infer_product(cx, type->rank - at, type->dims + at);
    }
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), 2, dims);
    return VF_OK;
}

/* --- Squeeze, Unsqueeze --- */

/* Marks the axes of `list` in an array of `rank` flags. */
static VfStatus mark_axes(const VfInferCx *cx, const VfIntList *list, int32_t rank, bool **marks)
{
    *marks = VF_NEW_ARRAY(cx->arena, bool, (size_t)rank);
    VF_TRY_ALLOC(*marks, cx->err);
    for (int32_t i = 0; i < list->n; i++) {
        int32_t axis;
        VF_TRY(vf_infer_axis(cx, list->value[i], rank, &axis));
        if ((*marks)[axis])
            return vf_infer_fail(cx, "axis %d is named twice", (int)axis);
        (*marks)[axis] = true;
    }
    return VF_OK;
}

/* Without axes every axis of length 1 goes: only possible to say when all dims are numbers. */
static VfStatus mark_ones(const VfInferCx *cx, const VfType *type, bool **marks)
{
    *marks = VF_NEW_ARRAY(cx->arena, bool, (size_t)type->rank);
    VF_TRY_ALLOC(*marks, cx->err);
    for (int32_t i = 0; i < type->rank; i++)
        (*marks)[i] = vf_dim_is(type->dims[i], 1);
    return VF_OK;
}

VfStatus vf_infer_squeeze(const VfInferCx *cx)
{
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfIntList axes;
    bool *marks;
    vf_infer_set_dtype(cx, 0, dtype);
    VF_TRY(vf_infer_ints(cx, "axes", 1, &axes));
    if (!type || (axes.is_there && !axes.is_known) || (!axes.is_there && !vf_type_is_static(type)))
        return VF_OK;
    VF_TRY(axes.is_there ? mark_axes(cx, &axes, type->rank, &marks) : mark_ones(cx, type, &marks));
    VfDim *dims = vf_infer_new_dims(cx, type->rank);
    VF_TRY_ALLOC(dims, cx->err);
    int32_t rank = 0;
    for (int32_t i = 0; i < type->rank; i++) {
        if (marks[i] && vf_dim_is_known(type->dims[i]) && type->dims[i].k != 1)
            return vf_infer_fail(cx, "axis %d has length %lld, not 1", (int)i,
                                 (long long)type->dims[i].k);
        if (!marks[i])
            dims[rank++] = type->dims[i];
    }
    vf_infer_set(cx, 0, dtype, rank, dims);
    keep_content(cx);
    return VF_OK;
}

VfStatus vf_infer_unsqueeze(const VfInferCx *cx)
{
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfIntList axes;
    bool *marks;
    vf_infer_set_dtype(cx, 0, dtype);
    VF_TRY(vf_infer_ints(cx, "axes", 1, &axes));
    if (!type || axes.n < 0)
        return VF_OK;
    if (axes.n > INT32_MAX - type->rank)
        return vf_infer_fail(cx, "too many axes");
    int32_t rank = type->rank + axes.n, from = 0;
    VfDim *dims = vf_infer_new_dims(cx, rank);
    VF_TRY_ALLOC(dims, cx->err);
    vf_infer_set(cx, 0, dtype, rank, dims);
    if (!axes.is_known)
        return VF_OK;
    VF_TRY(mark_axes(cx, &axes, rank, &marks));
    for (int32_t i = 0; i < rank; i++)
        dims[i] = marks[i] ? vf_dim(1) : type->dims[from++];
    keep_content(cx);
    return VF_OK;
}

/* --- Transpose, Expand, Tile --- */

VfStatus vf_infer_transpose(const VfInferCx *cx)
{
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfIntList perm;
    VF_TRY(vf_infer_ints(cx, "perm", -1, &perm));
    vf_infer_set_dtype(cx, 0, dtype);
    if (!type && !perm.is_there)
        return VF_OK;
    int32_t rank = type ? type->rank : perm.n;
    if (perm.is_there && perm.n != rank)
        return vf_infer_fail(cx, "attribute 'perm' has %d axes", (int)perm.n);
    VfDim *dims = vf_infer_new_dims(cx, rank);
    VF_TRY_ALLOC(dims, cx->err);
    bool *marks;
    if (perm.is_there)
        VF_TRY(mark_axes(cx, &perm, rank, &marks));
    for (int32_t i = 0; i < rank; i++) {
        int64_t from = perm.is_there ? perm.value[i] : rank - 1 - i;
        if (from < 0)
            return vf_infer_fail(cx, "attribute 'perm' holds %lld", (long long)from);
        dims[i] = type ? type->dims[from] : vf_dim_unknown();
    }
    vf_infer_set(cx, 0, dtype, rank, dims);
    if (rank <= 1)
        keep_content(cx);
    return VF_OK;
}

/* A constant or one-element content repeated to the new length. */
static VfStatus expand_content(const VfInferCx *cx)
{
    int32_t n;
    const VfDim *content = vf_infer_content_of(cx, 0, &n);
    const VfType *type = &cx->out[0].type;
    if (!content || type->rank != 1 || !vf_dim_is_known(type->dims[0]) ||
        type->dims[0].k > VF_CONTENT_MAX)
        return VF_OK;
    int32_t length = (int32_t)type->dims[0].k;
    if (n != 1 && n != length)
        return VF_OK;
    VfDim *result = vf_infer_new_dims(cx, length);
    VF_TRY_ALLOC(result, cx->err);
    for (int32_t i = 0; i < length; i++)
        result[i] = content[n == 1 ? 0 : i];
    vf_infer_set_content(cx, 0, length, result);
    return VF_OK;
}

VfStatus vf_infer_expand(const VfInferCx *cx)
{
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfType target = {VF_TYPE_TENSOR, VF_I64, 0, NULL}, out;
    vf_infer_set_dtype(cx, 0, dtype);
    const VfDim *content = vf_infer_content_of(cx, 1, &target.rank);
    if (!type || !content)
        return VF_OK;
    VfDim *dims = vf_infer_copy_dims(cx, target.rank, content);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; i < target.rank; i++) {
        if (vf_dim_is_known(dims[i]) && dims[i].k < 0)
            return vf_infer_fail(cx, "target %d is %lld", (int)i, (long long)dims[i].k);
        dims[i] = dims[i].k < 0 ? vf_dim_unknown() : dims[i];
    }
    target.dims = dims;
    VF_TRY(vf_infer_broadcast(cx, type, &target, &out));
    vf_infer_set(cx, 0, dtype, out.rank, out.dims);
    return expand_content(cx);
}

VfStatus vf_infer_tile(const VfInferCx *cx)
{
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    const VfType *type = vf_infer_shape_of(cx, 0);
    vf_infer_set_dtype(cx, 0, dtype);
    int32_t n;
    const VfDim *repeats = vf_infer_content_of(cx, 1, &n);
    if (!type)
        return VF_OK;
    if (repeats && n != type->rank)
        return vf_infer_fail(cx, "%d repeats for rank %d", (int)n, (int)type->rank);
    VfDim *dims = vf_infer_new_dims(cx, type->rank);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; repeats && i < n; i++) {
        if (repeats[i].k < 0)
            return vf_infer_fail(cx, "repeat %d is negative", (int)i);
        dims[i] = vf_dim_mul(cx->symbols, type->dims[i], repeats[i]);
    }
    vf_infer_set(cx, 0, dtype, type->rank, dims);
    return repeats ? expand_content(cx) : VF_OK;
}

/* --- Shape, Size --- */

VfStatus vf_infer_shape(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfDim *dims = vf_infer_new_dims(cx, 1);
    VF_TRY_ALLOC(dims, cx->err);
    vf_infer_set(cx, 0, VF_I64, 1, dims);
    if (!type)
        return VF_OK;
    int64_t rank = type->rank, start = vf_node_int(cx->node, "start"), end = rank;
    if (vf_node_attr(cx->node, "end"))
        end = vf_node_int(cx->node, "end");
    start = vf_clamp(start < 0 ? start + rank : start, 0, rank);
    end = vf_clamp(end < 0 ? end + rank : end, start, rank);
    dims[0] = vf_dim(end - start);
    vf_infer_set_content(cx, 0, (int32_t)(end - start), type->dims ? type->dims + start : dims);
    return VF_OK;
}

VfStatus vf_infer_size(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    vf_infer_set(cx, 0, VF_I64, 0, NULL);
    if (!type)
        return VF_OK;
    VfDim *content = vf_infer_new_dims(cx, 1);
    VF_TRY_ALLOC(content, cx->err);
    content[0] = vf_infer_product(cx, type->rank, type->dims);
    vf_infer_set_content(cx, 0, 1, content);
    return VF_OK;
}
