#include "converter/api/profile.h"

#include <math.h>

VfStatus vf_profile_init(VfProfile *profile, VfArena *arena, const VfBlocks *blocks, size_t n_max,
                         VfErr *err)
{
    *profile = (VfProfile){.blocks = blocks, .name = vf_intern_new(arena),
                           .row = VF_NEW_ARRAY(arena, VfProfileRow, n_max)};
    VF_TRY_ALLOC(profile->name, err);
    VF_TRY_ALLOC(profile->row, err);
    for (int32_t i = 0; i < blocks->n_value; i++)
        VF_TRY(vf_intern_add(profile->name, blocks->value[i].name, NULL, err));
    return VF_OK;
}

void vf_profile_add(VfProfile *profile, const VfMoved *moved)
{
    int32_t id = vf_intern_find(profile->name, moved->name);
    VfProfileRow *row = &profile->row[profile->n_row++];
    *row = (VfProfileRow){*moved, -1, false};
    if (id < 0)
        return;
    row->depth = profile->blocks->value[id].depth;
    row->is_end = profile->blocks->value[id].is_end;
}

void vf_profile_json(const VfProfile *profile, const char *key, VfJson *json)
{
    vf_json_array(json, key);
    for (size_t i = 0; i < profile->n_row; i++) {
        const VfProfileRow *row = &profile->row[i];
        vf_json_object(json, NULL);
        vf_moved_json(json, &row->moved);
        if (row->depth < 0)
            vf_json_null(json, "depth");
        else
            vf_json_int(json, "depth", row->depth);
        vf_json_bool(json, "ends_block", row->is_end);
        vf_json_end(json);
    }
    vf_json_end(json);
}

void vf_profile_text(const VfProfile *profile, VfArena *arena, VfText *text)
{
    VfTable table;
    vf_table_init(&table, arena, "r" VF_MOVED_ALIGN);
    vf_table_printf(&table, "depth");
    vf_moved_head(&table);
    for (size_t i = 0; i < profile->n_row; i++) {
        const VfProfileRow *row = &profile->row[i];
        if (row->depth < 0)
            vf_table_printf(&table, "-");
        else
            vf_table_printf(&table, "%d%s", row->depth, row->is_end ? "*" : " ");
        vf_moved_cells(&table, &row->moved);
    }
    vf_table_print(&table, 0, text);
    vf_text_string(text, "* ends a block\n");
}

const double *vf_curve(VfArena *arena, const VfMoved *moved, size_t n, bool is_noise)
{
    double *y = VF_NEW_ARRAY(arena, double, n);
    for (size_t i = 0; i < n && y != NULL; i++)
        y[i] = moved[i].fault != NULL ? (double)NAN
               : is_noise             ? moved[i].noise.norm_rel
                                      : moved[i].distance.norm_rel;
    return y;
}

void vf_curves_fit(VfPlotPanel *panel)
{
    double low = (double)INFINITY, high = 0;
    for (int32_t i = 0; i < panel->n_line; i++)
        for (int32_t k = 0; k < panel->line[i].n; k++) {
            double y = panel->line[i].y[k];
            if (y > 0 && isfinite(y)) {
                low = fmin(low, y);
                high = fmax(high, y);
            }
        }
    if (high <= 0)
        low = high = 1e-7;
    panel->is_log = true;
    panel->low = pow(10, floor(log10(low)));
    panel->high = pow(10, ceil(log10(high)));
    if (panel->high <= panel->low)
        panel->high = 10 * panel->low;
}

VfStatus vf_profile_svg(const VfProfile *profile, VfArena *arena, VfBytes *svg, VfErr *err)
{
    VfText text;
    VfMoved *moved = VF_NEW_ARRAY(arena, VfMoved, profile->n_row);
    int32_t n = (int32_t)profile->n_row;
    VF_TRY_ALLOC(moved, err);
    *svg = (VfBytes){0};
    if (n == 0)
        return VF_OK;
    for (int32_t i = 0; i < n; i++)
        moved[i] = profile->row[i].moved;
    VfPlotLine line[] = {
        {"noise floor", 0, true, n, vf_curve(arena, moved, profile->n_row, true)},
        {"b against a", 1, false, n, vf_curve(arena, moved, profile->n_row, false)},
    };
    VF_TRY_ALLOC(line[0].y, err);
    VF_TRY_ALLOC(line[1].y, err);
    VfPlotPanel panel = {.title = "|b - a| / |a| of common tensors", .n_line = 2, .line = line};
    vf_curves_fit(&panel);
    vf_text_init(&text, arena);
    vf_plot_svg(&panel, 1, "common tensor, in the order of the graph", &text);
    return vf_text_get(&text, svg, err);
}
