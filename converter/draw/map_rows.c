#include <stdio.h>
#include <string.h>

#include "converter/draw/map_names.h"
#include "converter/draw/map_private.h"
#include "converter/draw/parts.h"

/* Of a row; longer ones go on in the next. */
enum { ROW_UNIT_MAX = 24 };

/* Units that belong together: what leads to the beginning of a branch, or the branch with the sum
 * that ends it. */
typedef struct Part {
    int32_t n_unit;
    bool has_attention, has_layer, is_last;
    VfBytes scope;
    bool has_scope;
    int32_t last_sum; /* last residual joint, or -1 */
} Part;

typedef struct Rows {
    VfMap *map;
    int32_t *first_edge; /* by unit */
    int32_t *stamp;      /* by unit: last search that met it */
    int32_t n_search;
    int32_t *stack;
    int32_t *part_of;    /* by unit */
    Part *part;
    int32_t n_part;
} Rows;

static VfTone tone_of(const VfMap *map, int32_t unit)
{
    int32_t site = map->unit[unit].site;
    return site < 0 ? VF_TONE_PLAIN : map->ask->site[site].tone;
}

static bool is_attention(VfTone tone)
{
    return tone == VF_TONE_SOFTMAX || tone == VF_TONE_POINTWISE || tone == VF_TONE_KERNEL ||
           tone == VF_TONE_ATTENTION;
}

/* --- residual sums --- */

static bool leads_to(Rows *rows, int32_t from, int32_t to)
{
    const VfMap *map = rows->map;
    int32_t n = 0, search = ++rows->n_search;
    if (from >= to)
        return false;
    rows->stack[n++] = to;
    rows->stamp[to] = search;
    while (n > 0) {
        int32_t unit = rows->stack[--n];
        for (int32_t i = 0; i < map->unit[unit].n_edge; i++) {
            int32_t before = map->edge[rows->first_edge[unit] + i].from;
            if (before == from)
                return true;
            if (before < from || rows->stamp[before] == search)
                continue;
            rows->stamp[before] = search;
            rows->stack[n++] = before;
        }
    }
    return false;
}

static bool reads(const Rows *rows, int32_t unit, int32_t from)
{
    const VfMap *map = rows->map;
    for (int32_t i = 0; i < map->unit[unit].n_edge; i++)
        if (map->edge[rows->first_edge[unit] + i].from == from)
            return true;
    return false;
}

/* May it stand in a shortcut? Convolutions, norms of batches, and what is no site, as pools. */
static bool is_passage(const Rows *rows, int32_t unit)
{
    VfTone tone = tone_of(rows->map, unit);
    return rows->map->unit[unit].sign == NULL && rows->map->unit[unit].n_edge == 1 &&
           (tone == VF_TONE_CONV || tone == VF_TONE_BATCH || tone == VF_TONE_PLAIN);
}

/* What a shortcut with a pool or a convolution of its own begins at, if the branch begins there
 * too; -1: it is none. What the branch reads itself is no beginning, but a second operand, as the
 * values of an attention are to which a convolution of them is added. */
static int32_t shortcut_start(Rows *rows, int32_t unit, int32_t branch)
{
    enum { STEPS = 3 };
    for (int i = 0; i < STEPS && is_passage(rows, unit); i++) {
        unit = rows->map->edge[rows->first_edge[unit]].from;
        if (unit < 0 || tone_of(rows->map, unit) == VF_TONE_PRODUCT)
            return -1;
        if (!reads(rows, branch, unit) && leads_to(rows, unit, branch))
            return unit;
    }
    return -1;
}

static void find_skip(Rows *rows, int32_t sum)
{
    const VfMap *map = rows->map;
    VfMapUnit *unit = &map->unit[sum];
    for (int32_t i = 0; i < 2 * unit->n_edge * unit->n_edge && unit->skip < 0; i++) {
        int32_t a = i / unit->n_edge % unit->n_edge, b = i % unit->n_edge;
        int32_t from = map->edge[rows->first_edge[sum] + a].from;
        int32_t branch = map->edge[rows->first_edge[sum] + b].from;
        bool is_direct = i < unit->n_edge * unit->n_edge;
        if (a == b || from < 0 || branch < 0)
            continue;
        if (is_direct && leads_to(rows, from, branch))
            unit->skip = from;
        else if (!is_direct)
            unit->skip = shortcut_start(rows, from, branch);
    }
    unit->is_residual = unit->skip >= 0;
}

/* Residual sums on the longest path to each unit. */
static void find_segments(Rows *rows)
{
    const VfMap *map = rows->map;
    for (int32_t i = 0; i < map->n_unit; i++) {
        VfMapUnit *unit = &map->unit[i];
        unit->segment = 0;
        for (int32_t k = 0; k < unit->n_edge; k++) {
            int32_t from = map->edge[rows->first_edge[i] + k].from;
            int32_t segment = from < 0 ? 0 : map->unit[from].segment + map->unit[from].is_residual;
            unit->segment = segment > unit->segment ? segment : unit->segment;
        }
        if (unit->sign != NULL && strcmp(unit->sign, "+") == 0)
            find_skip(rows, i);
    }
}

