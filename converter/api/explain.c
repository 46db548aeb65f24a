/* Why sites were matched or not: the matcher's own misses, then what each pass says when it is
 * tried on a copy of the model. */
#include <fnmatch.h>
#include <string.h>

#include "converter/api/handle.h"
#include "converter/api/sites.h"
#include "converter/lower/lower.h"

typedef struct Explainer {
    const VitfoldModel *model;
    const char *node; /* glob or NULL */
    VitfoldReport *report;
} Explainer;

static bool is_wanted(const Explainer *cx, const char *label, const VfNode *node)
{
    if (cx->node == NULL || (label != NULL && fnmatch(cx->node, label, 0) == 0))
        return true;
    return node != NULL && fnmatch(cx->node, vf_node_label(node), 0) == 0;
}

static void print_site(const Explainer *cx, const VfAttention *site)
{
    VfJson *json = &cx->report->json;
    VfText *text = &cx->report->out;
    vf_json_object(json, NULL);
    vf_json_string(json, "name", site->label);
    vf_json_string(json, "kind", vf_attention_kind_name(site->kind));
    vf_json_string(json, "why", site->why);
    vf_json_end(json);
    vf_text_printf(text, "attention %d '", site->index);
    vf_text_visible(text, vf_bytes(site->label));
    vf_text_printf(text, "': %s", vf_attention_kind_name(site->kind));
    if (site->why != NULL)
        vf_text_printf(text, ", %s", site->why);
    vf_text_char(text, '\n');
}

static void print_miss(const Explainer *cx, const VfMiss *miss)
{
    VfJson *json = &cx->report->json;
    VfText *text = &cx->report->out;
    vf_json_object(json, NULL);
    vf_json_string(json, "node", vf_node_label(miss->node));
    vf_json_string(json, "rule", miss->rule);
    vf_json_string(json, "reason", miss->reason);
    vf_json_end(json);
    vf_text_string(text, "no attention at '");
    vf_text_visible(text, vf_bytes(vf_node_label(miss->node)));
    vf_text_printf(text, "' (%s): ", miss->rule);
    vf_text_visible(text, vf_bytes(miss->reason));
    vf_text_char(text, '\n');
}

static VfStatus explain_matcher(const Explainer *cx, VfModel *clean, VfErr *err)
{
    VfAttentions found;
    VfJson *json = &cx->report->json;
    VF_TRY(vf_find_attention(cx->report->arena, clean, &found, err));
    vf_json_array(json, "attention");
    for (int32_t i = 0; i < found.n_site; i++)
        if (is_wanted(cx, found.site[i].label, found.site[i].norm_node))
            print_site(cx, &found.site[i]);
    vf_json_end(json);
    vf_json_array(json, "misses");
    for (int32_t i = 0; i < found.n_miss; i++)
        if (is_wanted(cx, NULL, found.miss[i].node))
            print_miss(cx, &found.miss[i]);
    vf_json_end(json);
    return VF_OK;
}

static void print_edit(const Explainer *cx, const VfEdit *edit)
{
    VfJson *json = &cx->report->json;
    VfText *text = &cx->report->out;
    vf_json_object_row(json, NULL);
    vf_json_string(json, "site", edit->site);
    vf_json_string(json, "rule", edit->rule);
    vf_json_string(json, "reason", NULL);
    vf_json_end(json);
    vf_text_printf(text, "%s can change '", edit->pass);
    vf_text_visible(text, vf_bytes(edit->site == NULL ? "?" : edit->site));
    vf_text_printf(text, "' (%s)\n", edit->rule);
}

static void print_refusal(const Explainer *cx, const VfRefusal *refusal)
{
    VfJson *json = &cx->report->json;
    VfText *text = &cx->report->out;
    vf_json_object_row(json, NULL);
    vf_json_string(json, "site", refusal->site);
    vf_json_string(json, "rule", NULL);
    vf_json_string(json, "reason", refusal->reason);
    vf_json_end(json);
    vf_text_printf(text, "%s leaves '", refusal->pass);
    vf_text_visible(text, vf_bytes(refusal->site == NULL ? "?" : refusal->site));
    vf_text_string(text, "' alone: ");
    vf_text_visible(text, vf_bytes(refusal->reason));
    vf_text_char(text, '\n');
}

static void print_sites(const Explainer *cx, const VfJournal *journal)
{
    for (int32_t i = 0; i < journal->n_edit; i++)
        if (is_wanted(cx, journal->edit[i].site,
                      journal->edit[i].n_before > 0 ? journal->edit[i].before[0] : NULL))
            print_edit(cx, &journal->edit[i]);
    for (int32_t i = 0; i < journal->n_refusal; i++)
        if (is_wanted(cx, journal->refusal[i].site, journal->refusal[i].node))
            print_refusal(cx, &journal->refusal[i]);
}

static VfStatus run_pass(const Explainer *cx, const char *words, VfModel *clean,
                         VfJournal *journal, VfErr *err)
{
    VfPipeline pipeline;
    VfArena *arena = cx->report->arena;
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
    VfJson *json = &cx->report->json;
    VfJournal *journal = vf_journal_new(clean);
    VfErr why = {0};
    VF_TRY_ALLOC(journal, err);
    VfStatus status = run_pass(cx, words, clean, journal, &why);
    bool is_untried = status == VF_USAGE && strcmp(words, pass->name) == 0;
    if (status != VF_OK && !is_untried)
        return vf_fail(err, status, "%s", why.text);
    vf_json_object(json, NULL);
    vf_json_string(json, "pass", pass->name);
    vf_json_string(json, "untried", is_untried ? why.text : NULL);
    vf_json_array(json, "sites");
    if (is_untried)
        vf_text_printf(&cx->report->out, "not tried: %s\n", why.text);
    else
        print_sites(cx, journal);
    vf_json_end(json);
    vf_json_end(json);
    return VF_OK;
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
    const char *name = vf_arena_copy(cx->report->arena, words, strcspn(words, ":"));
    VF_TRY_ALLOC(name, err);
    return vf_pass_unknown(name, err);
}

static VfStatus explain(const Explainer *cx, const char *words, VfErr *err)
{
    VfModel *clean;
    if (words != NULL)
        VF_TRY(check_named(cx, words, err));
    vf_json_string(&cx->report->json, "file", cx->model->path);
    VF_TRY(vf_load_clean(cx->model, NULL, 0, &clean, err));
    VfStatus status = explain_matcher(cx, clean, err);
    vf_model_free(clean);
    VF_TRY(status);
    vf_json_array(&cx->report->json, "passes");
    for (int32_t i = 0; i < vf_pass_count; i++) {
        const VfPass *pass = vf_pass_table[i];
        if (words == NULL ? pass->is_cleanup : !is_named(words, pass))
            continue;
        VF_TRY(vf_load_clean(cx->model, NULL, 0, &clean, err));
        status = try_pass(cx, pass, words == NULL ? pass->name : words, clean, err);
        vf_model_free(clean);
        VF_TRY(status);
    }
    vf_json_end(&cx->report->json);
    return VF_OK;
}

int vitfold_explain(const VitfoldModel *model, const char *pass, const char *node,
                    VitfoldReport **result, VitfoldError *err)
{
    VitfoldReport *report;
    VfStatus status = vf_report_begin("vitfold.explain.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    Explainer cx = {model, node, report};
    status = explain(&cx, pass, err);
    return (int)vf_report_finish(report, status, result, err);
}
