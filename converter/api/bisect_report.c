#include "converter/api/bisect.h"

static void json_threshold(const VfBisect *cx, VfJson *json)
{
    vf_json_array(json, "thresholds");
    for (size_t i = 0; i < cx->n_threshold; i++) {
        vf_json_object_row(json, NULL);
        vf_json_string(json, "metric", cx->threshold[i].metric);
        vf_json_double(json, "value", cx->threshold[i].value);
        vf_json_end(json);
    }
    vf_json_end(json);
}

static void json_state(const VfBisect *cx, const char *key, const VfBisectState *state,
                       VfJson *json)
{
    vf_json_object(json, key);
    vf_json_int(json, "edits", state->n_edit);
    vf_json_string(json, "pass", state->edit.pass);
    vf_json_string(json, "breaks",
                   state->broken < 0 ? NULL : cx->threshold[state->broken].metric);
    vf_numbers_json(json, &state->numbers);
    vf_json_end(json);
}

static void json_found(const VfBisect *cx, VfJson *json)
{
    const VfLastEdit *edit = &cx->found.edit;
    vf_json_object(json, "found");
    vf_json_string(json, "pass", edit->pass == NULL ? "clean-up" : edit->pass);
    vf_json_int(json, "first_edit", cx->before.n_edit - cx->pass_begin + 1);
    vf_json_int(json, "last_edit", cx->found.n_edit - cx->pass_begin);
    vf_json_int(json, "edits", cx->pass_end - cx->pass_begin);
    vf_json_string(json, "site", edit->site);
    vf_json_string(json, "rule", edit->rule);
    vf_json_string(json, "note", edit->note);
    vf_json_array(json, "nodes");
    for (int32_t i = 0; i < edit->n_node; i++)
        vf_json_string(json, NULL, edit->node[i]);
    vf_json_end(json);
    if (edit->pass == NULL)
        vf_json_null(json, "before");
    else
        json_state(cx, "before", &cx->before, json);
    json_state(cx, "after", &cx->found, json);
    vf_json_end(json);
}

void vf_bisect_json(const VfBisect *cx, bool is_complete, VfJson *json)
{
    vf_json_string(json, "file", cx->trial.model->path);
    vf_json_bool(json, "complete", is_complete);
    json_threshold(cx, json);
    vf_numbers_object(json, "noise", &cx->trial.noise, cx->trial.has_noise);
    vf_json_array(json, "states");
    for (size_t i = 0; i < cx->n_state; i++)
        json_state(cx, NULL, &cx->state[i], json);
    vf_json_end(json);
    if (cx->has_found)
        json_found(cx, json);
    else
        vf_json_null(json, "found");
}

static void limit_cell(const VfBisect *cx, int broken, VfTable *table)
{
    if (broken < 0)
        vf_table_printf(table, "within");
    else
        vf_table_printf(table, "breaks %s", cx->threshold[broken].metric);
}

static void text_states(const VfBisect *cx, VfText *text)
{
    VfTable table;
    bool has_labels = cx->trial.labelled.n_sample > 0;
    vf_table_init(&table, cx->arena, has_labels ? "lr" VF_NUMBERS_ALIGN "rl"
                                                : "lr" VF_NUMBERS_ALIGN "l");
    vf_table_printf(&table, "after");
    vf_table_printf(&table, "edits");
    vf_numbers_head(&table, has_labels);
    vf_table_printf(&table, "limits");
    vf_table_printf(&table, "noise floor");
    vf_table_printf(&table, "-");
    vf_numbers_cells(&table, &cx->trial.noise, has_labels);
    limit_cell(cx, vf_bisect_broken(cx, &cx->trial.noise), &table);
    for (size_t i = 0; i < cx->n_state; i++) {
        const VfBisectState *state = &cx->state[i];
        vf_table_printf(&table, "%s", state->edit.pass == NULL ? "clean-up" : state->edit.pass);
        vf_table_printf(&table, "%lld", (long long)state->n_edit);
        vf_numbers_cells(&table, &state->numbers, has_labels);
        limit_cell(cx, state->broken, &table);
    }
    vf_table_print(&table, 0, text);
}

static void text_edit(const VfBisect *cx, VfText *text)
{
    const VfLastEdit *edit = &cx->found.edit;
    int64_t first = cx->before.n_edit - cx->pass_begin + 1;
    int64_t last = cx->found.n_edit - cx->pass_begin;
    int64_t all = cx->pass_end - cx->pass_begin;
    if (first < last) {
        vf_text_printf(text, " with one of its edits %lld to %lld of %lld\n", (long long)first,
                       (long long)last, (long long)all);
        return;
    }
    vf_text_printf(text, " with edit %lld of %lld\n  site    ", (long long)last, (long long)all);
    vf_text_visible(text, vf_bytes(edit->site == NULL ? "?" : edit->site));
    vf_text_printf(text, "\n  rule    %s\n", edit->rule);
    for (int32_t i = 0; i < edit->n_node; i++) {
        vf_text_string(text, i == 0 ? "  nodes   " : "          ");
        vf_text_visible(text, vf_bytes(edit->node[i]));
        vf_text_char(text, '\n');
    }
}

static void text_value(const VfBisect *cx, const char *what, const VfNumbers *numbers,
                       VfText *text)
{
    VfMetric metric = cx->metric[cx->found.broken];
    vf_text_printf(text, "  %-6s  %s ", what, vf_metric_name(metric));
    if (numbers->fault != NULL)
        vf_text_printf(text, "unknown: %s\n", numbers->fault);
    else
        vf_text_printf(text, "%.9g%s\n", vf_metric_value(numbers, metric),
                       numbers->n_special > 0 ? ", with elements that are not finite" : "");
}

static void text_found(const VfBisect *cx, VfText *text)
{
    const VfLastEdit *edit = &cx->found.edit;
    const VitfoldThreshold *threshold = &cx->threshold[cx->found.broken];
    vf_text_printf(text, "\n%s breaks %s %g", edit->pass == NULL ? "clean-up" : edit->pass,
                   threshold->metric, threshold->value);
    if (edit->pass != NULL) {
        text_edit(cx, text);
        text_value(cx, "before", &cx->before.numbers, text);
    } else {
        vf_text_char(text, '\n');
    }
    text_value(cx, "after", &cx->found.numbers, text);
}

void vf_bisect_text(const VfBisect *cx, bool is_complete, VfText *text)
{
    if (!cx->trial.has_noise) {
        vf_text_string(text, "interrupted: the original was not measured\n");
        return;
    }
    text_states(cx, text);
    if (!is_complete)
        vf_text_string(text, "\ninterrupted: the search is not complete\n");
    if (cx->has_found)
        text_found(cx, text);
    else if (is_complete)
        vf_text_string(text, "\nnothing breaks a threshold\n");
}
