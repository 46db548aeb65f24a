/* Values of the walk: making them, views, places. */
#include "converter/lower/emit.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/size.h"

int64_t vf_low_product(const int64_t *dims, int32_t begin, int32_t end)
{
    /* Parts of an empty shape may not fit; they are never used to count. */
    uint64_t product = 1;
    for (int32_t i = begin; i < end; i++)
        product *= (uint64_t)dims[i];
    return (int64_t)product;
}

size_t vf_low_width(VfDtype dtype)
{
    const VfDtypeInfo *info = vf_dtype_info(dtype);
    return info->bits % 8 == 0 ? info->bits / 8u : 0;
}

/* Products that do not fit occur in empty shapes only, whose strides are not used. */
static void dense_strides(int32_t rank, const int64_t *dims, int64_t *stride)
{
    uint64_t step = 1;
    for (int32_t i = rank; i-- > 0; step *= (uint64_t)dims[i])
        stride[i] = (int64_t)step;
}

static VfStatus alloc_value(VfLower *cx, VfDtype dtype, int32_t rank, const int64_t *dims,
                            VfLowValue **out, VfErr *err)
{
    VfLowValue *value = VF_NEW(cx->arena, VfLowValue);
    VF_TRY_ALLOC(value, err);
    int64_t *own = VF_NEW_ARRAY(cx->arena, int64_t, 2 * (size_t)rank);
    VF_TRY_ALLOC(own, err);
    size_t bytes;
    if (rank > 0)
        memcpy(own, dims, (size_t)rank * sizeof *dims);
    if (!vf_size_count(dims, (size_t)rank, &value->count) ||
        !vf_size_mul(value->count, 16, &bytes) || bytes > (size_t)INT64_MAX)
        return vf_fail(err, VF_NO_MEMORY, "a tensor of %d axes is too large for this machine",
                       rank);
    dense_strides(rank, own, own + rank);
    value->dtype = dtype;
    value->rank = rank;
    value->dims = own;
    value->stride = own + rank;
    value->buffer = LOW_NO_BUFFER;
    *out = value;
    return VF_OK;
}

static VfStatus add_buffer(VfLower *cx, VfSpace space, int32_t index, size_t bytes, int32_t *buffer,
                           VfErr *err)
{
    VF_TRY(vf_arena_grow(cx->arena, (void **)&cx->buffer, &cx->cap_buffer, cx->n_buffer + 1,
                         sizeof *cx->buffer, err));
    VfLowBuffer *b = &cx->buffer[cx->n_buffer];
    memset(b, 0, sizeof *b);
    b->space = space;
    b->index = index;
    b->bytes = bytes;
    b->root = (int32_t)cx->n_buffer;
    *buffer = (int32_t)cx->n_buffer++;
    return VF_OK;
}

VfStatus vf_low_new(VfLower *cx, VfDtype dtype, int32_t rank, const int64_t *dims, VfLowValue **out,
                    VfErr *err)
{
    VF_TRY(alloc_value(cx, dtype, rank, dims, out, err));
    size_t bytes = vf_dtype_bytes(dtype, (*out)->count);
    if (bytes == SIZE_MAX)
        return vf_no_memory(err);
    return add_buffer(cx, VF_SPACE_ARENA, 0, bytes, &(*out)->buffer, err);
}

VfStatus vf_low_const(VfLower *cx, const VfTensor *tensor, VfLowValue **out, VfErr *err)
{
    VF_TRY(alloc_value(cx, tensor->dtype, tensor->rank, tensor->dims, out, err));
    (*out)->known = tensor;
    return VF_OK;
}

VfStatus vf_low_const_i64(VfLower *cx, size_t n, const int64_t *list, VfLowValue **out, VfErr *err)
{
    const VfTensor *tensor = vf_tensor_i64(cx->arena, (int64_t)n, list);
    VF_TRY_ALLOC(tensor, err);
    return vf_low_const(cx, tensor, out, err);
}

VfStatus vf_low_int(VfLower *cx, int64_t number, VfLowValue **out, VfErr *err)
{
    const VfTensor *tensor = vf_tensor_i64(cx->arena, 1, &number);
    VF_TRY_ALLOC(tensor, err);
    tensor = vf_tensor_view(cx->arena, tensor, 0, NULL);
    VF_TRY_ALLOC(tensor, err);
    return vf_low_const(cx, tensor, out, err);
}

VfStatus vf_low_scalar(VfLower *cx, VfDtype dtype, double number, VfLowValue **out, VfErr *err)
{
    const VfTensor *tensor = vf_tensor_scalar(cx->arena, dtype, 0, number);
    VF_TRY_ALLOC(tensor, err);
    return vf_low_const(cx, tensor, out, err);
}

