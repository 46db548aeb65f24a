/* Drawings of nodes as they are: one box each.
 *
 * A box says operator, the end of the node's name, the attributes that tell most, and its
 * constants ("W 768×768 f32", or the values of short ones), which are no boxes of their own; its
 * tip is the node's line in the text form. An arrow is an operand; the first one that leaves a
 * result is labelled with its shape. Inputs and outputs of the graph are round boxes.
 */
#ifndef VF_DRAW_PARTS_H
#define VF_DRAW_PARTS_H

#include "converter/draw/drawing.h"

/* Users of one result that are drawn around a part; the rest is one box that says how many. */
enum { VF_DRAW_USERS_MAX = 6 };

/* A tone for the box of a node, if it is drawn. */
typedef struct VfDrawTint {
    const VfNode *node;
    VfTone tone;
} VfDrawTint;

/* A tone for arrows: of `value` into `user`; NULL for `user`: into all. */
typedef struct VfDrawEdgeTint {
    const VfValue *value;
    const VfNode *user;
    VfTone tone;
} VfDrawEdgeTint;

/* `to` stands where `from` stood: what now uses `to` is drawn as a user of `from`. */
typedef struct VfDrawSwap {
    const VfValue *from, *to;
} VfDrawSwap;

/* Which nodes, and how. Removed nodes can be drawn: their operands are still readable, and the
 * users of their results are found by `swap`. */
typedef struct VfDrawPart {
    VfBytes title;
    int32_t n_node;
    const VfNode *const *node;  /* each once; of one model, in any of its graphs */
    VfTone tone;                /* of these */
    int32_t n_context;          /* steps to neighbours drawn around them, in VF_TONE_CONTEXT */
    int32_t n_tint, n_edge_tint, n_swap;
    const VfDrawTint *tint;     /* wins over `tone` and context */
    const VfDrawEdgeTint *edge_tint;
    const VfDrawSwap *swap;
} VfDrawPart;

/* In `arena`. VF_UNSUPPORTED: more nodes than one drawing takes (layout.h). */
VfStatus vf_drawing_of_part(VfArena *arena, const VfDrawPart *part, VfDrawing **drawing,
                            VfErr *err);

/* Every node of the model's graph, of its subgraphs and of its functions, the last two as groups.
 * Any size; only DOT and GraphML take large ones. */
VfStatus vf_drawing_of_model(VfArena *arena, const VfModel *model, VfDrawing **drawing,
                             VfErr *err);

/* "1×197×768 f32", "batch×3×…"; in `arena`, VF_NO_MEMORY. For arrows and lines. */
VfStatus vf_draw_type(VfArena *arena, const VfSymbols *symbols, const VfType *type, VfBytes *out,
                      VfErr *err);

/* The end of a name, at most 30 columns; empty for none. */
VfStatus vf_draw_name(VfArena *arena, VfBytes name, VfBytes *out, VfErr *err);

/* --- box.c: boxes of nodes and of the ends of graphs --- */

/* Lines and tip of a node, in full or operator and name alone; tone, group and node are set. */
VfStatus vf_draw_node_box(VfArena *arena, const VfNode *node, bool in_full, VfDrawBox *box,
                          VfErr *err);
/* "input" or "output", name, type. */
VfStatus vf_draw_end_box(VfArena *arena, const VfModel *model, bool is_input, VfBytes name,
                         const VfType *type, VfDrawBox *box, VfErr *err);

#endif
