/* The page of a conversion. */
#include "converter/api/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "converter/api/effect.h"
#include "converter/api/model_map.h"
#include "converter/report/html/page_journal.h"

VfStatus vf_page_new(VfArena *arena, const char *title, VfPage **result, VfErr *err)
{
    VfPage *page = VF_NEW(arena, VfPage);
    VF_TRY_ALLOC(page, err);
    *page = (VfPage){.arena = arena, .title = title};
    page->maker = vf_arena_printf(arena, "vitfold %s", vitfold_version());
    VF_TRY_ALLOC(page->maker, err);
    *result = page;
    return VF_OK;
}

VfStatus vf_page_of_transform(VfArena *arena, const VitfoldModel *model, VfPage **result,
                              VfErr *err)
{
    VfPage *page;
    VF_TRY(vf_page_new(arena, "What the conversion changed", &page, err));
    page->from = vf_bytes(model->path);
    VfPassStats *stats = VF_NEW_ARRAY(arena, VfPassStats, (size_t)model->n_stats);
    VfPagePass *pass = VF_NEW_ARRAY(arena, VfPagePass, (size_t)model->n_stats);
    VF_TRY_ALLOC(stats, err);
    VF_TRY_ALLOC(pass, err);
    int32_t n = vf_merge_stats(model, stats);
    for (int32_t i = 0; i < n; i++)
        pass[i] = (VfPagePass){stats[i].pass->name, stats[i].pass->summary,
                               vf_exactness_name(stats[i].pass->exactness),
                               stats[i].pass->is_cleanup};
    if (model->journal != NULL)
        VF_TRY(vf_page_add_journal(page, model->journal, pass, (size_t)n, err));
    *result = page;
    return vf_effect_section(model->effect, page, err);
}

VfStatus vf_page_add_map(VfPage *page, const char *caption, VfModel *model,
                         const VfSiteList *sites, VfErr *err)
{
    VfDrawSheet sheet;
    VfText text;
    VfPageFigure figure = {.caption = vf_bytes(caption)};
    const char *prefix = vf_arena_printf(page->arena, "map%zu", page->n_map);
    VF_TRY_ALLOC(prefix, err);
    vf_text_init(&text, page->arena);
    VF_TRY(vf_model_map(page->arena, model, sites, figure.caption, &sheet, err));
    VfStatus status = vf_sheet_svg(&sheet, &(VfSvgOptions){.prefix = prefix, .has_legend = true},
                                   &text, err);
    if (status == VF_UNSUPPORTED) {
        page->note = vf_bytes("There is no map: the graph is too large for one.");
        return VF_OK;
    }
    VF_TRY(status);
    VF_TRY(vf_text_get(&text, &figure.svg, err));
    page->map[page->n_map++] = figure;
    return VF_OK;
}

static VfStatus map_file(VfPage *page, const char *caption, VfModel *model, VfErr *err)
{
    VfSiteList sites;
    VF_TRY(vf_sites_find(page->arena, model, &sites, err));
    return vf_page_add_map(page, caption, model, &sites, err);
}

/* Models that cannot be cleaned up can be compared all the same. */
VfStatus vf_page_add_file_map(VfPage *page, const char *caption, const VitfoldModel *model,
                              VfErr *err)
{
    VfModel *again;
    if (model->journal != NULL)
        return VF_OK;
    VF_TRY(vf_load_again(model, NULL, 0, &again, err));
    VfStatus status = map_file(page, caption, again, err);
    vf_model_free(again);
    return status == VF_INVALID || status == VF_UNSUPPORTED ? VF_OK : status;
}

/* --- summary --- */

static VfStatus put(VfArena *arena, VfBytes *out, VfErr *err, const char *fmt, ...)
    VF_PRINTF(4, 5);

static VfStatus put(VfArena *arena, VfBytes *out, VfErr *err, const char *fmt, ...)
{
    char small[200];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    const char *copy = vf_arena_copy(arena, small, n < 0 ? 0 : strlen(small));
    VF_TRY_ALLOC(copy, err);
    *out = vf_bytes(copy);
    return VF_OK;
}

/* "−49 %", "unchanged", or nothing where shares say nothing. */
static VfStatus share(VfArena *arena, double before, double after, VfBytes *out, VfErr *err)
{
    double percent = 100 * (after - before) / before;
    *out = (VfBytes){"", 0};
    if (!isfinite(percent))
        return VF_OK;
    if (before == after)
        return put(arena, out, err, "unchanged");
    const char *sign = percent < 0 ? "\xe2\x88\x92" : "+";
    return put(arena, out, err, fabs(percent) < 10 ? "%s%.2g %%" : "%s%.0f %%", sign,
               fabs(percent));
}

/* A number and its unit stay on one line. */
static VfStatus join(VfArena *arena, VfBytes *value, VfErr *err)
{
    VfText text;
    vf_text_init(&text, arena);
    for (size_t i = 0; i < value->size; i++)
        if (value->data[i] == ' ')
            vf_text_string(&text, "\xc2\xa0");
        else
            vf_text_char(&text, value->data[i]);
    return vf_text_get(&text, value, err);
}

