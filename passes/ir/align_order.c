/* Stretches of nodes without twins between aligned ones: the longest common sequence of operators,
 * as in a diff of lines. */
#include <string.h>

#include "passes/ir/align_private.h"

enum {
    WINDOW = 1024, /* nodes of a stretch that are compared with as many of the other side */
    CLIMB = 4,     /* nodes to look through for what two nodes have in common */
    OPERANDS = 4   /* of a node that are looked at */
};

typedef struct Stretch {
    const VfNode **node;
    uint64_t *key;
    size_t n, capacity, key_capacity;
} Stretch;

static VfStatus take_run(VfAligner *al, int side, const VfNode *first, Stretch *run)
{
    const VfNode **twin = side == 0 ? al->out->node_b : al->out->node_a;
    run->n = 0;
    for (; first != NULL && twin[first->id] == NULL; first = first->next) {
        VF_TRY(vf_arena_grow(al->arena, (void **)&run->node, &run->capacity, run->n + 1,
                             sizeof *run->node, al->err));
        VF_TRY(vf_arena_grow(al->arena, (void **)&run->key, &run->key_capacity, run->n + 1,
                             sizeof *run->key, al->err));
        run->key[run->n] = vf_align_local(al, side, first);
        run->node[run->n++] = first;
    }
    return VF_OK;
}

/* The value behind nodes without twins, or NULL. */
static const VfValue *climb(const VfNode *const *node_twin, const VfValue *value)
{
    const VfNode *def = value->def;
    return def == NULL || node_twin[def->id] != NULL || def->n_in == 0 ? NULL : def->in[0].value;
}

/* Whether two operands come from one place, perhaps through nodes that one side alone has. */
static bool is_related(const VfAligner *al, const VfValue *x, const VfValue *y)
{
    for (int i = 0; i < CLIMB && x != NULL; i++, x = climb(al->out->node_b, x)) {
        const VfValue *twin = al->out->value_b[x->id], *z = y;
        for (int j = 0; twin != NULL && j < CLIMB && z != NULL; j++) {
            if (z == twin)
                return true;
            z = climb(al->out->node_a, z);
        }
    }
    return false;
}

/* A common operator alone says too little. */
static bool has_evidence(const VfAligner *al, const VfNode *a, const VfNode *b)
{
    for (int32_t i = 0; i < a->n_in && i < OPERANDS; i++)
        for (int32_t j = 0; j < b->n_in && j < OPERANDS; j++) {
            const VfValue *x = a->in[i].value, *y = b->in[j].value;
            if (x != NULL && y != NULL && is_related(al, x, y))
                return true;
        }
    return a->n_in == 0 && b->n_in == 0;
}

/* Lengths of common sequences from each place to the end. */
static void fill(uint16_t *length, const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
    size_t wide = n_b + 1;
    for (size_t i = n_a; i-- > 0;)
        for (size_t j = n_b; j-- > 0;) {
            uint16_t down = length[(i + 1) * wide + j], right = length[i * wide + j + 1];
            uint16_t best = down > right ? down : right;
            if (a[i] == b[j])
                best = (uint16_t)(length[(i + 1) * wide + j + 1] + 1);
            length[i * wide + j] = best;
        }
}

/* Whether a node close to place j of b goes with place i of a: among sequences of one length the
 * one that stays close is wanted. */
static bool is_close(const VfAligner *al, const Stretch *a, size_t i, const Stretch *b, size_t j)
{
    for (size_t k = j; k < b->n && k < j + CLIMB; k++)
        if (a->key[i] == b->key[k] && has_evidence(al, a->node[i], b->node[k]))
            return true;
    return false;
}

/* One window of two stretches; `*from_a` and `*from_b` move past the last pair. */
static VfStatus match_window(VfAligner *al, const Stretch *a, const Stretch *b, size_t *from_a,
                             size_t *from_b, uint16_t *length)
{
    size_t i = *from_a, j = *from_b, end_a = i + WINDOW, end_b = j + WINDOW;
    end_a = end_a < a->n ? end_a : a->n;
    end_b = end_b < b->n ? end_b : b->n;
    size_t n_a = end_a - i, n_b = end_b - j, wide = n_b + 1, top = i, left = j;
    memset(length, 0, (n_a + 1) * wide * sizeof *length);
    fill(length, a->key + i, n_a, b->key + j, n_b);
    *from_a = end_a;
    *from_b = end_b;
    while (i < end_a && j < end_b) {
        const VfNode *x = a->node[i], *y = b->node[j];
        uint16_t *at = &length[(i - top) * wide + (j - left)];
        if (a->key[i] == b->key[j]) {
            i++;
            j++;
            if (!vf_align_is_free(al, x, y) || !has_evidence(al, x, y))
                continue;
            VF_TRY(vf_align_nodes(al, x, y, VF_ALIGN_NEAR));
            *from_a = i;
            *from_b = j;
        } else if (at[wide] > at[1] || (at[wide] == at[1] && !is_close(al, a, i, b, j))) {
            i++;
        } else {
            j++;
        }
    }
    return VF_OK;
}

static VfStatus match_runs(VfAligner *al, const Stretch *a, const Stretch *b, bool *is_more)
{
    VfArena *scratch = vf_arena_new();
    size_t cells = (WINDOW + 1) * (WINDOW + 1), i = 0, j = 0;
    uint16_t *length = scratch == NULL ? NULL : VF_NEW_ARRAY(scratch, uint16_t, cells);
    VfStatus status = length == NULL ? vf_no_memory(al->err) : VF_OK;
    size_t n = al->n_queue;
    while (status == VF_OK && i < a->n && j < b->n && al->work >= cells) {
        size_t n_a = a->n - i < WINDOW ? a->n - i : WINDOW;
        size_t n_b = b->n - j < WINDOW ? b->n - j : WINDOW;
        al->work -= n_a * n_b;
        status = match_window(al, a, b, &i, &j, length);
    }
    *is_more = *is_more || al->n_queue > n;
    vf_arena_free(scratch);
    return status;
}

VfStatus vf_align_by_order(VfAligner *al, const VfGraphPair *pair, bool *is_more)
{
    Stretch a = {0}, b = {0};
    const VfNode *node = pair->a->first_node, *other = pair->b->first_node;
    while (node != NULL) {
        VF_TRY(take_run(al, 0, node, &a));
        VF_TRY(take_run(al, 1, other, &b));
        if (a.n > 0 && b.n > 0)
            VF_TRY(match_runs(al, &a, &b, is_more));
        node = a.n > 0 ? a.node[a.n - 1]->next : node;
        if (node == NULL)
            break;
        const VfNode *twin = al->out->node_b[node->id];
        other = twin == NULL ? NULL : twin->next;
        node = node->next;
    }
    return VF_OK;
}
