/* Attributes of nodes, with the defaults of attr_defaults.def for the opset of the node's graph.
 *
 * Passes never supply a default themselves: they ask here.
 */
#ifndef VF_IR_ATTR_H
#define VF_IR_ATTR_H

#include "passes/ir/graph.h"

/* The attribute as the file has it, or NULL. No defaults. */
const VfAttr *vf_node_attr(const VfNode *node, const char *name);

/* Value of an int or float attribute; if it is absent, of another type or a reference, the default
 * of attr_defaults.def; without one 0. */
int64_t vf_node_int(const VfNode *node, const char *name);
double vf_node_float(const VfNode *node, const char *name);

/* String attribute or its default; empty if absent without default. */
VfBytes vf_node_string(const VfNode *node, const char *name);

/* Int list; NULL and *n = 0 if absent (ops with list defaults treat absence themselves). */
const int64_t *vf_node_ints(const VfNode *node, const char *name, int32_t *n);
const float *vf_node_floats(const VfNode *node, const char *name, int32_t *n);

/* The axes of an operator that takes them as attribute in old opsets and as operand in new ones
 * (Squeeze, Unsqueeze, ReduceX, Split sizes "split", Slice starts/ends/axes/steps, Pad pads,
 * Clip...): attribute `name` if there, else operand `slot` if it is constant. VF_RANK_UNKNOWN in
 * *n: present but not constant. Absent: NULL, *n = 0. In the model's arena when read from an
 * operand. */
const int64_t *vf_node_ints_or_operand(const VfNode *node, const char *name, int32_t slot,
                                       int32_t *n);

/* --- construction (node not yet linked, or by the rewrite layer) --- */
VfStatus vf_node_set_int(VfNode *node, const char *name, int64_t value, VfErr *err);
VfStatus vf_node_set_float(VfNode *node, const char *name, float value, VfErr *err);
VfStatus vf_node_set_string(VfNode *node, const char *name, const char *value, VfErr *err);
VfStatus vf_node_set_ints(VfNode *node, const char *name, int32_t n, const int64_t *values,
                          VfErr *err);
VfStatus vf_node_set_tensor(VfNode *node, const char *name, const VfTensor *value, VfErr *err);
/* Append a copy of the list record (payload shared). */
VfStatus vf_node_add_attr(VfNode *node, const VfAttr *attr, VfErr *err);

#endif
