#include <math.h>
#include <string.h>

#include "converter/api/inspect.h"

static void print_ends(const VfInspection *inspection, VfArena *arena, VfText *text)
{
    const VfModel *ir = inspection->model->ir;
    VfTable table;
    vf_table_init(&table, arena, "lll");
    for (int32_t i = 0; i < ir->graph->n_input; i++) {
        const VfValue *input = ir->graph->input[i];
        if (!vf_is_required_input(input))
            continue;
        vf_table_printf(&table, "input");
        vf_table_cell(&table, input->name);
        vf_table_printf(&table, "%s", vf_type_text(arena, ir->symbols, &input->type));
    }
    for (int32_t i = 0; i < ir->graph->ret->n_in; i++) {
        vf_table_printf(&table, "output");
        vf_table_cell(&table, ir->graph->output_name[i]);
        vf_table_printf(&table, "%s",
                        vf_type_text(arena, ir->symbols, &ir->graph->output_type[i]));
    }
    vf_table_print(&table, 0, text);
}

static void print_ops(const VfInspection *inspection, VfText *text)
{
    size_t column = 0;
    vf_text_printf(text, "\n%lld operators\n ", (long long)inspection->n_node);
    for (size_t i = 0; i < inspection->n_op; i++) {
        size_t before = text->size;
        vf_text_char(text, ' ');
        vf_text_visible(text, inspection->op[i].name);
        vf_text_printf(text, ":%lld", (long long)inspection->op[i].n);
        column += text->size - before;
        if (column > 80 && i + 1 < inspection->n_op) {
            vf_text_string(text, "\n ");
            column = 0;
        }
    }
    vf_text_char(text, '\n');
}

void vf_inspection_misfit(const VfInspection *inspection, VfText *text)
{
    vf_text_string(text, "costs are not known for ");
    for (size_t i = 0; i < inspection->n_assumed; i++)
        vf_text_printf(text, "%s%s = %lld", i == 0 ? "" : ", ", inspection->assumed[i].name,
                       (long long)inspection->assumed[i].size);
    vf_text_string(text, ", which the model does not fit: give a size with --dim NAME=N\n");
}

static void print_cost(const VfInspection *inspection, VfText *text)
{
    const VfCost *cost = &inspection->cost;
    if (!inspection->has_cost) {
        vf_inspection_misfit(inspection, text);
        return;
    }
    vf_text_string(text, "\nparameters  ");
    vf_text_count(text, (double)cost->n_parameter);
    vf_text_string(text, " (");
    vf_text_bytes(text, cost->parameter_bytes);
    vf_text_string(text, ")\nflops       ");
    vf_text_count(text, cost->flops);
    if (cost->n_unknown > 0)
        vf_text_printf(text, " without %d nodes of unknown shape", cost->n_unknown);
    vf_text_string(text, "\nactivations ");
    vf_text_bytes(text, cost->activation_bytes);
    vf_text_char(text, '\n');
    for (size_t i = 0; i < inspection->n_assumed; i++)
        vf_text_printf(text, "%s%s = %lld%s", i == 0 ? "with        " : ", ",
                       inspection->assumed[i].name, (long long)inspection->assumed[i].size,
                       i + 1 == inspection->n_assumed ? "\n" : "");
}

/* A count in units, "-" for none. */
static void cell(VfTable *table, VfArena *arena, void (*print)(VfText *, double), double value)
{
    VfText text;
    VfBytes done = {"?", 1};
    vf_text_init(&text, arena);
    if (value > 0)
        print(&text, value);
    else
        vf_text_char(&text, '-');
    table->failed |= vf_text_get(&text, &done, NULL) != VF_OK;
    vf_table_cell(table, done);
}

