/* What the files of the verifier share. */
#ifndef VF_IR_VERIFY_PRIVATE_H
#define VF_IR_VERIFY_PRIVATE_H

#include "passes/ir/scope.h"
#include "passes/ir/verify.h"

/* What was seen of a value, in this order. */
typedef enum VfSeen {
    VF_SEEN_NOT,
    VF_SEEN_LISTED,  /* in the list of a graph being checked */
    VF_SEEN_DEFINED, /* and usable here */
    VF_SEEN_CLOSED   /* its graph was left */
} VfSeen;

typedef struct VfVerify {
    VfArena *arena;
    const VfModel *model;
    VfScope scope;
    const VfFunction *function; /* being looked at, or NULL */
    VfFaults *faults;
    size_t fault_capacity;
    unsigned char *seen;      /* VfSeen by value id */
    int32_t *n_operand;       /* by value id: operands met so far that are this value */
    unsigned char *node_seen; /* by node id */
    VfIntern *attr_name;      /* names of attributes, to find them twice on one node */
    int32_t *attr_owner;      /* by number of the name: id + 1 of the last node that has it */
    size_t attr_capacity;
    bool nodes_only; /* what a reader notes is not noted again */
    VfErr *err;
} VfVerify;

/* Note a fault. VF_NO_MEMORY or VF_OK. */
VfStatus vf_verify_fault(VfVerify *v, const char *fmt, ...) VF_PRINTF(2, 3);

/* The same for what passes/ir/judge.h finds, behind the name of the node. */
typedef struct VfVerifyAt {
    VfVerify *v;
    const VfNode *node;
} VfVerifyAt;
VfStatus vf_verify_note(void *at, const char *fault);

/* Operator, arity, domain and attributes of a node, but not the subgraphs. */
VfStatus vf_verify_node(VfVerify *v, const VfNode *node);

/* A tensor's own consistency, and the fault to note where there is none; `what` is whose data it
 * is, asked for only then: labels take time. */
bool vf_tensor_is_consistent(const VfTensor *tensor);
VfStatus vf_verify_tensor(VfVerify *v, const VfTensor *tensor, const char *what);

/* A graph and the graphs in it; `depth` counts graphs around it. */
VfStatus vf_verify_graph(VfVerify *v, const VfGraph *graph, int depth);

/* Visit every node of the model, those of subgraphs behind their owner, then those of functions. */
typedef VfStatus VfVerifyVisit(VfVerify *v, const VfNode *node);
VfStatus vf_verify_each(VfVerify *v, VfVerifyVisit *visit);

/* All functions: their bodies, and that none calls itself. */
VfStatus vf_verify_functions(VfVerify *v);

/* That alone. */
VfStatus vf_verify_recursion(VfVerify *v);

#endif
