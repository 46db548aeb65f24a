#include <string.h>

#include "converter/onnx/reader.h"

enum { VALUE_INFO = 13, SPARSE_INITIALIZER = 15, FUNCTION_VALUE_INFO = 12 };

/* Before this IR version every initializer had to be listed as an input. */
enum { FREE_INITIALIZER_IR = 4 };

static VfStatus check_named(VfReader *reader, ProtobufCBinaryData name, const char *what)
{
    return name.len > 0 ? VF_OK
                        : vf_reader_fault(reader, VF_INVALID, "%s without a name", what);
}

/* --- inputs and initializers --- */

static VfStatus read_input(VfReader *reader, VfGraph *graph, const Onnx__ValueInfoProto *proto)
{
    VfType type;
    VfOutputInfo info = {0};
    VF_TRY(check_named(reader, proto->name, "a graph input"));
    VF_TRY(vf_read_value_info(reader, proto, &type, &info));
    /* Nodes tell the types of their bodies' inputs. */
    if (graph == reader->model->graph && type.kind == VF_TYPE_TENSOR && type.dtype == VF_UNDEFINED)
        VF_TRY(vf_reader_remark(reader, "graph input '%s' has no type",
                                vf_reader_show(reader, proto->name)));
    VfValue *value = vf_graph_add_input(graph, vf_proto_bytes(proto->name), type);
    VF_TRY_ALLOC(value, reader->err);
    value->is_declared = true;
    value->doc = info.doc;
    value->meta = info.meta;
    value->raw_info = info.raw_info;
    return vf_reader_bind(reader, value, "graph input");
}

/* Names of the initializers that are constants although they are listed as inputs. */
static VfStatus listed_constants(VfReader *reader, const VfGraph *graph,
                                 const Onnx__GraphProto *proto, VfIntern **listed)
{
    *listed = vf_intern_new(reader->scratch);
    VF_TRY_ALLOC(*listed, reader->err);
    if (reader->model->ir_version >= FREE_INITIALIZER_IR || graph->owner != NULL)
        return VF_OK;
    for (size_t i = 0; i < proto->n_initializer; i++)
        VF_TRY(vf_intern_add(*listed, vf_proto_bytes(proto->initializer[i]->name), NULL,
                             reader->err));
    return VF_OK;
}

/* A declared type against the tensor. */
static VfStatus check_type(VfReader *reader, const VfType *declared, const VfTensor *tensor,
                           const char *owner)
{
    bool agrees = declared->kind == VF_TYPE_TENSOR &&
                  (declared->dtype == VF_UNDEFINED || declared->dtype == tensor->dtype) &&
                  (declared->rank == VF_RANK_UNKNOWN || declared->rank == tensor->rank);
    for (int32_t i = 0; agrees && i < declared->rank; i++)
        agrees = !vf_dim_is_known(declared->dims[i]) || declared->dims[i].k == tensor->dims[i];
    return agrees ? VF_OK
                  : vf_reader_fault(reader, VF_INVALID, "initializer '%s' is not of the type that "
                                    "is declared for it", owner);
}

/* For a tensor whose fault was collected: later nodes may still use the name, and nothing is known
 * of it that they could contradict. The model is thrown away in the end. */
static VfStatus stand_in(VfReader *reader, VfGraph *graph, const Onnx__TensorProto *proto)
{
    VfValue *value = vf_reader_find(reader, proto->name);
    if (value != NULL && value->graph == graph && value->kind == VF_VALUE_INPUT)
        return VF_OK;
    const VfTensor *empty = vf_tensor_i64(reader->arena, 0, NULL);
    VF_TRY_ALLOC(empty, reader->err);
    value = vf_graph_add_const(graph, vf_proto_bytes(proto->name), empty);
    VF_TRY_ALLOC(value, reader->err);
    value->kind = VF_VALUE_INPUT;
    value->tensor = NULL;
    value->type = (VfType){VF_TYPE_TENSOR, VF_UNDEFINED, VF_RANK_UNKNOWN, NULL};
    return vf_reader_bind(reader, value, "initializer");
}

static VfStatus read_initializer(VfReader *reader, VfGraph *graph,
                                 const Onnx__TensorProto *proto)
{
    const VfTensor *tensor;
    VfRaw raw;
    const char *owner = vf_reader_show(reader, proto->name);
    VF_TRY(check_named(reader, proto->name, "an initializer"));
    VF_TRY(vf_read_tensor(reader, proto, owner, &tensor));
    if (tensor == NULL)
        return stand_in(reader, graph, proto);
    VF_TRY(vf_reader_raw(reader, &proto->base, 0, &raw));
    VfValue *value = vf_reader_find(reader, proto->name);
    if (value != NULL && value->graph == graph && value->kind == VF_VALUE_INPUT) {
        if (value->tensor != NULL)
            return vf_reader_fault(reader, VF_INVALID,
                                   "initializer: the name '%s' is defined twice", owner);
        value->tensor = tensor;
        value->raw_tensor = raw;
        return check_type(reader, &value->type, tensor, owner);
    }
    value = vf_graph_add_const(graph, vf_proto_bytes(proto->name), tensor);
    VF_TRY_ALLOC(value, reader->err);
    value->raw_tensor = raw;
    return vf_reader_bind(reader, value, "initializer");
}

