#include <string.h>

#include "converter/api/effect.h"
#include "converter/lower/lower.h"
#include "converter/onnx/export.h"

static void pass_line_on(void *user, VfLogLevel level, const char *line)
{
    const VitfoldModel *model = user;
    model->log_fn(model->log_user, (int)level, line);
}

static VfStatus fill_handle(VitfoldModel *model, const char *path,
                            const VitfoldLoadOptions *options, VfErr *err)
{
    model->path = vf_arena_string(model->arena, path);
    VF_TRY_ALLOC(model->path, err);
    if (options == NULL)
        return VF_OK;
    model->import.max_depth = options->max_nesting;
    model->import.max_fields = options->max_fields;
    model->max_memory = options->max_memory;
    if (options->linked_data_root != NULL) {
        char *root = vf_arena_string(model->arena, options->linked_data_root);
        VF_TRY_ALLOC(root, err);
        model->import.linked_data_root = root;
    }
    if (options->log != NULL) {
        model->log_fn = options->log;
        model->log_user = options->log_user;
        model->log = (VfLog){(VfLogLevel)options->log_level, pass_line_on, model};
    }
    return VF_OK;
}

static VfStatus load(VitfoldModel *model, const char *path, const VitfoldLoadOptions *options,
                     VfErr *err)
{
    VF_TRY(fill_handle(model, path, options, err));
    VF_TRY(vf_onnx_import(path, &model->import, &model->ir, err));
    if (options == NULL || options->scratch_folder == NULL)
        return VF_OK;
    char *folder = vf_arena_string(model->ir->arena, options->scratch_folder);
    VF_TRY_ALLOC(folder, err);
    vf_arena_page_to(model->ir->arena, folder);
    return VF_OK;
}

int vitfold_model_load(const char *path, const VitfoldLoadOptions *options, VitfoldModel **result,
                       VitfoldError *err)
{
    VfArena *arena = vf_arena_new();
    VitfoldModel *model = arena == NULL ? NULL : VF_NEW(arena, VitfoldModel);
    if (model == NULL) {
        vf_arena_free(arena);
        return (int)vf_no_memory(err);
    }
    model->arena = arena;
    VfStatus status = load(model, path, options, err);
    if (status != VF_OK)
        vitfold_model_free(model);
    else
        *result = model;
    return (int)status;
}

int vitfold_model_prepare(const VitfoldModel *model, const char *path,
                          const VitfoldSaveOptions *options, VitfoldSaving **saving,
                          VitfoldError *err)
{
    static const VfExternalData where[] = {[VITFOLD_EXTERNAL_AUTO] = VF_EXTERNAL_AUTO,
                                           [VITFOLD_EXTERNAL_ALWAYS] = VF_EXTERNAL_ALWAYS,
                                           [VITFOLD_EXTERNAL_NEVER] = VF_EXTERNAL_NEVER};
    int choice = options == NULL ? VITFOLD_EXTERNAL_AUTO : options->external_data;
    if (choice < 0 || choice > VITFOLD_EXTERNAL_NEVER)
        return (int)vf_fail(err, VF_USAGE, "no way %d to keep external data", choice);
    VfExportOptions exporting = {where[choice]};
    VfPrepared *prepared;
    VfStatus status = vf_onnx_prepare(model->ir, path, &exporting, &prepared, err);
    if (status == VF_OK)
        *saving = (VitfoldSaving *)prepared;
    return (int)status;
}

int vitfold_saving_commit(VitfoldSaving *saving, VitfoldError *err)
{
    return (int)vf_prepared_commit((VfPrepared *)saving, err);
}

void vitfold_saving_abandon(VitfoldSaving *saving)
{
    vf_prepared_abandon((VfPrepared *)saving);
}

int vitfold_model_save(const VitfoldModel *model, const char *path,
                       const VitfoldSaveOptions *options, VitfoldError *err)
{
    VitfoldSaving *saving;
    int status = vitfold_model_prepare(model, path, options, &saving, err);
    return status == VITFOLD_OK ? vitfold_saving_commit(saving, err) : status;
}

