/* A page as HTML: one file that needs no other, light and dark, usable from the keyboard.
 *
 * Style sheet and script are page.css and page.js of this folder, compiled in. The same page gives
 * the same bytes.
 */
#ifndef VF_REPORT_RENDER_H
#define VF_REPORT_RENDER_H

#include "converter/report/html/page.h"

/* The page, in its arena. */
VfStatus vf_page_render(const VfPage *page, VfBytes *html, VfErr *err);

/* --- for sections --- */

/* A table that scrolls inside itself where it is too wide. */
void vf_page_render_table(VfHtml *html, const VfPageTable *table);

/* A drawing or plot with its caption, scrolling inside itself; `label` names it to those who do not
 * see it. `kind` is a class for the style sheet: "before", "after", "map", "plot". */
void vf_page_render_figure(VfHtml *html, const char *kind, VfBytes label, VfBytes svg);

#endif
