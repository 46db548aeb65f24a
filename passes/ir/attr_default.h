/* The rows of attr_defaults.def. */
#ifndef VF_IR_ATTR_DEFAULT_H
#define VF_IR_ATTR_DEFAULT_H

#include "passes/ir/graph.h"

typedef struct VfAttrDefault {
    VfOp op;
    const char *name;
    VfAttrType type;
    int32_t since;  /* first opset of the operator's domain for which the row holds */
    bool has_value; /* false: no default */
    bool is_needed; /* a node without it is invalid */
    int64_t i;
    float f;
    const char *s;
} VfAttrDefault;

/* The row that holds for the attribute in `opset`; the oldest row when the opset is older than all.
 * NULL if the operator has no such attribute in any opset. */
const VfAttrDefault *vf_attr_default_find(VfOp op, VfBytes name, int64_t opset);

/* The first attribute that the node must have in `opset` and has not, or NULL. */
const char *vf_attr_lacking(const VfNode *node, int64_t opset);

/* Does the attribute say, to the bit, what holds where it is left out? */
bool vf_attr_says_default(const VfAttr *attr, const VfAttrDefault *held);

#endif
