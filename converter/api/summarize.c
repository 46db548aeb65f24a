/* The before and after table of convert. */
#include <string.h>

#include "converter/api/effect.h"
#include "converter/api/inspect.h"
#include "converter/api/page.h"
#include "converter/lower/lower.h"
#include "converter/report/html/render.h"
#include "converter/report/journal_report.h"

/* What the table says of one model. */
typedef struct Look {
    VfArena *arena;
    const VitfoldSummaryOptions *options;
    VfPage *page; /* or NULL */
} Look;

/* Look at the model itself, which is taken apart by it: find its sites, then fix its open sizes for
 * the costs. One that does not fit the sizes assumed has no cost, as in vf_inspection_open. */
static VfStatus look_at(const Look *look, VitfoldModel *model, const char *map_title,
                        VfInspection *side, VfErr *err)
{
    VfArena *arena = look->arena;
    VF_TRY(vf_count_ops(arena, model->ir, &side->op, &side->n_op, &side->n_node, err));
    VF_TRY(vf_sites_find(arena, model->ir, &side->sites, err));
    if (look->page != NULL)
        VF_TRY(vf_page_add_map(look->page, map_title, model->ir, &side->sites, err));
    VF_TRY(vf_cost_of(arena, model->ir, &side->cost, err));
    VF_TRY(vf_assume_dims(arena, model->ir, look->options->dim, look->options->n_dim,
                          &side->assumed, &side->n_assumed, err));
    if (side->n_assumed > 0) {
        VF_TRY(vf_fix_dims(model->ir, side->assumed, side->n_assumed, err));
        VfStatus status = vf_clean_up(model->ir, vf_evaluator(), err);
        if (status == VF_INVALID || status == VF_UNSUPPORTED)
            return VF_OK;
        VF_TRY(status);
        VF_TRY(vf_cost_of(arena, model->ir, &side->cost, err));
    }
    side->has_cost = true;
    return VF_OK;
}

static void json_cost(VfJson *json, const char *key, bool is_known, double cost)
{
    if (is_known)
        vf_json_double(json, key, cost);
    else
        vf_json_null(json, key);
}

static void json_side(VfJson *json, const char *key, const VfInspection *inspection)
{
    const VfSiteList *sites = &inspection->sites;
    vf_json_object(json, key);
    vf_json_int(json, "nodes", inspection->n_node);
    vf_json_object(json, "operators");
    for (size_t i = 0; i < inspection->n_op; i++)
        vf_json_int(json, inspection->op[i].name.data, inspection->op[i].n);
    vf_json_end(json);
    vf_json_int(json, "parameters", inspection->cost.n_parameter);
    vf_json_double(json, "parameter_bytes", inspection->cost.parameter_bytes);
    json_cost(json, "flops", inspection->has_cost, inspection->cost.flops);
    json_cost(json, "activation_bytes", inspection->has_cost, inspection->cost.activation_bytes);
    vf_json_object(json, "attention");
    for (int kind = VF_ATTENTION_SOFTMAX; kind <= VF_ATTENTION_OTHER; kind++)
        vf_json_int(json, vf_attention_kind_name((VfAttentionKind)kind),
                    vf_sites_count(sites, (VfAttentionKind)kind));
    vf_json_end(json);
    vf_json_int(json, "layer_norm", sites->norm.n_layer);
    vf_json_int(json, "batch_norm", sites->norm.n_batch);
    vf_json_end(json);
}

/* Clean-up passes run several times: their counts are added up where the pass came first. */
int32_t vf_merge_stats(const VitfoldModel *model, VfPassStats *merged)
{
    int32_t n = 0;
    for (int32_t i = 0; i < model->n_stats; i++) {
        int32_t k = 0;
        while (k < n && merged[k].pass != model->stats[i].pass)
            k++;
        if (k == n)
            merged[n++] = (VfPassStats){.pass = model->stats[i].pass};
        merged[k].n_edit += model->stats[i].n_edit;
        merged[k].n_refusal += model->stats[i].n_refusal;
    }
    return n;
}

static VfStatus print_passes(const VitfoldModel *model, VitfoldReport *report, VfErr *err)
{
    VfTable table;
    VfPassStats *merged = VF_NEW_ARRAY(report->arena, VfPassStats, (size_t)model->n_stats);
    VF_TRY_ALLOC(merged, err);
    vf_table_init(&table, report->arena, "llrr");
    vf_table_printf(&table, "pass");
    vf_table_printf(&table, "exactness");
    vf_table_printf(&table, "edits");
    vf_table_printf(&table, "left alone");
    vf_json_array(&report->json, "passes");
    int32_t n = vf_merge_stats(model, merged);
    for (int32_t i = 0; i < n; i++) {
        const VfPassStats *stats = &merged[i];
        vf_table_printf(&table, "%s", stats->pass->name);
        vf_table_printf(&table, "%s", vf_exactness_name(stats->pass->exactness));
        vf_table_printf(&table, "%d", stats->n_edit);
        vf_table_printf(&table, "%d", stats->n_refusal);
        vf_json_object_row(&report->json, NULL);
        vf_json_string(&report->json, "pass", stats->pass->name);
        vf_json_string(&report->json, "exactness", vf_exactness_name(stats->pass->exactness));
        vf_json_int(&report->json, "edits", stats->n_edit);
        vf_json_int(&report->json, "refusals", stats->n_refusal);
        vf_json_end(&report->json);
    }
    vf_json_end(&report->json);
    if (n > 0) {
        vf_table_print(&table, 0, &report->out);
        vf_text_char(&report->out, '\n');
    }
    return VF_OK;
}

