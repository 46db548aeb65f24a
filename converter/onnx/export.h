/* Writing the graph as an ONNX file.
 *
 * IR version, opsets, names, docs, metadata and all that was carried as bytes come out as they
 * were read; the same model gives the same bytes. Weights go from where they are (a mapped
 * file, an arena) straight to the new file. Tensors are written as raw data, strings as
 * string_data.
 *
 * What a pass made gets names that are unique and do not depend on addresses. Its nodes name
 * the pass ("vitfold.pass") and the nodes they replace ("vitfold.source") in metadata_props;
 * below IR 10, where nodes have none, in those of the model, under the key followed by ':' and
 * the name of the node. An output whose value was replaced keeps its name: the new value is
 * named so, or, if it cannot be (an input, a constant, a second output), an Identity stands in
 * between.
 *
 * Constants are initializers, or Constant nodes at the start of their graph where the file had
 * them so (and in functions). Before IR 4 initializers are listed as inputs, after the others.
 */
#ifndef VF_ONNX_EXPORT_H
#define VF_ONNX_EXPORT_H

#include "passes/ir/graph.h"

typedef enum VfExternalData {
    VF_EXTERNAL_AUTO,   /* when the model would be larger than protobuf allows (2 GB) */
    VF_EXTERNAL_ALWAYS, /* every tensor of 1024 bytes or more */
    VF_EXTERNAL_NEVER   /* too large a model is VF_UNSUPPORTED */
} VfExternalData;

typedef struct VfExportOptions {
    VfExternalData external_data;
} VfExportOptions;

/* Write `model` to `path`, with external data also PATH.data, tensors aligned to 4096 bytes.
 * `options` may be NULL. Both files appear whole or not at all; `path` may be the file the
 * model was read from. After a failure what was at `path` is still there. */
VfStatus vf_onnx_export(const VfModel *model, const char *path, const VfExportOptions *options,
                        VfErr *err);

/* Files that are whole on the disk but without their names. */
typedef struct VfPrepared VfPrepared;

/* The same in two steps: the model may be changed or freed between them. Prepared files are
 * committed or abandoned, which frees `prepared` also on failure; NULL is allowed to abandon. */
VfStatus vf_onnx_prepare(const VfModel *model, const char *path, const VfExportOptions *options,
                         VfPrepared **prepared, VfErr *err);
VfStatus vf_prepared_commit(VfPrepared *prepared, VfErr *err);
void vf_prepared_abandon(VfPrepared *prepared);

#endif
