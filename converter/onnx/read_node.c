#include <string.h>

#include "converter/onnx/reader.h"

const char *vf_reader_node(VfReader *reader, const Onnx__NodeProto *proto, int32_t id)
{
    const char *text = proto->name.len > 0
                           ? vf_arena_printf(reader->scratch, "'%s'",
                                             vf_reader_show(reader, proto->name))
                           : vf_arena_printf(reader->scratch, "'%s#%d'",
                                             vf_reader_show(reader, proto->op_type), (int)id);
    return text == NULL ? "''" : text;
}

/* A node in a message, before it has a record: name and operator. It is the next that gets one. */
static const char *describe(VfReader *reader, const Onnx__NodeProto *proto)
{
    const char *text = vf_arena_printf(
        reader->scratch, "node %s (%s)", vf_reader_node(reader, proto, reader->model->n_node_id),
        vf_reader_show(reader, proto->op_type));
    return text == NULL ? "node" : text;
}

typedef enum Lack {
    LACK_ALL,   /* no node gives the value */
    LACK_ORDER, /* a later node of a graph being read does */
    LACK_CYCLE  /* one that needs a result of this node */
} Lack;

static VfStatus find_lack(VfReader *reader, ProtobufCBinaryData name, Lack *lack)
{
    *lack = LACK_ALL;
    for (VfReaderGraph *at = reader->current; at != NULL; at = at->outer) {
        VF_TRY(vf_read_makers(reader, at));
        int32_t id = vf_intern_find(at->makers->result, vf_proto_bytes(name));
        size_t maker = id < 0 ? 0 : at->makers->maker[id];
        if (id < 0 || maker < at->at)
            continue;
        bool is_cycle = at == reader->current &&
                        at->makers->group[maker] == at->makers->group[at->at];
        *lack = is_cycle ? LACK_CYCLE : LACK_ORDER;
        return VF_OK;
    }
    return VF_OK;
}

/* A Constant node is bound before all others, but a use must still come after it. */
static bool is_early(const VfReader *reader, const VfValue *value)
{
    if (value->constant == NULL)
        return false;
    for (const VfReaderGraph *at = reader->current; at != NULL; at = at->outer) {
        if (at->graph == value->graph)
            return reader->position[value->id] > at->at;
    }
    return false;
}

/* A cycle is named as a whole once all nodes have numbers. */
static VfStatus fault_operand(VfReader *reader, ProtobufCBinaryData name, const char *owner)
{
    static const char unsorted[] = "is used before the node that gives it: nodes are not sorted";
    static const char *const why[] = {"is not defined", unsorted, unsorted};
    Lack lack = LACK_ORDER;
    if (vf_reader_find(reader, name) == NULL)
        VF_TRY(find_lack(reader, name, &lack));
    if (lack == LACK_CYCLE && reader->faults != NULL)
        return VF_OK;
    return vf_reader_fault(reader, VF_INVALID, "%s: operand '%s' %s", owner,
                           vf_reader_show(reader, name), why[lack]);
}

static VfStatus find_missing(VfReader *reader, ProtobufCBinaryData name, VfReaderMissing **out)
{
    int32_t id;
    if (reader->missing_name == NULL)
        reader->missing_name = vf_intern_new(reader->scratch);
    VF_TRY_ALLOC(reader->missing_name, reader->err);
    VF_TRY(vf_intern_add(reader->missing_name, vf_proto_bytes(name), &id, reader->err));
    VF_TRY(vf_arena_grow(reader->scratch, (void **)&reader->missing, &reader->missing_capacity,
                         (size_t)id + 1, sizeof *reader->missing, reader->err));
    *out = &reader->missing[id];
    return VF_OK;
}