/* What passes that need other weights say of their sites: how well a start fits, and such. */
static bool is_told(const VfEdit *edit)
{
    const VfPass *pass = vf_pass_find(edit->pass);
    return edit->note != NULL && pass != NULL && pass->exactness == VF_RETRAINED;
}

static void json_notes(const VfJournal *journal, VfJson *json)
{
    vf_json_array(json, "notes");
    for (int32_t i = 0; journal != NULL && i < journal->n_edit; i++) {
        const VfEdit *edit = &journal->edit[i];
        if (!is_told(edit))
            continue;
        vf_json_object_row(json, NULL);
        vf_json_string(json, "pass", edit->pass);
        vf_json_string(json, "site", edit->site);
        vf_json_string(json, "note", edit->note);
        vf_edit_numbers_json(edit, json);
        vf_json_end(json);
    }
    vf_json_end(json);
}

static bool is_note_alike(const VfEdit *a, const VfEdit *b)
{
    return is_told(b) && strcmp(a->pass, b->pass) == 0 && strcmp(a->note, b->note) == 0;
}

/* Sites that follow one another with one note share a line. */
static void text_notes(const VfJournal *journal, VfText *out)
{
    for (int32_t i = 0, n = 1; journal != NULL && i < journal->n_edit; i += n, n = 1) {
        const VfEdit *edit = &journal->edit[i];
        if (!is_told(edit))
            continue;
        while (i + n < journal->n_edit && is_note_alike(edit, &edit[n]))
            n++;
        vf_text_printf(out, "%s at ", edit->pass);
        vf_text_visible(out, vf_bytes(edit->site));
        if (n > 1) {
            vf_text_string(out, " to ");
            vf_text_visible(out, vf_bytes(edit[n - 1].site));
            vf_text_printf(out, " (%d sites)", n);
        }
        vf_text_string(out, ": ");
        vf_text_visible(out, vf_bytes(edit->note));
        vf_text_char(out, '\n');
    }
}

/* A pass that was asked for and met nothing has no other line that says so. */
static void print_idle(const VitfoldModel *model, VfText *out)
{
    for (int32_t i = 0; i < model->n_stats; i++) {
        const VfPassStats *stats = &model->stats[i];
        if (stats->n_edit + stats->n_refusal == 0 && vf_model_asks_for(model, stats->pass))
            vf_text_printf(out, "%s found no site to change\n", stats->pass->name);
    }
}

static void print_sides(const VitfoldModel *model, const VfInspection *side,
                        VitfoldReport *report)
{
    json_notes(model->journal, &report->json);
    if (model->journal != NULL)
        vf_refusals_json(model->journal, &report->json);
    json_side(&report->json, "before", &side[0]);
    json_side(&report->json, "after", &side[1]);
    vf_sides_text(side, report->arena, &report->out);
    text_notes(model->journal, &report->out);
    if (model->journal != NULL)
        vf_refusals_text(model->journal, &report->out);
    print_idle(model, &report->out);
    if (model->check.size > 0)
        vf_json_document(&report->json, "check", model->check);
    else
        vf_json_null(&report->json, "check");
    vf_effect_json(model->effect, &report->json);
    vf_effect_text(model->effect, report->arena, &report->out);
}

static VfStatus render(VfPage *page, const VitfoldModel *model, const VfInspection *side,
                       VitfoldReport *report, VfErr *err)
{
    if (page == NULL)
        return VF_OK;
    VF_TRY(vf_page_add_sides(page, model, side, err));
    return vf_page_render(page, &report->html, err);
}

/* The page's drawings come first: they show the graph as the passes left it. */
static VfStatus summarize(VitfoldModel *model, VitfoldModel *original,
                          const VitfoldSummaryOptions *options, VitfoldReport *report, VfErr *err)
{
    Look look = {.arena = report->arena, .options = options};
    VfInspection side[2] = {{.model = original, .title = "before"},
                            {.model = model, .title = "after"}};
    if (options->html)
        VF_TRY(vf_page_of_transform(report->arena, model, &look.page, err));
    VF_TRY(look_at(&look, original, "Before", &side[0], err));
    VF_TRY(look_at(&look, model, "After", &side[1], err));
    vf_json_string(&report->json, "file", model->path);
    VF_TRY(print_passes(model, report, err));
    print_sides(model, side, report);
    VF_TRY(vf_labels_check(original->ir->labels, err));
    VF_TRY(vf_labels_check(model->ir->labels, err));
    return render(look.page, model, side, report, err);
}

int vitfold_summarize(VitfoldModel *model, const VitfoldSummaryOptions *options,
                      VitfoldReport **result, VitfoldError *err)
{
    static const VitfoldSummaryOptions defaults;
    VitfoldReport *report;
    VitfoldModel *original;
    VfStatus status = vf_report_begin("vitfold.convert.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    status = vf_load_original(model, &original, err);
    if (status == VF_OK) {
        status = summarize(model, original, options == NULL ? &defaults : options, report, err);
        vitfold_model_free(original);
    }
    return (int)vf_report_finish(report, status, result, err);
}
