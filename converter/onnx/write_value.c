#include <stdio.h>
#include <string.h>

#include "converter/onnx/scan.h"
#include "converter/onnx/type_form.h"
#include "converter/onnx/wire.h"
#include "converter/onnx/writer.h"
#include "onnx.pb-c.h"
#include "runtime/base/size.h"

enum {
    EXTERNAL_BYTES = 1024, /* smaller tensors stay in the model */
    EXTERNAL_ALIGN = 4096  /* so that each can be mapped by itself */
};

void vf_write_metas(VfWriter *writer, uint32_t field, const VfMeta *first)
{
    for (const VfMeta *meta = first; meta != NULL; meta = meta->next) {
        VfEmitMark mark = vf_emit_begin(&writer->emit, field);
        vf_emit_bytes(&writer->emit, 1, meta->key);
        vf_emit_bytes(&writer->emit, 2, meta->value);
        vf_emit_end(&writer->emit, mark);
    }
}

static void write_entry(VfEmit *emit, const char *key, VfBytes value)
{
    VfEmitMark mark = vf_emit_begin(emit, 13);
    vf_emit_bytes(emit, 1, (VfBytes){key, strlen(key)});
    vf_emit_bytes(emit, 2, value);
    vf_emit_end(emit, mark);
}

static void write_number(VfEmit *emit, const char *key, uint64_t value)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    write_entry(emit, key, (VfBytes){text, (size_t)n});
}

/* Say where the data is and note it for the other file. */
static void write_external(VfWriter *writer, const VfTensor *tensor)
{
    size_t offset;
    if (!vf_size_align((size_t)writer->data_bytes, EXTERNAL_ALIGN, &offset) ||
        vf_arena_grow(writer->arena, (void **)&writer->external, &writer->external_capacity,
                      writer->n_external + 1, sizeof *writer->external, NULL) != VF_OK) {
        writer->emit.failed = true;
        return;
    }
    writer->external[writer->n_external++] = (VfExternalTensor){tensor, offset};
    writer->data_bytes = offset + tensor->bytes;
    write_entry(&writer->emit, "location",
                (VfBytes){writer->data_name, strlen(writer->data_name)});
    write_number(&writer->emit, "offset", offset);
    write_number(&writer->emit, "length", tensor->bytes);
    vf_emit_int(&writer->emit, 14, ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL);
}

void vf_write_tensor_fields(VfWriter *writer, const VfTensor *tensor, VfBytes name, VfRaw raw)
{
    VfEmit *emit = &writer->emit;
    bool is_text = tensor->dtype == VF_STRING;
    bool is_outside = writer->data_name != NULL && !is_text && tensor->bytes >= EXTERNAL_BYTES;
    for (int32_t i = 0; i < tensor->rank; i++)
        vf_emit_int(emit, 1, tensor->dims[i]);
    vf_emit_int(emit, 2, (int64_t)tensor->dtype);
    for (size_t i = 0; is_text && i < tensor->count; i++) {
        const VfBytes *text = (const VfBytes *)tensor->data + i;
        vf_emit_lent(emit, 6, text->data, text->size);
    }
    vf_emit_some_bytes(emit, 8, name);
    if (!is_text && !is_outside)
        vf_emit_lent(emit, 9, tensor->data, tensor->bytes);
    if (is_outside)
        write_external(writer, tensor);
    vf_emit_fields(emit, raw.data, raw.size);
}

void vf_write_tensor(VfWriter *writer, uint32_t field, const VfTensor *tensor, VfBytes name,
                     VfRaw raw)
{
    VfEmitMark mark = vf_emit_begin(&writer->emit, field);
    vf_write_tensor_fields(writer, tensor, name, raw);
    vf_emit_end(&writer->emit, mark);
}

/* Whether a TypeProto as the file had it still states `type`: a pass may have changed it. */
static bool states_dim(const Onnx__TensorShapeProto__Dimension *proto, VfDim dim,
                       const VfSymbols *symbols)
{
    if (proto->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
        proto->dim_value >= 0)
        return vf_dim_is(dim, proto->dim_value);
    if (proto->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM ||
        proto->dim_param.len == 0)
        return dim.sym == VF_SYM_UNKNOWN;
    VfBytes text = {(const char *)proto->dim_param.data, proto->dim_param.len};
    return !vf_dim_is_known(dim) && dim.k == 1 &&
           vf_bytes_is_equal(vf_symbol_text(symbols, dim.sym), text);
}

static bool states_type(const Onnx__TypeProto *proto, const VfType *type,
                        const VfSymbols *symbols)
{
    if (proto->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        return type->kind != VF_TYPE_TENSOR ||
               (type->dtype == VF_UNDEFINED && type->rank == VF_RANK_UNKNOWN);
    const Onnx__TensorShapeProto *shape = proto->tensor_type->shape;
    int32_t rank = shape == NULL ? VF_RANK_UNKNOWN : (int32_t)shape->n_dim;
    if (type->kind != VF_TYPE_TENSOR || proto->tensor_type->elem_type != (int32_t)type->dtype ||
        rank != type->rank)
        return false;
    for (int32_t i = 0; i < rank; i++) {
        if (!states_dim(shape->dim[i], type->dims[i], symbols))
            return false;
    }
    return true;
}

static bool is_current(VfWriter *writer, const VfType *type, const unsigned char *data,
                       size_t size)
{
    VfScan scan = {0};
    ProtobufCMessage *message;
    VfStatus status = vf_scan_unpack(&scan, writer->arena, data, size,
                                     &onnx__type_proto__descriptor, &message, NULL);
    writer->emit.failed |= status == VF_NO_MEMORY;
    return status == VF_OK &&
           states_type((const Onnx__TypeProto *)message, type, writer->model->symbols);
}

/* The carried fields of a ValueInfoProto; a type among them only while it is right. Returns
 * whether there was one. */
static bool write_raw_info(VfWriter *writer, const VfType *type, VfRaw raw)
{
    VfWire wire = {raw.data, 0, raw.size};
    VfWireField field;
    bool has_type = false;
    while (wire.at < wire.end && vf_wire_field(&wire, &field) == VF_WIRE_OK) {
        const unsigned char *payload = wire.data + field.payload;
        if (field.number == 2 && !is_current(writer, type, payload, field.end - field.payload))
            continue;
        has_type |= field.number == 2;
        vf_emit_fields(&writer->emit, wire.data + field.begin, field.end - field.begin);
    }
    return has_type;
}

void vf_write_value_info(VfWriter *writer, uint32_t field, VfBytes name, const VfType *type,
                         const VfOutputInfo *info)
{
    VfEmit *emit = &writer->emit;
    VfEmitMark mark = vf_emit_begin(emit, field);
    vf_emit_bytes(emit, 1, name);
    vf_emit_some_bytes(emit, 3, info->doc);
    vf_write_metas(writer, 4, info->meta);
    if (!write_raw_info(writer, type, info->raw_info))
        vf_emit_type(emit, 2, type, writer->model->symbols);
    vf_emit_end(emit, mark);
}
