/* Line plots as SVG: one document, panels above each other, no scripts, fonts or links.
 *
 * Numbers are printed with two decimals, so equal input gives equal bytes. Values that are not
 * finite leave a gap in their line.
 */
#ifndef VF_REPORT_LINE_PLOT_H
#define VF_REPORT_LINE_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/text.h"

typedef struct VfPlotLine {
    const char *label; /* any bytes; NULL: not in the legend */
    int32_t color;     /* lines of one number look alike but for dashes */
    bool is_dashed;
    int32_t n;
    const double *y;   /* at x = 0, 1, ..., n - 1 */
} VfPlotLine;

typedef struct VfPlotPanel {
    const char *title;
    double low, high; /* of the y axis, low < high */
    bool is_log;      /* the axis counts decades: low > 0, both powers of ten; what is not above 0
                       * leaves a gap */
    int32_t n_line;
    const VfPlotLine *line;
} VfPlotPanel;

/* Append the document. `x_label` stands under the lowest panel; the legend is that of the first. */
void vf_plot_svg(const VfPlotPanel *panel, int32_t n_panel, const char *x_label, VfText *text);

#endif
