#include "converter/report/html/page_diff.h"

#include <string.h>

#include "converter/draw/parts.h"
#include "converter/report/html/drawn.h"
#include "converter/report/html/render.h"
#include "converter/report/node_line.h"

typedef struct Builder {
    VfPage *page;
    VfArena *arena;   /* of the page */
    VfArena *scratch; /* reset after each group */
    const VfDiff *diff;
} Builder;

static const char arrow[] = " \xe2\x86\x92 ";

static VfBytes or_none(VfBytes text)
{
    return text.data == NULL ? (VfBytes){"", 0} : text;
}

/* --- drawings --- */

static const VfDiffNode *member(const VfDiff *diff, const VfDiffHunk *hunk, size_t i)
{
    return &diff->node[diff->member[hunk->first + i]];
}

static const VfNode *side_of(const VfDiffNode *node, bool is_after)
{
    return is_after ? node->b : node->a;
}

static VfStatus draw_side(Builder *b, const VfDiffHunk *hunk, bool is_after,
                          const VfDrawing **drawing, size_t *n_node, VfErr *err)
{
    VfDrawPart part = {.title = vf_bytes(is_after ? "after" : "before"), .n_context = 1,
                       .tone = is_after ? VF_TONE_ADDED : VF_TONE_REMOVED};
    const VfNode **node = VF_NEW_ARRAY(b->scratch, const VfNode *, hunk->n);
    VfDrawTint *tint = VF_NEW_ARRAY(b->scratch, VfDrawTint, hunk->n);
    VF_TRY_ALLOC(node, err);
    VF_TRY_ALLOC(tint, err);
    for (size_t i = 0; i < hunk->n; i++) {
        const VfDiffNode *one = member(b->diff, hunk, i);
        if (side_of(one, is_after) == NULL)
            continue;
        node[part.n_node++] = side_of(one, is_after);
        if (one->kind == VF_DIFF_CHANGED)
            tint[part.n_tint++] = (VfDrawTint){side_of(one, is_after), VF_TONE_CHANGED};
    }
    part.node = node;
    part.tint = tint;
    *n_node = (size_t)part.n_node > *n_node ? (size_t)part.n_node : *n_node;
    VfDrawing *made = NULL;
    if (part.n_node > 0 && part.n_node <= VF_PAGE_NODES_MAX)
        VF_TRY(vf_drawing_of_part(b->scratch, &part, &made, err));
    *drawing = made;
    return VF_OK;
}

static VfStatus draw(Builder *b, const VfDiffHunk *hunk, VfPageGroup *group, VfErr *err)
{
    VfDrawn drawn = {0};
    VF_TRY(draw_side(b, hunk, false, &drawn.before, &drawn.n_node, err));
    VF_TRY(draw_side(b, hunk, true, &drawn.after, &drawn.n_node, err));
    return vf_page_draw(b->page, &drawn, group, err);
}

/* --- words --- */

/* The operators of one side, each once, in their order; a few of them. */
static VfStatus operators_of(Builder *b, const VfDiffHunk *hunk, bool is_after, VfText *text,
                             VfErr *err)
{
    enum { MOST = 4 };
    VfIntern *seen = vf_intern_new(b->scratch);
    VF_TRY_ALLOC(seen, err);
    for (size_t i = 0; i < hunk->n; i++) {
        const VfNode *node = side_of(member(b->diff, hunk, i), is_after);
        if (node != NULL)
            VF_TRY(vf_intern_add(seen, node->op_type, NULL, err));
    }
    int32_t n = vf_intern_count(seen);
    for (int32_t i = 0; i < n && i < MOST; i++) {
        VfBytes name = vf_intern_get(seen, i);
        vf_text_string(text, i > 0 ? ", " : "");
        vf_text_add(text, name.data, name.size);
    }
    vf_text_string(text, n > MOST ? ", \xe2\x80\xa6" : n == 0 ? "nothing" : "");
    return VF_OK;
}

static VfStatus title_of(Builder *b, const VfDiffHunk *hunk, VfBytes *title, VfErr *err)
{
    VfText text;
    vf_text_init(&text, b->arena);
    VF_TRY(operators_of(b, hunk, false, &text, err));
    vf_text_string(&text, arrow);
    VF_TRY(operators_of(b, hunk, true, &text, err));
    return vf_text_get(&text, title, err);
}

static VfStatus change_of(Builder *b, const VfDiffHunk *hunk, VfBytes *change, VfErr *err)
{
    size_t n[3] = {0};
    VfText text;
    vf_text_init(&text, b->arena);
    for (size_t i = 0; i < hunk->n; i++)
        n[member(b->diff, hunk, i)->kind]++;
    for (int kind = 0; kind < 3; kind++)
        if (n[kind] > 0)
            vf_text_printf(&text, "%s%zu %s", text.size > 0 ? ", " : "", n[kind],
                           vf_diff_kind_name((VfDiffKind)kind));
    return vf_text_get(&text, change, err);
}

