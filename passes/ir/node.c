#include <string.h>

#include "passes/ir/graph_private.h"

static VfStatus fill_operands(VfNode *node, int32_t n_in, VfValue *const *in)
{
    node->in = VF_NEW_ARRAY(node->graph->model->arena, VfUse, (size_t)n_in);
    VF_TRY_ALLOC(node->in, NULL);
    node->n_in = node->in_capacity = n_in;
    for (int32_t i = 0; i < n_in; i++)
        node->in[i] = (VfUse){.node = node, .slot = i, .value = in[i]};
    return VF_OK;
}

static VfStatus fill_results(VfNode *node, int32_t n_out, const VfBytes *out_name)
{
    node->out = VF_NEW_ARRAY(node->graph->model->arena, VfValue *, (size_t)n_out);
    VF_TRY_ALLOC(node->out, NULL);
    node->n_out = n_out;
    for (int32_t i = 0; i < n_out; i++) {
        if (out_name[i].data == NULL)
            continue;
        VfValue *value = vf_graph_new_value(node->graph, VF_VALUE_RESULT, out_name[i]);
        VF_TRY_ALLOC(value, NULL);
        value->def = node;
        value->index = i;
        node->out[i] = value;
    }
    return VF_OK;
}

/* A function hides the operator of the same name. */
static void set_op(VfNode *node)
{
    const VfModel *model = node->graph->model;
    bool is_call = vf_function_find(model, node->domain, node->op_type, node->overload) != NULL;
    node->op = is_call ? VF_OP_OTHER : vf_op_find(node->domain, node->op_type);
}

/* Operators of the table need no copies. */
static VfStatus name_op(VfNode *node, VfBytes domain, VfBytes op_type)
{
    VfModel *model = node->graph->model;
    VfOp op = vf_op_find(domain, op_type);
    if (op != VF_OP_OTHER) {
        node->domain = vf_bytes(vf_op_info(op)->domain);
        node->op_type = vf_bytes(vf_op_info(op)->name);
        return VF_OK;
    }
    VF_TRY(vf_model_copy_bytes(model, domain, &node->domain, NULL));
    return vf_model_copy_bytes(model, op_type, &node->op_type, NULL);
}

VfNode *vf_node_new(VfGraph *graph, VfBytes domain, VfBytes op_type, int32_t n_in,
                    VfValue *const *in, int32_t n_out, const VfBytes *out_name)
{
    VfModel *model = graph->model;
    VfNode *node = vf_model_take(model, &model->spare_node, sizeof *node);
    if (node == NULL)
        return NULL;
    node->id = model->n_node_id++;
    node->graph = graph;
    node->overload = node->name = (VfBytes){"", 0};
    if (name_op(node, domain, op_type) != VF_OK || fill_operands(node, n_in, in) != VF_OK ||
        fill_results(node, n_out, out_name) != VF_OK)
        return NULL;
    set_op(node);
    return node;
}

VfStatus vf_node_set_overload(VfNode *node, VfBytes overload, VfErr *err)
{
    VF_TRY(vf_model_copy_bytes(node->graph->model, overload, &node->overload, err));
    set_op(node);
    return VF_OK;
}

static void resolve_ops(VfGraph *graph)
{
    for (VfNode *node = graph->first_node; node != NULL; node = node->next) {
        set_op(node);
        for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
            if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
                resolve_ops(attr->graph);
            for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
                resolve_ops(attr->graphs[i]);
        }
    }
}

void vf_model_resolve_ops(VfModel *model)
{
    resolve_ops(model->graph);
    for (VfFunction *function = model->first_function; function != NULL; function = function->next)
        resolve_ops(function->body);
}

static void insert_node(VfGraph *graph, VfNode *node, VfNode *before)
{
    node->next = before;
    node->prev = before != NULL ? before->prev : graph->last_node;
    if (node->prev != NULL)
        node->prev->next = node;
    else
        graph->first_node = node;
    if (before != NULL)
        before->prev = node;
    else
        graph->last_node = node;
    graph->n_node++;
    graph->model->clean = VF_CLEAN_NOT;
}

void vf_node_link(VfNode *node, VfNode *before)
{
    insert_node(node->graph, node, before);
    for (int32_t i = 0; i < node->n_out; i++) {
        if (node->out[i] != NULL)
            vf_graph_append_value(node->graph, node->out[i]);
    }
    node->is_linked = true;
    node->is_removed = false;
    if (vf_graph_is_live(node->graph))
        vf_node_link_uses(node);
}

void vf_node_unlink(VfNode *node)
{
    VfGraph *graph = node->graph;
    if (node->prev != NULL)
        node->prev->next = node->next;
    else
        graph->first_node = node->next;
    if (node->next != NULL)
        node->next->prev = node->prev;
    else
        graph->last_node = node->prev;
    node->prev = node->next = NULL;
    graph->n_node--;
    graph->model->clean = VF_CLEAN_NOT;
    vf_node_unlink_uses(node);
    for (int32_t i = 0; i < node->n_out; i++) {
        if (node->out[i] != NULL)
            vf_graph_remove_value(graph, node->out[i]);
    }
    node->is_linked = false;
    node->is_removed = true;
}

VfValue *vf_node_in(const VfNode *node, int32_t slot)
{
    return slot >= 0 && slot < node->n_in ? node->in[slot].value : NULL;
}

VfValue *vf_node_out(const VfNode *node, int32_t index)
{
    return index >= 0 && index < node->n_out ? node->out[index] : NULL;
}

bool vf_value_is_output(const VfValue *value)
{
    return value->n_output > 0;
}

VfNode *vf_value_single_user(const VfValue *value)
{
    VfNode *user = value->first_use != NULL ? value->first_use->node : NULL;
    for (const VfUse *use = value->first_use; use != NULL; use = use->next) {
        if (use->node != user || user->op == VF_OP_RETURN)
            return NULL;
    }
    return user;
}

const VfTensor *vf_value_const(const VfValue *value)
{
    return value != NULL && value->kind == VF_VALUE_CONST ? value->tensor : NULL;
}
