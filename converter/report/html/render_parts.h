/* What the files that mark a page up share. */
#ifndef VF_REPORT_RENDER_PARTS_H
#define VF_REPORT_RENDER_PARTS_H

#include "converter/report/html/render.h"

/* No page is larger than 20 MB. Past the first limit drawings and lines are left out, past the
 * second rows; a sentence says so each time. */
enum { VF_PAGE_DRAWN_BYTES = 14 << 20, VF_PAGE_BYTES = 17 << 20 };

/* Is there room for `bytes` more of drawings and lines? For a row more? */
bool vf_render_has_room(const VfHtml *html, size_t bytes);
bool vf_render_has_row(const VfHtml *html);

/* "Left out to keep the page small: nodes (3)."; nothing for 0. */
void vf_render_left_out(VfHtml *html, size_t n, const char *what);

/* "1 edit", "12 edits": text, with the number set apart for the style sheet. */
void vf_render_count(VfHtml *html, size_t n, const char *one, const char *many);

void vf_render_part(VfHtml *html, const VfPagePart *part);

#endif
