#include <stdio.h>
#include <string.h>

#include "converter/onnx/wire.h"
#include "converter/onnx/writer.h"

static const char pass_key[] = "vitfold.pass", source_key[] = "vitfold.source";

static VfBytes literal(const char *text)
{
    return (VfBytes){text, strlen(text)};
}

/* --- attributes --- */

static VfRaw tensor_raw(const VfAttr *attr, int32_t i)
{
    return attr->raw_tensor == NULL ? (VfRaw){NULL, 0} : attr->raw_tensor[i];
}

static void write_lists(VfWriter *writer, const VfAttr *attr)
{
    VfEmit *emit = &writer->emit;
    VfBytes none = {NULL, 0};
    for (int32_t i = 0; i < attr->n; i++) {
        if (attr->type == VF_ATTR_FLOATS)
            vf_emit_float(emit, 7, attr->floats[i]);
        else if (attr->type == VF_ATTR_INTS)
            vf_emit_int(emit, 8, attr->ints[i]);
        else if (attr->type == VF_ATTR_STRINGS)
            vf_emit_bytes(emit, 9, attr->strings[i]);
        else if (attr->type == VF_ATTR_TENSORS)
            vf_write_tensor(writer, 10, attr->tensors[i], none, tensor_raw(attr, i));
        else if (attr->type == VF_ATTR_GRAPHS)
            vf_write_graph(writer, 11, attr->graphs[i]);
    }
}

static void write_attr_value(VfWriter *writer, const VfAttr *attr)
{
    VfBytes none = {NULL, 0};
    if (attr->type == VF_ATTR_FLOAT)
        vf_emit_float(&writer->emit, 2, attr->f);
    else if (attr->type == VF_ATTR_INT)
        vf_emit_int(&writer->emit, 3, attr->i);
    else if (attr->type == VF_ATTR_STRING)
        vf_emit_lent(&writer->emit, 4, attr->s.data, attr->s.size);
    else if (attr->type == VF_ATTR_TENSOR && attr->tensor != NULL)
        vf_write_tensor(writer, 5, attr->tensor, none, tensor_raw(attr, 0));
    else if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
        vf_write_graph(writer, 6, attr->graph);
    else
        write_lists(writer, attr);
}

void vf_write_attr(VfWriter *writer, uint32_t field, const VfAttr *attr)
{
    VfEmit *emit = &writer->emit;
    VfEmitMark mark = vf_emit_begin(emit, field);
    vf_emit_bytes(emit, 1, attr->name);
    if (attr->ref.size == 0)
        write_attr_value(writer, attr);
    vf_emit_some_bytes(emit, 13, attr->doc);
    vf_emit_some_int(emit, 20, (int64_t)attr->type);
    vf_emit_some_bytes(emit, 21, attr->ref);
    vf_emit_fields(emit, attr->raw.data, attr->raw.size);
    vf_emit_end(emit, mark);
}

static void write_attrs(VfWriter *writer, const VfAttr *first)
{
    for (const VfAttr *attr = first; attr != NULL; attr = attr->next)
        vf_write_attr(writer, 5, attr);
}

/* --- origins --- */

/* "a, b, c": the nodes that were replaced. */
static VfBytes source_text(VfWriter *writer, const VfOrigin *origin)
{
    const char *text = "";
    for (int32_t i = 0; i < origin->n_source && text != NULL; i++)
        text = vf_arena_printf(writer->arena, "%s%s%s", text, i == 0 ? "" : ", ",
                               vf_node_label(origin->source[i]));
    writer->emit.failed |= text == NULL;
    return text == NULL ? (VfBytes){NULL, 0} : literal(text);
}

/* For the model: KEY:NODE. */
static void keep_origin(VfWriter *writer, const char *key, VfBytes node, VfBytes value)
{
    VfMeta *meta = VF_NEW(writer->arena, VfMeta);
    size_t n_key = strlen(key);
    char *text = vf_arena_alloc(writer->arena, n_key + 1 + node.size + 1);
    if (meta == NULL || text == NULL) {
        writer->emit.failed = true;
        return;
    }
    memcpy(text, key, n_key);
    text[n_key] = ':';
    if (node.size > 0)
        memcpy(text + n_key + 1, node.data, node.size);
    *meta = (VfMeta){{text, n_key + 1 + node.size}, value, writer->origin};
    writer->origin = meta;
}

/* Fields 9 of the node, or something for the model to say of it. */
static void write_origin(VfWriter *writer, const VfOrigin *origin, VfBytes node)
{
    VfBytes source = source_text(writer, origin);
    if (writer->model->ir_version < VF_IR_NODE_METADATA) {
        keep_origin(writer, pass_key, node, literal(origin->pass));
        if (source.size > 0)
            keep_origin(writer, source_key, node, source);
        return;
    }
    VfMeta from = {literal(source_key), source, NULL};
    VfMeta pass = {literal(pass_key), literal(origin->pass), source.size > 0 ? &from : NULL};
    vf_write_metas(writer, 9, &pass);
}

