/* Order keys: which of two nodes comes first, without walking the list.
 *
 * `node->order` grows along the node list of a graph with gaps between neighbours, so a node
 * put between two others gets a key without touching them. When a gap is used up, the keys
 * around it are spread again; inserting costs O(log n) on average, never O(n) each time.
 * Nodes linked by import, parsing or cloning have the key 0; the first question about a graph
 * numbers them all.
 */
#ifndef VF_REWRITE_ORDER_H
#define VF_REWRITE_ORDER_H

#include "passes/ir/graph.h"

/* Number every node of `graph`. */
void vf_order_graph(VfGraph *graph);

/* The key of a linked node, after numbering its graph if need be. */
int64_t vf_order_of(VfNode *node);

/* Give `node`, just linked, a key between its neighbours. */
void vf_order_insert(VfNode *node);

/* The node of `graph` that `node` is, or whose subgraphs hold it; NULL when there is none. */
VfNode *vf_order_owner_in(VfNode *node, const VfGraph *graph);

#endif
