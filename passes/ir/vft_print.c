#include "passes/ir/vft_print.h"

#include <inttypes.h>

enum { WRAP_COUNT = 4 }; /* lists of inputs or outputs this long are printed one to a line */

static bool is_type_known(const VfType *type)
{
    return type->kind != VF_TYPE_TENSOR || type->dtype != VF_UNDEFINED ||
           type->rank != VF_RANK_UNKNOWN;
}

/* The list of outputs says the type of an output of the same name already. */
static bool is_type_in_outputs(const VfValue *value)
{
    const VfGraph *graph = value->graph;
    for (const VfUse *use = value->first_use; use != NULL; use = use->next) {
        if (use->node == graph->ret &&
            vf_bytes_is_equal(graph->output_name[use->slot], value->name))
            return vf_type_is_equal(&graph->output_type[use->slot], &value->type);
    }
    return false;
}

void vf_vft_print_definition(VfVftPrint *p, const VfValue *value)
{
    VfVftNotes notes = {p, false};
    vf_vft_print_value(p, value);
    if (value->is_declared && (value->kind == VF_VALUE_INPUT || !is_type_in_outputs(value))) {
        vf_text_string(p->text, ": ");
        vf_vft_print_type(p, &value->type);
    }
    vf_vft_note_bytes(&notes, "doc", value->doc);
    vf_vft_note_meta(&notes, value->meta);
    vf_vft_note_raw(&notes, "info", value->raw_info);
    vf_vft_note_raw(&notes, "tensor", value->raw_tensor);
    vf_vft_notes_end(&notes);
}

static void print_separator(VfVftPrint *p, int32_t i, int32_t n)
{
    vf_text_string(p->text, i == 0 ? "" : n >= WRAP_COUNT ? "," : ", ");
    if (n >= WRAP_COUNT)
        vf_vft_print_line(p);
}

static void print_inputs(VfVftPrint *p, const VfGraph *graph)
{
    p->depth++;
    vf_text_char(p->text, '(');
    for (int32_t i = 0; i < graph->n_input; i++) {
        const VfValue *input = graph->input[i];
        print_separator(p, i, graph->n_input);
        vf_vft_print_definition(p, input);
        if (input->tensor != NULL) {
            vf_text_string(p->text, " = ");
            vf_vft_print_tensor(p, input->tensor);
        }
    }
    vf_text_char(p->text, ')');
    p->depth--;
}

static void print_output_info(VfVftPrint *p, const VfOutputInfo *info)
{
    VfVftNotes notes = {p, false};
    vf_vft_note_bytes(&notes, "doc", info->doc);
    vf_vft_note_meta(&notes, info->meta);
    vf_vft_note_raw(&notes, "info", info->raw_info);
    vf_vft_notes_end(&notes);
}

static void print_outputs(VfVftPrint *p, const VfGraph *graph)
{
    int32_t n = graph->ret->n_in;
    p->depth++;
    vf_text_char(p->text, '(');
    for (int32_t i = 0; i < n; i++) {
        const VfValue *value = graph->ret->in[i].value;
        print_separator(p, i, n);
        vf_vft_print_name(p->text, graph->output_name[i]);
        if (value == NULL || !vf_bytes_is_equal(value->name, graph->output_name[i])) {
            vf_text_string(p->text, " = ");
            vf_vft_print_value(p, value);
        }
        if (is_type_known(&graph->output_type[i])) {
            vf_text_string(p->text, ": ");
            vf_vft_print_type(p, &graph->output_type[i]);
        }
        if (graph->output_info != NULL)
            print_output_info(p, &graph->output_info[i]);
    }
    vf_text_char(p->text, ')');
    p->depth--;
}

static void print_result_types(VfVftPrint *p, const VfNode *node)
{
    if (!p->style.with_types || node->n_out == 0)
        return;
    vf_text_string(p->text, "  #");
    for (int32_t i = 0; i < node->n_out; i++) {
        vf_text_string(p->text, i > 0 ? ", " : " ");
        if (node->out[i] == NULL)
            vf_text_char(p->text, '_');
        else
            vf_vft_print_type(p, &node->out[i]->type);
    }
}

static void print_const(VfVftPrint *p, const VfValue *value)
{
    const VfNode *node = value->constant;
    vf_vft_print_definition(p, value);
    vf_text_string(p->text, " = const");
    if (node != NULL) {
        vf_text_printf(p->text, "(%.*s", (int)node->first_attr->name.size,
                       node->first_attr->name.data);
        vf_vft_print_attr_notes(p, node->first_attr);
        vf_text_char(p->text, ')');
    }
    vf_text_char(p->text, ' ');
    vf_vft_print_tensor(p, value->tensor);
    if (node != NULL)
        vf_vft_print_node_tail(p, node);
}

