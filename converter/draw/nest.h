/* Boxes and groups by the group that holds them, for printing them nested. */
#ifndef VF_DRAW_NEST_H
#define VF_DRAW_NEST_H

#include "converter/draw/drawing.h"

/* Lists by number, ended by -1; heads by group + 1, so that 0 is the drawing itself. */
typedef struct VfDrawNest {
    int32_t *first_box, *next_box, *first_group, *next_group;
} VfDrawNest;

/* In the drawing's arena, in order of numbers. */
VfStatus vf_draw_nest(const VfDrawing *drawing, VfDrawNest *nest, VfErr *err);

#endif
