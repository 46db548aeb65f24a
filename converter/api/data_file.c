/* Tensors from and to files: npy, TensorProto, raw elements, folders of them. */
#include <string.h>
#include <unistd.h>

#include "converter/api/handle.h"
#include "converter/data/npy.h"
#include "converter/data/npz.h"
#include "converter/onnx/tensor_file.h"

static bool ends_in(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n >= m && strcmp(path + n - m, suffix) == 0;
}

/* "f32[1,3,224,224]". */
static VfStatus parse_type(const char *text, VfDtype *dtype, int32_t *rank, int64_t *dims,
                           VfErr *err)
{
    char name[16];
    size_t n = strcspn(text, "[");
    const char *at = text + n;
    *rank = 0;
    if (n >= sizeof name || *at != '[')
        return vf_fail(err, VF_USAGE, "'%s' is not a type like f32[1,3,224,224]", text);
    memcpy(name, text, n);
    name[n] = '\0';
    *dtype = vf_dtype_from_name(name);
    for (at++; *at >= '0' && *at <= '9' && *rank < VF_ARRAY_MAX_RANK;) {
        int64_t dim = 0;
        while (*at >= '0' && *at <= '9' && dim < INT64_MAX / 20)
            dim = 10 * dim + (*at++ - '0');
        dims[(*rank)++] = dim;
        at += *at == ',';
    }
    if (*dtype == VF_UNDEFINED || strcmp(at, "]") != 0)
        return vf_fail(err, VF_USAGE, "'%s' is not a type like f32[1,3,224,224]", text);
    return VF_OK;
}

/* The type that the model declares for the input; symbols are not allowed. */
static VfStatus declared_type(const VfModel *ir, const char *name, VfDtype *dtype, int32_t *rank,
                              int64_t *dims, VfErr *err)
{
    const VfValue *input = vf_graph_find_value(ir->graph, vf_bytes(name), false);
    const VfType *type = input == NULL ? NULL : &input->type;
    if (type == NULL || !vf_type_is_static(type) || type->rank > VF_ARRAY_MAX_RANK)
        return vf_fail(err, VF_USAGE,
                       "raw data for input '%s' needs a type: NAME=FILE:f32[1,3,224,224]", name);
    *dtype = type->dtype;
    *rank = type->rank;
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = type->dims[i].k;
    return VF_OK;
}

static VfStatus read_raw(VitfoldData *data, const VfModel *ir, const char *name,
                         const VfMapping *file, const char *type, VfArray *array, VfErr *err)
{
    VfDtype dtype = VF_UNDEFINED;
    int32_t rank = 0;
    int64_t dims[VF_ARRAY_MAX_RANK];
    if (type != NULL)
        VF_TRY(parse_type(type, &dtype, &rank, dims, err));
    else
        VF_TRY(declared_type(ir, name, &dtype, &rank, dims, err));
    VF_TRY(vf_array_init(array, data->arena, dtype, rank, dims, file->data, err));
    if (array->bytes == file->size)
        return VF_OK;
    return vf_fail(err, VF_INVALID, "%zu bytes where %s needs %zu", file->size,
                   vf_array_text(data->arena, array), array->bytes);
}

/* The message is that of the type of the input or output. */
static VfStatus read_message(VitfoldData *data, const VfValue *input, const char *name,
                             const char *path, const VfMapping *file, VfErr *err)
{
    VfTensor tensor;
    VfFileValue value = {.kind = VF_FILE_TENSOR, .tensor = &tensor};
    if (input != NULL && input->type.kind != VF_TYPE_TENSOR) {
        VfRaw raw = input->raw_info;
        bool is_optional = vf_onnx_is_optional(&input->type, raw.data, raw.size);
        VF_TRY(vf_onnx_read_value(data->arena, file->data, file->size, path, is_optional, &value,
                                  err));
        return vf_data_put_value(data, vf_bytes(name), &value, err);
    }
    VF_TRY(vf_onnx_read_tensor(data->arena, file->data, file->size, path, &tensor, err));
    if (tensor.dtype == VF_STRING)
        return vf_data_put_value(data, vf_bytes(name), &value, err);
    VfArray array;
    VF_TRY(vf_array_init(&array, data->arena, tensor.dtype, tensor.rank, tensor.dims, tensor.data,
                         err));
    return vf_data_copy(data, vf_bytes(name), &array, err);
}