/* Operators that do or hold something. */
static void print_op_costs(const VfInspection *inspection, VfArena *arena, VfText *text)
{
    static const char *const head[] = {"work",       "nodes",   "flops",  "share",
                                       "parameters", "weights", "results"};
    double all = inspection->cost.flops > 0 ? inspection->cost.flops : 1;
    VfTable table;
    vf_table_init(&table, arena, "lrrrrrr");
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        vf_table_printf(&table, "%s", head[i]);
    size_t n_row = 0;
    for (size_t i = 0; i < inspection->n_op_cost; i++) {
        const VfOpCost *op = &inspection->op_cost[i];
        if (op->flops <= 0 && op->parameter_bytes <= 0 && op->result_bytes <= 0)
            continue;
        n_row++;
        vf_table_cell(&table, op->name);
        vf_table_printf(&table, "%lld", (long long)op->n);
        cell(&table, arena, vf_text_count, op->flops);
        vf_table_printf(&table, "%.1f%%", 100 * op->flops / all);
        cell(&table, arena, vf_text_count, (double)op->n_parameter);
        cell(&table, arena, vf_text_bytes, op->parameter_bytes);
        cell(&table, arena, vf_text_bytes, op->result_bytes);
    }
    if (n_row == 0)
        return;
    vf_text_char(text, '\n');
    vf_table_print(&table, 0, text);
}

/* `text`; NULL, for want of memory, is remembered by the table. */
static const char *made(VfTable *table, const char *text)
{
    table->failed |= text == NULL;
    return text == NULL ? "" : text;
}

static const char *dim(VfTable *table, const VfInspection *inspection, VfDim d)
{
    return made(table, vf_dim_text(table->arena, inspection->clean->symbols, d));
}

/* "window", "causal", "cross", "bias" as they apply; "-" for none. */
static const char *traits(VfTable *table, const VfAttention *site)
{
    VfText text;
    VfBytes done = {NULL, 0};
    vf_text_init(&text, table->arena);
    const struct {
        bool is_on;
        const char *word;
    } trait[] = {
        {site->is_window, "window"},
        {site->is_causal, "causal"},
        {site->is_cross, "cross"},
        {site->has_bias, "bias"},
        {site->mask != VF_MASK_NONE && site->mask != VF_MASK_CAUSAL, "mask"},
        {site->act != NULL, site->act},
        {site->why != NULL, site->why},
    };
    for (size_t i = 0; i < sizeof trait / sizeof trait[0]; i++)
        if (trait[i].is_on)
            vf_text_printf(&text, "%s%s", text.size == 0 ? "" : ", ", trait[i].word);
    if (text.size == 0)
        vf_text_char(&text, '-');
    vf_text_get(&text, &done, NULL);
    return made(table, done.data);
}

/* "14x14+1": rows, columns and the tokens before them. */
static const char *grid(VfTable *table, const VfInspection *inspection, const VfAttention *site)
{
    if (site->grid_h.sym == VF_SYM_UNKNOWN || site->grid_w.sym == VF_SYM_UNKNOWN)
        return "-";
    return made(table, vf_arena_printf(table->arena, "%sx%s+%s",
                                       dim(table, inspection, site->grid_h),
                                       dim(table, inspection, site->grid_w),
                                       dim(table, inspection, site->prefix)));
}

static void print_attentions(const VfInspection *inspection, VfArena *arena, VfText *text)
{
    const VfAttentions *found = &inspection->sites.attention;
    if (found->n_site == 0)
        return;
    static const char *const head[] = {"#",    "attention", "heads", "queries", "keys", "width",
                                       "scale", "grid",      "what",  "name"};
    VfTable table;
    vf_table_init(&table, arena, "rlrrrrrlll");
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        vf_table_printf(&table, "%s", head[i]);
    for (int32_t i = 0; i < found->n_site; i++) {
        const VfAttention *site = &found->site[i];
        vf_table_printf(&table, "%d", site->index);
        vf_table_printf(&table, "%s", vf_attention_kind_name(site->kind));
        vf_table_printf(&table, "%s", dim(&table, inspection, site->heads));
        vf_table_printf(&table, "%s", dim(&table, inspection, site->n_q));
        vf_table_printf(&table, "%s", dim(&table, inspection, site->n_k));
        vf_table_printf(&table, "%s", dim(&table, inspection, site->d));
        vf_table_printf(&table, site->scale_value != NULL ? "run time" : "%.4g", site->scale);
        vf_table_printf(&table, "%s", grid(&table, inspection, site));
        vf_table_printf(&table, "%s", traits(&table, site));
        vf_table_cell(&table, vf_bytes(site->label));
    }
    vf_text_char(text, '\n');
    vf_table_print(&table, 0, text);
}

