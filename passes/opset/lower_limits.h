/* What older forms of operators do not take: dtypes and operands. */
#ifndef VF_PASSES_OPSET_LOWER_LIMITS_H
#define VF_PASSES_OPSET_LOWER_LIMITS_H

#include "passes/ir/graph.h"

/* Why the node cannot be one of `opset`, or NULL. */
const char *vf_lower_limit(const VfNode *node, int64_t opset);

#endif
