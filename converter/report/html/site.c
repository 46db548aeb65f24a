#include "converter/report/html/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/draw/parts.h"

/* One side of an edit while it is drawn. */
typedef struct Side {
    const VfModel *model;
    const VfPast *past;
    VfDrawing *drawing;
    int32_t n_edit; /* the graph is as it was after so many */
    const VfEdit *edit;
    VfTone tone;           /* of nodes that went or came */
    const VfValue **input; /* by number of the box: the graph input it stands for */
    size_t input_capacity;
    int32_t n_reader, n_rest;
} Side;

/* --- boxes --- */

static int32_t find_node(const Side *side, const VfNode *node)
{
    for (int32_t i = 0; i < side->drawing->n_box; i++)
        if (side->drawing->box[i].node == node)
            return i;
    return -1;
}

static int32_t find_input(const Side *side, const VfValue *value)
{
    for (int32_t i = 0; i < side->drawing->n_box; i++)
        if (side->input[i] == value)
            return i;
    return -1;
}

static VfStatus add_box(Side *side, const VfDrawBox *box, const VfValue *input, VfErr *err)
{
    void *items = side->input;
    VF_TRY(vf_arena_grow(side->drawing->arena, &items, &side->input_capacity,
                         (size_t)side->drawing->n_box + 1, sizeof(VfValue *), err));
    side->input = items;
    side->input[side->drawing->n_box] = input;
    return vf_drawing_add_box(side->drawing, box, NULL, err);
}

static VfStatus add_node(Side *side, const VfNode *node, VfTone tone, VfErr *err)
{
    VfDrawBox box;
    VfNode then;
    if (find_node(side, node) >= 0)
        return VF_OK;
    VF_TRY(vf_past_node(side->drawing->arena, side->past, node, side->n_edit, &then, err));
    VF_TRY(vf_draw_node_box(side->drawing->arena, &then, tone != VF_TONE_CONTEXT, &box, err));
    box.node = node;
    box.tone = tone;
    return add_box(side, &box, NULL, err);
}

static VfStatus add_source(Side *side, const VfValue *value, VfErr *err)
{
    VfDrawBox box;
    if (value == NULL || value->kind == VF_VALUE_CONST)
        return VF_OK;
    if (value->kind == VF_VALUE_RESULT)
        return add_node(side, value->def, VF_TONE_CONTEXT, err);
    if (value->tensor != NULL || find_input(side, value) >= 0)
        return VF_OK;
    VF_TRY(vf_draw_end_box(side->drawing->arena, side->model, true, value->name, &value->type,
                           &box, err));
    box.tone = VF_TONE_CONTEXT;
    return add_box(side, &box, value, err);
}

/* --- which nodes --- */

static bool is_constant(const VfValue *value)
{
    return value != NULL && value->kind == VF_VALUE_CONST;
}

static bool is_removed(const VfEdit *edit, const VfNode *node)
{
    for (int32_t i = 0; i < edit->n_before; i++)
        if (edit->before[i] == node)
            return true;
    return false;
}

/* A reader whose constants changed is itself another; one that reads another result is not. */
static VfTone tone_of_reader(const VfEdit *edit, const VfNode *node)
{
    for (int32_t i = 0; i < edit->n_move; i++)
        if (edit->move[i].node == node &&
            (is_constant(edit->move[i].from) || is_constant(edit->move[i].to)))
            return VF_TONE_CHANGED;
    return VF_TONE_CONTEXT;
}

static bool is_reader(const Side *side, const VfMove *move)
{
    return move->node->op != VF_OP_RETURN && !is_removed(side->edit, move->node);
}

static VfStatus add_readers(Side *side, VfErr *err)
{
    const VfEdit *edit = side->edit;
    for (int32_t i = 0; i < edit->n_move; i++) {
        const VfNode *node = edit->move[i].node;
        if (!is_reader(side, &edit->move[i]) || find_node(side, node) >= 0)
            continue;
        if (side->n_reader == VF_DRAW_USERS_MAX) {
            side->n_rest++;
            continue;
        }
        side->n_reader++;
        VF_TRY(add_node(side, node, tone_of_reader(edit, node), err));
    }
    return VF_OK;
}

static VfStatus add_sources(Side *side, int32_t n_core, VfErr *err)
{
    const VfEdit *edit = side->edit;
    for (int32_t i = 0; i < n_core; i++) {
        const VfNode *node = side->drawing->box[i].node;
        for (int32_t k = 0; k < node->n_in; k++)
            VF_TRY(add_source(side, vf_past_in(side->past, node, k, side->n_edit), err));
    }
    for (int32_t i = 0; i < edit->n_move; i++)
        if (is_reader(side, &edit->move[i]) && find_node(side, edit->move[i].node) >= 0)
            VF_TRY(add_source(side, vf_past_in(side->past, edit->move[i].node, edit->move[i].slot,
                                               side->n_edit), err));
    return VF_OK;
}

/* --- arrows --- */

static bool is_drawn(const Side *side, int32_t box)
{
    VfTone tone = side->drawing->box[box].tone;
    return tone == VF_TONE_REMOVED || tone == VF_TONE_ADDED;
}

static VfStatus add_arrow(Side *side, int32_t from, int32_t to, const VfValue *value, VfErr *err)
{
    VfDrawArrow arrow = {.from = from, .to = to, .value = value};
    bool is_first = true;
    for (int32_t i = 0; i < side->drawing->n_arrow; i++)
        is_first &= side->drawing->arrow[i].value != value;
    if (is_first)
        VF_TRY(vf_draw_type(side->drawing->arena, side->model->symbols, &value->type,
                            &arrow.label, err));
    arrow.tone = is_drawn(side, from) || is_drawn(side, to) ? side->tone : VF_TONE_PLAIN;
    return vf_drawing_add_arrow(side->drawing, &arrow, err);
}

