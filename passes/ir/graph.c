#include "passes/ir/graph.h"

#include <string.h>

#include "passes/ir/graph_private.h"

enum { N_SPARE = 32 };

void *vf_model_take(VfModel *model, VfSpare *spare, size_t bytes)
{
    if (spare->n == 0) {
        spare->first = vf_arena_array(model->arena, N_SPARE, bytes);
        spare->n = spare->first == NULL ? 0 : N_SPARE;
    }
    char *record = spare->first;
    if (record == NULL)
        return NULL;
    spare->first = record + bytes;
    spare->n--;
    return record;
}

static VfNode *new_ret(VfGraph *graph)
{
    VfNode *ret = VF_NEW(graph->model->arena, VfNode);
    if (ret == NULL)
        return NULL;
    ret->id = graph->model->n_node_id++;
    ret->op = VF_OP_RETURN;
    ret->domain = ret->overload = ret->name = (VfBytes){"", 0};
    ret->op_type = vf_bytes("return");
    ret->graph = graph;
    ret->is_linked = true;
    return ret;
}

VfGraph *vf_graph_new(VfModel *model, VfNode *owner, VfFunction *function)
{
    VfGraph *graph = VF_NEW(model->arena, VfGraph);
    if (graph == NULL)
        return NULL;
    graph->model = model;
    graph->owner = owner;
    model->n_subgraph += owner != NULL;
    graph->function = function;
    graph->ret = new_ret(graph);
    if (graph->ret == NULL)
        return NULL;
    graph->ret->has_uses = vf_graph_is_live(graph);
    return graph;
}

void vf_graph_append_value(VfGraph *graph, VfValue *value)
{
    graph->model->clean = VF_CLEAN_NOT;
    value->prev = graph->last_value;
    value->next = NULL;
    if (graph->last_value != NULL)
        graph->last_value->next = value;
    else
        graph->first_value = value;
    graph->last_value = value;
}

void vf_graph_remove_value(VfGraph *graph, VfValue *value)
{
    graph->model->clean = VF_CLEAN_NOT;
    if (value->prev != NULL)
        value->prev->next = value->next;
    else
        graph->first_value = value->next;
    if (value->next != NULL)
        value->next->prev = value->prev;
    else
        graph->last_value = value->prev;
    value->prev = value->next = NULL;
}

/* Inputs stand before all else, as they do when a file is read. */
static void add_input_value(VfGraph *graph, VfValue *value)
{
    graph->model->clean = VF_CLEAN_NOT;
    VfValue *before = graph->n_input > 0 ? graph->input[graph->n_input - 1] : NULL;
    VfValue *behind = before != NULL ? before->next : graph->first_value;
    value->prev = before;
    value->next = behind;
    *(before != NULL ? &before->next : &graph->first_value) = value;
    *(behind != NULL ? &behind->prev : &graph->last_value) = value;
}

VfStatus vf_value_rename(VfValue *value, VfBytes name, VfErr *err)
{
    VfIntern *names = value->graph->model->name;
    VF_TRY(vf_intern_add(names, name, &value->name_id, err));
    value->name = vf_intern_get(names, value->name_id);
    return VF_OK;
}

VfValue *vf_graph_new_value(VfGraph *graph, VfValueKind kind, VfBytes name)
{
    VfModel *model = graph->model;
    VfValue *value = vf_model_take(model, &model->spare_value, sizeof *value);
    if (value == NULL)
        return NULL;
    value->graph = graph;
    if (vf_value_rename(value, name, NULL) != VF_OK)
        return NULL;
    value->id = model->n_value_id++;
    value->kind = kind;
    value->type.rank = VF_RANK_UNKNOWN;
    return value;
}

VfValue *vf_graph_add_input(VfGraph *graph, VfBytes name, VfType type)
{
    VfArena *arena = graph->model->arena;
    size_t capacity = (size_t)graph->input_capacity;
    size_t need = (size_t)graph->n_input + 1;
    VfValue *value = vf_graph_new_value(graph, VF_VALUE_INPUT, name);
    if (value == NULL || vf_model_copy_type(graph->model, &type, &value->type, NULL) != VF_OK)
        return NULL;
    if (vf_arena_grow(arena, (void **)&graph->input, &capacity, need, sizeof(VfValue *), NULL) !=
        VF_OK)
        return NULL;
    graph->input_capacity = (int32_t)capacity;
    value->index = graph->n_input;
    add_input_value(graph, value);
    graph->input[graph->n_input++] = value;
    return value;
}

