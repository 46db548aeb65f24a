#include "converter/draw/parts.h"

#include <stdio.h>
#include <string.h>

#include "converter/draw/layout.h"

typedef struct Part {
    const VfDrawPart *ask;
    const VfModel *model;
    VfDrawing *drawing;
    VfErr *err;
    const VfValue **input; /* by number of the box: the value of an input, else NULL */
    size_t input_capacity;
} Part;

static int32_t find_node(const Part *part, const VfNode *node)
{
    for (int32_t i = 0; i < part->drawing->n_box; i++)
        if (part->drawing->box[i].node == node)
            return i;
    return -1;
}

static int32_t find_input(const Part *part, const VfValue *value)
{
    for (int32_t i = 0; i < part->drawing->n_box; i++)
        if (part->input[i] == value)
            return i;
    return -1;
}

/* What the operand was before swaps, if its node is drawn. Nodes asked for read what they always
 * read; only what is around them has moved on. */
static const VfValue *origin_of(const Part *part, int32_t user, const VfValue *value)
{
    for (int32_t i = 0; i < part->ask->n_swap && user >= part->ask->n_node; i++) {
        const VfValue *from = part->ask->swap[i].from;
        if (part->ask->swap[i].to == value && from->def != NULL && find_node(part, from->def) >= 0)
            return from;
    }
    return value;
}

static VfStatus add_box(Part *part, const VfDrawBox *box, const VfValue *input)
{
    void *items = part->input;
    VF_TRY(vf_arena_grow(part->drawing->arena, &items, &part->input_capacity,
                         (size_t)part->drawing->n_box + 1, sizeof(VfValue *), part->err));
    part->input = items;
    part->input[part->drawing->n_box] = input;
    return vf_drawing_add_box(part->drawing, box, NULL, part->err);
}

static VfStatus add_node(Part *part, const VfNode *node, bool is_context)
{
    VfDrawBox box;
    if (find_node(part, node) >= 0)
        return VF_OK;
    VF_TRY(vf_draw_node_box(part->drawing->arena, node, !is_context, &box, part->err));
    box.tone = is_context ? VF_TONE_CONTEXT : part->ask->tone;
    for (int32_t i = 0; i < part->ask->n_tint; i++)
        if (part->ask->tint[i].node == node)
            box.tone = part->ask->tint[i].tone;
    return add_box(part, &box, NULL);
}

static VfStatus add_input(Part *part, const VfValue *value)
{
    VfDrawBox box;
    if (find_input(part, value) >= 0)
        return VF_OK;
    VF_TRY(vf_draw_end_box(part->drawing->arena, part->model, true, value->name, &value->type,
                           &box, part->err));
    box.tone = VF_TONE_CONTEXT;
    return add_box(part, &box, value);
}

static VfTone edge_tone(const Part *part, const VfValue *value, const VfNode *user)
{
    VfTone tone = VF_TONE_PLAIN;
    for (int32_t i = 0; i < part->ask->n_edge_tint; i++) {
        const VfDrawEdgeTint *tint = &part->ask->edge_tint[i];
        if (tint->value == value && (tint->user == NULL || tint->user == user))
            tone = tint->tone;
    }
    return tone;
}

static VfStatus arrow(Part *part, int32_t from, int32_t to, const VfValue *value, VfTone tone)
{
    VfDrawArrow arrow = {.from = from, .to = to, .tone = tone, .value = value};
    bool is_first = true;
    for (int32_t i = 0; i < part->drawing->n_arrow; i++)
        is_first &= part->drawing->arrow[i].value != value;
    if (value != NULL && is_first)
        VF_TRY(vf_draw_type(part->drawing->arena, part->model->symbols, &value->type,
                            &arrow.label, part->err));
    return vf_drawing_add_arrow(part->drawing, &arrow, part->err);
}

/* --- neighbours --- */

/* Producers of what the box's node reads. */
static VfStatus add_producers(Part *part, int32_t box)
{
    const VfNode *node = part->drawing->box[box].node;
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = vf_node_in(node, i);
        if (value == NULL)
            continue;
        value = origin_of(part, box, value);
        if (value->kind == VF_VALUE_INPUT && value->tensor == NULL)
            VF_TRY(add_input(part, value));
        else if (value->kind == VF_VALUE_RESULT)
            VF_TRY(add_node(part, value->def, true));
    }
    return VF_OK;
}

