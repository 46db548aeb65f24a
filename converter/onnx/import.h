/* Reading ONNX files into the graph.
 *
 * IR versions 3 to 13, any opset. Weights are not copied: the file stays mapped for the life
 * of the model and tensors point into it, as they point into files of external data. Only
 * numbers that the file keeps as varints (int32_data and such) are decoded.
 *
 * What the graph does not model is kept as bytes (VfRaw) where it was, for the writer.
 * Constant nodes become constants (`VfValue.constant` keeps the node), sparse initializers
 * become Constant nodes (`VfNode.is_sparse_initializer`). Before IR 4 an initializer had to be
 * listed as an input too; there it is a constant and no input, and the writer lists it again.
 *
 * The file is hostile until proven otherwise; see scan.h and external.h. If another process
 * cuts a file while it is mapped, reading the lost part raises SIGBUS.
 */
#ifndef VF_ONNX_IMPORT_H
#define VF_ONNX_IMPORT_H

#include "passes/ir/graph.h"
#include "passes/ir/verify.h"

typedef struct VfImportOptions {
    const char *linked_data_root; /* linked external data may lie in here; NULL: no links */
    uint32_t max_depth;           /* nested messages; 0: 100; never more than 1000 */
    size_t max_fields;            /* protobuf fields outside of weights; 0: 16 million */
} VfImportOptions;

/* Read the model at `path`. `options` may be NULL. `*model` is the caller's, vf_model_free
 * closes the files too. VF_INVALID: damaged, unsafe or not well formed, with the byte or the
 * node; VF_UNSUPPORTED: an IR version or a feature that cannot be carried; VF_IO. */
VfStatus vf_onnx_import(const char *path, const VfImportOptions *options, VfModel **model,
                        VfErr *err);

/* The same from memory, which must outlive the model. External data is looked for in `folder`;
 * with NULL it is VF_INVALID. `name` stands for the file in messages. */
VfStatus vf_onnx_import_memory(const void *data, size_t size, const char *name,
                               const char *folder, const VfImportOptions *options,
                               VfModel **model, VfErr *err);

/* All faults of the model at `path` in one run, the first 1000: those the reader finds and, if they
 * leave names, order and uses in no doubt, those of vf_verify. `arena` keeps the sentences. VF_OK:
 * looked at, see `faults->n`; a file that is no ONNX model at all is one fault. VF_IO,
 * VF_UNSUPPORTED, VF_NO_MEMORY else. */
VfStatus vf_onnx_check(VfArena *arena, const char *path, const VfImportOptions *options,
                       VfFaults *faults, VfErr *err);

#endif
