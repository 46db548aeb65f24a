/* Why sites were matched or not: the matcher's own misses, then what each pass says when it is
 * tried on a copy of the model. */
#include <fnmatch.h>
#include <string.h>

#include "converter/api/explanation.h"
#include "converter/api/handle.h"
#include "converter/lower/lower.h"

typedef struct Explainer {
    const VitfoldModel *model;
    const char *node; /* glob or NULL */
    VfExplanation *to;
} Explainer;

static bool is_wanted(const Explainer *cx, const char *label, const VfNode *node)
{
    if (cx->node == NULL || (label != NULL && fnmatch(cx->node, label, 0) == 0))
        return true;
    return node != NULL && fnmatch(cx->node, vf_node_label(node), 0) == 0;
}

static VfStatus keep_text(VfArena *arena, const char **text, VfErr *err)
{
    if (*text == NULL)
        return VF_OK;
    *text = vf_arena_string(arena, *text);
    VF_TRY_ALLOC(*text, err);
    return VF_OK;
}

VfStatus vf_said_add(VfArena *arena, VfSaidList *list, const VfSaid *said, VfErr *err)
{
    void *items = list->item;
    VF_TRY(vf_arena_grow(arena, &items, &list->capacity, list->n + 1, sizeof *list->item, err));
    list->item = items;
    VfSaid *copy = &list->item[list->n];
    *copy = *said;
    VF_TRY(keep_text(arena, &copy->site, err));
    VF_TRY(keep_text(arena, &copy->node, err));
    VF_TRY(keep_text(arena, &copy->rule, err));
    VF_TRY(keep_text(arena, &copy->reason, err));
    list->n++;
    return VF_OK;
}

static VfStatus add_site(const Explainer *cx, const VfAttention *site, VfErr *err)
{
    VfSaid said = {.site = site->label, .reason = site->why, .index = site->index,
                   .kind = vf_attention_kind_name(site->kind)};
    return is_wanted(cx, site->label, site->norm_node)
               ? vf_said_add(cx->to->arena, &cx->to->attention, &said, err) : VF_OK;
}

static VfStatus add_miss(const Explainer *cx, const VfMiss *miss, VfErr *err)
{
    const char *label = vf_node_label(miss->node);
    VfSaid said = {.site = label, .node = label, .rule = miss->rule, .reason = miss->reason};
    return is_wanted(cx, NULL, miss->node)
               ? vf_said_add(cx->to->arena, &cx->to->miss, &said, err) : VF_OK;
}

static VfStatus explain_matcher(const Explainer *cx, VfModel *clean, VfErr *err)
{
    VfAttentions found;
    VfNorms norms;
    VF_TRY(vf_find_attention(cx->to->arena, clean, &found, err));
    for (int32_t i = 0; i < found.n_site; i++)
        VF_TRY(add_site(cx, &found.site[i], err));
    for (int32_t i = 0; i < found.n_miss; i++)
        VF_TRY(add_miss(cx, &found.miss[i], err));
    if (cx->node == NULL)
        return VF_OK;
    VF_TRY(vf_find_norms(cx->to->arena, clean, &norms, err));
    return vf_explain_nodes(cx->to, clean, cx->node, &found, &norms, err);
}

static VfStatus add_edit(const Explainer *cx, VfSaidPass *pass, const VfEdit *edit, VfErr *err)
{
    VfSaid said = {.site = edit->site, .rule = edit->rule};
    const VfNode *first = edit->n_before > 0 ? edit->before[0] : NULL;
    return is_wanted(cx, edit->site, first)
               ? vf_said_add(cx->to->arena, &pass->site, &said, err) : VF_OK;
}

static VfStatus add_refusal(const Explainer *cx, VfSaidPass *pass, const VfRefusal *refusal,
                            VfErr *err)
{
    const char *node = refusal->node == NULL ? NULL : vf_node_label(refusal->node);
    VfSaid said = {.site = refusal->site, .node = node, .reason = refusal->reason};
    return is_wanted(cx, refusal->site, refusal->node)
               ? vf_said_add(cx->to->arena, &pass->site, &said, err) : VF_OK;
}

static VfStatus add_sites(const Explainer *cx, VfSaidPass *pass, const VfJournal *journal,
                          VfErr *err)
{
    for (int32_t i = 0; i < journal->n_edit; i++)
        VF_TRY(add_edit(cx, pass, &journal->edit[i], err));
    for (int32_t i = 0; i < journal->n_refusal; i++)
        VF_TRY(add_refusal(cx, pass, &journal->refusal[i], err));
    return VF_OK;
}

static VfStatus run_pass(const Explainer *cx, const char *words, VfModel *clean,
                         VfJournal *journal, VfErr *err)
{
    VfPipeline pipeline;
    VfArena *arena = cx->to->arena;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1};
    int32_t n_stats;
    VF_TRY(vf_pipeline_parse(arena, words, NULL, &pipeline, err));
    VfPassStats *stats = VF_NEW_ARRAY(arena, VfPassStats,
                                      (size_t)vf_pipeline_stats_max(&pipeline));
    VF_TRY_ALLOC(stats, err);
    return vf_pipeline_run(clean, &pipeline, &options, journal, stats, &n_stats, err);
}

