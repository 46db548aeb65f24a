/* Sparse constants, filled up for those who compute with them. Their bytes stay what is written. */
#include <string.h>

#include "converter/onnx/reader.h"
#include "runtime/base/size.h"
#include "runtime/kernels/number.h"

/* Above this many elements a tensor stays bytes, so that a small file cannot ask for all memory. */
enum { MAX_DENSE = 1 << 24 };

/* Where element `i` goes; false when that is outside or not said. */
static bool place_of(const VfTensor *index, const VfTensor *dense, size_t i, size_t *at)
{
    size_t rank = index->rank == 1 ? 1 : (size_t)dense->rank;
    *at = 0;
    for (size_t k = 0; k < rank; k++) {
        int64_t given = vf_tensor_get_i64(index, i * rank + k);
        int64_t limit = index->rank == 1 ? (int64_t)dense->count : dense->dims[k];
        if (given < 0 || given >= limit)
            return false;
        *at = *at * (size_t)limit + (size_t)given;
    }
    return true;
}

static bool fits(const VfTensor *value, const VfTensor *index, int32_t rank)
{
    return value->rank == 1 && index->dtype == VF_I64 &&
           ((index->rank == 1 && index->count == value->count) ||
            (index->rank == 2 && index->dims[0] == value->dims[0] && index->dims[1] == rank));
}

static VfStatus fill(VfReader *reader, const VfTensor *value, const VfTensor *index,
                     const char *owner, const VfTensor *dense, void *data)
{
    size_t width = value->dtype == VF_STRING ? sizeof(VfBytes) : vf_dtype_bytes(value->dtype, 1);
    bool is_packed = vf_dtype_info(value->dtype)->bits % 8 != 0;
    size_t at;
    for (size_t i = 0; i < dense->count && value->dtype == VF_STRING; i++)
        ((VfBytes *)data)[i] = vf_bytes("");
    for (size_t i = 0; i < value->count; i++) {
        if (!place_of(index, dense, i, &at))
            return vf_reader_fault(reader, VF_INVALID,
                                   "%s: element %zu of a sparse tensor lies outside of it", owner,
                                   i);
        if (is_packed)
            vf_number_put_bits(data, value->dtype, at,
                               vf_number_bits(value->data, value->dtype, i));
        else
            memcpy((char *)data + at * width, (const char *)value->data + i * width, width);
    }
    return VF_OK;
}

static VfStatus make_dense(VfReader *reader, const Onnx__SparseTensorProto *proto,
                           const char *owner, const VfTensor **out)
{
    const VfTensor *value = NULL, *index = NULL;
    VfTensor *dense;
    void *data;
    size_t count;
    if (proto->values == NULL || proto->indices == NULL)
        return vf_reader_fault(reader, VF_INVALID, "%s: a sparse tensor without %s", owner,
                               proto->values == NULL ? "values" : "indices");
    VF_TRY(vf_read_tensor(reader, proto->values, owner, &value));
    VF_TRY(vf_read_tensor(reader, proto->indices, owner, &index));
    if (value == NULL || index == NULL)
        return VF_OK;
    if (!vf_size_count(proto->dims, proto->n_dims, &count) || proto->n_dims > 64 ||
        !fits(value, index, (int32_t)proto->n_dims))
        return vf_reader_fault(reader, VF_INVALID,
                               "%s: values, indices and shape of a sparse tensor do not fit",
                               owner);
    if (count > MAX_DENSE)
        return VF_OK;
    VF_TRY(vf_tensor_new(reader->arena, value->dtype, (int32_t)proto->n_dims, proto->dims, &dense,
                         &data, reader->err));
    VF_TRY(fill(reader, value, index, owner, dense, data));
    *out = dense;
    return VF_OK;
}

/* The message that the first field of a length is. */
static bool find_message(VfRaw raw, VfBytes *message)
{
    VfWire wire = {raw.data, 0, raw.size};
    VfWireField field;
    while (wire.at < wire.end && vf_wire_field(&wire, &field) == VF_WIRE_OK) {
        if (field.type == VF_WIRE_LEN && (field.number == 22 || field.number == 15)) {
            *message = (VfBytes){(const char *)raw.data + field.payload,
                                 field.end - field.payload};
            return true;
        }
    }
    return false;
}

VfStatus vf_read_sparse(VfReader *reader, VfRaw raw, const char *owner, const VfTensor **out)
{
    ProtobufCMessage *message;
    VfBytes bytes;
    *out = NULL;
    if (!find_message(raw, &bytes))
        return VF_OK;
    VfErr fault;
    VfReader inner = {.arena = reader->arena, .scratch = reader->scratch, .model = reader->model,
                      .storage = VF_STORAGE_LENT, .faults = reader->faults, .err = reader->err,
                      .fault_arena = reader->fault_arena,
                      .fault_capacity = reader->fault_capacity};
    VfStatus status = vf_scan_unpack(&inner.scan, inner.scratch, (const unsigned char *)bytes.data,
                                     bytes.size, &onnx__sparse_tensor_proto__descriptor, &message,
                                     &fault);
    if (status == VF_OK)
        status = make_dense(&inner, (const Onnx__SparseTensorProto *)message, owner, out);
    else
        status = vf_reader_fault(&inner, status, "%s: %s", owner, fault.text);
    reader->fault_capacity = inner.fault_capacity;
    return status;
}
