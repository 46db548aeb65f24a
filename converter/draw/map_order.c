#include "converter/draw/map_private.h"

/* Units are put into an order in which each stands behind what it reads from. Where units read from
 * each other in a circle, which sites with a second result can make, it is broken at the one that
 * came first. */
typedef struct Walk {
    const VfMap *map;
    int32_t *first_edge; /* by unit */
    int32_t *next_edge;  /* edges of the unit looked at so far */
    bool *is_met;
    int32_t *stack, *order;
    int32_t n_stack, n_order;
} Walk;

static void visit(Walk *walk, int32_t start)
{
    if (walk->is_met[start])
        return;
    walk->is_met[start] = true;
    walk->stack[walk->n_stack++] = start;
    while (walk->n_stack > 0) {
        int32_t unit = walk->stack[walk->n_stack - 1];
        if (walk->next_edge[unit] == walk->map->unit[unit].n_edge) {
            walk->order[walk->n_order++] = unit;
            walk->n_stack--;
            continue;
        }
        int32_t edge = walk->first_edge[unit] + walk->next_edge[unit]++;
        int32_t from = walk->map->edge[edge].from;
        if (from < 0 || walk->is_met[from])
            continue;
        walk->is_met[from] = true;
        walk->stack[walk->n_stack++] = from;
    }
}

/* Put units and edges into the order found; units without nodes are left out. */
static VfStatus renumber(VfMap *map, const Walk *walk)
{
    int32_t *number = VF_NEW_ARRAY(map->arena, int32_t, (size_t)map->n_unit);
    VfMapUnit *unit = VF_NEW_ARRAY(map->arena, VfMapUnit, (size_t)map->n_unit);
    VfMapEdge *edge = VF_NEW_ARRAY(map->arena, VfMapEdge, (size_t)map->n_edge);
    int32_t n_unit = 0, n_edge = 0;
    if (number == NULL || unit == NULL || edge == NULL)
        return vf_no_memory(map->err);
    for (int32_t i = 0; i < walk->n_order; i++) {
        const VfMapUnit *old = &map->unit[walk->order[i]];
        number[walk->order[i]] = old->n_node > 0 ? n_unit : VF_MAP_NONE;
        if (old->n_node > 0)
            unit[n_unit++] = *old;
    }
    for (int32_t i = 0; i < walk->n_order; i++) {
        int32_t old = walk->order[i];
        for (int32_t k = 0; k < map->unit[old].n_edge && number[old] >= 0; k++) {
            const VfMapEdge *e = &map->edge[walk->first_edge[old] + k];
            int32_t from = e->from < 0 ? e->from : number[e->from];
            edge[n_edge++] = (VfMapEdge){from, number[old], e->value};
        }
    }
    for (int32_t i = 0; i < map->ask->graph->model->n_node_id; i++)
        if (map->unit_of[i] >= 0)
            map->unit_of[i] = number[map->unit_of[i]];
    map->unit = unit;
    map->edge = edge;
    map->n_unit = n_unit;
    map->n_edge = n_edge;
    return VF_OK;
}

VfStatus vf_map_order(VfMap *map)
{
    size_t n = (size_t)map->n_unit;
    Walk walk = {
        .map = map,
        .first_edge = VF_NEW_ARRAY(map->arena, int32_t, n),
        .next_edge = VF_NEW_ARRAY(map->arena, int32_t, n),
        .is_met = VF_NEW_ARRAY(map->arena, bool, n),
        .stack = VF_NEW_ARRAY(map->arena, int32_t, n),
        .order = VF_NEW_ARRAY(map->arena, int32_t, n),
    };
    if (walk.first_edge == NULL || walk.next_edge == NULL || walk.is_met == NULL ||
        walk.stack == NULL || walk.order == NULL)
        return vf_no_memory(map->err);
    for (int32_t i = 1; i < map->n_unit; i++)
        walk.first_edge[i] = walk.first_edge[i - 1] + map->unit[i - 1].n_edge;
    for (int32_t i = 0; i < map->n_unit; i++)
        visit(&walk, i);
    return renumber(map, &walk);
}
