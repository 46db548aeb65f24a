#include <string.h>

#include "converter/onnx/reader.h"
#include "runtime/base/size.h"

enum { RAW_DATA = 9, MAX_RANK = 64 };

/* Where a tensor says that its data is. */
typedef struct Place {
    ProtobufCBinaryData location;
    uint64_t offset, length;
    bool has_location, has_offset, has_length;
} Place;

static VfStatus read_header(VfReader *reader, const Onnx__TensorProto *proto, const char *owner,
                            VfTensor *tensor, bool *is_good)
{
    *is_good = false;
    if (proto->data_type <= VF_UNDEFINED || proto->data_type >= VF_DTYPE_COUNT)
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': element type %d is not known",
                               owner, proto->data_type);
    if (proto->n_dims > MAX_RANK)
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': a shape of rank %zu", owner,
                               proto->n_dims);
    tensor->dtype = (VfDtype)proto->data_type;
    tensor->rank = (int32_t)proto->n_dims;
    bool fits = vf_size_count(proto->dims, proto->n_dims, &tensor->count);
    tensor->bytes = vf_dtype_bytes(tensor->dtype, tensor->count);
    if (!fits || tensor->bytes > PTRDIFF_MAX || tensor->count > PTRDIFF_MAX / sizeof(VfBytes))
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': its shape has a negative "
                               "dimension or is too large", owner);
    *is_good = true;
    int64_t *dims = VF_NEW_ARRAY(reader->arena, int64_t, proto->n_dims);
    VF_TRY_ALLOC(dims, reader->err);
    if (proto->n_dims > 0)
        memcpy(dims, proto->dims, proto->n_dims * sizeof *dims);
    tensor->dims = proto->n_dims == 0 ? NULL : dims;
    return VF_OK;
}

/* Digits only; anything else, or too large, is a fault. */
static bool parse_number(ProtobufCBinaryData text, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' ||
            __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text.data[i] - '0'), &value))
            return false;
    }
    *out = value;
    return text.len > 0;
}

static bool is_word(ProtobufCBinaryData bytes, const char *word)
{
    return bytes.len == strlen(word) && memcmp(bytes.data, word, bytes.len) == 0;
}

static VfStatus read_entry(VfReader *reader, const char *owner,
                           const Onnx__StringStringEntryProto *entry, Place *place)
{
    bool is_location = is_word(entry->key, "location");
    bool is_offset = is_word(entry->key, "offset"), is_length = is_word(entry->key, "length");
    if ((is_location && place->has_location) || (is_offset && place->has_offset) ||
        (is_length && place->has_length))
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': external data says '%s' twice",
                               owner, vf_reader_show(reader, entry->key));
    if (is_location) {
        place->location = entry->value;
        place->has_location = true;
    }
    if (is_offset)
        place->has_offset = parse_number(entry->value, &place->offset);
    if (is_length)
        place->has_length = parse_number(entry->value, &place->length);
    if ((is_offset && !place->has_offset) || (is_length && !place->has_length))
        return vf_reader_fault(reader, VF_INVALID,
                               "tensor '%s': '%s' of external data is no number: '%s'", owner,
                               vf_reader_show(reader, entry->key),
                               vf_reader_show(reader, entry->value));
    return VF_OK;
}

/* The file of a place. A refusal is a fault of the model, so that more may be found. */
static VfStatus open_place(VfReader *reader, const char *owner, const Place *place,
                           const VfMapping **mapping)
{
    *mapping = NULL;
    if (!place->has_location)
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': external data without location",
                               owner);
    if (reader->folder == NULL)
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': external data, but the model "
                               "has no folder", owner);
    VfErr err;
    VfStatus status = vf_external_map(reader->files, reader->scratch, reader->folder,
                                      vf_proto_bytes(place->location), reader->linked_root,
                                      mapping, &err);
    if (status == VF_OK)
        return VF_OK;
    *mapping = NULL;
    if (status == VF_NO_MEMORY)
        return vf_no_memory(reader->err);
    return vf_reader_fault(reader, status, "tensor '%s': %s", owner, err.text);
}

