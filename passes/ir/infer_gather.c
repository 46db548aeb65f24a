/* Operators that pick, place or count elements by index. */
#include "passes/ir/infer_op.h"

#include <string.h>

static void copy_range(VfDim *to, const VfDim *from, int32_t n)
{
    if (n > 0)
        memcpy(to, from, (size_t)n * sizeof *to);
}

static VfStatus gather_content(const VfInferCx *cx)
{
    int32_t n, n_index;
    const VfDim *content = vf_infer_content_of(cx, 0, &n);
    const VfDim *index = vf_infer_content_of(cx, 1, &n_index);
    if (!content || !index || vf_infer_shape_of(cx, 0)->rank != 1)
        return VF_OK;
    VfDim *result = vf_infer_new_dims(cx, n_index);
    VF_TRY_ALLOC(result, cx->err);
    for (int32_t i = 0; i < n_index; i++) {
        if (!vf_dim_is_known(index[i]))
            continue;
        int64_t at = index[i].k < 0 ? index[i].k + n : index[i].k;
        if (at < 0 || at >= n)
            return vf_infer_fail(cx, "index %lld is out of range", (long long)index[i].k);
        result[i] = content[at];
    }
    vf_infer_set_content(cx, 0, n_index, result);
    return VF_OK;
}

VfStatus vf_infer_gather(const VfInferCx *cx)
{
    const VfType *data = vf_infer_shape_of(cx, 0), *index = vf_infer_shape_of(cx, 1);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    int32_t axis;
    vf_infer_set_dtype(cx, 0, dtype);
    if (!data || !index)
        return VF_OK;
    VF_TRY(vf_infer_axis(cx, vf_node_int(cx->node, "axis"), data->rank, &axis));
    int32_t rank = data->rank - 1 + index->rank;
    VfDim *dims = vf_infer_new_dims(cx, rank);
    VF_TRY_ALLOC(dims, cx->err);
    copy_range(dims, data->dims, axis);
    copy_range(dims + axis, index->dims, index->rank);
    copy_range(dims + axis + index->rank, data->dims + axis + 1, data->rank - axis - 1);
    vf_infer_set(cx, 0, dtype, rank, dims);
    return gather_content(cx);
}

VfStatus vf_infer_gather_elements(const VfInferCx *cx)
{
    const VfType *data = vf_infer_shape_of(cx, 0), *index = vf_infer_shape_of(cx, 1);
    if (data && index && data->rank != index->rank)
        return vf_infer_fail(cx, "operands differ in rank");
    vf_infer_set_like_dtype(cx, 0, 1, vf_infer_dtype_of(cx, 0));
    return VF_OK;
}

VfStatus vf_infer_gather_nd(const VfInferCx *cx)
{
    const VfType *data = vf_infer_shape_of(cx, 0), *index = vf_infer_shape_of(cx, 1);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    int64_t batch = vf_node_int(cx->node, "batch_dims");
    vf_infer_set_dtype(cx, 0, dtype);
    if (!data || !index)
        return VF_OK;
    if (index->rank < 1 || batch < 0 || batch >= index->rank || batch > data->rank)
        return vf_infer_fail(cx, "%lld batch axes do not fit", (long long)batch);
    VfDim width = index->dims[index->rank - 1];
    if (!vf_dim_is_known(width))
        return VF_OK;
    if (width.k > data->rank - batch)
        return vf_infer_fail(cx, "an index of %lld numbers is too long", (long long)width.k);
    int32_t skip = (int32_t)(batch + width.k), rank = index->rank - 1 + data->rank - skip;
    VfDim *dims = vf_infer_new_dims(cx, rank);
    VF_TRY_ALLOC(dims, cx->err);
    copy_range(dims, index->dims, index->rank - 1);
    copy_range(dims + index->rank - 1, data->dims + skip, data->rank - skip);
    vf_infer_set(cx, 0, dtype, rank, dims);
    return VF_OK;
}

/* ScatterElements, ScatterND, TensorScatter: the first operand with some elements changed. */
VfStatus vf_infer_scatter(const VfInferCx *cx)
{
    vf_infer_set_like(cx, 0, 0);
    return VF_OK;
}

