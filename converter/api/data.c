#include <stdlib.h>
#include <string.h>

#include "converter/api/handle.h"
#include "converter/data/npz.h"

VitfoldData *vitfold_data_new(void)
{
    VfArena *arena = vf_arena_new();
    VitfoldData *data = arena == NULL ? NULL : VF_NEW(arena, VitfoldData);
    VfIntern *names = data == NULL ? NULL : vf_intern_new(arena);
    if (names == NULL) {
        vf_arena_free(arena);
        return NULL;
    }
    data->arena = arena;
    data->names = names;
    return data;
}

void vitfold_data_free(VitfoldData *data)
{
    if (data != NULL)
        vf_arena_free(data->arena);
}

size_t vitfold_data_count(const VitfoldData *data)
{
    return data->n_array;
}

VitfoldTensor vitfold_data_at(const VitfoldData *data, size_t i)
{
    const VfNamedArray *array = &data->array[i];
    return (VitfoldTensor){
        .name = array->name.data,
        .name_size = array->name.size,
        .dtype = (int)array->array.dtype,
        .rank = array->array.rank,
        .dims = array->array.dims,
        .data = array->array.data,
        .bytes = array->array.bytes,
    };
}

/* The entry called `name`, new if there is none. */
static VfStatus entry_of(VitfoldData *data, VfBytes name, VfNamedArray **entry, VfErr *err)
{
    void *items = data->array;
    void *values = data->value;
    int32_t id;
    VF_TRY(vf_arena_grow(data->arena, &items, &data->capacity, data->n_array + 1,
                         sizeof *data->array, err));
    data->array = items;
    VF_TRY(vf_arena_grow(data->arena, &values, &data->value_capacity, data->n_array + 1,
                         sizeof *data->value, err));
    data->value = values;
    VF_TRY(vf_intern_add(data->names, name, &id, err));
    *entry = &data->array[id];
    (*entry)->name = vf_intern_get(data->names, id);
    data->n_array = (size_t)vf_intern_count(data->names);
    return VF_OK;
}

VfStatus vf_data_lend(VitfoldData *data, VfBytes name, const VfArray *array, VfErr *err)
{
    VfNamedArray *entry = NULL;
    VF_TRY(entry_of(data, name, &entry, err));
    entry->array = *array;
    data->value[entry - data->array] = NULL;
    return VF_OK;
}

static VfStatus put(VitfoldData *data, VfBytes name, const VfArray *array, bool is_copied,
                    VfErr *err)
{
    VfArray own;
    VF_TRY(vf_array_init(&own, data->arena, array->dtype, array->rank, array->dims, array->data,
                         err));
    if (is_copied) {
        own.data = vf_arena_copy(data->arena, array->data, own.bytes);
        VF_TRY_ALLOC(own.data, err);
    }
    return vf_data_lend(data, name, &own, err);
}

static VfStatus copy_strings(VfArena *arena, VfTensor *tensor, VfErr *err)
{
    const VfBytes *from = tensor->data;
    VfBytes *to = VF_NEW_ARRAY(arena, VfBytes, tensor->count);
    VF_TRY_ALLOC(to, err);
    for (size_t i = 0; i < tensor->count; i++) {
        to[i] = (VfBytes){vf_arena_copy(arena, from[i].data, from[i].size), from[i].size};
        VF_TRY_ALLOC(to[i].data, err);
    }
    tensor->data = to;
    return VF_OK;
}

static VfStatus copy_tensor(VfArena *arena, const VfTensor *from, const VfTensor **to, VfErr *err)
{
    VfArray array;
    VfTensor *tensor = VF_NEW(arena, VfTensor);
    VF_TRY_ALLOC(tensor, err);
    VF_TRY(vf_array_init(&array, arena, from->dtype, from->rank, from->dims, from->data, err));
    *tensor = (VfTensor){from->dtype, from->rank, array.dims, from->count, from->bytes, from->data,
                         VF_STORAGE_LENT};
    *to = tensor;
    if (from->dtype == VF_STRING)
        return copy_strings(arena, tensor, err);
    tensor->data = vf_arena_copy(arena, from->data, from->bytes);
    VF_TRY_ALLOC(tensor->data, err);
    return VF_OK;
}

static VfStatus copy_value(VfArena *arena, const VfFileValue *from, VfFileValue *to, VfErr *err)
{
    *to = *from;
    if (from->kind == VF_FILE_TENSOR)
        return copy_tensor(arena, from->tensor, &to->tensor, err);
    VfFileValue *item = VF_NEW_ARRAY(arena, VfFileValue, from->n_item);
    VF_TRY_ALLOC(item, err);
    to->item = item;
    for (size_t i = 0; i < from->n_item; i++)
        VF_TRY(copy_value(arena, &from->item[i], &item[i], err));
    return VF_OK;
}

VfStatus vf_data_put_value(VitfoldData *data, VfBytes name, const VfFileValue *value, VfErr *err)
{
    VfNamedArray *entry;
    VfFileValue *own = VF_NEW(data->arena, VfFileValue);
    VF_TRY_ALLOC(own, err);
    VF_TRY(copy_value(data->arena, value, own, err));
    VF_TRY(entry_of(data, name, &entry, err));
    entry->array = (VfArray){.dtype = VF_UNDEFINED};
    data->value[entry - data->array] = own;
    return VF_OK;
}

