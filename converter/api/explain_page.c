/* An explanation as a page: why sites were left alone, drawn, and what passes could change. */
#include <string.h>

#include "converter/api/explanation.h"
#include "converter/api/handle.h"
#include "converter/api/page.h"
#include "converter/report/html/page_reason.h"
#include "converter/report/html/render.h"
#include "passes/ir/walk.h"

/* Steps to neighbours around a reason, and around a node that was asked for. */
enum { REASON_CONTEXT = 1, NODE_CONTEXT = 2 };

typedef struct Builder {
    const VfExplanation *from;
    VfPage *page;
    VfArena *scratch;
    VfModel *model;   /* what the nodes are looked up in: cleaned up, as passes see it */
    VfIntern *label;  /* of its nodes */
    const VfNode **node; /* by number of the label */
    size_t node_capacity;
    int32_t *place;   /* by id of the node: the first place that is about it; 0: none */
    int32_t n_place;
} Builder;

static const char *const site_noun[] = {"site left alone", "sites left alone"};
static const char *const node_noun[] = {"node", "nodes"};
static const char *const root_noun[] = {"root not taken", "roots not taken"};

/* --- nodes by label --- */

static VfStatus add_label(void *self, const VfNode *node, VfErr *err)
{
    Builder *b = self;
    int32_t id;
    void *items = b->node;
    VF_TRY(vf_intern_add(b->label, vf_bytes(vf_node_label(node)), &id, err));
    VF_TRY(vf_arena_grow(b->page->arena, &items, &b->node_capacity, (size_t)id + 1,
                         sizeof *b->node, err));
    b->node = items;
    if (b->node[id] == NULL)
        b->node[id] = node;
    return VF_OK;
}

static const VfNode *find_node(const Builder *b, const char *label)
{
    int32_t id = label == NULL ? -1 : vf_intern_find(b->label, vf_bytes(label));
    return id < 0 ? NULL : b->node[id];
}

/* The nodes whose labels stand in quotes in the reason. A label may hold a quote itself: then it is
 * none of those found. */
static void find_named(const Builder *b, VfPageReasoned *said)
{
    const char *at = strchr(said->reason, '\'');
    while (at != NULL && said->n_named < VF_PAGE_NAMED_MAX) {
        const char *end = strchr(at + 1, '\'');
        if (end == NULL)
            return;
        VfBytes label = {at + 1, (size_t)(end - at - 1)};
        int32_t id = vf_intern_find(b->label, label);
        if (id >= 0)
            said->named[said->n_named++] = b->node[id];
        at = strchr(end + 1, '\'');
    }
}

/* --- parts --- */

static VfPagePart *begin_part(Builder *b, const char *id, const char *title,
                              const char *const *noun)
{
    VfPagePart *part = &b->page->part[b->page->n_part++];
    *part = (VfPagePart){.id = id, .title = title, .noun = noun};
    return part;
}

/* A part without anything in it goes. */
static void end_part(Builder *b)
{
    if (b->page->part[b->page->n_part - 1].n_edit == 0)
        b->page->n_part--;
}

static VfStatus add(Builder *b, VfPagePart *part, VfPageReasoned *said, VfErr *err)
{
    said->number = ++b->n_place;
    if (said->node != NULL && b->place[said->node->id] == 0)
        b->place[said->node->id] = said->number;
    if (said->site != NULL && b->place[said->site->id] == 0)
        b->place[said->site->id] = said->number;
    return vf_page_add_reason(b->page, part, said, b->scratch, err);
}

/* Where the node of the reason is one that the pass made on the way, the site alone is drawn. */
static VfStatus add_said(Builder *b, VfPagePart *part, const VfSaid *from, VfErr *err)
{
    const VfNode *site = find_node(b, from->site);
    const VfNode *node = find_node(b, from->node);
    VfPageReasoned said = {.label = from->site == NULL ? from->node : from->site,
                           .reason = from->reason, .node = node == NULL ? site : node,
                           .site = site, .n_context = REASON_CONTEXT, .lines = {"", 0}};
    if (said.label == NULL)
        said.label = "";
    find_named(b, &said);
    return add(b, part, &said, err);
}

static VfStatus add_misses(Builder *b, VfErr *err)
{
    VfPagePart *part = begin_part(b, "attention", "Attention", root_noun);
    for (size_t i = 0; i < b->from->miss.n; i++)
        VF_TRY(add_said(b, part, &b->from->miss.item[i], err));
    end_part(b);
    return VF_OK;
}

static VfStatus add_pass(Builder *b, const VfSaidPass *pass, VfErr *err)
{
    const char *id = vf_arena_printf(b->page->arena, "pass-%s", pass->name);
    VF_TRY_ALLOC(id, err);
    VfPagePart *part = begin_part(b, id, pass->name, site_noun);
    for (size_t i = 0; i < pass->site.n; i++)
        if (pass->site.item[i].reason != NULL)
            VF_TRY(add_said(b, part, &pass->site.item[i], err));
    end_part(b);
    return VF_OK;
}