static int32_t find_source(const Side *side, const VfValue *value)
{
    return value == NULL                      ? -1
           : value->kind == VF_VALUE_RESULT   ? find_node(side, value->def)
           : value->kind == VF_VALUE_INPUT    ? find_input(side, value)
                                              : -1;
}

static VfStatus add_operands(Side *side, VfErr *err)
{
    for (int32_t i = 0; i < side->drawing->n_box; i++) {
        const VfNode *node = side->drawing->box[i].node;
        for (int32_t k = 0; node != NULL && k < node->n_in; k++) {
            const VfValue *value = vf_past_in(side->past, node, k, side->n_edit);
            int32_t from = find_source(side, value);
            if (from >= 0)
                VF_TRY(add_arrow(side, from, i, value, err));
        }
    }
    return VF_OK;
}

/* Outputs of the graph that the edit moved, and readers that are not drawn one by one. */
static VfStatus add_ends(Side *side, VfErr *err)
{
    const VfEdit *edit = side->edit;
    for (int32_t i = 0; i < edit->n_move; i++) {
        const VfMove *move = &edit->move[i];
        const VfGraph *graph = move->node->graph;
        VfDrawBox box;
        if (move->node->op != VF_OP_RETURN)
            continue;
        const VfValue *value = vf_past_in(side->past, move->node, move->slot, side->n_edit);
        int32_t from = find_source(side, value);
        if (from < 0)
            continue;
        VF_TRY(vf_draw_end_box(side->drawing->arena, side->model, false,
                               graph->output_name[move->slot], &graph->output_type[move->slot],
                               &box, err));
        box.tone = VF_TONE_CONTEXT;
        VF_TRY(add_box(side, &box, NULL, err));
        VF_TRY(add_arrow(side, from, side->drawing->n_box - 1, value, err));
    }
    return VF_OK;
}

static VfStatus add_rest(Side *side, VfErr *err)
{
    if (side->n_rest == 0)
        return VF_OK;
    char words[48];
    int n = snprintf(words, sizeof words, "and %d more readers", side->n_rest);
    VfBytes line = {words, (size_t)n};
    VfDrawBox box = {.n_line = 1, .line = &line, .tone = VF_TONE_CONTEXT, .group = -1};
    return add_box(side, &box, NULL, err);
}

/* --- the whole --- */

static VfStatus draw_side(VfArena *arena, Side *side, const VfNode *const *core, int32_t n_core,
                          VfErr *err)
{
    const char *title = vf_arena_printf(arena, "%s %s", side->edit->rule,
                                        side->tone == VF_TONE_ADDED ? "after" : "before");
    VF_TRY_ALLOC(title, err);
    side->drawing = vf_drawing_new(arena, vf_bytes(title));
    VF_TRY_ALLOC(side->drawing, err);
    for (int32_t i = 0; i < n_core; i++)
        VF_TRY(add_node(side, core[i], side->tone, err));
    VF_TRY(add_readers(side, err));
    VF_TRY(add_sources(side, n_core, err));
    VF_TRY(add_operands(side, err));
    VF_TRY(add_ends(side, err));
    return add_rest(side, err);
}

VfStatus vf_site_draw(VfArena *arena, const VfJournal *journal, const VfPast *past, int32_t i,
                      VfDrawn *site, VfErr *err)
{
    const VfEdit *edit = &journal->edit[i];
    Side before = {.model = journal->model, .past = past, .n_edit = i, .edit = edit,
                   .tone = VF_TONE_REMOVED};
    Side after = before;
    after.n_edit = i + 1;
    after.tone = VF_TONE_ADDED;
    int32_t n = edit->n_before > edit->n_after ? edit->n_before : edit->n_after;
    *site = (VfDrawn){.n_node = (size_t)n};
    if (n > VF_PAGE_NODES_MAX)
        return VF_OK;
    VF_TRY(draw_side(arena, &before, edit->before, edit->n_before, err));
    VF_TRY(draw_side(arena, &after, edit->after, edit->n_after, err));
    if (before.drawing->n_box > 0)
        site->before = before.drawing;
    if (after.drawing->n_box > 0)
        site->after = after.drawing;
    return VF_OK;
}

/* The line behind the operator is the name; ends of a graph have theirs there, too. */
static bool is_name(const VfDrawBox *box, int32_t line)
{
    return line == 1 && (box->is_end || (box->node != NULL && box->node->name.size > 0));
}

/* A single number that may be another at each place, as factors of residual branches are. */
static bool is_factor(VfBytes line)
{
    char *end;
    strtod(line.data, &end);
    return line.size > 0 && end == line.data + line.size &&
           (memchr(line.data, '.', line.size) != NULL || memchr(line.data, 'e', line.size) != NULL);
}

void vf_drawing_look(const VfDrawing *drawing, VfText *text)
{
    for (int32_t i = 0; i < drawing->n_box; i++) {
        const VfDrawBox *box = &drawing->box[i];
        vf_text_printf(text, "%d %d", (int)box->tone, (int)box->is_end);
        for (int32_t k = 0; k < box->n_line; k++) {
            if (is_name(box, k))
                continue;
            vf_text_char(text, ' ');
            vf_text_json(text, is_factor(box->line[k]) ? vf_bytes("#") : box->line[k]);
        }
        vf_text_char(text, '\n');
    }
    for (int32_t i = 0; i < drawing->n_arrow; i++) {
        const VfDrawArrow *arrow = &drawing->arrow[i];
        vf_text_printf(text, "%d %d %d ", arrow->from, arrow->to, (int)arrow->tone);
        vf_text_json(text, arrow->label);
        vf_text_char(text, '\n');
    }
}
