#include "passes/match/norm_parts.h"

enum { SUBGRAPH_DEPTH_MAX = 16 };

typedef struct Scan {
    VfArena *arena;
    VfModel *model;
    VfNorms *found;
    size_t layer_capacity, batch_capacity;
} Scan;

static VfStatus add_layer(Scan *scan, VfNode *node, VfErr *err)
{
    VfLayerNorm norm;
    if (!vf_layer_norm_of(scan->model->symbols, node, &norm))
        return VF_OK;
    norm.label = vf_node_label(norm.last);
    void *items = scan->found->layer;
    VF_TRY(vf_arena_grow(scan->arena, &items, &scan->layer_capacity,
                         (size_t)scan->found->n_layer + 1, sizeof(VfLayerNorm), err));
    scan->found->layer = items;
    scan->found->layer[scan->found->n_layer++] = norm;
    return VF_OK;
}

static VfStatus add_batch(Scan *scan, VfNode *node, VfErr *err)
{
    if (node->op != VF_OP_BATCH_NORMALIZATION)
        return VF_OK;
    VfBatchNorm norm;
    VF_TRY(vf_batch_norm_of(scan->arena, node, &norm, err));
    void *items = scan->found->batch;
    VF_TRY(vf_arena_grow(scan->arena, &items, &scan->batch_capacity,
                         (size_t)scan->found->n_batch + 1, sizeof(VfBatchNorm), err));
    scan->found->batch = items;
    scan->found->batch[scan->found->n_batch++] = norm;
    return VF_OK;
}

static VfStatus visit(Scan *scan, const VfGraph *graph, int32_t depth, VfErr *err)
{
    for (VfNode *node = graph->first_node; node != NULL; node = node->next) {
        VF_TRY(add_layer(scan, node, err));
        VF_TRY(add_batch(scan, node, err));
        for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
            if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL && depth < SUBGRAPH_DEPTH_MAX)
                VF_TRY(visit(scan, attr->graph, depth + 1, err));
        }
    }
    return VF_OK;
}

VfStatus vf_find_norms(VfArena *arena, VfModel *model, VfNorms *found, VfErr *err)
{
    Scan scan = {.arena = arena, .model = model, .found = found};
    *found = (VfNorms){.n_layer = 0};
    return visit(&scan, model->graph, 0, err);
}
