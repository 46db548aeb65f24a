#include <string.h>

#include "converter/onnx/writer.h"
#include "runtime/base/intern.h"

/* Whether a constant is written as a Constant node: it was one and still is the same. */
static bool is_constant_node(const VfValue *value)
{
    if (value->kind != VF_VALUE_CONST || value->constant == NULL)
        return false;
    const VfAttr *attr = value->constant->first_attr;
    return attr->type != VF_ATTR_TENSOR || attr->tensor == value->tensor;
}

static bool is_initializer(const VfValue *value)
{
    return value->kind == VF_VALUE_CONST && !is_constant_node(value);
}

/* A sparse initializer stays one while its result has the name that its bytes say. */
static bool is_sparse_field(const VfWriter *writer, const VfNode *node)
{
    return node->is_sparse_initializer && node->graph->function == NULL && node->n_out == 1 &&
           node->out[0] != NULL && writer->name.value[node->out[0]->id].data == NULL;
}

/* Outputs that are no value by name; one that is listed again is copied once. */
static void write_copies(VfWriter *writer, uint32_t field, const VfGraph *graph)
{
    VfIntern *copied = NULL;
    for (int32_t i = 0; i < graph->ret->n_in && !writer->emit.failed; i++) {
        int32_t id, n = copied == NULL ? 0 : vf_intern_count(copied);
        if (!vf_output_is_copied(writer, graph, i))
            continue;
        if (copied == NULL)
            copied = vf_intern_new(writer->arena);
        writer->emit.failed |=
            copied == NULL || vf_intern_add(copied, graph->output_name[i], &id, NULL) != VF_OK;
        if (!writer->emit.failed && id == n)
            vf_write_identity(writer, field,
                              vf_value_written_name(writer, graph->ret->in[i].value),
                              graph->output_name[i]);
    }
}

static void write_nodes(VfWriter *writer, uint32_t field, const VfGraph *graph)
{
    bool is_body = graph->function != NULL && graph == graph->function->body;
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        if (is_constant_node(value) || (is_body && is_initializer(value)))
            vf_write_constant(writer, field, value);
    }
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        if (!is_sparse_field(writer, node))
            vf_write_node(writer, field, node);
    }
    write_copies(writer, field, graph);
}

static void write_initializers(VfWriter *writer, const VfGraph *graph)
{
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        bool is_default = value->kind == VF_VALUE_INPUT && value->tensor != NULL;
        if (is_default || is_initializer(value))
            vf_write_tensor(writer, 5, value->tensor, vf_value_written_name(writer, value),
                            value->raw_tensor);
    }
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        if (is_sparse_field(writer, node))
            vf_emit_fields(&writer->emit, node->first_attr->raw.data, node->first_attr->raw.size);
    }
}

static void write_info(VfWriter *writer, uint32_t field, const VfValue *value)
{
    VfOutputInfo info = {value->doc, value->meta, value->raw_info};
    vf_write_value_info(writer, field, vf_value_written_name(writer, value), &value->type, &info);
}

/* Before IR 4 initializers of the main graph are inputs, too. */
static bool is_listed(const VfWriter *writer, const VfGraph *graph, const VfValue *value)
{
    return writer->model->ir_version < VF_IR_FREE_INITIALIZER &&
           graph == writer->model->graph && is_initializer(value);
}

static void write_inputs(VfWriter *writer, const VfGraph *graph)
{
    for (int32_t i = 0; i < graph->n_input; i++)
        write_info(writer, 11, graph->input[i]);
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        if (is_listed(writer, graph, value))
            write_info(writer, 11, value);
    }
}

static void write_outputs(VfWriter *writer, const VfGraph *graph)
{
    static const VfOutputInfo none;
    for (int32_t i = 0; i < graph->ret->n_in; i++) {
        const VfOutputInfo *info = graph->output_info == NULL ? &none : &graph->output_info[i];
        vf_write_value_info(writer, 12, graph->output_name[i], &graph->output_type[i], info);
    }
}

/* An output is declared by its own entry, unless more is said of the value. */
static bool has_value_info(const VfWriter *writer, const VfGraph *graph, const VfValue *value)
{
    bool says_more = value->doc.size > 0 || value->meta != NULL || value->raw_info.size > 0;
    return value->is_declared && value->kind != VF_VALUE_INPUT &&
           !is_listed(writer, graph, value) &&
           (says_more || graph->function != NULL || !vf_value_is_output(value));
}

static void write_value_infos(VfWriter *writer, uint32_t field, const VfGraph *graph)
{
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        if (has_value_info(writer, graph, value))
            write_info(writer, field, value);
    }
}