static VfStatus read_mapped(VitfoldData *data, const VfModel *ir, const VfValue *input,
                            const char *name, const char *path, const char *type,
                            const VfMapping *file, VfErr *err)
{
    VfArray array;
    if (ends_in(path, ".pb"))
        return read_message(data, input, name, path, file, err);
    if (input != NULL && input->type.kind != VF_TYPE_TENSOR)
        return vf_fail(err, VF_UNSUPPORTED, "input '%s' is no tensor but %s: it needs a .pb file",
                       vf_value_label(input), vf_type_text(ir->arena, ir->symbols, &input->type));
    if (ends_in(path, ".npy"))
        VF_TRY(vf_npy_read(data->arena, file->data, file->size, path, &array, err));
    else if (read_raw(data, ir, name, file, type, &array, err) != VF_OK)
        return vf_context(err, "cannot read '%s'", path);
    return vf_data_copy(data, vf_bytes(name), &array, err);
}

/* `value` of the model is called so, or is NULL. */
static VfStatus add_file(VitfoldData *data, const VfModel *ir, const VfValue *value, VfBytes name,
                         const char *path, const char *type, VfErr *err)
{
    VfMapping file;
    VF_TRY(vf_file_map(path, &file, err));
    const char *copy = vf_arena_copy(data->arena, name.data, name.size);
    VfStatus status = copy == NULL ? vf_no_memory(err)
                                   : read_mapped(data, ir, value, copy, path, type, &file, err);
    vf_file_unmap(&file);
    return status;
}

int vitfold_data_add_file(VitfoldData *data, const VitfoldModel *model, const char *name,
                          const char *path, const char *type, VitfoldError *err)
{
    const VfValue *value = vf_graph_find_value(model->ir->graph, vf_bytes(name), false);
    return (int)add_file(data, model->ir, value, vf_bytes(name), path, type, err);
}

/* Add FOLDER/PREFIX_i.pb if it is there; `*is_there` says so. */
static VfStatus add_numbered(VitfoldData *data, const VfModel *ir, const VfValue *value,
                             VfBytes name, const char *folder, const char *prefix, size_t i,
                             bool *is_there, VfErr *err)
{
    char *path = vf_arena_printf(data->arena, "%s/%s_%zu.pb", folder, prefix, i);
    VF_TRY_ALLOC(path, err);
    *is_there = vf_file_exists(path);
    return *is_there ? add_file(data, ir, value, name, path, NULL, err) : VF_OK;
}

/* The value that has the name of an output: as a rule the output itself. */
static const VfValue *named_as_output(const VfGraph *graph, int32_t index)
{
    const VfValue *value = vf_node_in(graph->ret, index);
    VfBytes name = graph->output_name[index];
    return value != NULL && vf_bytes_is_equal(value->name, name)
               ? value
               : vf_graph_find_value(graph, name, false);
}

static VfStatus add_folder(VitfoldData *data, VitfoldData *expected, const VfModel *ir,
                           const char *folder, VfErr *err)
{
    const VfGraph *graph = ir->graph;
    bool is_there = true;
    size_t n = 0;
    for (int32_t i = 0; i < graph->n_input; i++) {
        const VfValue *input = graph->input[i];
        if (!vf_is_required_input(input))
            continue;
        VF_TRY(add_numbered(data, ir, input, input->name, folder, "input", n, &is_there, err));
        if (!is_there)
            return vf_fail(err, VF_IO, "no file 'input_%zu.pb' in '%s'", n, folder);
        n++;
    }
    for (int32_t i = 0; expected != NULL && i < graph->ret->n_in; i++)
        VF_TRY(add_numbered(expected, ir, named_as_output(graph, i), graph->output_name[i], folder,
                            "output", (size_t)i, &is_there, err));
    return VF_OK;
}

int vitfold_data_add_folder(VitfoldData *data, VitfoldData *expected, const VitfoldModel *model,
                            const char *path, VitfoldError *err)
{
    char *nested;
    if (!vf_file_exists(path))
        return (int)vf_fail(err, VF_IO, "no folder '%s'", path);
    VfStatus status = vf_path_join(data->arena, path, "test_data_set_0", &nested, err);
    if (status == VF_OK)
        status = add_folder(data, expected, model->ir, vf_file_exists(nested) ? nested : path,
                            err);
    return (int)status;
}

