#include "passes/ir/tensor.h"

#include <math.h>
#include <string.h>

#include "runtime/kernels/number.h"
#include "runtime/base/intern.h"
#include "runtime/base/size.h"

VfStatus vf_dims_count(int32_t rank, const int64_t *dims, size_t *count, VfErr *err)
{
    for (int32_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return vf_fail(err, VF_INVALID, "dimension %d of a tensor is %lld", (int)i,
                           (long long)dims[i]);
    }
    if (rank < 0 || !vf_size_count(dims, (size_t)rank, count))
        return vf_fail(err, VF_INVALID,
                       "the number of elements of a tensor of rank %d does not fit", (int)rank);
    return VF_OK;
}

static VfTensor *new_record(VfArena *arena, VfDtype dtype, int32_t rank, const int64_t *dims)
{
    VfTensor *tensor = VF_NEW(arena, VfTensor);
    if (tensor == NULL)
        return NULL;
    tensor->dtype = dtype;
    tensor->rank = rank;
    tensor->storage = VF_STORAGE_ARENA;
    if (rank > 0) {
        tensor->dims =
            (const int64_t *)(void *)vf_arena_copy(arena, dims, (size_t)rank * sizeof *dims);
        if (tensor->dims == NULL)
            return NULL;
    }
    return tensor;
}

VfStatus vf_tensor_new(VfArena *arena, VfDtype dtype, int32_t rank, const int64_t *dims,
                       VfTensor **tensor, void **data, VfErr *err)
{
    size_t count, bytes, room;
    VF_TRY(vf_dims_count(rank, dims, &count, err));
    bytes = room = vf_dtype_bytes(dtype, count);
    if (dtype == VF_STRING && !vf_size_mul(count, sizeof(VfBytes), &room))
        room = SIZE_MAX;
    if (room == SIZE_MAX)
        return vf_fail(err, VF_INVALID, "the size of a tensor of %zu elements does not fit", count);
    VfTensor *made = new_record(arena, dtype, rank, dims);
    VF_TRY_ALLOC(made, err);
    void *memory = vf_arena_alloc(arena, room);
    VF_TRY_ALLOC(memory, err);
    made->count = count;
    made->bytes = bytes;
    made->data = count == 0 ? NULL : memory;
    *tensor = made;
    *data = memory;
    return VF_OK;
}

const VfTensor *vf_tensor_scalar(VfArena *arena, VfDtype dtype, int32_t rank, double value)
{
    static const int64_t one[] = {1};
    VfTensor *tensor;
    void *data;
    if (vf_tensor_new(arena, dtype, rank, one, &tensor, &data, NULL) != VF_OK)
        return NULL;
    vf_tensor_put_double(data, dtype, 0, value);
    return tensor;
}

const VfTensor *vf_tensor_i64(VfArena *arena, int64_t count, const int64_t *values)
{
    VfTensor *tensor;
    void *data;
    if (vf_tensor_new(arena, VF_I64, 1, &count, &tensor, &data, NULL) != VF_OK)
        return NULL;
    if (count > 0)
        memcpy(data, values, tensor->bytes);
    return tensor;
}

const VfTensor *vf_tensor_filled(VfArena *arena, VfDtype dtype, int32_t rank, const int64_t *dims,
                                 double value)
{
    VfTensor *tensor;
    void *data;
    if (vf_tensor_new(arena, dtype, rank, dims, &tensor, &data, NULL) != VF_OK)
        return NULL;
    for (size_t i = 0; i < tensor->count; i++)
        vf_tensor_put_double(data, dtype, i, value);
    return tensor;
}

const VfTensor *vf_tensor_doubles(VfArena *arena, VfDtype dtype, int32_t rank, const int64_t *dims,
                                  const double *values)
{
    VfTensor *tensor;
    void *data;
    if (vf_tensor_new(arena, dtype, rank, dims, &tensor, &data, NULL) != VF_OK)
        return NULL;
    for (size_t i = 0; i < tensor->count; i++)
        vf_tensor_put_double(data, dtype, i, values[i]);
    return tensor;
}

const VfTensor *vf_tensor_map(VfArena *arena, const VfTensor *from, VfDtype dtype,
                              double (*change)(double))
{
    VfTensor *tensor;
    void *data;
    if (vf_tensor_new(arena, dtype, from->rank, from->dims, &tensor, &data, NULL) != VF_OK)
        return NULL;
    for (size_t i = 0; i < tensor->count; i++)
        vf_tensor_put_double(data, dtype, i, change(vf_tensor_get_double(from, i)));
    return tensor;
}

const VfTensor *vf_tensor_view(VfArena *arena, const VfTensor *tensor, int32_t rank,
                               const int64_t *dims)
{
    size_t count;
    if (vf_dims_count(rank, dims, &count, NULL) != VF_OK || count != tensor->count)
        return NULL;
    VfTensor *view = new_record(arena, tensor->dtype, rank, dims);
    if (view == NULL)
        return NULL;
    view->count = tensor->count;
    view->bytes = tensor->bytes;
    view->data = tensor->data;
    view->storage = tensor->storage;
    return view;
}

double vf_tensor_get_double(const VfTensor *tensor, size_t i)
{
    return vf_number_value(tensor->dtype, vf_number_bits(tensor->data, tensor->dtype, i));
}

static int64_t saturate(double value)
{
    if (isnan(value))
        return 0;
    if (value >= 9223372036854775808.0)
        return INT64_MAX;
    return value < -9223372036854775808.0 ? INT64_MIN : (int64_t)value;
}

int64_t vf_tensor_get_i64(const VfTensor *tensor, size_t i)
{
    uint64_t bits = vf_number_bits(tensor->data, tensor->dtype, i);
    switch (tensor->dtype) {
    case VF_I64:
        return (int64_t)bits;
    case VF_U64:
        return bits > INT64_MAX ? INT64_MAX : (int64_t)bits;
    case VF_BOOL:
        return bits != 0;
    default:
        return saturate(vf_number_value(tensor->dtype, bits));
    }
}

void vf_tensor_put_double(void *data, VfDtype dtype, size_t i, double value)
{
    vf_number_put_bits(data, dtype, i, vf_number_encode(dtype, value));
}

bool vf_tensor_is_equal(const VfTensor *a, const VfTensor *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank || a->count != b->count || a->bytes != b->bytes)
        return false;
    for (int32_t i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i])
            return false;
    }
    if (a->count == 0)
        return true;
    if (a->dtype != VF_STRING)
        return a->data == b->data || memcmp(a->data, b->data, a->bytes) == 0;
    const VfBytes *x = a->data, *y = b->data;
    for (size_t i = 0; i < a->count; i++) {
        if (vf_bytes_compare(x[i], y[i]) != 0)
            return false;
    }
    return true;
}

bool vf_tensor_is_all(const VfTensor *tensor, double value)
{
    if (tensor->count == 0 || tensor->dtype == VF_STRING || tensor->dtype == VF_UNDEFINED)
        return false;
    for (size_t i = 0; i < tensor->count; i++) {
        if (vf_tensor_get_double(tensor, i) != value)
            return false;
    }
    return true;
}
