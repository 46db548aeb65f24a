/* Nodes as lines of the text form, for reports. */
#ifndef VF_REPORT_NODE_LINE_H
#define VF_REPORT_NODE_LINE_H

#include "passes/ir/graph.h"

/* The node as one line without its end, in `arena`. */
VfStatus vf_report_node_line(VfArena *arena, const VfNode *node, VfBytes *line, VfErr *err);

#endif
