#include <string.h>

#include "converter/draw/map_private.h"

static const char times[] = "\xc3\x97";

VfNode *vf_map_outer(const VfMap *map, VfNode *node)
{
    while (node != NULL && node->graph != map->ask->graph)
        node = node->graph->owner;
    return node;
}

/* --- kinds of nodes --- */

/* Of operators that are not views: those that only move data. */
static bool is_move(const VfNode *node)
{
    static const VfOp moves[] = {VF_OP_TRANSPOSE, VF_OP_SLICE, VF_OP_SPLIT, VF_OP_PAD,
                                 VF_OP_CAST, VF_OP_EXPAND, VF_OP_TILE, VF_OP_GATHER,
                                 VF_OP_SPACE_TO_DEPTH, VF_OP_DEPTH_TO_SPACE, VF_OP_DROPOUT};
    if (vf_op_has(node->op, VF_OPF_VIEW))
        return true;
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
        if (node->op == moves[i])
            return vf_node_in(node, 0) != NULL && vf_node_in(node, 0)->kind != VF_VALUE_CONST;
    return false;
}

static bool is_runtime(const VfValue *value)
{
    return value != NULL && value->kind != VF_VALUE_CONST &&
           (value->kind == VF_VALUE_RESULT || value->tensor == NULL);
}

/* Parts of one thing put together again, as a roll does; not a thing with constants added. */
static bool is_reunion(const VfNode *node)
{
    for (int32_t i = 0; i < node->n_in; i++)
        if (!is_runtime(vf_node_in(node, i)))
            return false;
    return node->op == VF_OP_CONCAT && node->n_in > 1;
}

/* May it join the one box it reads from? */
static bool is_joinable(const VfNode *node)
{
    return is_move(node) || is_reunion(node) || vf_op_has(node->op, VF_OPF_ELEMENTWISE);
}

static bool gives_output(const VfNode *node)
{
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL && vf_value_is_output(node->out[i]))
            return true;
    return false;
}

/* Works on shapes or constants alone. */
static bool is_hidden(const VfMap *map, const VfNode *node)
{
    if (gives_output(node) || map->ask->site_of[node->id] >= 0)
        return false;
    if (node->op == VF_OP_SHAPE || node->op == VF_OP_SIZE)
        return true;
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = vf_node_in(node, i);
        if (is_runtime(value) && (value->kind == VF_VALUE_INPUT ||
                                  map->unit_of[value->def->id] != VF_MAP_HIDDEN))
            return false;
    }
    return !vf_op_has(node->op, VF_OPF_CONTROL);
}

/* --- units --- */

static VfStatus new_unit(VfMap *map, VfNode *node, int32_t site, const char *sign)
{
    void *items = map->unit;
    VF_TRY(vf_arena_grow(map->arena, &items, &map->unit_capacity, (size_t)map->n_unit + 1,
                         sizeof *map->unit, map->err));
    map->unit = items;
    map->unit[map->n_unit] = (VfMapUnit){.site = site, .sign = sign, .first = node, .main = node,
                                         .is_move = true, .skip = VF_MAP_NONE};
    map->unit_of[node->id] = map->n_unit++;
    return VF_OK;
}

static void join(VfMap *map, VfNode *node, int32_t number)
{
    VfMapUnit *unit = &map->unit[number];
    const char *note = map->ask->note == NULL ? NULL : map->ask->note[node->id];
    map->unit_of[node->id] = number;
    unit->n_node++;
    unit->is_move &= unit->site < 0 && unit->sign == NULL && is_move(node);
    for (int32_t i = 0; i < unit->n_note && note != NULL; i++)
        if (strcmp(unit->note[i], note) == 0)
            note = NULL; /* said */
    if (note != NULL && unit->n_note < 3)
        unit->note[unit->n_note++] = note;
}

/* The only unit the node reads from; VF_MAP_NONE: from an input or nothing; VF_MAP_HIDDEN here:
 * from several. */
static int32_t only_source(const VfMap *map, const VfNode *node)
{
    int32_t source = VF_MAP_NONE;
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = vf_node_in(node, i);
        if (!is_runtime(value) || value->kind != VF_VALUE_RESULT)
            continue;
        int32_t unit = map->unit_of[value->def->id];
        if (unit == VF_MAP_HIDDEN || unit == source)
            continue;
        if (source != VF_MAP_NONE)
            return VF_MAP_HIDDEN;
        source = unit;
    }
    return source;
}

static bool reads_input(const VfNode *node)
{
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = vf_node_in(node, i);
        if (value != NULL && value->kind == VF_VALUE_INPUT && value->tensor == NULL)
            return true;
    }
    return false;
}

static const char *sign_of(const VfNode *node)
{
    return node->op == VF_OP_ADD || node->op == VF_OP_SUM ? "+"
           : node->op == VF_OP_SUB                        ? "-"
           : node->op == VF_OP_MUL                        ? times
                                                          : NULL;
}

static VfStatus place_node(VfMap *map, VfNode *node, int32_t *unit_of_site)
{
    int32_t site = map->ask->site_of[node->id];
    if (site >= 0) {
        if (unit_of_site[site] == VF_MAP_NONE) {
            VF_TRY(new_unit(map, node, site, NULL));
            unit_of_site[site] = map->unit_of[node->id];
        }
        join(map, node, unit_of_site[site]);
        return VF_OK;
    }
    if (is_hidden(map, node)) {
        map->unit_of[node->id] = VF_MAP_HIDDEN;
        return VF_OK;
    }
    int32_t source = only_source(map, node);
    if (source >= 0 && !reads_input(node) && is_joinable(node)) {
        join(map, node, source);
        return VF_OK;
    }
    VF_TRY(new_unit(map, node, -1, source == VF_MAP_HIDDEN ? sign_of(node) : NULL));
    join(map, node, map->unit_of[node->id]);
    return VF_OK;
}

