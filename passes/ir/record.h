/* The records of the graph: models, graphs, functions, nodes, values and attributes.
 *
 * passes/ir/graph.h says how they hang together and how long they live; include that one.
 */
#ifndef VF_IR_RECORD_H
#define VF_IR_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "passes/ir/label.h"
#include "passes/ir/op.h"
#include "passes/ir/shape.h"
#include "passes/ir/tensor.h"
#include "runtime/base/arena.h"
#include "runtime/base/bytes.h"
#include "runtime/base/intern.h"

/* Subgraphs within subgraphs: readers refuse more, so recursion is safe. As many as 1000 messages
 * inside each other can say. */
enum { VF_GRAPH_DEPTH_MAX = 333 };

typedef struct VfModel VfModel;
typedef struct VfGraph VfGraph;
typedef struct VfNode VfNode;
typedef struct VfValue VfValue;
typedef struct VfUse VfUse;
typedef struct VfAttr VfAttr;
typedef struct VfFunction VfFunction;

/* One key and value of metadata_props. */
typedef struct VfMeta {
    VfBytes key, value;
    struct VfMeta *next;
} VfMeta;

/* Protobuf fields we do not model (unknown fields, quantization annotation, training info,
 * sparse initializers, sharding, ...): serialised bytes carried from reader to writer. */
typedef struct VfRaw {
    const void *data; /* whole fields: tag and payload, concatenated */
    size_t size;
} VfRaw;

typedef enum VfValueKind {
    VF_VALUE_INPUT, /* graph or function input; `tensor` is its default (an initializer of the
                     * same name) or NULL */
    VF_VALUE_CONST, /* initializer, Constant node's data or folded result; `tensor` is set */
    VF_VALUE_RESULT /* result `index` of node `def` */
} VfValueKind;

struct VfUse {
    VfNode *node;     /* the user */
    int32_t slot;     /* operand number */
    VfValue *value;   /* NULL: an omitted optional operand */
    VfUse *prev, *next; /* other uses of the value, in order of linking */
};

struct VfValue {
    int32_t id;
    VfValueKind kind;
    VfBytes name;      /* unique in the scope; may hold any byte; empty: gets a name at export */
    VfGraph *graph;
    VfNode *def;       /* RESULT only */
    int32_t index;     /* RESULT: which result; INPUT: which input */
    int32_t name_id;   /* number of `name` in model->name */
    VfType type;       /* best knowledge: declared, then inferred */
    bool is_declared;  /* has a value_info or input/output entry in the file */
    const VfTensor *tensor;  /* see kind */
    const VfDim *content;    /* contents of a small integer tensor as symbolic numbers, or NULL */
    int32_t n_content;
    VfUse *first_use, *last_use;
    int32_t n_use;
    int32_t n_output;  /* uses by the graph's ret: how many outputs it is */
    VfBytes doc;
    VfMeta *meta;
    VfRaw raw_info;    /* ValueInfoProto and TypeProto of kinds we do not model; unknown fields */
    VfRaw raw_tensor;  /* doc_string, metadata_props and unknown fields of the TensorProto */
    const VfNode *constant; /* CONST that the file wrote as a Constant node: that node, never
                             * linked, with its name, doc, meta and one attribute; NULL for
                             * initializers and what passes made */
    VfValue *prev, *next; /* in graph->first_value list, in the order they joined the graph */
};

typedef enum VfAttrType { /* numbers of AttributeProto.AttributeType */
    VF_ATTR_UNDEFINED = 0,
    VF_ATTR_FLOAT = 1,
    VF_ATTR_INT = 2,
    VF_ATTR_STRING = 3,
    VF_ATTR_TENSOR = 4,
    VF_ATTR_GRAPH = 5,
    VF_ATTR_FLOATS = 6,
    VF_ATTR_INTS = 7,
    VF_ATTR_STRINGS = 8,
    VF_ATTR_TENSORS = 9,
    VF_ATTR_GRAPHS = 10,
    VF_ATTR_SPARSE_TENSOR = 11,
    VF_ATTR_SPARSE_TENSORS = 12,
    VF_ATTR_TYPE_PROTO = 13,
    VF_ATTR_TYPE_PROTOS = 14
} VfAttrType;

struct VfAttr {
    VfBytes name;
    VfAttrType type;
    VfBytes ref;      /* ref_attr_name: the attribute of the enclosing function that gives the
                       * value; empty if none */
    float f;
    int64_t i;
    VfBytes s;
    const VfTensor *tensor;
    VfGraph *graph;
    int32_t n;        /* length of the list kinds */
    const float *floats;
    const int64_t *ints;
    const VfBytes *strings;
    const VfTensor *const *tensors;
    VfGraph *const *graphs;
    VfBytes doc;
    VfRaw raw;        /* sparse tensors, type protos, unknown fields */
    const VfRaw *raw_tensor; /* of `tensor` (1 entry) or `tensors` (n): name, doc_string,
                              * metadata_props and unknown fields of each TensorProto, or NULL */
    VfAttr *next;     /* in the order of the file */
};

