/* Where the parts of a drawing go. Graphviz computes it, in a child process (graphviz.h, apart.h).
 *
 * Units are pixels; x grows to the right, y downwards, and the origin is the upper left corner.
 *
 * Fonts are not looked at: sizes of words come from words.h. Threads may ask at the same time; the
 * rest of the process must not be inside of Graphviz then.
 */
#ifndef VF_DRAW_LAYOUT_H
#define VF_DRAW_LAYOUT_H

#include "converter/draw/apart.h"
#include "converter/draw/drawing.h"

/* What one drawing may hold. Time grows faster than the number of boxes: at these limits a layout
 * takes half a second if boxes have few arrows, and may take minutes if each has many. Callers with
 * more draw it in parts or as a map (map.h). */
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

/* Compute the layout, in `arena`, where scratch memory stays too. `layouter` is the child process
 * that does it, started by the first call; NULL: one for this drawing alone, which takes some
 * milliseconds longer. VF_UNSUPPORTED: the drawing is too large, or those of this layouter take
 * more than 20 seconds; VF_IO: Graphviz or its plugin for this is not installed as it should be,
 * or it gives up, as it does without memory. */
VfStatus vf_draw_layout(VfApart *layouter, VfArena *arena, const VfDrawing *drawing,
                        VfDrawLayout *layout, VfErr *err);

#endif
