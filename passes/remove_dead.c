/* remove-dead: what nothing reads goes away.
 *
 * Before    nodes whose results nothing reads, constants nobody uses, functions nobody calls
 * After     they are gone
 * Why valid results are the only effect of an ONNX operator
 * Requires  nothing
 * Exactness same bits
 * Source    ONNX IR document
 * Limits    operators without a row in the table may have effects of their own: they stay, and so
 * does what calls a function that holds one; graph inputs and their defaults stay
 */
#include "passes/pass.h"
#include "passes/rewrite/rewrite.h"

/* Functions that call functions are looked into this deep. */
enum { CALL_DEPTH_MAX = 16 };

static bool is_graph_pure(const VfGraph *graph, int32_t depth);

static bool is_node_pure(const VfNode *node, int32_t depth)
{
    if (node->op == VF_OP_OTHER) {
        const VfFunction *function = vf_node_function(node);
        return function != NULL && depth < CALL_DEPTH_MAX &&
               is_graph_pure(function->body, depth + 1);
    }
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL &&
            !is_graph_pure(attr->graph, depth))
            return false;
    }
    return true;
}

static bool is_graph_pure(const VfGraph *graph, int32_t depth)
{
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next)
        if (!is_node_pure(node, depth))
            return false;
    return true;
}

static bool is_read(const VfNode *node)
{
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL && node->out[i]->n_use > 0)
            return true;
    return false;
}

static VfValue *any_result(const VfNode *node)
{
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL)
            return node->out[i];
    return NULL;
}

static VfStatus visit_node(VfPassCx *cx, VfNode *node, void *self, VfErr *err)
{
    (void)self;
    VfValue *value = any_result(node);
    if (value == NULL || is_read(node) || !is_node_pure(node, 0))
        return VF_OK;
    VfRewrite *rw = vf_rewrite_begin(
        cx->journal, node, (VfRewriteInfo){cx->pass, "unread-node", vf_node_label(node), NULL});
    VF_TRY_ALLOC(rw, err);
    vf_rewrite_remove(rw, value);
    return vf_rewrite_commit(rw, err);
}

/* All unused constants of a graph in one edit. */
static VfStatus visit_graph(VfPassCx *cx, VfGraph *graph, void *self, VfErr *err)
{
    (void)self;
    size_t n = 0, bytes = 0;
    if (!vf_pass_may_edit(cx))
        return VF_OK;
    VfRewrite *rw = NULL;
    for (VfValue *value = graph->first_value; value != NULL; value = value->next) {
        if (value->kind != VF_VALUE_CONST || value->n_use > 0)
            continue;
        if (rw == NULL)
            rw = vf_rewrite_begin(cx->journal, graph->ret,
                                  (VfRewriteInfo){cx->pass, "unused-constants", "constants", NULL});
        VF_TRY_ALLOC(rw, err);
        vf_rewrite_remove(rw, value);
        bytes += value->tensor != NULL ? value->tensor->bytes : 0;
        n++;
    }
    if (rw == NULL)
        return VF_OK;
    vf_rewrite_note(rw, "%zu constants, %zu bytes", n, bytes);
    return vf_rewrite_commit(rw, err);
}

/* --- functions --- */

/* Functions that the main graph reaches, in the order they were met. */
typedef struct Reached {
    VfArena *arena;
    const VfFunction **function;
    size_t n, capacity;
} Reached;

static bool is_reached(const Reached *reached, const VfFunction *function)
{
    for (size_t i = 0; i < reached->n; i++)
        if (reached->function[i] == function)
            return true;
    return false;
}

static VfStatus reach_from(Reached *reached, const VfGraph *graph, VfErr *err)
{
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        const VfFunction *function = node->op == VF_OP_OTHER ? vf_node_function(node) : NULL;
        if (function != NULL && !is_reached(reached, function)) {
            VF_TRY(vf_arena_grow(reached->arena, (void **)&reached->function, &reached->capacity,
                                 reached->n + 1, sizeof *reached->function, err));
            reached->function[reached->n++] = function;
        }
        for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
            if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
                VF_TRY(reach_from(reached, attr->graph, err));
    }
    return VF_OK;
}

static VfStatus note_function(VfPassCx *cx, const VfFunction *function, VfErr *err)
{
    const char *site = vf_arena_copy(cx->model->arena, function->name.data, function->name.size);
    VF_TRY_ALLOC(site, err);
    VfEdit edit = {.pass = cx->pass, .rule = "uncalled-function", .site = site};
    return vf_journal_add(cx->journal, &edit, err);
}

static VfStatus drop_functions(VfPassCx *cx, VfErr *err)
{
    Reached reached = {.arena = cx->arena};
    if (cx->model->first_function == NULL)
        return VF_OK;
    VF_TRY(reach_from(&reached, cx->model->graph, err));
    for (size_t i = 0; i < reached.n; i++)
        VF_TRY(reach_from(&reached, reached.function[i]->body, err));
    VfFunction **link = &cx->model->first_function;
    while (*link != NULL && vf_pass_may_edit(cx)) {
        VfFunction *function = *link;
        if (is_reached(&reached, function)) {
            link = &function->next;
            continue;
        }
        VF_TRY(note_function(cx, function, err));
        *link = function->next;
    }
    return VF_OK;
}

static VfStatus run(VfPassCx *cx, VfErr *err)
{
    VF_TRY(vf_pass_until_fixed(cx, visit_node, NULL, err));
    VF_TRY(drop_functions(cx, err));
    return vf_pass_each_graph(cx, visit_graph, NULL, err);
}

const VfPass vf_pass_remove_dead = {
    .name = "remove-dead",
    .summary = "remove nodes, constants and functions that nothing uses",
    .source = "ONNX IR document",
    .exactness = VF_EXACT,
    .is_default = true,
    .is_cleanup = true,
    .run = run,
};
