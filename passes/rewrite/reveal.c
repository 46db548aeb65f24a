/* Names of values that a rewrite makes visible in bodies that call something else so.
 *
 * A body may name a value as one around it is named, which nothing in the body could read until
 * now. If a rewrite lets the body read it, what hides it gets another name: names inside a body
 * are its own, an output's too, since its owner goes by position.
 */
#include "passes/rewrite/rewrite_state.h"

/* Call whatever `graph` calls `hidden` something else. */
static VfStatus rename_hiding(VfRewrite *rw, VfGraph *graph, VfBytes hidden, VfErr *err)
{
    VfBytes name = {NULL, 0};
    VfValue *value = vf_graph_find_value(graph, hidden, false);
    if (value != NULL) {
        VF_TRY(vf_journal_name(rw->journal, hidden.data, &name, err));
        VF_TRY(vf_value_rename(value, name, err));
    }
    for (int32_t i = 0; i < graph->ret->n_in; i++) {
        if (!vf_bytes_is_equal(graph->output_name[i], hidden))
            continue;
        if (name.data == NULL)
            VF_TRY(vf_journal_name(rw->journal, hidden.data, &name, err));
        VF_TRY(vf_graph_rename_output(graph, i, name, err));
    }
    return VF_OK;
}

/* Let the name of `value` mean it in `graph`, where it is to be read. */
static VfStatus reveal(VfRewrite *rw, VfGraph *graph, const VfValue *value, VfErr *err)
{
    bool may_hide = false;
    if (value == NULL || graph == value->graph || vf_rewrite_is_pending(value))
        return VF_OK;
    VF_TRY(vf_journal_may_hide(rw->journal, value, &may_hide, err));
    for (; may_hide && graph != value->graph && graph->owner != NULL; graph = graph->owner->graph)
        VF_TRY(rename_hiding(rw, graph, value->name, err));
    return VF_OK;
}

VfStatus vf_rewrite_reveal(VfRewrite *rw, VfErr *err)
{
    for (size_t i = 0; i < rw->n_replace; i++)
        for (const VfUse *use = rw->replace[i].from->first_use; use != NULL; use = use->next)
            VF_TRY(reveal(rw, use->node->graph, rw->replace[i].to, err));
    for (size_t i = 0; i < rw->n_set_in; i++)
        VF_TRY(reveal(rw, rw->set_in[i].node->graph, rw->set_in[i].to, err));
    for (size_t i = 0; i < rw->n_node; i++) {
        const VfNode *node = rw->node[i].node;
        for (int32_t slot = 0; slot < node->n_in; slot++)
            VF_TRY(reveal(rw, rw->graph, vf_node_in(node, slot), err));
    }
    return VF_OK;
}
