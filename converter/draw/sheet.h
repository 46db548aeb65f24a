/* Sheets: drawings one below the other, each with a label, under headings.
 *
 * A sheet is read as a page is: rows from left to right, then downwards. What leaves one row comes
 * into a later one by a dot or a box at its left.
 */
#ifndef VF_DRAW_SHEET_H
#define VF_DRAW_SHEET_H

#include "converter/draw/svg.h"

typedef struct VfDrawRow {
    VfBytes heading; /* above it; empty: that of the row before goes on */
    VfBytes label;   /* at its left */
    VfBytes note;    /* below the label; empty: none */
    const VfDrawing *drawing;
} VfDrawRow;

typedef struct VfDrawSheet {
    VfArena *arena;
    VfBytes title;
    int32_t n_row;
    VfDrawRow *row;
} VfDrawSheet;

/* Append the sheet. Options, errors and ids as for vf_drawing_svg; boxes are numbered through. */
VfStatus vf_sheet_svg(const VfDrawSheet *sheet, const VfSvgOptions *options, VfText *text,
                      VfErr *err);

#endif