/* A sparse initializer is a Constant node whose attribute holds the field of the graph. */
static VfStatus read_sparse(VfReader *reader, VfGraph *graph,
                            const Onnx__SparseTensorProto *proto, VfRaw field)
{
    ProtobufCBinaryData none = {0, NULL};
    ProtobufCBinaryData name = proto->values == NULL ? none : proto->values->name;
    VF_TRY(check_named(reader, name, "a sparse initializer"));
    VfBytes result = vf_proto_bytes(name);
    VfNode *node = vf_node_new(graph, (VfBytes){"", 0}, (VfBytes){"Constant", 8}, 0, NULL, 1,
                               &result);
    VfAttr *attr = VF_NEW(reader->arena, VfAttr);
    if (node == NULL || attr == NULL)
        return vf_no_memory(reader->err);
    *attr = (VfAttr){.name = {"sparse_value", 12}, .type = VF_ATTR_SPARSE_TENSOR, .raw = field};
    const char *owner = vf_reader_show(reader, name);
    VF_TRY(vf_read_sparse(reader, field, owner, &attr->tensor));
    node->first_attr = attr;
    node->is_sparse_initializer = true;
    vf_node_link(node, NULL);
    return node->out[0] == NULL
               ? VF_OK
               : vf_reader_bind(reader, node->out[0], "sparse initializer");
}

static VfStatus read_sparse_list(VfReader *reader, VfGraph *graph, const Onnx__GraphProto *proto)
{
    const VfScan *scan = &reader->scan;
    VfPiece *piece = vf_scan_first(scan, &proto->base);
    for (size_t i = 0; i < proto->n_sparse_initializer; i++) {
        piece = vf_scan_noted(scan, piece, SPARSE_INITIALIZER);
        VfRaw field = {scan->data + piece->begin, piece->end - piece->begin};
        VF_TRY(read_sparse(reader, graph, proto->sparse_initializer[i], field));
        piece = vf_scan_next(scan, piece);
    }
    return VF_OK;
}

/* --- nodes --- */

static VfStatus bind_constant(VfReader *reader, VfValue *value, size_t position)
{
    VF_TRY(vf_arena_grow(reader->scratch, (void **)&reader->position, &reader->position_capacity,
                         (size_t)value->id + 1, sizeof *reader->position, reader->err));
    reader->position[value->id] = position;
    return vf_reader_bind_result(reader, value, "constant");
}

static VfStatus read_nodes(VfReader *reader, VfGraph *graph, size_t n, Onnx__NodeProto **proto)
{
    VfReaderGraph level = {.graph = graph, .n_node = n, .node = proto, .outer = reader->current};
    VfValue *value;
    if (reader->faults != NULL) {
        level.id = VF_NEW_ARRAY(reader->scratch, int32_t, n);
        VF_TRY_ALLOC(level.id, reader->err);
    }
    reader->current = &level;
    for (size_t i = 0; i < n; i++) {
        if (!vf_is_constant_node(proto[i]))
            continue;
        VF_TRY(vf_read_constant_node(reader, graph, proto[i], &value));
        if (value != NULL)
            VF_TRY(bind_constant(reader, value, i));
    }
    for (level.at = 0; level.at < n; level.at++) {
        if (vf_is_constant_node(proto[level.at]))
            continue;
        if (level.id != NULL)
            level.id[level.at] = reader->model->n_node_id;
        VF_TRY(vf_read_node(reader, graph, proto[level.at]));
    }
    reader->current = level.outer;
    /* Nodes in a cycle look for an operand in vain. */
    return level.id != NULL && level.makers != NULL ? vf_read_cycles(reader, &level) : VF_OK;
}

/* --- value_info --- */

static bool is_empty(const VfValue *value)
{
    return value->doc.size == 0 && value->meta == NULL && value->raw_info.size == 0;
}

/* Give what is declared to the value of that name. `*is_taken` is false when the graph has no
 * such value, or it was declared before. */
