/* Bodies put in place of what calls them: functions, and the branch an If always takes. */
#include "passes/ir/attr.h"
#include "passes/ir/attr_default.h"
#include "passes/normalize/copy.h"

/* Functions that call functions can make a small file very large: nodes are made up to this many.
 */
enum { NODE_MAX = 1 << 18 };

static bool is_read(const VfNode *node)
{
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL && node->out[i]->n_use > 0)
            return true;
    return false;
}

/* The copy stands where the call stood. */
static VfStatus put_copy(VfCopy *copy, VfCopyScope *scope)
{
    const VfNode *call = copy->call;
    const VfNode *ret = scope->from->ret;
    VF_TRY(vf_copy_body(copy, scope));
    for (int32_t i = 0; i < call->n_out && i < ret->n_in; i++)
        if (call->out[i] != NULL && call->out[i]->n_use > 0)
            vf_rewrite_replace(copy->rw, call->out[i], vf_copy_of(scope, ret->in[i].value));
    return vf_rewrite_commit(copy->rw, copy->err);
}

/* --- functions --- */

/* Every operator of the body, also in its subgraphs, means the same where it is called. */
static bool has_same_opsets(const VfNode *call, const VfGraph *body)
{
    for (const VfNode *node = body->first_node; node != NULL; node = node->next) {
        int64_t here = vf_graph_opset(call->graph, node->domain);
        if (here == 0 || here != vf_graph_opset(body, node->domain))
            return false;
        for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
            if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL &&
                !has_same_opsets(call, attr->graph))
                return false;
    }
    return true;
}

/* Of the type it must have, or omitted where that is allowed. */
static bool is_fitting_attr(const VfCopy *copy, const VfNode *node, const VfAttr *attr)
{
    const VfAttr *value = vf_copy_attr(copy, attr);
    if (value != NULL)
        return value->type == attr->type;
    int64_t opset = vf_graph_opset(node->graph, node->domain);
    const VfAttrDefault *row = vf_attr_default_find(node->op, attr->name, opset);
    return row == NULL || !row->is_needed;
}

/* Has every operator of the body what it needs, when the call omits what it does? A faulty model
 * stays as it is. */
static bool has_all_needed(const VfCopy *copy, const VfCopyScope *scope, const VfGraph *body)
{
    for (const VfNode *node = body->first_node; node != NULL; node = node->next) {
        for (int32_t i = 0; i < node->n_in; i++)
            if (node->in[i].value != NULL && vf_op_needs(node->op, i) &&
                vf_copy_of(scope, node->in[i].value) == VF_NO_OPERAND)
                return false;
        for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
            if (!is_fitting_attr(copy, node, attr) ||
                (attr->type == VF_ATTR_GRAPH && attr->graph != NULL &&
                 !has_all_needed(copy, scope, attr->graph)))
                return false;
    }
    return true;
}

static bool is_in_function(const VfGraph *graph)
{
    while (graph->owner != NULL)
        graph = graph->owner->graph;
    return graph->function != NULL;
}

/* An operand that the call omits has no value to hand through. */
static bool has_all_results(const VfCopyScope *scope)
{
    const VfNode *ret = scope->from->ret;
    for (int32_t i = 0; i < ret->n_in; i++)
        if (vf_copy_of(scope, ret->in[i].value) == VF_NO_OPERAND)
            return false;
    return true;
}

VfStatus vf_normalize_inline_function(VfPassCx *cx, VfNode *node, const char *rule, VfErr *err)
{
    VfFunction *function = vf_node_function(node);
    VfCopy copy = {.cx = cx, .call = node, .function = function, .err = err};
    VfCopyScope scope;
    if (function == NULL || !is_read(node) || is_in_function(node->graph) ||
        cx->model->n_node_id > NODE_MAX || !has_same_opsets(node, function->body))
        return VF_OK;
    VF_TRY(vf_copy_scope_init(&copy, &scope, function->body, NULL));
    for (int32_t i = 0; i < function->body->n_input; i++) {
        VfValue *given = vf_node_in(node, i);
        vf_copy_map(&scope, function->body->input[i], given != NULL ? given : VF_NO_OPERAND);
    }
    if (!has_all_results(&scope) || !has_all_needed(&copy, &scope, function->body))
        return VF_OK;
    copy.rw = vf_normalize_begin(cx, node, rule);
    VF_TRY_ALLOC(copy.rw, err);
    return put_copy(&copy, &scope);
}

/* --- If --- */

static bool read_condition(const VfValue *value, bool *condition)
{
    const VfTensor *tensor = vf_value_const(value);
    if (tensor != NULL && tensor->count == 1 && tensor->dtype == VF_BOOL) {
        *condition = vf_tensor_get_i64(tensor, 0) != 0;
        return true;
    }
    if (value == NULL || value->content == NULL || value->n_content != 1 ||
        !vf_dim_is_known(value->content[0]))
        return false;
    *condition = value->content[0].k != 0;
    return true;
}

VfStatus vf_normalize_inline_if(VfPassCx *cx, VfNode *node, const char *rule, VfErr *err)
{
    VfCopy copy = {.cx = cx, .call = node, .err = err};
    VfCopyScope scope;
    bool condition;
    if (!is_read(node) || !read_condition(vf_node_in(node, 0), &condition))
        return VF_OK;
    const VfAttr *branch = vf_node_attr(node, condition ? "then_branch" : "else_branch");
    if (branch == NULL || branch->type != VF_ATTR_GRAPH || branch->graph == NULL)
        return VF_OK;
    VF_TRY(vf_copy_scope_init(&copy, &scope, branch->graph, NULL));
    copy.rw = vf_normalize_begin(cx, node, rule);
    VF_TRY_ALLOC(copy.rw, err);
    return put_copy(&copy, &scope);
}