/* Run the pass alone on `clean`, which is thrown away afterwards. One that asks for more than its
 * defaults, such as data, cannot be tried like this. */
static VfStatus try_pass(const Explainer *cx, const VfPass *pass, const char *words,
                         VfModel *clean, VfErr *err)
{
    VfJournal *journal = vf_journal_new(clean);
    VfSaidPass *said = &cx->to->pass[cx->to->n_pass];
    VfErr why = {0};
    VF_TRY_ALLOC(journal, err);
    *said = (VfSaidPass){.name = pass->name};
    VfStatus status = run_pass(cx, words, clean, journal, &why);
    bool is_untried = status == VF_USAGE && strcmp(words, pass->name) == 0;
    if (status != VF_OK && !is_untried)
        return vf_fail(err, status, "%s", why.text);
    cx->to->n_pass++;
    if (!is_untried)
        return add_sites(cx, said, journal, err);
    said->untried = why.text;
    return keep_text(cx->to->arena, &said->untried, err);
}

/* `words` name this pass, perhaps with options behind a colon. */
static bool is_named(const char *words, const VfPass *pass)
{
    size_t n = strcspn(words, ":");
    return strlen(pass->name) == n && memcmp(words, pass->name, n) == 0;
}

static VfStatus check_named(const Explainer *cx, const char *words, VfErr *err)
{
    for (int32_t i = 0; i < vf_pass_count; i++)
        if (is_named(words, vf_pass_table[i]))
            return VF_OK;
    const char *name = vf_arena_copy(cx->to->arena, words, strcspn(words, ":"));
    VF_TRY_ALLOC(name, err);
    return vf_pass_unknown(name, err);
}

static VfStatus try_on_copy(const Explainer *cx, const VfPass *pass, const char *words,
                            VfErr *err)
{
    VfModel *clean;
    VF_TRY(vf_load_clean(cx->model, NULL, 0, &clean, err));
    VfStatus status = try_pass(cx, pass, words == NULL ? pass->name : words, clean, err);
    vf_model_free(clean);
    return status;
}

static VfStatus explain_passes(const Explainer *cx, const char *words, VfErr *err)
{
    cx->to->pass = VF_NEW_ARRAY(cx->to->arena, VfSaidPass, (size_t)vf_pass_count);
    VF_TRY_ALLOC(cx->to->pass, err);
    for (int32_t i = 0; i < vf_pass_count; i++) {
        const VfPass *pass = vf_pass_table[i];
        if (words == NULL ? !pass->is_cleanup : is_named(words, pass))
            VF_TRY(try_on_copy(cx, pass, words, err));
    }
    return VF_OK;
}

/* A node that clean-up took away is shown as the file has it; a name that is nowhere is a slip of
 * the pen. */
static VfStatus look_in_file(const Explainer *cx, VfErr *err)
{
    VfExplanation *to = cx->to;
    size_t n = to->attention.n + to->miss.n + to->n_detail;
    for (size_t i = 0; i < to->n_pass; i++)
        n += to->pass[i].site.n;
    if (cx->node == NULL || n > 0)
        return VF_OK;
    to->is_of_file = true;
    VF_TRY(vf_explain_nodes(to, cx->model->ir, cx->node, NULL, NULL, err));
    return to->n_detail > 0 ? VF_OK
                            : vf_fail(err, VF_USAGE, "'%s': no node or site is named '%s'",
                                      cx->model->path, cx->node);
}

static VfStatus explain(const Explainer *cx, const char *words, VfErr *err)
{
    VfModel *clean;
    if (words != NULL)
        VF_TRY(check_named(cx, words, err));
    VF_TRY(vf_load_clean(cx->model, NULL, 0, &clean, err));
    VfStatus status = explain_matcher(cx, clean, err);
    if (status == VF_OK)
        status = vf_labels_check(clean->labels, err);
    vf_model_free(clean);
    VF_TRY(status);
    VF_TRY(explain_passes(cx, words, err));
    return look_in_file(cx, err);
}

int vitfold_explain(const VitfoldModel *model, const VitfoldExplainOptions *options,
                    VitfoldReport **result, VitfoldError *err)
{
    static const VitfoldExplainOptions defaults = {0};
    VitfoldReport *report;
    options = options == NULL ? &defaults : options;
    VfStatus status = vf_report_begin("vitfold.explain.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    VfExplanation explanation = {.arena = report->arena, .file = model->path};
    Explainer cx = {model, options->node, &explanation};
    status = explain(&cx, options->pass, err);
    if (status == VF_OK && options->html)
        status = vf_explanation_page(&explanation, model, &report->html, err);
    if (status == VF_OK) {
        vf_explanation_text(&explanation, options->node != NULL, &report->out);
        vf_explanation_json(&explanation, &report->json);
    }
    return (int)vf_report_finish(report, status, result, err);
}
