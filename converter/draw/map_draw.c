#include <string.h>

#include "converter/draw/map_private.h"
#include "converter/draw/parts.h"

/* Units of one row: blocks are kept whole longer than chains. */
enum { BLOCK_MAX = 24, CHAIN_MAX = 10 };

typedef struct Painter {
    const VfMap *map;
    const VfMapPiece *piece;
    VfDrawing *drawing;
    int32_t *box;      /* by unit: number of the box in the piece being drawn + 1 */
    int32_t *piece_of; /* by unit */
    int32_t *first_edge;
    int32_t *entry;    /* by unit: box that stands for it in this piece + 1, ... */
    int32_t *entry_at; /* ... if this is the piece's number + 1 */
} Painter;

/* --- boxes --- */

VfStatus vf_map_box(const VfMap *map, int32_t number, VfDrawBox *box)
{
    const VfMapUnit *unit = &map->unit[number];
    const VfMapSite *site = unit->site < 0 ? NULL : &map->ask->site[unit->site];
    VfDrawBox plain;
    VF_TRY(vf_draw_node_box(map->arena, unit->main, false, &plain, map->err));
    int32_t n = site != NULL ? site->n_line : 1;
    VfBytes *line = VF_NEW_ARRAY(map->arena, VfBytes, (size_t)(n + unit->n_note));
    VF_TRY_ALLOC(line, map->err);
    for (int32_t i = 0; i < n; i++)
        line[i] = site != NULL ? site->line[i] : plain.line[0];
    if (unit->sign != NULL)
        line[0] = (VfBytes){unit->sign, strlen(unit->sign)};
    for (int32_t i = 0; i < unit->n_note && unit->sign == NULL; i++)
        line[n++] = (VfBytes){unit->note[i], strlen(unit->note[i])};
    *box = (VfDrawBox){
        .n_line = n,
        .line = line,
        .tip = site != NULL && site->tip.size > 0 ? site->tip : plain.tip,
        .tone = site == NULL ? VF_TONE_PLAIN : site->tone,
        .group = -1,
        .is_point = unit->sign != NULL,
        .node = unit->main,
    };
    return VF_OK;
}

static VfStatus add_arrow(Painter *p, int32_t from, int32_t to, const VfValue *value)
{
    VfDrawArrow arrow = {.from = from, .to = to, .value = value};
    return vf_drawing_add_arrow(p->drawing, &arrow, p->map->err);
}

/* --- what comes from elsewhere --- */

static VfStatus add_input(Painter *p, const VfMapEdge *edge)
{
    VfDrawBox box;
    int32_t number;
    const VfValue *value = edge->value;
    VF_TRY(vf_draw_end_box(p->map->arena, p->map->ask->graph->model, true, value->name,
                           &value->type, &box, p->map->err));
    for (int32_t i = 0; i < p->drawing->n_arrow; i++)
        if (p->drawing->arrow[i].value == value)
            return add_arrow(p, p->drawing->arrow[i].from, p->box[edge->to] - 1, value);
    VF_TRY(vf_drawing_add_box(p->drawing, &box, &number, p->map->err));
    return add_arrow(p, number, p->box[edge->to] - 1, value);
}

/* A dot for what the row before gives; a box with the row's label for others. */
static VfStatus add_entry(Painter *p, int32_t at, const VfMapEdge *edge)
{
    const VfMap *map = p->map;
    const VfMapPiece *source = &p->piece[p->piece_of[edge->from]];
    VfDrawBox from;
    if (p->entry_at[edge->from] != at + 1) {
        bool is_near = p->piece_of[edge->from] == at - 1;
        VF_TRY(vf_map_box(map, edge->from, &from));
        const char *tip = vf_arena_printf(map->arena, "from %s: %s", source->drawn.label.data,
                                          from.n_line > 0 ? from.line[0].data : "");
        const char *word = vf_arena_printf(map->arena, "from %s", source->drawn.label.data);
        VF_TRY_ALLOC(tip, map->err);
        VF_TRY_ALLOC(word, map->err);
        VfBytes line = {word, strlen(word)};
        VfDrawBox box = {.n_line = !is_near, .line = &line, .tip = {tip, strlen(tip)},
                         .tone = is_near ? VF_TONE_PLAIN : VF_TONE_CONTEXT, .group = -1,
                         .is_point = is_near};
        VF_TRY(vf_drawing_add_box(p->drawing, &box, &p->entry[edge->from], map->err));
        p->entry[edge->from]++;
        p->entry_at[edge->from] = at + 1;
    }
    return add_arrow(p, p->entry[edge->from] - 1, p->box[edge->to] - 1, edge->value);
}

static VfStatus add_edges(Painter *p, int32_t at)
{
    const VfMapPiece *piece = &p->piece[at];
    for (int32_t i = 0; i < piece->n_unit; i++) {
        int32_t unit = piece->unit[i];
        for (int32_t k = 0; k < p->map->unit[unit].n_edge; k++) {
            const VfMapEdge *edge = &p->map->edge[p->first_edge[unit] + k];
            if (edge->from < 0)
                VF_TRY(add_input(p, edge));
            else if (p->piece_of[edge->from] != at)
                VF_TRY(add_entry(p, at, edge));
            else
                VF_TRY(add_arrow(p, p->box[edge->from] - 1, p->box[unit] - 1, edge->value));
        }
    }
    return VF_OK;
}

