#include "converter/onnx/tensor_file.h"

#include "converter/onnx/reader.h"
#include "converter/onnx/writer.h"

/* Such files do not say which message they hold. Field 3 with a length is a list of tensors in
 * a SequenceProto, a value in an OptionalProto, and nothing that is in use in a TensorProto. */
static bool is_sequence(const unsigned char *data, size_t size)
{
    VfWire wire = {data, 0, size};
    VfWireField field;
    while (wire.at < wire.end && vf_wire_field(&wire, &field) == VF_WIRE_OK) {
        if (field.number == 3 && field.type == VF_WIRE_LEN)
            return true;
    }
    return false;
}

static VfStatus read_bytes(VfReader *reader, const void *data, size_t size, VfTensor *tensor,
                           VfErr *err)
{
    ProtobufCMessage *message;
    const VfTensor *read;
    if (is_sequence(data, size))
        return vf_fail(err, VF_UNSUPPORTED, "it holds a sequence or an optional");
    VF_TRY(vf_scan_unpack(&reader->scan, reader->scratch, data, size,
                          &onnx__tensor_proto__descriptor, &message, err));
    const Onnx__TensorProto *proto = (const Onnx__TensorProto *)message;
    VF_TRY(vf_read_tensor(reader, proto, vf_reader_show(reader, proto->name), &read));
    *tensor = *read;
    return VF_OK;
}

VfStatus vf_onnx_read_tensor(VfArena *arena, const void *data, size_t size, const char *name,
                             VfTensor *tensor, VfErr *err)
{
    VfArena *scratch = vf_arena_new();
    VfReader reader = {.arena = arena, .scratch = scratch, .storage = VF_STORAGE_LENT,
                       .err = err};
    VfStatus status =
        scratch == NULL ? vf_no_memory(err) : read_bytes(&reader, data, size, tensor, err);
    vf_arena_free(scratch);
    if (status != VF_OK)
        vf_context(err, "cannot read '%s'", name);
    return status;
}

static VfStatus write_bytes(VfArena *arena, const char *path, VfBytes name,
                            const VfTensor *tensor, VfErr *err)
{
    VfOutFile *out;
    VfWriter writer = {.arena = arena};
    vf_emit_init(&writer.emit, arena);
    vf_write_tensor_fields(&writer, tensor, name, (VfRaw){NULL, 0});
    VF_TRY(vf_out_open(path, &out, err));
    VfStatus status = vf_emit_write(&writer.emit, out, err);
    if (status == VF_OK)
        return vf_out_commit(out, err);
    vf_out_abandon(out);
    return status;
}

VfStatus vf_onnx_write_tensor(const char *path, VfBytes name, const VfTensor *tensor, VfErr *err)
{
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    VfStatus status = write_bytes(arena, path, name, tensor, err);
    vf_arena_free(arena);
    return status;
}
