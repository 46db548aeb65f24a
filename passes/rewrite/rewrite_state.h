/* What a rewrite holds before it is committed; private to passes/rewrite. */
#ifndef VF_REWRITE_STATE_H
#define VF_REWRITE_STATE_H

#include "passes/rewrite/rewrite.h"

/* All uses of `from` become uses of `to`. */
typedef struct VfReplace {
    VfValue *from, *to;
} VfReplace;

/* Operand `slot` of the kept `node` becomes `to`; NULL is an omitted operand. */
typedef struct VfSetIn {
    VfNode *node;
    int32_t slot;
    VfValue *to;
} VfSetIn;

/* A node outside the graph and the linked node it will stand before (NULL: at the end). */
typedef struct VfPending {
    VfNode *node;
    VfNode *before;
} VfPending;

/* A constant outside the graph and the last part of its name. */
typedef struct VfPendingConst {
    VfValue *value;
    const char *hint;
} VfPendingConst;

struct VfRewrite {
    VfJournal *journal;
    VfArena *arena; /* the model's */
    VfGraph *graph;
    VfNode *anchor;
    VfRewriteInfo info;
    VfStatus status; /* first failure */
    const char *why; /* its sentence */
    VfPending *node;
    size_t n_node, node_capacity;
    VfPendingConst *constant;
    size_t n_constant, constant_capacity;
    VfReplace *replace;
    size_t n_replace, replace_capacity;
    VfSetIn *set_in;
    size_t n_set_in, set_in_capacity;
    VfValue **dead;
    size_t n_dead, dead_capacity;
    VfSwap *weight;
    size_t n_weight, weight_capacity;
    VfEditNumber *number;
    size_t n_number, number_capacity;
    VfNode **removed;
    size_t n_removed, removed_capacity;
};

/* Remember the first failure. */
void vf_rewrite_fail(VfRewrite *rw, VfStatus status, const char *why);

/* Infer the results of a pending node from its operands and attributes. Types are left unknown on
 * failure. */
VfStatus vf_rewrite_infer(VfRewrite *rw, VfNode *node, VfErr *err);

/* Is it a new constant, or the result of a new node, that no commit has put in the graph? */
bool vf_rewrite_is_pending(const VfValue *value);

/* Choose a place for every new node and check that all operands stand before their users. No change
 * but rw->node[].before. */
VfStatus vf_rewrite_place(VfRewrite *rw, VfErr *err);

/* Rename what would hide values that the rewrite lets bodies read. */
VfStatus vf_rewrite_reveal(VfRewrite *rw, VfErr *err);

/* Remove what has no use any more: `value`'s node or constant, and upwards. Removed nodes go to
 * rw->removed. */
VfStatus vf_rewrite_sweep(VfRewrite *rw, VfValue *value, VfErr *err);

#endif
