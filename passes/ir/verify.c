#include "passes/ir/verify.h"

#include <stdarg.h>
#include <stdio.h>

#include "passes/ir/verify_private.h"

enum { FAULT_BYTES = 1024 };

VfStatus vf_verify_fault(VfVerify *v, const char *fmt, ...)
{
    char text[FAULT_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const char *copy = v->function == NULL
                           ? vf_arena_string(v->arena, text)
                           : vf_arena_printf(v->arena, "function '%.*s': %s",
                                             (int)v->function->name.size, v->function->name.data,
                                             text);
    VF_TRY_ALLOC(copy, v->err);
    VF_TRY(vf_arena_grow(v->arena, (void **)&v->faults->text, &v->fault_capacity,
                         (size_t)v->faults->n + 1, sizeof *v->faults->text, v->err));
    v->faults->text[v->faults->n++] = copy;
    return VF_OK;
}

VfStatus vf_verify_note(void *at, const char *fault)
{
    VfVerifyAt *a = at;
    return vf_verify_fault(a->v, "node '%s' (#%d): %s", vf_node_label(a->node), (int)a->node->id,
                           fault);
}

static VfStatus check_opsets(VfVerify *v)
{
    const VfModel *model = v->model;
    VfIntern *domain = vf_intern_new(v->arena);
    VF_TRY_ALLOC(domain, v->err);
    for (int32_t i = 0; i < model->n_opset; i++) {
        int32_t id;
        VF_TRY(vf_intern_add(domain, model->opset[i].domain, &id, v->err));
        if (id != i)
            return vf_verify_fault(v, "opset of domain '%s' is imported twice",
                                   vf_intern_get(domain, id).data);
    }
    return VF_OK;
}

static VfStatus prepare(VfVerify *v)
{
    const VfModel *model = v->model;
    v->seen = vf_arena_array(v->arena, (size_t)model->n_value_id, 1);
    v->node_seen = vf_arena_array(v->arena, (size_t)model->n_node_id, 1);
    v->n_operand = VF_NEW_ARRAY(v->arena, int32_t, (size_t)model->n_value_id);
    v->attr_name = vf_intern_new(v->arena);
    VF_TRY_ALLOC(v->seen, v->err);
    VF_TRY_ALLOC(v->node_seen, v->err);
    VF_TRY_ALLOC(v->n_operand, v->err);
    VF_TRY_ALLOC(v->attr_name, v->err);
    vf_scope_init_model(&v->scope, v->arena, model);
    return VF_OK;
}

VfStatus vf_verify(VfArena *arena, const VfModel *model, VfFaults *faults, VfErr *err)
{
    VfVerify v = {.arena = arena, .model = model, .faults = faults, .err = err};
    *faults = (VfFaults){0, NULL};
    VF_TRY(prepare(&v));
    VF_TRY(check_opsets(&v));
    VF_TRY(vf_verify_graph(&v, model->graph, 0));
    return vf_verify_functions(&v);
}

static VfStatus each_of_graph(VfVerify *v, const VfGraph *graph, VfVerifyVisit *visit)
{
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        VF_TRY(visit(v, node));
        for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
            if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL)
                VF_TRY(each_of_graph(v, attr->graph, visit));
            for (int32_t i = 0; attr->type == VF_ATTR_GRAPHS && i < attr->n; i++)
                VF_TRY(each_of_graph(v, attr->graphs[i], visit));
        }
    }
    return VF_OK;
}

VfStatus vf_verify_each(VfVerify *v, VfVerifyVisit *visit)
{
    VF_TRY(each_of_graph(v, v->model->graph, visit));
    for (const VfFunction *f = v->model->first_function; f != NULL; f = f->next) {
        v->function = f;
        VF_TRY(each_of_graph(v, f->body, visit));
    }
    v->function = NULL;
    return VF_OK;
}

VfStatus vf_verify_nodes(VfArena *arena, const VfModel *model, VfFaults *faults, VfErr *err)
{
    VfVerify v = {.arena = arena, .model = model, .faults = faults, .nodes_only = true, .err = err};
    *faults = (VfFaults){0, NULL};
    VF_TRY(prepare(&v));
    VF_TRY(vf_verify_each(&v, vf_verify_node));
    return vf_verify_recursion(&v);
}

typedef VfStatus Find(VfArena *arena, const VfModel *model, VfFaults *faults, VfErr *err);

static VfStatus find_calls(VfArena *arena, const VfModel *model, VfFaults *faults, VfErr *err)
{
    VfVerify v = {.arena = arena, .model = model, .faults = faults, .err = err};
    *faults = (VfFaults){0, NULL};
    return vf_verify_recursion(&v);
}

static VfStatus verify_in(VfArena *arena, const VfModel *model, Find *find, VfErr *err)
{
    VfFaults faults;
    VF_TRY(find(arena, model, &faults, err));
    if (faults.n == 0)
        return VF_OK;
    if (faults.n == 1)
        return vf_fail(err, VF_INVALID, "%s", faults.text[0]);
    return vf_fail(err, VF_INVALID, "%s (the first of %d faults)", faults.text[0], (int)faults.n);
}

static VfStatus verify_with(const VfModel *model, Find *find, VfErr *err)
{
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    VfStatus status = verify_in(arena, model, find, err);
    vf_arena_free(arena);
    return status;
}

VfStatus vf_verify_all(const VfModel *model, VfErr *err)
{
    return verify_with(model, vf_verify, err);
}

VfStatus vf_verify_calls(const VfModel *model, VfErr *err)
{
    return model->first_function == NULL ? VF_OK : verify_with(model, find_calls, err);
}
