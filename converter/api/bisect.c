/* The first pass, and of its edits one, that breaks a limit.
 *
 * States are the model after the clean-up and the first N edits of its passes, N = 0, 1, ... The
 * ends of the passes are tried in their order, so the pass is the first. Between its ends edits
 * are bisected: N - 1 edits keep all limits, N do not.
 */
#include "converter/api/bisect.h"

static VfStatus find_metrics(VfBisect *cx, bool has_labels, VfErr *err)
{
    cx->metric = VF_NEW_ARRAY(cx->arena, VfMetric, cx->n_threshold);
    VF_TRY_ALLOC(cx->metric, err);
    if (cx->n_threshold == 0)
        return vf_fail(err, VF_USAGE, "bisect needs a threshold");
    for (size_t i = 0; i < cx->n_threshold; i++)
        VF_TRY(vf_metric_find(cx->threshold[i].metric, has_labels, &cx->metric[i], err));
    return VF_OK;
}

/* --- states --- */

static VfStatus copy_text(VfBisect *cx, const char *text, const char **copy, VfErr *err)
{
    *copy = text == NULL ? NULL : vf_arena_string(cx->arena, text);
    return text != NULL && *copy == NULL ? vf_no_memory(err) : VF_OK;
}

static VfStatus copy_edit(VfBisect *cx, const VfEdit *from, VfLastEdit *to, VfErr *err)
{
    VF_TRY(copy_text(cx, from->pass, &to->pass, err));
    VF_TRY(copy_text(cx, from->rule, &to->rule, err));
    VF_TRY(copy_text(cx, from->site, &to->site, err));
    VF_TRY(copy_text(cx, from->note, &to->note, err));
    to->node = VF_NEW_ARRAY(cx->arena, const char *, (size_t)from->n_before);
    VF_TRY_ALLOC(to->node, err);
    for (; to->n_node < from->n_before; to->n_node++)
        VF_TRY(copy_text(cx, vf_node_label(from->before[to->n_node]), &to->node[to->n_node],
                         err));
    return VF_OK;
}

/* The last edit that counts, that is one of the passes asked for and not of the clean-up. */
static VfStatus take_last_edit(VfBisect *cx, const VitfoldModel *model, VfLastEdit *edit,
                               VfErr *err)
{
    const VfEdit *last = NULL;
    for (int32_t i = 0; i < model->n_stats; i++) {
        const VfPassStats *stats = &model->stats[i];
        if (stats->is_item && stats->n_edit > 0)
            last = &model->journal->edit[stats->first_edit + stats->n_edit - 1];
    }
    return last == NULL ? VF_OK : copy_edit(cx, last, edit, err);
}

int vf_bisect_broken(const VfBisect *cx, const VfNumbers *numbers)
{
    for (size_t i = 0; i < cx->n_threshold; i++)
        if (vf_metric_breaks(numbers, cx->metric[i], cx->threshold[i].value))
            return (int)i;
    return -1;
}

static VfStatus keep_state(VfBisect *cx, const VfBisectState *state, VfErr *err)
{
    void *items = cx->state;
    VF_TRY(vf_arena_grow(cx->arena, &items, &cx->capacity, cx->n_state + 1, sizeof *cx->state,
                         err));
    cx->state = items;
    cx->state[cx->n_state++] = *state;
    return VF_OK;
}

static VfStatus try_state(VfBisect *cx, int64_t n_edit, const char *what, VfBisectState *state,
                          VfErr *err)
{
    VitfoldModel *model;
    *state = (VfBisectState){.n_edit = n_edit};
    VF_TRY(vf_progress_step(&cx->trial.progress, what, err));
    VF_TRY(vf_trial_transform(&cx->trial, n_edit, NULL, &model, err));
    VfStatus status = take_last_edit(cx, model, &state->edit, err);
    if (status == VF_OK)
        status = vf_trial_measure(&cx->trial, model, &state->numbers, err);
    vitfold_model_free(model);
    if (status != VF_OK)
        return vf_context(err, "with %lld edits", (long long)n_edit);
    state->broken = vf_bisect_broken(cx, &state->numbers);
    return keep_state(cx, state, err);
}

/* --- search --- */

