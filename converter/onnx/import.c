#include "converter/onnx/import.h"

#include <string.h>

#include "converter/onnx/reader.h"
#include "passes/ir/infer.h"

enum { MAX_DEPTH = 1000 }; /* of messages: so many recursion can follow */

/* The bytes to read and what is known of them. */
typedef struct Source {
    const unsigned char *data;
    size_t size;
    VfStorage storage;
    const char *folder; /* or NULL */
    VfMappedFiles *files;
} Source;

static VfStatus read_source(VfReader *reader, const Source *source, VfErr *err)
{
    ProtobufCMessage *message;
    VfErr fault;
    VfStatus status = vf_scan_unpack(&reader->scan, reader->scratch, source->data, source->size,
                                     &onnx__model_proto__descriptor, &message, &fault);
    if (status == VF_INVALID)
        return vf_reader_fault(reader, VF_INVALID, "not an ONNX model, or damaged: %s",
                               fault.text);
    if (status != VF_OK)
        return vf_fail(err, status, "%s", fault.text);
    return vf_read_model(reader, (const Onnx__ModelProto *)message);
}

/* A new model from `source`, which owns nothing then. */
static VfStatus build(const Source *source, const VfImportOptions *options, VfArena *scratch,
                      VfReader *reader, VfErr *err)
{
    VfImportOptions chosen = options == NULL ? (VfImportOptions){0} : *options;
    reader->model = vf_model_new();
    if (reader->model == NULL) {
        vf_mapped_files_free(source->files);
        return vf_no_memory(err);
    }
    reader->model->mapping = source->files;
    reader->model->release_mapping = vf_mapped_files_free;
    reader->arena = reader->model->arena;
    reader->scratch = scratch;
    reader->scan.limit.depth = chosen.max_depth < MAX_DEPTH ? chosen.max_depth : MAX_DEPTH;
    reader->scan.limit.fields = chosen.max_fields;
    reader->storage = source->storage;
    reader->files = source->files;
    reader->folder = source->folder;
    reader->linked_root = chosen.linked_data_root;
    reader->err = err;
    vf_scope_init_model(&reader->scope, scratch, reader->model);
    return read_source(reader, source, err);
}

static VfStatus import(const Source *source, const char *name, const VfImportOptions *options,
                       VfModel **model, VfErr *err)
{
    VfReader reader = {0};
    VfArena *scratch = vf_arena_new();
    if (scratch == NULL) {
        vf_mapped_files_free(source->files);
        return vf_no_memory(err);
    }
    VfStatus status = build(source, options, scratch, &reader, err);
    vf_arena_free(scratch);
    if (status != VF_OK) {
        vf_model_free(reader.model);
        vf_context(err, "cannot read '%s'", name);
        return status;
    }
    *model = reader.model;
    return VF_OK;
}

/* Map the file; its folder is a copy in `arena`. */
static VfStatus open_source(VfArena *arena, const char *path, Source *source, VfErr *err)
{
    const char *name;
    char *folder;
    const VfMapping *mapping;
    VF_TRY(vf_path_split(arena, path, &folder, &name, err));
    VfMappedFiles *files = vf_mapped_files_new();
    VF_TRY_ALLOC(files, err);
    VfStatus status = vf_mapped_files_add(files, path, &mapping, err);
    if (status != VF_OK) {
        vf_mapped_files_free(files);
        return status;
    }
    *source = (Source){mapping->data, mapping->size, VF_STORAGE_FILE, folder, files};
    return VF_OK;
}

VfStatus vf_onnx_import(const char *path, const VfImportOptions *options, VfModel **model,
                        VfErr *err)
{
    Source source;
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    VfStatus status = open_source(arena, path, &source, err);
    if (status == VF_OK)
        status = import(&source, path, options, model, err);
    vf_arena_free(arena);
    return status;
}

VfStatus vf_onnx_import_memory(const void *data, size_t size, const char *name,
                               const char *folder, const VfImportOptions *options,
                               VfModel **model, VfErr *err)
{
    VfMappedFiles *files = vf_mapped_files_new();
    VF_TRY_ALLOC(files, err);
    Source source = {data, size, VF_STORAGE_LENT, folder, files};
    return import(&source, name, options, model, err);
}

static VfStatus add_faults(VfReader *reader, const VfFaults *more)
{
    for (int32_t i = 0; i < more->n; i++)
        VF_TRY(vf_reader_fault(reader, VF_INVALID, "%s", more->text[i]));
    return VF_OK;
}

/* Faults of what was read: operators, attributes and shapes, also behind faults of reading; names,
 * order and uses where reading found none. */
static VfStatus check_model(VfArena *scratch, VfReader *reader, VfErr *err)
{
    VfFaults more;
    VfModel *model = reader->model;
    if (reader->faults->n == reader->n_remark)
        VF_TRY(vf_verify(scratch, model, &more, err));
    else
        VF_TRY(vf_verify_nodes(scratch, model, &more, err));
    VF_TRY(add_faults(reader, &more));
    VF_TRY(vf_verify_standard(scratch, model, &more, err));
    VF_TRY(add_faults(reader, &more));
    VF_TRY(vf_infer_check(model->graph, scratch, &more, err));
    return add_faults(reader, &more);
}

/* Read with faults collected. */
static VfStatus check_source(VfArena *arena, VfArena *scratch, const Source *source,
                             const VfImportOptions *options, VfFaults *faults, VfErr *err)
{
    VfReader reader = {.faults = faults, .fault_arena = arena};
    VfStatus status = build(source, options, scratch, &reader, err);
    if (status == VF_OK)
        status = check_model(scratch, &reader, err);
    /* Reading stopped at the largest number of faults that are kept: that is an answer. */
    if (status == VF_INVALID && faults->n > 0)
        status = VF_OK;
    vf_model_free(reader.model);
    return status;
}

VfStatus vf_onnx_check(VfArena *arena, const char *path, const VfImportOptions *options,
                       VfFaults *faults, VfErr *err)
{
    Source source;
    *faults = (VfFaults){0};
    VfArena *scratch = vf_arena_new();
    VF_TRY_ALLOC(scratch, err);
    VfStatus status = open_source(scratch, path, &source, err);
    if (status == VF_OK) {
        status = check_source(arena, scratch, &source, options, faults, err);
        if (status != VF_OK)
            vf_context(err, "cannot read '%s'", path);
    }
    vf_arena_free(scratch);
    return status;
}
