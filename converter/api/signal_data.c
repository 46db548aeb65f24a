/* The sizes that samples give to symbols. */
#include "converter/api/calibration.h"
#include "converter/api/signal.h"

/* Symbols of all axes but the first, which counts samples, have the sizes of the data. */
VfStatus vf_signal_dims(VfArena *arena, const VfModel *ir, const VitfoldSignalOptions *options,
                        VitfoldDim **dim, size_t *n_dim, VfErr *err)
{
    const VfGraph *graph = ir->graph;
    VfIntern *known = vf_intern_new(arena);
    size_t capacity = 0;
    void *items = NULL;
    VF_TRY_ALLOC(known, err);
    *n_dim = options->n_dim;
    VF_TRY(vf_arena_grow(arena, &items, &capacity, *n_dim + 1, sizeof **dim, err));
    *dim = items;
    for (size_t i = 0; i < options->n_dim; i++) {
        (*dim)[i] = options->dim[i];
        VF_TRY(vf_intern_add(known, vf_bytes(options->dim[i].name), NULL, err));
    }
    for (int32_t i = 0; options->data != NULL && i < graph->n_input; i++) {
        const VfType *type = &graph->input[i]->type;
        const VfArray *array = vf_calibration_array(graph, options->data, graph->input[i]);
        for (int32_t d = 1; array != NULL && d < type->rank && d < array->rank; d++) {
            VfBytes name = vf_symbol_text(ir->symbols, type->dims[d].sym);
            int32_t id;
            if (type->dims[d].sym <= VF_SYM_ONE || type->dims[d].k != 1 ||
                vf_intern_find(known, name) >= 0)
                continue;
            VF_TRY(vf_intern_add(known, name, &id, err));
            VF_TRY(vf_arena_grow(arena, &items, &capacity, *n_dim + 1, sizeof **dim, err));
            *dim = items;
            (*dim)[*n_dim].name = vf_intern_get(known, id).data;
            (*dim)[(*n_dim)++].size = array->dims[d];
        }
    }
    return VF_OK;
}
