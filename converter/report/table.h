/* Plain text tables: columns as wide as their widest cell, numbers to the right.
 *
 * Cells are copied into the arena. The first row is the heading.
 */
#ifndef VF_REPORT_TABLE_H
#define VF_REPORT_TABLE_H

#include "runtime/base/text.h"

enum { VF_TABLE_MAX_COLUMNS = 16 };

typedef struct VfTable {
    VfArena *arena;
    const char *align; /* one letter a column: 'l' or 'r' */
    int n_column;
    VfBytes *cell;     /* row by row */
    size_t n_cell, capacity;
    bool failed;
} VfTable;

/* An empty table whose columns are those of `align`, "lrr". */
void vf_table_init(VfTable *table, VfArena *arena, const char *align);

/* The next cell; after the last column a new row begins. Control characters are made visible. */
void vf_table_cell(VfTable *table, VfBytes value);
void vf_table_printf(VfTable *table, const char *fmt, ...) VF_PRINTF(2, 3);

/* Append the table to `text`, each line indented by `indent`, two spaces between columns. */
void vf_table_print(const VfTable *table, size_t indent, VfText *text);

/* "12", "1.2 k", "3.4 M", "5.6 G" in units of 1000. */
void vf_text_count(VfText *text, double count);

/* "12 B", "1.2 KiB", ... in units of 1024. */
void vf_text_bytes(VfText *text, double bytes);

#endif