static VfStatus apply_info(VfReader *reader, VfGraph *graph, const Onnx__ValueInfoProto *proto,
                           bool *is_taken)
{
    VfValue *value = vf_reader_find(reader, proto->name);
    VfType type;
    VfOutputInfo info = {0};
    *is_taken = value != NULL && value->graph == graph && !value->is_declared;
    if (!*is_taken)
        return VF_OK;
    VF_TRY(vf_read_value_info(reader, proto, &type, &info));
    if (value->tensor != NULL) {
        VF_TRY(check_type(reader, &type, value->tensor, vf_reader_show(reader, proto->name)));
    } else {
        value->type = type;
    }
    value->is_declared = true;
    value->doc = info.doc;
    value->meta = info.meta;
    value->raw_info = info.raw_info;
    return VF_OK;
}

/* An entry that the value does not take: it was declared before. */
static VfStatus compare_info(VfReader *reader, const VfGraph *graph,
                             const Onnx__ValueInfoProto *proto)
{
    const VfValue *value = vf_reader_find(reader, proto->name);
    const VfSymbols *symbols = reader->model->symbols;
    VfType type;
    if (reader->faults == NULL || value == NULL || value->graph != graph)
        return VF_OK;
    VF_TRY(vf_read_type(reader, proto->type, vf_reader_show(reader, proto->name), &type));
    return vf_type_is_compatible(&type, &value->type)
               ? VF_OK
               : vf_reader_remark(reader, "value '%s' is declared %s and again %s",
                                  vf_value_label(value),
                                  vf_type_text(reader->scratch, symbols, &value->type),
                                  vf_type_text(reader->scratch, symbols, &type));
}

/* Entries that no value takes stay with the bytes the graph carries. */
static VfStatus apply_infos(VfReader *reader, VfGraph *graph, const ProtobufCMessage *holder,
                            uint32_t field, Onnx__ValueInfoProto **proto, size_t n)
{
    const VfScan *scan = &reader->scan;
    VfPiece *piece = vf_scan_first(scan, holder);
    for (size_t i = 0; i < n; i++) {
        bool is_taken;
        piece = vf_scan_noted(scan, piece, field);
        VF_TRY(apply_info(reader, graph, proto[i], &is_taken));
        if (!is_taken) {
            VF_TRY(compare_info(reader, graph, proto[i]));
            piece->kind = VF_PIECE_RAW;
        }
        piece = vf_scan_next(scan, piece);
    }
    return VF_OK;
}

/* --- outputs --- */

typedef struct Outputs {
    VfValue **value;
    VfBytes *name;
    VfType *type;
    VfOutputInfo *info;
} Outputs;

static VfStatus new_outputs(VfReader *reader, size_t n, Outputs *out)
{
    out->value = VF_NEW_ARRAY(reader->scratch, VfValue *, n);
    out->name = VF_NEW_ARRAY(reader->scratch, VfBytes, n);
    out->type = VF_NEW_ARRAY(reader->scratch, VfType, n);
    out->info = VF_NEW_ARRAY(reader->arena, VfOutputInfo, n);
    bool is_made = out->value != NULL && out->name != NULL && out->type != NULL;
    return is_made && out->info != NULL ? VF_OK : vf_no_memory(reader->err);
}

/* An output may be listed again; `lost` are the names of those that nothing gives. */
static VfStatus find_output(VfReader *reader, VfGraph *graph, ProtobufCBinaryData name,
                            VfIntern *lost, VfValue **value)
{
    *value = vf_reader_find(reader, name);
    if (*value != NULL)
        return VF_OK;
    if (vf_intern_find(lost, vf_proto_bytes(name)) < 0)
        VF_TRY(vf_reader_fault(reader, VF_INVALID, "output '%s' is not defined",
                               vf_reader_show(reader, name)));
    VF_TRY(vf_intern_add(lost, vf_proto_bytes(name), NULL, reader->err));
    return vf_reader_stand_in(reader, graph, value);
}

/* Names and values; types and the rest only where `proto` is there (functions have none). */
static VfStatus read_outputs(VfReader *reader, VfGraph *graph, size_t n,
                             const ProtobufCBinaryData *name, Onnx__ValueInfoProto **proto)
{
    Outputs out;
    bool says_more = false;
    VfIntern *lost = vf_intern_new(reader->scratch);
    VF_TRY_ALLOC(lost, reader->err);
    VF_TRY(new_outputs(reader, n, &out));
    for (size_t i = 0; i < n; i++) {
        ProtobufCBinaryData at = proto == NULL ? name[i] : proto[i]->name;
        VF_TRY(find_output(reader, graph, at, lost, &out.value[i]));
        VF_TRY(vf_read_type(reader, NULL, "", &out.type[i]));
        out.name[i] = vf_proto_bytes(at);
        if (proto != NULL)
            VF_TRY(vf_read_value_info(reader, proto[i], &out.type[i], &out.info[i]));
        says_more = says_more || out.info[i].doc.size > 0 || out.info[i].meta != NULL ||
                    out.info[i].raw_info.size > 0;
    }
    VF_TRY(vf_graph_set_outputs(graph, (int32_t)n, out.value, out.name, out.type,
                                reader->err));
    if (says_more)
        graph->output_info = out.info;
    return VF_OK;
}