/* "Softmax: weights of attention 'a', ...", or the operator alone. */
static VfStatus roles_of(VfArena *arena, const VfNodeDetail *detail, const char **text, VfErr *err)
{
    VfText roles;
    VfBytes bytes;
    vf_text_init(&roles, arena);
    for (size_t i = 0; i < detail->role.n; i++) {
        const VfSaid *role = &detail->role.item[i];
        vf_text_string(&roles, i == 0 ? "" : ", ");
        vf_text_string(&roles, role->rule);
        if (role->site != NULL)
            vf_text_printf(&roles, " '%s'", role->site);
    }
    if (detail->role.n == 0)
        vf_text_string(&roles, "part of no site");
    VF_TRY(vf_text_get(&roles, &bytes, err));
    *text = bytes.data;
    return VF_OK;
}

static VfStatus add_details(Builder *b, VfErr *err)
{
    VfPagePart *part = begin_part(b, "asked-for", "Nodes asked for", node_noun);
    for (size_t i = 0; i < b->from->n_detail; i++) {
        const VfNodeDetail *detail = &b->from->detail[i];
        VfPageReasoned said = {.label = detail->name, .title = detail->op,
                               .node = find_node(b, detail->name), .n_context = NODE_CONTEXT,
                               .lines = vf_bytes(detail->line)};
        VF_TRY(roles_of(b->page->arena, detail, &said.reason, err));
        VF_TRY(add(b, part, &said, err));
    }
    end_part(b);
    return VF_OK;
}

static VfStatus add_parts(Builder *b, VfErr *err)
{
    b->page->part = VF_NEW_ARRAY(b->page->arena, VfPagePart, b->from->n_pass + 2);
    VF_TRY_ALLOC(b->page->part, err);
    VF_TRY(add_details(b, err));
    VF_TRY(add_misses(b, err));
    for (size_t i = 0; i < b->from->n_pass; i++)
        VF_TRY(add_pass(b, &b->from->pass[i], err));
    return VF_OK;
}

/* --- summary --- */

static VfStatus add_row(Builder *b, VfPageTable *table, const VfSaidPass *pass, VfErr *err)
{
    size_t n_left = 0;
    VfPageCell name = {.text = vf_bytes(pass->name)};
    for (size_t i = 0; i < pass->site.n; i++)
        n_left += pass->site.item[i].reason != NULL;
    if (n_left > 0) {
        name.href = vf_arena_printf(b->page->arena, "#pass-%s", pass->name);
        VF_TRY_ALLOC(name.href, err);
    }
    VF_TRY(vf_page_cell(table, name, err));
    VF_TRY(vf_page_cellf(table, err, "%zu", pass->site.n - n_left));
    VF_TRY(vf_page_cellf(table, err, "%zu", n_left));
    const char *why = pass->untried == NULL ? "" : pass->untried;
    return vf_page_cell(table, (VfPageCell){.text = vf_bytes(why)}, err);
}

static VfStatus add_table(Builder *b, VfErr *err)
{
    static const char *const head[] = {"pass", "can change", "leaves alone", "not tried"};
    VfPageTable *table = VF_NEW(b->page->arena, VfPageTable);
    VF_TRY_ALLOC(table, err);
    vf_page_table_init(table, b->page->arena, "lrrl", head);
    table->caption = "Passes, each tried alone";
    for (size_t i = 0; i < b->from->n_pass; i++)
        VF_TRY(add_row(b, table, &b->from->pass[i], err));
    b->page->table = table;
    b->page->n_table = 1;
    return VF_OK;
}

static VfStatus add_nodes(Builder *b, VfErr *err)
{
    static const char *const head[] = {"node", "operator", "first result", "place"};
    VF_TRY(vf_page_add_nodes(b->page, b->model, b->place, err));
    b->page->index.caption = "All nodes, cleaned up as passes see them";
    b->page->index.head = head;
    return VF_OK;
}

static VfStatus build(Builder *b, VfBytes *html, VfErr *err)
{
    VfPage *page = b->page;
    b->label = vf_intern_new(page->arena);
    b->place = VF_NEW_ARRAY(page->arena, int32_t, (size_t)b->model->n_node_id);
    VF_TRY_ALLOC(b->label, err);
    VF_TRY_ALLOC(b->place, err);
    VF_TRY(vf_graph_each_node(b->model->graph, add_label, b, err));
    page->from = vf_bytes(b->from->file);
    page->parts_title = "What is said of them";
    page->has_marks = true;
    VF_TRY(add_table(b, err));
    VF_TRY(add_parts(b, err));
    VF_TRY(add_nodes(b, err));
    if (page->n_part == 0)
        page->note = vf_bytes("No site was left alone.");
    return vf_page_render(page, html, err);
}

static VfStatus build_on(const VfExplanation *explanation, VfModel *model, VfPage *page,
                         VfBytes *html, VfErr *err)
{
    Builder b = {.from = explanation, .page = page, .model = model, .scratch = vf_arena_new()};
    VF_TRY_ALLOC(b.scratch, err);
    VfStatus status = build(&b, html, err);
    vf_apart_stop(&page->layouter);
    vf_arena_free(b.scratch);
    return status;
}

VfStatus vf_explanation_page(const VfExplanation *explanation, const VitfoldModel *model,
                             VfBytes *html, VfErr *err)
{
    VfPage *page;
    VfModel *clean;
    VF_TRY(vf_page_new(explanation->arena, "Why sites are left alone", &page, err));
    VF_TRY(vf_page_add_file_map(page, "Map", model, err));
    if (explanation->is_of_file)
        return build_on(explanation, model->ir, page, html, err);
    VF_TRY(vf_load_clean(model, NULL, 0, &clean, err));
    VfStatus status = build_on(explanation, clean, page, html, err);
    vf_model_free(clean);
    return status;
}