static VfStatus add_output(Part *part, int32_t from, const VfValue *value, const VfUse *use)
{
    VfDrawBox box;
    const VfGraph *graph = use->node->graph;
    VF_TRY(vf_draw_end_box(part->drawing->arena, part->model, false,
                           graph->output_name[use->slot], &graph->output_type[use->slot], &box,
                           part->err));
    box.tone = VF_TONE_CONTEXT;
    VF_TRY(add_box(part, &box, NULL));
    return arrow(part, from, part->drawing->n_box - 1, value,
                 edge_tone(part, value, use->node));
}

static VfStatus add_rest(Part *part, int32_t from, const VfValue *value, int32_t n)
{
    char words[40];
    snprintf(words, sizeof words, "and %d more users", n);
    VfBytes line = {words, strlen(words)};
    VfDrawBox box = {.n_line = 1, .line = &line, .tip = line, .tone = VF_TONE_CONTEXT,
                     .group = -1};
    VF_TRY(add_box(part, &box, NULL));
    return arrow(part, from, part->drawing->n_box - 1, value, VF_TONE_PLAIN);
}

/* Users of `used`, as users of `value`, which `from` makes. */
static VfStatus add_users(Part *part, int32_t from, const VfValue *value, const VfValue *used)
{
    int32_t n_user = 0, n_rest = 0;
    for (const VfUse *use = used->first_use; use != NULL; use = use->next) {
        bool is_output = use->node->op == VF_OP_RETURN;
        if (!is_output && find_node(part, use->node) >= 0)
            continue;
        if (n_user == VF_DRAW_USERS_MAX) {
            n_rest++;
            continue;
        }
        n_user++;
        VF_TRY(is_output ? add_output(part, from, value, use) : add_node(part, use->node, true));
    }
    return n_rest == 0 ? VF_OK : add_rest(part, from, value, n_rest);
}

static VfStatus add_consumers(Part *part, int32_t box)
{
    const VfNode *node = part->drawing->box[box].node;
    for (int32_t i = 0; i < node->n_out; i++) {
        const VfValue *value = vf_node_out(node, i);
        if (value == NULL)
            continue;
        VF_TRY(add_users(part, box, value, value));
        for (int32_t k = 0; k < part->ask->n_swap; k++)
            if (part->ask->swap[k].from == value)
                VF_TRY(add_users(part, box, value, part->ask->swap[k].to));
    }
    return VF_OK;
}

static VfStatus add_context(Part *part)
{
    int32_t first = 0;
    for (int32_t step = 0; step < part->ask->n_context; step++) {
        int32_t end = part->drawing->n_box;
        for (int32_t i = first; i < end; i++) {
            if (part->drawing->box[i].node == NULL)
                continue;
            VF_TRY(add_producers(part, i));
            VF_TRY(add_consumers(part, i));
        }
        first = end;
    }
    return VF_OK;
}

/* --- arrows --- */

static VfStatus add_operands(Part *part, int32_t box)
{
    const VfNode *node = part->drawing->box[box].node;
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = vf_node_in(node, i);
        if (value == NULL)
            continue;
        const VfValue *drawn = origin_of(part, box, value);
        int32_t from = drawn->kind == VF_VALUE_INPUT    ? find_input(part, drawn)
                       : drawn->kind == VF_VALUE_RESULT ? find_node(part, drawn->def)
                                                        : -1;
        if (from >= 0)
            VF_TRY(arrow(part, from, box, drawn, edge_tone(part, value, node)));
    }
    return VF_OK;
}

VfStatus vf_drawing_of_part(VfArena *arena, const VfDrawPart *ask, VfDrawing **drawing,
                            VfErr *err)
{
    Part part = {.ask = ask, .drawing = vf_drawing_new(arena, ask->title), .err = err};
    VF_TRY_ALLOC(part.drawing, err);
    *drawing = part.drawing;
    if (ask->n_node > VF_DRAW_BOX_MAX)
        return vf_fail(err, VF_UNSUPPORTED, "cannot draw %d nodes in one drawing: at most %d",
                       ask->n_node, VF_DRAW_BOX_MAX);
    for (int32_t i = 0; i < ask->n_node; i++) {
        part.model = ask->node[i]->graph->model;
        VF_TRY(add_node(&part, ask->node[i], false));
    }
    VF_TRY(add_context(&part));
    for (int32_t i = 0; i < part.drawing->n_box; i++)
        if (part.drawing->box[i].node != NULL)
            VF_TRY(add_operands(&part, i));
    return VF_OK;
}
