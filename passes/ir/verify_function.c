#include "passes/ir/verify_private.h"

/* Who calls whom, to find functions that end up calling themselves. */
typedef struct Calls {
    int32_t *edge;  /* callee ids, grouped by caller */
    size_t n, capacity;
    size_t *first;  /* by caller: where its callees begin in `edge`; one more at the end */
    int32_t *n_caller; /* by callee: calls not yet taken away */
} Calls;

static VfStatus collect(VfVerify *v, Calls *calls, const VfGraph *graph);

static VfStatus collect_subgraphs(VfVerify *v, Calls *calls, const VfNode *node)
{
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
            VF_TRY(collect(v, calls, attr->graph));
        for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
            VF_TRY(collect(v, calls, attr->graphs[i]));
    }
    return VF_OK;
}

/* Add the callees of the graph. Called for graphs known not to be nested too deep. */
static VfStatus collect(VfVerify *v, Calls *calls, const VfGraph *graph)
{
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        const VfFunction *callee = vf_node_function(node);
        VF_TRY(collect_subgraphs(v, calls, node));
        if (callee == NULL)
            continue;
        VF_TRY(vf_arena_grow(v->arena, (void **)&calls->edge, &calls->capacity, calls->n + 1,
                             sizeof *calls->edge, v->err));
        calls->edge[calls->n++] = callee->id;
        calls->n_caller[callee->id]++;
    }
    return VF_OK;
}

/* Take away functions nobody left calls, again and again; what stays is in or below a cycle. */
static VfStatus peel(VfVerify *v, const Calls *calls, size_t n, size_t *n_peeled)
{
    int32_t *ready = VF_NEW_ARRAY(v->arena, int32_t, n);
    size_t n_ready = 0;
    VF_TRY_ALLOC(ready, v->err);
    for (size_t i = 0; i < n; i++) {
        if (calls->n_caller[i] == 0)
            ready[n_ready++] = (int32_t)i;
    }
    for (size_t done = 0; done < n_ready; done++) {
        size_t caller = (size_t)ready[done];
        for (size_t e = calls->first[caller]; e < calls->first[caller + 1]; e++) {
            if (--calls->n_caller[calls->edge[e]] == 0)
                ready[n_ready++] = calls->edge[e];
        }
    }
    *n_peeled = n_ready;
    return VF_OK;
}

VfStatus vf_verify_recursion(VfVerify *v)
{
    size_t n = (size_t)v->model->n_function, n_peeled = 0;
    Calls calls = {.first = VF_NEW_ARRAY(v->arena, size_t, n + 1),
                   .n_caller = VF_NEW_ARRAY(v->arena, int32_t, n)};
    VF_TRY_ALLOC(calls.first, v->err);
    VF_TRY_ALLOC(calls.n_caller, v->err);
    for (const VfFunction *f = v->model->first_function; f != NULL; f = f->next) {
        VF_TRY(collect(v, &calls, f->body));
        calls.first[f->id + 1] = calls.n;
    }
    VF_TRY(peel(v, &calls, n, &n_peeled));
    for (const VfFunction *f = v->model->first_function; f != NULL && n_peeled < n; f = f->next) {
        if (calls.n_caller[f->id] != 0)
            return vf_verify_fault(v, "function '%.*s' calls itself or is called by one that does",
                                   (int)f->name.size, f->name.data);
    }
    return VF_OK;
}

VfStatus vf_verify_functions(VfVerify *v)
{
    for (const VfFunction *f = v->model->first_function; f != NULL; f = f->next) {
        if (vf_function_find(v->model, f->domain, f->name, f->overload) != f)
            VF_TRY(vf_verify_fault(v, "function '%.*s' is defined twice", (int)f->name.size,
                                   f->name.data));
        v->function = f;
        VF_TRY(vf_verify_graph(v, f->body, 0));
        v->function = NULL;
    }
    return vf_verify_recursion(v);
}
