/* Tensor data that a file keeps as protobuf numbers: float_data, int32_data and so on. */
#include <string.h>

#include "converter/onnx/reader.h"

/* Numbers of the data fields of TensorProto. */
enum {
    FLOAT_DATA = 4,
    INT32_DATA = 5,
    STRING_DATA = 6,
    INT64_DATA = 7,
    DOUBLE_DATA = 10,
    UINT64_DATA = 11
};

/* How a dtype is kept in fields. */
typedef struct Form {
    uint32_t field;
    uint8_t out_bytes;  /* bytes of the tensor that one number of the field fills */
} Form;

static const Form form[VF_DTYPE_COUNT] = {
    [VF_F32] = {FLOAT_DATA, 4},      [VF_C64] = {FLOAT_DATA, 4},
    [VF_F64] = {DOUBLE_DATA, 8},     [VF_C128] = {DOUBLE_DATA, 8},
    [VF_I64] = {INT64_DATA, 8},      [VF_U64] = {UINT64_DATA, 8},
    [VF_U32] = {UINT64_DATA, 4},     [VF_I32] = {INT32_DATA, 4},
    [VF_I16] = {INT32_DATA, 2},      [VF_U16] = {INT32_DATA, 2},
    [VF_I8] = {INT32_DATA, 1},       [VF_U8] = {INT32_DATA, 1},
    [VF_BOOL] = {INT32_DATA, 1},     [VF_F16] = {INT32_DATA, 2},
    [VF_BF16] = {INT32_DATA, 2},     [VF_F8E4M3FN] = {INT32_DATA, 1},
    [VF_F8E4M3FNUZ] = {INT32_DATA, 1}, [VF_F8E5M2] = {INT32_DATA, 1},
    [VF_F8E5M2FNUZ] = {INT32_DATA, 1}, [VF_F8E8M0] = {INT32_DATA, 1},
    [VF_U4] = {INT32_DATA, 1},       [VF_I4] = {INT32_DATA, 1},
    [VF_F4E2M1] = {INT32_DATA, 1},   [VF_U2] = {INT32_DATA, 1},
    [VF_I2] = {INT32_DATA, 1},       [VF_STRING] = {STRING_DATA, 0},
};

/* Where decoded numbers go. */
typedef struct Sink {
    VfReader *reader;
    const char *owner;
    const VfTensor *tensor;
    size_t bytes;   /* of each number */
    size_t n, want; /* numbers so far and in all */
    unsigned char *out;
    VfBytes *string;
} Sink;

static VfStatus fail_count(Sink *sink)
{
    return vf_reader_fault(sink->reader, VF_INVALID,
                           "tensor '%s': its data does not have %zu numbers as its shape says",
                           sink->owner, sink->want);
}

/* int32_data holds narrow types sign- or zero-extended. */
static bool fits(const Sink *sink, uint64_t value)
{
    int64_t number = (int64_t)value;
    unsigned bits = (unsigned)(8 * sink->bytes);
    if (sink->tensor->dtype == VF_U32)
        return value <= UINT32_MAX;
    return bits == 64 || (number >= -((int64_t)1 << (bits - 1)) && number < (int64_t)1 << bits);
}

static VfStatus put(Sink *sink, uint64_t value, bool *is_full)
{
    *is_full = sink->n == sink->want;
    if (*is_full)
        return fail_count(sink);
    if (!fits(sink, value)) {
        *is_full = true;
        return vf_reader_fault(sink->reader, VF_INVALID,
                               "tensor '%s': the number at %zu is out of range for %s",
                               sink->owner, sink->n, vf_dtype_info(sink->tensor->dtype)->name);
    }
    if (sink->tensor->dtype == VF_BOOL)
        value = value != 0;
    for (size_t i = 0; i < sink->bytes; i++)
        sink->out[sink->n * sink->bytes + i] = (unsigned char)(value >> (8 * i));
    sink->n++;
    return VF_OK;
}

/* One number of wire type `wire` at the position of `from`. The scan has checked the bytes. */
static uint64_t next_number(VfWire *from, VfWireType wire)
{
    uint64_t value = 0;
    if (wire == VF_WIRE_VARINT) {
        vf_wire_varint(from, &value);
        return value;
    }
    size_t bytes = wire == VF_WIRE_I32 ? 4 : 8;
    value = bytes == 4 ? vf_wire_u32(from->data + from->at) : vf_wire_u64(from->data + from->at);
    from->at += bytes;
    return value;
}

