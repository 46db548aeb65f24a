/* Bodies put in place of what calls them: functions, and the branch an If always takes. */
#include "passes/ir/attr.h"
#include "passes/ir/attr_default.h"
#include "passes/normalize/copy.h"

/* Functions that call functions can make a small file very large. One is inlined if with all it
 * calls it is at most so many times the nodes of all functions, or this many; and only while the
 * model has fewer than MODEL_MAX.
 */
enum { CALL_TIMES = 64, CALL_MAX = 1 << 12, MODEL_MAX = 1 << 17, DEPTH_MAX = 64 };
static const int64_t endless = INT64_C(1) << 40;

/* How many nodes functions are with all that they call, by the number of the function. */
typedef struct Expansion {
    int64_t *size; /* 0: not counted yet */
    int64_t most;
} Expansion;

static int64_t graph_size(Expansion *e, const VfGraph *graph, int depth);

static int64_t function_size(Expansion *e, const VfFunction *function, int depth)
{
    if (depth > DEPTH_MAX)
        return endless;
    int64_t *size = &e->size[function->id];
    if (*size == 0)
        *size = 1 + graph_size(e, function->body, depth + 1);
    return *size;
}

static int64_t graph_size(Expansion *e, const VfGraph *graph, int depth)
{
    int64_t size = 0;
    const VfNode *node = graph->first_node;
    for (; node != NULL && size < endless; node = node->next) {
        const VfFunction *function = vf_node_function(node);
        size += function != NULL ? function_size(e, function, depth) : 1;
        for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
            if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
                size += graph_size(e, attr->graph, depth);
    }
    return size < endless ? size : endless;
}

static VfStatus begin_expansion(VfPassCx *cx, Expansion **out, VfErr *err)
{
    Expansion *e = cx->own;
    *out = e;
    if (e != NULL)
        return VF_OK;
    e = VF_NEW(cx->arena, Expansion);
    VF_TRY_ALLOC(e, err);
    size_t n = 0;
    const VfFunction *function = cx->model->first_function;
    for (; function != NULL; function = function->next) {
        n = (size_t)function->id >= n ? (size_t)function->id + 1 : n;
        e->most += (int64_t)function->body->n_node * CALL_TIMES;
    }
    e->size = VF_NEW_ARRAY(cx->arena, int64_t, n);
    VF_TRY_ALLOC(e->size, err);
    e->most = e->most > CALL_MAX ? e->most : CALL_MAX;
    cx->own = *out = e;
    return VF_OK;
}

static VfStatus is_too_large(VfPassCx *cx, const VfFunction *function, bool *too_large, VfErr *err)
{
    Expansion *e;
    VF_TRY(begin_expansion(cx, &e, err));
    *too_large = cx->model->n_node_id > MODEL_MAX || function_size(e, function, 0) > e->most;
    return VF_OK;
}

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
        int64_t opset = vf_graph_opset(body, node->domain);
        for (int32_t i = 0; i < node->n_in; i++)
            if (node->in[i].value != NULL && vf_op_needs(node->op, opset, i) &&
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
    bool too_large;
    if (function == NULL || !is_read(node) || is_in_function(node->graph) ||
        !has_same_opsets(node, function->body))
        return VF_OK;
    VF_TRY(is_too_large(cx, function, &too_large, err));
    if (too_large)
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