VfStatus vf_low_input(VfLower *cx, VfDtype dtype, int32_t rank, const int64_t *dims,
                      VfLowValue **out, VfErr *err)
{
    VF_TRY(alloc_value(cx, dtype, rank, dims, out, err));
    return add_buffer(cx, VF_SPACE_INPUT, (int32_t)cx->n_input,
                      vf_dtype_bytes(dtype, (*out)->count), &(*out)->buffer, err);
}

VfStatus vf_low_aligned(VfLower *cx, const void *data, size_t bytes, size_t width,
                        const void **out, VfErr *err)
{
    *out = data;
    if ((uintptr_t)data % width == 0)
        return VF_OK;
    if (bytes > cx->copy_bytes) {
        free(cx->copy);
        cx->copy_bytes = 0;
        cx->copy = malloc(bytes);
        VF_TRY_ALLOC(cx->copy, err);
        cx->copy_bytes = bytes;
    }
    *out = memcpy(cx->copy, data, bytes);
    return VF_OK;
}

VfStatus vf_low_add_weight(VfLower *cx, const VfPlanTensor *weight, int32_t *buffer, VfErr *err)
{
    VF_TRY(vf_arena_grow(cx->arena, (void **)&cx->weight, &cx->cap_weight, cx->n_weight + 1,
                         sizeof *cx->weight, err));
    VfPlanTensor *own = &cx->weight[cx->n_weight];
    *own = *weight;
    own->ref = (VfPlanRef){VF_SPACE_WEIGHT, (int32_t)cx->n_weight, 0};
    return add_buffer(cx, VF_SPACE_WEIGHT, (int32_t)cx->n_weight++, weight->bytes, buffer, err);
}

VfStatus vf_low_place(VfLower *cx, VfLowValue *value, VfErr *err)
{
    if (value->buffer != LOW_NO_BUFFER)
        return VF_OK;
    if (value->base != NULL) {
        VF_TRY(vf_low_place(cx, value->base, err));
        value->buffer = value->base->buffer;
        value->offset = value->base->offset;
        return VF_OK;
    }
    const VfTensor *tensor = value->known;
    if (tensor == NULL || tensor->dtype == VF_STRING)
        return vf_fail(err, VF_UNSUPPORTED, "a value of %s cannot be an operand of a kernel",
                       tensor == NULL ? "no tensor kind" : "strings");
    VfPlanTensor weight = {.name = value->name, .dtype = value->dtype, .rank = value->rank,
                           .dims = value->dims, .bytes = tensor->bytes, .data = tensor->data,
                           .is_made = tensor->storage == VF_STORAGE_ARENA};
    VF_TRY(vf_low_add_weight(cx, &weight, &value->buffer, err));
    cx->buffer[value->buffer].is_mapped = tensor->storage == VF_STORAGE_FILE;
    return VF_OK;
}

bool vf_low_is_dense(const VfLowValue *value)
{
    int64_t step = 1;
    for (int32_t i = value->rank; value->count > 0 && i-- > 0; step *= value->dims[i])
        if (value->dims[i] != 1 && value->stride[i] != step)
            return false;
    return true;
}

VfStatus vf_low_view(VfLower *cx, VfLowValue *of, int32_t rank, const int64_t *dims,
                     const int64_t *stride, int64_t offset, VfLowValue **out, VfErr *err)
{
    VF_TRY(vf_low_place(cx, of, err));
    VF_TRY(alloc_value(cx, of->dtype, rank, dims, out, err));
    VfLowValue *view = *out;
    if (rank > 0) {
        int64_t *own = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)rank);
        VF_TRY_ALLOC(own, err);
        memcpy(own, stride, (size_t)rank * sizeof *own);
        view->stride = own;
    }
    view->buffer = of->buffer;
    view->offset = view->count == 0
                       ? of->offset
                       : of->offset + (size_t)(offset * (int64_t)vf_low_width(of->dtype));
    view->name = of->name;
    return VF_OK;
}

/* Strides for `dims` over the elements of `of`, axis groups at a time; false where a group of old
 * axes does not lie evenly in memory. */
static bool regroup(const VfLowValue *of, int32_t rank, const int64_t *dims, int64_t *stride)
{
    int32_t old = 0, neu = 0;
    while (neu < rank) {
        int32_t begin = neu, first = old;
        int64_t a = 1, b = dims[neu++];
        while (a != b || (old < of->rank && first == old)) {
            if (a < b || first == old) {
                if (old == of->rank)
                    break;
                a *= of->dims[old++];
            } else {
                if (neu == rank)
                    return false;
                b *= dims[neu++];
            }
        }
        /* Old axes first..old hold as many elements as new axes begin..neu: one run is needed. */
        int32_t last = -1;
        for (int32_t i = old; i-- > first;) {
            if (of->dims[i] == 1)
                continue;
            if (last >= 0 && of->stride[i] != of->stride[last] * of->dims[last])
                return false;
            last = i;
        }
        int64_t step = 1;
        for (int32_t i = old; i-- > first;)
            if (of->dims[i] != 1) {
                step = of->stride[i];
                break;
            }
        for (int32_t i = neu; i-- > begin;) {
            stride[i] = step;
            step *= dims[i];
        }
    }
    return true;
}