/* Run everything once to see which passes edit, and how often. */
static VfStatus find_ends(VfBisect *cx, VfErr *err)
{
    VitfoldModel *model;
    int64_t n_edit = 0;
    VF_TRY(vf_trial_transform(&cx->trial, -1, NULL, &model, err));
    cx->end = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)model->n_stats);
    cx->pass = VF_NEW_ARRAY(cx->arena, const char *, (size_t)model->n_stats);
    bool has_room = cx->end != NULL && cx->pass != NULL;
    for (int32_t i = 0; i < model->n_stats && has_room; i++) {
        const VfPassStats *stats = &model->stats[i];
        if (!stats->is_item || stats->n_edit == 0)
            continue;
        n_edit += stats->n_edit;
        cx->end[cx->n_pass] = n_edit;
        cx->pass[cx->n_pass++] = stats->pass->name;
    }
    vitfold_model_free(model);
    return has_room ? VF_OK : vf_no_memory(err);
}

static VfStatus bisect_edits(VfBisect *cx, VfErr *err)
{
    while (cx->found.n_edit - cx->before.n_edit > 1) {
        VfBisectState middle;
        int64_t n_edit = cx->before.n_edit + (cx->found.n_edit - cx->before.n_edit) / 2;
        VF_TRY(try_state(cx, n_edit, cx->found.edit.pass, &middle, err));
        *(middle.broken < 0 ? &cx->before : &cx->found) = middle;
    }
    return VF_OK;
}

/* How many steps a search takes at most: the original, a state for each pass, halvings. */
static void expect_steps(VfBisect *cx)
{
    int64_t most = 1;
    for (int32_t i = 0; i < cx->n_pass; i++) {
        int64_t n = cx->end[i] - (i == 0 ? 0 : cx->end[i - 1]);
        most = n > most ? n : most;
    }
    cx->trial.progress.total = 2 + (size_t)cx->n_pass;
    for (; most > 1; most = (most + 1) / 2)
        cx->trial.progress.total++;
}

static VfStatus search(VfBisect *cx, VfErr *err)
{
    VfBisectState state;
    VF_TRY(find_ends(cx, err));
    expect_steps(cx);
    VF_TRY(try_state(cx, 0, "clean-up", &state, err));
    for (int32_t i = 0; i < cx->n_pass && state.broken < 0; i++) {
        cx->before = state;
        cx->pass_begin = state.n_edit;
        cx->pass_end = cx->end[i];
        VF_TRY(try_state(cx, cx->end[i], cx->pass[i], &state, err));
    }
    cx->found = state;
    cx->has_found = state.broken >= 0;
    return cx->has_found && state.n_edit > 0 ? bisect_edits(cx, err) : VF_OK;
}

static VfStatus run(VfBisect *cx, const VitfoldModel *model, const VitfoldPassOptions *passes,
                    const VitfoldTrialOptions *options, VitfoldReport *report, VfErr *err)
{
    VF_TRY(find_metrics(cx, options->labelled != NULL, err));
    VfStatus status = vf_trial_open(&cx->trial, model, passes, options, cx->arena, err);
    if (status == VF_OK)
        status = search(cx, err);
    if (status == VF_OK || status == VF_CANCELLED) {
        vf_bisect_json(cx, status == VF_OK, &report->json);
        vf_bisect_text(cx, status == VF_OK, &report->out);
    }
    vf_trial_close(&cx->trial);
    if (status == VF_OK && cx->has_found)
        return vf_fail(err, VF_DIFFERS, "%s breaks a threshold",
                       cx->found.edit.pass == NULL ? "clean-up" : cx->found.edit.pass);
    return status;
}

int vitfold_bisect(const VitfoldModel *model, const VitfoldPassOptions *passes,
                   const VitfoldTrialOptions *trial, const VitfoldThreshold *threshold,
                   size_t n_threshold, VitfoldReport **result, VitfoldError *err)
{
    static const VitfoldPassOptions defaults;
    VitfoldReport *report;
    VfStatus status = vf_report_begin("vitfold.bisect.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    VfBisect cx = {.threshold = threshold, .n_threshold = n_threshold, .arena = report->arena};
    status = run(&cx, model, passes == NULL ? &defaults : passes, trial, report, err);
    return (int)vf_report_finish(report, status, result, err);
}
