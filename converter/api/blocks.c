#include "converter/api/blocks.h"

#include "passes/match/depth.h"
#include "passes/match/residual.h"

/* Mark the nodes that end a block, by id. */
static VfStatus mark_ends(VfArena *arena, VfGraph *graph, bool *is_end, VfBlocks *blocks,
                          VfErr *err)
{
    VfResiduals found;
    VF_TRY(vf_find_residuals(arena, graph, &found, err));
    blocks->has_residuals = found.n_site > 0;
    for (int32_t i = 0; i < found.n_site; i++)
        is_end[found.site[i].add->id] = true;
    for (VfNode *node = graph->first_node; node != NULL && found.n_site == 0; node = node->next)
        is_end[node->id] = vf_is_layer(node);
    return VF_OK;
}

static VfStatus add_value(VfArena *arena, const VfValue *value, int32_t depth, bool is_end,
                          VfBlocks *blocks, VfErr *err)
{
    char *name = vf_arena_copy(arena, value->name.data, value->name.size);
    VF_TRY_ALLOC(name, err);
    blocks->value[blocks->n_value++] =
        (VfBlockValue){{name, value->name.size}, depth, is_end};
    blocks->n_end += is_end;
    return VF_OK;
}

static int32_t count_results(const VfGraph *graph)
{
    int32_t n = 0;
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next)
        n += node->n_out;
    return n;
}

static VfStatus find(VfArena *arena, VfGraph *graph, VfBlocks *blocks, VfErr *err)
{
    bool *is_end = VF_NEW_ARRAY(arena, bool, (size_t)graph->model->n_node_id + 1);
    const int32_t *depth;
    int32_t most;
    blocks->value = VF_NEW_ARRAY(arena, VfBlockValue, (size_t)count_results(graph));
    VF_TRY_ALLOC(is_end, err);
    VF_TRY_ALLOC(blocks->value, err);
    VF_TRY(mark_ends(arena, graph, is_end, blocks, err));
    VF_TRY(vf_count_depth(arena, graph, is_end, &depth, &most, err));
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next)
        for (int32_t i = 0; i < node->n_out; i++) {
            const VfValue *value = node->out[i];
            if (value != NULL && value->name.size > 0)
                VF_TRY(add_value(arena, value, depth[node->id], i == 0 && is_end[node->id],
                                 blocks, err));
        }
    return VF_OK;
}

VfStatus vf_blocks_find(VfArena *arena, const VitfoldModel *model, VfBlocks *blocks, VfErr *err)
{
    VfModel *clean;
    *blocks = (VfBlocks){0};
    VF_TRY(vf_load_clean(model, NULL, 0, &clean, err));
    VfStatus status = find(arena, clean->graph, blocks, err);
    vf_model_free(clean);
    return status;
}