VfStatus vf_infer_top_k(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    int64_t k = -1;
    int32_t axis;
    vf_infer_set_dtype(cx, 0, dtype);
    vf_infer_set_dtype(cx, 1, VF_I64);
    if (!type)
        return VF_OK;
    VF_TRY(vf_infer_axis(cx, vf_node_int(cx->node, "axis"), type->rank, &axis));
    VfDim *dims = vf_infer_copy_dims(cx, type->rank, type->dims);
    VF_TRY_ALLOC(dims, cx->err);
    bool is_known = cx->opset < 10 || vf_infer_int_of(cx, 1, &k);
    if (cx->opset < 10)
        k = vf_node_int(cx->node, "k");
    if (is_known && (k < 0 || (vf_dim_is_known(dims[axis]) && k > dims[axis].k)))
        return vf_infer_fail(cx, "k is %lld", (long long)k);
    dims[axis] = is_known ? vf_dim(k) : vf_dim_unknown();
    vf_infer_set(cx, 0, dtype, type->rank, dims);
    vf_infer_set(cx, 1, VF_I64, type->rank, dims);
    return VF_OK;
}

/* A one-element float may give the depth too. */
static VfDim read_depth(const VfInferCx *cx)
{
    const VfFact *fact = vf_infer_in(cx, 1);
    int64_t depth;
    if (vf_infer_int_of(cx, 1, &depth))
        return vf_dim(depth);
    if (fact && fact->tensor && fact->tensor->count == 1 &&
        vf_dtype_info(fact->tensor->dtype)->is_float)
        return vf_dim(vf_tensor_get_i64(fact->tensor, 0));
    return vf_dim_unknown();
}

VfStatus vf_infer_one_hot(const VfInferCx *cx)
{
    const VfType *index = vf_infer_shape_of(cx, 0);
    VfDtype dtype = vf_infer_dtype_of(cx, 2);
    int32_t axis;
    vf_infer_set_dtype(cx, 0, dtype);
    if (!index)
        return VF_OK;
    int32_t rank = index->rank + 1;
    VF_TRY(vf_infer_axis(cx, vf_node_int(cx->node, "axis"), rank, &axis));
    VfDim *dims = vf_infer_new_dims(cx, rank);
    VF_TRY_ALLOC(dims, cx->err);
    copy_range(dims, index->dims, axis);
    dims[axis] = read_depth(cx);
    if (vf_dim_is_known(dims[axis]) && dims[axis].k < 0)
        return vf_infer_fail(cx, "the depth is %lld", (long long)dims[axis].k);
    copy_range(dims + axis + 1, index->dims + axis, index->rank - axis);
    vf_infer_set(cx, 0, dtype, rank, dims);
    return VF_OK;
}

VfStatus vf_infer_non_zero(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfDim *dims = vf_infer_new_dims(cx, 2);
    VF_TRY_ALLOC(dims, cx->err);
    if (type)
        dims[0] = vf_dim(type->rank);
    vf_infer_set(cx, 0, VF_I64, 2, dims);
    return VF_OK;
}

VfStatus vf_infer_compress(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    bool has_axis = vf_node_attr(cx->node, "axis") != NULL;
    vf_infer_set_dtype(cx, 0, dtype);
    if (has_axis && !type)
        return VF_OK;
    int32_t rank = has_axis ? type->rank : 1, axis = 0;
    if (has_axis)
        VF_TRY(vf_infer_axis(cx, vf_node_int(cx->node, "axis"), rank, &axis));
    VfDim *dims = has_axis ? vf_infer_copy_dims(cx, rank, type->dims) : vf_infer_new_dims(cx, 1);
    VF_TRY_ALLOC(dims, cx->err);
    dims[axis] = vf_dim_unknown();
    vf_infer_set(cx, 0, dtype, rank, dims);
    return VF_OK;
}