/* Constants first: their order among themselves is what a file has. */
static void print_body(VfVftPrint *p, const VfGraph *graph)
{
    vf_text_string(p->text, " {");
    p->depth++;
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        if (value->kind != VF_VALUE_CONST)
            continue;
        vf_vft_print_line(p);
        print_const(p, value);
    }
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        vf_vft_print_line(p);
        vf_vft_print_statement(p, node);
        print_result_types(p, node);
    }
    p->depth--;
    vf_vft_print_line(p);
    vf_text_char(p->text, '}');
}

/* Inputs, outputs and body: all of a graph after its name and notes. */
static void print_graph_rest(VfVftPrint *p, const VfGraph *graph)
{
    vf_text_char(p->text, ' ');
    print_inputs(p, graph);
    vf_text_string(p->text, " -> ");
    print_outputs(p, graph);
    print_body(p, graph);
}

void vf_vft_print_graph(VfVftPrint *p, const VfGraph *graph, bool with_name)
{
    VfVftNotes notes = {p, false};
    if (graph->name.size != 0 || with_name) {
        vf_text_string(p->text, with_name ? "" : " ");
        vf_vft_print_name(p->text, graph->name);
    }
    vf_vft_note_bytes(&notes, "doc", graph->doc);
    vf_vft_note_meta(&notes, graph->meta);
    vf_vft_note_raw(&notes, "raw", graph->raw);
    vf_vft_notes_end(&notes);
    print_graph_rest(p, graph);
}

static void print_opsets(VfVftPrint *p, const VfOpset *opset, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        vf_text_string(p->text, " opset");
        if (opset[i].domain.size != 0) {
            vf_text_char(p->text, ' ');
            vf_vft_print_name(p->text, opset[i].domain);
        }
        vf_text_printf(p->text, "=%" PRId64, opset[i].version);
    }
}

static void print_function(VfVftPrint *p, const VfFunction *function)
{
    VfVftNotes notes = {p, false};
    vf_text_string(p->text, "function ");
    vf_vft_print_operator(p->text, function->domain, function->name, function->overload);
    vf_vft_note_bytes(&notes, "doc", function->doc);
    vf_vft_note_meta(&notes, function->meta);
    vf_vft_note_raw(&notes, "raw", function->raw);
    vf_vft_notes_end(&notes);
    print_opsets(p, function->opset, function->n_opset);
    for (int32_t i = 0; i < function->n_attr_name; i++) {
        vf_text_string(p->text, " attr ");
        vf_vft_print_name(p->text, function->attr_name[i]);
    }
    for (const VfAttr *attr = function->first_attr_default; attr != NULL; attr = attr->next) {
        vf_text_string(p->text, " attr ");
        vf_vft_print_name(p->text, attr->name);
        vf_text_char(p->text, '=');
        vf_vft_print_attr_value(p, attr);
    }
    print_graph_rest(p, function->body);
    vf_text_string(p->text, "\n\n");
}

static void print_field(VfVftPrint *p, const char *key, VfBytes value)
{
    if (value.size == 0)
        return;
    vf_text_printf(p->text, " %s=", key);
    vf_vft_print_string(p->text, value);
}

static void print_header(VfVftPrint *p, const VfModel *model)
{
    VfVftNotes notes = {p, false};
    vf_text_printf(p->text, "model ir=%" PRId64, model->ir_version);
    print_opsets(p, model->opset, model->n_opset);
    print_field(p, "producer", model->producer_name);
    print_field(p, "producer_version", model->producer_version);
    print_field(p, "domain", model->domain);
    if (model->model_version != 0)
        vf_text_printf(p->text, " version=%" PRId64, model->model_version);
    vf_vft_note_bytes(&notes, "doc", model->doc);
    vf_vft_note_meta(&notes, model->meta);
    vf_vft_note_raw(&notes, "raw", model->raw);
    vf_vft_notes_end(&notes);
    vf_text_string(p->text, "\n\n");
}

VfStatus vf_vft_print(const VfModel *model, VfVftStyle style, VfText *text, VfErr *err)
{
    VfBytes ignored;
    VfVftPrint p = {.text = text, .model = model, .style = style};
    p.label = VF_NEW_ARRAY(text->arena, int32_t, (size_t)model->n_value_id + 1);
    VF_TRY_ALLOC(p.label, err);
    print_header(&p, model);
    for (const VfFunction *f = model->first_function; f != NULL; f = f->next)
        print_function(&p, f);
    vf_text_string(p.text, "graph");
    vf_vft_print_graph(&p, model->graph, false);
    vf_text_char(p.text, '\n');
    return vf_text_get(text, &ignored, err);
}
