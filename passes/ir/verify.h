/* Checks that a graph is well formed; run before and after every pass, and by `vitfold check`.
 *
 * Collects all faults, each a sentence naming node (name and id) and value: operand defined
 * before use, use lists consistent, unique names in scope, arity against ops.def, attribute
 * types, opset imported, outputs defined, no cycles, tensor sizes, types compatible.
 */
#ifndef VF_IR_VERIFY_H
#define VF_IR_VERIFY_H

#include "passes/ir/graph.h"

enum { VF_FAULT_MAX = 1000 }; /* of one kind that are kept: a broken file needs no more */

typedef struct VfFaults {
    int32_t n;
    const char **text; /* one sentence each, in the arena given */
} VfFaults;

/* VF_OK and n == 0: well formed. VF_OK with n > 0: faults found. Else out of memory. */
VfStatus vf_verify(VfArena *arena, const VfModel *model, VfFaults *faults, VfErr *err);

/* Operators and attributes of all nodes alone, for a model whose reader found faults in names,
 * order or domains, and noted them. */
VfStatus vf_verify_nodes(VfArena *arena, const VfModel *model, VfFaults *faults, VfErr *err);

/* What the operator documents forbid and vf_verify lets pass, for it can be carried: operators and
 * attributes of the default domain that do not exist in the opset, words that mean nothing,
 * Constants without one value, and bodies with other numbers of inputs and outputs than their
 * nodes. */
VfStatus vf_verify_standard(VfArena *arena, const VfModel *model, VfFaults *faults, VfErr *err);

/* VF_INVALID if a function calls itself, if only by way of others. */
VfStatus vf_verify_calls(const VfModel *model, VfErr *err);

/* VF_INVALID with the first fault and their number as the sentence if there is any. */
VfStatus vf_verify_all(const VfModel *model, VfErr *err);

#endif