VfStatus vf_infer_unique(const VfInferCx *cx)
{
    VF_TRY(vf_infer_compress(cx));
    for (int32_t i = 1; i < 4; i++) {
        VfDim *dims = vf_infer_new_dims(cx, 1);
        VF_TRY_ALLOC(dims, cx->err);
        vf_infer_set(cx, i, VF_I64, 1, dims);
    }
    return VF_OK;
}

/* images x boxes x 4 and images x classes x boxes. */
VfStatus vf_infer_non_max_suppression(const VfInferCx *cx)
{
    VfDim unused, *dims = vf_infer_new_dims(cx, 2);
    VF_TRY_ALLOC(dims, cx->err);
    VF_TRY(vf_infer_need_rank(cx, 0, 3, 3));
    VF_TRY(vf_infer_need_rank(cx, 1, 3, 3));
    VF_TRY(vf_infer_unify(cx, vf_infer_dim_of(cx, 0, 0), vf_infer_dim_of(cx, 1, 0),
                          "boxes and scores are of other images", &unused));
    VF_TRY(vf_infer_unify(cx, vf_infer_dim_of(cx, 0, 1), vf_infer_dim_of(cx, 1, 2),
                          "boxes and scores differ in number", &unused));
    VF_TRY(vf_infer_unify(cx, vf_infer_dim_of(cx, 0, 2), vf_dim(4), "boxes are of 4 numbers",
                          &unused));
    dims[1] = vf_dim(3);
    vf_infer_set(cx, 0, VF_I64, 2, dims);
    return VF_OK;
}

/* Trilu, CumSum, CumProd, ReverseSequence. */
VfStatus vf_infer_reordered(const VfInferCx *cx)
{
    vf_infer_set_like(cx, 0, 0);
    return VF_OK;
}

static VfStatus move_blocks(const VfInferCx *cx, bool is_to_depth)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    int64_t block = vf_node_int(cx->node, "blocksize"), area;
    vf_infer_set_dtype(cx, 0, vf_infer_dtype_of(cx, 0));
    if (!type)
        return VF_OK;
    if (type->rank != 4 || block < 1 || __builtin_mul_overflow(block, block, &area))
        return vf_infer_fail(cx, "rank %d or block size %lld does not fit", (int)type->rank,
                             (long long)block);
    VfDim *dims = vf_infer_copy_dims(cx, 4, type->dims);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 1; i < 4; i++) {
        bool grows = (i == 1) == is_to_depth;
        int64_t factor = i == 1 ? area : block;
        if (!grows && vf_dim_is_known(dims[i]) && dims[i].k % factor != 0)
            return vf_infer_fail(cx, "axis %d does not divide by %lld", (int)i, (long long)factor);
        dims[i] = grows ? vf_infer_times(cx, dims[i], factor) : vf_infer_over(cx, dims[i], factor);
    }
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), 4, dims);
    return VF_OK;
}

VfStatus vf_infer_depth_to_space(const VfInferCx *cx)
{
    return move_blocks(cx, false);
}

VfStatus vf_infer_space_to_depth(const VfInferCx *cx)
{
    return move_blocks(cx, true);
}

VfStatus vf_infer_center_crop_pad(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfIntList axes;
    int32_t n, axis;
    const VfDim *target = vf_infer_content_of(cx, 1, &n);
    vf_infer_set_dtype(cx, 0, vf_infer_dtype_of(cx, 0));
    VF_TRY(vf_infer_ints(cx, "axes", -1, &axes));
    if (!type)
        return VF_OK;
    VfDim *dims = vf_infer_copy_dims(cx, type->rank, type->dims);
    VF_TRY_ALLOC(dims, cx->err);
    int32_t count = axes.is_there ? axes.n : type->rank;
    if (target && n != count)
        return vf_infer_fail(cx, "%d lengths for %d axes", (int)n, (int)count);
    for (int32_t i = 0; i < count; i++) {
        VF_TRY(vf_infer_axis(cx, axes.is_there ? axes.value[i] : i, type->rank, &axis));
        dims[axis] = target ? target[i] : vf_dim_unknown();
    }
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), type->rank, dims);
    return VF_OK;
}