/* Fields with their tags, one after the other: numbers, or strings. */
static VfStatus take_run(Sink *sink, VfWire from, bool *is_full)
{
    while (from.at < from.end && !*is_full) {
        VfWireField field;
        vf_wire_field(&from, &field);
        if (field.type != VF_WIRE_LEN) {
            VF_TRY(put(sink, field.value, is_full));
        } else if (sink->n == sink->want) {
            *is_full = true;
            return fail_count(sink);
        } else {
            const char *text = (const char *)from.data + field.payload;
            sink->string[sink->n++] = (VfBytes){text, (size_t)field.value};
        }
    }
    return VF_OK;
}

static VfStatus take_packed(Sink *sink, VfWire from, VfWireType wire, bool *is_full)
{
    while (from.at < from.end && !*is_full)
        VF_TRY(put(sink, next_number(&from, wire), is_full));
    return VF_OK;
}

/* The wire type of the numbers of a data field. */
static VfWireType number_wire(uint32_t field)
{
    if (field == FLOAT_DATA)
        return VF_WIRE_I32;
    return field == DOUBLE_DATA ? VF_WIRE_I64 : VF_WIRE_VARINT;
}

static VfStatus take_all(Sink *sink, const VfPiece *piece)
{
    const VfScan *scan = &sink->reader->scan;
    bool is_full = false;
    for (; piece != NULL && !is_full; piece = vf_scan_next(scan, piece)) {
        VfWire from = {scan->data, piece->begin, piece->end};
        if (piece->kind != VF_PIECE_DATA)
            continue;
        if (piece->is_run)
            VF_TRY(take_run(sink, from, &is_full));
        else
            VF_TRY(take_packed(sink, from, number_wire(piece->field), &is_full));
    }
    return is_full || sink->n == sink->want ? VF_OK : fail_count(sink);
}

/* Packed floats lie in the file as they lie in memory: the only piece of data is the tensor. */
static bool is_ready(const VfReader *reader, const VfPiece *first, const VfTensor *tensor,
                     const VfPiece **found)
{
    size_t n = 0;
    for (const VfPiece *piece = first; piece != NULL; piece = vf_scan_next(&reader->scan, piece)) {
        if (piece->kind != VF_PIECE_DATA)
            continue;
        *found = piece;
        n++;
    }
    return n == 1 && !(*found)->is_run && number_wire((*found)->field) != VF_WIRE_VARINT &&
           (*found)->end - (*found)->begin == tensor->bytes;
}

static VfStatus check_fields(VfReader *reader, const VfPiece *piece, const char *owner,
                             const VfTensor *tensor, bool *is_good)
{
    *is_good = true;
    for (; piece != NULL; piece = vf_scan_next(&reader->scan, piece)) {
        if (piece->kind != VF_PIECE_DATA || piece->field == form[tensor->dtype].field)
            continue;
        *is_good = false;
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': data of %s in a field for "
                               "another type", owner, vf_dtype_info(tensor->dtype)->name);
    }
    return VF_OK;
}

VfStatus vf_read_typed_data(VfReader *reader, const Onnx__TensorProto *proto, const char *owner,
                            VfTensor *tensor)
{
    const VfPiece *first = vf_scan_first(&reader->scan, &proto->base), *only = NULL;
    bool is_good;
    VF_TRY(check_fields(reader, first, owner, tensor, &is_good));
    if (!is_good)
        return VF_OK;
    if (is_ready(reader, first, tensor, &only)) {
        tensor->data = reader->scan.data + only->begin;
        tensor->storage = reader->storage;
        return VF_OK;
    }
    bool is_text = tensor->dtype == VF_STRING;
    Sink sink = {.reader = reader, .owner = owner, .tensor = tensor,
                 .bytes = form[tensor->dtype].out_bytes};
    sink.want = is_text ? tensor->count : tensor->bytes / sink.bytes;
    /* A number takes a byte of the file at least, so a claim of more is a lie not worth memory. */
    if (sink.want > reader->scan.size)
        return fail_count(&sink);
    void *data = is_text ? vf_arena_array(reader->arena, tensor->count, sizeof(VfBytes))
                         : vf_arena_alloc(reader->arena, tensor->bytes);
    VF_TRY_ALLOC(data, reader->err);
    sink.out = data;
    sink.string = data;
    tensor->data = data;
    tensor->storage = VF_STORAGE_ARENA;
    return take_all(&sink, first);
}
