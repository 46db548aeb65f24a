#include <string.h>

#include "converter/onnx/reader.h"
#include "converter/onnx/type_form.h"

enum { MAX_RANK = 64 }; /* as many dims as a shape may have; no operator comes near */

static VfStatus read_dim(VfReader *reader, const Onnx__TensorShapeProto__Dimension *proto,
                         VfDim *out)
{
    *out = vf_dim_unknown();
    switch (proto->value_case) {
    case ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE:
        /* Some exporters write -1 for a size they do not know. */
        if (proto->dim_value >= 0)
            *out = vf_dim(proto->dim_value);
        return VF_OK;
    case ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM:
        if (proto->dim_param.len == 0)
            return VF_OK;
        out->sym = vf_symbol_intern(reader->model->symbols, vf_proto_bytes(proto->dim_param));
        return out->sym == VF_SYM_UNKNOWN ? vf_no_memory(reader->err) : VF_OK;
    default:
        return VF_OK;
    }
}

static VfStatus read_shape(VfReader *reader, const Onnx__TensorShapeProto *shape,
                           const char *owner, VfType *out)
{
    if (shape == NULL)
        return VF_OK;
    if (shape->n_dim > MAX_RANK)
        return vf_reader_fault(reader, VF_INVALID, "%s: a shape of rank %zu", owner,
                               shape->n_dim);
    VfDim *dims = VF_NEW_ARRAY(reader->arena, VfDim, shape->n_dim);
    VF_TRY_ALLOC(dims, reader->err);
    for (size_t i = 0; i < shape->n_dim; i++)
        VF_TRY(read_dim(reader, shape->dim[i], &dims[i]));
    out->rank = (int32_t)shape->n_dim;
    out->dims = shape->n_dim == 0 ? NULL : dims;
    return VF_OK;
}

static VfStatus read_tensor_type(VfReader *reader, const Onnx__TypeProto__Tensor *proto,
                                 const char *owner, VfType *out)
{
    if (proto->elem_type < 0 || proto->elem_type >= VF_DTYPE_COUNT)
        VF_TRY(vf_reader_fault(reader, VF_INVALID, "%s: element type %d is not known", owner,
                               proto->elem_type));
    else
        out->dtype = (VfDtype)proto->elem_type;
    return read_shape(reader, proto->shape, owner, out);
}

/* A sequence or an optional is modelled when its elements are tensors. */
static VfStatus read_holder(VfReader *reader, const Onnx__TypeProto *element, VfTypeKind kind,
                            const char *owner, VfType *out)
{
    bool is_tensor =
        element != NULL && element->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    out->kind = is_tensor ? kind : VF_TYPE_OTHER;
    return is_tensor ? read_tensor_type(reader, element->tensor_type, owner, out) : VF_OK;
}

VfStatus vf_read_type(VfReader *reader, const Onnx__TypeProto *proto, const char *owner,
                      VfType *out)
{
    *out = (VfType){.kind = VF_TYPE_TENSOR, .dtype = VF_UNDEFINED, .rank = VF_RANK_UNKNOWN};
    if (proto == NULL)
        return VF_OK;
    switch (proto->value_case) {
    case ONNX__TYPE_PROTO__VALUE__NOT_SET:
        return VF_OK;
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
        return read_tensor_type(reader, proto->tensor_type, owner, out);
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        return read_holder(reader, proto->sequence_type->elem_type, VF_TYPE_SEQUENCE, owner, out);
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        return read_holder(reader, proto->optional_type->elem_type, VF_TYPE_OPTIONAL, owner, out);
    default:
        out->kind = VF_TYPE_OTHER;
        return VF_OK;
    }
}

/* Whether the writer would make the same bytes from `type` alone. */
static VfStatus is_canonical(VfReader *reader, const VfType *type, VfRaw field, bool *same)
{
    VfEmit emit;
    VfBytes flat;
    vf_emit_init(&emit, reader->scratch);
    vf_emit_type(&emit, 2, type, reader->model->symbols);
    VF_TRY(vf_emit_flatten(&emit, reader->scratch, &flat, reader->err));
    *same = flat.size == field.size && memcmp(flat.data, field.data, flat.size) == 0;
    return VF_OK;
}

VfStatus vf_read_value_info(VfReader *reader, const Onnx__ValueInfoProto *proto, VfType *type,
                            VfOutputInfo *info)
{
    const char *owner = vf_reader_show(reader, proto->name);
    VF_TRY(vf_read_type(reader, proto->type, owner, type));
    VF_TRY(vf_reader_copy(reader, proto->doc_string, &info->doc));
    VF_TRY(vf_reader_metas(reader, proto->n_metadata_props, proto->metadata_props, &info->meta));
    bool is_same = true;
    const VfScan *scan = &reader->scan;
    const VfPiece *field = vf_scan_noted(scan, vf_scan_first(scan, &proto->base), 2);
    if (field != NULL) {
        VfRaw bytes = {scan->data + field->begin, field->end - field->begin};
        VF_TRY(is_canonical(reader, type, bytes, &is_same));
    }
    return vf_reader_raw(reader, &proto->base, is_same ? 0 : 2, &info->raw_info);
}