VfStatus vf_tensor_type(VfArena *arena, const VfTensor *tensor, VfType *type, VfErr *err)
{
    VfDim *dims = NULL;
    if (tensor->rank > 0) {
        dims = VF_NEW_ARRAY(arena, VfDim, (size_t)tensor->rank);
        VF_TRY_ALLOC(dims, err);
    }
    for (int32_t i = 0; i < tensor->rank; i++)
        dims[i] = vf_dim(tensor->dims[i]);
    *type = (VfType){VF_TYPE_TENSOR, tensor->dtype, tensor->rank, dims};
    return VF_OK;
}

VfValue *vf_graph_add_const(VfGraph *graph, VfBytes name, const VfTensor *tensor)
{
    VfValue *value = vf_graph_new_value(graph, VF_VALUE_CONST, name);
    if (value == NULL ||
        vf_tensor_type(graph->model->arena, tensor, &value->type, NULL) != VF_OK)
        return NULL;
    value->tensor = tensor;
    vf_graph_append_value(graph, value);
    return value;
}

void vf_graph_drop_input(VfValue *input)
{
    VfGraph *graph = input->graph;
    graph->n_input--;
    for (int32_t i = input->index; i < graph->n_input; i++) {
        graph->input[i] = graph->input[i + 1];
        graph->input[i]->index = i;
    }
    vf_graph_remove_value(graph, input);
}

void vf_value_drop(VfValue *value)
{
    vf_graph_remove_value(value->graph, value);
}

VfStatus vf_graph_rename_output(VfGraph *graph, int32_t index, VfBytes name, VfErr *err)
{
    size_t count = (size_t)graph->ret->n_in;
    VfBytes *names = VF_NEW_ARRAY(graph->model->arena, VfBytes, count);
    VF_TRY_ALLOC(names, err);
    memcpy(names, graph->output_name, count * sizeof *names);
    VF_TRY(vf_model_copy_bytes(graph->model, name, &names[index], err));
    graph->output_name = names;
    return VF_OK;
}

VfStatus vf_graph_set_outputs(VfGraph *graph, int32_t n, VfValue *const *value, const VfBytes *name,
                              const VfType *type, VfErr *err)
{
    VfModel *model = graph->model;
    size_t count = (size_t)n;
    VfBytes *names = VF_NEW_ARRAY(model->arena, VfBytes, count);
    VfType *types = VF_NEW_ARRAY(model->arena, VfType, count);
    VF_TRY_ALLOC(names, err);
    VF_TRY_ALLOC(types, err);
    for (int32_t i = 0; i < n; i++) {
        VF_TRY(vf_model_copy_bytes(model, name[i], &names[i], err));
        VF_TRY(vf_model_copy_type(model, &type[i], &types[i], err));
    }
    for (int32_t i = 0; i < graph->ret->n_in; i++)
        vf_node_set_in(graph->ret, i, NULL);
    graph->ret->n_in = 0;
    for (int32_t i = 0; i < n; i++)
        VF_TRY(vf_node_add_in(graph->ret, value[i], err));
    graph->output_name = names;
    graph->output_type = types;
    graph->output_info = NULL;
    return VF_OK;
}

VfValue *vf_graph_find_value(const VfGraph *graph, VfBytes name, bool outer)
{
    while (graph != NULL) {
        for (VfValue *value = graph->first_value; value != NULL; value = value->next) {
            if (vf_bytes_is_equal(value->name, name))
                return value;
        }
        graph = outer && graph->owner != NULL ? graph->owner->graph : NULL;
    }
    return NULL;
}

VfNode *vf_graph_find_node(const VfGraph *graph, VfBytes name)
{
    for (VfNode *node = graph->first_node; node != NULL; node = node->next) {
        if (vf_bytes_is_equal(node->name, name))
            return node;
    }
    return NULL;
}
