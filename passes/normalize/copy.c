#include "passes/normalize/copy.h"

#include "passes/ir/attr.h"

/* --- the map --- */

VfStatus vf_copy_scope_init(VfCopy *copy, VfCopyScope *scope, const VfGraph *from,
                            const VfCopyScope *outer)
{
    int32_t last = -1;
    *scope = (VfCopyScope){.from = from, .first = INT32_MAX, .outer = outer};
    for (const VfValue *value = from->first_value; value != NULL; value = value->next) {
        scope->first = value->id < scope->first ? value->id : scope->first;
        last = value->id > last ? value->id : last;
    }
    scope->n = last >= scope->first ? last - scope->first + 1 : 0;
    scope->to = VF_NEW_ARRAY(copy->cx->arena, VfValue *, (size_t)scope->n);
    VF_TRY_ALLOC(scope->to, copy->err);
    return VF_OK;
}

void vf_copy_map(VfCopyScope *scope, const VfValue *from, VfValue *to)
{
    scope->to[from->id - scope->first] = to;
}

VfValue *vf_copy_of(const VfCopyScope *scope, VfValue *value)
{
    if (value == NULL)
        return VF_NO_OPERAND;
    for (; scope != NULL; scope = scope->outer)
        if (value->graph == scope->from)
            return scope->to[value->id - scope->first];
    return value;
}

/* --- attributes --- */

static const VfAttr *find_attr(const VfAttr *first, VfBytes name)
{
    for (const VfAttr *attr = first; attr != NULL; attr = attr->next)
        if (vf_bytes_is_equal(attr->name, name))
            return attr;
    return NULL;
}

const VfAttr *vf_copy_attr(const VfCopy *copy, const VfAttr *attr)
{
    if (attr->ref.size == 0 || copy->function == NULL)
        return attr;
    const VfAttr *value = find_attr(copy->call->first_attr, attr->ref);
    return value != NULL ? value : find_attr(copy->function->first_attr_default, attr->ref);
}

static VfStatus copy_graph(VfCopy *copy, const VfCopyScope *scope, const VfGraph *from,
                           VfNode *owner, VfGraph **out);

static VfStatus copy_graphs(VfCopy *copy, const VfCopyScope *scope, VfNode *owner, VfAttr *attr)
{
    if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
        return copy_graph(copy, scope, attr->graph, owner, &attr->graph);
    if (attr->type != VF_ATTR_GRAPHS)
        return VF_OK;
    VfGraph **list = VF_NEW_ARRAY(copy->cx->model->arena, VfGraph *, (size_t)attr->n);
    VF_TRY_ALLOC(list, copy->err);
    for (int32_t i = 0; i < attr->n; i++)
        VF_TRY(copy_graph(copy, scope, attr->graphs[i], owner, &list[i]));
    attr->graphs = list;
    return VF_OK;
}

/* Attributes of `from` for `to`, a pending node of the rewrite or one of a copied subgraph. */
static VfStatus copy_attrs(VfCopy *copy, const VfCopyScope *scope, const VfNode *from, VfNode *to,
                           bool is_pending)
{
    for (const VfAttr *attr = from->first_attr; attr != NULL; attr = attr->next) {
        const VfAttr *value = vf_copy_attr(copy, attr);
        if (value == NULL)
            continue;
        VfAttr given = *value;
        given.name = attr->name;
        VF_TRY(copy_graphs(copy, scope, to, &given));
        if (is_pending)
            vf_rewrite_attr(copy->rw, &given);
        else
            VF_TRY(vf_node_add_attr(to, &given, copy->err));
    }
    return VF_OK;
}

static VfStatus list_operands(VfCopy *copy, const VfCopyScope *scope, const VfNode *node,
                              VfValue ***out)
{
    *out = VF_NEW_ARRAY(copy->cx->arena, VfValue *, (size_t)node->n_in);
    VF_TRY_ALLOC(*out, copy->err);
    for (int32_t i = 0; i < node->n_in; i++)
        (*out)[i] = vf_copy_of(scope, node->in[i].value);
    return VF_OK;
}

/* --- nodes of the body --- */

static VfStatus copy_node(VfCopy *copy, VfCopyScope *scope, const VfNode *node)
{
    VfValue **operand, **result = VF_NEW_ARRAY(copy->cx->arena, VfValue *, (size_t)node->n_out);
    VF_TRY_ALLOC(result, copy->err);
    VF_TRY(list_operands(copy, scope, node, &operand));
    VfNode *made = vf_rewrite_node_n(copy->rw, node->domain, node->op_type, node->n_in, operand,
                                     node->n_out, result);
    if (made == NULL)
        return VF_OK; /* commit tells */
    if (node->overload.size > 0)
        VF_TRY(vf_node_set_overload(made, node->overload, copy->err));
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL)
            vf_copy_map(scope, node->out[i], result[i]);
    return copy_attrs(copy, scope, node, made, true);
}

