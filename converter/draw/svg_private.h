/* What the printers of one drawing and of a sheet share. */
#ifndef VF_DRAW_SVG_PRIVATE_H
#define VF_DRAW_SVG_PRIVATE_H

#include "converter/draw/layout.h"
#include "converter/draw/svg.h"

enum { VF_SVG_MARGIN = 8, VF_SVG_LEGEND_WIDTH = 240 };

/* One drawing at a place of a document. */
typedef struct VfSvg {
    const VfDrawing *drawing;
    const VfDrawLayout *layout;
    const char *prefix;
    double x, y;       /* of its upper left corner */
    int32_t first_box; /* number of its first box in the ids */
    VfText *text;
} VfSvg;

/* From "<?xml" to the background; sizes are without margins. */
void vf_draw_svg_head(const VfSvg *svg, bool is_document, VfBytes title, double width,
                      double height);

/* Groups, arrows and boxes. */
void vf_draw_svg_parts(const VfSvg *svg);

/* Words at a place of the drawing; `class` is empty or ' class="..."'. */
void vf_draw_svg_words(const VfSvg *svg, const char *class, double x, double y, VfBytes words);

/* Tones of boxes, by tone; then the legend of these, and the height it takes (0 for none). */
void vf_draw_svg_note_tones(const VfDrawing *drawing, bool *is_seen);
double vf_draw_svg_legend_height(const bool *is_seen);
void vf_draw_svg_legend(const VfSvg *svg, const bool *is_seen);

#endif
