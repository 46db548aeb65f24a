#include "converter/report/journal_report.h"

#include <string.h>

#include "converter/report/node_line.h"

static void print_label(VfText *text, const char *label)
{
    vf_text_visible(text, label == NULL ? (VfBytes){"?", 1} : vf_bytes(label));
}

/* Nodes of an edit as lines: after `n_edit` edits. */
typedef struct Lines {
    const VfPast *past;
    int32_t n_edit, n;
    const VfNode *const *node;
} Lines;

static VfStatus line_of(const Lines *lines, int32_t i, VfArena *arena, VfBytes *line, VfErr *err)
{
    VfNode then;
    VF_TRY(vf_past_node(arena, lines->past, lines->node[i], lines->n_edit, &then, err));
    return vf_report_node_line(arena, &then, line, err);
}

static VfStatus text_nodes(VfText *text, char sign, const Lines *lines, VfErr *err)
{
    for (int32_t i = 0; i < lines->n; i++) {
        VfBytes line;
        VF_TRY(line_of(lines, i, text->arena, &line, err));
        vf_text_printf(text, "%c ", sign);
        vf_text_add(text, line.data, line.size);
        vf_text_char(text, '\n');
    }
    return VF_OK;
}

static void text_swaps(VfText *text, const char *what, const VfSwap *swap, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        vf_text_printf(text, "~ %s ", what);
        print_label(text, swap[i].from == NULL ? NULL : vf_value_label(swap[i].from));
        vf_text_string(text, " -> ");
        print_label(text, swap[i].to == NULL ? NULL : vf_value_label(swap[i].to));
        vf_text_char(text, '\n');
    }
}

static void text_head(VfText *text, const VfEdit *edit, int32_t number)
{
    vf_text_printf(text, "@@ %d %s %s: ", number, edit->pass, edit->rule);
    print_label(text, edit->site);
    vf_text_string(text, " @@\n");
    if (edit->note != NULL) {
        vf_text_string(text, "  ");
        print_label(text, edit->note);
        vf_text_char(text, '\n');
    }
}

VfStatus vf_edit_lines(const VfJournal *journal, const VfPast *past, int32_t i, VfText *text,
                       VfErr *err)
{
    const VfEdit *edit = &journal->edit[i];
    VF_TRY(text_nodes(text, '-', &(Lines){past, i, edit->n_before, edit->before}, err));
    VF_TRY(text_nodes(text, '+', &(Lines){past, i + 1, edit->n_after, edit->after}, err));
    text_swaps(text, "value", edit->swap, edit->n_swap);
    text_swaps(text, "weight", edit->weight, edit->n_weight);
    return VF_OK;
}

/* How many refusals from `refusal` on, of at most `n`, have its pass and reason. */
static int32_t count_alike(const VfRefusal *refusal, int32_t n)
{
    int32_t k = 1;
    while (k < n && strcmp(refusal[k].pass, refusal->pass) == 0 &&
           strcmp(refusal[k].reason, refusal->reason) == 0)
        k++;
    return k;
}

void vf_refusals_text(const VfJournal *journal, VfText *text)
{
    for (int32_t i = 0; i < journal->n_refusal;) {
        const VfRefusal *first = &journal->refusal[i];
        int32_t n = count_alike(first, journal->n_refusal - i);
        vf_text_printf(text, "%s left ", first->pass);
        print_label(text, first->site);
        if (n > 1) {
            vf_text_printf(text, " to ");
            print_label(text, first[n - 1].site);
            vf_text_printf(text, " (%d sites)", n);
        }
        vf_text_string(text, " alone: ");
        print_label(text, first->reason);
        vf_text_char(text, '\n');
        i += n;
    }
}

VfStatus vf_journal_text(const VfJournal *journal, VfText *text, VfErr *err)
{
    VfPast *past;
    VF_TRY(vf_past_new(text->arena, journal, &past, err));
    vf_text_printf(text, "%d edits, %d sites left alone\n", journal->n_edit, journal->n_refusal);
    for (int32_t i = 0; i < journal->n_edit; i++) {
        text_head(text, &journal->edit[i], i + 1);
        VF_TRY(vf_edit_lines(journal, past, i, text, err));
    }
    vf_refusals_text(journal, text);
    return vf_labels_check(journal->model->labels, err);
}

static VfStatus json_nodes(VfJson *json, const char *key, const Lines *lines, VfErr *err)
{
    vf_json_array(json, key);
    for (int32_t i = 0; i < lines->n; i++) {
        VfBytes line;
        VF_TRY(line_of(lines, i, json->text.arena, &line, err));
        vf_json_bytes(json, NULL, line);
    }
    vf_json_end(json);
    return VF_OK;
}

static void json_swaps(VfJson *json, const char *key, const VfSwap *swap, int32_t n)
{
    vf_json_array(json, key);
    for (int32_t i = 0; i < n; i++) {
        vf_json_object_row(json, NULL);
        vf_json_string(json, "from", swap[i].from == NULL ? NULL : vf_value_label(swap[i].from));
        vf_json_string(json, "to", swap[i].to == NULL ? NULL : vf_value_label(swap[i].to));
        vf_json_end(json);
    }
    vf_json_end(json);
}

void vf_refusals_json(const VfJournal *journal, VfJson *json)
{
    vf_json_array(json, "refusals");
    for (int32_t i = 0; i < journal->n_refusal; i++) {
        const VfRefusal *refusal = &journal->refusal[i];
        vf_json_object(json, NULL);
        vf_json_string(json, "pass", refusal->pass);
        vf_json_string(json, "site", refusal->site);
        vf_json_string(json, "node", refusal->node == NULL ? NULL : vf_node_label(refusal->node));
        vf_json_string(json, "reason", refusal->reason);
        vf_json_end(json);
    }
    vf_json_end(json);
}

void vf_edit_numbers_json(const VfEdit *edit, VfJson *json)
{
    vf_json_object_row(json, "numbers");
    for (int32_t i = 0; i < edit->n_number; i++)
        vf_json_double(json, edit->number[i].name, edit->number[i].value);
    vf_json_end(json);
}

VfStatus vf_journal_json(const VfJournal *journal, VfJson *json, VfErr *err)
{
    VfPast *past;
    VF_TRY(vf_past_new(json->text.arena, journal, &past, err));
    vf_json_array(json, "edits");
    for (int32_t i = 0; i < journal->n_edit; i++) {
        const VfEdit *edit = &journal->edit[i];
        vf_json_object(json, NULL);
        vf_json_string(json, "pass", edit->pass);
        vf_json_string(json, "rule", edit->rule);
        vf_json_string(json, "site", edit->site);
        vf_json_string(json, "note", edit->note);
        vf_edit_numbers_json(edit, json);
        VF_TRY(json_nodes(json, "before", &(Lines){past, i, edit->n_before, edit->before}, err));
        VF_TRY(json_nodes(json, "after", &(Lines){past, i + 1, edit->n_after, edit->after}, err));
        json_swaps(json, "values", edit->swap, edit->n_swap);
        json_swaps(json, "weights", edit->weight, edit->n_weight);
        vf_json_end(json);
    }
    vf_json_end(json);
    vf_refusals_json(journal, json);
    return VF_OK;
}
