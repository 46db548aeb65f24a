/* Declarative patterns over the graph, as constant data.
 *
 * A pattern is a tree (shared parts make it a graph) of VfPattern records, matched from a
 * value upwards through the nodes that made it:
 *
 *     ANY     any value
 *     SCALAR  a constant with one element (or all elements equal); `number` NaN: any number
 *     CONST   any constant
 *     OP      result `index` of a node with operator `op` whose operands match `in`
 *     ALT     the first of `in` that matches; committed: a later failure does not come back
 *
 * Name parts that occur twice as objects and take their address; write leaves as literals:
 *
 *     static const VfPattern mean = VF_PAT_OP1(REDUCE_MEAN, VF_PAT_ANY(1));
 *     static const VfPattern centred = VF_PAT_OP2(SUB, VF_PAT_ANY(1), &mean);
 *
 * Rules the engine enforces:
 * - operands 0 and 1 of commutative operators are tried both ways;
 * - a slot met twice must hold the same value, a named OP object met twice the same node;
 * - results of matched nodes other than the root's may be read by matched nodes only, graph
 *   outputs count as readers; OP records with `is_open` are exempt.
 * Facts that are no shape (dims, axes, attributes) are the caller's to check afterwards.
 */
#ifndef VF_MATCH_PATTERN_H
#define VF_MATCH_PATTERN_H

#include <math.h>

#include "passes/ir/graph.h"

typedef enum VfPatternKind {
    VF_PATTERN_ANY,
    VF_PATTERN_SCALAR,
    VF_PATTERN_CONST,
    VF_PATTERN_OP,
    VF_PATTERN_ALT
} VfPatternKind;

enum {
    VF_PATTERN_IN_MAX = 6,
    VF_PATTERN_SLOT_MAX = 24, /* slots are 1 to 23; 0 binds nothing */
    VF_PATTERN_NODE_MAX = 48
};

typedef struct VfPattern VfPattern;
struct VfPattern {
    VfPatternKind kind;
    VfOp op;        /* OP */
    int32_t slot;   /* slot the matched value is bound to, 0 none */
    int32_t index;  /* OP: which result of the node */
    double number;  /* SCALAR: the number wanted (relative tolerance 1e-5), NaN: any */
    int32_t choice; /* ALT: slot whose `choice` gets the index of the alternative, 0 none */
    bool is_open;   /* OP: the result may be used outside of the match */
    bool is_exact; /* OP: the node has exactly n_in operands (trailing omitted ones do not count) */
    int32_t n_in;  /* OP: operands looked at (fewer than the node has is fine); ALT: alternatives */
    const VfPattern *in[VF_PATTERN_IN_MAX]; /* NULL as an operand: anything, omitted too */
};

/* Leaves as literals; usable in initializers of static objects. */
#define VF_PAT_ANY(slot_) (&(const VfPattern){.kind = VF_PATTERN_ANY, .slot = (slot_)})
#define VF_PAT_CONST(slot_) (&(const VfPattern){.kind = VF_PATTERN_CONST, .slot = (slot_)})
#define VF_PAT_SCALAR(slot_) \
    (&(const VfPattern){.kind = VF_PATTERN_SCALAR, .slot = (slot_), .number = (double)NAN})
#define VF_PAT_NUMBER(number_) (&(const VfPattern){.kind = VF_PATTERN_SCALAR, .number = (number_)})

/* Initializers of OP and ALT objects without slot and flags; the operator by its name in ops.def.
 */
#define VF_PAT_OP1(op_, a_)                                             \
    {                                                                   \
        .kind = VF_PATTERN_OP, .op = VF_OP_##op_, .n_in = 1, .in = {a_} \
    }
#define VF_PAT_OP2(op_, a_, b_)                                             \
    {                                                                       \
        .kind = VF_PATTERN_OP, .op = VF_OP_##op_, .n_in = 2, .in = {a_, b_} \
    }
#define VF_PAT_ALT2(a_, b_)                               \
    {                                                     \
        .kind = VF_PATTERN_ALT, .n_in = 2, .in = {a_, b_} \
    }
#define VF_PAT_ALT3(a_, b_, c_)                               \
    {                                                         \
        .kind = VF_PATTERN_ALT, .n_in = 3, .in = {a_, b_, c_} \
    }

typedef enum VfPatternFault {
    VF_FAULT_NONE,
    VF_FAULT_OP,      /* another operator, or no node at all */
    VF_FAULT_CONST,   /* not constant */
    VF_FAULT_SCALAR,  /* not one number */
    VF_FAULT_NUMBER,  /* another number */
    VF_FAULT_ARITY,   /* too few or too many operands */
    VF_FAULT_SLOT,    /* a slot met twice holds another value */
    VF_FAULT_OUTSIDE, /* an interior result is used outside */
    VF_FAULT_SIZE     /* the pattern needs more nodes than a match can hold */
} VfPatternFault;

/* What a match bound, and after a failure the nearest miss: the failing fact that lay deepest. */
typedef struct VfMatch {
    VfValue *slot[VF_PATTERN_SLOT_MAX];
    int32_t choice[VF_PATTERN_SLOT_MAX];           /* index of the alternative taken, -1 none */
    VfNode *node[VF_PATTERN_NODE_MAX];             /* matched nodes, root first */
    const VfPattern *pattern[VF_PATTERN_NODE_MAX]; /* the OP record each node matched */
    int32_t n_node;
    VfPatternFault fault; /* VF_FAULT_NONE after a success */
    const VfPattern *fault_pattern;
    const VfValue *fault_value; /* value that was looked at; NULL: an omitted operand */
    const VfNode *fault_node;   /* its user, or the root's node */
    int32_t fault_depth;        /* nodes matched before it */
} VfMatch;

/* Match `pattern` at `value`. False: no match, `match` tells the nearest miss. Allocates nothing.
 */
bool vf_pattern_match(const VfPattern *pattern, VfValue *value, VfMatch *match);

/* As above without the check that interior results are used inside only: for recognisers that
 * replace nothing. */
bool vf_pattern_match_open(const VfPattern *pattern, VfValue *value, VfMatch *match);

/* Is `node` one of the matched nodes? */
bool vf_match_has(const VfMatch *match, const VfNode *node);

/* The node that OP object `pattern` matched, or NULL. */
VfNode *vf_match_node(const VfMatch *match, const VfPattern *pattern);

/* The nearest miss as one sentence with node names, in `arena`; NULL when out of memory or nothing
 * failed. */
const char *vf_match_miss(VfArena *arena, const VfMatch *match);

#endif