void vf_write_graph(VfWriter *writer, uint32_t field, const VfGraph *graph)
{
    VfEmit *emit = &writer->emit;
    VfEmitMark mark = vf_emit_begin(emit, field);
    write_nodes(writer, 1, graph);
    vf_emit_some_bytes(emit, 2, graph->name);
    write_initializers(writer, graph);
    vf_emit_some_bytes(emit, 10, graph->doc);
    write_inputs(writer, graph);
    write_outputs(writer, graph);
    write_value_infos(writer, 13, graph);
    vf_write_metas(writer, 16, graph->meta);
    vf_emit_fields(emit, graph->raw.data, graph->raw.size);
    vf_emit_end(emit, mark);
}

static void write_opsets(VfWriter *writer, uint32_t field, int32_t n, const VfOpset *opset)
{
    for (int32_t i = 0; i < n; i++) {
        VfEmitMark mark = vf_emit_begin(&writer->emit, field);
        vf_emit_bytes(&writer->emit, 1, opset[i].domain);
        vf_emit_int(&writer->emit, 2, opset[i].version);
        vf_emit_end(&writer->emit, mark);
    }
}

static void write_function(VfWriter *writer, uint32_t field, const VfFunction *function)
{
    VfEmit *emit = &writer->emit;
    const VfGraph *body = function->body;
    VfEmitMark mark = vf_emit_begin(emit, field);
    vf_emit_bytes(emit, 1, function->name);
    for (int32_t i = 0; i < body->n_input; i++)
        vf_emit_bytes(emit, 4, vf_value_written_name(writer, body->input[i]));
    for (int32_t i = 0; i < body->ret->n_in; i++)
        vf_emit_bytes(emit, 5, body->output_name[i]);
    for (int32_t i = 0; i < function->n_attr_name; i++)
        vf_emit_bytes(emit, 6, function->attr_name[i]);
    write_nodes(writer, 7, body);
    vf_emit_some_bytes(emit, 8, function->doc);
    write_opsets(writer, 9, function->n_opset, function->opset);
    vf_emit_some_bytes(emit, 10, function->domain);
    for (const VfAttr *attr = function->first_attr_default; attr != NULL; attr = attr->next)
        vf_write_attr(writer, 11, attr);
    write_value_infos(writer, 12, body);
    vf_emit_some_bytes(emit, 13, function->overload);
    vf_write_metas(writer, 14, function->meta);
    vf_emit_fields(emit, function->raw.data, function->raw.size);
    vf_emit_end(emit, mark);
}

/* Metadata of the model, and origins of nodes that it does not tell already. */
static void write_model_metas(VfWriter *writer)
{
    VfMeta *origin = NULL;
    vf_write_metas(writer, 14, writer->model->meta);
    VfIntern *known = writer->origin == NULL ? NULL : vf_intern_new(writer->arena);
    writer->emit.failed |= known == NULL && writer->origin != NULL;
    while (writer->origin != NULL && !writer->emit.failed) { /* oldest first */
        VfMeta *next = writer->origin->next;
        writer->origin->next = origin;
        origin = writer->origin;
        writer->origin = next;
    }
    for (const VfMeta *meta = writer->model->meta; meta != NULL && origin != NULL;
         meta = meta->next)
        writer->emit.failed |= vf_intern_add(known, meta->key, NULL, NULL) != VF_OK;
    for (const VfMeta *meta = origin; meta != NULL; meta = meta->next) {
        VfMeta alone = {meta->key, meta->value, NULL};
        if (vf_intern_find(known, meta->key) < 0)
            vf_write_metas(writer, 14, &alone);
    }
}

void vf_write_model(VfWriter *writer)
{
    VfEmit *emit = &writer->emit;
    const VfModel *model = writer->model;
    vf_emit_int(emit, 1, model->ir_version);
    vf_emit_some_bytes(emit, 2, model->producer_name);
    vf_emit_some_bytes(emit, 3, model->producer_version);
    vf_emit_some_bytes(emit, 4, model->domain);
    vf_emit_some_int(emit, 5, model->model_version);
    vf_emit_some_bytes(emit, 6, model->doc);
    vf_write_graph(writer, 7, model->graph);
    write_opsets(writer, 8, model->n_opset, model->opset);
    for (const VfFunction *at = model->first_function; at != NULL; at = at->next)
        write_function(writer, 25, at);
    write_model_metas(writer);
    vf_emit_fields(emit, model->raw.data, model->raw.size);
}
