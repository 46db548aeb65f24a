/* Where new nodes go, and whether every value stays defined before it is used.
 *
 * A place is named by the linked node that follows it; NULL is the end of the graph. New
 * nodes of one place keep the order in which they were made, so an operand from another new
 * node is defined in time if that node's place is not a later one.
 */
#include "passes/rewrite/order.h"
#include "passes/rewrite/rewrite_state.h"

static bool is_later(VfNode *place, VfNode *than)
{
    if (place == than || than == NULL)
        return false;
    return place == NULL || vf_order_of(place) > vf_order_of(than);
}

/* The first place at which `value` can be used in the rewrite's graph. `*is_visible` is false for
 * values of graphs that do not enclose it. */
static VfNode *first_place(const VfRewrite *rw, const VfValue *value, bool *is_visible)
{
    *is_visible = true;
    if (value->kind == VF_VALUE_RESULT && vf_rewrite_is_pending(value))
        return rw->node[-value->def->order - 1].before;
    if (value->kind == VF_VALUE_RESULT && value->graph == rw->graph) {
        *is_visible = value->def->is_linked;
        return value->def->next;
    }
    const VfGraph *graph = rw->graph;
    while (graph != value->graph && graph->owner != NULL)
        graph = graph->owner->graph;
    *is_visible = graph == value->graph;
    if (*is_visible && value->kind == VF_VALUE_RESULT) {
        VfNode *owner = vf_order_owner_in(rw->anchor, graph);
        *is_visible = value->def->is_linked && vf_order_of(value->def) < vf_order_of(owner);
    }
    return rw->graph->first_node;
}

/* Place each new node at `start` or, where an operand needs it, later. */
static VfStatus place_from(VfRewrite *rw, VfNode *start, VfErr *err)
{
    for (size_t i = 0; i < rw->n_node; i++) {
        VfNode *node = rw->node[i].node, *place = start;
        for (int32_t slot = 0; slot < node->n_in; slot++) {
            const VfValue *value = vf_node_in(node, slot);
            bool is_visible = true;
            VfNode *first = value == NULL ? place : first_place(rw, value, &is_visible);
            if (!is_visible)
                return vf_fail(err, VF_INTERNAL,
                               "rewrite at '%s': operand %d of the new %s is not visible there",
                               vf_node_label(rw->anchor), (int)slot, vf_op_info(node->op)->name);
            if (is_later(first, place))
                place = first;
        }
        rw->node[i].before = place;
    }
    return VF_OK;
}

/* Is `to` defined where the linked `user` stands? Users in subgraphs count as their owner. */
static bool is_defined_at(const VfRewrite *rw, const VfValue *to, VfNode *user)
{
    if (to->kind != VF_VALUE_RESULT) {
        const VfGraph *graph = user->graph;
        while (graph != to->graph && graph->owner != NULL)
            graph = graph->owner->graph;
        return graph == to->graph;
    }
    VfNode *node = user;
    while (node->graph != to->graph) {
        node = node->graph->owner;
        if (node == NULL)
            return false;
    }
    if (node->op == VF_OP_RETURN)
        return true;
    bool is_visible;
    VfNode *first = to->graph == rw->graph ? first_place(rw, to, &is_visible) : to->def->next;
    return first != NULL && !is_later(first, node);
}

static VfStatus check_uses(const VfRewrite *rw, VfErr *err)
{
    for (size_t i = 0; i < rw->n_replace; i++) {
        const VfReplace *replace = &rw->replace[i];
        for (VfUse *use = replace->from->first_use; use != NULL; use = use->next) {
            if (!is_defined_at(rw, replace->to, use->node))
                return vf_fail(
                    err, VF_INTERNAL,
                    "rewrite at '%s': what replaces '%s' is not defined at its user '%s'",
                    vf_node_label(rw->anchor), vf_value_label(replace->from),
                    vf_node_label(use->node));
        }
    }
    for (size_t i = 0; i < rw->n_set_in; i++) {
        const VfSetIn *set = &rw->set_in[i];
        if (set->to != NULL && !is_defined_at(rw, set->to, set->node))
            return vf_fail(err, VF_INTERNAL,
                           "rewrite at '%s': the new operand %d of '%s' is not defined there",
                           vf_node_label(rw->anchor), (int)set->slot, vf_node_label(set->node));
    }
    return VF_OK;
}

VfStatus vf_rewrite_place(VfRewrite *rw, VfErr *err)
{
    VF_TRY(place_from(rw, rw->anchor, err));
    if (check_uses(rw, NULL) == VF_OK)
        return VF_OK;
    VF_TRY(place_from(rw, rw->graph->first_node, err));
    return check_uses(rw, err);
}