/* Where a node made by a pass came from; NULL for nodes of the file. */
typedef struct VfOrigin {
    const char *pass;        /* CLI name of the pass */
    int32_t n_source;
    const VfNode *const *source; /* nodes it replaces */
} VfOrigin;

struct VfNode {
    int32_t id;
    VfOp op;            /* VF_OP_OTHER for operators without a row, and for function calls */
    VfBytes domain;     /* "" is the default domain ("ai.onnx" is imported as "") */
    VfBytes op_type;    /* ONNX spelling */
    VfBytes overload;
    VfBytes name;
    VfBytes doc;
    VfGraph *graph;
    VfAttr *first_attr;
    int32_t n_in, n_out;
    VfUse *in;          /* n_in operands; in[i].value NULL when omitted */
    VfValue **out;      /* n_out results; an omitted result is NULL */
    int32_t in_capacity;
    VfMeta *meta;
    VfRaw raw;          /* unknown fields, device configurations */
    bool is_sparse_initializer; /* a Constant (sparse_value) that the file wrote as
                                 * sparse_initializer: the raw bytes of its attribute are that
                                 * field of the graph */
    const VfOrigin *origin;
    bool is_linked;     /* in the node list of its graph, or the ret of a graph */
    bool has_uses;      /* its operands are in use lists: it and all nodes around it are linked */
    bool is_removed;    /* unlinked; readable, not part of the graph */
    int64_t order;      /* grows along the list; 0: not numbered yet. Kept by passes/rewrite */
    VfNode *prev, *next; /* graph order */
};

/* What the file says of an output besides name and type. */
typedef struct VfOutputInfo {
    VfBytes doc;
    VfMeta *meta;
    VfRaw raw_info; /* as VfValue.raw_info */
} VfOutputInfo;

struct VfGraph {
    VfModel *model;
    VfNode *owner;       /* node whose attribute holds this subgraph, or NULL */
    VfFunction *function; /* the function whose body this is, or NULL */
    VfBytes name, doc;
    int32_t n_input, input_capacity;
    VfValue **input;     /* all graph inputs in order, also those that have an initializer */
    VfNode *ret;         /* sentinel: operands are the outputs, in order */
    const VfBytes *output_name; /* names of the outputs as the file has them, as many as ret->n_in;
                                 * fixed for ever but in bodies, whose outputs go by position */
    const VfType *output_type;  /* declared types of the outputs */
    const VfOutputInfo *output_info; /* n = ret->n_in, or NULL when the file says nothing more */
    VfNode *first_node, *last_node;
    int32_t n_node;
    VfValue *first_value, *last_value;
    VfMeta *meta;
    VfRaw raw;           /* quantization_annotation, value_info of unknown names, unknown fields */
};

typedef struct VfOpset {
    VfBytes domain; /* "" default */
    int64_t version;
} VfOpset;

struct VfFunction {
    int32_t id;                /* dense from 0, in order of making */
    VfBytes domain, name, overload, doc;
    int32_t n_attr_name;
    const VfBytes *attr_name;  /* attributes without default */
    VfAttr *first_attr_default; /* attribute_proto */
    int32_t n_opset;
    const VfOpset *opset;
    VfGraph *body;             /* inputs are the formal inputs; ret operands the outputs */
    VfMeta *meta;
    VfRaw raw;
    VfFunction *next;
};

/* How far clean-up has come. */
typedef enum VfClean {
    VF_CLEAN_NOT,     /* not run, or something has changed since */
    VF_CLEAN_UNFOLDED, /* it found nothing more to do, but computed no constants */
    VF_CLEAN_WHOLE
} VfClean;

/* Records made ahead, side by side: walks over a large graph wait for memory, least where the next
 * record lies where it is expected. */
typedef struct VfSpare {
    void *first;
    int32_t n;
} VfSpare;

struct VfModel {
    VfArena *arena;
    VfSpare spare_node, spare_value;
    VfSymbols *symbols;
    int64_t ir_version;
    VfBytes producer_name, producer_version, domain, doc;
    int64_t model_version;
    int32_t n_opset;
    const VfOpset *opset;
    VfMeta *meta;
    VfRaw raw;               /* training_info, configuration, unknown fields */
    VfGraph *graph;
    VfFunction *first_function, *last_function;
    VfIntern *function_part;   /* index of functions: their domains, names and overloads, ... */
    VfIntern *function_key;    /* ... the triples of those numbers, ... */
    VfFunction **function;     /* ... and by number of the triple the first function called so */
    size_t function_capacity;
    int32_t n_function;
    VfIntern *name;            /* every name a value of the model was ever made with */
    int32_t *name_suffix;      /* by number of the name: the last suffix tried for a fresh one */
    size_t suffix_capacity;
    int32_t n_node_id, n_value_id;
    int32_t n_subgraph;        /* graphs ever made inside nodes */
    VfClean clean;             /* kept by the pass manager; every change of the graph resets it */
    VfLabels *labels;          /* made for messages; all that reading a model may change */
    void *mapping; /* owned by converter/onnx: files kept mapped for the life of the model */
    void (*release_mapping)(void *mapping);
};

#endif
