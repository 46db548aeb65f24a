#include "passes/ir/verify_private.h"

#define LABEL(node) vf_node_label(node), (int)(node)->id

static bool has_id(const VfVerify *v, const VfValue *value)
{
    return value->id >= 0 && value->id < v->model->n_value_id;
}

/* Bind the value's name; from here on operands may be this value. */
static VfStatus define(VfVerify *v, VfValue *value)
{
    VfValue *earlier = NULL;
    v->seen[value->id] = VF_SEEN_DEFINED;
    if (value->name.data != vf_intern_get(v->model->name, value->name_id).data)
        return vf_verify_fault(v, "value '%s' has the number of another name",
                               vf_value_label(value));
    if (value->name.size == 0)
        return VF_OK;
    VF_TRY(vf_scope_bind_id(&v->scope, value->name_id, value, &earlier, v->err));
    if (earlier == NULL)
        return VF_OK;
    return vf_verify_fault(v, "values #%d and #%d of graph '%.*s' are both named '%s'",
                           (int)earlier->id, (int)value->id, (int)value->graph->name.size,
                           value->graph->name.data, vf_value_label(value));
}

/* --- values of a graph --- */

static VfStatus check_const_type(VfVerify *v, const VfValue *value)
{
    const VfTensor *tensor = value->tensor;
    const VfType *type = &value->type;
    bool agrees = type->kind == VF_TYPE_TENSOR &&
                  (type->dtype == VF_UNDEFINED || type->dtype == tensor->dtype);
    if (agrees && type->rank != VF_RANK_UNKNOWN) {
        agrees = type->rank == tensor->rank;
        for (int32_t i = 0; agrees && i < type->rank; i++)
            agrees = !vf_dim_is_known(type->dims[i]) || type->dims[i].k == tensor->dims[i];
    }
    if (agrees)
        return VF_OK;
    return vf_verify_fault(v, "value '%s' has type %s but its data is of another type",
                           vf_value_label(value), vf_type_text(v->arena, v->model->symbols, type));
}

static VfStatus check_data(VfVerify *v, const VfValue *value)
{
    if (value->tensor == NULL) {
        if (value->kind != VF_VALUE_CONST)
            return VF_OK;
        return vf_verify_fault(v, "constant '%s' has no data", vf_value_label(value));
    }
    return vf_tensor_is_consistent(value->tensor)
               ? check_const_type(v, value)
               : vf_verify_tensor(v, value->tensor, vf_value_label(value));
}

static bool is_in_place(const VfGraph *graph, const VfValue *value)
{
    const VfNode *def = value->def;
    switch (value->kind) {
    case VF_VALUE_INPUT:
        return value->index >= 0 && value->index < graph->n_input &&
               graph->input[value->index] == value;
    case VF_VALUE_RESULT:
        return def != NULL && def->graph == graph && def->is_linked &&
               vf_node_out(def, value->index) == value;
    case VF_VALUE_CONST:
        return true;
    }
    return false;
}

static VfStatus check_value(VfVerify *v, const VfGraph *graph, VfValue *value)
{
    if (v->seen[value->id] != VF_SEEN_NOT)
        return vf_verify_fault(v, "value '%s' is listed twice", vf_value_label(value));
    v->seen[value->id] = VF_SEEN_LISTED;
    if (value->graph != graph || !is_in_place(graph, value))
        return vf_verify_fault(v, "value '%s' does not belong to the graph that lists it",
                               vf_value_label(value));
    if (value->kind == VF_VALUE_RESULT)
        return VF_OK;
    VF_TRY(check_data(v, value));
    return define(v, value);
}

static VfStatus check_values(VfVerify *v, const VfGraph *graph)
{
    const VfValue *before = NULL;
    for (VfValue *value = graph->first_value; value != NULL; value = value->next) {
        if (!has_id(v, value) || value->prev != before)
            return vf_verify_fault(v, "the list of values of graph '%.*s' is broken",
                                   (int)graph->name.size, graph->name.data);
        VF_TRY(check_value(v, graph, value));
        before = value;
    }
    for (int32_t i = 0; i < graph->n_input; i++) {
        const VfValue *input = graph->input[i];
        if (!has_id(v, input) || v->seen[input->id] != VF_SEEN_DEFINED)
            VF_TRY(
                vf_verify_fault(v, "input '%s' is no value of its graph", vf_value_label(input)));
    }
    return VF_OK;
}

