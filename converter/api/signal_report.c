/* The rows of signal.h as JSON, as tables and as a plot. */
#include "converter/api/signal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "converter/report/line_plot.h"

static void number(VfJson *json, const char *key, double value)
{
    if (isfinite(value))
        vf_json_double(json, key, value);
    else
        vf_json_null(json, key);
}

static void whole(VfJson *json, const char *key, double value)
{
    if (isfinite(value))
        vf_json_int(json, key, (int64_t)value);
    else
        vf_json_null(json, key);
}

static void shape_json(VfJson *json, const VfSignalShape *shape)
{
    number(json, "correlation", shape->correlation);
    number(json, "effective_rank", shape->rank);
    number(json, "diagonal_low", shape->low);
    number(json, "diagonal_high", shape->high);
}

static void row_json(VfJson *json, const VfSignalRow *row)
{
    vf_json_object(json, NULL);
    vf_json_int(json, "layer", row->site->index);
    vf_json_string(json, "name", row->site->label);
    vf_json_string(json, "attention", vf_attention_kind_name(row->site->kind));
    vf_json_int(json, "tokens", row->tokens);
    if (row->has_zero) {
        vf_json_object_row(json, "zero");
        shape_json(json, &row->zero);
        number(json, "matrix_rank", row->zero_rank);
        vf_json_end(json);
    } else {
        vf_json_null(json, "zero");
    }
    if (row->has_data) {
        vf_json_object_row(json, "data");
        shape_json(json, &row->data);
        number(json, "matrix_rank", row->rank);
        whole(json, "matrix_rank_low", row->rank_low);
        whole(json, "matrix_rank_high", row->rank_high);
        vf_json_end(json);
    } else {
        vf_json_null(json, "data");
    }
    vf_json_string(json, "note", row->note);
    vf_json_end(json);
}

void vf_signals_json(const VfSignal *signal, size_t n, VfJson *json)
{
    vf_json_array(json, "models");
    for (size_t i = 0; i < n; i++) {
        vf_json_object(json, NULL);
        vf_json_string(json, "file", signal[i].title);
        vf_json_int(json, "samples", signal[i].n_sample);
        vf_json_array(json, "layers");
        for (int32_t k = 0; k < signal[i].n_row; k++)
            row_json(json, &signal[i].row[k]);
        vf_json_end(json);
        vf_json_end(json);
    }
    vf_json_end(json);
}

/* --- tables --- */

static void cell(VfTable *table, bool is_known, int digits, double value)
{
    char text[40] = "-";
    if (is_known && isfinite(value))
        snprintf(text, sizeof text, "%.*f", digits, value);
    vf_table_printf(table, "%s", text);
}

static void shape_cells(VfTable *table, bool is_known, const VfSignalShape *shape)
{
    cell(table, is_known, 4, shape->correlation);
    cell(table, is_known, 1, shape->rank);
    if (is_known && isfinite(shape->high))
        vf_table_printf(table, "%.3g..%.3g", shape->low, shape->high);
    else
        vf_table_printf(table, "-");
}

/* Layers that follow one another with one note share a line. */
static void print_notes(const VfSignal *signal, VfArena *arena, VfText *text)
{
    for (int32_t k = 0; k < signal->n_row; k++) {
        int32_t from = k;
        const char *note = signal->row[k].note;
        if (note == NULL)
            continue;
        while (k + 1 < signal->n_row && signal->row[k + 1].note != NULL &&
               strcmp(note, signal->row[k + 1].note) == 0)
            k++;
        vf_text_printf(text, "  %d", signal->row[from].site->index);
        if (k > from)
            vf_text_printf(text, "-%d", signal->row[k].site->index);
        vf_text_printf(text, ": %s\n", vf_show(arena, vf_bytes(note)));
    }
}

static void print_model(const VfSignal *signal, VfArena *arena, VfText *text)
{
    static const char *const head[] = {"#", "attention", "tokens", "correlation", "rank",
                                       "diagonal", "rank of A", "measured", "m. rank",
                                       "m. diagonal", "m. rank of A", "name"};
    bool has_data = signal->n_sample > 0;
    VfTable table;
    vf_table_init(&table, arena, has_data ? "rlrrrrrrrrrl" : "rlrrrrrl");
    for (int i = 0; i < 12; i++)
        if (has_data || i < 7 || i == 11)
            vf_table_printf(&table, "%s", head[i]);
    for (int32_t k = 0; k < signal->n_row; k++) {
        const VfSignalRow *row = &signal->row[k];
        vf_table_printf(&table, "%d", row->site->index);
        vf_table_printf(&table, "%s", vf_attention_kind_name(row->site->kind));
        vf_table_printf(&table, "%d", row->tokens);
        shape_cells(&table, row->has_zero, &row->zero);
        cell(&table, row->has_zero, 1, row->zero_rank);
        if (has_data) {
            shape_cells(&table, row->has_data, &row->data);
            cell(&table, row->has_data, 1, row->rank);
        }
        vf_table_cell(&table, vf_bytes(row->site->label));
    }
    vf_text_printf(text, "%s\n", vf_show(arena, vf_bytes(signal->title)));
    if (has_data)
        vf_text_printf(text, "measured on %lld samples, ranks of A on the first 8\n",
                       (long long)signal->n_sample);
    if (signal->n_row == 0)
        vf_text_string(text, "  no attention\n");
    else
        vf_table_print(&table, 2, text);
    print_notes(signal, arena, text);
}

