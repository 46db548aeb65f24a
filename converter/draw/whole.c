#include "converter/draw/parts.h"

#include <string.h>

typedef struct Whole {
    VfDrawing *drawing;
    const VfModel *model;
    VfErr *err;
    int32_t *node_box, *value_box; /* by id: number of the box + 1, 0: none */
} Whole;

static VfStatus add_graph(Whole *whole, const VfGraph *graph, int32_t group);

static VfStatus add_subgraphs(Whole *whole, const VfNode *node, int32_t group)
{
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        int32_t n = attr->type == VF_ATTR_GRAPH ? 1 : attr->type == VF_ATTR_GRAPHS ? attr->n : 0;
        for (int32_t i = 0; i < n; i++) {
            const VfGraph *graph = attr->type == VF_ATTR_GRAPH ? attr->graph : attr->graphs[i];
            const char *label = vf_arena_printf(whole->drawing->arena, "%s: %.*s",
                                                vf_node_label(node), (int)attr->name.size,
                                                attr->name.data);
            int32_t inner;
            VF_TRY_ALLOC(label, whole->err);
            if (graph == NULL)
                continue;
            VF_TRY(vf_drawing_add_group(whole->drawing, (VfBytes){label, strlen(label)}, group,
                                        &inner, whole->err));
            VF_TRY(add_graph(whole, graph, inner));
        }
    }
    return VF_OK;
}

static VfStatus add_box(Whole *whole, VfDrawBox *box, int32_t group, int32_t *number)
{
    box->group = group;
    VF_TRY(vf_drawing_add_box(whole->drawing, box, number, whole->err));
    ++*number;
    return VF_OK;
}

static VfStatus add_inputs(Whole *whole, const VfGraph *graph, int32_t group)
{
    for (int32_t i = 0; i < graph->n_input; i++) {
        const VfValue *value = graph->input[i];
        VfDrawBox box;
        if (value->tensor != NULL)
            continue;
        VF_TRY(vf_draw_end_box(whole->drawing->arena, whole->model, true, value->name,
                               &value->type, &box, whole->err));
        VF_TRY(add_box(whole, &box, group, &whole->value_box[value->id]));
    }
    return VF_OK;
}

static VfStatus add_arrow(Whole *whole, const VfValue *value, int32_t to)
{
    if (value == NULL)
        return VF_OK;
    int32_t from = value->kind == VF_VALUE_RESULT ? whole->node_box[value->def->id]
                                                  : whole->value_box[value->id];
    VfDrawArrow arrow = {.from = from - 1, .to = to, .value = value};
    if (from == 0)
        return VF_OK;
    VF_TRY(vf_draw_type(whole->drawing->arena, whole->model->symbols, &value->type, &arrow.label,
                        whole->err));
    return vf_drawing_add_arrow(whole->drawing, &arrow, whole->err);
}

static VfStatus add_outputs(Whole *whole, const VfGraph *graph, int32_t group)
{
    for (int32_t i = 0; i < graph->ret->n_in; i++) {
        VfDrawBox box;
        int32_t number;
        VF_TRY(vf_draw_end_box(whole->drawing->arena, whole->model, false, graph->output_name[i],
                               &graph->output_type[i], &box, whole->err));
        VF_TRY(add_box(whole, &box, group, &number));
        VF_TRY(add_arrow(whole, vf_node_in(graph->ret, i), number - 1));
    }
    return VF_OK;
}

static VfStatus add_graph(Whole *whole, const VfGraph *graph, int32_t group)
{
    VF_TRY(add_inputs(whole, graph, group));
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        VfDrawBox box;
        int32_t *number = &whole->node_box[node->id];
        VF_TRY(vf_draw_node_box(whole->drawing->arena, node, true, &box, whole->err));
        VF_TRY(add_box(whole, &box, group, number));
        for (int32_t i = 0; i < node->n_in; i++)
            VF_TRY(add_arrow(whole, vf_node_in(node, i), *number - 1));
        VF_TRY(add_subgraphs(whole, node, group));
    }
    return add_outputs(whole, graph, group);
}

VfStatus vf_drawing_of_model(VfArena *arena, const VfModel *model, VfDrawing **drawing,
                             VfErr *err)
{
    Whole whole = {
        .drawing = vf_drawing_new(arena, model->graph->name),
        .model = model,
        .err = err,
        .node_box = VF_NEW_ARRAY(arena, int32_t, (size_t)model->n_node_id),
        .value_box = VF_NEW_ARRAY(arena, int32_t, (size_t)model->n_value_id),
    };
    if (whole.drawing == NULL || whole.node_box == NULL || whole.value_box == NULL)
        return vf_no_memory(err);
    *drawing = whole.drawing;
    VF_TRY(add_graph(&whole, model->graph, -1));
    for (const VfFunction *function = model->first_function; function != NULL;
         function = function->next) {
        int32_t group;
        VF_TRY(vf_drawing_add_group(whole.drawing, function->name, -1, &group, err));
        VF_TRY(add_graph(&whole, function->body, group));
    }
    return VF_OK;
}
