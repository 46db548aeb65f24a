#include <string.h>

#include "converter/api/calibration.h"
#include "converter/api/effect.h"
#include "converter/lower/lower.h"
#include "converter/report/journal_report.h"
#include "passes/ir/vft.h"
#include "passes/opset/opset.h"

const char *vf_exactness_name(VfExactness exactness)
{
    static const char *const name[] = {
        [VF_EXACT] = "exact", [VF_ROUNDING] = "rounding", [VF_RETRAINED] = "retrained"};
    return name[exactness];
}

/* What watches the passes: --print-after and the numeric effect. */
typedef struct Watch {
    const VitfoldPassOptions *options;
    const VitfoldModel *model;
    bool is_printing;
} Watch;

static VfStatus print_model(const VfModel *ir, const Watch *watch, VfArena *arena, VfErr *err)
{
    VfText text;
    VfBytes done;
    vf_text_init(&text, arena);
    VF_TRY(vf_vft_print(ir, (VfVftStyle){.with_types = true}, &text, err));
    VF_TRY(vf_text_get(&text, &done, err));
    watch->options->print(watch->options->print_user, done.data, done.size);
    return VF_OK;
}

static VfStatus print_after(const Watch *watch, const VfPass *pass, const VfModel *ir, VfErr *err)
{
    const char *wanted = watch->options->print_after;
    if (strcmp(wanted, "all") != 0 && strcmp(wanted, pass->name) != 0)
        return VF_OK;
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    VfStatus status = print_model(ir, watch, arena, err);
    vf_arena_free(arena);
    return status;
}

static VfStatus after_pass(void *self, const VfPass *pass, const VfModel *ir, VfErr *err)
{
    const Watch *watch = self;
    if (watch->is_printing)
        VF_TRY(print_after(watch, pass, ir, err));
    if (watch->model->effect == NULL)
        return VF_OK;
    return vf_effect_add(watch->model->effect, watch->model, pass->name, err);
}

static VfStatus read_recipe(VitfoldModel *model, const VitfoldPassOptions *options,
                            const VfSiteSearch *search, VfPipeline *pipeline, VfErr *err)
{
    const char *name = options->recipe != NULL ? options->recipe : "recipe";
    if (search->recipe.size > 0)
        VF_TRY(vf_recipe_read(model->arena, search->recipe, name, model->recipe, err));
    else
        VF_TRY(vf_recipe_load(model->arena, name, model->recipe, err));
    return vf_recipe_pipeline(model->arena, model->recipe, name, options->skip, pipeline, err);
}

/* The pipeline that is asked for, by words or by recipe, and its recipe. */
static VfStatus choose_passes(VitfoldModel *model, const VitfoldPassOptions *options,
                              const VfSiteSearch *search, VfPipeline *pipeline, VfErr *err)
{
    const char *words = options->passes == NULL ? "default" : options->passes;
    bool has_recipe = options->recipe != NULL || search->recipe.size > 0;
    if (options->passes != NULL && options->recipe != NULL)
        return vf_fail(err, VF_USAGE, "passes are named and a recipe is given: one of both");
    model->recipe = VF_NEW(model->arena, VfRecipe);
    VF_TRY_ALLOC(model->recipe, err);
    model->has_implied = has_recipe || strcmp(words, "default") == 0;
    if (has_recipe) {
        VF_TRY(read_recipe(model, options, search, pipeline, err));
    } else {
        model->recipe->is_bare = strcmp(words, "none") == 0;
        VF_TRY(vf_pipeline_parse(model->arena, words, options->skip, pipeline, err));
    }
    if (search->sites != NULL && pipeline->n_item != 1)
        return vf_fail(err, VF_USAGE, "'%s' is %d passes, sites are those of one", words,
                       pipeline->n_item);
    if (search->sites != NULL)
        pipeline->item[0].sites.spec = search->sites;
    return vf_recipe_describe(model->arena, pipeline, options->skip, model->recipe, err);
}

/* Before the passes: a newer opset has operators that they put in place. */
static VfStatus change_versions(VitfoldModel *model, const VitfoldPassOptions *options, VfErr *err)
{
    if (options->opset != 0)
        VF_TRY(vf_opset_change(model->ir, options->opset, vf_evaluator(), model->journal, err));
    if (options->ir_version != 0)
        VF_TRY(vf_ir_version_change(model->ir, options->ir_version, err));
    return VF_OK;
}

static VfStatus take_samples(const VitfoldModel *model, const VitfoldPassOptions *options,
                             const VfCalibration **calibration, VfErr *err)
{
    *calibration = NULL;
    if (options->calibration == NULL)
        return VF_OK;
    VF_TRY(vf_calibration_check(model->arena, model, options->calibration, err));
    return vf_calibration_new(model->arena, model, options->calibration, calibration, err);
}

