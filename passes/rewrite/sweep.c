/* Removal of what a rewrite left without users. */
#include "passes/rewrite/rewrite_state.h"

/* Values whose last use may be gone. */
typedef struct Work {
    VfValue **value;
    size_t n, capacity;
} Work;

static VfStatus push(VfRewrite *rw, Work *work, VfValue *value, VfErr *err)
{
    if (value == NULL)
        return VF_OK;
    VF_TRY(vf_arena_grow(rw->arena, (void **)&work->value, &work->capacity, work->n + 1,
                         sizeof *work->value, err));
    work->value[work->n++] = value;
    return VF_OK;
}

static bool is_dead(const VfNode *node)
{
    if (!node->is_linked || node->op == VF_OP_RETURN)
        return false;
    for (int32_t i = 0; i < node->n_out; i++) {
        if (node->out[i] != NULL && node->out[i]->first_use != NULL)
            return false;
    }
    return true;
}

static VfStatus push_operands(VfRewrite *rw, Work *work, const VfNode *node, VfErr *err)
{
    for (int32_t i = 0; i < node->n_in; i++)
        VF_TRY(push(rw, work, node->in[i].value, err));
    return VF_OK;
}

static VfStatus empty_graph(VfRewrite *rw, Work *work, VfGraph *graph, VfErr *err);

/* The nodes of a dead node's subgraphs use values around them: end those uses too. A subgraph that
 * a new node has taken over lives on. */
static VfStatus empty_subgraphs(VfRewrite *rw, Work *work, const VfNode *node, VfErr *err)
{
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL && attr->graph->owner == node)
            VF_TRY(empty_graph(rw, work, attr->graph, err));
        for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++) {
            if (attr->graphs[i]->owner == node)
                VF_TRY(empty_graph(rw, work, attr->graphs[i], err));
        }
    }
    return VF_OK;
}

/* Unlink all nodes of `graph` from the last on. Operands stay readable, also those of ret. */
static VfStatus empty_graph(VfRewrite *rw, Work *work, VfGraph *graph, VfErr *err)
{
    VF_TRY(push_operands(rw, work, graph->ret, err));
    for (int32_t i = 0; i < graph->ret->n_in; i++) {
        VfValue *value = graph->ret->in[i].value;
        vf_node_set_in(graph->ret, i, NULL);
        graph->ret->in[i].value = value;
    }
    graph->ret->has_uses = false; /* or they would be ended again with those of its owner */
    graph->ret->is_linked = false;
    while (graph->last_node != NULL) {
        VfNode *node = graph->last_node;
        VF_TRY(push_operands(rw, work, node, err));
        VF_TRY(empty_subgraphs(rw, work, node, err));
        vf_node_unlink(node);
    }
    return VF_OK;
}

static VfStatus remove_node(VfRewrite *rw, Work *work, VfNode *node, VfErr *err)
{
    VF_TRY(vf_arena_grow(rw->arena, (void **)&rw->removed, &rw->removed_capacity, rw->n_removed + 1,
                         sizeof *rw->removed, err));
    VF_TRY(push_operands(rw, work, node, err));
    VF_TRY(empty_subgraphs(rw, work, node, err));
    vf_node_unlink(node);
    rw->removed[rw->n_removed++] = node;
    return VF_OK;
}

VfStatus vf_rewrite_sweep(VfRewrite *rw, VfValue *value, VfErr *err)
{
    Work work = {0};
    VF_TRY(push(rw, &work, value, err));
    while (work.n > 0) {
        VfValue *next = work.value[--work.n];
        if (next->kind == VF_VALUE_RESULT && is_dead(next->def))
            VF_TRY(remove_node(rw, &work, next->def, err));
        else if (next->kind == VF_VALUE_CONST && next->first_use == NULL &&
                 !vf_rewrite_is_pending(next))
            vf_value_drop(next);
    }
    return VF_OK;
}