/* --- uses --- */

/* Stops after as many records as operands were met, so a cycle ends too. */
static bool is_use_list_good(const VfValue *value, int32_t n)
{
    const VfUse *before = NULL, *use = value->first_use;
    for (int32_t i = 0; i < n; i++) {
        if (use == NULL || use->value != value || use->prev != before || !use->node->has_uses)
            return false;
        before = use;
        use = use->next;
    }
    return use == NULL && value->last_use == before && value->n_use == n;
}

/* Once a graph was walked, all that may use its values was. */
static VfStatus close_values(VfVerify *v, const VfGraph *graph)
{
    for (const VfValue *value = graph->first_value; value != NULL && has_id(v, value);
         value = value->next) {
        if (v->seen[value->id] == VF_SEEN_LISTED)
            VF_TRY(vf_verify_fault(v, "value '%s' is the result of no node in order",
                                   vf_value_label(value)));
        if (!is_use_list_good(value, v->n_operand[value->id]))
            VF_TRY(vf_verify_fault(v, "the use list of value '%s' does not agree with its %d uses",
                                   vf_value_label(value), (int)v->n_operand[value->id]));
        v->seen[value->id] = VF_SEEN_CLOSED;
    }
    return VF_OK;
}

static VfStatus check_visible(VfVerify *v, const VfNode *node, int32_t slot, const VfValue *value)
{
    static const char *const why[] = {
        [VF_SEEN_NOT] = "is no value of the graph or of those around it",
        [VF_SEEN_LISTED] = "is used before it is defined",
        [VF_SEEN_CLOSED] = "is a value of a graph it cannot see",
    };
    VfSeen seen = (VfSeen)v->seen[value->id];
    if (seen != VF_SEEN_DEFINED)
        return vf_verify_fault(v, "node '%s' (#%d): operand %d '%s' %s", LABEL(node), (int)slot,
                               vf_value_label(value), why[seen]);
    if (value->name.size == 0)
        return VF_OK;
    const VfValue *meant = vf_scope_find_id(&v->scope, value->name_id);
    if (meant != value)
        return vf_verify_fault(
            v, "node '%s' (#%d): the name of operand %d '%s' means another value here", LABEL(node),
            (int)slot, vf_value_label(value));
    return VF_OK;
}

static VfStatus check_operands(VfVerify *v, const VfNode *node)
{
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfUse *use = &node->in[i];
        const VfValue *value = use->value;
        if (use->node != node || use->slot != i)
            VF_TRY(vf_verify_fault(v, "node '%s' (#%d): operand %d is recorded as another's",
                                   LABEL(node), (int)i));
        if (value == NULL)
            continue;
        if (!has_id(v, value))
            return vf_verify_fault(v, "node '%s' (#%d): operand %d is of another model",
                                   LABEL(node), (int)i);
        v->n_operand[value->id]++;
        VF_TRY(check_visible(v, node, i, value));
    }
    return VF_OK;
}

/* --- nodes in order --- */

static VfStatus check_subgraph(VfVerify *v, const VfNode *node, const VfGraph *graph, int depth)
{
    if (graph == NULL || graph->owner != node)
        return vf_verify_fault(v, "node '%s' (#%d): a subgraph does not name it as its owner",
                               LABEL(node));
    return vf_verify_graph(v, graph, depth + 1);
}

static VfStatus check_subgraphs(VfVerify *v, const VfNode *node, int depth)
{
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->ref.size != 0)
            continue;
        if (attr->type == VF_ATTR_GRAPH)
            VF_TRY(check_subgraph(v, node, attr->graph, depth));
        for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
            VF_TRY(check_subgraph(v, node, attr->graphs[i], depth));
    }
    return VF_OK;
}

