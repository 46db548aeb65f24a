/* What every pass needs around its rules: walking the model, and saying what it left alone. */
#include <stdarg.h>
#include <stdio.h>

#include "passes/pass.h"

/* A rule set that does not settle after so many sweeps undoes its own work. */
enum { N_SWEEP_MAX = 1000 };

bool vf_pass_may_edit(const VfPassCx *cx)
{
    return cx->n_edit_max < 0 || cx->journal->n_edit < cx->n_edit_max;
}

enum { REASON_BYTES = 1024 };

VfStatus vf_pass_refuse(VfPassCx *cx, const char *site, const VfNode *node, VfErr *err,
                        const char *fmt, ...)
{
    char reason[REASON_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    VfRefusal refusal = {.pass = cx->pass, .site = site, .node = node, .reason = reason};
    return vf_journal_refuse(cx->journal, &refusal, err);
}

VfStatus vf_pass_no_site(VfPassCx *cx, const char *site, const VfNode *node, VfErr *err,
                         const char *fmt, ...)
{
    char reason[REASON_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    VfRefusal refusal = {cx->pass, site, node, reason, true};
    return vf_journal_refuse(cx->journal, &refusal, err);
}

static VfStatus visit_graph(VfPassCx *cx, VfGraph *graph, VfGraphVisit *visit, void *self,
                            VfErr *err);

static VfStatus visit_subgraphs(VfPassCx *cx, const VfNode *node, VfGraphVisit *visit, void *self,
                                VfErr *err)
{
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
            VF_TRY(visit_graph(cx, attr->graph, visit, self, err));
        for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
            VF_TRY(visit_graph(cx, attr->graphs[i], visit, self, err));
    }
    return VF_OK;
}

static VfStatus visit_graph(VfPassCx *cx, VfGraph *graph, VfGraphVisit *visit, void *self,
                            VfErr *err)
{
    VF_TRY(visit(cx, graph, self, err));
    if (cx->model->n_subgraph == 0)
        return VF_OK;
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next)
        VF_TRY(visit_subgraphs(cx, node, visit, self, err));
    return VF_OK;
}

VfStatus vf_pass_each_graph(VfPassCx *cx, VfGraphVisit *visit, void *self, VfErr *err)
{
    VF_TRY(visit_graph(cx, cx->model->graph, visit, self, err));
    for (VfFunction *f = cx->model->first_function; f != NULL; f = f->next)
        VF_TRY(visit_graph(cx, f->body, visit, self, err));
    return VF_OK;
}

const VfOp vf_batch_norm_op[] = {VF_OP_BATCH_NORMALIZATION, VF_OP_OTHER};
const VfOp vf_layer_norm_op[] = {VF_OP_LAYER_NORMALIZATION, VF_OP_MS_LAYER_NORMALIZATION,
                                 VF_OP_RMS_NORMALIZATION,
                                 VF_OP_SIMPLIFIED_LAYER_NORMALIZATION,
                                 VF_OP_MS_SKIP_LAYER_NORMALIZATION,
                                 VF_OP_MS_SKIP_SIMPLIFIED_LAYER_NORMALIZATION, VF_OP_OTHER};

static const VfFunction *function_around(const VfGraph *graph)
{
    while (graph->owner != NULL)
        graph = graph->owner->graph;
    return graph->function;
}

static VfStatus refuse_node(VfPassCx *cx, const VfFunction *function, const VfNode *node,
                            VfErr *err)
{
    /* Shapes differ from call to call, so that the node has no number among the sites. */
    VfSiteFacts facts = {.index = -1, .label = vf_node_label(node)};
    bool selected;
    VF_TRY(vf_sites_select(&cx->sites, &facts, &selected, err));
    if (!selected)
        return VF_OK;
    int64_t here = vf_graph_opset(function->body, node->domain);
    int64_t around = vf_graph_opset(cx->model->graph, node->domain);
    const char *name = vf_arena_copy(cx->arena, function->name.data, function->name.size);
    VF_TRY_ALLOC(name, err);
    if (here != around)
        return vf_pass_refuse(cx, facts.label, node, err,
                              "it stands in function '%s', whose opset is %lld where the graph has "
                              "%lld, so that it stays a function", name, (long long)here,
                              (long long)around);
    return vf_pass_refuse(cx, facts.label, node, err,
                          "it stands in function '%s', which cannot be put in place of its calls",
                          name);
}

static VfStatus refuse_in_body(VfPassCx *cx, VfGraph *graph, void *self, VfErr *err)
{
    const VfFunction *function = function_around(graph);
    for (const VfNode *node = graph->first_node; function != NULL && node != NULL;
         node = node->next)
        for (const VfOp *op = self; *op != VF_OP_OTHER; op++)
            if (node->op == *op)
                VF_TRY(refuse_node(cx, function, node, err));
    return VF_OK;
}

VfStatus vf_pass_refuse_in_functions(VfPassCx *cx, const VfOp *op, VfErr *err)
{
    return vf_pass_each_graph(cx, refuse_in_body, (void *)(uintptr_t)op, err);
}

/* Nodes to visit, taken down before the first visit changes the lists. */
typedef struct NodeList {
    VfNode **node;
    size_t n, capacity;
} NodeList;

static VfStatus list_nodes(VfPassCx *cx, VfGraph *graph, void *self, VfErr *err)
{
    NodeList *list = self;
    VF_TRY(vf_arena_grow(cx->arena, (void **)&list->node, &list->capacity,
                         list->n + (size_t)graph->n_node, sizeof(VfNode *), err));
    for (VfNode *node = graph->first_node; node != NULL; node = node->next)
        list->node[list->n++] = node;
    return VF_OK;
}

VfStatus vf_pass_each_node(VfPassCx *cx, VfNodeVisit *visit, void *self, VfErr *err)
{
    NodeList list = {0};
    VF_TRY(vf_pass_each_graph(cx, list_nodes, &list, err));
    for (size_t i = 0; i < list.n && vf_pass_may_edit(cx); i++) {
        if (list.node[i]->is_linked)
            VF_TRY(visit(cx, list.node[i], self, err));
    }
    return VF_OK;
}

VfStatus vf_pass_until_fixed(VfPassCx *cx, VfNodeVisit *visit, void *self, VfErr *err)
{
    for (int32_t sweep = 0; sweep < N_SWEEP_MAX; sweep++) {
        int32_t n_edit = cx->journal->n_edit;
        VF_TRY(vf_pass_each_node(cx, visit, self, err));
        if (cx->journal->n_edit == n_edit)
            return VF_OK;
    }
    return vf_fail(err, VF_UNSUPPORTED,
                   "pass '%s' still edits after %d sweeps: functions or chains nest deeper",
                   cx->pass, (int)N_SWEEP_MAX);
}

VfStatus vf_pass_sweep(VfPassCx *cx, VfStatus (*sweep)(VfPassCx *cx, bool is_last, VfErr *err),
                       int32_t n_sweep_max, VfErr *err)
{
    bool is_last = false;
    for (int32_t i = 0; i < n_sweep_max && !is_last; i++) {
        int32_t n_edit = cx->journal->n_edit;
        VF_TRY(sweep(cx, false, err));
        is_last = cx->journal->n_edit == n_edit;
    }
    return sweep(cx, true, err);
}
