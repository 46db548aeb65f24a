/* Several models side by side. */
#include <math.h>
#include <string.h>

#include "converter/api/inspect.h"

/* One fact as a cell. */
typedef void CellFn(const VfInspection *inspection, VfText *text);

/* The same as a number, NaN where it is not known. */
typedef double NumberFn(const VfInspection *inspection);

static void cell_nodes(const VfInspection *inspection, VfText *text)
{
    vf_text_printf(text, "%lld", (long long)inspection->n_node);
}

static void cell_parameters(const VfInspection *inspection, VfText *text)
{
    vf_text_count(text, (double)inspection->cost.n_parameter);
}

static void cell_bytes(const VfInspection *inspection, VfText *text)
{
    vf_text_bytes(text, inspection->cost.parameter_bytes);
}

static void cell_flops(const VfInspection *inspection, VfText *text)
{
    if (inspection->has_cost)
        vf_text_count(text, inspection->cost.flops);
    else
        vf_text_char(text, '?');
}

static void cell_activations(const VfInspection *inspection, VfText *text)
{
    if (inspection->has_cost)
        vf_text_bytes(text, inspection->cost.activation_bytes);
    else
        vf_text_char(text, '?');
}

static void cell_attention(const VfInspection *inspection, VfText *text)
{
    for (int kind = VF_ATTENTION_SOFTMAX; kind <= VF_ATTENTION_OTHER; kind++) {
        int32_t n = vf_sites_count(&inspection->sites, (VfAttentionKind)kind);
        if (n > 0)
            vf_text_printf(text, "%s%d %s", text->size == 0 ? "" : ", ", n,
                           vf_attention_kind_name((VfAttentionKind)kind));
    }
    if (text->size == 0)
        vf_text_char(text, '0');
}

static void cell_layer_norm(const VfInspection *inspection, VfText *text)
{
    vf_text_printf(text, "%d", inspection->sites.norm.n_layer);
}

static void cell_batch_norm(const VfInspection *inspection, VfText *text)
{
    vf_text_printf(text, "%d", inspection->sites.norm.n_batch);
}

static double number_nodes(const VfInspection *inspection)
{
    return (double)inspection->n_node;
}

static double number_parameters(const VfInspection *inspection)
{
    return (double)inspection->cost.n_parameter;
}

static double number_bytes(const VfInspection *inspection)
{
    return inspection->cost.parameter_bytes;
}

static double number_flops(const VfInspection *inspection)
{
    return inspection->has_cost ? inspection->cost.flops : (double)NAN;
}

static double number_activations(const VfInspection *inspection)
{
    return inspection->has_cost ? inspection->cost.activation_bytes : (double)NAN;
}

/* number: NULL where a share of change would say nothing. */
static const struct {
    const char *name;
    CellFn *print;
    NumberFn *number;
} row[] = {
    {"operators", cell_nodes, number_nodes},
    {"parameters", cell_parameters, number_parameters},
    {"weights", cell_bytes, number_bytes},
    {"flops", cell_flops, number_flops},
    {"activations", cell_activations, number_activations},
    {"attention", cell_attention, NULL},
    {"layer norms", cell_layer_norm, NULL},
    {"batch norms", cell_batch_norm, NULL},
};

const char *vf_inspection_fact(const VfInspection *inspection, size_t i, VfText *text,
                               double *number)
{
    if (i >= sizeof row / sizeof row[0])
        return NULL;
    row[i].print(inspection, text);
    *number = row[i].number == NULL ? (double)NAN : row[i].number(inspection);
    return row[i].name;
}

void vf_inspections_text(const VfInspection *inspection, size_t n, VfArena *arena, VfText *text)
{
    char align[VF_TABLE_MAX_COLUMNS + 1] = "l";
    size_t n_shown = n < VF_TABLE_MAX_COLUMNS - 1 ? n : VF_TABLE_MAX_COLUMNS - 1;
    memset(align + 1, 'r', n_shown);
    VfTable table;
    vf_table_init(&table, arena, align);
    vf_table_printf(&table, "%s", "");
    for (size_t i = 0; i < n_shown; i++)
        vf_table_cell(&table, vf_bytes(inspection[i].title));
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        vf_table_printf(&table, "%s", row[r].name);
        for (size_t i = 0; i < n_shown; i++) {
            VfText cell;
            VfBytes done = {"?", 1};
            vf_text_init(&cell, arena);
            row[r].print(&inspection[i], &cell);
            if (vf_text_get(&cell, &done, NULL) == VF_OK)
                vf_table_cell(&table, done);
        }
    }
    vf_table_print(&table, 0, text);
    for (size_t i = 0; i < n; i++)
        if (!inspection[i].has_cost) {
            vf_text_printf(text, "%s: ", inspection[i].title);
            vf_inspection_misfit(&inspection[i], text);
        }
}
