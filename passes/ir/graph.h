/* The SSA graph.
 *
 * A model holds one main graph, functions, and what the file said around them. A graph holds
 * values and a doubly linked list of nodes in topological order. A node's operands are VfUse
 * records, each also a link in the use list of its value, so replacing a value costs as much
 * as it has uses. Graph outputs are the operands of one sentinel node (`graph->ret`, op
 * VF_OP_RETURN, not in the node list), so "is an output" is just a use.
 *
 * Lifetime: everything lies in the model's arena and stays readable until vf_model_free.
 * Pointers are stable. Nodes and values have dense ids, never reused, unique in the model;
 * side tables are arrays by id (`model->n_node_id`, `model->n_value_id` bound them).
 * Removing a node unlinks it; its operands stay readable so that a diff can print it.
 *
 * Subgraphs (If, Loop, Scan) are attributes of type graph; their nodes may use values of the
 * graphs around them. Order never depends on addresses or hashing.
 *
 * After import only passes/rewrite links, unlinks or moves uses.
 */
#ifndef VF_IR_GRAPH_H
#define VF_IR_GRAPH_H

#include "passes/ir/record.h"
#include "runtime/base/status.h"

/* --- models --- */

/* A new model with an empty main graph, or NULL. Opset 17 and IR 8 until changed. */
VfModel *vf_model_new(void);
void vf_model_free(VfModel *model);

/* Opset version of `domain` ("" default) for nodes of `graph` (function bodies have their own); 0
 * if not imported. */
int64_t vf_graph_opset(const VfGraph *graph, VfBytes domain);

/* A new function with an empty body, added to the model; NULL when out of memory. Make functions
 * before the nodes that call them: vf_node_new gives a call VF_OP_OTHER, whatever operator has that
 * name. Of two functions with equal domain, name and overload the first is found. */
VfFunction *vf_function_new(VfModel *model, VfBytes domain, VfBytes name, VfBytes overload);
VfFunction *vf_function_find(const VfModel *model, VfBytes domain, VfBytes name, VfBytes overload);

/* The function a node calls, or NULL. */
VfFunction *vf_node_function(const VfNode *node);

/* --- construction; used by import, parse, clone and the rewrite layer only ---
 *
 * Functions returning a pointer return NULL when out of memory. Names and dims given are copied.
 * Results and constants belong to the graph's values from when their node is linked or they are
 * added, until it is unlinked or they are dropped. */

VfGraph *vf_graph_new(VfModel *model, VfNode *owner, VfFunction *function);
VfValue *vf_graph_add_input(VfGraph *graph, VfBytes name, VfType type);
/* Remove an input that has a default and no uses. */
void vf_graph_drop_input(VfValue *input);
VfValue *vf_graph_add_const(VfGraph *graph, VfBytes name, const VfTensor *tensor);
/* The type of a tensor, all dims plain numbers; they are in `arena`. */
VfStatus vf_tensor_type(VfArena *arena, const VfTensor *tensor, VfType *type, VfErr *err);

/* A node outside the list, with `n_in` operands (NULL: omitted) and `n_out` fresh results named by
 * out_name; a name whose data is NULL omits the result, one of size 0 leaves it unnamed. */
VfNode *vf_node_new(VfGraph *graph, VfBytes domain, VfBytes op_type, int32_t n_in,
                    VfValue *const *in, int32_t n_out, const VfBytes *out_name);

/* Give a node an overload, which decides whether it calls a function. */
VfStatus vf_node_set_overload(VfNode *node, VfBytes overload, VfErr *err);

/* Decide anew for every node which operator it is: needed when functions were made after nodes. */
void vf_model_resolve_ops(VfModel *model);

/* Link `node` before `before` (NULL: at the end) and its operands into the use lists; with them the
 * operands of all nodes in its subgraphs. Nodes linked into the subgraph of a node that is not
 * linked yet have no uses until that one is linked: give it its attributes before. */
void vf_node_link(VfNode *node, VfNode *before);
/* Unlink node and its operands' uses, also those in its subgraphs. Precondition: its results have
 * no uses. */
void vf_node_unlink(VfNode *node);

/* Set operand `slot`, moving the use. `value` may be NULL. */
void vf_node_set_in(VfNode *node, int32_t slot, VfValue *value);
/* Add an operand at the end. */
VfStatus vf_node_add_in(VfNode *node, VfValue *value, VfErr *err);
/* Every use of `from` becomes a use of `to` (outputs included). */
void vf_value_replace_uses(VfValue *from, VfValue *to);
/* Give output `index` of a body another name. */
VfStatus vf_graph_rename_output(VfGraph *graph, int32_t index, VfBytes name, VfErr *err);
/* Declare the operands of ret; names and types are copied, output_info becomes NULL. */
VfStatus vf_graph_set_outputs(VfGraph *graph, int32_t n, VfValue *const *value, const VfBytes *name,
                              const VfType *type, VfErr *err);
/* A name no value of the model was made with: `base` itself if free, else `base`_2, `base`_3, ...
 * The name counts as used from now on. Time is in proportion to its length, however often a base is
 * asked for. */
VfStatus vf_model_fresh_name(VfModel *model, VfBytes base, VfBytes *out, VfErr *err);

/* Bytes, or a type's dims, in the model's arena. VF_NO_MEMORY leaves `*out` alone. */
VfStatus vf_model_copy_bytes(VfModel *model, VfBytes bytes, VfBytes *out, VfErr *err);
VfStatus vf_model_copy_type(VfModel *model, const VfType *type, VfType *out, VfErr *err);
/* Name a value anew that no graph lists yet. */
VfStatus vf_value_rename(VfValue *value, VfBytes name, VfErr *err);
/* Remove a CONST without uses from the graph's values. */
void vf_value_drop(VfValue *value);

/* --- reading --- */

VfValue *vf_node_in(const VfNode *node, int32_t slot);  /* NULL past the end or omitted */
VfValue *vf_node_out(const VfNode *node, int32_t index); /* NULL past the end or omitted */
bool vf_value_is_output(const VfValue *value);           /* used by its graph's ret */
/* The only user (perhaps in several slots), or NULL if there are none, several, or it is ret. */
VfNode *vf_value_single_user(const VfValue *value);
/* The constant tensor of a CONST value; NULL for others (an INPUT's default is no constant) and for
 * NULL. */
const VfTensor *vf_value_const(const VfValue *value);
/* First value of the graph named so (and, if `outer`, of the graphs around it), or NULL. Linear;
 * build a table for many. */
VfValue *vf_graph_find_value(const VfGraph *graph, VfBytes name, bool outer);
VfNode *vf_graph_find_node(const VfGraph *graph, VfBytes name);
/* A printable label of a node for messages: its name, or "Op#id" if it has none; never NULL. It
 * lives as long as the model; any number of threads may ask at once. */
const char *vf_node_label(const VfNode *node);
/* Same for a value. */
const char *vf_value_label(const VfValue *value);

bool vf_bytes_is_equal(VfBytes a, VfBytes b);

#endif
