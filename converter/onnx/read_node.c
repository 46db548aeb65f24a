#include <string.h>

#include "converter/onnx/reader.h"

/* A node in a message, before it has a record: name and operator. */
static const char *describe(VfReader *reader, const Onnx__NodeProto *proto)
{
    const char *text = vf_arena_printf(
        reader->scratch, "node '%s' (%s)", vf_reader_show(reader, proto->name),
        vf_reader_show(reader, proto->op_type));
    return text == NULL ? "node" : text;
}

static bool is_same(ProtobufCBinaryData a, ProtobufCBinaryData b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Whether a later node of a graph being read gives the value: then the order is wrong. */
static bool comes_later(const VfReader *reader, ProtobufCBinaryData name)
{
    for (const VfReaderGraph *at = reader->current; at != NULL; at = at->outer) {
        for (size_t i = at->at; i < at->n_node; i++) {
            for (size_t k = 0; k < at->node[i]->n_output; k++) {
                if (is_same(at->node[i]->output[k], name))
                    return true;
            }
        }
    }
    return false;
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

static VfStatus resolve(VfReader *reader, ProtobufCBinaryData name, const char *owner,
                        VfValue **out)
{
    *out = NULL;
    if (name.len == 0)
        return VF_OK;
    VfValue *value = vf_reader_find(reader, name);
    if (value != NULL && !is_early(reader, value)) {
        *out = value;
        return VF_OK;
    }
    const char *why = value != NULL || comes_later(reader, name)
                          ? "is used before the node that gives it: nodes are not sorted"
                          : "is not defined";
    VF_TRY(vf_reader_fault(reader, VF_INVALID, "%s: operand '%s' %s", owner,
                           vf_reader_show(reader, name), why));
    return vf_reader_stand_in(reader, reader->current->graph, out);
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
            VF_TRY(vf_reader_bind(reader, node->out[i], owner));
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
