/* Copies of bodies for inlining; private to this folder.
 *
 * A copy is a set of pending nodes of a rewrite. Values of the body become the values the map
 * gives; those of graphs around it stay themselves. Subgraphs of the body's nodes are copied too.
 * References to attributes of a function take the value of the call, else the function's default.
 */
#ifndef VF_NORMALIZE_COPY_H
#define VF_NORMALIZE_COPY_H

#include "passes/normalize/rule.h"

/* New values for those of one graph, by id; ids of a graph lie close together. */
typedef struct VfCopyScope {
    const VfGraph *from;
    int32_t first, n;
    VfValue **to;
    const struct VfCopyScope *outer;
} VfCopyScope;

typedef struct VfCopy {
    VfPassCx *cx;
    VfRewrite *rw;
    const VfNode *call;         /* gives attributes of the function; the If of a branch */
    const VfFunction *function; /* NULL: no function */
    VfErr *err;
} VfCopy;

/* An empty map for `from`, in the pass's arena. */
VfStatus vf_copy_scope_init(VfCopy *copy, VfCopyScope *scope, const VfGraph *from,
                            const VfCopyScope *outer);
void vf_copy_map(VfCopyScope *scope, const VfValue *from, VfValue *to);

/* What stands for `value`; VF_NO_OPERAND for an omitted one. */
VfValue *vf_copy_of(const VfCopyScope *scope, VfValue *value);

/* The attribute that counts in this call; NULL: absent. */
const VfAttr *vf_copy_attr(const VfCopy *copy, const VfAttr *attr);

/* Make constants and nodes of scope->from as pending ones of the rewrite. Its inputs must be
 * mapped. */
VfStatus vf_copy_body(VfCopy *copy, VfCopyScope *scope);

#endif