static VfStatus add_line(Builder *b, char sign, const VfNode *node, VfText *text, VfErr *err)
{
    VfBytes line;
    if (node == NULL)
        return VF_OK;
    VF_TRY(vf_report_node_line(b->scratch, node, &line, err));
    vf_text_printf(text, "%c ", sign);
    vf_text_add(text, line.data, line.size);
    vf_text_char(text, '\n');
    return VF_OK;
}

static void add_part(const VfDiffPart *part, VfText *text)
{
    vf_text_printf(text, "~ %s ", part->what);
    vf_text_add(text, part->key.data, part->key.size);
    vf_text_string(text, part->key.size > 0 ? ": " : "");
    vf_text_add(text, part->a.data, part->a.size);
    vf_text_string(text, arrow);
    vf_text_add(text, part->b.data, part->b.size);
    vf_text_char(text, '\n');
}

static VfStatus lines_of(Builder *b, const VfDiffHunk *hunk, VfBytes *lines, VfErr *err)
{
    VfText text;
    vf_text_init(&text, b->arena);
    for (size_t i = 0; i < hunk->n; i++) {
        const VfDiffNode *node = member(b->diff, hunk, i);
        VF_TRY(add_line(b, '-', node->a, &text, err));
        VF_TRY(add_line(b, '+', node->b, &text, err));
        for (size_t k = 0; k < node->parts.n; k++)
            add_part(&node->parts.part[k], &text);
    }
    return vf_text_get(&text, lines, err);
}

/* --- groups --- */

static VfStatus add_group(Builder *b, const VfDiffGroup *from, VfPageGroup *group, VfErr *err)
{
    const VfDiff *diff = b->diff;
    const VfDiffHunk *first = &diff->hunk[diff->grouped[from->first]];
    VF_TRY(title_of(b, first, &group->title, err));
    VF_TRY(change_of(b, first, &group->change, err));
    VF_TRY(draw(b, first, group, err));
    group->place = VF_NEW_ARRAY(b->arena, VfPagePlace, from->n);
    VF_TRY_ALLOC(group->place, err);
    for (size_t i = 0; i < from->n; i++) {
        size_t number = diff->grouped[from->first + i];
        VfPagePlace *place = &group->place[group->n_place++];
        *place = (VfPagePlace){.number = (int32_t)number + 1, .note = {"", 0}};
        VF_TRY(vf_diff_place(diff, &diff->hunk[number], &place->label, err));
        VF_TRY(lines_of(b, &diff->hunk[number], &place->lines, err));
    }
    vf_arena_reset(b->scratch);
    return VF_OK;
}

static VfStatus add_groups(Builder *b, VfErr *err)
{
    VfPagePart *part = VF_NEW(b->arena, VfPagePart);
    VF_TRY_ALLOC(part, err);
    *part = (VfPagePart){.id = "edits", .title = "Nodes", .n_edit = b->diff->n_hunk,
                         .summary = "nodes that differ and touch each other"};
    part->group = VF_NEW_ARRAY(b->arena, VfPageGroup, b->diff->n_group);
    VF_TRY_ALLOC(part->group, err);
    for (size_t i = 0; i < b->diff->n_group; i++)
        VF_TRY(add_group(b, &b->diff->group[i], &part->group[part->n_group++], err));
    if (part->n_group > 0)
        part->group[0].is_open = true;
    b->page->part = part;
    b->page->n_part = part->n_group > 0;
    b->page->parts_title = "Edits";
    return VF_OK;
}

/* --- tables --- */

static VfStatus render_table(const void *self, VfHtml *html, VfErr *err)
{
    (void)err;
    vf_page_render_table(html, self);
    return VF_OK;
}

static VfStatus new_table(Builder *b, VfPageSection section, VfPageTable **table, VfErr *err)
{
    *table = VF_NEW(b->arena, VfPageTable);
    VF_TRY_ALLOC(*table, err);
    section.render = render_table;
    section.self = *table;
    return vf_page_add_section(b->page, section, err);
}

static VfStatus add_parts(Builder *b, VfPageSection section, const VfDiffParts *parts, VfErr *err)
{
    static const char *const head[] = {"what", "which", "before", "after"};
    VfPageTable *table;
    if (parts->n == 0)
        return VF_OK;
    VF_TRY(new_table(b, section, &table, err));
    vf_page_table_init(table, b->arena, "llll", head);
    table->is_searchable = true;
    table->left_out = "rows";
    for (size_t i = 0; i < parts->n && i < VF_PAGE_ROWS_MAX; i++) {
        const VfDiffPart *part = &parts->part[i];
        VF_TRY(vf_page_cell(table, (VfPageCell){.text = vf_bytes(part->what)}, err));
        VF_TRY(vf_page_code(table, or_none(part->key), err));
        VF_TRY(vf_page_code(table, or_none(part->a), err));
        VF_TRY(vf_page_code(table, or_none(part->b), err));
    }
    table->n_left_out = parts->n < VF_PAGE_ROWS_MAX ? 0 : parts->n - VF_PAGE_ROWS_MAX;
    return VF_OK;
}

