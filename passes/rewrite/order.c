#include "passes/rewrite/order.h"

/* Keys lie in 1 .. ORDER_TOP; int32_t node counts leave a gap of at least 2^30 at the start. */
#define ORDER_TOP ((int64_t)1 << 61)

/* Nodes of one edit go in front of the same node, one after the other: a new one keeps near the one
 * before it, so that the gap is not halved each time. */
#define ORDER_STEP ((int64_t)1 << 24)

/* Spread the keys of `n` nodes from `first` evenly between the keys `low` and `high`, exclusive. */
static void spread(VfNode *first, int64_t n, int64_t low, int64_t high)
{
    int64_t gap = (high - low) / (n + 1);
    VfNode *node = first;
    for (int64_t i = 0; i < n; i++, node = node->next)
        node->order = low + gap * (i + 1);
}

void vf_order_graph(VfGraph *graph)
{
    int64_t n = 0;
    for (VfNode *node = graph->first_node; node != NULL; node = node->next)
        n++;
    spread(graph->first_node, n, 0, ORDER_TOP);
}

int64_t vf_order_of(VfNode *node)
{
    if (node->order == 0)
        vf_order_graph(node->graph);
    return node->order;
}

/* Widen a window around `node` until its keys are sparse enough, then spread them. The demanded
 * gap shrinks as the window grows, which is what keeps the average cost logarithmic. */
static void make_room(VfNode *node)
{
    VfNode *first = node, *last = node;
    int64_t n = 1;
    for (int64_t gap = (int64_t)1 << 30;; gap = gap > 64 ? gap / 2 : gap) {
        for (int64_t grow = n; grow > 0 && first->prev != NULL; grow--, n++)
            first = first->prev;
        for (int64_t grow = n; grow > 0 && last->next != NULL; grow--, n++)
            last = last->next;
        int64_t low = first->prev != NULL ? first->prev->order : 0;
        int64_t high = last->next != NULL ? last->next->order : ORDER_TOP;
        bool is_whole = first->prev == NULL && last->next == NULL;
        if (is_whole || (high - low) / (n + 1) >= gap) {
            spread(first, n, low, high);
            return;
        }
    }
}

void vf_order_insert(VfNode *node)
{
    int64_t low = node->prev != NULL ? node->prev->order : 0;
    int64_t high = node->next != NULL ? node->next->order : ORDER_TOP;
    bool is_numbered = (node->prev == NULL || low > 0) && (node->next == NULL || high > 0);
    if (!is_numbered)
        vf_order_graph(node->graph);
    else if (high - low >= 2 * ORDER_STEP)
        node->order = low + ORDER_STEP;
    else if (high - low >= 2)
        node->order = low + (high - low) / 2;
    else
        make_room(node);
}

VfNode *vf_order_owner_in(VfNode *node, const VfGraph *graph)
{
    while (node != NULL && node->graph != graph)
        node = node->graph->owner;
    return node;
}
