/* Inside of the reader: unpacked messages to graph.
 *
 * One VfReader reads one model. Functions return VF_OK, or the status that ends the reading,
 * with the sentence in `reader->err`. A fault of the file goes through vf_reader_fault: it
 * ends the reading, or, when faults are collected, is noted and VF_OK comes back; the caller
 * then goes on with the best that is left, and the model is thrown away in the end.
 */
#ifndef VF_ONNX_READER_H
#define VF_ONNX_READER_H

#include "converter/onnx/external.h"
#include "converter/onnx/import.h"
#include "converter/onnx/scan.h"
#include "onnx.pb-c.h"
#include "passes/ir/graph.h"
#include "passes/ir/scope.h"
#include "runtime/base/intern.h"

/* Who gives what among the nodes of one graph, by their places. */
typedef struct VfReaderMakers {
    VfIntern *result; /* names of results */
    size_t *maker;    /* by number of the name: the first node that gives it */
    size_t *group;    /* by node: one number for those that need each other's results */
} VfReaderMakers;

/* A graph being read, inside the one it is nested in. */
typedef struct VfReaderGraph {
    VfGraph *graph;
    size_t n_node;
    Onnx__NodeProto **node;
    size_t at; /* node being read */
    struct VfReaderGraph *outer;
    int32_t *id;                  /* of nodes by place; NULL when no faults are collected */
    const VfReaderMakers *makers; /* NULL until an operand was looked for in vain */
} VfReaderGraph;

/* A name of operands that means nothing, and what stands for it. */
typedef struct VfReaderMissing {
    int32_t node; /* 1 + number of the last node that has the operand */
    VfValue *stand_in;
} VfReaderMissing;

enum { VF_READER_MAX_FAULT = 1000 };

typedef struct VfReader {
    VfModel *model;   /* being filled; NULL when a tensor is read alone */
    VfArena *arena;   /* of the model: what stays */
    VfArena *scratch; /* for the time of reading */
    VfScan scan;
    VfStorage storage;      /* of tensors that point into the scanned bytes */
    VfMappedFiles *files;
    const char *folder;     /* of external data, or NULL */
    const char *linked_root;
    VfScope scope;          /* what value names mean now */
    size_t *position;       /* by value id: of a constant, the number of its Constant node */
    size_t position_capacity;
    VfReaderGraph *current; /* innermost graph */
    VfIntern *missing_name; /* made when the first is met */
    VfReaderMissing *missing; /* by number of the name */
    size_t missing_capacity;
    const char *function;   /* being read, as "function 'f'", or NULL */
    VfFaults *faults;       /* collected here, or NULL */
    int32_t n_remark;       /* of those: they leave the model whole */
    size_t fault_capacity;
    VfArena *fault_arena;
    VfErr *err;
} VfReader;

/* A fault of the file, as one sentence. See above. */
VfStatus vf_reader_fault(VfReader *reader, VfStatus status, const char *fmt, ...)
    VF_PRINTF(3, 4);

/* What a file must not say, but can be read as it is meant: noted where faults are collected, and
 * nothing else. */
VfStatus vf_reader_remark(VfReader *reader, const char *fmt, ...) VF_PRINTF(2, 3);

/* `bytes` for a message: printable and terminated, cut when very long. Never NULL. */
const char *vf_reader_show(VfReader *reader, ProtobufCBinaryData bytes);

/* A copy in the model's arena. */
VfStatus vf_reader_copy(VfReader *reader, ProtobufCBinaryData bytes, VfBytes *out);

/* The same for a domain: "ai.onnx" is another spelling of "". */
VfStatus vf_reader_domain(VfReader *reader, ProtobufCBinaryData bytes, VfBytes *out);

VfStatus vf_reader_metas(VfReader *reader, size_t n, Onnx__StringStringEntryProto **entry,
                         VfMeta **first);

/* Whole fields of `message` that are carried, in file order: those left out of the skeleton
 * and, if `note` is not 0, noted fields of that number. References the file where it can. */
