/* Sizes in place of symbols. */
#include "converter/api/handle.h"

VfStatus vf_sizes_init(VfSizes *sizes, VfArena *arena, const VitfoldDim *dim, size_t n_dim,
                       VfErr *err)
{
    *sizes = (VfSizes){vf_intern_new(arena), VF_NEW_ARRAY(arena, int64_t, n_dim)};
    VF_TRY_ALLOC(sizes->name, err);
    VF_TRY_ALLOC(sizes->size, err);
    for (size_t i = 0; i < n_dim; i++) {
        int32_t id, n = vf_intern_count(sizes->name);
        VF_TRY(vf_intern_add(sizes->name, vf_bytes(dim[i].name), &id, err));
        if (id == n)
            sizes->size[id] = dim[i].size;
    }
    return VF_OK;
}

int64_t vf_sizes_get(const VfSizes *sizes, VfBytes name)
{
    int32_t id = vf_intern_find(sizes->name, name);
    return id < 0 ? -1 : sizes->size[id];
}

/* `type` with known symbols replaced; the old one where nothing changes. */
static VfStatus fix_type(VfModel *ir, VfType *type, const VfSizes *sizes, VfErr *err)
{
    if (type->rank <= 0)
        return VF_OK;
    VfDim *fixed = VF_NEW_ARRAY(ir->arena, VfDim, (size_t)type->rank);
    VF_TRY_ALLOC(fixed, err);
    bool is_changed = false;
    for (int32_t i = 0; i < type->rank; i++) {
        fixed[i] = type->dims[i];
        int64_t size = fixed[i].sym <= VF_SYM_ONE
                           ? -1
                           : vf_sizes_get(sizes, vf_symbol_text(ir->symbols, fixed[i].sym));
        if (size < 0)
            continue;
        if (__builtin_mul_overflow(fixed[i].k, size, &fixed[i].k))
            return vf_fail(err, VF_USAGE, "a dimension overflows");
        fixed[i].sym = VF_SYM_ONE;
        is_changed = true;
    }
    if (is_changed)
        type->dims = fixed;
    return VF_OK;
}

static VfStatus no_such_dim(const char *name, VfErr *err)
{
    return vf_fail(err, VF_USAGE, "no input has a dimension '%s'", name);
}

/* Add the symbols in the shapes of the inputs to `name`. */
static VfStatus intern_symbols(const VfModel *ir, VfIntern *name, VfErr *err)
{
    for (int32_t i = 0; i < ir->graph->n_input; i++) {
        const VfType *type = &ir->graph->input[i]->type;
        for (int32_t d = 0; d < type->rank; d++)
            if (type->dims[d].sym > VF_SYM_ONE)
                VF_TRY(vf_intern_add(name, vf_symbol_text(ir->symbols, type->dims[d].sym), NULL,
                                     err));
    }
    return VF_OK;
}

/* Each of `dim` is a symbol of an input of one of the models. */
static VfStatus check_dims(VfArena *arena, const VfModel *const *ir, size_t n_ir,
                           const VitfoldDim *dim, size_t n_dim, VfErr *err)
{
    VfIntern *name = vf_intern_new(arena);
    VF_TRY_ALLOC(name, err);
    for (size_t i = 0; i < n_ir && n_dim > 0; i++)
        VF_TRY(intern_symbols(ir[i], name, err));
    for (size_t i = 0; i < n_dim; i++)
        if (vf_intern_find(name, vf_bytes(dim[i].name)) < 0)
            return no_such_dim(dim[i].name, err);
    return VF_OK;
}

static VfStatus check_models(VfArena *arena, const VitfoldModel *const *model, size_t n_model,
                             const VitfoldDim *dim, size_t n_dim, VfErr *err)
{
    const VfModel **ir = VF_NEW_ARRAY(arena, const VfModel *, n_model);
    VF_TRY_ALLOC(ir, err);
    for (size_t i = 0; i < n_model; i++)
        ir[i] = model[i]->ir;
    return check_dims(arena, ir, n_model, dim, n_dim, err);
}

int vitfold_model_check_dims(const VitfoldModel *const *model, size_t n_model,
                             const VitfoldDim *dim, size_t n_dim, VitfoldError *err)
{
    VfArena *arena = vf_arena_new();
    VfStatus status = arena == NULL ? vf_no_memory(err)
                                    : check_models(arena, model, n_model, dim, n_dim, err);
    vf_arena_free(arena);
    return (int)status;
}

VfStatus vf_fix_dims(VfModel *ir, const VitfoldDim *dim, size_t n_dim, VfErr *err)
{
    VfGraph *graph = ir->graph;
    const VfModel *models = ir;
    VfSizes sizes;
    if (n_dim == 0)
        return VF_OK;
    VF_TRY(check_dims(ir->arena, &models, 1, dim, n_dim, err));
    VF_TRY(vf_sizes_init(&sizes, ir->arena, dim, n_dim, err));
    ir->clean = VF_CLEAN_NOT;
    for (VfValue *value = graph->first_value; value != NULL; value = value->next)
        VF_TRY(fix_type(ir, &value->type, &sizes, err));
    size_t n_out = (size_t)graph->ret->n_in;
    VfType *type = VF_NEW_ARRAY(ir->arena, VfType, n_out);
    VF_TRY_ALLOC(type, err);
    for (size_t i = 0; i < n_out; i++) {
        type[i] = graph->output_type[i];
        VF_TRY(fix_type(ir, &type[i], &sizes, err));
    }
    graph->output_type = type;
    return VF_OK;
}

int vitfold_model_fix_dims(VitfoldModel *model, const VitfoldDim *dim, size_t n_dim,
                           VitfoldError *err)
{
    return (int)vf_fix_dims(model->ir, dim, n_dim, err);
}

VfStatus vf_assume_dims(VfArena *arena, const VfModel *ir, const VitfoldDim *dim, size_t n_dim,
                        VitfoldDim **assumed, size_t *n_assumed, VfErr *err)
{
    VfSizes sizes;
    VfIntern *symbol = vf_intern_new(arena);
    VF_TRY_ALLOC(symbol, err);
    VF_TRY(vf_sizes_init(&sizes, arena, dim, n_dim, err));
    VF_TRY(intern_symbols(ir, symbol, err));
    *n_assumed = (size_t)vf_intern_count(symbol);
    *assumed = VF_NEW_ARRAY(arena, VitfoldDim, *n_assumed);
    VF_TRY_ALLOC(*assumed, err);
    for (size_t i = 0; i < *n_assumed; i++) {
        VfBytes name = vf_intern_get(symbol, (int32_t)i);
        int64_t size = vf_sizes_get(&sizes, name);
        (*assumed)[i] = (VitfoldDim){.name = name.data, .size = size < 0 ? 1 : size};
    }
    return VF_OK;
}