const VfFileValue *vf_data_value(const VitfoldData *data, size_t i)
{
    return data->value != NULL ? data->value[i] : NULL;
}

int32_t vf_data_index(const VitfoldData *data, VfBytes name)
{
    return vf_intern_find(data->names, name);
}

const VfArray *vf_data_find(const VitfoldData *data, VfBytes name)
{
    int32_t i = vf_data_index(data, name);
    return i < 0 ? NULL : &data->array[i].array;
}

const VfFileValue *vf_data_find_value(const VitfoldData *data, VfBytes name)
{
    int32_t i = vf_data_index(data, name);
    return i < 0 ? NULL : vf_data_value(data, (size_t)i);
}

VfStatus vf_data_need_arrays(const VitfoldData *data, const char *what, VfErr *err)
{
    for (size_t i = 0; i < data->n_array; i++)
        if (vf_data_value(data, i) != NULL)
            return vf_fail(err, VF_UNSUPPORTED, "'%s' is no tensor of numbers: %s",
                           vf_show(data->arena, data->array[i].name), what);
    return VF_OK;
}

VfStatus vf_data_put(VitfoldData *data, VfBytes name, const VfArray *array, VfErr *err)
{
    /* 16 bytes: the widest element of any dtype. */
    return put(data, name, array, (uintptr_t)array->data % 16 != 0, err);
}

VfStatus vf_data_copy(VitfoldData *data, VfBytes name, const VfArray *array, VfErr *err)
{
    return put(data, name, array, true, err);
}

int vitfold_data_add(VitfoldData *data, const VitfoldTensor *tensor, VitfoldError *err)
{
    VfArray array;
    if (tensor->dtype <= 0 || tensor->dtype >= VF_DTYPE_COUNT || tensor->dtype == VF_STRING)
        return (int)vf_fail(err, VF_UNSUPPORTED, "no tensors of dtype %d", tensor->dtype);
    VfStatus status = vf_array_init(&array, data->arena, (VfDtype)tensor->dtype, tensor->rank,
                                    tensor->dims, tensor->data, err);
    if (status == VF_OK)
        status = vf_data_copy(data, (VfBytes){tensor->name, tensor->name_size}, &array, err);
    return (int)status;
}

int vitfold_data_add_npz(VitfoldData *data, const char *path, VitfoldError *err)
{
    VfNamedArray *array;
    size_t n;
    VfStatus status = vf_npz_read(data->arena, path, &array, &n, err);
    for (size_t i = 0; i < n && status == VF_OK; i++)
        status = vf_data_put(data, array[i].name, &array[i].array, err);
    return (int)status;
}

/* Shape of a random input: symbols from `sizes`, else 1. */
static VfStatus random_dims(const VfModel *ir, const VfValue *input, const VfSizes *sizes,
                            int64_t *dims, VfErr *err)
{
    const VfType *type = &input->type;
    if (type->kind != VF_TYPE_TENSOR || type->dtype == VF_UNDEFINED || type->rank < 0 ||
        type->rank > VF_ARRAY_MAX_RANK)
        return vf_fail(err, VF_UNSUPPORTED, "input '%s': no random data for type %s",
                       vf_value_label(input), vf_type_text(ir->arena, ir->symbols, type));
    for (int32_t i = 0; i < type->rank; i++) {
        VfDim d = type->dims[i];
        int64_t size = 1;
        if (d.sym > VF_SYM_ONE)
            size = vf_sizes_get(sizes, vf_symbol_text(ir->symbols, d.sym));
        dims[i] = d.k * (size < 0 ? 1 : size);
    }
    return VF_OK;
}

static VfStatus add_random(VitfoldData *data, const VfModel *ir, uint64_t seed,
                           const VitfoldDim *dim, size_t n_dim, VfErr *err)
{
    const VfGraph *graph = ir->graph;
    VfSizes sizes;
    VF_TRY(vf_sizes_init(&sizes, data->arena, dim, n_dim, err));
    for (int32_t i = 0; i < graph->n_input; i++) {
        const VfValue *input = graph->input[i];
        int64_t dims[VF_ARRAY_MAX_RANK];
        VfArray array;
        if (!vf_is_required_input(input) || vf_data_find(data, input->name) != NULL)
            continue;
        VF_TRY(random_dims(ir, input, &sizes, dims, err));
        if (vf_array_random(&array, data->arena, input->type.dtype, input->type.rank, dims,
                            seed + (uint64_t)i, err) != VF_OK)
            return vf_context(err, "input '%s'", vf_value_label(input));
        VF_TRY(vf_data_put(data, input->name, &array, err));
    }
    return VF_OK;
}

int vitfold_data_add_random(VitfoldData *data, const VitfoldModel *model, uint64_t seed,
                            const VitfoldDim *dim, size_t n_dim, VitfoldError *err)
{
    return (int)add_random(data, model->ir, seed, dim, n_dim, err);
}
