/* Files that hold one TensorProto: inputs and outputs of ONNX test data (.pb). */
#ifndef VF_ONNX_TENSOR_FILE_H
#define VF_ONNX_TENSOR_FILE_H

#include "passes/ir/tensor.h"
#include "runtime/base/status.h"

/* Fill `*tensor` from the `size` bytes of such a file. What it points to is in `arena` or in
 * `data`, which must outlive it; `name` is the file's in messages. VF_INVALID: damaged, or its
 * data lies in another file; VF_UNSUPPORTED: a sequence or an optional. */
VfStatus vf_onnx_read_tensor(VfArena *arena, const void *data, size_t size, const char *name,
                             VfTensor *tensor, VfErr *err);

/* Write `tensor` to `path` under `name` (may be empty), whole or not at all. */
VfStatus vf_onnx_write_tensor(const char *path, VfBytes name, const VfTensor *tensor, VfErr *err);

#endif
