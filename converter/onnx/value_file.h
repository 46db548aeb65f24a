/* Files that hold a SequenceProto or an OptionalProto: inputs and outputs of ONNX test data. */
#ifndef VF_ONNX_VALUE_FILE_H
#define VF_ONNX_VALUE_FILE_H

#include "passes/ir/shape.h"
#include "passes/ir/tensor.h"
#include "runtime/base/status.h"

typedef enum VfFileKind {
    VF_FILE_TENSOR,
    VF_FILE_SEQUENCE, /* `item` are its elements */
    VF_FILE_NONE      /* an optional without a value */
} VfFileKind;

typedef struct VfFileValue {
    VfFileKind kind;
    bool is_optional;        /* the file holds it inside an OptionalProto */
    const VfTensor *tensor;  /* TENSOR */
    size_t n_item;
    const struct VfFileValue *item;
} VfFileValue;

/* Is a value of this type kept in an OptionalProto? `raw` are the fields of its ValueInfoProto that
 * `type` does not model. */
bool vf_onnx_is_optional(const VfType *type, const void *raw, size_t raw_size);

/* Fill `*value` from the bytes of a file; what it points to is in `arena` or in `data`. `name` is
 * the file's in messages. VF_INVALID: damaged; VF_UNSUPPORTED: sparse tensors, maps. */
VfStatus vf_onnx_read_value(VfArena *arena, const void *data, size_t size, const char *name,
                            bool is_optional, VfFileValue *value, VfErr *err);

/* Write `value` to `path` under `name`, whole or not at all. */
VfStatus vf_onnx_write_value(const char *path, VfBytes name, const VfFileValue *value, VfErr *err);

#endif