VfStatus vf_copy_body(VfCopy *copy, VfCopyScope *scope)
{
    for (const VfValue *value = scope->from->first_value; value != NULL; value = value->next)
        if (value->kind == VF_VALUE_CONST)
            vf_copy_map(scope, value, vf_rewrite_const(copy->rw, value->tensor, "constant"));
    for (const VfNode *node = scope->from->first_node; node != NULL; node = node->next)
        VF_TRY(copy_node(copy, scope, node));
    return VF_OK;
}

/* --- subgraphs --- */

static VfStatus fresh_name(VfCopy *copy, const char *wanted, VfBytes *name)
{
    return vf_journal_name(copy->cx->journal, wanted, name, copy->err);
}

static VfStatus copy_values(VfCopy *copy, VfCopyScope *scope, VfGraph *to)
{
    VfBytes name;
    for (int32_t i = 0; i < scope->from->n_input; i++) {
        VfValue *input = scope->from->input[i];
        VF_TRY(fresh_name(copy, vf_value_label(input), &name));
        VfValue *made = vf_graph_add_input(to, name, input->type);
        VF_TRY_ALLOC(made, copy->err);
        vf_copy_map(scope, input, made);
    }
    for (const VfValue *value = scope->from->first_value; value != NULL; value = value->next) {
        if (value->kind != VF_VALUE_CONST)
            continue;
        VF_TRY(fresh_name(copy, vf_value_label(value), &name));
        VfValue *made = vf_graph_add_const(to, name, value->tensor);
        VF_TRY_ALLOC(made, copy->err);
        vf_copy_map(scope, value, made);
    }
    return VF_OK;
}

/* A node of a copied subgraph. Its operands are used once the owner of the subgraph is linked. */
static VfStatus copy_inner_node(VfCopy *copy, VfCopyScope *scope, const VfNode *node, VfGraph *to)
{
    VfValue **operand;
    VfBytes *name = VF_NEW_ARRAY(copy->cx->arena, VfBytes, (size_t)node->n_out);
    VF_TRY_ALLOC(name, copy->err);
    VF_TRY(list_operands(copy, scope, node, &operand));
    for (int32_t i = 0; i < node->n_in; i++)
        operand[i] = operand[i] == VF_NO_OPERAND ? NULL : operand[i];
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL)
            VF_TRY(fresh_name(copy, vf_value_label(node->out[i]), &name[i]));
    VfNode *made =
        vf_node_new(to, node->domain, node->op_type, node->n_in, operand, node->n_out, name);
    VF_TRY_ALLOC(made, copy->err);
    VF_TRY(fresh_name(copy, vf_node_label(node), &made->name));
    made->doc = node->doc;
    made->meta = node->meta;
    if (node->overload.size > 0)
        VF_TRY(vf_node_set_overload(made, node->overload, copy->err));
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL)
            vf_copy_map(scope, node->out[i], made->out[i]);
    VF_TRY(copy_attrs(copy, scope, node, made, false));
    vf_node_link(made, NULL);
    return VF_OK;
}

static VfStatus copy_outputs(VfCopy *copy, VfCopyScope *scope, VfGraph *to)
{
    const VfGraph *from = scope->from;
    size_t n = (size_t)from->ret->n_in;
    VfValue **value = VF_NEW_ARRAY(copy->cx->arena, VfValue *, n);
    VfBytes *name = VF_NEW_ARRAY(copy->cx->arena, VfBytes, n);
    VF_TRY_ALLOC(value, copy->err);
    VF_TRY_ALLOC(name, copy->err);
    for (int32_t i = 0; i < from->ret->n_in; i++) {
        VfValue *made = vf_copy_of(scope, from->ret->in[i].value);
        value[i] = made == VF_NO_OPERAND ? NULL : made;
        if (value[i] != NULL && value[i]->graph == to)
            name[i] = value[i]->name;
        else
            VF_TRY(fresh_name(copy, "output", &name[i]));
    }
    return vf_graph_set_outputs(to, from->ret->n_in, value, name, from->output_type, copy->err);
}

static VfStatus copy_graph(VfCopy *copy, const VfCopyScope *outer, const VfGraph *from,
                           VfNode *owner, VfGraph **out)
{
    VfCopyScope scope;
    VfGraph *to = vf_graph_new(copy->cx->model, owner, NULL);
    VF_TRY_ALLOC(to, copy->err);
    to->name = from->name;
    to->doc = from->doc;
    to->meta = from->meta;
    VF_TRY(vf_copy_scope_init(copy, &scope, from, outer));
    VF_TRY(copy_values(copy, &scope, to));
    for (const VfNode *node = from->first_node; node != NULL; node = node->next)
        VF_TRY(copy_inner_node(copy, &scope, node, to));
    VF_TRY(copy_outputs(copy, &scope, to));
    *out = to;
    return VF_OK;
}
