#include <math.h>

#include "converter/api/sensitivity.h"
#include "converter/report/bar_plot.h"

static void json_site(VfJson *json, const VfSiteEffect *site)
{
    vf_json_object(json, NULL);
    vf_json_int(json, "site", site->index);
    vf_json_string(json, "name", site->name);
    vf_json_int(json, "edits", site->n_edit);
    vf_json_string(json, "left_alone", site->why);
    if (site->n_edit > 0) {
        vf_json_double(json, "loss", site->loss);
        vf_numbers_json(json, &site->numbers);
    }
    vf_json_end(json);
}

static void json_budget(VfJson *json, const VfSensitivity *cx)
{
    const VfSiteBudget *budget = &cx->budget;
    if (!cx->has_budget) {
        vf_json_null(json, "budget");
        return;
    }
    vf_json_object(json, "budget");
    vf_json_double(json, "limit", budget->limit);
    vf_json_string(json, "sites", budget->sites);
    vf_json_bool(json, "verified", budget->is_verified);
    if (budget->n_site > 0) {
        vf_json_double(json, "loss", budget->loss);
        vf_numbers_object(json, "together", &budget->numbers, true);
    }
    vf_json_end(json);
}

void vf_sensitivity_json(const VfSensitivity *cx, bool is_complete, VfJson *json)
{
    vf_json_string(json, "file", cx->trial.model->path);
    vf_json_string(json, "pass", cx->trial.passes.passes);
    vf_json_string(json, "metric", vf_metric_name(cx->metric));
    vf_json_bool(json, "complete", is_complete);
    vf_numbers_object(json, "original", &cx->trial.original, cx->trial.has_noise);
    vf_numbers_object(json, "noise", &cx->trial.noise, cx->trial.has_noise);
    vf_json_int(json, "sites_count", cx->n_all);
    vf_json_array(json, "sites");
    for (int32_t i = 0; i < cx->n_site; i++)
        json_site(json, &cx->site[i]);
    vf_json_end(json);
    json_budget(json, cx);
}

/* --- text --- */

static double most_lost(const VfSensitivity *cx)
{
    double most = 0;
    for (int32_t i = 0; i < cx->n_site; i++)
        if (cx->site[i].n_edit > 0 && isfinite(cx->site[i].loss))
            most = fmax(most, cx->site[i].loss);
    return most > 0 ? most : 1;
}

static void bar_cell(const VfSensitivity *cx, const VfSiteEffect *site, VfTable *table)
{
    enum { BAR_WIDTH = 24 };
    VfText text;
    VfBytes bar = {0};
    vf_text_init(&text, cx->arena);
    vf_text_char(&text, '|');
    vf_bar_text(site->loss, most_lost(cx), BAR_WIDTH, &text);
    vf_text_get(&text, &bar, NULL);
    vf_table_cell(table, bar);
}

static void text_sites(const VfSensitivity *cx, VfText *text)
{
    VfTable table;
    bool has_labels = cx->trial.labelled.n_sample > 0;
    vf_table_init(&table, cx->arena, has_labels ? "rlr" VF_NUMBERS_ALIGN "rrl"
                                                : "rlr" VF_NUMBERS_ALIGN "rl");
    vf_table_printf(&table, "site");
    vf_table_printf(&table, "name");
    vf_table_printf(&table, "edits");
    vf_numbers_head(&table, has_labels);
    vf_table_printf(&table, "loss");
    vf_table_printf(&table, "by %s", vf_metric_name(cx->metric));
    vf_table_printf(&table, "-");
    vf_table_printf(&table, "noise floor");
    vf_table_printf(&table, "-");
    vf_numbers_cells(&table, &cx->trial.noise, has_labels);
    vf_table_printf(&table, "%.3g",
                    vf_metric_loss(&cx->trial.noise, &cx->trial.original, cx->metric));
    vf_table_printf(&table, "|");
    for (int32_t i = 0; i < cx->n_site && cx->site[i].n_edit > 0; i++) {
        const VfSiteEffect *site = &cx->site[i];
        vf_table_printf(&table, "%d", site->index);
        vf_table_cell(&table, vf_bytes(site->name));
        vf_table_printf(&table, "%d", site->n_edit);
        vf_numbers_cells(&table, &site->numbers, has_labels);
        vf_table_printf(&table, "%.3g", site->loss);
        bar_cell(cx, site, &table);
    }
    vf_table_print(&table, 0, text);
}

static void text_refused(const VfSensitivity *cx, VfText *text)
{
    for (int32_t i = 0; i < cx->n_site; i++) {
        const VfSiteEffect *site = &cx->site[i];
        if (site->n_edit > 0)
            continue;
        vf_text_printf(text, "site %d '", site->index);
        vf_text_visible(text, vf_bytes(site->name));
        vf_text_string(text, "' is left alone: ");
        vf_text_visible(text, vf_bytes(site->why));
        vf_text_char(text, '\n');
    }
}

/* Before all sites were measured nothing is known of which fit. */
static void text_budget(const VfSensitivity *cx, bool is_complete, VfText *text)
{
    const VfSiteBudget *budget = &cx->budget;
    if (!cx->has_budget || (budget->n_site == 0 && !is_complete))
        return;
    if (budget->n_site == 0) {
        vf_text_printf(text, "\nno site fits within %g\n", budget->limit);
        return;
    }
    vf_text_printf(text, "\nwithin %g fit %d %s: sites=%s, which lose %.6g together%s\n",
                   budget->limit, budget->n_site, budget->n_site == 1 ? "site" : "sites",
                   budget->sites, budget->loss,
                   budget->is_verified ? "; the recipe gives the same" : "");
}

void vf_sensitivity_text(const VfSensitivity *cx, bool is_complete, VfText *text)
{
    if (!cx->trial.has_noise) {
        vf_text_string(text, "interrupted: the original was not measured\n");
        return;
    }
    vf_text_printf(text, "%s, each site alone, the most harmful first\n",
                   cx->trial.passes.passes);
    if (cx->trial.labelled.n_sample > 0 && cx->trial.original.n_sample > 0)
        vf_text_printf(text, "accuracy of the original %.4f (%lld of %lld)\n",
                       vf_metric_value(&cx->trial.original, VF_METRIC_ACCURACY),
                       (long long)cx->trial.original.n_hit,
                       (long long)cx->trial.original.n_sample);
    text_sites(cx, text);
    text_refused(cx, text);
    if (cx->n_all == 0 && is_complete)
        vf_text_string(text, "there are no sites\n");
    text_budget(cx, is_complete, text);
    if (!is_complete)
        vf_text_printf(text, "\ninterrupted: %d of %d sites were measured\n", cx->n_site,
                       cx->n_all);
}

/* --- plot --- */

void vf_sensitivity_svg(const VfSensitivity *cx, VfBytes *svg)
{
    VfText text;
    VfBar *bar = VF_NEW_ARRAY(cx->arena, VfBar, (size_t)cx->n_site);
    const char *title = vf_arena_printf(cx->arena, "%s, each site alone: loss by %s",
                                        cx->trial.passes.passes, vf_metric_name(cx->metric));
    int32_t n = 0;
    *svg = (VfBytes){0};
    for (; bar != NULL && n < cx->n_site && cx->site[n].n_edit > 0; n++)
        bar[n] = (VfBar){vf_arena_printf(cx->arena, "%d %s", cx->site[n].index,
                                         cx->site[n].name), cx->site[n].loss};
    if (n == 0 || title == NULL)
        return;
    vf_text_init(&text, cx->arena);
    vf_bars_svg(title, bar, n, &text);
    vf_text_get(&text, svg, NULL);
}