/* The operand `name` of the node that gets the next number. */
static VfStatus resolve(VfReader *reader, ProtobufCBinaryData name, const char *owner,
                        VfValue **out)
{
    VfReaderMissing *missing = NULL;
    *out = NULL;
    if (name.len == 0)
        return VF_OK;
    VfValue *value = vf_reader_find(reader, name);
    if (value != NULL && !is_early(reader, value)) {
        *out = value;
        return VF_OK;
    }
    VF_TRY(find_missing(reader, name, &missing));
    if (missing->node != reader->model->n_node_id + 1) {
        missing->node = reader->model->n_node_id + 1;
        VF_TRY(fault_operand(reader, name, owner));
        VF_TRY(vf_reader_stand_in(reader, reader->current->graph, &missing->stand_in));
    }
    *out = missing->stand_in;
    return VF_OK;
}

/* Node in the model with its operands; results get their names. */
static VfStatus make_node(VfReader *reader, VfGraph *graph, const Onnx__NodeProto *proto,
                          const char *owner, VfNode **out)
{
    VfBytes domain;
    VfValue **in = VF_NEW_ARRAY(reader->scratch, VfValue *, proto->n_input);
    VfBytes *name = VF_NEW_ARRAY(reader->scratch, VfBytes, proto->n_output);
    if (in == NULL || name == NULL)
        return vf_no_memory(reader->err);
    for (size_t i = 0; i < proto->n_input; i++)
        VF_TRY(resolve(reader, proto->input[i], owner, &in[i]));
    for (size_t i = 0; i < proto->n_output; i++) {
        if (proto->output[i].len > 0)
            name[i] = vf_proto_bytes(proto->output[i]);
    }
    VF_TRY(vf_reader_domain(reader, proto->domain, &domain));
    *out = vf_node_new(graph, domain, vf_proto_bytes(proto->op_type), (int32_t)proto->n_input,
                       in, (int32_t)proto->n_output, name);
    VF_TRY_ALLOC(*out, reader->err);
    return VF_OK;
}

static VfStatus fill_node(VfReader *reader, const Onnx__NodeProto *proto, const char *owner,
                          VfNode *node)
{
    VF_TRY(vf_reader_copy(reader, proto->overload, &node->overload));
    VF_TRY(vf_reader_copy(reader, proto->name, &node->name));
    VF_TRY(vf_reader_copy(reader, proto->doc_string, &node->doc));
    VF_TRY(vf_reader_metas(reader, proto->n_metadata_props, proto->metadata_props, &node->meta));
    VF_TRY(vf_reader_raw(reader, &proto->base, 0, &node->raw));
    return vf_read_attrs(reader, node->graph, node, owner, proto->n_attribute, proto->attribute,
                         &node->first_attr);
}

static VfStatus check_node(VfReader *reader, const VfGraph *graph, const Onnx__NodeProto *proto,
                           const char *owner)
{
    VfBytes domain;
    if (proto->op_type.len == 0)
        return vf_reader_fault(reader, VF_INVALID, "%s: no operator", owner);
    VF_TRY(vf_reader_domain(reader, proto->domain, &domain));
    if (graph->function == NULL && reader->model->n_opset == 0)
        return VF_OK; /* told once */
    if (vf_graph_opset(graph, domain) == 0)
        return vf_reader_fault(reader, VF_INVALID, "%s: the %s imports no opset of domain '%s'",
                               owner, graph->function == NULL ? "model" : "function",
                               vf_reader_show(reader, proto->domain));
    return VF_OK;
}

VfStatus vf_reader_bind_result(VfReader *reader, VfValue *value, const char *owner)
{
    const VfValue *outer = vf_scope_find_id(&reader->scope, value->name_id);
    if (outer != NULL && outer->graph != value->graph && !is_early(reader, outer))
        VF_TRY(vf_reader_remark(reader, "%s: result '%s' has the name of a value of a graph around "
                                "it", owner, vf_value_label(value)));
    return vf_reader_bind(reader, value, owner);
}