static VfStatus add_outputs(Painter *p, int32_t at)
{
    const VfGraph *graph = p->map->ask->graph;
    for (int32_t i = 0; i < graph->ret->n_in; i++) {
        const VfValue *value = vf_node_in(graph->ret, i);
        int32_t unit = value == NULL || value->kind != VF_VALUE_RESULT || value->graph != graph
                           ? VF_MAP_NONE
                           : p->map->unit_of[value->def->id];
        VfDrawBox box;
        int32_t number;
        if (unit < 0 || p->piece_of[unit] != at)
            continue;
        VF_TRY(vf_draw_end_box(p->map->arena, graph->model, false, graph->output_name[i],
                               &graph->output_type[i], &box, p->map->err));
        VF_TRY(vf_drawing_add_box(p->drawing, &box, &number, p->map->err));
        VF_TRY(add_arrow(p, p->box[unit] - 1, number, value));
    }
    return VF_OK;
}

static VfStatus draw_piece(Painter *p, int32_t at)
{
    const VfMapPiece *piece = &p->piece[at];
    p->drawing = vf_drawing_new(p->map->arena, piece->drawn.label);
    VF_TRY_ALLOC(p->drawing, p->map->err);
    p->drawing->is_sideways = true;
    for (int32_t i = 0; i < piece->n_unit; i++) {
        VfDrawBox box;
        int32_t number;
        VF_TRY(vf_map_box(p->map, piece->unit[i], &box));
        VF_TRY(vf_drawing_add_box(p->drawing, &box, &number, p->map->err));
        p->box[piece->unit[i]] = number + 1;
    }
    VF_TRY(add_edges(p, at));
    return add_outputs(p, at);
}

/* --- pieces --- */

static int32_t pieces_of(const struct VfMapRow *row)
{
    bool is_whole = row->is_block && row->n_unit <= BLOCK_MAX;
    return is_whole ? 1 : (row->n_unit + CHAIN_MAX - 1) / CHAIN_MAX;
}

static VfStatus cut_rows(Painter *p, VfMapPiece *piece)
{
    const VfMap *map = p->map;
    int32_t *unit = VF_NEW_ARRAY(map->arena, int32_t, (size_t)map->n_unit);
    int32_t *end = VF_NEW_ARRAY(map->arena, int32_t, (size_t)map->n_row);
    VF_TRY_ALLOC(unit, map->err);
    VF_TRY_ALLOC(end, map->err);
    for (int32_t r = 1; r < map->n_row; r++)
        end[r] = end[r - 1] + map->row[r - 1].n_unit;
    for (int32_t i = 0; i < map->n_unit; i++)
        unit[end[map->unit[i].row]++] = i;
    for (int32_t r = 0, n = 0; r < map->n_row; r++) {
        int32_t all = map->row[r].n_unit, n_piece = pieces_of(&map->row[r]);
        int32_t each = (all + n_piece - 1) / n_piece;
        for (int32_t k = 0; k < n_piece; k++, n++) {
            int32_t left = all - k * each;
            piece[n] = (VfMapPiece){.row = r, .n_unit = left < each ? left : each,
                                    .unit = unit + end[r] - all + k * each};
            piece[n].drawn.label = map->row[r].label;
            piece[n].drawn.heading = k == 0 ? map->row[r].heading : (VfBytes){"", 0};
            piece[n].drawn.note = k == 0 ? (VfBytes){"", 0} : (VfBytes){"goes on", 7};
            for (int32_t i = 0; i < piece[n].n_unit; i++)
                p->piece_of[piece[n].unit[i]] = n;
        }
    }
    return VF_OK;
}

VfStatus vf_map_draw(VfMap *map, VfMapPiece **piece, int32_t *n_piece)
{
    size_t n = (size_t)map->n_unit;
    Painter p = {
        .map = map,
        .box = VF_NEW_ARRAY(map->arena, int32_t, n),
        .piece_of = VF_NEW_ARRAY(map->arena, int32_t, n),
        .first_edge = VF_NEW_ARRAY(map->arena, int32_t, n),
        .entry = VF_NEW_ARRAY(map->arena, int32_t, n),
        .entry_at = VF_NEW_ARRAY(map->arena, int32_t, n),
    };
    *n_piece = 0;
    for (int32_t r = 0; r < map->n_row; r++)
        *n_piece += pieces_of(&map->row[r]);
    *piece = VF_NEW_ARRAY(map->arena, VfMapPiece, (size_t)*n_piece);
    if (p.box == NULL || p.piece_of == NULL || p.first_edge == NULL || p.entry == NULL ||
        p.entry_at == NULL || *piece == NULL)
        return vf_no_memory(map->err);
    for (int32_t i = 1; i < map->n_unit; i++)
        p.first_edge[i] = p.first_edge[i - 1] + map->unit[i - 1].n_edge;
    p.piece = *piece;
    VF_TRY(cut_rows(&p, *piece));
    for (int32_t i = 0; i < *n_piece; i++) {
        VF_TRY(draw_piece(&p, i));
        (*piece)[i].drawn.drawing = p.drawing;
    }
    return VF_OK;
}
