/* Plans for a range of batch sizes, printed as one.
 *
 * Two plans stand for all in between: they have the same steps, and where their numbers differ (a
 * size, a stride, a place inside a buffer) the number of a batch lies on the line through them.
 * Buffers lie in the arena where the plan of the largest batch has them, whatever the batch.
 * Weights are those of the largest batch; a smaller one reads the beginning of them.
 */
#ifndef VF_EMIT_BATCH_H
#define VF_EMIT_BATCH_H

#include "runtime/base/text.h"
#include "runtime/exec/plan.h"

enum { VF_EMIT_MAX_RANGES = 2 };

/* Both ends included. Of a program with fixed shapes `max` is 0 and both plans are the same. */
typedef struct VfEmitRange {
    int64_t min, max;
    const VfPlan *low, *high; /* for a batch of `min`, of `max`; may be the same plan */
} VfEmitRange;

static inline bool vf_emit_has_batch(const VfEmitRange *range)
{
    return range->max > 0;
}

/* Whether `plan`, which is that for `batch`, has the steps of the range and its numbers lie on the
 * lines. The first to check is `low`: this compares the ends. VF_UNSUPPORTED names the first node
 * that differs, and how. */
VfStatus vf_emit_range_check(const VfEmitRange *range, const VfPlan *plan, int64_t batch,
                             VfErr *err);

/* The same for the shapes of inputs and outputs. */
VfStatus vf_emit_range_check_tensors(const VfEmitRange *range, const VfPlan *plan, int64_t batch,
                                     VfErr *err);

/* The number that is `low` and `high` at the ends, as C: a constant, or "12 + 34 * batch". */
void vf_emit_number(const VfEmitRange *range, int64_t low, int64_t high, VfText *text);

/* How much it grows with each more in the batch. */
int64_t vf_emit_slope(const VfEmitRange *range, int64_t low, int64_t high);

/* The shapes of a node for a comment, as one: "batch x 3 x 8, 8x4 -> batch x 3 x 4". */
void vf_emit_shapes(const VfEmitRange *range, const char *low, const char *high, VfText *text);

/* Whether the step is not the same for all batches. */
bool vf_emit_step_varies(const VfEmitRange *range, int32_t step);

/* Where `ref` is inside its buffer, weight, input or output, in bytes. */
int64_t vf_emit_place(const VfPlan *plan, VfPlanRef ref);

#endif
