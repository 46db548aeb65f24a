#include "passes/manager.h"

#include <time.h>

#include "passes/ir/verify.h"

/* Rounds of clean-up; each pass settles by itself, so rounds only carry what one leaves for
 * another. */
enum { N_ROUND_MAX = 8 };

/* One run of a pipeline. */
typedef struct Run {
    VfModel *model;
    const VfPipelineOptions *options;
    VfJournal *journal;
    VfArena *arena;     /* of the pass that runs */
    VfPassStats *stats; /* may be NULL */
    int32_t n_stats;
} Run;

static int32_t count_cleanup(void)
{
    int32_t n = 0;
    for (int32_t i = 0; i < vf_pass_count; i++)
        n += vf_pass_table[i]->is_cleanup;
    return n;
}

int32_t vf_pipeline_stats_max(const VfPipeline *pipeline)
{
    return pipeline->n_item + (pipeline->n_item + 1) * N_ROUND_MAX * count_cleanup();
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static VfStatus settle(Run *run, const VfPass *pass, VfErr *err)
{
    VfStatus status = vf_infer_graph(run->model->graph, run->options->evaluator, err);
    bool is_revealed = status == VF_INVALID && pass->is_cleanup;
    if (status == VF_OK)
        status = vf_verify_all(run->model, err);
    if (status == VF_OK || status == VF_NO_MEMORY)
        return status;
    vf_context(err, "after pass '%s'", pass->name);
    /* Clean-up computes what the model says: a number that no operator takes, such as a negative
     * length, was hidden before and is the model's own fault. */
    if (is_revealed)
        return status;
    if (err != NULL)
        err->status = VF_INTERNAL;
    return VF_INTERNAL;
}

static void add_stats(Run *run, const VfPassStats *stats)
{
    if (run->stats != NULL)
        run->stats[run->n_stats++] = *stats;
}

/* A pass that does not take its options as they are says so when it runs. */
static VfStatus tell_where(const VfPipelineItem *item, VfErr *err)
{
    VfStatus status = vf_context(err, "pass '%s'", item->pass->name);
    return status == VF_USAGE && item->where != NULL ? vf_context(err, "%s", item->where) : status;
}

/* Run one pass. An item without edits left the model as it was, so it needs no check. */
static VfStatus run_pass(Run *run, const VfPipelineItem *item, bool is_item, int32_t n_edit_max,
                         VfErr *err)
{
    const VfJournal *journal = run->journal;
    VfPassStats stats = {
        .pass = item->pass, .is_item = is_item,
        .first_edit = journal->n_edit, .first_refusal = journal->n_refusal};
    VfPassCx cx = {.model = run->model,
                   .journal = run->journal,
                   .arena = run->arena,
                   .options = item->options,
                   .sites = item->sites,
                   .evaluator = run->options->evaluator,
                   .calibration = run->options->calibration,
                   .arrays = run->options->arrays,
                   .log = run->options->log,
                   .pass = item->pass->name,
                   .n_edit_max = n_edit_max};
    double start = now();
    cx.sites.seen = is_item ? run->options->seen : NULL;
    if (item->pass->run(&cx, err) != VF_OK)
        return tell_where(item, err);
    vf_arena_reset(run->arena);
    stats.n_edit = journal->n_edit - stats.first_edit;
    stats.n_refusal = journal->n_refusal - stats.first_refusal;
    if (stats.n_edit > 0)
        VF_TRY(settle(run, item->pass, err));
    stats.seconds = now() - start;
    add_stats(run, &stats);
    vf_log(run->options->log, VF_LOG_DETAIL, "%s: %d edits, %d refusals", item->pass->name,
           (int)stats.n_edit, (int)stats.n_refusal);
    if (run->options->after_pass == NULL)
        return VF_OK;
    return run->options->after_pass(run->options->after_pass_self, item->pass, run->model, err);
}

/* Options of a clean-up pass are its defaults. */
static VfStatus run_cleanup_pass(Run *run, const VfPass *pass, VfErr *err)
{
    VfPipelineItem item = {.pass = pass, .text = pass->name};
    VfArena *arena = NULL;
    VfStatus status = VF_OK;
    if (pass->option != NULL) {
        arena = vf_arena_new();
        VF_TRY_ALLOC(arena, err);
        item.options = vf_arena_alloc(arena, pass->options_bytes);
        status = item.options == NULL ? vf_no_memory(err)
                                      : vf_option_defaults(pass->option, item.options, arena, err);
    }
    if (status == VF_OK)
        status = run_pass(run, &item, false, -1, err);
    vf_arena_free(arena);
    return status;
}

static const VfPass *cleanup_pass(int32_t wanted)
{
    int32_t i = 0;
    while (!vf_pass_table[i]->is_cleanup || wanted-- > 0)
        i++;
    return vf_pass_table[i];
}

static VfClean clean_of(const VfEvaluator *evaluator)
{
    return evaluator == NULL ? VF_CLEAN_UNFOLDED : VF_CLEAN_WHOLE;
}

/* Whoever watches the passes sees whole rounds. Nobody misses those that can do nothing: when each
 * pass has run since the last edit, or the model was clean before. */
static VfStatus clean_up(Run *run, VfErr *err)
{
    VfClean goal = clean_of(run->options->evaluator);
    bool is_watched = run->options->after_pass != NULL;
    int32_t n_pass = count_cleanup(), n_idle = 0;
    if (!is_watched && run->model->clean >= goal)
        return VF_OK;
    for (int32_t k = 0; k < N_ROUND_MAX * n_pass; k++) {
        int32_t n_edit = run->journal->n_edit;
        VF_TRY(run_cleanup_pass(run, cleanup_pass(k % n_pass), err));
        n_idle = run->journal->n_edit == n_edit ? n_idle + 1 : 0;
        bool is_round_whole = !is_watched || (k + 1) % n_pass == 0;
        if (n_idle < n_pass || !is_round_whole)
            continue;
        run->model->clean = goal;
        break;
    }
    return VF_OK;
}

/* Retrained passes write masks and shapes out as nodes. The next pass is to see the constants that
 * they are, as it would in a run of its own. */
static VfStatus clean_up_for_next(Run *run, const VfPipelineItem *item, VfErr *err)
{
    bool is_needed = run->options->cleanup && item->pass->exactness == VF_RETRAINED;
    return is_needed ? clean_up(run, err) : VF_OK;
}

static VfStatus run_items(Run *run, const VfPipeline *pipeline, VfErr *err)
{
    int32_t left = run->options->stop_after;
    for (int32_t i = 0; i < pipeline->n_item; i++) {
        int32_t n_edit = run->journal->n_edit;
        int32_t limit;
        if (left < 0 || __builtin_add_overflow(n_edit, left, &limit))
            limit = -1;
        VF_TRY(run_pass(run, &pipeline->item[i], true, limit, err));
        n_edit = run->journal->n_edit - n_edit;
        if (left >= 0)
            left -= n_edit;
        if (n_edit > 0 && i + 1 < pipeline->n_item)
            VF_TRY(clean_up_for_next(run, &pipeline->item[i], err));
    }
    return VF_OK;
}

/* What is wrong before the first pass is the model's own fault. */
static VfStatus start(Run *run, VfErr *err)
{
    VF_TRY(vf_infer_graph(run->model->graph, run->options->evaluator, err));
    return vf_verify_all(run->model, err);
}

static VfStatus run_all(Run *run, const VfPipeline *pipeline, VfErr *err)
{
    VF_TRY(start(run, err));
    if (run->options->cleanup)
        VF_TRY(clean_up(run, err));
    VF_TRY(run_items(run, pipeline, err));
    if (run->options->cleanup)
        VF_TRY(clean_up(run, err));
    return VF_OK;
}

VfStatus vf_pipeline_run(VfModel *model, const VfPipeline *pipeline,
                         const VfPipelineOptions *options, VfJournal *journal, VfPassStats *stats,
                         int32_t *n_stats, VfErr *err)
{
    Run run = {.model = model, .options = options, .journal = journal, .stats = stats};
    run.arena = vf_arena_new();
    VF_TRY_ALLOC(run.arena, err);
    VfStatus status = run_all(&run, pipeline, err);
    vf_arena_free(run.arena);
    if (n_stats != NULL)
        *n_stats = run.n_stats;
    return status;
}

VfStatus vf_normalize_model(VfModel *model, const VfEvaluator *evaluator, VfJournal *journal,
                            VfErr *err)
{
    if (model->clean >= clean_of(evaluator))
        return VF_OK;
    VfPipelineOptions options = {.evaluator = evaluator, .stop_after = -1, .cleanup = true};
    Run run = {.model = model, .options = &options, .journal = journal};
    run.arena = vf_arena_new();
    VF_TRY_ALLOC(run.arena, err);
    VfStatus status = start(&run, err);
    if (status == VF_OK)
        status = clean_up(&run, err);
    vf_arena_free(run.arena);
    return status;
}
