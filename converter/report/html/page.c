#include "converter/report/html/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void vf_page_table_init(VfPageTable *table, VfArena *arena, const char *align,
                        const char *const *head)
{
    *table = (VfPageTable){.arena = arena, .align = align, .head = head};
}

VfStatus vf_page_cell(VfPageTable *table, VfPageCell cell, VfErr *err)
{
    VF_TRY(vf_arena_grow(table->arena, (void **)&table->cell, &table->capacity, table->n_cell + 1,
                         sizeof *table->cell, err));
    table->cell[table->n_cell++] = cell;
    return VF_OK;
}

VfStatus vf_page_code(VfPageTable *table, VfBytes text, VfErr *err)
{
    return vf_page_cell(table, (VfPageCell){.text = text, .is_code = true}, err);
}

VfStatus vf_page_cellf(VfPageTable *table, VfErr *err, const char *fmt, ...)
{
    char small[256];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof small)
        return vf_fail(err, VF_INTERNAL, "a cell of a page is too long");
    const char *copy = vf_arena_copy(table->arena, small, (size_t)n);
    VF_TRY_ALLOC(copy, err);
    return vf_page_cell(table, (VfPageCell){.text = {copy, (size_t)n}}, err);
}

VfStatus vf_page_change(VfPageTable *table, int64_t change, VfErr *err)
{
    if (change == 0)
        return vf_page_cell(table, (VfPageCell){.text = {"", 0}}, err);
    return vf_page_cellf(table, err, "%s%lld", change > 0 ? "+" : "\xe2\x88\x92",
                         (long long)(change > 0 ? change : -change));
}

VfStatus vf_page_table_from(VfPageTable *table, const VfTable *text, VfErr *err)
{
    size_t n_column = (size_t)text->n_column;
    if (text->failed)
        return vf_no_memory(err);
    const char **head = VF_NEW_ARRAY(text->arena, const char *, n_column);
    const char *align = vf_arena_copy(text->arena, text->align, n_column);
    VF_TRY_ALLOC(head, err);
    VF_TRY_ALLOC(align, err);
    for (size_t i = 0; i < n_column; i++)
        head[i] = text->cell[i].data;
    vf_page_table_init(table, text->arena, align, head);
    for (size_t i = n_column; i < text->n_cell; i++)
        VF_TRY(vf_page_cell(table, (VfPageCell){.text = text->cell[i]}, err));
    return VF_OK;
}

size_t vf_page_table_rows(const VfPageTable *table)
{
    return table->n_cell == 0 ? 0 : table->n_cell / strlen(table->align);
}

VfStatus vf_page_add_section(VfPage *page, VfPageSection section, VfErr *err)
{
    if (page->n_section == VF_PAGE_SECTIONS_MAX)
        return vf_fail(err, VF_INTERNAL, "a page has more than %d sections", VF_PAGE_SECTIONS_MAX);
    page->section[page->n_section++] = section;
    return VF_OK;
}
