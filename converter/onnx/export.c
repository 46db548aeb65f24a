#include "converter/onnx/export.h"

#include <string.h>
#include <unistd.h>

#include "converter/onnx/writer.h"
#include "runtime/base/file.h"

enum {
    /* protobuf refuses messages of 2 GiB; readers may add a little of their own. */
    LARGEST_MESSAGE = INT32_MAX - (1 << 20),
    EXTERNAL_ALIGN = 4096
};

static VfStatus make_message(VfWriter *writer, const VfModel *model, VfArena *arena,
                             const char *data_name, VfErr *err)
{
    *writer = (VfWriter){.model = model, .arena = arena, .data_name = data_name};
    vf_emit_init(&writer->emit, arena);
    VF_TRY(vf_write_names(writer, err));
    vf_write_model(writer);
    return writer->emit.failed ? vf_no_memory(err) : VF_OK;
}

/* The message, with data outside if it is asked for or has to be. */
static VfStatus plan_message(VfWriter *writer, const VfModel *model, VfArena *arena,
                             const char *path, VfExternalData wish, VfErr *err)
{
    const char *name;
    char *folder;
    VF_TRY(vf_path_split(arena, path, &folder, &name, err));
    const char *data_name = vf_arena_printf(arena, "%s.data", name);
    VF_TRY_ALLOC(data_name, err);
    VF_TRY(make_message(writer, model, arena, wish == VF_EXTERNAL_ALWAYS ? data_name : NULL, err));
    if (writer->emit.total <= LARGEST_MESSAGE)
        return VF_OK;
    if (wish == VF_EXTERNAL_AUTO)
        VF_TRY(make_message(writer, model, arena, data_name, err));
    if (writer->emit.total > LARGEST_MESSAGE)
        return vf_fail(err, VF_UNSUPPORTED, "the model takes %zu bytes in one file; the format "
                       "allows 2 GB", writer->emit.total);
    return VF_OK;
}

static VfStatus write_data(const VfWriter *writer, VfOutFile *out, VfErr *err)
{
    for (size_t i = 0; i < writer->n_external; i++) {
        const VfTensor *tensor = writer->external[i].tensor;
        VF_TRY(vf_out_pad(out, EXTERNAL_ALIGN, err));
        if (vf_out_position(out) != writer->external[i].offset)
            return vf_fail(err, VF_INTERNAL, "external data is at byte %llu, not %llu",
                           (unsigned long long)vf_out_position(out),
                           (unsigned long long)writer->external[i].offset);
        VF_TRY(vf_out_write(out, tensor->data, tensor->bytes, err));
    }
    return vf_out_finish(out, err);
}

static VfStatus write_model_file(const VfWriter *writer, VfOutFile *out, VfErr *err)
{
    VF_TRY(vf_emit_write(&writer->emit, out, err));
    return vf_out_finish(out, err);
}

struct VfPrepared {
    VfArena *arena;
    VfOutFile *out, *data; /* data: NULL when there is no external data */
    const char *data_path;
};

/* Give both files their names, the data first: a model whose data is missing is never seen. */
static VfStatus commit_both(const VfPrepared *files, VfErr *err)
{
    bool was_there = files->data != NULL && vf_file_exists(files->data_path);
    VfStatus status = files->data == NULL ? VF_OK : vf_out_commit(files->data, err);
    if (status != VF_OK) {
        vf_out_abandon(files->out);
        return status;
    }
    status = vf_out_commit(files->out, err);
    if (status != VF_OK && files->data != NULL && !was_there)
        unlink(files->data_path);
    return status;
}

static VfStatus write_files(VfPrepared *files, const VfWriter *writer, const char *path, VfErr *err)
{
    files->data_path = vf_arena_printf(files->arena, "%s.data", path);
    VF_TRY_ALLOC(files->data_path, err);
    VF_TRY(vf_out_open(path, &files->out, err));
    if (writer->n_external > 0) {
        VF_TRY(vf_out_open(files->data_path, &files->data, err));
        VF_TRY(write_data(writer, files->data, err));
    }
    return write_model_file(writer, files->out, err);
}

VfStatus vf_prepared_commit(VfPrepared *prepared, VfErr *err)
{
    VfStatus status = commit_both(prepared, err);
    vf_arena_free(prepared->arena);
    return status;
}

void vf_prepared_abandon(VfPrepared *prepared)
{
    if (prepared == NULL)
        return;
    vf_out_abandon(prepared->data);
    vf_out_abandon(prepared->out);
    vf_arena_free(prepared->arena);
}

VfStatus vf_onnx_prepare(const VfModel *model, const char *path, const VfExportOptions *options,
                         VfPrepared **prepared, VfErr *err)
{
    VfWriter writer;
    VfArena *arena = vf_arena_new();
    VfPrepared *files = arena == NULL ? NULL : VF_NEW(arena, VfPrepared);
    if (files == NULL) {
        vf_arena_free(arena);
        return vf_no_memory(err);
    }
    files->arena = arena;
    VfExternalData wish = options == NULL ? VF_EXTERNAL_AUTO : options->external_data;
    VfStatus status = plan_message(&writer, model, arena, path, wish, err);
    if (status == VF_OK)
        status = write_files(files, &writer, path, err);
    if (status == VF_OK)
        *prepared = files;
    else
        vf_prepared_abandon(files);
    if (status != VF_OK && status != VF_IO)
        vf_context(err, "cannot write '%s'", path);
    return status;
}

VfStatus vf_onnx_export(const VfModel *model, const char *path, const VfExportOptions *options,
                        VfErr *err)
{
    VfPrepared *prepared;
    VF_TRY(vf_onnx_prepare(model, path, options, &prepared, err));
    return vf_prepared_commit(prepared, err);
}
