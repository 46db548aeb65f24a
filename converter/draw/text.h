/* Drawings as DOT and as GraphML, for other programs to lay out and read.
 *
 * Both hold everything: boxes with their lines, tones and groups; of a box that stands for a node
 * also operator, name and attributes; of an arrow the value's name and type. Any number of boxes;
 * equal input gives equal bytes. Bytes that are no text appear as \xNN.
 */
#ifndef VF_DRAW_TEXT_H
#define VF_DRAW_TEXT_H

#include "converter/draw/drawing.h"
#include "runtime/base/text.h"

/* Attributes beyond those of Graphviz: op, name, attributes of nodes; value of edges. */
VfStatus vf_drawing_dot(const VfDrawing *drawing, VfText *text, VfErr *err);

/* Keys of nodes: kind (node, input, output or group), label, tone, op, name, attributes; of edges:
 * value, type, tone. A group is a node that holds a graph. */
VfStatus vf_drawing_graphml(const VfDrawing *drawing, VfText *text, VfErr *err);

/* The attributes of a box's node, "axis=1, perm=[0, 2, 1]"; empty where there are none. In the
 * drawing's arena. */
VfStatus vf_draw_attributes(const VfDrawing *drawing, const VfNode *node, VfBytes *out, VfErr *err);

#endif