VfStatus vf_reader_raw(VfReader *reader, const ProtobufCMessage *message, uint32_t note,
                       VfRaw *out);

/* read_type.c: the type a TypeProto states; NULL gives the unknown type. */
VfStatus vf_read_type(VfReader *reader, const Onnx__TypeProto *proto, const char *owner,
                      VfType *out);
/* Type, doc, metadata and the bytes to carry of a ValueInfoProto. */
VfStatus vf_read_value_info(VfReader *reader, const Onnx__ValueInfoProto *proto, VfType *type,
                            VfOutputInfo *info);

/* read_tensor.c: `owner` names the tensor in messages. After a collected fault `*out` is NULL. */
VfStatus vf_read_tensor(VfReader *reader, const Onnx__TensorProto *proto, const char *owner,
                        const VfTensor **out);

/* read_data.c: fill `data`, the decoded elements of `tensor`, from its pieces in the file. */
VfStatus vf_read_typed_data(VfReader *reader, const Onnx__TensorProto *proto, const char *owner,
                            VfTensor *tensor);

/* read_sparse.c: the sparse tensor in `raw`, a field of an attribute or graph, with all elements;
 * `*out` is NULL after a collected fault, and when it is too large or its elements are no bytes. */
VfStatus vf_read_sparse(VfReader *reader, VfRaw raw, const char *owner, const VfTensor **out);

/* read_cycle.c: see `makers`, made once. */
VfStatus vf_read_makers(VfReader *reader, VfReaderGraph *level);
/* A fault for each cycle of nodes that need each other's results, of one graph and through
 * operands alone. Only for reading that collects faults, when `makers` are there. */
VfStatus vf_read_cycles(VfReader *reader, const VfReaderGraph *level);

/* read_attr.c: attributes of `node` (or defaults of a function when `node` is NULL) in order. */
VfStatus vf_read_attrs(VfReader *reader, VfGraph *graph, VfNode *node, const char *owner,
                       size_t n, Onnx__AttributeProto **proto, VfAttr **first);

/* read_node.c */
/* How messages call a node with the number `id`: in quotes its name, or operator and number. */
const char *vf_reader_node(VfReader *reader, const Onnx__NodeProto *proto, int32_t id);
VfStatus vf_read_node(VfReader *reader, VfGraph *graph, const Onnx__NodeProto *proto);
/* Whether the node is a constant of the graph; then `*value` is that constant, not yet bound. */
bool vf_is_constant_node(const Onnx__NodeProto *proto);
VfStatus vf_read_constant_node(VfReader *reader, VfGraph *graph, const Onnx__NodeProto *proto,
                               VfValue **value);

/* Let the name of `value` mean it from now on; a fault when its graph has the name already. */
VfStatus vf_reader_bind(VfReader *reader, VfValue *value, const char *owner);

/* The same for what a node gives: the name should mean nothing in the graphs around it either. */
VfStatus vf_reader_bind_result(VfReader *reader, VfValue *value, const char *owner);

/* The value a name means now, or NULL. */
VfValue *vf_reader_find(const VfReader *reader, ProtobufCBinaryData name);

/* After a collected fault: a nameless input of `graph` in the place of what is not defined, so that
 * nobody is also said to lack it. */
VfStatus vf_reader_stand_in(VfReader *reader, VfGraph *graph, VfValue **out);

/* read_graph.c */
VfStatus vf_read_graph(VfReader *reader, VfGraph *graph, const Onnx__GraphProto *proto);
VfStatus vf_read_function_body(VfReader *reader, VfGraph *graph,
                               const Onnx__FunctionProto *proto);

/* read_model.c */
VfStatus vf_read_model(VfReader *reader, const Onnx__ModelProto *proto);

static inline VfBytes vf_proto_bytes(ProtobufCBinaryData data)
{
    return (VfBytes){(const char *)data.data, data.len};
}

#endif
