/* A plan: a flat list of kernel calls with every size, offset and kernel chosen.
 *
 * Lowering makes a plan of one graph for one set of concrete input shapes. The executor
 * runs it; the C emitter prints it. Nothing after lowering chooses anything. A plan does
 * not refer to the graph; names in it are copies, for messages and comments only.
 *
 * All memory of a plan belongs to its arena. Weights are borrowed: the tensors of the model
 * must outlive the plan, except that lowering copies into the plan's arena those that are
 * not aligned for their dtype and those that it computed itself. Weights that were only read
 * to make others of them are no part of the plan.
 */
#ifndef VF_EXEC_PLAN_H
#define VF_EXEC_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/kernels/kernel.h"

/* Where a buffer lives. */
typedef enum VfSpace {
    VF_SPACE_NONE,   /* absent optional operand */
    VF_SPACE_WEIGHT, /* plan->weight[index] */
    VF_SPACE_INPUT,  /* caller's input `index` */
    VF_SPACE_OUTPUT, /* caller's output `index` */
    VF_SPACE_ARENA   /* `offset` bytes into the run arena; index: number of the buffer */
} VfSpace;

/* A place: the first byte of an operand. */
typedef struct VfPlanRef {
    VfSpace space;
    int32_t index;
    size_t offset; /* bytes from the start of the weight, input, output or arena */
} VfPlanRef;

/* A piece of the run arena. */
typedef struct VfPlanBuffer {
    size_t offset, bytes;
} VfPlanBuffer;

/* A tensor that the plan names: an input, an output, a weight, or one kept with save_all. */
typedef struct VfPlanTensor {
    VfBytes name;
    VfDtype dtype;
    int32_t rank;
    const int64_t *dims;
    size_t bytes;
    VfPlanRef ref;
    const void *data; /* weights: dtype-aligned, and 64-byte aligned if the plan owns it. Outputs of
                       * strings: VfBytes, for only the plan knows strings. Else NULL */
    bool is_made;     /* weights only: decoded or computed, so it takes memory beside the file's */
} VfPlanTensor;

typedef enum VfPlanKind { VF_PLAN_TENSOR, VF_PLAN_SEQUENCE, VF_PLAN_ABSENT } VfPlanKind;

/* An output of the model: outputs [first, first + n) of the plan, one for a tensor, one for each
 * item of a sequence, none for an optional without a value. */
typedef struct VfPlanResult {
    VfBytes name;
    VfPlanKind kind;
    int32_t first, n;
} VfPlanResult;

/* One kernel call. */
typedef struct VfPlanStep {
    const VfkKernel *kernel;
    const void *params;
    int32_t n_in, n_out;
    const VfPlanRef *in, *out;
    size_t scratch_bytes; /* for each worker */
    int64_t units;        /* work of the whole step */
    int64_t grain;        /* units worth a worker: decides how many take part, in equal shares */
    int32_t node;         /* index in plan->node: which node of the model this came from */
    bool may_fail;        /* an index outside its axis ends the run */
    bool has_guard;       /* only where the last operand is true: a bool that no kernel reads */
    double flops;         /* floating-point operations, a multiply-add as two */
    double bytes;         /* of its operands, each counted once, and of its results */
} VfPlanStep;

/* The node of the model that steps came from. */
typedef struct VfPlanNode {
    VfBytes name;
    const char *op;   /* operator type */
    const char *pass; /* the pass that made the node, or NULL */
    const char *shapes; /* "1x197x192 · 192x576 -> 1x197x576", for comments and profiles */
} VfPlanNode;

typedef struct VfPlan {
    VfArena *arena;
    VfPlanTensor *input, *output, *weight;
    VfPlanResult *result; /* what the outputs are, in order */
    VfPlanTensor *saved; /* every intermediate, when lowering was asked to keep them all */
    VfPlanStep *step;
    VfPlanNode *node;
    VfPlanBuffer *buffer; /* by the index of places in the arena; others hold nothing */
    int32_t n_input, n_output, n_result, n_weight, n_saved, n_step, n_node, n_buffer;
    size_t arena_bytes;  /* run arena */
    size_t scratch_bytes; /* largest scratch of any step */
    size_t total_bytes;  /* sum of all arena tensors, were none reused */
    size_t live_bytes;   /* largest simultaneous need: the lower bound of arena_bytes */
    double flops;
    bool depends_on_values; /* contents of inputs were used: right for these values alone */
} VfPlan;

/* VF_INVALID: a kernel of `node` met an index outside its axis. */
VfStatus vf_plan_fail(const VfPlanNode *node, const VfkFault *fault, VfErr *err);

/* Free the plan and its arena. NULL is allowed. */
void vf_plan_free(VfPlan *plan);

#endif