static VfStatus fact_of(VfArena *arena, const VfInspection *side, size_t i, VfPageFact *fact,
                        VfErr *err)
{
    VfText text[2];
    double number[2];
    VfBytes value[2];
    for (int k = 0; k < 2; k++) {
        vf_text_init(&text[k], arena);
        fact->label = vf_inspection_fact(&side[k], i, &text[k], &number[k]);
        if (fact->label == NULL)
            return VF_OK;
        VF_TRY(vf_text_get(&text[k], &value[k], err));
        if (!isnan(number[k]))
            VF_TRY(join(arena, &value[k], err));
    }
    fact->value = value[0];
    if (!vf_bytes_is_equal(value[0], value[1]))
        VF_TRY(put(arena, &fact->value, err, "%s \xe2\x86\x92 %s", value[0].data, value[1].data));
    return share(arena, number[0], number[1], &fact->remark, err);
}

static VfStatus add_facts(VfPage *page, const VfInspection *side, VfErr *err)
{
    VfPageFact fact = {0}, *list = NULL;
    size_t capacity = 0;
    VF_TRY(fact_of(page->arena, side, 0, &fact, err));
    while (fact.label != NULL) {
        VF_TRY(vf_arena_grow(page->arena, (void **)&list, &capacity, page->n_fact + 1,
                             sizeof *list, err));
        list[page->n_fact++] = fact;
        VF_TRY(fact_of(page->arena, side, page->n_fact, &fact, err));
    }
    page->fact = list;
    return VF_OK;
}

static int64_t count_of(const VfInspection *side, VfBytes name)
{
    for (size_t i = 0; i < side->n_op; i++)
        if (vf_bytes_is_equal(side->op[i].name, name))
            return side->op[i].n;
    return 0;
}

static VfStatus operator_row(VfPageTable *table, VfBytes name, int64_t a, int64_t b, VfErr *err)
{
    VF_TRY(vf_page_cell(table, (VfPageCell){.text = name}, err));
    VF_TRY(vf_page_cellf(table, err, "%lld", (long long)a));
    VF_TRY(vf_page_cellf(table, err, "%lld", (long long)b));
    return vf_page_change(table, b - a, err);
}

/* Both lists are sorted by name. */
static VfStatus add_operators(VfPageTable *table, const VfInspection *side, VfErr *err)
{
    size_t i = 0, k = 0;
    while (i < side[0].n_op || k < side[1].n_op) {
        int order = i == side[0].n_op   ? 1
                    : k == side[1].n_op ? -1
                                        : vf_bytes_compare(side[0].op[i].name,
                                                           side[1].op[k].name);
        VfBytes name = order <= 0 ? side[0].op[i].name : side[1].op[k].name;
        VF_TRY(operator_row(table, name, count_of(&side[0], name), count_of(&side[1], name),
                            err));
        i += order <= 0;
        k += order >= 0;
    }
    return VF_OK;
}

static VfStatus add_passes(VfPageTable *table, const VitfoldModel *model, VfErr *err)
{
    VfPassStats *stats = VF_NEW_ARRAY(table->arena, VfPassStats, (size_t)model->n_stats);
    VF_TRY_ALLOC(stats, err);
    int32_t n = vf_merge_stats(model, stats);
    for (int32_t i = 0; i < n; i++) {
        VfPageCell name = {.text = vf_bytes(stats[i].pass->name)};
        if (stats[i].n_edit + stats[i].n_refusal > 0) {
            name.href = vf_arena_printf(table->arena, "#pass-%s", stats[i].pass->name);
            VF_TRY_ALLOC(name.href, err);
        }
        VF_TRY(vf_page_cell(table, name, err));
        VF_TRY(vf_page_cellf(table, err, "%s", vf_exactness_name(stats[i].pass->exactness)));
        VF_TRY(vf_page_cellf(table, err, "%d", stats[i].n_edit));
        VF_TRY(vf_page_cellf(table, err, "%d", stats[i].n_refusal));
    }
    return VF_OK;
}

VfStatus vf_page_add_sides(VfPage *page, const VitfoldModel *model, const VfInspection *side,
                           VfErr *err)
{
    static const char *const pass_head[] = {"pass", "exactness", "edits", "left alone"};
    static const char *const op_head[] = {"operator", "before", "after", "change"};
    page->table = VF_NEW_ARRAY(page->arena, VfPageTable, 2);
    VF_TRY_ALLOC(page->table, err);
    page->n_table = 2;
    vf_page_table_init(&page->table[0], page->arena, "llrr", pass_head);
    vf_page_table_init(&page->table[1], page->arena, "lrrr", op_head);
    page->table[0].caption = "Passes";
    page->table[1].caption = "Operators";
    VF_TRY(add_facts(page, side, err));
    VF_TRY(add_passes(&page->table[0], model, err));
    return add_operators(&page->table[1], side, err);
}
