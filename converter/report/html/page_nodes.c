/* The list of all nodes. */
#include "converter/draw/parts.h"
#include "converter/report/html/page.h"
#include "passes/ir/walk.h"

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

/* The table, and by node id the edit that made it. */
typedef struct Filler {
    VfPageTable *table;
    const int32_t *edit;
} Filler;

static VfStatus add_node(void *self, const VfNode *node, VfErr *err)
{
    const Filler *filler = self;
    return add_row(filler->table, node, filler->edit[node->id], err);
}

VfStatus vf_page_add_nodes(VfPage *page, const VfModel *model, const int32_t *edit, VfErr *err)
{
    VfPageTable *table = &page->index;
    vf_page_table_init(table, page->arena, "lllr", head);
    table->caption = "All nodes of the result";
    table->is_searchable = table->is_wide = true;
    table->left_out = "nodes";
    Filler filler = {table, edit};
    VF_TRY(vf_graph_each_node(model->graph, add_node, &filler, err));
    for (const VfFunction *f = model->first_function; f != NULL; f = f->next)
        VF_TRY(vf_graph_each_node(f->body, add_node, &filler, err));
    return vf_labels_check(model->labels, err);
}
