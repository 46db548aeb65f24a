/* Looking at every node of a graph and of the graphs within it.
 *
 * For readers alone: `visit` must not link or unlink. Readers of files refuse graphs nested deeper
 * than VF_GRAPH_DEPTH_MAX, so the recursion is bounded.
 */
#ifndef VF_IR_WALK_H
#define VF_IR_WALK_H

#include "passes/ir/graph.h"

typedef VfStatus VfNodeReader(void *self, const VfNode *node, VfErr *err);

/* Call `visit` for each node in graph order, before the nodes of its subgraphs. Ends with the first
 * status that is not VF_OK. Functions that nodes call are not entered. */
VfStatus vf_graph_each_node(const VfGraph *graph, VfNodeReader *visit, void *self, VfErr *err);

#endif
