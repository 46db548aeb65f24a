#include "converter/report/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void vf_table_init(VfTable *table, VfArena *arena, const char *align)
{
    *table = (VfTable){.arena = arena, .align = align, .n_column = (int)strlen(align)};
}

void vf_table_cell(VfTable *table, VfBytes value)
{
    VfText text;
    VfBytes shown;
    vf_text_init(&text, table->arena);
    vf_text_visible(&text, value);
    void *cells = table->cell;
    if (table->failed || vf_text_get(&text, &shown, NULL) != VF_OK ||
        vf_arena_grow(table->arena, &cells, &table->capacity, table->n_cell + 1,
                      sizeof *table->cell, NULL) != VF_OK) {
        table->failed = true;
        return;
    }
    table->cell = cells;
    table->cell[table->n_cell++] = shown;
}

void vf_table_printf(VfTable *table, const char *fmt, ...)
{
    char cell[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(cell, sizeof cell, fmt, args);
    va_end(args);
    size_t size = n < 0 ? 0 : (size_t)n < sizeof cell ? (size_t)n : sizeof cell - 1;
    vf_table_cell(table, (VfBytes){cell, size});
}

static void print_cell(const VfTable *table, size_t i, size_t width, VfText *text)
{
    int column = (int)(i % (size_t)table->n_column);
    size_t pad = width - vf_visible_width(table->cell[i]);
    bool is_right = table->align[column] == 'r';
    bool is_last = column == table->n_column - 1;
    if (is_right)
        vf_text_repeat(text, ' ', pad);
    vf_text_add(text, table->cell[i].data, table->cell[i].size);
    if (!is_right && !is_last)
        vf_text_repeat(text, ' ', pad);
    vf_text_string(text, is_last ? "\n" : "  ");
}

void vf_table_print(const VfTable *table, size_t indent, VfText *text)
{
    size_t width[VF_TABLE_MAX_COLUMNS] = {0};
    size_t n_column = (size_t)table->n_column;
    size_t n = table->n_cell / n_column * n_column;
    if (table->failed)
        text->failed = true;
    for (size_t i = 0; i < n; i++) {
        size_t cell = vf_visible_width(table->cell[i]);
        if (cell > width[i % n_column])
            width[i % n_column] = cell;
    }
    for (size_t i = 0; i < n; i++) {
        if (i % n_column == 0)
            vf_text_repeat(text, ' ', indent);
        print_cell(table, i, width[i % n_column], text);
    }
}

static void print_scaled(VfText *text, double value, double step, const char *const *unit, int n)
{
    int i = 0;
    while (value >= step && i < n - 1) {
        value /= step;
        i++;
    }
    vf_text_printf(text, i == 0 ? "%.0f%s" : value < 10 ? "%.2f%s" : "%.1f%s", value, unit[i]);
}

void vf_text_count(VfText *text, double count)
{
    static const char *const unit[] = {"", " k", " M", " G", " T", " P"};
    print_scaled(text, count, 1000, unit, 6);
}

void vf_text_bytes(VfText *text, double bytes)
{
    static const char *const unit[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    print_scaled(text, bytes, 1024, unit, 5);
}