VfStatus vf_read_node(VfReader *reader, VfGraph *graph, const Onnx__NodeProto *proto)
{
    VfNode *node;
    const char *owner = describe(reader, proto);
    VF_TRY(check_node(reader, graph, proto, owner));
    VF_TRY(make_node(reader, graph, proto, owner, &node));
    VF_TRY(fill_node(reader, proto, owner, node));
    vf_node_link(node, NULL);
    for (int32_t i = 0; i < node->n_out; i++) {
        if (node->out[i] != NULL)
            VF_TRY(vf_reader_bind_result(reader, node->out[i], owner));
    }
    return VF_OK;
}

/* The attributes of Constant that give a tensor. */
static const struct {
    const char *name;
    VfAttrType type;
} constant_form[] = {
    {"value", VF_ATTR_TENSOR},       {"value_int", VF_ATTR_INT},
    {"value_ints", VF_ATTR_INTS},    {"value_float", VF_ATTR_FLOAT},
    {"value_floats", VF_ATTR_FLOATS},
};

static bool is_word(ProtobufCBinaryData bytes, const char *word)
{
    return bytes.len == strlen(word) && memcmp(bytes.data, word, bytes.len) == 0;
}

bool vf_is_constant_node(const Onnx__NodeProto *proto)
{
    bool is_standard = proto->domain.len == 0 || is_word(proto->domain, "ai.onnx");
    if (!is_standard || !is_word(proto->op_type, "Constant") || proto->n_input != 0 ||
        proto->n_output != 1 || proto->output[0].len == 0 || proto->n_attribute != 1)
        return false;
    const Onnx__AttributeProto *attr = proto->attribute[0];
    for (size_t i = 0; i < sizeof constant_form / sizeof constant_form[0]; i++) {
        if (is_word(attr->name, constant_form[i].name))
            return attr->type == (int32_t)constant_form[i].type && attr->ref_attr_name.len == 0;
    }
    return false;
}

/* The tensor that the attribute of a Constant node states. */
static VfStatus attr_tensor(VfReader *reader, const VfAttr *attr, const VfTensor **out)
{
    VfArena *arena = reader->arena;
    VfTensor *tensor;
    void *data;
    int64_t n = attr->n;
    bool is_list = attr->type == VF_ATTR_INTS || attr->type == VF_ATTR_FLOATS;
    bool is_float = attr->type == VF_ATTR_FLOAT || attr->type == VF_ATTR_FLOATS;
    *out = attr->tensor;
    if (attr->type == VF_ATTR_TENSOR)
        return VF_OK;
    VF_TRY(vf_tensor_new(arena, is_float ? VF_F32 : VF_I64, is_list, is_list ? &n : NULL, &tensor,
                         &data, reader->err));
    const void *from = is_list ? (is_float ? (const void *)attr->floats : attr->ints)
                               : (is_float ? (const void *)&attr->f : &attr->i);
    if (tensor->bytes > 0)
        memcpy(data, from, tensor->bytes);
    *out = tensor;
    return VF_OK;
}

VfStatus vf_read_constant_node(VfReader *reader, VfGraph *graph, const Onnx__NodeProto *proto,
                               VfValue **value)
{
    const VfTensor *tensor;
    const char *owner = describe(reader, proto);
    VF_TRY(check_node(reader, graph, proto, owner));
    VfNode *node = vf_node_new(graph, (VfBytes){"", 0}, vf_proto_bytes(proto->op_type), 0, NULL,
                               0, NULL);
    VF_TRY_ALLOC(node, reader->err);
    VF_TRY(fill_node(reader, proto, owner, node));
    VF_TRY(attr_tensor(reader, node->first_attr, &tensor));
    *value = NULL;
    if (tensor == NULL) /* after a fault that was collected */
        return VF_OK;
    *value = vf_graph_add_const(graph, vf_proto_bytes(proto->output[0]), tensor);
    VF_TRY_ALLOC(*value, reader->err);
    (*value)->constant = node;
    return VF_OK;
}
