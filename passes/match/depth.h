/* How deep nodes lie in a graph, counted in nodes of some kind. */
#ifndef VF_MATCH_DEPTH_H
#define VF_MATCH_DEPTH_H

#include "passes/ir/graph.h"

/* Depths of the nodes of `graph`, by node id: the most nodes that count on a path from the inputs,
 * the node itself among them. `counts` is by node id too. `*most` is the largest; the array lies in
 * `arena`. */
VfStatus vf_count_depth(VfArena *arena, const VfGraph *graph, const bool *counts,
                        const int32_t **depth, int32_t *most, VfErr *err);

#endif