/* --- parts --- */

/* What the skip of a segment's sum comes from, within the segment, leads to its branch. */
static void mark_lead(Rows *rows, int32_t sum, bool *is_lead)
{
    const VfMap *map = rows->map;
    int32_t segment = map->unit[sum].segment, n = 0;
    if (map->unit[map->unit[sum].skip].segment != segment)
        return;
    rows->stack[n++] = map->unit[sum].skip;
    is_lead[map->unit[sum].skip] = true;
    while (n > 0) {
        int32_t unit = rows->stack[--n];
        for (int32_t i = 0; i < map->unit[unit].n_edge; i++) {
            int32_t from = map->edge[rows->first_edge[unit] + i].from;
            if (from < 0 || is_lead[from] || map->unit[from].segment != segment)
                continue;
            is_lead[from] = true;
            rows->stack[n++] = from;
        }
    }
}

static void add_to_part(Rows *rows, int32_t i)
{
    const VfMapUnit *unit = &rows->map->unit[i];
    Part *part = &rows->part[rows->part_of[i]];
    VfTone tone = tone_of(rows->map, i);
    part->n_unit++;
    part->has_attention |= is_attention(tone);
    part->has_layer |= tone == VF_TONE_PRODUCT || tone == VF_TONE_CONV;
    if (unit->is_residual)
        part->last_sum = i;
    if (unit->site < 0 || unit->main->name.size == 0)
        return;
    VfBytes scope = vf_scope_of(unit->main->name);
    part->scope = part->has_scope ? vf_scope_both(part->scope, scope) : scope;
    part->has_scope = true;
}

static VfStatus find_parts(Rows *rows)
{
    VfMap *map = rows->map;
    int32_t n_segment = 1;
    for (int32_t i = 0; i < map->n_unit; i++)
        n_segment = map->unit[i].segment + 1 > n_segment ? map->unit[i].segment + 1 : n_segment;
    bool *is_lead = VF_NEW_ARRAY(map->arena, bool, (size_t)map->n_unit);
    rows->n_part = 2 * n_segment;
    rows->part = VF_NEW_ARRAY(map->arena, Part, (size_t)rows->n_part);
    if (is_lead == NULL || rows->part == NULL)
        return vf_no_memory(map->err);
    for (int32_t i = 0; i < map->n_unit; i++)
        if (map->unit[i].is_residual)
            mark_lead(rows, i, is_lead);
    for (int32_t i = 0; i < rows->n_part; i++)
        rows->part[i].last_sum = VF_MAP_NONE;
    for (int32_t i = 0; i < map->n_unit; i++) {
        rows->part_of[i] = 2 * map->unit[i].segment + !is_lead[i];
        add_to_part(rows, i);
    }
    return VF_OK;
}

/* --- rows --- */

typedef struct Row {
    int32_t n_unit;
    bool is_block, has_attention, is_full;
    VfBytes scope;
    bool has_scope;
    int32_t last_sum;
} Row;

static VfBytes scope_of_both(const Row *row, const Part *part)
{
    if (!row->has_scope || !part->has_scope)
        return (VfBytes){"", 0};
    return vf_scope_both(row->scope, part->scope);
}

/* Does the part go on with the row? */
static bool goes_on(const Row *row, const Part *part)
{
    if (row->n_unit == 0 || row->n_unit + part->n_unit > ROW_UNIT_MAX)
        return false;
    if (!part->has_scope && !part->has_layer && !part->has_attention)
        return row->is_block; /* joints alone */
    int32_t both = vf_scope_depth(scope_of_both(row, part));
    int32_t depth = vf_scope_depth(row->scope), other = vf_scope_depth(part->scope);
    bool is_named = depth > 0 && other > 0;
    bool is_same = is_named && both == depth && both == other;
    bool ends_block = part->last_sum >= 0;
    if (!ends_block) /* between blocks: a norm stays, a layer with weights begins something new */
        return row->is_block && !part->has_attention &&
               (is_same || (!part->has_layer && !part->is_last));
    if (!row->is_block)
        return false;
    if (part->has_attention)
        return is_same && !row->has_attention;
    if (is_same)
        return true;
    return row->has_attention && !row->is_full && (!is_named || both > 0);
}

static void add_part(Row *row, const Part *part)
{
    row->n_unit += part->n_unit;
    row->is_full |= row->has_attention && part->last_sum >= 0 && !part->has_attention;
    row->has_attention |= part->has_attention;
    row->is_block |= part->last_sum >= 0;
    if (part->last_sum >= 0)
        row->last_sum = part->last_sum;
    if (part->has_scope && (part->last_sum >= 0 || !row->has_scope)) {
        row->scope = row->has_scope ? vf_scope_both(row->scope, part->scope) : part->scope;
        row->has_scope = true;
    }
}

