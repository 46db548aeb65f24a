/* The sizes that samples give to symbols. */
#include "converter/api/calibration.h"
#include "converter/api/signal.h"

/* Symbols of all axes but the first, which counts samples, have the sizes of the data. */
VfStatus vf_signal_dims(VfArena *arena, const VfModel *ir, const VitfoldSignalOptions *options,
                        VitfoldDim **dim, size_t *n_dim, VfErr *err)
{
    const VfGraph *graph = ir->graph;
    size_t capacity = 0;
    void *items = NULL;
    *n_dim = options->n_dim;
    VF_TRY(vf_arena_grow(arena, &items, &capacity, *n_dim + 1, sizeof **dim, err));
    *dim = items;
    for (size_t i = 0; i < options->n_dim; i++)
        (*dim)[i] = options->dim[i];
    for (int32_t i = 0; options->data != NULL && i < graph->n_input; i++) {
        const VfType *type = &graph->input[i]->type;
        const VfArray *array = vf_calibration_array(graph, options->data, graph->input[i]);
        for (int32_t d = 1; array != NULL && d < type->rank && d < array->rank; d++) {
            VfBytes name = vf_symbol_text(ir->symbols, type->dims[d].sym);
            if (type->dims[d].sym <= VF_SYM_ONE || type->dims[d].k != 1 ||
                vf_dim_size(*dim, *n_dim, name) >= 0)
                continue;
            VF_TRY(vf_arena_grow(arena, &items, &capacity, *n_dim + 1, sizeof **dim, err));
            *dim = items;
            (*dim)[*n_dim].name = vf_arena_copy(arena, name.data, name.size);
            VF_TRY_ALLOC((*dim)[*n_dim].name, err);
            (*dim)[(*n_dim)++].size = array->dims[d];
        }
    }
    return VF_OK;
}