static VfStatus begin_effect(VitfoldModel *model, const VitfoldPassOptions *options, VfErr *err)
{
    vf_effect_free(model->effect);
    model->effect = NULL;
    if (options->effect_in == NULL)
        return VF_OK;
    return vf_effect_new(model, options->effect_in, &options->effect_run, &model->effect, err);
}

static VfStatus run_pipeline(VitfoldModel *model, const VitfoldPassOptions *options,
                             const VfSiteSearch *search, VfErr *err)
{
    VfPipeline pipeline;
    Watch watch = {options, model, options->print != NULL && options->print_after != NULL};
    VF_TRY(choose_passes(model, options, search, &pipeline, err));
    if (watch.is_printing && strcmp(options->print_after, "all") != 0 &&
        vf_pass_find(options->print_after) == NULL)
        return vf_pass_unknown(options->print_after, err);
    VfPipelineOptions running = {
        .evaluator = vf_evaluator(),
        .arrays = vf_array_reader(),
        .log = &model->log,
        .seen = search->seen,
        .stop_after = options->is_limited ? (int32_t)options->stop_after : -1,
        .cleanup = !model->recipe->is_bare,
        .after_pass = watch.is_printing || options->effect_in != NULL ? after_pass : NULL,
        .after_pass_self = &watch,
    };
    if (take_samples(model, options, &running.calibration, err) != VF_OK)
        return vf_context(err, "calibration data");
    model->journal = vf_journal_new(model->ir);
    VF_TRY_ALLOC(model->journal, err);
    model->stats = VF_NEW_ARRAY(model->arena, VfPassStats,
                                (size_t)vf_pipeline_stats_max(&pipeline));
    VF_TRY_ALLOC(model->stats, err);
    VF_TRY(begin_effect(model, options, err));
    VF_TRY(change_versions(model, options, err));
    if (model->effect != NULL)
        VF_TRY(vf_effect_add(model->effect, model, "opset", err));
    return vf_pipeline_run(model->ir, &pipeline, &running, model->journal, model->stats,
                           &model->n_stats, err);
}

VfStatus vf_run_passes(VitfoldModel *model, const VitfoldPassOptions *options,
                       const VfSiteSearch *search, VfErr *err)
{
    static const VfSiteSearch none;
    VF_TRY(run_pipeline(model, options, search == NULL ? &none : search, err));
    model->exactness = VF_EXACT;
    for (int32_t i = 0; i < model->n_stats; i++)
        if (model->stats[i].n_edit > 0 && model->stats[i].pass->exactness > model->exactness)
            model->exactness = model->stats[i].pass->exactness;
    return VF_OK;
}

static VfStatus transform(VitfoldModel *model, const VitfoldPassOptions *options,
                          VitfoldReport *report, VfErr *err)
{
    VF_TRY(vf_run_passes(model, options, NULL, err));
    VF_TRY(vf_journal_text(model->journal, &report->out, err));
    vf_json_string(&report->json, "file", model->path);
    VF_TRY(vf_journal_json(model->journal, &report->json, err));
    vf_effect_json(model->effect, &report->json);
    vf_effect_text(model->effect, report->arena, &report->out);
    return vf_effect_svg(model->effect, report->arena, &report->svg, err);
}

int vitfold_transform(VitfoldModel *model, const VitfoldPassOptions *options,
                      VitfoldReport **result, VitfoldError *err)
{
    static const VitfoldPassOptions defaults;
    VitfoldReport *report;
    const VitfoldPassOptions *given = options == NULL ? &defaults : options;
    if (result == NULL)
        return (int)vf_run_passes(model, given, NULL, err);
    VfStatus status = vf_report_begin("vitfold.journal.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    status = transform(model, given, report, err);
    return (int)vf_report_finish(report, status, result, err);
}

size_t vitfold_model_n_refusal(const VitfoldModel *model)
{
    size_t n = 0;
    for (int32_t i = 0; model->journal != NULL && i < model->journal->n_refusal; i++)
        n += !model->journal->refusal[i].is_no_site;
    return n;
}

bool vf_model_asks_for(const VitfoldModel *model, const VfPass *pass)
{
    return !pass->is_cleanup && !(model->has_implied && pass->is_default);
}

static const VfPass *find_idle(const VitfoldModel *model, size_t wanted, size_t *n)
{
    *n = 0;
    for (int32_t i = 0; i < model->n_stats; i++) {
        const VfPassStats *stats = &model->stats[i];
        bool is_idle = stats->n_edit == 0 && vf_model_asks_for(model, stats->pass);
        if (is_idle && (*n)++ == wanted)
            return stats->pass;
    }
    return NULL;
}

size_t vitfold_model_n_idle_pass(const VitfoldModel *model)
{
    size_t n;
    find_idle(model, SIZE_MAX, &n);
    return n;
}

const char *vitfold_model_idle_pass(const VitfoldModel *model, size_t i)
{
    size_t n;
    const VfPass *pass = find_idle(model, i, &n);
    return pass == NULL ? NULL : pass->name;
}