/* The mean correlations of several models side by side. */
static void print_beside(const VfSignal *signal, size_t n, VfArena *arena, VfText *text)
{
    enum { MOST_BESIDE = (VF_TABLE_MAX_COLUMNS - 1) / 2 };
    char align[VF_TABLE_MAX_COLUMNS + 1] = "r";
    size_t n_beside = n < MOST_BESIDE ? n : MOST_BESIDE;
    int32_t longest = 0;
    VfTable table;
    for (size_t i = 0; i < 2 * n_beside; i++)
        align[1 + i] = 'r';
    vf_table_init(&table, arena, align);
    vf_table_printf(&table, "#");
    for (size_t i = 0; i < n_beside; i++) {
        vf_table_printf(&table, "correlation %zu", i + 1);
        vf_table_printf(&table, "rank %zu", i + 1);
        longest = signal[i].n_row > longest ? signal[i].n_row : longest;
    }
    for (int32_t k = 0; k < longest; k++) {
        vf_table_printf(&table, "%d", k);
        for (size_t i = 0; i < n_beside; i++) {
            bool is_known = k < signal[i].n_row && signal[i].row[k].has_zero;
            cell(&table, is_known, 4, is_known ? signal[i].row[k].zero.correlation : 0);
            cell(&table, is_known, 1, is_known ? signal[i].row[k].zero.rank : 0);
        }
    }
    vf_text_string(text, "side by side, logits at zero\n");
    vf_table_print(&table, 2, text);
}

void vf_signals_text(const VfSignal *signal, size_t n, VfArena *arena, VfText *text)
{
    for (size_t i = 0; i < n; i++) {
        print_model(&signal[i], arena, text);
        vf_text_char(text, '\n');
    }
    if (n > 1)
        print_beside(signal, n, arena, text);
    vf_text_string(text, "correlation: mean of two tokens behind the attention block, logits at "
                         "zero; rank: effective number of different tokens\n");
}

/* --- plot --- */

/* One number of all rows of a model: NaN where it is not known. */
static double *numbers(VfArena *arena, const VfSignal *signal, bool is_data, bool is_rank)
{
    double *y = VF_NEW_ARRAY(arena, double, (size_t)signal->n_row + 1);
    for (int32_t k = 0; y != NULL && k < signal->n_row; k++) {
        const VfSignalRow *row = &signal->row[k];
        const VfSignalShape *shape = is_data ? &row->data : &row->zero;
        bool is_known = is_data ? row->has_data : row->has_zero;
        y[k] = !is_known ? (double)NAN : is_rank ? shape->rank : shape->correlation;
    }
    return y;
}

static VfStatus make_lines(const VfSignal *signal, size_t n, bool is_rank, VfArena *arena,
                           VfPlotPanel *panel, VfErr *err)
{
    VfPlotLine *line = VF_NEW_ARRAY(arena, VfPlotLine, 2 * n);
    VF_TRY_ALLOC(line, err);
    for (size_t i = 0; i < n; i++)
        for (int is_data = 0; is_data < (signal[i].n_sample > 0 ? 2 : 1); is_data++) {
            const double *y = numbers(arena, &signal[i], is_data == 1, is_rank);
            const char *label = vf_arena_printf(arena, "%s%s", signal[i].title,
                                                is_data == 1 ? ", measured" : ", logits at zero");
            VF_TRY_ALLOC(y, err);
            VF_TRY_ALLOC(label, err);
            line[panel->n_line++] =
                (VfPlotLine){label, (int32_t)i, is_data == 1, signal[i].n_row, y};
            for (int32_t k = 0; k < signal[i].n_row; k++) {
                panel->high = y[k] > panel->high ? y[k] : panel->high;
                panel->low = y[k] < panel->low ? y[k] : panel->low;
            }
        }
    panel->line = line;
    return VF_OK;
}

VfStatus vf_signals_svg(const VfSignal *signal, size_t n, VfArena *arena, VfBytes *svg, VfErr *err)
{
    VfPlotPanel panel[] = {
        {.title = "mean correlation of two tokens", .low = 0, .high = 1},
        {.title = "effective rank", .low = 0, .high = 1},
    };
    VfText text;
    vf_text_init(&text, arena);
    VF_TRY(make_lines(signal, n, false, arena, &panel[0], err));
    VF_TRY(make_lines(signal, n, true, arena, &panel[1], err));
    vf_plot_svg(panel, 2, "attention, in the order of the graph", &text);
    return vf_text_get(&text, svg, err);
}
