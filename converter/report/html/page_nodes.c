/* The list of all nodes. */
#include "converter/draw/parts.h"
#include "converter/report/html/page.h"

static const char *const head[] = {"node", "operator", "first result", "edit"};

static VfStatus operator_text(VfArena *arena, const VfNode *node, VfBytes *out, VfErr *err)
{
    VfText text;
    vf_text_init(&text, arena);
    vf_text_add(&text, node->domain.data, node->domain.size);
    vf_text_string(&text, node->domain.size > 0 ? "." : "");
    vf_text_add(&text, node->op_type.data, node->op_type.size);
    return vf_text_get(&text, out, err);
}

static VfStatus add_row(VfPageTable *table, const VfNode *node, int32_t edit, VfErr *err)
{
    VfBytes op, type = {"", 0};
    VfPageCell link = {.text = {"", 0}};
    const VfValue *out = vf_node_out(node, 0);
    VF_TRY(operator_text(table->arena, node, &op, err));
    if (out != NULL)
        VF_TRY(vf_draw_type(table->arena, node->graph->model->symbols, &out->type, &type, err));
    if (edit > 0) {
        link.href = vf_arena_printf(table->arena, "#e%d", edit);
        VF_TRY_ALLOC(link.href, err);
        link.text = vf_bytes(link.href + 2);
    }
    VF_TRY(vf_page_code(table, vf_bytes(vf_node_label(node)), err));
    VF_TRY(vf_page_cell(table, (VfPageCell){.text = op}, err));
    VF_TRY(vf_page_cell(table, (VfPageCell){.text = type}, err));
    return vf_page_cell(table, link, err);
}

static VfStatus add_graph(VfPageTable *table, const VfGraph *graph, const int32_t *edit,
                          VfErr *err)
{
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        VF_TRY(add_row(table, node, edit[node->id], err));
        for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
            if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
                VF_TRY(add_graph(table, attr->graph, edit, err));
            for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
                VF_TRY(add_graph(table, attr->graphs[i], edit, err));
        }
    }
    return VF_OK;
}

VfStatus vf_page_add_nodes(VfPage *page, const VfModel *model, const int32_t *edit, VfErr *err)
{
    VfPageTable *table = &page->index;
    vf_page_table_init(table, page->arena, "lllr", head);
    table->caption = "All nodes of the result";
    table->is_searchable = table->is_wide = true;
    table->left_out = "nodes";
    VF_TRY(add_graph(table, model->graph, edit, err));
    for (const VfFunction *f = model->first_function; f != NULL; f = f->next)
        VF_TRY(add_graph(table, f->body, edit, err));
    return VF_OK;
}
