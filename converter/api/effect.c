#include "converter/api/effect.h"

#include "converter/api/session.h"

/* --- running --- */

/* Outputs into `out`, the `n` values `keep` under `name` into `kept`. */
static VfStatus take(VfSession *session, int32_t n, const VfBytes *name, VitfoldData *out,
                     VitfoldData *kept, VfErr *err)
{
    int32_t n_output = session->plan->n_output - n;
    VF_TRY(vf_session_run(session, NULL, err));
    for (int32_t i = 0; i < session->plan->n_output; i++) {
        VfArray array;
        VF_TRY(vf_session_output(session, i, &array, err));
        if (i < n_output)
            VF_TRY(vf_data_copy(out, session->plan->output[i].name, &array, err));
        else
            VF_TRY(vf_data_copy(kept, name[i - n_output], &array, err));
    }
    return VF_OK;
}

static VfStatus run_model(const VfEffect *effect, const VitfoldModel *model, bool is_reference,
                          const VfValue *const *at, VitfoldData **out, VitfoldData **kept,
                          VfErr *err)
{
    VfSession session;
    VitfoldRunOptions run = effect->run;
    VfValue **keep = VF_NEW_ARRAY(effect->arena, VfValue *, (size_t)effect->n_block);
    VfBytes *name = VF_NEW_ARRAY(effect->arena, VfBytes, (size_t)effect->n_block);
    int32_t n = 0;
    *out = vitfold_data_new();
    *kept = vitfold_data_new();
    VF_TRY_ALLOC(*out, err);
    VF_TRY_ALLOC(*kept, err);
    VF_TRY_ALLOC(keep, err);
    VF_TRY_ALLOC(name, err);
    for (int32_t i = 0; i < effect->n_block; i++) {
        if (at[i] == NULL)
            continue;
        name[n] = effect->block[i].name;
        keep[n++] = (VfValue *)(uintptr_t)at[i];
    }
    run.reference = is_reference ? !run.reference : run.reference;
    VF_TRY(vf_session_open_keeping(model, effect->in, &run, n, keep, &session, err));
    VfStatus status = take(&session, n, name, *out, *kept, err);
    vf_session_close(&session);
    return status;
}

/* --- the original --- */

/* Where the results of the main graph stand, by name. */
static VfStatus find_values(VfArena *arena, const VfGraph *graph, const VfBlockValue *block,
                            int32_t n, const VfValue **at, VfErr *err)
{
    VfIntern *table = vf_intern_new(arena);
    VF_TRY_ALLOC(table, err);
    for (int32_t i = 0; i < n; i++)
        VF_TRY(vf_intern_add(table, block[i].name, NULL, err));
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        int32_t id = value->kind == VF_VALUE_RESULT && value->def->is_linked
                         ? vf_intern_find(table, value->name) : -1;
        if (id >= 0)
            at[id] = value;
    }
    return VF_OK;
}

/* The ends of blocks that the model has as it is in its file. */
static VfStatus choose_blocks(VfEffect *effect, const VitfoldModel *model, VfErr *err)
{
    VfBlocks found;
    VF_TRY(vf_blocks_find(effect->arena, model, &found, err));
    effect->has_residuals = found.has_residuals;
    effect->block = VF_NEW_ARRAY(effect->arena, VfBlockValue, (size_t)found.n_end);
    effect->at = VF_NEW_ARRAY(effect->arena, const VfValue *, (size_t)found.n_end);
    VF_TRY_ALLOC(effect->block, err);
    VF_TRY_ALLOC(effect->at, err);
    for (int32_t i = 0; i < found.n_value; i++)
        if (found.value[i].is_end)
            effect->block[effect->n_block++] = found.value[i];
    VF_TRY(find_values(effect->arena, model->ir->graph, effect->block, effect->n_block,
                       effect->at, err));
    int32_t n = 0;
    for (int32_t i = 0; i < effect->n_block; i++) {
        if (effect->at[i] == NULL)
            continue;
        effect->at[n] = effect->at[i];
        effect->block[n++] = effect->block[i];
    }
    effect->n_block = n;
    return VF_OK;
}

static VfStatus measure_original(VfEffect *effect, const VitfoldModel *model, VfErr *err)
{
    VF_TRY(choose_blocks(effect, model, err));
    VF_TRY(run_model(effect, model, false, effect->at, &effect->output, &effect->end, err));
    return run_model(effect, model, true, effect->at, &effect->output_noise, &effect->end_noise,
                     err);
}

