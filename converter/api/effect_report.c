/* The numeric effect as JSON, as tables and as a plot. */
#include "converter/api/effect.h"
#include "converter/api/profile.h"

static void json_rows(VfJson *json, const char *key, const VfMoved *row, size_t n)
{
    vf_json_array(json, key);
    for (size_t i = 0; i < n; i++) {
        vf_json_object(json, NULL);
        vf_moved_json(json, &row[i]);
        vf_json_end(json);
    }
    vf_json_end(json);
}

static void json_blocks(VfJson *json, const VfEffect *effect)
{
    vf_json_array(json, "blocks");
    for (int32_t i = 0; i < effect->n_block; i++) {
        vf_json_object_row(json, NULL);
        vf_json_bytes(json, "name", effect->block[i].name);
        vf_json_int(json, "depth", effect->block[i].depth);
        vf_json_end(json);
    }
    vf_json_end(json);
}

void vf_effect_json(const VfEffect *effect, VfJson *json)
{
    if (effect == NULL) {
        vf_json_null(json, "effect");
        return;
    }
    vf_json_object(json, "effect");
    vf_json_string(json, "noise", "reordered sums");
    vf_json_string(json, "block_ends", effect->has_residuals ? "residual adds" : "layers");
    json_blocks(json, effect);
    vf_json_array(json, "stages");
    for (size_t i = 0; i < effect->n_stage; i++) {
        const VfEffectStage *stage = &effect->stage[i];
        vf_json_object(json, NULL);
        vf_json_string(json, "pass", stage->pass);
        vf_json_int(json, "edits", stage->n_edit);
        json_rows(json, "outputs", stage->output, effect->output->n_array);
        json_rows(json, "blocks", stage->block, (size_t)effect->n_block);
        vf_json_end(json);
    }
    vf_json_end(json);
    vf_json_end(json);
}

/* --- tables --- */

void vf_effect_outputs(const VfEffect *effect, VfArena *arena, VfTable *table)
{
    vf_table_init(table, arena, "lr" VF_MOVED_ALIGN);
    vf_table_printf(table, "after");
    vf_table_printf(table, "edits");
    vf_moved_head(table);
    for (size_t i = 0; i < effect->n_stage; i++)
        for (size_t k = 0; k < effect->output->n_array; k++) {
            vf_table_printf(table, "%s", effect->stage[i].pass);
            vf_table_printf(table, "%d", effect->stage[i].n_edit);
            vf_moved_cells(table, &effect->stage[i].output[k]);
        }
}

static void print_outputs(const VfEffect *effect, VfArena *arena, VfText *text)
{
    VfTable table;
    vf_effect_outputs(effect, arena, &table);
    vf_text_string(text, "\nnumeric effect on the data given, against the original; noise: the "
                         "original with reordered sums\n");
    vf_table_print(&table, 2, text);
}

static void relative_cell(VfTable *table, const VfMoved *moved, bool is_noise)
{
    if (moved->fault != NULL)
        vf_table_printf(table, "-");
    else
        vf_table_printf(table, "%.2e",
                        is_noise ? moved->noise.norm_rel : moved->distance.norm_rel);
}

void vf_effect_blocks(const VfEffect *effect, VfArena *arena, VfTable *table)
{
    enum { FIXED = 3, MOST = VF_TABLE_MAX_COLUMNS - FIXED };
    static const char align[VF_TABLE_MAX_COLUMNS + 1] = "rlrrrrrrrrrrrrrr";
    size_t first = effect->n_stage > MOST ? effect->n_stage - MOST : 0;
    vf_table_init(table, arena, align);
    table->n_column = (int)(FIXED + effect->n_stage - first);
    vf_table_printf(table, "depth");
    vf_table_printf(table, "end of block");
    vf_table_printf(table, "noise");
    for (size_t i = first; i < effect->n_stage; i++)
        vf_table_printf(table, "%s", effect->stage[i].pass);
    for (int32_t k = 0; k < effect->n_block; k++) {
        vf_table_printf(table, "%d", effect->block[k].depth);
        vf_table_cell(table, effect->block[k].name);
        relative_cell(table, &effect->stage[0].block[k], true);
        for (size_t i = first; i < effect->n_stage; i++)
            relative_cell(table, &effect->stage[i].block[k], false);
    }
}

static void print_blocks(const VfEffect *effect, VfArena *arena, VfText *text)
{
    VfTable table;
    vf_effect_blocks(effect, arena, &table);
    vf_text_printf(text, "along the depth, |new - old| / |old| at the %s\n",
                   effect->has_residuals ? "residual adds" : "layers");
    vf_table_print(&table, 2, text);
}

void vf_effect_text(const VfEffect *effect, VfArena *arena, VfText *text)
{
    if (effect == NULL)
        return;
    if (effect->n_stage == 0) {
        vf_text_string(text, "no numeric effect: no pass made an edit\n");
        return;
    }
    print_outputs(effect, arena, text);
    if (effect->n_block > 0)
        print_blocks(effect, arena, text);
}

/* --- plot --- */

static VfStatus add_line(const VfEffect *effect, size_t stage, bool is_noise, VfArena *arena,
                         VfPlotLine *line, VfErr *err)
{
    *line = (VfPlotLine){is_noise ? "noise floor" : effect->stage[stage].pass,
                         is_noise ? 0 : (int32_t)stage + 1, is_noise, effect->n_block,
                         vf_curve(arena, effect->stage[stage].block, (size_t)effect->n_block,
                                  is_noise)};
    VF_TRY_ALLOC(line->y, err);
    return VF_OK;
}

VfStatus vf_effect_svg(const VfEffect *effect, VfArena *arena, VfBytes *svg, VfErr *err)
{
    VfText text;
    *svg = (VfBytes){0};
    if (effect == NULL || effect->n_stage == 0 || effect->n_block == 0)
        return VF_OK;
    VfPlotLine *line = VF_NEW_ARRAY(arena, VfPlotLine, effect->n_stage + 1);
    VfPlotPanel panel = {.title = "|new - old| / |old| at the ends of blocks", .line = line};
    VF_TRY_ALLOC(line, err);
    VF_TRY(add_line(effect, 0, true, arena, &line[panel.n_line++], err));
    for (size_t i = 0; i < effect->n_stage; i++)
        VF_TRY(add_line(effect, i, false, arena, &line[panel.n_line++], err));
    vf_curves_fit(&panel);
    vf_text_init(&text, arena);
    vf_plot_svg(&panel, 1, "end of block, in the order of the graph", &text);
    return vf_text_get(&text, svg, err);
}
