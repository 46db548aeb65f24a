/* Pairs of drawings put into a group of a page. */
#ifndef VF_REPORT_DRAWN_H
#define VF_REPORT_DRAWN_H

#include "converter/draw/drawing.h"
#include "converter/report/html/page.h"

/* Kinds of edits that are drawn on a page; of the rest only the lines are told. And the nodes one
 * drawing may have: larger ones nobody could read. */
enum { VF_PAGE_DRAWINGS_MAX = 160, VF_PAGE_NODES_MAX = 120 };

/* Two sides of an edit; NULL: nothing to draw there. */
typedef struct VfDrawn {
    const VfDrawing *before, *after;
    size_t n_node; /* of the larger side, also where it is not drawn */
} VfDrawn;

/* Put the drawings into `group` of the page, or say there why they are not. The page's layouter is
 * to be stopped after the last one. */
VfStatus vf_page_draw(VfPage *page, const VfDrawn *drawn, VfPageGroup *group, VfErr *err);

#endif
