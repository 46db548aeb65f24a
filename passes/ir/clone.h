/* Copies of the nodes of one graph into another: how functions are inlined, constant Ifs
 * replaced by a branch and Loops unrolled.
 */
#ifndef VF_IR_CLONE_H
#define VF_IR_CLONE_H

#include "passes/ir/graph.h"

/* Where copies go and what they are called. */
typedef struct VfCloneInto {
    VfGraph *graph;     /* of the same model */
    VfNode *before;     /* copies go before this node of `graph`; NULL: to the end */
    const VfNode *call; /* the node that is inlined, or NULL. Attributes of a function's nodes that
                         * refer to the call's take their value from it, else from the function's
                         * defaults, else are left out. NULL: references stay */
    VfBytes prefix; /* copies are named "prefix/name"; empty: call's name. Values get fresh names */
} VfCloneInto;

/* Copy all constants and nodes of `body`, with their subgraphs, and link the copies at once: for
 * graphs outside a rewrite (lowering), and for passes that own the whole graph. Input i of the body
 * is in[i]; NULL, or past n_in: omitted (an input with a default becomes a constant). `out`
 * receives the values that stand for the outputs of the body (as many as body->ret->n_in), which
 * may be values given in `in` or of a graph around, or NULL for an input that was omitted.
 *
 * Precondition: what the body uses of graphs around it is visible at `before`. Data of tensors is
 * shared, not copied. Types declared in a function's body are dropped, since their symbols are the
 * function's own. Costs as much as the body; inlining calls within the copies is the caller's next
 * step, and so is a limit: functions that call others twice each grow exponentially. A body with
 * a sparse initializer is VF_UNSUPPORTED. When memory runs out some copies may be linked. */
VfStatus vf_graph_clone(const VfCloneInto *into, const VfGraph *body, int32_t n_in,
                        VfValue *const *in, VfValue **out, VfErr *err);

/* Number of nodes in the graph and its subgraphs. */
size_t vf_graph_size(const VfGraph *graph);

#endif
