#include "converter/onnx/type_form.h"

#include <string.h>

static void emit_dim(VfEmit *emit, VfDim dim, const VfSymbols *symbols)
{
    VfEmitMark mark = vf_emit_begin(emit, 1);
    if (vf_dim_is_known(dim)) {
        vf_emit_int(emit, 1, dim.k);
    } else if (dim.sym != VF_SYM_UNKNOWN && dim.k == 1) {
        vf_emit_bytes(emit, 2, vf_symbol_text(symbols, dim.sym));
    } else if (dim.sym != VF_SYM_UNKNOWN) {
        const char *text = vf_dim_text(emit->arena, symbols, dim);
        if (text == NULL)
            emit->failed = true;
        else
            vf_emit_bytes(emit, 2, (VfBytes){text, strlen(text)});
    }
    vf_emit_end(emit, mark);
}

/* TypeProto.Tensor */
static void emit_tensor_type(VfEmit *emit, const VfType *type, const VfSymbols *symbols)
{
    VfEmitMark tensor = vf_emit_begin(emit, 1);
    if (type->dtype != VF_UNDEFINED)
        vf_emit_int(emit, 1, (int64_t)type->dtype);
    if (type->rank != VF_RANK_UNKNOWN) {
        VfEmitMark shape = vf_emit_begin(emit, 2);
        for (int32_t i = 0; i < type->rank; i++)
            emit_dim(emit, type->dims[i], symbols);
        vf_emit_end(emit, shape);
    }
    vf_emit_end(emit, tensor);
}

void vf_emit_type(VfEmit *emit, uint32_t field, const VfType *type, const VfSymbols *symbols)
{
    bool is_known = type->dtype != VF_UNDEFINED || type->rank != VF_RANK_UNKNOWN;
    if (type->kind == VF_TYPE_OTHER || (type->kind == VF_TYPE_TENSOR && !is_known))
        return;
    VfEmitMark outer = vf_emit_begin(emit, field);
    if (type->kind == VF_TYPE_TENSOR) {
        emit_tensor_type(emit, type, symbols);
    } else {
        VfEmitMark holder = vf_emit_begin(emit, type->kind == VF_TYPE_SEQUENCE ? 4 : 9);
        VfEmitMark element = vf_emit_begin(emit, 1);
        emit_tensor_type(emit, type, symbols);
        vf_emit_end(emit, element);
        vf_emit_end(emit, holder);
    }
    vf_emit_end(emit, outer);
}
