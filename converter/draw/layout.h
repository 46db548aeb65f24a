/* Where the parts of a drawing go. Graphviz computes it; no other header knows that it does.
 *
 * Units are pixels; x grows to the right, y downwards, and the origin is the upper left corner.
 *
 * Graphviz keeps state of its own, so one layout is made at a time: calls from several threads
 * wait for each other. It must not be used by other code of the process at the same time. Fonts
 * are not looked at: sizes of words come from words.h.
 */
#ifndef VF_DRAW_LAYOUT_H
#define VF_DRAW_LAYOUT_H

#include "converter/draw/drawing.h"

/* What one drawing may hold. Time grows faster than the number of boxes: at these limits a layout
 * takes about a second. Callers with more draw it in parts or as a map (map.h). */
enum { VF_DRAW_BOX_MAX = 600, VF_DRAW_ARROW_MAX = 2400, VF_DRAW_GROUP_MAX = 200 };

/* Metrics the layout shares with the printer. */
enum { VF_DRAW_FONT = 12, VF_DRAW_LINE = 15, VF_DRAW_PAD_X = 10, VF_DRAW_PAD_Y = 6,
       VF_DRAW_SMALL_FONT = 10 };

typedef struct VfDrawPoint {
    double x, y;
} VfDrawPoint;

typedef struct VfDrawRect {
    double x, y, width, height; /* upper left corner */
} VfDrawRect;

/* A chain of cubic Bézier curves: start, then three points for each curve. */
typedef struct VfDrawCurve {
    int32_t n;                  /* 1 + 3 * curves; 0: nothing to draw */
    const VfDrawPoint *point;
    bool has_tip;
    VfDrawPoint tip;            /* of the arrowhead, which begins at the last point */
    bool has_label;
    VfDrawPoint label;          /* middle of the label */
} VfDrawCurve;

typedef struct VfDrawLayout {
    double width, height;
    VfDrawRect *box;    /* by number of the box */
    VfDrawCurve *arrow; /* by number of the arrow */
    VfDrawRect *group;  /* by number of the group; width 0: it holds no box */
} VfDrawLayout;

/* Compute the layout, in `arena`. VF_UNSUPPORTED: the drawing is too large, or Graphviz cannot lay
 * it out; VF_IO: Graphviz or its plugin for this is not installed as it should be. */
VfStatus vf_draw_layout(VfArena *arena, const VfDrawing *drawing, VfDrawLayout *layout,
                        VfErr *err);

#endif
