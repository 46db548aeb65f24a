/* A model made ready to run on data of certain shapes. */
#ifndef VF_API_SESSION_H
#define VF_API_SESSION_H

#include "converter/api/handle.h"
#include "converter/lower/lower.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/run.h"

typedef struct VfSession {
    VfArena *arena;
    VfPlan *plan;
    VfPool *pool;
    bool is_pool_lent;
    VfRun *run;
    const void **in; /* what the plan's inputs read */
    void **out;      /* memory of the outputs, filled by a run; in the session's arena */
} VfSession;

/* A plan for the shapes of `in` that depends on no contents of inputs; messages as below. Free with
 * vf_plan_free. */
VfStatus vf_session_plan(const VitfoldModel *model, const VitfoldData *in,
                         const VfLowerOptions *options, VfArena *arena, VfPlan **plan, VfErr *err);

/* Lower the model for the shapes of `in`, which must hold every input without a default and
 * nothing that is no input. All operators that are not supported go to the model's log, one
 * line each. The session reads `in` at each run. Nothing is left open after a failure. */
VfStatus vf_session_open(const VitfoldModel *model, const VitfoldData *in,
                         const VitfoldRunOptions *options, VfSession *session, VfErr *err);

/* The same on the threads of `pool`, which must outlive the session; on threads of its own if it is
 * NULL. */
VfStatus vf_session_open_on(VfPool *pool, const VitfoldModel *model, const VitfoldData *in,
                            const VitfoldRunOptions *options, VfSession *session, VfErr *err);

/* The same, with further outputs: `n` values of the main graph (VfLowerOptions). */
VfStatus vf_session_open_keeping(const VitfoldModel *model, const VitfoldData *in,
                                 const VitfoldRunOptions *options, int32_t n,
                                 VfValue *const *keep, VfSession *session, VfErr *err);

/* Run once. `times` may be NULL. */
VfStatus vf_session_run(VfSession *session, const VfRunOptions *times, VfErr *err);

/* Output `i` as an array on the session's memory. */
VfStatus vf_session_output(const VfSession *session, int32_t i, VfArray *array, VfErr *err);

void vf_session_close(VfSession *session);

#endif
