/* Inside of the writer: graph to message. One VfWriter makes one message. */
#ifndef VF_ONNX_WRITER_H
#define VF_ONNX_WRITER_H

#include "converter/onnx/emit.h"
#include "passes/ir/graph.h"

/* Names that are not those of the graph: by id, `data` NULL where the own name counts. */
typedef struct VfNameTable {
    VfBytes *value, *node;
    int32_t n_value, n_node;
} VfNameTable;

/* A tensor that goes to the file of external data. */
typedef struct VfExternalTensor {
    const VfTensor *tensor;
    uint64_t offset;
} VfExternalTensor;

typedef struct VfWriter {
    const VfModel *model;
    VfArena *arena;        /* for the time of writing */
    VfEmit emit;
    VfNameTable name;
    const char *data_name; /* of the file of external data, or NULL: all tensors inside */
    VfExternalTensor *external;
    size_t n_external, external_capacity;
    uint64_t data_bytes;   /* of the file of external data so far */
    VfMeta *origin;        /* origins that nodes cannot hold, newest first */
} VfWriter;

/* IR versions at which the format changed. */
enum {
    VF_IR_FREE_INITIALIZER = 4, /* initializers need not be inputs */
    VF_IR_NODE_METADATA = 10    /* nodes have metadata_props */
};

/* write_names.c: find names for everything in the model that needs a new one. */
VfStatus vf_write_names(VfWriter *writer, VfErr *err);
VfBytes vf_value_written_name(const VfWriter *writer, const VfValue *value);
VfBytes vf_node_written_name(const VfWriter *writer, const VfNode *node);
/* The output `index` of `graph` needs an Identity behind its value. */
bool vf_output_is_copied(const VfWriter *writer, const VfGraph *graph, int32_t index);

/* write_value.c. `name` may be empty; `raw` are further fields of the TensorProto. */
void vf_write_tensor(VfWriter *writer, uint32_t field, const VfTensor *tensor, VfBytes name,
                     VfRaw raw);
/* The same without tag and length. */
void vf_write_tensor_fields(VfWriter *writer, const VfTensor *tensor, VfBytes name, VfRaw raw);
void vf_write_value_info(VfWriter *writer, uint32_t field, VfBytes name, const VfType *type,
                         const VfOutputInfo *info);
void vf_write_metas(VfWriter *writer, uint32_t field, const VfMeta *first);

/* write_node.c */
void vf_write_node(VfWriter *writer, uint32_t field, const VfNode *node);
void vf_write_attr(VfWriter *writer, uint32_t field, const VfAttr *attr);
/* A CONST as a Constant node: the one it was, or a new one. */
void vf_write_constant(VfWriter *writer, uint32_t field, const VfValue *value);
/* `to` = Identity(`from`), made by the writer itself. */
void vf_write_identity(VfWriter *writer, uint32_t field, VfBytes from, VfBytes to);

/* write_graph.c */
void vf_write_graph(VfWriter *writer, uint32_t field, const VfGraph *graph);
/* The model, without tag and length. */
void vf_write_model(VfWriter *writer);

#endif
