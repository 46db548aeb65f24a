/* What the files of passes/ir share about building a graph, and nobody else may use. */
#ifndef VF_IR_GRAPH_PRIVATE_H
#define VF_IR_GRAPH_PRIVATE_H

#include "passes/ir/graph.h"

/* A value with the next id that is in no list yet, of unknown type; NULL when out of memory. */
VfValue *vf_graph_new_value(VfGraph *graph, VfValueKind kind, VfBytes name);

/* Put `value` at the end of the graph's values, or take it out. */
void vf_graph_append_value(VfGraph *graph, VfValue *value);
void vf_graph_remove_value(VfGraph *graph, VfValue *value);

/* Put the operands of `node`, and of all nodes in its subgraphs, in use lists, or take them out. */
void vf_node_link_uses(VfNode *node);
void vf_node_unlink_uses(VfNode *node);

/* Whether all nodes around `graph` are linked. */
bool vf_graph_is_live(const VfGraph *graph);

/* A zeroed record of `bytes`, the same for each of `spare`; NULL when out of memory. It lives as
 * long as the model. */
void *vf_model_take(VfModel *model, VfSpare *spare, size_t bytes);

#endif