static VfStatus add_weights(Builder *b, VfErr *err)
{
    const VfDiff *diff = b->diff;
    VfPageTable *table;
    if (diff->n_weight == 0)
        return VF_OK;
    VF_TRY(new_table(b, (VfPageSection){.id = "constants", .title = "Constants",
                                        .is_behind = true}, &table, err));
    vf_page_weights_init(table, b->arena);
    for (size_t i = 0; i < diff->n_weight && i < VF_PAGE_ROWS_MAX; i++)
        VF_TRY(vf_page_weight(table, diff->weight[i].a, diff->weight[i].b, err));
    table->n_left_out = diff->n_weight < VF_PAGE_ROWS_MAX ? 0 : diff->n_weight - VF_PAGE_ROWS_MAX;
    return VF_OK;
}

static VfStatus add_operators(Builder *b, VfErr *err)
{
    static const char *const head[] = {"operator", "before", "after", "change"};
    VfPageTable *table = VF_NEW(b->arena, VfPageTable);
    VF_TRY_ALLOC(table, err);
    vf_page_table_init(table, b->arena, "lrrr", head);
    table->caption = "Operators";
    for (size_t i = 0; i < b->diff->n_operator; i++) {
        const VfDiffOperator *one = &b->diff->operators[i];
        VF_TRY(vf_page_cell(table, (VfPageCell){.text = one->name}, err));
        VF_TRY(vf_page_cellf(table, err, "%d", one->a));
        VF_TRY(vf_page_cellf(table, err, "%d", one->b));
        VF_TRY(vf_page_change(table, one->b - one->a, err));
    }
    b->page->table = table;
    b->page->n_table = 1;
    return VF_OK;
}

static VfStatus add_facts(Builder *b, VfErr *err)
{
    const VfDiff *diff = b->diff;
    size_t n[3] = {0}, n_weight = 0;
    for (size_t i = 0; i < diff->n_node; i++)
        n[diff->node[i].kind]++;
    for (size_t i = 0; i < diff->n_weight; i++)
        n_weight += diff->weight[i].kind == VF_DIFF_CHANGED;
    const struct {
        const char *label;
        size_t n;
    } row[] = {{"nodes alike", diff->n_same}, {"nodes changed", n[VF_DIFF_CHANGED]},
               {"nodes removed", n[VF_DIFF_REMOVED]}, {"nodes added", n[VF_DIFF_ADDED]},
               {"constants changed", n_weight}};
    enum { N_ROW = sizeof row / sizeof row[0] };
    VfPageFact *fact = VF_NEW_ARRAY(b->arena, VfPageFact, N_ROW);
    VF_TRY_ALLOC(fact, err);
    for (size_t i = 0; i < N_ROW; i++) {
        const char *value = vf_arena_printf(b->arena, "%zu", row[i].n);
        VF_TRY_ALLOC(value, err);
        fact[i] = (VfPageFact){row[i].label, vf_bytes(value), {"", 0}};
    }
    b->page->fact = fact;
    b->page->n_fact = N_ROW;
    return VF_OK;
}

/* --- the whole --- */

static VfStatus add_nodes(Builder *b, VfErr *err)
{
    const VfModel *model = b->diff->align->b;
    int32_t *edit = VF_NEW_ARRAY(b->arena, int32_t, (size_t)model->n_node_id);
    VF_TRY_ALLOC(edit, err);
    for (size_t i = 0; i < b->diff->n_node; i++)
        if (b->diff->node[i].b != NULL)
            edit[b->diff->node[i].b->id] = (int32_t)b->diff->node[i].hunk + 1;
    return vf_page_add_nodes(b->page, model, edit, err);
}

static VfStatus build(Builder *b, VfErr *err)
{
    static const VfPageSection facts = {.id = "facts", .title = "The model as a whole"};
    static const VfPageSection notes = {.id = "notes", .title = "Names and notes",
                                        .is_behind = true};
    VF_TRY(add_facts(b, err));
    VF_TRY(add_operators(b, err));
    VF_TRY(add_parts(b, facts, &b->diff->facts, err));
    VF_TRY(add_groups(b, err));
    VF_TRY(add_weights(b, err));
    VF_TRY(add_parts(b, notes, &b->diff->notes, err));
    return add_nodes(b, err);
}

VfStatus vf_page_add_diff(VfPage *page, const VfDiff *diff, VfErr *err)
{
    Builder b = {.page = page, .arena = page->arena, .diff = diff, .scratch = vf_arena_new()};
    VF_TRY_ALLOC(b.scratch, err);
    VfStatus status = build(&b, err);
    vf_apart_stop(&page->layouter);
    vf_arena_free(b.scratch);
    if (vf_diff_is_empty(diff))
        page->note = vf_bytes("The models say the same.");
    return status;
}
