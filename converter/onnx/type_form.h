/* The form of types in a file, shared by reader and writer. */
#ifndef VF_ONNX_TYPE_FORM_H
#define VF_ONNX_TYPE_FORM_H

#include "converter/onnx/emit.h"
#include "passes/ir/shape.h"

/* Append `type` as a TypeProto in field `field`; nothing for a type of which nothing is known or
 * that is of kind VF_TYPE_OTHER. The form is canonical: equal types give equal bytes. */
void vf_emit_type(VfEmit *emit, uint32_t field, const VfType *type, const VfSymbols *symbols);

#endif