/* An output knows its type from its own entry when no value_info gave it one. */
static void declare_outputs(VfGraph *graph)
{
    for (int32_t i = 0; i < graph->ret->n_in; i++) {
        VfValue *value = graph->ret->in[i].value;
        if (value == NULL || value->graph != graph || value->kind != VF_VALUE_RESULT)
            continue;
        bool is_unknown = value->type.kind == VF_TYPE_TENSOR &&
                          value->type.dtype == VF_UNDEFINED &&
                          value->type.rank == VF_RANK_UNKNOWN;
        if (is_unknown && is_empty(value))
            value->type = graph->output_type[i];
        value->is_declared = true;
    }
}

/* --- graphs and function bodies --- */

static VfStatus read_listed(VfReader *reader, VfGraph *graph, const Onnx__GraphProto *proto,
                            const VfIntern *listed)
{
    bool is_taken;
    for (size_t i = 0; i < proto->n_input; i++) {
        if (vf_intern_find(listed, vf_proto_bytes(proto->input[i]->name)) < 0)
            continue;
        VF_TRY(apply_info(reader, graph, proto->input[i], &is_taken));
        if (!is_taken)
            VF_TRY(vf_reader_fault(reader, VF_INVALID,
                                   "graph input: the name '%s' is defined twice",
                                   vf_reader_show(reader, proto->input[i]->name)));
    }
    return VF_OK;
}

static VfStatus read_values(VfReader *reader, VfGraph *graph, const Onnx__GraphProto *proto)
{
    VfIntern *listed;
    VF_TRY(listed_constants(reader, graph, proto, &listed));
    for (size_t i = 0; i < proto->n_input; i++) {
        if (vf_intern_find(listed, vf_proto_bytes(proto->input[i]->name)) < 0)
            VF_TRY(read_input(reader, graph, proto->input[i]));
    }
    for (size_t i = 0; i < proto->n_initializer; i++)
        VF_TRY(read_initializer(reader, graph, proto->initializer[i]));
    VF_TRY(read_listed(reader, graph, proto, listed));
    return read_sparse_list(reader, graph, proto);
}

VfStatus vf_read_graph(VfReader *reader, VfGraph *graph, const Onnx__GraphProto *proto)
{
    size_t mark = vf_scope_enter(&reader->scope);
    VF_TRY(vf_reader_copy(reader, proto->name, &graph->name));
    VF_TRY(vf_reader_copy(reader, proto->doc_string, &graph->doc));
    VF_TRY(vf_reader_metas(reader, proto->n_metadata_props, proto->metadata_props, &graph->meta));
    VF_TRY(read_values(reader, graph, proto));
    VF_TRY(read_nodes(reader, graph, proto->n_node, proto->node));
    VF_TRY(read_outputs(reader, graph, proto->n_output, NULL, proto->output));
    VF_TRY(apply_infos(reader, graph, &proto->base, VALUE_INFO, proto->value_info,
                       proto->n_value_info));
    VF_TRY(vf_reader_raw(reader, &proto->base, 0, &graph->raw));
    declare_outputs(graph);
    vf_scope_leave(&reader->scope, mark);
    return VF_OK;
}

VfStatus vf_read_function_body(VfReader *reader, VfGraph *graph,
                               const Onnx__FunctionProto *proto)
{
    size_t mark = vf_scope_enter(&reader->scope);
    VfType unknown;
    VF_TRY(vf_read_type(reader, NULL, "", &unknown));
    for (size_t i = 0; i < proto->n_input; i++) {
        VF_TRY(check_named(reader, proto->input[i], "a function input"));
        VfValue *value = vf_graph_add_input(graph, vf_proto_bytes(proto->input[i]), unknown);
        VF_TRY_ALLOC(value, reader->err);
        VF_TRY(vf_reader_bind(reader, value, "function input"));
    }
    VF_TRY(read_nodes(reader, graph, proto->n_node, proto->node));
    VF_TRY(read_outputs(reader, graph, proto->n_output, proto->output, NULL));
    VF_TRY(apply_infos(reader, graph, &proto->base, FUNCTION_VALUE_INFO, proto->value_info,
                       proto->n_value_info));
    vf_scope_leave(&reader->scope, mark);
    return VF_OK;
}
