/* Each site of a pass alone, and which of them fit together within a budget. */
#include "converter/api/sensitivity.h"

#include <stdlib.h>
#include <string.h>

/* --- sites --- */

static int by_index(const void *a, const void *b)
{
    const VfSeenSite *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* Run the pass as it is asked for and see which sites it looks at. */
static VfStatus find_sites(VfSensitivity *cx, VfSitesSeen *seen, VfErr *err)
{
    VitfoldModel *model;
    VfSiteSearch search = {.seen = seen};
    VF_TRY(vf_trial_transform(&cx->trial, -1, &search, &model, err));
    int32_t n_pass = model->recipe->n_pass;
    vitfold_model_free(model);
    if (n_pass != 1)
        return vf_fail(err, VF_USAGE, "'%s' is %d passes, sensitivity takes one",
                       cx->trial.passes.passes, n_pass);
    int32_t n = 0;
    for (int32_t i = 0; i < seen->n_site; i++)
        if (seen->site[i].is_selected)
            seen->site[n++] = seen->site[i];
    seen->n_site = cx->n_all = n;
    if (n > 1)
        qsort(seen->site, (size_t)n, sizeof *seen->site, by_index);
    return VF_OK;
}

static int32_t count_edits(const VitfoldModel *model)
{
    int32_t n = 0;
    for (int32_t i = 0; i < model->n_stats; i++)
        n += model->stats[i].is_item ? model->stats[i].n_edit : 0;
    return n;
}

static VfStatus take_reason(VfSensitivity *cx, const VitfoldModel *model, VfSiteEffect *site,
                            VfErr *err)
{
    const char *reason = model->journal->n_refusal > 0 ? model->journal->refusal[0].reason
                                                       : "nothing to change";
    site->why = vf_arena_string(cx->arena, reason);
    VF_TRY_ALLOC(site->why, err);
    return VF_OK;
}

static VfStatus measure_sites(VfSensitivity *cx, const char *sites, int32_t *n_edit,
                              VfNumbers *numbers, VfSiteEffect *refused, VfErr *err)
{
    VitfoldModel *model;
    VfSiteSearch search = {.sites = sites};
    VF_TRY(vf_trial_transform(&cx->trial, -1, &search, &model, err));
    *n_edit = count_edits(model);
    VfStatus status = *n_edit > 0     ? vf_trial_measure(&cx->trial, model, numbers, err)
                      : refused != NULL ? take_reason(cx, model, refused, err)
                                        : VF_OK;
    vitfold_model_free(model);
    return status;
}

static VfStatus try_site(VfSensitivity *cx, const VfSeenSite *seen, VfErr *err)
{
    VfSiteEffect *site = &cx->site[cx->n_site];
    const char *sites = vf_arena_printf(cx->arena, "%d", seen->index);
    VF_TRY_ALLOC(sites, err);
    *site = (VfSiteEffect){.index = seen->index, .name = seen->label};
    VF_TRY(vf_progress_step(&cx->trial.progress, seen->label, err));
    VfStatus status = measure_sites(cx, sites, &site->n_edit, &site->numbers, site, err);
    if (status == VF_CANCELLED)
        return status;
    if (status != VF_OK)
        return vf_context(err, "site %d", seen->index);
    if (site->n_edit > 0)
        site->loss = vf_metric_loss(&site->numbers, &cx->trial.original, cx->metric);
    cx->n_site++;
    return VF_OK;
}

/* Most harmful first; what was left alone last. */
static int by_loss(const void *a, const void *b)
{
    const VfSiteEffect *x = a, *y = b;
    bool has_x = x->n_edit > 0, has_y = y->n_edit > 0;
    if (has_x != has_y)
        return has_x ? -1 : 1;
    if (x->loss < y->loss || x->loss > y->loss)
        return x->loss > y->loss ? -1 : 1;
    if (x->numbers.rel < y->numbers.rel || x->numbers.rel > y->numbers.rel)
        return x->numbers.rel > y->numbers.rel ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static VfStatus try_all(VfSensitivity *cx, const VfSitesSeen *seen, VfErr *err)
{
    VfStatus status = VF_OK;
    cx->site = VF_NEW_ARRAY(cx->arena, VfSiteEffect, (size_t)seen->n_site);
    VF_TRY_ALLOC(cx->site, err);
    for (int32_t i = 0; i < seen->n_site && status == VF_OK; i++)
        status = try_site(cx, &seen->site[i], err);
    if (cx->n_site > 1)
        qsort(cx->site, (size_t)cx->n_site, sizeof *cx->site, by_loss);
    return status;
}

/* --- budget --- */

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* "0,2,5" of `n` numbers and one more. */
static VfStatus join_sites(VfSensitivity *cx, const int32_t *taken, int32_t n, int32_t more,
                           const char **sites, VfErr *err)
{
    VfText text;
    VfBytes done;
    int32_t *number = VF_NEW_ARRAY(cx->arena, int32_t, (size_t)n + 1);
    VF_TRY_ALLOC(number, err);
    memcpy(number, taken, (size_t)n * sizeof *number);
    number[n] = more;
    qsort(number, (size_t)n + 1, sizeof *number, by_number);
    vf_text_init(&text, cx->arena);
    for (int32_t i = 0; i <= n; i++)
        vf_text_printf(&text, i == 0 ? "%d" : ",%d", number[i]);
    VF_TRY(vf_text_get(&text, &done, err));
    *sites = done.data;
    return VF_OK;
}

/* Add `site` to those that were taken if all together stay within the budget. */
static VfStatus try_more(VfSensitivity *cx, const VfSiteEffect *site, int32_t *taken, VfErr *err)
{
    VfSiteBudget *budget = &cx->budget;
    VfNumbers numbers = site->numbers;
    const char *sites = NULL;
    int32_t n_edit;
    VF_TRY(join_sites(cx, taken, budget->n_site, site->index, &sites, err));
    if (budget->n_site > 0) {
        VF_TRY(vf_progress_step(&cx->trial.progress, sites, err));
        VF_TRY(measure_sites(cx, sites, &n_edit, &numbers, NULL, err));
    }
    double loss = vf_metric_loss(&numbers, &cx->trial.original, cx->metric);
    if (!(loss <= budget->limit))
        return VF_OK;
    taken[budget->n_site++] = site->index;
    budget->sites = sites;
    budget->numbers = numbers;
    budget->loss = loss;
    return VF_OK;
}

static VfStatus take_recipe(VfSensitivity *cx, VfErr *err)
{
    VitfoldModel *model;
    VfSiteSearch search = {.sites = cx->budget.sites};
    const char *text;
    size_t size;
    VF_TRY(vf_trial_transform(&cx->trial, -1, &search, &model, err));
    VfStatus status = (VfStatus)vitfold_model_recipe(model, &text, &size, err);
    if (status == VF_OK) {
        char *copy = vf_arena_copy(cx->arena, text, size);
        status = copy == NULL ? vf_no_memory(err) : VF_OK;
        cx->budget.recipe = (VfBytes){copy, size};
    }
    vitfold_model_free(model);
    return status;
}

/* What stands in the recipe is run once more from its text. */
static VfStatus verify(VfSensitivity *cx, VfErr *err)
{
    VitfoldModel *model;
    VfNumbers numbers;
    VF_TRY(vf_progress_step(&cx->trial.progress, "the recipe", err));
    VF_TRY(take_recipe(cx, err));
    VfTrial trial = cx->trial;
    VfSiteSearch search = {.recipe = cx->budget.recipe};
    trial.passes.passes = NULL;
    VF_TRY(vf_trial_transform(&trial, -1, &search, &model, err));
    VfStatus status = vf_trial_measure(&trial, model, &numbers, err);
    vitfold_model_free(model);
    VF_TRY(status);
    double loss = vf_metric_loss(&numbers, &trial.original, cx->metric);
    if (loss < cx->budget.loss || loss > cx->budget.loss)
        return vf_fail(err, VF_INTERNAL, "the recipe for sites %s loses %g, not %g",
                       cx->budget.sites, loss, cx->budget.loss);
    cx->budget.is_verified = true;
    return VF_OK;
}

/* Least harmful first. A site that is beyond the budget alone is not tried with others. */
static VfStatus spend(VfSensitivity *cx, VfErr *err)
{
    int32_t *taken = VF_NEW_ARRAY(cx->arena, int32_t, (size_t)cx->n_site);
    VF_TRY_ALLOC(taken, err);
    cx->trial.progress.total += (size_t)cx->n_site + 1;
    for (int32_t i = cx->n_site - 1; i >= 0; i--) {
        const VfSiteEffect *site = &cx->site[i];
        if (site->n_edit > 0 && site->loss <= cx->budget.limit)
            VF_TRY(try_more(cx, site, taken, err));
    }
    return cx->budget.n_site > 0 ? verify(cx, err) : VF_OK;
}

/* --- report --- */

static VfStatus search(VfSensitivity *cx, VfErr *err)
{
    VfSitesSeen seen = {.arena = cx->arena};
    VF_TRY(find_sites(cx, &seen, err));
    cx->trial.progress.total = 1 + (size_t)seen.n_site;
    VF_TRY(try_all(cx, &seen, err));
    return cx->has_budget ? spend(cx, err) : VF_OK;
}

static VfStatus choose_metric(VfSensitivity *cx, const char *name, bool has_labels, VfErr *err)
{
    const char *usual = has_labels ? "accuracy" : "rel";
    return vf_metric_find(name == NULL ? usual : name, has_labels, &cx->metric, err);
}

static VfStatus run(VfSensitivity *cx, const VitfoldModel *model, const VitfoldPassOptions *passes,
                    const VitfoldTrialOptions *options, const char *metric,
                    VitfoldReport *report, VfErr *err)
{
    VF_TRY(choose_metric(cx, metric, options->labelled != NULL, err));
    VfStatus status = vf_trial_open(&cx->trial, model, passes, options, cx->arena, err);
    if (status == VF_OK)
        status = search(cx, err);
    if (status == VF_OK || status == VF_CANCELLED) {
        vf_sensitivity_json(cx, status == VF_OK, &report->json);
        vf_sensitivity_text(cx, status == VF_OK, &report->out);
        vf_sensitivity_svg(cx, &report->svg);
        if (cx->budget.is_verified)
            report->recipe = cx->budget.recipe;
    }
    vf_trial_close(&cx->trial);
    if (status == VF_OK && cx->has_budget && cx->budget.n_site == 0)
        return vf_fail(err, VF_DIFFERS, "no site fits within %g", cx->budget.limit);
    return status;
}

int vitfold_sensitivity(const VitfoldModel *model, const VitfoldPassOptions *pass,
                        const VitfoldTrialOptions *trial,
                        const VitfoldSensitivityOptions *options, VitfoldReport **result,
                        VitfoldError *err)
{
    static const VitfoldSensitivityOptions defaults;
    const VitfoldSensitivityOptions *o = options == NULL ? &defaults : options;
    VitfoldReport *report;
    if (pass == NULL || pass->passes == NULL)
        return (int)vf_fail(err, VF_USAGE, "sensitivity needs a pass");
    VfStatus status = vf_report_begin("vitfold.sensitivity.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    VfSensitivity cx = {.arena = report->arena, .has_budget = o->has_budget != 0,
                        .budget = {.limit = o->budget}};
    status = run(&cx, model, pass, trial, o->metric, report, err);
    return (int)vf_report_finish(report, status, result, err);
}
