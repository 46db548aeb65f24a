/* Graph to plan.
 *
 * Walks the main graph with concrete shapes, node by node: inference gives the result shapes,
 * small tensors known when the plan is made (shape arithmetic) are computed at once, views
 * (Reshape, Squeeze, contiguous Slice and Split) make no step, everything else becomes kernel
 * calls. Function calls, If with a known condition, Loop with a known trip count and
 * sequences of tensors are followed by the walk itself.
 */
#ifndef VF_LOWER_LOWER_H
#define VF_LOWER_LOWER_H

#include "passes/ir/graph.h"
#include "passes/ir/infer.h"
#include "runtime/exec/plan.h"

typedef enum VfBindingKind {
    VF_BINDING_TENSOR,
    VF_BINDING_SEQUENCE, /* of `item` */
    VF_BINDING_ABSENT    /* an optional without a value */
} VfBindingKind;

/* The concrete type of one graph input that is given at run time (those with a default may be
 * left out). The plan has an input for each tensor of numbers in it, in order. */
typedef struct VfBinding {
    VfBytes name; /* not read for an item */
    VfDtype dtype;
    int32_t rank;
    const int64_t *dims;
    const VfTensor *value; /* contents when the plan may depend on them, else NULL; strings always
                            * have them, for only the plan knows strings */
    VfBindingKind kind;
    int32_t n_item;
    const struct VfBinding *item;
} VfBinding;

/* A value of the main graph that is computed already: its tensors of numbers are inputs of the
 * plan, after those of the graph. */
typedef struct VfGiven {
    const VfValue *value;
    VfBinding binding; /* with the contents of every tensor */
    bool is_known;     /* the plan may read numbers, too, and then depends on them */
} VfGiven;

typedef struct VfLowerOptions {
    bool save_all;   /* keep every intermediate (no reuse, all named in plan->saved) */
    /* Values of the main graph that the plan computes as further outputs, behind the graph's, in
     * this order. Inputs and constants count, too. */
    int32_t n_keep;
    VfValue *const *keep;
    /* Only nodes [begin, end) of the main graph; NULL: from its first, to its last. What they read
     * of nodes before is given. With an end the plan's outputs are those of `keep` alone. */
    const VfNode *begin, *end;
    int32_t n_given;
    const VfGiven *given;
    bool reference;  /* reference kernels only, no BLAS */
    bool no_fuse;    /* steps stay as the nodes are written */
    bool lists;      /* outputs may be sequences and optionals (plan->result) */
    size_t max_arena_bytes; /* VF_NO_MEMORY beyond; 0: no limit of its own */
    size_t held_bytes;      /* what was computed before and is held: counts, too */
} VfLowerOptions;

/* All nodes that cannot be lowered, not only the first: `n_real` that cannot at all, then those
 * that might be if more contents were known. */
typedef struct VfUnsupported {
    int32_t n, n_real;
    const char **text; /* "operator, dtype or shape and the node named"; in the plan's arena or the
                          caller's */
    const VfNode *first; /* of the main graph: is or calls the first of them; NULL: an output */
} VfUnsupported;

/* Make a plan. Free with vf_plan_free; the model must outlive it. Contents of inputs are used only
 * if there is no plan without them, and `depends_on_values` of the plan says so.
 * VF_UNSUPPORTED: `unsupported` (may be NULL; memory of `arena`) lists every node and why, err has
 * the first and the number. VF_INVALID: shapes contradict the model. VF_USAGE: bindings do. */
VfStatus vf_lower(const VfModel *model, int32_t n_binding, const VfBinding *binding,
                  const VfLowerOptions *options, VfArena *arena, VfPlan **plan,
                  VfUnsupported *unsupported, VfErr *err);

/* VF_UNSUPPORTED, with the first and the number of the others. There is one. */
VfStatus vf_unsupported_fail(const VfUnsupported *unsupported, VfErr *err);

/* Whether the operator can be executed; *dtypes is the set of those it takes, bit 1 << dtype for
 * each: those of the first operand, of the second for Where, of the result where there is none. */
bool vf_lower_supports(VfOp op, uint32_t *dtypes);

/* Evaluator for inference and fold-constants: lowers one node and runs it. No state. */
const VfEvaluator *vf_evaluator(void);

#endif
