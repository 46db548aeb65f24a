/* Running a plan, with a pool of threads.
 *
 * One plan may be run by many threads at once, each with its own VfRun. Results do not depend
 * on the number of threads: units of work are cut by the plan, and no unit depends on another.
 */
#ifndef VF_EXEC_RUN_H
#define VF_EXEC_RUN_H

#include "runtime/base/status.h"
#include "runtime/exec/plan.h"

typedef struct VfPool VfPool;

/* `n_thread` workers in all, the caller among them; sleeping when idle. NULL when threads or
 * memory cannot be had. */
VfPool *vf_pool_new(int32_t n_thread);
void vf_pool_free(VfPool *pool);

/* Memory for one run at a time of one plan. */
typedef struct VfRun VfRun;

VfStatus vf_run_new(const VfPlan *plan, VfPool *pool, VfRun **run, VfErr *err);
void vf_run_free(VfRun *run);

/* From when to when on the monotonic clock, in nanoseconds. */
typedef struct VfRunSpan {
    int64_t begin_ns, end_ns;
} VfRunSpan;

/* Times to take down, each NULL when they are not asked for. */
typedef struct VfRunOptions {
    VfRunSpan *step;  /* of each step */
    VfRunSpan *share; /* of what worker w did of step i: [i * pool size + w], zeros for nothing */
} VfRunOptions;

/* Run. `in[i]` has plan->input[i].bytes bytes, aligned for its dtype; `out[i]` is filled.
 * VF_INVALID: an index lies outside its axis; what `out` holds then means nothing. */
VfStatus vf_run(VfRun *run, const void *const *in, void *const *out, const VfRunOptions *options,
                VfErr *err);

/* After a run of a plan made with save_all: the bytes of plan->saved[i]. */
const void *vf_run_saved(const VfRun *run, int32_t i);

#endif
