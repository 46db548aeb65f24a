/* Drawings of graphs: what is drawn, apart from how it is laid out and printed.
 *
 * A drawing is boxes, arrows between them, and named groups of boxes. It is made by hand with the
 * vf_drawing_add functions or from nodes of a model (parts.h: some nodes and their neighbours, or
 * all; map.h: a whole model in few boxes), and printed as SVG (svg.h), as DOT or GraphML (text.h).
 *
 * Lifetime: all of it lies in the arena it was made in; words given are copied there. The model's
 * nodes that boxes name must outlive it. Boxes, arrows and groups are numbered from 0 in the order
 * they were added, and nothing else decides about order, so equal input gives equal bytes.
 *
 * Words may hold any byte; printing makes them fit for the format.
 */
#ifndef VF_DRAW_DRAWING_H
#define VF_DRAW_DRAWING_H

#include "passes/ir/graph.h"

/* What a box or an arrow stands for; decides how it is coloured. One row of tone.c each. */
typedef enum VfTone {
    VF_TONE_PLAIN,
    VF_TONE_CONTEXT, /* there for orientation only */
    VF_TONE_REMOVED,
    VF_TONE_ADDED,
    VF_TONE_CHANGED,
    VF_TONE_MARKED,  /* what a message is about */
    VF_TONE_SITE,
    VF_TONE_SOFTMAX,   /* attention by kind: softmax, */
    VF_TONE_POINTWISE, /* a pointwise function of the scores, */
    VF_TONE_KERNEL,    /* linear in the number of tokens, */
    VF_TONE_ATTENTION, /* another */
    VF_TONE_NORM,      /* layer norm, RMS norm */
    VF_TONE_BATCH,     /* batch norm, RepBN */
    VF_TONE_PRODUCT,   /* linear layer: a product with weights */
    VF_TONE_CONV,
    VF_TONE_COUNT
} VfTone;

/* The class is "tone-" and this word. */
const char *vf_tone_name(VfTone tone);
/* What a legend says of it: "softmax attention". */
const char *vf_tone_label(VfTone tone);

typedef struct VfDrawBox {
    int32_t n_line;
    const VfBytes *line;  /* the first is printed bold */
    VfBytes tip;          /* shown on pointing at it, and read to those who do not see it; empty:
                           * the lines */
    VfTone tone;
    int32_t group;        /* -1: none */
    bool is_end;          /* an input or output of the graph: round */
    bool is_point;        /* a joint: a small round with one line, or a dot with none */
    const VfNode *node;   /* the node it stands for, or NULL */
} VfDrawBox;

typedef struct VfDrawArrow {
    int32_t from, to;     /* boxes */
    VfBytes label;        /* empty: none */
    VfTone tone;
    const VfValue *value; /* what flows, or NULL */
} VfDrawArrow;

typedef struct VfDrawGroup {
    VfBytes label;
    int32_t parent; /* -1: none; else a group added before */
} VfDrawGroup;

typedef struct VfDrawing {
    VfArena *arena;
    VfBytes title;
    bool is_sideways; /* arrows go to the right, not down */
    int32_t n_box, n_arrow, n_group;
    VfDrawBox *box;
    VfDrawArrow *arrow;
    VfDrawGroup *group;
    size_t box_capacity, arrow_capacity, group_capacity;
} VfDrawing;

/* An empty drawing, or NULL. The title names it to those who do not see it. */
VfDrawing *vf_drawing_new(VfArena *arena, VfBytes title);

/* Add a copy; `*index` (may be NULL) is its number. Precondition: numbers in it exist already. */
VfStatus vf_drawing_add_box(VfDrawing *drawing, const VfDrawBox *box, int32_t *index, VfErr *err);
VfStatus vf_drawing_add_arrow(VfDrawing *drawing, const VfDrawArrow *arrow, VfErr *err);
VfStatus vf_drawing_add_group(VfDrawing *drawing, VfBytes label, int32_t parent, int32_t *index,
                              VfErr *err);

#endif