/* --- edges --- */

/* The last unit that an edge from a source goes to is looked at, so that several operands make
 * one edge. */
static VfStatus add_edge(VfMap *map, int32_t from, int32_t to, const VfValue *value)
{
    void *items = map->edge;
    for (int32_t i = map->n_edge - 1; i >= 0 && map->edge[i].to == to; i--)
        if (map->edge[i].from == from && (from >= 0 || map->edge[i].value == value))
            return VF_OK;
    VF_TRY(vf_arena_grow(map->arena, &items, &map->edge_capacity, (size_t)map->n_edge + 1,
                         sizeof *map->edge, map->err));
    map->edge = items;
    map->edge[map->n_edge++] = (VfMapEdge){from, to, value};
    map->unit[to].n_edge++;
    return VF_OK;
}

static VfStatus add_operand(VfMap *map, int32_t to, const VfValue *value)
{
    if (!is_runtime(value))
        return VF_OK;
    if (value->kind == VF_VALUE_INPUT)
        return value->graph == map->ask->graph ? add_edge(map, VF_MAP_NONE, to, value) : VF_OK;
    const VfNode *def = value->def;
    if (def->graph != map->ask->graph)
        return VF_OK;
    int32_t from = map->unit_of[def->id];
    return from == VF_MAP_HIDDEN || from == to ? VF_OK : add_edge(map, from, to, value);
}

/* Operands of a node and of the nodes in its subgraphs. */
static VfStatus add_operands(VfMap *map, int32_t to, const VfNode *node)
{
    for (int32_t i = 0; i < node->n_in; i++)
        VF_TRY(add_operand(map, to, vf_node_in(node, i)));
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        int32_t n = attr->type == VF_ATTR_GRAPH ? 1 : attr->type == VF_ATTR_GRAPHS ? attr->n : 0;
        for (int32_t k = 0; k < n; k++) {
            const VfGraph *graph = attr->type == VF_ATTR_GRAPH ? attr->graph : attr->graphs[k];
            if (graph == NULL)
                continue;
            for (const VfNode *inner = graph->first_node; inner != NULL; inner = inner->next)
                VF_TRY(add_operands(map, to, inner));
            VF_TRY(add_operands(map, to, graph->ret));
        }
    }
    return VF_OK;
}

/* Nodes by unit, so that the edges into one unit are made together. */
static VfStatus add_edges(VfMap *map)
{
    const VfGraph *graph = map->ask->graph;
    size_t n_id = (size_t)graph->model->n_node_id;
    VfNode **next = VF_NEW_ARRAY(map->arena, VfNode *, n_id);
    VfNode **head = VF_NEW_ARRAY(map->arena, VfNode *, (size_t)map->n_unit);
    if (next == NULL || head == NULL)
        return vf_no_memory(map->err);
    for (VfNode *node = graph->last_node; node != NULL; node = node->prev) {
        int32_t unit = map->unit_of[node->id];
        if (unit < 0)
            continue;
        next[node->id] = head[unit];
        head[unit] = node;
    }
    map->n_edge = 0;
    for (int32_t i = 0; i < map->n_unit; i++) {
        map->unit[i].n_edge = 0;
        for (VfNode *node = head[i]; node != NULL; node = next[node->id])
            VF_TRY(add_operands(map, i, node));
    }
    return VF_OK;
}

/* --- moves of data before a unit --- */

/* A unit that only moves data joins its one reader. */
static VfStatus fold_moves(VfMap *map)
{
    int32_t *reader = VF_NEW_ARRAY(map->arena, int32_t, (size_t)map->n_unit);
    VF_TRY_ALLOC(reader, map->err);
    for (int32_t i = 0; i < map->n_unit; i++)
        reader[i] = VF_MAP_NONE;
    for (int32_t i = 0; i < map->n_edge; i++) {
        const VfMapEdge *edge = &map->edge[i];
        if (edge->from >= 0)
            reader[edge->from] = reader[edge->from] == VF_MAP_NONE ? edge->to : VF_MAP_HIDDEN;
    }
    for (VfNode *node = map->ask->graph->last_node; node != NULL; node = node->prev) {
        int32_t unit = map->unit_of[node->id];
        if (unit < 0 || !map->unit[unit].is_move || reader[unit] < 0 || gives_output(node))
            continue;
        int32_t to = reader[unit];
        while (map->unit[to].is_move && reader[to] >= 0)
            to = reader[to];
        join(map, node, to);
        map->unit[unit].n_node--;
    }
    return VF_OK;
}

VfStatus vf_map_units(VfMap *map)
{
    const VfGraph *graph = map->ask->graph;
    size_t n_id = (size_t)graph->model->n_node_id;
    map->unit_of = VF_NEW_ARRAY(map->arena, int32_t, n_id);
    int32_t *unit_of_site = VF_NEW_ARRAY(map->arena, int32_t, (size_t)map->ask->n_site);
    if (map->unit_of == NULL || unit_of_site == NULL)
        return vf_no_memory(map->err);
    for (size_t i = 0; i < n_id; i++)
        map->unit_of[i] = VF_MAP_NONE;
    for (int32_t i = 0; i < map->ask->n_site; i++)
        unit_of_site[i] = VF_MAP_NONE;
    for (VfNode *node = graph->first_node; node != NULL; node = node->next)
        VF_TRY(place_node(map, node, unit_of_site));
    VF_TRY(add_edges(map));
    VF_TRY(fold_moves(map));
    VF_TRY(add_edges(map));
    return vf_map_order(map);
}