static void print_layer_norms(const VfInspection *inspection, VfArena *arena, VfText *text)
{
    const VfNorms *found = &inspection->sites.norm;
    if (found->n_layer == 0)
        return;
    VfTable table;
    vf_table_init(&table, arena, "lrll");
    vf_table_printf(&table, "norm");
    vf_table_printf(&table, "width");
    vf_table_printf(&table, "spelling");
    vf_table_printf(&table, "name");
    for (int32_t i = 0; i < found->n_layer; i++) {
        const VfLayerNorm *site = &found->layer[i];
        vf_table_printf(&table, "%s%s", site->is_rms ? "RMSNorm" : "LayerNorm",
                        site->is_over_channels ? " (channels)" : "");
        vf_table_printf(&table, "%s", dim(&table, inspection, site->width));
        vf_table_printf(&table, "%s", site->is_decomposed ? "decomposed" : "operator");
        vf_table_cell(&table, vf_bytes(site->label));
    }
    vf_text_char(text, '\n');
    vf_table_print(&table, 0, text);
}

static void print_batch_norms(const VfInspection *inspection, VfArena *arena, VfText *text)
{
    const VfSiteList *sites = &inspection->sites;
    if (sites->norm.n_batch == 0)
        return;
    VfTable table;
    vf_table_init(&table, arena, "lrll");
    vf_table_printf(&table, "norm");
    vf_table_printf(&table, "channels");
    vf_table_printf(&table, "fold");
    vf_table_printf(&table, "name");
    for (int32_t i = 0; i < sites->norm.n_batch; i++) {
        const VfBatchNorm *site = &sites->norm.batch[i];
        vf_table_printf(&table, "%s", site->is_rep ? "RepBN" : "BatchNorm");
        vf_table_printf(&table, "%lld", (long long)site->channels);
        vf_table_printf(&table, "%s%s", vf_fold_direction_name(sites->fold[i].direction),
                        sites->fold[i].needs_border_map ? " (border map)" : "");
        vf_table_cell(&table, vf_bytes(site->label));
    }
    vf_text_char(text, '\n');
    vf_table_print(&table, 0, text);
}

void vf_inspection_text(const VfInspection *inspection, VfArena *arena, VfText *text)
{
    const VfModel *ir = inspection->model->ir;
    vf_text_printf(text, "%s\nIR %lld", inspection->model->path, (long long)ir->ir_version);
    for (int32_t i = 0; i < ir->n_opset; i++)
        vf_text_printf(text, ", %s %lld",
                       ir->opset[i].domain.size == 0 ? "opset"
                                                     : vf_show(arena, ir->opset[i].domain),
                       (long long)ir->opset[i].version);
    if (ir->producer_name.size > 0)
        vf_text_printf(text, ", made by %s %s", vf_show(arena, ir->producer_name),
                       vf_show(arena, ir->producer_version));
    vf_text_string(text, "\n\n");
    print_ends(inspection, arena, text);
    print_ops(inspection, text);
    print_cost(inspection, text);
    print_op_costs(inspection, arena, text);
    print_attentions(inspection, arena, text);
    print_layer_norms(inspection, arena, text);
    print_batch_norms(inspection, arena, text);
}
