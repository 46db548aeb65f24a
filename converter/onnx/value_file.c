#include "converter/onnx/value_file.h"

#include "converter/onnx/tensor_file.h"
#include "converter/onnx/wire.h"
#include "converter/onnx/writer.h"

enum { MAX_DEPTH = 16 }; /* messages inside each other; no model has more than three */

/* Numbers of fields; those of both messages agree but for the last. */
enum {
    NAME = 1,
    ELEM_TYPE = 2,
    TENSOR = 3,
    SPARSE_TENSOR = 4,
    SEQUENCE = 5,
    MAP = 6,
    OPTIONAL_IN_SEQUENCE = 7
};

enum { TYPE_OPTIONAL = 9, VALUE_INFO_TYPE = 2 }; /* of TypeProto and ValueInfoProto */

bool vf_onnx_is_optional(const VfType *type, const void *raw, size_t raw_size)
{
    VfWire info = {raw, 0, raw_size};
    VfWireField field, inner;
    if (type->kind != VF_TYPE_OTHER)
        return type->kind == VF_TYPE_OPTIONAL;
    while (info.at < info.end && vf_wire_field(&info, &field) == VF_WIRE_OK) {
        if (field.number != VALUE_INFO_TYPE || field.type != VF_WIRE_LEN)
            continue;
        VfWire content = {raw, field.payload, field.end};
        while (content.at < content.end && vf_wire_field(&content, &inner) == VF_WIRE_OK)
            if (inner.number == TYPE_OPTIONAL)
                return true;
    }
    return false;
}

/* A run of bytes being read as a message of one of the two kinds. */
typedef struct Source {
    VfArena *arena;
    const unsigned char *data;
    size_t begin, end;
    const char *name; /* of the file */
    int depth;
} Source;

static VfStatus read_message(const Source *from, bool is_optional, VfFileValue *value, VfErr *err);

static VfStatus read_field(const Source *from, const VfWireField *field, VfFileValue *value,
                           VfErr *err)
{
    Source inner = *from;
    VfTensor *tensor;
    inner.begin = field->payload;
    inner.end = field->end;
    inner.depth++;
    switch (field->number) {
    case TENSOR:
        tensor = VF_NEW(from->arena, VfTensor);
        VF_TRY_ALLOC(tensor, err);
        *value = (VfFileValue){.kind = VF_FILE_TENSOR, .tensor = tensor};
        return vf_onnx_read_tensor(from->arena, from->data + inner.begin, inner.end - inner.begin,
                                   from->name, tensor, err);
    case SEQUENCE:
        return read_message(&inner, false, value, err);
    case OPTIONAL_IN_SEQUENCE:
        return read_message(&inner, true, value, err);
    default:
        return vf_fail(err, VF_UNSUPPORTED, "'%s' holds a sparse tensor or a map", from->name);
    }
}

/* The next field that is an element; *is_there is false at the end. */
static VfStatus next_element(const Source *from, VfWire *wire, VfWireField *field, bool *is_there,
                             VfErr *err)
{
    *is_there = false;
    while (wire->at < wire->end && !*is_there) {
        VfWireFault fault = vf_wire_field(wire, field);
        if (fault != VF_WIRE_OK)
            return vf_fail(err, VF_INVALID, "cannot read '%s': a field at byte %zu %s", from->name,
                           wire->at, vf_wire_fault_text(fault));
        *is_there = field->number >= TENSOR && field->number <= OPTIONAL_IN_SEQUENCE &&
                    field->type == VF_WIRE_LEN;
    }
    return VF_OK;
}

static VfStatus count_elements(const Source *from, size_t *n, VfErr *err)
{
    VfWire wire = {from->data, from->begin, from->end};
    VfWireField field;
    bool is_there = true;
    for (*n = 0; is_there; *n += is_there)
        VF_TRY(next_element(from, &wire, &field, &is_there, err));
    return VF_OK;
}

