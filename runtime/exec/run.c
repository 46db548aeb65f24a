#include "runtime/exec/run.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/size.h"
#include "runtime/exec/pool.h"
#include "runtime/kernels/matmul.h"

enum { ALIGN = 64 };

struct VfRun {
    const VfPlan *plan;
    VfPool *pool;
    char *arena;
    char *scratch;       /* of all workers */
    size_t scratch_each; /* a multiple of ALIGN */
    const void **in;     /* operands of the current step */
    void **out;
    const void *const *given_in; /* of the last run */
    void *const *given_out;
    const VfPlanStep *step;
    VfRunSpan *share; /* of the current step by worker, or NULL */
    VfkFault *fault;  /* of the current step by worker */
};

static void operand_counts(const VfPlan *plan, size_t *n_in, size_t *n_out)
{
    *n_in = 1;
    *n_out = 1;
    for (int32_t i = 0; i < plan->n_step; i++) {
        if ((size_t)plan->step[i].n_in > *n_in)
            *n_in = (size_t)plan->step[i].n_in;
        if ((size_t)plan->step[i].n_out > *n_out)
            *n_out = (size_t)plan->step[i].n_out;
    }
}

/* At least one byte. */
static char *aligned_memory(size_t bytes)
{
    size_t whole;
    void *memory = NULL;
    if (!vf_size_align(bytes == 0 ? 1 : bytes, ALIGN, &whole))
        return NULL;
    if (posix_memalign(&memory, ALIGN, whole) != 0)
        return NULL;
    return memory;
}

static VfStatus run_fill(VfRun *run, VfErr *err)
{
    const VfPlan *plan = run->plan;
    size_t n_in, n_out, scratch;
    operand_counts(plan, &n_in, &n_out);
    if (!vf_size_align(plan->scratch_bytes, ALIGN, &run->scratch_each) ||
        !vf_size_mul(run->scratch_each, (size_t)vf_pool_size(run->pool), &scratch))
        return vf_no_memory(err);
    run->arena = aligned_memory(plan->arena_bytes);
    run->scratch = aligned_memory(scratch);
    run->fault = calloc((size_t)vf_pool_size(run->pool), sizeof *run->fault);
    run->in = calloc(n_in, sizeof *run->in);
    run->out = calloc(n_out, sizeof *run->out);
    if (run->arena == NULL || run->scratch == NULL || run->in == NULL || run->out == NULL ||
        run->fault == NULL)
        return vf_no_memory(err);
    return VF_OK;
}

VfStatus vf_run_new(const VfPlan *plan, VfPool *pool, VfRun **run, VfErr *err)
{
    *run = NULL;
    VfRun *made = calloc(1, sizeof *made);
    VF_TRY_ALLOC(made, err);
    made->plan = plan;
    made->pool = pool;
    vfk_blas_single_thread();
    VfStatus status = run_fill(made, err);
    if (status != VF_OK) {
        vf_run_free(made);
        return status;
    }
    *run = made;
    return VF_OK;
}

void vf_run_free(VfRun *run)
{
    if (run == NULL)
        return;
    free(run->arena);
    free(run->scratch);
    free(run->in);
    free(run->out);
    free(run->fault);
    free(run);
}

static const char *read_place(const VfRun *run, VfPlanRef ref)
{
    switch (ref.space) {
    case VF_SPACE_WEIGHT:
        return (const char *)run->plan->weight[ref.index].data + ref.offset;
    case VF_SPACE_INPUT:
        return (const char *)run->given_in[ref.index] + ref.offset;
    case VF_SPACE_OUTPUT:
        return (const char *)run->given_out[ref.index] + ref.offset;
    case VF_SPACE_ARENA:
        return run->arena + ref.offset;
    case VF_SPACE_NONE:
        break;
    }
    return NULL;
}

static char *write_place(const VfRun *run, VfPlanRef ref)
{
    if (ref.space == VF_SPACE_OUTPUT)
        return (char *)run->given_out[ref.index] + ref.offset;
    return ref.space == VF_SPACE_ARENA ? run->arena + ref.offset : NULL;
}

static void call_kernel(void *user, int32_t worker, int64_t begin, int64_t end)
{
    const VfRun *run = user;
    char *scratch = run->scratch + (size_t)worker * run->scratch_each;
    VfkFault *fault = run->step->may_fail ? &run->fault[worker] : NULL;
    VfkArgs args = {run->in, run->out, scratch, run->step->params, begin, end, fault};
    if (run->share == NULL) {
        run->step->kernel->fn(&args);
        return;
    }
    run->share[worker].begin_ns = vf_clock_ns();
    run->step->kernel->fn(&args);
    run->share[worker].end_ns = vf_clock_ns();
}

/* What the first worker met that met a fault: workers do the units in order, so this is the first
 * one of the step, whatever their number. */
static VfStatus find_fault(const VfRun *run, VfErr *err)
{
    const VfPlanStep *step = run->step;
    if (step->has_guard && *(const uint8_t *)run->in[step->n_in - 1] == 0)
        return VF_OK;
    for (int32_t i = 0; i < vf_pool_size(run->pool); i++)
        if (run->fault[i].is_set)
            return vf_plan_fail(&run->plan->node[step->node], &run->fault[i], err);
    return VF_OK;
}

static VfStatus run_step(VfRun *run, const VfPlanStep *step, VfErr *err)
{
    size_t n_worker = (size_t)vf_pool_size(run->pool);
    for (int32_t i = 0; i < step->n_in; i++)
        run->in[i] = read_place(run, step->in[i]);
    for (int32_t i = 0; i < step->n_out; i++)
        run->out[i] = write_place(run, step->out[i]);
    run->step = step;
    if (step->may_fail)
        memset(run->fault, 0, n_worker * sizeof *run->fault);
    vf_pool_share(run->pool, call_kernel, run, step->units, step->grain);
    return step->may_fail ? find_fault(run, err) : VF_OK;
}

static VfStatus run_steps(VfRun *run, const VfRunOptions *options, VfErr *err)
{
    const VfPlan *plan = run->plan;
    size_t n_worker = (size_t)vf_pool_size(run->pool);
    if (options->share != NULL)
        memset(options->share, 0, (size_t)plan->n_step * n_worker * sizeof *options->share);
    for (int32_t i = 0; i < plan->n_step; i++) {
        run->share = options->share == NULL ? NULL : options->share + (size_t)i * n_worker;
        int64_t begin = options->step == NULL ? 0 : vf_clock_ns();
        VF_TRY(run_step(run, &plan->step[i], err));
        if (options->step != NULL)
            options->step[i] = (VfRunSpan){begin, vf_clock_ns()};
    }
    return VF_OK;
}

VfStatus vf_run(VfRun *run, const void *const *in, void *const *out, const VfRunOptions *options,
                VfErr *err)
{
    const VfPlan *plan = run->plan;
    for (int32_t i = 0; i < plan->n_input; i++)
        if (in[i] == NULL && plan->input[i].bytes > 0)
            return vf_fail(err, VF_USAGE, "input '%s' has no data", plan->input[i].name.data);
    run->given_in = in;
    run->given_out = out;
    static const VfRunOptions no_times;
    return run_steps(run, options == NULL ? &no_times : options, err);
}

const void *vf_run_saved(const VfRun *run, int32_t i)
{
    return read_place(run, run->plan->saved[i].ref);
}