static VfStatus label_row(const Rows *rows, const Row *row, int32_t at, int32_t n_row,
                          int32_t block, VfBytes *out)
{
    VfArena *arena = rows->map->arena;
    VfErr *err = rows->map->err;
    const char *word = n_row == 1 ? "model" : at == 0 ? "stem" : at + 1 == n_row ? "head"
                                                                               : "transition";
    VfBytes label = {"", 0};
    if (row->is_block && vf_scope_depth(row->scope) > 0)
        VF_TRY(vf_scope_label(arena, row->scope, true, &label, err));
    if (!row->is_block && at > 0)
        VF_TRY(vf_scope_label(arena, row->scope, false, &label, err));
    if (!row->is_block && !vf_scope_has_digit(label))
        label.size = 0;
    if (label.size > 0)
        return vf_draw_name(arena, label, out, err);
    if (row->is_block) {
        word = vf_arena_printf(arena, "block %d", block);
        VF_TRY_ALLOC(word, err);
    }
    *out = (VfBytes){word, strlen(word)};
    return VF_OK;
}

/* The shape of a block's result without the axis of samples. */
static VfStatus shape_text(const Rows *rows, int32_t sum, VfBytes *out)
{
    const VfMap *map = rows->map;
    const VfValue *value = vf_node_out(map->unit[sum].main, 0);
    VfText text;
    vf_text_init(&text, map->arena);
    for (int32_t i = 1; value != NULL && i < value->type.rank; i++) {
        const char *dim = vf_dim_text(map->arena, map->ask->graph->model->symbols,
                                      value->type.dims[i]);
        VF_TRY_ALLOC(dim, map->err);
        vf_text_printf(&text, "%s%s", i == 1 ? "" : "\xc3\x97", dim);
    }
    return vf_text_get(&text, out, map->err);
}

/* A heading where the shape of blocks changes, above what leads to the first of them. */
static VfStatus head_rows(const Rows *rows, const Row *row, int32_t n_row)
{
    VfMap *map = rows->map;
    VfBytes shape = {"", 0};
    int32_t n_stage = 0, begin = 0;
    for (int32_t i = 0; i < n_row; i++) {
        VfBytes own;
        if (!row[i].is_block)
            continue;
        VF_TRY(shape_text(rows, row[i].last_sum, &own));
        if (n_stage == 0 || !vf_bytes_is_equal(own, shape)) {
            const char *words = vf_arena_printf(map->arena, "stage %d \xc2\xb7 %s", ++n_stage,
                                                own.data);
            VF_TRY_ALLOC(words, map->err);
            int32_t at = n_stage == 1 ? i : begin;
            map->row[at].heading = (VfBytes){words, strlen(words)};
        }
        shape = own;
        begin = i + 1;
    }
    for (int32_t i = 0; i < n_row && n_stage == 1; i++)
        map->row[i].heading = (VfBytes){"", 0};
    return VF_OK;
}

static VfStatus make_rows(Rows *rows)
{
    VfMap *map = rows->map;
    Row *row = VF_NEW_ARRAY(map->arena, Row, (size_t)rows->n_part);
    int32_t *row_of = VF_NEW_ARRAY(map->arena, int32_t, (size_t)rows->n_part);
    map->row = VF_NEW_ARRAY(map->arena, struct VfMapRow, (size_t)rows->n_part);
    if (row == NULL || row_of == NULL || map->row == NULL)
        return vf_no_memory(map->err);
    int32_t n = 0, n_block = 0;
    int32_t last = rows->n_part - 1;
    while (last > 0 && rows->part[last].n_unit == 0)
        last--;
    rows->part[last].is_last = true;
    for (int32_t i = 0; i < rows->n_part; i++) {
        if (rows->part[i].n_unit == 0)
            continue;
        n += n == 0 || !goes_on(&row[n - 1], &rows->part[i]);
        add_part(&row[n - 1], &rows->part[i]);
        row_of[i] = n - 1;
    }
    map->n_row = n;
    for (int32_t i = 0; i < n; i++) {
        map->row[i].n_unit = row[i].n_unit;
        map->row[i].is_block = row[i].is_block;
        VF_TRY(label_row(rows, &row[i], i, n, n_block, &map->row[i].label));
        n_block += row[i].is_block;
    }
    for (int32_t i = 0; i < map->n_unit; i++)
        map->unit[i].row = row_of[rows->part_of[i]];
    return head_rows(rows, row, n);
}

VfStatus vf_map_rows(VfMap *map)
{
    size_t n = (size_t)map->n_unit;
    Rows rows = {
        .map = map,
        .first_edge = VF_NEW_ARRAY(map->arena, int32_t, n),
        .stamp = VF_NEW_ARRAY(map->arena, int32_t, n),
        .stack = VF_NEW_ARRAY(map->arena, int32_t, n),
        .part_of = VF_NEW_ARRAY(map->arena, int32_t, n),
    };
    if (rows.first_edge == NULL || rows.stamp == NULL || rows.stack == NULL ||
        rows.part_of == NULL)
        return vf_no_memory(map->err);
    for (int32_t i = 1; i < map->n_unit; i++)
        rows.first_edge[i] = rows.first_edge[i - 1] + map->unit[i - 1].n_edge;
    find_segments(&rows);
    VF_TRY(find_parts(&rows));
    return make_rows(&rows);
}
