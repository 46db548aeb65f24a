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

/* --- the table --- */

enum { BESIDE = 6, WORK_ROWS = 6 }; /* columns of a table, operators whose work is told */

typedef struct Side {
    const VfInspection *inspection; /* those of the table at hand */
    size_t n;
    size_t n_folder; /* bytes of the folder that all paths begin with */
    VfArena *arena;
    VfTable *table;
} Side;

static void cell_opset(const VfInspection *inspection, VfText *text)
{
    const VfModel *ir = inspection->model->ir;
    for (int32_t i = 0; i < ir->n_opset; i++)
        if (ir->opset[i].domain.size == 0)
            vf_text_printf(text, "%lld", (long long)ir->opset[i].version);
}

static void cell_input(const VfInspection *inspection, VfText *text)
{
    const VfModel *ir = inspection->model->ir;
    int32_t n = 0;
    for (int32_t i = 0; i < ir->graph->n_input; i++) {
        const VfValue *input = ir->graph->input[i];
        if (vf_is_required_input(input) && n++ == 0)
            vf_text_string(text, vf_type_text(text->arena, ir->symbols, &input->type));
    }
    if (n > 1)
        vf_text_printf(text, " and %d more", n - 1);
}

static void put_row(Side *side, const char *name, CellFn *print)
{
    vf_table_printf(side->table, "%s", name);
    for (size_t i = 0; i < side->n; i++) {
        VfText cell;
        VfBytes done = {"?", 1};
        vf_text_init(&cell, side->arena);
        print(&side->inspection[i], &cell);
        side->table->failed |= vf_text_get(&cell, &done, NULL) != VF_OK;
        vf_table_cell(side->table, done);
    }
}

static double work_of(const VfInspection *inspection, VfBytes op)
{
    for (size_t i = 0; i < inspection->n_op_cost; i++)
        if (vf_bytes_is_equal(inspection->op_cost[i].name, op))
            return inspection->op_cost[i].flops;
    return 0;
}

static void put_work(Side *side, VfBytes op)
{
    vf_table_printf(side->table, "flops in %.*s", (int)op.size, op.data);
    for (size_t i = 0; i < side->n; i++) {
        VfText cell;
        VfBytes done = {"?", 1};
        double work = work_of(&side->inspection[i], op);
        vf_text_init(&cell, side->arena);
        if (!side->inspection[i].has_cost)
            vf_text_char(&cell, '?');
        else if (work > 0)
            vf_text_count(&cell, work);
        else
            vf_text_char(&cell, '-');
        side->table->failed |= vf_text_get(&cell, &done, NULL) != VF_OK;
        vf_table_cell(side->table, done);
    }
}

/* The operators with most work in all models together, most first. */
static size_t find_work(const VfInspection *inspection, size_t n, VfBytes *most)
{
    double work[WORK_ROWS] = {0};
    size_t n_most = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < inspection[i].n_op_cost; k++) {
            VfBytes op = inspection[i].op_cost[k].name;
            double all = 0;
            size_t at = 0;
            for (size_t m = 0; m < n; m++)
                all += work_of(&inspection[m], op);
            while (at < n_most && !vf_bytes_is_equal(most[at], op) && work[at] >= all)
                at++;
            if (at == WORK_ROWS || all <= 0 || (at < n_most && vf_bytes_is_equal(most[at], op)))
                continue;
            n_most += n_most < WORK_ROWS;
            memmove(&most[at + 1], &most[at], (n_most - 1 - at) * sizeof *most);
            memmove(&work[at + 1], &work[at], (n_most - 1 - at) * sizeof *work);
            most[at] = op;
            work[at] = all;
        }
    return n_most;
}

/* Bytes up to the last '/' that all titles begin with. */
static size_t common_folder(const VfInspection *inspection, size_t n)
{
    const char *first = inspection[0].title;
    size_t common = strlen(first);
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < common; k++)
            if (inspection[i].title[k] != first[k])
                common = k;
    while (common > 0 && first[common - 1] != '/')
        common--;
    return common;
}

static void put_facts(Side *side)
{
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++)
        put_row(side, row[r].name, row[r].print);
}

static void begin_table(Side *side, VfTable *table)
{
    static const char align[] = "lrrrrrr"; /* BESIDE columns and their names */
    vf_table_init(table, side->arena, align);
    table->n_column = (int)side->n + 1;
    side->table = table;
    vf_table_printf(table, "%s", "");
    for (size_t i = 0; i < side->n; i++)
        vf_table_cell(table, vf_bytes(side->inspection[i].title + side->n_folder));
}

static void put_table(Side *side, const VfBytes *most, size_t n_most, VfText *text)
{
    VfTable table;
    begin_table(side, &table);
    put_row(side, "opset", cell_opset);
    put_row(side, "input", cell_input);
    put_facts(side);
    for (size_t i = 0; i < n_most; i++)
        put_work(side, most[i]);
    vf_table_print(&table, 0, text);
}

static void put_misfits(const VfInspection *inspection, size_t n, VfText *text)
{
    for (size_t i = 0; i < n; i++)
        if (!inspection[i].has_cost) {
            vf_text_printf(text, "%s: ", inspection[i].title);
            vf_inspection_misfit(&inspection[i], text);
        }
}

void vf_inspections_text(const VfInspection *inspection, size_t n, VfArena *arena, VfText *text)
{
    VfBytes most[WORK_ROWS + 1];
    size_t n_most = find_work(inspection, n, most);
    Side side = {.arena = arena, .n_folder = common_folder(inspection, n)};
    for (size_t i = 0; i < n; i += BESIDE) {
        side.inspection = &inspection[i];
        side.n = n - i < BESIDE ? n - i : BESIDE;
        vf_text_string(text, i == 0 ? "" : "\n");
        put_table(&side, most, n_most, text);
    }
    put_misfits(inspection, n, text);
}

/* Inputs are no row: those of the transformed model have sizes now that its file has not. */
void vf_sides_text(const VfInspection side[2], VfArena *arena, VfText *text)
{
    VfTable table;
    Side both = {.inspection = side, .n = 2, .arena = arena};
    begin_table(&both, &table);
    put_facts(&both);
    vf_table_print(&table, 0, text);
    put_misfits(side, 2, text);
}
