#include <stdlib.h>
#include <string.h>

#include "passes/ir/graph.h"

enum { DEFAULT_OPSET = 17, DEFAULT_IR = 8 };

static const VfOpset default_opset[] = {{{"", 0}, DEFAULT_OPSET}};

static VfModel *new_in(VfArena *arena, VfLabels *labels)
{
    VfModel *model = VF_NEW(arena, VfModel);
    if (model == NULL)
        return NULL;
    model->arena = arena;
    model->labels = labels;
    model->symbols = vf_symbols_new(arena);
    model->function_part = vf_intern_new(arena);
    model->function_key = vf_intern_new(arena);
    model->name = vf_intern_new(arena);
    model->ir_version = DEFAULT_IR;
    model->opset = default_opset;
    model->n_opset = 1;
    if (model->symbols == NULL || model->function_part == NULL || model->function_key == NULL ||
        model->name == NULL)
        return NULL;
    model->graph = vf_graph_new(model, NULL, NULL);
    return model->graph == NULL ? NULL : model;
}

VfModel *vf_model_new(void)
{
    VfArena *arena = vf_arena_new();
    VfLabels *labels = vf_labels_new();
    VfModel *model = arena == NULL || labels == NULL ? NULL : new_in(arena, labels);
    if (model == NULL) {
        vf_labels_free(labels);
        vf_arena_free(arena);
    }
    return model;
}

void vf_model_free(VfModel *model)
{
    if (model == NULL)
        return;
    if (model->release_mapping != NULL)
        model->release_mapping(model->mapping);
    vf_labels_free(model->labels);
    vf_arena_free(model->arena);
}

bool vf_bytes_is_equal(VfBytes a, VfBytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

VfStatus vf_model_copy_bytes(VfModel *model, VfBytes bytes, VfBytes *out, VfErr *err)
{
    if (bytes.size == 0) {
        *out = (VfBytes){"", 0};
        return VF_OK;
    }
    char *copy = vf_arena_copy(model->arena, bytes.data, bytes.size);
    VF_TRY_ALLOC(copy, err);
    *out = (VfBytes){copy, bytes.size};
    return VF_OK;
}

VfStatus vf_model_copy_type(VfModel *model, const VfType *type, VfType *out, VfErr *err)
{
    VfType copy = *type;
    copy.dims = NULL;
    if (type->rank > 0) {
        size_t rank = (size_t)type->rank;
        VfDim *dims = VF_NEW_ARRAY(model->arena, VfDim, rank);
        VF_TRY_ALLOC(dims, err);
        memcpy(dims, type->dims, rank * sizeof *dims);
        copy.dims = dims;
    }
    *out = copy;
    return VF_OK;
}

static int64_t find_opset(const VfOpset *opset, int32_t n, VfBytes domain)
{
    for (int32_t i = 0; i < n; i++) {
        if (vf_bytes_is_equal(opset[i].domain, domain))
            return opset[i].version;
    }
    return 0;
}

int64_t vf_graph_opset(const VfGraph *graph, VfBytes domain)
{
    const VfGraph *top = graph;
    while (top->owner != NULL)
        top = top->owner->graph;
    if (top->function != NULL && top->function->n_opset > 0)
        return find_opset(top->function->opset, top->function->n_opset, domain);
    return find_opset(graph->model->opset, graph->model->n_opset, domain);
}

VfFunction *vf_function_find(const VfModel *model, VfBytes domain, VfBytes name, VfBytes overload)
{
    int32_t key[] = {vf_intern_find(model->function_part, domain),
                     vf_intern_find(model->function_part, name),
                     vf_intern_find(model->function_part, overload)};
    if (key[0] < 0 || key[1] < 0 || key[2] < 0)
        return NULL;
    int32_t id = vf_intern_find(model->function_key, (VfBytes){(const char *)key, sizeof key});
    return id < 0 ? NULL : model->function[id];
}

VfFunction *vf_node_function(const VfNode *node)
{
    if (node->op != VF_OP_OTHER)
        return NULL;
    return vf_function_find(node->graph->model, node->domain, node->op_type, node->overload);
}

static VfStatus add_to_index(VfModel *model, VfFunction *function)
{
    int32_t key[3], id;
    VF_TRY(vf_intern_add(model->function_part, function->domain, &key[0], NULL));
    VF_TRY(vf_intern_add(model->function_part, function->name, &key[1], NULL));
    VF_TRY(vf_intern_add(model->function_part, function->overload, &key[2], NULL));
    VF_TRY(vf_intern_add(model->function_key, (VfBytes){(const char *)key, sizeof key}, &id, NULL));
    VF_TRY(vf_arena_grow(model->arena, (void **)&model->function, &model->function_capacity,
                         (size_t)id + 1, sizeof *model->function, NULL));
    if (model->function[id] == NULL)
        model->function[id] = function;
    return VF_OK;
}

static VfStatus fill_function(VfModel *model, VfFunction *function, const VfBytes *name)
{
    VF_TRY(vf_model_copy_bytes(model, name[0], &function->domain, NULL));
    VF_TRY(vf_model_copy_bytes(model, name[1], &function->name, NULL));
    VF_TRY(vf_model_copy_bytes(model, name[2], &function->overload, NULL));
    function->body = vf_graph_new(model, NULL, function);
    VF_TRY_ALLOC(function->body, NULL);
    return add_to_index(model, function);
}

VfFunction *vf_function_new(VfModel *model, VfBytes domain, VfBytes name, VfBytes overload)
{
    VfFunction *function = VF_NEW(model->arena, VfFunction);
    VfBytes names[] = {domain, name, overload};
    if (function == NULL || fill_function(model, function, names) != VF_OK)
        return NULL;
    function->id = model->n_function++;
    if (model->last_function != NULL)
        model->last_function->next = function;
    else
        model->first_function = function;
    model->last_function = function;
    return function;
}
