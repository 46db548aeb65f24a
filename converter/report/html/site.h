/* One edit of a journal as two drawings: the nodes it took out or put in, those whose operands it
 * moved, and what they read, right before and right after it.
 */
#ifndef VF_REPORT_SITE_H
#define VF_REPORT_SITE_H

#include "converter/report/html/drawn.h"
#include "converter/report/past.h"

/* Draw edit `i` (from 0), in `arena`; not where it has more than VF_PAGE_NODES_MAX nodes. */
VfStatus vf_site_draw(VfArena *arena, const VfJournal *journal, const VfPast *past, int32_t i,
                      VfDrawn *site, VfErr *err);

/* What a drawing shows but for names and single broken numbers: equal texts, equal looks. Appends
 * to `text`. */
void vf_drawing_look(const VfDrawing *drawing, VfText *text);

#endif
