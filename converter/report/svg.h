/* What plots share. */
#ifndef VF_REPORT_SVG_H
#define VF_REPORT_SVG_H

#include "runtime/base/text.h"

/* Append a text element at (x, y); `anchor` is "start", "middle" or "end". `words` may hold any
 * bytes. */
void vf_svg_words(VfText *text, double x, double y, const char *anchor, const char *words);

#endif