VfStatus vf_effect_new(const VitfoldModel *model, const VitfoldData *in,
                       const VitfoldRunOptions *run, VfEffect **result, VfErr *err)
{
    VfArena *arena = vf_arena_new();
    VfEffect *effect = arena == NULL ? NULL : VF_NEW(arena, VfEffect);
    if (effect == NULL) {
        vf_arena_free(arena);
        return vf_no_memory(err);
    }
    effect->arena = arena;
    effect->in = in;
    effect->run = *run;
    VfStatus status = measure_original(effect, model, err);
    if (status == VF_OK)
        *result = effect;
    else
        vf_effect_free(effect);
    return status == VF_OK ? VF_OK : vf_context(err, "numeric effect");
}

void vf_effect_free(VfEffect *effect)
{
    if (effect == NULL)
        return;
    vitfold_data_free(effect->output);
    vitfold_data_free(effect->output_noise);
    vitfold_data_free(effect->end);
    vitfold_data_free(effect->end_noise);
    vf_arena_free(effect->arena);
}

/* --- stages --- */

static bool is_in_graph(const VfValue *value)
{
    return value->kind != VF_VALUE_RESULT || value->def->is_linked;
}

/* A value that left the graph stands for the one that took its last readers. */
static const VfValue *follow(const VfValue *value, const VfJournal *journal, int32_t first)
{
    while (value != NULL && !is_in_graph(value)) {
        const VfValue *to = NULL;
        for (int32_t i = first; i < journal->n_edit; i++)
            for (int32_t k = 0; k < journal->edit[i].n_swap; k++)
                if (journal->edit[i].swap[k].from == value) {
                    to = journal->edit[i].swap[k].to;
                    first = i + 1;
                }
        value = to == value ? NULL : to;
    }
    return value;
}

static VfStatus measure_all(VfEffect *effect, const VitfoldData *got, const VitfoldData *noise,
                            const VitfoldData *want, VfMoved **row, VfErr *err)
{
    *row = VF_NEW_ARRAY(effect->arena, VfMoved, want->n_array);
    VF_TRY_ALLOC(*row, err);
    for (size_t i = 0; i < want->n_array; i++) {
        const VfNamedArray *array = &want->array[i];
        if (vf_moved_measure(effect->arena, vf_data_find(got, array->name),
                             vf_data_find(noise, array->name), array, &(*row)[i], err) != VF_OK)
            return vf_context(err, "tensor '%s'", vf_show(effect->arena, array->name));
        (*row)[i].got = NULL; /* freed with the run */
    }
    return VF_OK;
}

static VfStatus measure_stage(VfEffect *effect, const VitfoldModel *model, VfEffectStage *stage,
                              VfErr *err)
{
    VitfoldData *output = NULL, *end = NULL;
    VfStatus status = run_model(effect, model, false, effect->at, &output, &end, err);
    if (status == VF_OK)
        status = measure_all(effect, output, effect->output_noise, effect->output, &stage->output,
                             err);
    if (status == VF_OK)
        status = measure_all(effect, end, effect->end_noise, effect->end, &stage->block, err);
    vitfold_data_free(output);
    vitfold_data_free(end);
    return status;
}

VfStatus vf_effect_add(VfEffect *effect, const VitfoldModel *model, const char *pass, VfErr *err)
{
    const VfJournal *journal = model->journal;
    VfEffectStage stage = {.pass = pass, .n_edit = journal->n_edit - effect->n_edit};
    if (stage.n_edit == 0)
        return VF_OK;
    for (int32_t i = 0; i < effect->n_block; i++)
        effect->at[i] = follow(effect->at[i], journal, effect->n_edit);
    effect->n_edit = journal->n_edit;
    if (measure_stage(effect, model, &stage, err) != VF_OK)
        return vf_context(err, "numeric effect after '%s'", pass);
    void *items = effect->stage;
    VF_TRY(vf_arena_grow(effect->arena, &items, &effect->capacity, effect->n_stage + 1,
                         sizeof *effect->stage, err));
    effect->stage = items;
    effect->stage[effect->n_stage++] = stage;
    return VF_OK;
}