void vitfold_model_free(VitfoldModel *model)
{
    if (model == NULL)
        return;
    vf_effect_free(model->effect);
    vf_model_free(model->ir);
    vf_arena_free(model->arena);
}

bool vf_is_required_input(const VfValue *input)
{
    return input->tensor == NULL;
}

static const VfValue *required_input(const VfGraph *graph, size_t wanted, size_t *n)
{
    *n = 0;
    for (int32_t i = 0; i < graph->n_input; i++)
        if (vf_is_required_input(graph->input[i]) && (*n)++ == wanted)
            return graph->input[i];
    return NULL;
}

size_t vitfold_model_n_input(const VitfoldModel *model)
{
    size_t n;
    required_input(model->ir->graph, SIZE_MAX, &n);
    return n;
}

size_t vitfold_model_n_output(const VitfoldModel *model)
{
    return (size_t)model->ir->graph->ret->n_in;
}

const char *vitfold_model_input_name(const VitfoldModel *model, size_t i, size_t *size)
{
    size_t n;
    const VfValue *input = required_input(model->ir->graph, i, &n);
    *size = input == NULL ? 0 : input->name.size;
    return input == NULL ? NULL : input->name.data;
}

int vitfold_model_has_input(const VitfoldModel *model, const char *name, size_t size)
{
    const VfGraph *graph = model->ir->graph;
    VfBytes wanted = {name, size};
    for (int32_t i = 0; i < graph->n_input; i++)
        if (vf_is_required_input(graph->input[i]) &&
            vf_bytes_is_equal(graph->input[i]->name, wanted))
            return 1;
    return 0;
}

const char *vitfold_model_output_name(const VitfoldModel *model, size_t i, size_t *size)
{
    bool is_one = i < vitfold_model_n_output(model);
    VfBytes name = is_one ? model->ir->graph->output_name[i] : (VfBytes){NULL, 0};
    *size = name.size;
    return name.data;
}

VfStatus vf_clean_up(VfModel *ir, const VfEvaluator *evaluator, VfErr *err)
{
    VfJournal *journal = vf_journal_new(ir);
    VF_TRY_ALLOC(journal, err);
    return vf_normalize_model(ir, evaluator, journal, err);
}

VfStatus vf_load_original(const VitfoldModel *model, VitfoldModel **original, VfErr *err)
{
    VitfoldLoadOptions options = {.linked_data_root = model->import.linked_data_root,
                                  .max_nesting = model->import.max_depth,
                                  .max_fields = model->import.max_fields,
                                  .max_memory = model->max_memory,
                                  .log = model->log_fn,
                                  .log_user = model->log_user,
                                  .log_level = (int)model->log.level};
    return (VfStatus)vitfold_model_load(model->path, &options, original, err);
}

VfStatus vf_load_again(const VitfoldModel *model, const VitfoldDim *dim, size_t n_dim,
                       VfModel **again, VfErr *err)
{
    VfModel *ir;
    VF_TRY(vf_onnx_import(model->path, &model->import, &ir, err));
    VfStatus status = vf_fix_dims(ir, dim, n_dim, err);
    if (status != VF_OK)
        vf_model_free(ir);
    else
        *again = ir;
    return status;
}

VfStatus vf_load_clean(const VitfoldModel *model, const VitfoldDim *dim, size_t n_dim,
                       VfModel **clean, VfErr *err)
{
    VfModel *ir;
    VF_TRY(vf_load_again(model, dim, n_dim, &ir, err));
    VfStatus status = vf_clean_up(ir, vf_evaluator(), err);
    if (status != VF_OK)
        vf_model_free(ir);
    else
        *clean = ir;
    return status;
}

const char *vf_show(VfArena *arena, VfBytes name)
{
    VfText text;
    VfBytes shown;
    vf_text_init(&text, arena);
    vf_text_visible(&text, name);
    return vf_text_get(&text, &shown, NULL) == VF_OK ? shown.data : "";
}
