/* The layout as Graphviz makes it, in this process.
 *
 * Graphviz keeps state of its own, loses some memory for each layout, and ends the process when it
 * gets none; so it is called in a process that does nothing else (apart.h).
 */
#ifndef VF_DRAW_GRAPHVIZ_H
#define VF_DRAW_GRAPHVIZ_H

#include "converter/draw/layout.h"

/* Of a drawing what decides about its layout. Sizes in pixels; words are as many columns wide, 0:
 * there are none. */
typedef struct VfSketchBox {
    double width, height;
    int32_t group; /* -1: none */
} VfSketchBox;

typedef struct VfSketchArrow {
    int32_t from, to, columns;
} VfSketchArrow;

typedef struct VfSketchGroup {
    int32_t parent, columns; /* parent -1: none */
} VfSketchGroup;

typedef struct VfSketch {
    int32_t n_box, n_arrow, n_group;
    bool is_sideways;
    const VfSketchBox *box;
    const VfSketchArrow *arrow;
    const VfSketchGroup *group;
} VfSketch;

/* Fill the arrays of `layout`, which are there and zero; curves go to `arena`. VF_IO: Graphviz or
 * its plugin for this is not installed as it should be, or a curve is missing. */
VfStatus vf_graphviz_layout(VfArena *arena, const VfSketch *sketch, VfDrawLayout *layout,
                            VfErr *err);

#endif
