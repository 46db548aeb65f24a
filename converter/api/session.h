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
    /* Of a plan in segments (segment.h): how many were run before this plan, what they gave it, and
     * what was to be saved of them. */
    int32_t n_segment, n_given;
    const VfGiven *given;
    VfNamedArray *saved;
    size_t n_saved, saved_capacity;
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

/* Whether the session is right for the contents of its inputs alone: with others it must be opened
 * again. */
static inline bool vf_session_depends(const VfSession *session)
{
    return session->plan->depends_on_values;
}

/* Run once. `times` may be NULL. */
VfStatus vf_session_run(VfSession *session, const VfRunOptions *times, VfErr *err);

/* Output `i` as an array on the session's memory. */
VfStatus vf_session_output(const VfSession *session, int32_t i, VfArray *array, VfErr *err);

void vf_session_close(VfSession *session);

/* --- for segment.c --- */

/* The plan that `options` say, with session->given. Contents of inputs count only if there is no
 * plan without them, those of small inputs and of those that `is_known` says (by value id; may be
 * NULL). */
VfStatus vf_session_lower(const VitfoldModel *model, const VitfoldData *in,
                          const VfLowerOptions *options, const bool *is_known, VfSession *session,
                          VfUnsupported *unsupported, VfErr *err);

/* Memory of the outputs, what the inputs read, and a run. */
VfStatus vf_session_ready(VfSession *session, const VfGraph *graph, const VitfoldData *in,
                          VfErr *err);

#endif
