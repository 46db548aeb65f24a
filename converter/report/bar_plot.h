/* Bars lying on their side, as SVG: one document, one bar a line, no scripts, fonts or links.
 *
 * Bars begin at 0 and go to the right, below 0 to the left. Numbers are printed with two decimals
 * in pixels and three digits in labels, so equal input gives equal bytes.
 */
#ifndef VF_REPORT_BAR_PLOT_H
#define VF_REPORT_BAR_PLOT_H

#include <stdint.h>

#include "runtime/base/text.h"

typedef struct VfBar {
    const char *label; /* any bytes; cut to its end if it is long */
    double value;      /* not finite: as long as there is room, its label says why */
} VfBar;

/* Append the document: `title` above `n` bars in their order. */
void vf_bars_svg(const char *title, const VfBar *bar, int32_t n, VfText *text);

/* Append '#' for `value` as a part of `most`, at most `width`; at least one for what is above 0,
 * none else. */
void vf_bar_text(double value, double most, int width, VfText *text);

#endif
