#include "passes/ir/graph_private.h"

/* The graphs of nodes and values never change, so a use stays one or none. */
static bool is_output(const VfUse *use)
{
    return use->node == use->value->graph->ret;
}

/* Put `use` at the end of its value's uses, so that uses are in order of linking. */
static void link_use(VfUse *use)
{
    VfValue *value = use->value;
    use->node->graph->model->clean = VF_CLEAN_NOT;
    use->prev = use->next = NULL;
    if (value == NULL)
        return;
    use->prev = value->last_use;
    if (value->last_use != NULL)
        value->last_use->next = use;
    else
        value->first_use = use;
    value->last_use = use;
    value->n_use++;
    value->n_output += is_output(use);
}

/* Take `use` out of its value's uses; use->value stays readable. */
static void unlink_use(VfUse *use)
{
    VfValue *value = use->value;
    use->node->graph->model->clean = VF_CLEAN_NOT;
    if (value == NULL)
        return;
    if (use->prev != NULL)
        use->prev->next = use->next;
    else
        value->first_use = use->next;
    if (use->next != NULL)
        use->next->prev = use->prev;
    else
        value->last_use = use->prev;
    use->prev = use->next = NULL;
    value->n_use--;
    value->n_output -= is_output(use);
}

bool vf_graph_is_live(const VfGraph *graph)
{
    while (graph->owner != NULL && graph->owner->is_linked)
        graph = graph->owner->graph;
    return graph->owner == NULL;
}

static void link_operands(VfNode *node)
{
    for (int32_t i = 0; i < node->n_in && !node->has_uses; i++)
        link_use(&node->in[i]);
    node->has_uses = true;
}

static void unlink_operands(VfNode *node)
{
    for (int32_t i = 0; i < node->n_in && node->has_uses; i++)
        unlink_use(&node->in[i]);
    node->has_uses = false;
}

static void visit_graph(VfGraph *graph, void (*visit)(VfNode *));

/* The node itself and the nodes of its subgraphs. */
static void visit_node(VfNode *node, void (*visit)(VfNode *))
{
    visit(node);
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
            visit_graph(attr->graph, visit);
        for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
            visit_graph(attr->graphs[i], visit);
    }
}

static void visit_graph(VfGraph *graph, void (*visit)(VfNode *))
{
    for (VfNode *node = graph->first_node; node != NULL; node = node->next)
        visit_node(node, visit);
    visit(graph->ret);
}

void vf_node_link_uses(VfNode *node)
{
    visit_node(node, link_operands);
}

void vf_node_unlink_uses(VfNode *node)
{
    visit_node(node, unlink_operands);
}

void vf_node_set_in(VfNode *node, int32_t slot, VfValue *value)
{
    VfUse *use = &node->in[slot];
    if (node->has_uses)
        unlink_use(use);
    use->value = value;
    if (node->has_uses)
        link_use(use);
}

/* Tell the neighbours of a use that its record has moved to `use`. */
static void repoint(VfUse *use)
{
    if (use->value == NULL)
        return;
    if (use->prev != NULL)
        use->prev->next = use;
    else
        use->value->first_use = use;
    if (use->next != NULL)
        use->next->prev = use;
    else
        use->value->last_use = use;
}

static VfStatus grow_operands(VfNode *node, VfErr *err)
{
    int32_t capacity = node->in_capacity < 4 ? 4 : node->in_capacity;
    if (__builtin_mul_overflow(capacity, 2, &capacity))
        return vf_no_memory(err);
    VfUse *in = VF_NEW_ARRAY(node->graph->model->arena, VfUse, (size_t)capacity);
    VF_TRY_ALLOC(in, err);
    for (int32_t i = 0; i < node->n_in; i++) {
        in[i] = node->in[i];
        if (node->has_uses)
            repoint(&in[i]);
    }
    node->in = in;
    node->in_capacity = capacity;
    return VF_OK;
}

VfStatus vf_node_add_in(VfNode *node, VfValue *value, VfErr *err)
{
    if (node->n_in == node->in_capacity)
        VF_TRY(grow_operands(node, err));
    VfUse *use = &node->in[node->n_in];
    *use = (VfUse){.node = node, .slot = node->n_in, .value = value};
    node->n_in++;
    if (node->has_uses)
        link_use(use);
    return VF_OK;
}

void vf_value_replace_uses(VfValue *from, VfValue *to)
{
    if (from == to || from->first_use == NULL)
        return;
    from->graph->model->clean = VF_CLEAN_NOT;
    for (VfUse *use = from->first_use; use != NULL; use = use->next) {
        use->value = to;
        to->n_output += is_output(use);
    }
    from->first_use->prev = to->last_use;
    if (to->last_use != NULL)
        to->last_use->next = from->first_use;
    else
        to->first_use = from->first_use;
    to->last_use = from->last_use;
    to->n_use += from->n_use;
    from->first_use = from->last_use = NULL;
    from->n_use = from->n_output = 0;
}