static VfStatus check_results(VfVerify *v, const VfNode *node)
{
    for (int32_t i = 0; i < node->n_out; i++) {
        VfValue *value = node->out[i];
        if (value == NULL)
            continue;
        if (value->kind != VF_VALUE_RESULT || value->def != node || value->index != i)
            VF_TRY(vf_verify_fault(v,
                                   "node '%s' (#%d): result %d does not name it as its definition",
                                   LABEL(node), (int)i));
        else if (v->seen[value->id] != VF_SEEN_LISTED)
            VF_TRY(vf_verify_fault(v, "node '%s' (#%d): result %d '%s' is no value of its graph",
                                   LABEL(node), (int)i, vf_value_label(value)));
        else
            VF_TRY(define(v, value));
    }
    return VF_OK;
}

static VfStatus check_nodes(VfVerify *v, const VfGraph *graph, int depth)
{
    const VfNode *before = NULL;
    int32_t n = 0;
    for (VfNode *node = graph->first_node; node != NULL; node = node->next, n++) {
        bool has_id = node->id >= 0 && node->id < v->model->n_node_id;
        if (!has_id || v->node_seen[node->id] || node->prev != before || node->graph != graph ||
            !node->is_linked || node->is_removed)
            return vf_verify_fault(v,
                                   "the list of nodes of graph '%.*s' is broken at node '%s' (#%d)",
                                   (int)graph->name.size, graph->name.data, LABEL(node));
        v->node_seen[node->id] = 1;
        VF_TRY(check_operands(v, node));
        VF_TRY(vf_verify_node(v, node));
        VF_TRY(check_subgraphs(v, node, depth));
        VF_TRY(check_results(v, node));
        before = node;
    }
    if (n != graph->n_node || graph->last_node != before)
        return vf_verify_fault(v, "graph '%.*s' counts %d nodes but lists %d",
                               (int)graph->name.size, graph->name.data, (int)graph->n_node, (int)n);
    return VF_OK;
}

static VfStatus check_outputs(VfVerify *v, const VfGraph *graph)
{
    VfIntern *name = vf_intern_new(v->arena);
    VF_TRY_ALLOC(name, v->err);
    const VfValue **meant = NULL; /* by number of the name */
    size_t capacity = 0;
    int32_t n_name = 0;
    for (int32_t i = 0; i < graph->ret->n_in; i++) {
        const VfValue *value = graph->ret->in[i].value;
        int32_t id;
        VF_TRY(vf_intern_add(name, graph->output_name[i], &id, v->err));
        VF_TRY(vf_arena_grow(v->arena, (void **)&meant, &capacity, (size_t)id + 1, sizeof *meant,
                             v->err));
        if (id == n_name)
            meant[n_name++] = value;
        if (meant[id] != value && graph->function == NULL)
            return vf_verify_fault(v, "two outputs of graph '%.*s' are named '%s'",
                                   (int)graph->name.size, graph->name.data,
                                   vf_intern_get(name, id).data);
        if (value == NULL)
            VF_TRY(vf_verify_fault(v, "output %d of graph '%.*s' is not defined", (int)i,
                                   (int)graph->name.size, graph->name.data));
        else if (!vf_type_is_compatible(&graph->output_type[i], &value->type))
            VF_TRY(
                vf_verify_fault(v, "output '%.*s' is declared %s but is %s",
                                (int)graph->output_name[i].size, graph->output_name[i].data,
                                vf_type_text(v->arena, v->model->symbols, &graph->output_type[i]),
                                vf_type_text(v->arena, v->model->symbols, &value->type)));
    }
    return check_operands(v, graph->ret);
}

VfStatus vf_verify_graph(VfVerify *v, const VfGraph *graph, int depth)
{
    if (depth > VF_GRAPH_DEPTH_MAX)
        return vf_verify_fault(v, "graph '%.*s' lies within more than %d graphs",
                               (int)graph->name.size, graph->name.data, (int)VF_GRAPH_DEPTH_MAX);
    size_t mark = vf_scope_enter(&v->scope);
    VF_TRY(check_values(v, graph));
    VF_TRY(check_nodes(v, graph, depth));
    VF_TRY(check_outputs(v, graph));
    VF_TRY(close_values(v, graph));
    vf_scope_leave(&v->scope, mark);
    return VF_OK;
}
