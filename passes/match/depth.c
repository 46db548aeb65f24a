#include "passes/match/depth.h"

static int32_t depth_above(const VfNode *node, const int32_t *depth)
{
    int32_t most = 0;
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *in = vf_node_in(node, i);
        if (in != NULL && in->kind == VF_VALUE_RESULT && depth[in->def->id] > most)
            most = depth[in->def->id];
    }
    return most;
}

VfStatus vf_count_depth(VfArena *arena, const VfGraph *graph, const bool *counts,
                        const int32_t **depth, int32_t *most, VfErr *err)
{
    int32_t *of_node = VF_NEW_ARRAY(arena, int32_t, (size_t)graph->model->n_node_id + 1);
    VF_TRY_ALLOC(of_node, err);
    *most = 0;
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next) {
        of_node[node->id] = depth_above(node, of_node) + counts[node->id];
        *most = of_node[node->id] > *most ? of_node[node->id] : *most;
    }
    *depth = of_node;
    return VF_OK;
}
