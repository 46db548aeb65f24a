/* From twins to their neighbours: what both read at the same place, what alone reads both. */
#include <stdlib.h>

#include "passes/ir/align_private.h"

/* Operands at one place of aligned nodes. Constants become twins whatever they hold: a weight that
 * changed is one weight. */
static VfStatus relate(VfAligner *al, const VfValue *a, const VfValue *b)
{
    const VfAlign *out = al->out;
    if (a == NULL || b == NULL || a->kind != b->kind || out->value_b[a->id] != NULL ||
        out->value_a[b->id] != NULL)
        return VF_OK;
    if (a->kind == VF_VALUE_CONST)
        return vf_align_values(al, a, b);
    if (a->kind == VF_VALUE_RESULT && a->index == b->index && vf_align_is_free(al, a->def, b->def))
        return vf_align_nodes(al, a->def, b->def, VF_ALIGN_NEAR);
    return VF_OK;
}

static bool is_crosswise(const VfAligner *al, const VfNode *a, const VfNode *b)
{
    if (a->n_in != 2 || b->n_in != 2 || !vf_op_is_commutative(a))
        return false;
    const VfValue *a0 = a->in[0].value, *a1 = a->in[1].value;
    const VfValue *b0 = b->in[0].value, *b1 = b->in[1].value;
    if (a0 == NULL || a1 == NULL || b0 == NULL || b1 == NULL)
        return false;
    if (al->out->value_b[a0->id] == b1 || al->out->value_b[a1->id] == b0)
        return true;
    if (al->out->value_b[a0->id] == b0 || al->out->value_b[a1->id] == b1)
        return false;
    return a0->kind != b0->kind && a0->kind == b1->kind && a1->kind == b0->kind;
}

/* Each result of a node comes here. What one look did not relate no later one will, except for
 * operands that may be crosswise. */
static VfStatus look_up(VfAligner *al, const VfNode *a, const VfNode *b)
{
    bool cross = is_crosswise(al, a, b);
    if (al->is_looked_up[a->id] && a->n_in != 2)
        return VF_OK;
    al->is_looked_up[a->id] = true;
    for (int32_t i = 0; i < a->n_in && i < b->n_in; i++)
        VF_TRY(relate(al, a->in[i].value, b->in[cross ? 1 - i : i].value));
    return VF_OK;
}

/* Free readers of `value` in its own graph, sorted by what kind of reader they are. */
static VfStatus readers(VfAligner *al, int side, const VfValue *value, bool is_strict, size_t *n)
{
    const VfNode **twin = side == 0 ? al->out->node_b : al->out->node_a;
    int32_t place = 0;
    *n = 0;
    for (const VfUse *use = value->first_use; use != NULL; use = use->next, place++) {
        const VfNode *node = use->node;
        if (node->graph != value->graph || node->op == VF_OP_RETURN || twin[node->id] != NULL)
            continue;
        uint64_t key = vf_align_bytes(29, node->op_type.data, node->op_type.size);
        if (is_strict)
            key = vf_align_local(al, side, node);
        key = vf_align_mix(key, vf_op_is_commutative(node) ? 0 : (uint64_t)use->slot);
        VF_TRY(vf_arena_grow(al->arena, (void **)&al->item[side], &al->item_capacity[side], *n + 1,
                             sizeof *al->item[side], al->err));
        al->item[side][(*n)++] = (VfAlignItem){key, place, node};
    }
    if (*n > 1)
        qsort(al->item[side], *n, sizeof *al->item[side], vf_align_item_compare);
    return VF_OK;
}

static bool is_alone(const VfAlignItem *item, size_t i, size_t n)
{
    return (i == 0 || item[i - 1].key != item[i].key) &&
           (i + 1 == n || item[i + 1].key != item[i].key);
}

static VfStatus look_down(VfAligner *al, const VfValue *a, const VfValue *b, bool is_strict)
{
    size_t n_a, n_b, i = 0, j = 0;
    VF_TRY(readers(al, 0, a, is_strict, &n_a));
    VF_TRY(readers(al, 1, b, is_strict, &n_b));
    while (i < n_a && j < n_b) {
        const VfAlignItem *x = &al->item[0][i], *y = &al->item[1][j];
        if (x->key == y->key && is_alone(al->item[0], i, n_a) && is_alone(al->item[1], j, n_b) &&
            vf_align_is_free(al, x->node, y->node))
            VF_TRY(vf_align_nodes(al, x->node, y->node, VF_ALIGN_NEAR));
        i += x->key <= y->key;
        j += x->key >= y->key;
    }
    return VF_OK;
}

static VfStatus spread_value(VfAligner *al, const VfValue *a)
{
    const VfValue *b = al->out->value_b[a->id];
    VF_TRY(look_down(al, a, b, true));
    VF_TRY(look_down(al, a, b, false));
    if (a->kind != VF_VALUE_RESULT || b->kind != VF_VALUE_RESULT)
        return VF_OK;
    if (a->index == b->index && vf_align_is_free(al, a->def, b->def))
        VF_TRY(vf_align_nodes(al, a->def, b->def, VF_ALIGN_NEAR));
    if (al->out->node_b[a->def->id] == b->def)
        return look_up(al, a->def, b->def);
    return VF_OK;
}

VfStatus vf_align_spread(VfAligner *al)
{
    while (al->next < al->n_queue)
        VF_TRY(spread_value(al, al->queue[al->next++]));
    al->n_queue = al->next = 0;
    return VF_OK;
}

VfStatus vf_align_reseed(VfAligner *al, const VfGraphPair *pair)
{
    for (const VfValue *value = pair->a->first_value; value != NULL; value = value->next) {
        if (al->out->value_b[value->id] == NULL)
            continue;
        VF_TRY(vf_arena_grow(al->arena, (void **)&al->queue, &al->queue_capacity, al->n_queue + 1,
                             sizeof(const VfValue *), al->err));
        al->queue[al->n_queue++] = value;
    }
    return VF_OK;
}