static VfStatus read_external(VfReader *reader, const Onnx__TensorProto *proto,
                              const char *owner, VfTensor *tensor)
{
    Place place = {0};
    const VfMapping *mapping;
    for (size_t i = 0; i < proto->n_external_data; i++)
        VF_TRY(read_entry(reader, owner, proto->external_data[i], &place));
    if (tensor->dtype == VF_STRING)
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': strings as external data",
                               owner);
    if (place.has_length && place.length != tensor->bytes)
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': external data of %llu bytes for "
                               "a shape of %zu bytes", owner, (unsigned long long)place.length,
                               tensor->bytes);
    VF_TRY(open_place(reader, owner, &place, &mapping));
    if (mapping == NULL)
        return VF_OK;
    if (place.offset > mapping->size || tensor->bytes > mapping->size - place.offset)
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': external data at byte %llu of "
                               "'%s' needs %zu bytes, the file has %zu", owner,
                               (unsigned long long)place.offset,
                               vf_reader_show(reader, place.location), tensor->bytes,
                               mapping->size);
    tensor->data = mapping->data + place.offset;
    tensor->storage = VF_STORAGE_FILE;
    return VF_OK;
}

static VfStatus read_raw(VfReader *reader, const VfPiece *raw, const char *owner,
                         VfTensor *tensor)
{
    size_t size = raw->end - raw->begin;
    if (tensor->dtype == VF_STRING)
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': strings as raw data", owner);
    if (size != tensor->bytes)
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': raw data of %zu bytes for a "
                               "shape of %zu bytes", owner, size, tensor->bytes);
    tensor->data = reader->scan.data + raw->begin;
    tensor->storage = reader->storage;
    return VF_OK;
}

/* The raw data and the first typed data of a tensor, each NULL if it has none. */
static void find_data(const VfReader *reader, const Onnx__TensorProto *proto,
                      const VfPiece **raw, const VfPiece **typed)
{
    const VfPiece *piece = vf_scan_first(&reader->scan, &proto->base);
    *raw = *typed = NULL;
    for (; piece != NULL; piece = vf_scan_next(&reader->scan, piece)) {
        if (piece->kind == VF_PIECE_DATA && piece->field == RAW_DATA)
            *raw = piece;
        else if (piece->kind == VF_PIECE_DATA && *typed == NULL)
            *typed = piece;
    }
}

static VfStatus read_data(VfReader *reader, const Onnx__TensorProto *proto, const char *owner,
                          VfTensor *tensor)
{
    const VfPiece *raw, *typed;
    find_data(reader, proto, &raw, &typed);
    bool is_external = proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    if (proto->segment != NULL)
        return vf_reader_fault(reader, VF_UNSUPPORTED, "tensor '%s' is a segment of a larger one",
                               owner);
    if ((raw != NULL && raw->end > raw->begin) + (typed != NULL) + is_external > 1)
        return vf_reader_fault(reader, VF_INVALID, "tensor '%s': data in several fields", owner);
    if (is_external)
        return read_external(reader, proto, owner, tensor);
    if (raw != NULL && typed == NULL)
        return read_raw(reader, raw, owner, tensor);
    return vf_read_typed_data(reader, proto, owner, tensor);
}

VfStatus vf_read_tensor(VfReader *reader, const Onnx__TensorProto *proto, const char *owner,
                        const VfTensor **out)
{
    bool is_good;
    *out = NULL;
    VfTensor *tensor = VF_NEW(reader->arena, VfTensor);
    VF_TRY_ALLOC(tensor, reader->err);
    VF_TRY(read_header(reader, proto, owner, tensor, &is_good));
    if (!is_good)
        return VF_OK;
    int32_t n_fault = reader->faults == NULL ? 0 : reader->faults->n;
    VF_TRY(read_data(reader, proto, owner, tensor));
    if (tensor->count == 0)
        tensor->data = NULL;
    if (reader->faults == NULL || reader->faults->n == n_fault)
        *out = tensor;
    return VF_OK;
}