/* --- nodes --- */

/* The fields after operands and results. */
static void write_rest(VfWriter *writer, const VfNode *node)
{
    VfEmit *emit = &writer->emit;
    VfBytes name = vf_node_written_name(writer, node);
    vf_emit_some_bytes(emit, 3, name);
    vf_emit_bytes(emit, 4, node->op_type);
    write_attrs(writer, node->first_attr);
    vf_emit_some_bytes(emit, 6, node->doc);
    vf_emit_some_bytes(emit, 7, node->domain);
    vf_emit_some_bytes(emit, 8, node->overload);
    vf_write_metas(writer, 9, node->meta);
    if (node->origin != NULL)
        write_origin(writer, node->origin, name);
    vf_emit_fields(emit, node->raw.data, node->raw.size);
}

/* The sparse tensor of a node that was a sparse initializer: the same bytes under another tag. */
static void write_sparse_attr(VfWriter *writer, const VfAttr *attr)
{
    VfWireField field;
    VfWire wire = {attr->raw.data, 0, attr->raw.size};
    if (vf_wire_field(&wire, &field) != VF_WIRE_OK)
        return;
    VfEmitMark mark = vf_emit_begin(&writer->emit, 5);
    vf_emit_bytes(&writer->emit, 1, attr->name);
    vf_emit_int(&writer->emit, 20, (int64_t)attr->type);
    vf_emit_lent(&writer->emit, 22, wire.data + field.payload, field.end - field.payload);
    vf_emit_end(&writer->emit, mark);
}

void vf_write_node(VfWriter *writer, uint32_t field, const VfNode *node)
{
    VfEmit *emit = &writer->emit;
    VfEmitMark mark = vf_emit_begin(emit, field);
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = node->in[i].value;
        vf_emit_bytes(emit, 1, value == NULL ? literal("") : vf_value_written_name(writer, value));
    }
    for (int32_t i = 0; i < node->n_out; i++) {
        const VfValue *value = node->out[i];
        vf_emit_bytes(emit, 2, value == NULL ? literal("") : vf_value_written_name(writer, value));
    }
    if (node->is_sparse_initializer) {
        vf_emit_bytes(emit, 4, node->op_type);
        write_sparse_attr(writer, node->first_attr);
    } else {
        write_rest(writer, node);
    }
    vf_emit_end(emit, mark);
}

/* Opset 12 brought value_int and its like. */
static bool is_too_new(const VfValue *value)
{
    const VfAttr *attr = value->constant->first_attr;
    return attr != NULL && attr->type != VF_ATTR_TENSOR &&
           vf_graph_opset(value->graph, literal("")) < 12;
}

void vf_write_constant(VfWriter *writer, uint32_t field, const VfValue *value)
{
    VfEmit *emit = &writer->emit;
    VfEmitMark mark = vf_emit_begin(emit, field);
    vf_emit_bytes(emit, 2, vf_value_written_name(writer, value));
    VfAttr attr = {.name = literal("value"), .type = VF_ATTR_TENSOR, .tensor = value->tensor,
                   .raw_tensor = &value->raw_tensor};
    if (value->constant != NULL && is_too_new(value)) {
        VfNode node = *value->constant;
        node.first_attr = &attr;
        write_rest(writer, &node);
    } else if (value->constant != NULL) {
        write_rest(writer, value->constant);
    } else {
        vf_emit_bytes(emit, 4, literal("Constant"));
        vf_write_attr(writer, 5, &attr);
    }
    vf_emit_end(emit, mark);
}

void vf_write_identity(VfWriter *writer, uint32_t field, VfBytes from, VfBytes to)
{
    VfEmit *emit = &writer->emit;
    VfEmitMark mark = vf_emit_begin(emit, field);
    char *name = vf_arena_alloc(writer->arena, to.size + sizeof "vitfold.output.");
    vf_emit_bytes(emit, 1, from);
    vf_emit_bytes(emit, 2, to);
    if (name == NULL) {
        emit->failed = true;
        return;
    }
    int n = sprintf(name, "vitfold.output.");
    memcpy(name + n, to.data, to.size);
    VfBytes full = {name, (size_t)n + to.size};
    VfOrigin origin = {.pass = "export"};
    vf_emit_bytes(emit, 3, full);
    vf_emit_bytes(emit, 4, literal("Identity"));
    write_origin(writer, &origin, full);
    vf_emit_end(emit, mark);
}