static VfStatus read_message(const Source *from, bool is_optional, VfFileValue *value, VfErr *err)
{
    VfWire wire = {from->data, from->begin, from->end};
    VfWireField field;
    size_t n;
    bool is_there;
    if (from->depth > MAX_DEPTH)
        return vf_fail(err, VF_UNSUPPORTED, "'%s': values inside each other %d deep", from->name,
                       from->depth);
    VF_TRY(count_elements(from, &n, err));
    if (is_optional && n > 1)
        return vf_fail(err, VF_INVALID, "'%s': an optional of %zu values", from->name, n);
    VfFileValue *item = VF_NEW_ARRAY(from->arena, VfFileValue, n);
    VF_TRY_ALLOC(item, err);
    for (size_t i = 0; i < n; i++) {
        VF_TRY(next_element(from, &wire, &field, &is_there, err));
        VF_TRY(read_field(from, &field, &item[i], err));
    }
    *value = (VfFileValue){.kind = VF_FILE_SEQUENCE, .n_item = n, .item = item};
    if (is_optional) {
        *value = n > 0 ? item[0] : (VfFileValue){.kind = VF_FILE_NONE};
        value->is_optional = true;
    }
    return VF_OK;
}

VfStatus vf_onnx_read_value(VfArena *arena, const void *data, size_t size, const char *name,
                            bool is_optional, VfFileValue *value, VfErr *err)
{
    Source from = {arena, data, 0, size, name, 1};
    return read_message(&from, is_optional, value, err);
}

/* --- writing --- */

/* SequenceProto.DataType and OptionalProto.DataType. */
static int64_t elem_type(const VfFileValue *value)
{
    return value->kind == VF_FILE_TENSOR ? 1 : value->kind == VF_FILE_SEQUENCE ? 3 : 0;
}

static void write_element(VfWriter *writer, const VfFileValue *value, int depth);

static void write_sequence(VfWriter *writer, const VfFileValue *value, int depth)
{
    int64_t type = value->n_item > 0 ? elem_type(&value->item[0]) : 1;
    vf_emit_int(&writer->emit, ELEM_TYPE, type);
    for (size_t i = 0; i < value->n_item; i++)
        write_element(writer, &value->item[i], depth + 1);
}

static void write_element(VfWriter *writer, const VfFileValue *value, int depth)
{
    if (value->kind == VF_FILE_TENSOR) {
        vf_write_tensor(writer, TENSOR, value->tensor, (VfBytes){"", 0}, (VfRaw){NULL, 0});
    } else if (value->kind == VF_FILE_SEQUENCE && depth <= MAX_DEPTH) {
        VfEmitMark mark = vf_emit_begin(&writer->emit, SEQUENCE);
        write_sequence(writer, value, depth);
        vf_emit_end(&writer->emit, mark);
    }
}

static VfStatus write_bytes(VfArena *arena, const char *path, VfBytes name,
                            const VfFileValue *value, VfErr *err)
{
    VfOutFile *out;
    VfWriter writer = {.arena = arena};
    vf_emit_init(&writer.emit, arena);
    vf_emit_some_bytes(&writer.emit, NAME, name);
    if (value->is_optional) {
        vf_emit_int(&writer.emit, ELEM_TYPE, elem_type(value));
        write_element(&writer, value, 1);
    } else {
        write_sequence(&writer, value, 1);
    }
    VF_TRY(vf_out_open(path, &out, err));
    VfStatus status = vf_emit_write(&writer.emit, out, err);
    if (status == VF_OK)
        return vf_out_commit(out, err);
    vf_out_abandon(out);
    return status;
}

VfStatus vf_onnx_write_value(const char *path, VfBytes name, const VfFileValue *value, VfErr *err)
{
    if (!value->is_optional && value->kind == VF_FILE_TENSOR)
        return vf_onnx_write_tensor(path, name, value->tensor, err);
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    VfStatus status = write_bytes(arena, path, name, value, err);
    vf_arena_free(arena);
    return status;
}