static VfStatus reshape_known(VfLower *cx, VfLowValue *of, int32_t rank, const int64_t *dims,
                              VfLowValue **out, VfErr *err)
{
    const VfTensor *tensor = vf_tensor_view(cx->arena, of->known, rank, dims);
    VF_TRY_ALLOC(tensor, err);
    VF_TRY(vf_low_const(cx, tensor, out, err));
    (*out)->base = of;
    (*out)->name = of->name;
    return VF_OK;
}

VfStatus vf_low_reshape(VfLower *cx, VfLowValue *of, int32_t rank, const int64_t *dims,
                        VfLowValue **out, VfErr *err)
{
    if (of->known != NULL)
        return reshape_known(cx, of, rank, dims, out, err);
    int64_t *stride = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)rank + 1);
    VF_TRY_ALLOC(stride, err);
    if (vf_low_is_dense(of) || of->count == 0 || !regroup(of, rank, dims, stride)) {
        VF_TRY(vf_low_dense(cx, of, &of, err));
        dense_strides(rank, dims, stride);
    }
    return vf_low_view(cx, of, rank, dims, stride, 0, out, err);
}

VfStatus vf_low_along(VfLower *cx, VfLowValue *of, int32_t rank, int32_t axis, VfLowValue **out,
                      VfErr *err)
{
    int64_t dims[64];
    if (rank > 64)
        return vf_low_refuse(err, "%d axes", rank);
    for (int32_t i = 0; i < rank; i++)
        dims[i] = i == axis ? (int64_t)of->count : 1;
    return vf_low_reshape(cx, of, rank, dims, out, err);
}

VfStatus vf_low_permute(VfLower *cx, VfLowValue *of, const int64_t *perm, VfLowValue **out,
                        VfErr *err)
{
    int64_t *list = VF_NEW_ARRAY(cx->arena, int64_t, 2 * (size_t)of->rank + 1);
    VF_TRY_ALLOC(list, err);
    for (int32_t i = 0; i < of->rank; i++) {
        list[i] = of->dims[perm[i]];
        list[of->rank + i] = of->stride[perm[i]];
    }
    return vf_low_view(cx, of, of->rank, list, list + of->rank, 0, out, err);
}

VfStatus vf_low_expand(VfLower *cx, VfLowValue *of, int32_t rank, const int64_t *dims,
                       VfLowValue **out, VfErr *err)
{
    int64_t *stride = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)rank + 1);
    VF_TRY_ALLOC(stride, err);
    if (of->rank > rank)
        return vf_fail(err, VF_INVALID, "%d axes do not broadcast to %d", of->rank, rank);
    for (int32_t i = 0; i < rank; i++) {
        int32_t k = i - (rank - of->rank);
        if (k >= 0 && of->dims[k] != 1 && of->dims[k] != dims[i])
            return vf_fail(err, VF_INVALID, "an axis of %lld does not broadcast to %lld",
                           (long long)of->dims[k], (long long)dims[i]);
        stride[i] = k < 0 || of->dims[k] == 1 ? 0 : of->stride[k];
    }
    return vf_low_view(cx, of, rank, dims, stride, 0, out, err);
}

VfStatus vf_low_slice(VfLower *cx, VfLowValue *of, int32_t axis, int64_t begin, int64_t size,
                      VfLowValue **out, VfErr *err)
{
    int64_t *dims = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)of->rank + 1);
    VF_TRY_ALLOC(dims, err);
    memcpy(dims, of->dims, (size_t)of->rank * sizeof *dims);
    if (begin < 0 || size < 0 || begin + size > dims[axis])
        return vf_fail(err, VF_INVALID, "elements %lld to %lld do not lie in an axis of %lld",
                       (long long)begin, (long long)(begin + size), (long long)dims[axis]);
    dims[axis] = size;
    return vf_low_view(cx, of, of->rank, dims, of->stride, begin * of->stride[axis], out, err);
}

VfStatus vf_low_dense(VfLower *cx, VfLowValue *value, VfLowValue **out, VfErr *err)
{
    if (value->known != NULL || vf_low_is_dense(value)) {
        *out = value;
        return VF_OK;
    }
    if (value->dense == NULL) {
        VfLowValue *copy;
        VF_TRY(vf_low_new(cx, value->dtype, value->rank, value->dims, &copy, err));
        VF_TRY(vf_low_copy(cx, value, copy, err));
        value->dense = copy;
    }
    *out = value->dense;
    return VF_OK;
}