static VfStatus save_npz(const VitfoldData *data, const char *path, VfErr *err)
{
    VF_TRY(vf_data_need_arrays(data, "an npz file cannot hold it, .pb files can", err));
    return vf_npz_write(path, data->array, data->n_array, err);
}

int vitfold_data_save_npz(const VitfoldData *data, const char *path, VitfoldError *err)
{
    return (int)save_npz(data, path, err);
}

/* A file name for the array: what cannot stand in one becomes '_'; then two names may meet, and
 * the later one gets its number. */
static VfStatus file_name_of(const VitfoldData *data, size_t i, VfArena *arena, VfIntern *taken,
                             char **file, VfErr *err)
{
    VfBytes name = data->array[i].name;
    char *stem = vf_arena_copy(arena, name.data, name.size);
    int32_t n_taken = vf_intern_count(taken), id;
    VF_TRY_ALLOC(stem, err);
    for (size_t k = 0; k < name.size; k++) {
        unsigned char c = (unsigned char)stem[k];
        if (c <= ' ' || c == '/' || c == '\\' || c == ':' || c >= 0x7F)
            stem[k] = '_';
    }
    VF_TRY(vf_intern_add(taken, (VfBytes){stem, name.size}, &id, err));
    bool is_bad = name.size == 0 || stem[0] == '.' || name.size > 200 || id < n_taken;
    *file = is_bad ? vf_arena_printf(arena, "%.200s_%zu.npy", stem, i)
                   : vf_arena_printf(arena, "%s.npy", stem);
    return VF_OK;
}

static VfStatus save_one(const VitfoldData *data, size_t i, int format, const char *path,
                         VfErr *err)
{
    const VfArray *array = &data->array[i].array;
    const VfFileValue *value = vf_data_value(data, i);
    if (value != NULL)
        return vf_onnx_write_value(path, data->array[i].name, value, err);
    if (format == VITFOLD_FORMAT_NPY)
        return vf_npy_write(path, array, err);
    VfTensor tensor = {array->dtype, array->rank, array->dims, array->count, array->bytes,
                       array->data, VF_STORAGE_LENT};
    return vf_onnx_write_tensor(path, data->array[i].name, &tensor, err);
}

/* Write all files. When one fails, those that are new are taken back; one that had a name before
 * is whole, the old or the new. */
static VfStatus save_folder(const VitfoldData *data, const char *folder, int format,
                            VfArena *arena, VfErr *err)
{
    size_t n = data->n_array;
    char **path = VF_NEW_ARRAY(arena, char *, n), *name = NULL;
    VfIntern *taken = vf_intern_new(arena);
    bool *is_new = VF_NEW_ARRAY(arena, bool, n);
    VF_TRY_ALLOC(path, err);
    VF_TRY_ALLOC(taken, err);
    VF_TRY_ALLOC(is_new, err);
    if (format == VITFOLD_FORMAT_NPY)
        VF_TRY(vf_data_need_arrays(data, "an npy file cannot hold it, .pb files can", err));
    for (size_t i = 0; i < n; i++) {
        if (format == VITFOLD_FORMAT_PB)
            name = vf_arena_printf(arena, "output_%zu.pb", i);
        else
            VF_TRY(file_name_of(data, i, arena, taken, &name, err));
        VF_TRY_ALLOC(name, err);
        VF_TRY(vf_path_join(arena, folder, name, &path[i], err));
    }
    for (size_t i = 0; i < n; i++) {
        is_new[i] = !vf_file_exists(path[i]);
        VfStatus status = save_one(data, i, format, path[i], err);
        for (size_t k = 0; k < i && status != VF_OK; k++)
            if (is_new[k])
                unlink(path[k]);
        VF_TRY(status);
    }
    return VF_OK;
}

int vitfold_data_save_folder(const VitfoldData *data, const char *path, int format,
                             VitfoldError *err)
{
    VfArena *arena = vf_arena_new();
    if (arena == NULL)
        return (int)vf_no_memory(err);
    bool is_new = !vf_file_exists(path);
    VfStatus status = vf_folder_make(path, err);
    char *file;
    if (status == VF_OK && format == VITFOLD_FORMAT_NPZ) {
        status = vf_path_join(arena, path, "outputs.npz", &file, err);
        if (status == VF_OK)
            status = save_npz(data, file, err);
    } else if (status == VF_OK) {
        status = save_folder(data, path, format, arena, err);
    }
    if (status != VF_OK && is_new)
        rmdir(path);
    vf_arena_free(arena);
    return (int)status;
}
