#include "converter/api/trial.h"

#include <math.h>

/* --- running --- */

/* Outputs of `model`, in a new list; labels are counted into `numbers`. */
static VfStatus run_labelled(const VfTrial *trial, const VitfoldModel *model,
                             const VitfoldEvalOptions *eval, VitfoldData *out, VfNumbers *numbers,
                             VfErr *err)
{
    VfScores scores;
    size_t n_hit;
    VF_TRY(vf_scores_run(model, &trial->labelled, eval, &trial->progress, out->arena, &scores,
                         err));
    VF_TRY(vf_scores_hits(&scores, &trial->labelled, 1, &n_hit, err));
    numbers->n_sample = scores.array.dims[0];
    numbers->n_hit = (int64_t)n_hit;
    return vf_data_put(out, scores.output, &scores.array, err);
}

static VfStatus run_model(const VfTrial *trial, const VitfoldModel *model, bool is_reference,
                          VitfoldData *out, VfNumbers *numbers, VfErr *err)
{
    VitfoldEvalOptions eval = trial->options->eval;
    eval.run.reference = is_reference ? !eval.run.reference : eval.run.reference;
    eval.run.save_all = 0;
    if (trial->options->labelled != NULL)
        return run_labelled(trial, model, &eval, out, numbers, err);
    return (VfStatus)vitfold_run(model, trial->options->in, out, &eval.run, err);
}

/* --- measuring --- */

static void add_output(VfNumbers *numbers, const VfMoved *moved)
{
    const VfDistance *d = &moved->distance;
    if (moved->fault != NULL) {
        numbers->fault = moved->fault;
        return;
    }
    numbers->max_abs = fmax(numbers->max_abs, d->max_abs);
    numbers->rel = fmax(numbers->rel, d->norm_rel);
    numbers->cosine = fmin(numbers->cosine, d->cosine);
    numbers->ulp = fmax(numbers->ulp, d->max_ulp);
    numbers->n_row += d->n_row;
    numbers->n_top1 += d->n_top1;
    numbers->n_special += d->n_special_differ;
}

static VfStatus compare_outputs(const VfTrial *trial, const VitfoldData *got, VfNumbers *numbers,
                                VfErr *err)
{
    numbers->cosine = 1;
    for (size_t i = 0; i < trial->want->n_array; i++) {
        const VfNamedArray *want = &trial->want->array[i];
        VfMoved moved;
        if (vf_moved_measure(trial->arena, vf_data_find(got, want->name), NULL, want, &moved,
                             err) != VF_OK)
            return vf_context(err, "output '%s'", vf_show(trial->arena, want->name));
        add_output(numbers, &moved);
    }
    return VF_OK;
}

static VfStatus measure(const VfTrial *trial, const VitfoldModel *model, bool is_reference,
                        VfNumbers *numbers, VfErr *err)
{
    VitfoldData *got = vitfold_data_new();
    VF_TRY_ALLOC(got, err);
    *numbers = (VfNumbers){0};
    VfStatus status = run_model(trial, model, is_reference, got, numbers, err);
    if (status == VF_OK)
        status = compare_outputs(trial, got, numbers, err);
    vitfold_data_free(got);
    return status;
}

VfStatus vf_trial_measure(const VfTrial *trial, const VitfoldModel *model, VfNumbers *numbers,
                          VfErr *err)
{
    return measure(trial, model, false, numbers, err);
}

/* Where the original gives no number, all that is made of it would look alike. */
static VfStatus check_finite(const VfTrial *trial, const VfNamedArray *output, VfErr *err)
{
    const VfArray *array = &output->array;
    if (array->count == 0 || !vf_dtype_info(array->dtype)->is_float)
        return VF_OK;
    for (size_t i = 0; i < array->count; i++)
        if (isfinite(vf_array_get_double(array, i)))
            return VF_OK;
    return vf_fail(err, VF_USAGE, "output '%s' of the original has no finite element on this data, "
                                  "and nothing can be compared with it: give other inputs",
                   vf_show(trial->arena, output->name));
}

static VfStatus measure_original(VfTrial *trial, VfErr *err)
{
    VitfoldModel *original;
    VF_TRY(vf_load_original(trial->model, &original, err));
    VfStatus status = run_model(trial, original, false, trial->want, &trial->original, err);
    trial->original.cosine = 1;
    for (size_t i = 0; i < trial->want->n_array && status == VF_OK; i++) {
        const VfArray *array = &trial->want->array[i].array;
        int64_t row = array->rank > 0 ? array->dims[array->rank - 1] : 0;
        trial->original.n_row += row > 0 ? (int64_t)array->count / row : 0;
        status = check_finite(trial, &trial->want->array[i], err);
    }
    trial->original.n_top1 = trial->original.n_row;
    if (status == VF_OK)
        status = measure(trial, original, true, &trial->noise, err);
    trial->has_noise = status == VF_OK;
    vitfold_model_free(original);
    return status;
}

VfStatus vf_trial_open(VfTrial *trial, const VitfoldModel *model,
                       const VitfoldPassOptions *passes, const VitfoldTrialOptions *options,
                       VfArena *arena, VfErr *err)
{
    *trial = (VfTrial){.arena = arena, .model = model, .passes = *passes, .options = options,
                       .want = vitfold_data_new(),
                       .progress = {.fn = options->progress, .user = options->progress_user,
                                    .what = "the original", .total = 1}};
    trial->passes.print = NULL;
    trial->passes.effect_in = NULL;
    VF_TRY_ALLOC(trial->want, err);
    if ((options->in == NULL) == (options->labelled == NULL))
        return vf_fail(err, VF_USAGE, "trials run on data or on labelled samples, on one of both");
    if (options->labelled != NULL)
        VF_TRY(vf_labelled_open(arena, options->labelled, model, &options->eval, &trial->labelled,
                                err));
    VF_TRY(vf_progress_tell(&trial->progress, err));
    return measure_original(trial, err);
}

void vf_trial_close(VfTrial *trial)
{
    vitfold_data_free(trial->want);
}

VfStatus vf_trial_transform(const VfTrial *trial, int64_t stop_after, const VfSiteSearch *search,
                            VitfoldModel **result, VfErr *err)
{
    VitfoldPassOptions passes = trial->passes;
    VitfoldModel *model;
    passes.is_limited = stop_after >= 0;
    passes.stop_after = stop_after;
    VF_TRY(vf_load_original(trial->model, &model, err));
    VfStatus status = vf_run_passes(model, &passes, search, err);
    if (status == VF_OK)
        *result = model;
    else
        vitfold_model_free(model);
    return status;
}
