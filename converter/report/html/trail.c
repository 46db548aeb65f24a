#include "converter/report/html/trail.h"

/* Nodes looked at on the way, and nodes of a way that can still be read. */
enum { LOOKED_AT_MAX = 400, LENGTH_MAX = 16 };

typedef struct Search {
    const VfNode *node[LOOKED_AT_MAX];
    int32_t reader[LOOKED_AT_MAX]; /* index of the node that was met before; -1: the first */
    int32_t n;
} Search;

static void meet(Search *search, const VfNode *node, int32_t reader)
{
    for (int32_t i = 0; i < search->n; i++)
        if (search->node[i] == node)
            return;
    if (search->n == LOOKED_AT_MAX)
        return;
    search->node[search->n] = node;
    search->reader[search->n++] = reader;
}

/* From `last` up to what it computes from; the index of `first`, or -1. */
static int32_t look_up(Search *search, const VfNode *last, const VfNode *first)
{
    search->n = 0;
    meet(search, last, -1);
    for (int32_t i = 0; i < search->n; i++) {
        const VfNode *node = search->node[i];
        if (node == first)
            return i;
        for (int32_t k = 0; k < node->n_in; k++) {
            const VfValue *value = vf_node_in(node, k);
            if (value != NULL && value->kind == VF_VALUE_RESULT)
                meet(search, value->def, i);
        }
    }
    return -1;
}

VfStatus vf_trail_find(VfArena *arena, const VfNode *a, const VfNode *b, VfTrail *trail, VfErr *err)
{
    Search *search = VF_NEW(arena, Search);
    VF_TRY_ALLOC(search, err);
    *trail = (VfTrail){0};
    int32_t at = look_up(search, b, a);
    if (at < 0)
        at = look_up(search, a, b);
    if (at < 0)
        return VF_OK;
    trail->node = VF_NEW_ARRAY(arena, const VfNode *, LENGTH_MAX);
    VF_TRY_ALLOC(trail->node, err);
    for (; at >= 0 && trail->n < LENGTH_MAX; at = search->reader[at])
        trail->node[trail->n++] = search->node[at];
    if (at >= 0)
        trail->n = 0;
    return VF_OK;
}
