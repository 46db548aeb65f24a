/* Trace events: one process a model, one thread a worker, one complete event for each share of a
 * step.
 */
#include "converter/api/bench.h"
#include "runtime/exec/pool.h"

typedef struct Lane {
    int pid, tid;
} Lane;

/* What a process or a thread is called. */
static void name_lane(VfJson *json, const char *what, Lane lane, const char *name)
{
    vf_json_object_row(json, NULL);
    vf_json_string(json, "name", what);
    vf_json_string(json, "ph", "M");
    vf_json_int(json, "pid", lane.pid);
    vf_json_int(json, "tid", lane.tid);
    vf_json_object_row(json, "args");
    vf_json_string(json, "name", name);
    vf_json_end(json);
    vf_json_end(json);
}

static void add_event(VfJson *json, const VfPlan *plan, const VfPlanStep *step, Lane lane,
                      VfRunSpan span)
{
    const VfPlanNode *node = &plan->node[step->node];
    vf_json_object_row(json, NULL);
    vf_json_string(json, "name", node->op);
    vf_json_string(json, "cat", "step");
    vf_json_string(json, "ph", "X");
    vf_json_double(json, "ts", 1e-3 * (double)span.begin_ns);
    vf_json_double(json, "dur", 1e-3 * (double)(span.end_ns - span.begin_ns));
    vf_json_int(json, "pid", lane.pid);
    vf_json_int(json, "tid", lane.tid);
    vf_json_object_row(json, "args");
    vf_json_bytes(json, "node", node->name);
    vf_json_string(json, "op", node->op);
    vf_json_string(json, "shapes", node->shapes);
    vf_json_double(json, "flops", step->flops);
    vf_json_double(json, "bytes", step->bytes);
    vf_json_string(json, "kernel", step->kernel->symbol);
    vf_json_end(json);
    vf_json_end(json);
}

static void add_steps(VfJson *json, const VfBenchSide *side, int pid)
{
    const VfPlan *plan = side->session.plan;
    int n_worker = vf_pool_size(side->session.pool);
    int64_t origin = plan->n_step > 0 ? side->best.step[0].begin_ns : 0;
    for (int32_t i = 0; i < plan->n_step; i++)
        for (int w = 0; w < n_worker; w++) {
            VfRunSpan span = side->best.share[(size_t)i * (size_t)n_worker + (size_t)w];
            if (span.end_ns == 0)
                continue;
            span.begin_ns -= origin;
            span.end_ns -= origin;
            add_event(json, plan, &plan->step[i], (Lane){pid, w}, span);
        }
}

VfStatus vf_bench_trace(const VfBench *bench, VfBytes *trace, VfErr *err)
{
    VfArena *arena = bench->report->arena;
    VfJson *json = VF_NEW(arena, VfJson);
    VF_TRY_ALLOC(json, err);
    vf_json_begin(json, arena, "vitfold.trace.1");
    vf_json_string(json, "displayTimeUnit", "ms");
    vf_json_array(json, "traceEvents");
    for (int k = 0; k < (int)bench->n_side; k++) {
        const VfBenchSide *side = &bench->side[k];
        name_lane(json, "process_name", (Lane){k + 1, 0}, side->given->model->path);
        for (int w = 0; w < vf_pool_size(side->session.pool); w++) {
            const char *name = w == 0 ? "caller" : vf_arena_printf(arena, "worker %d", w);
            VF_TRY_ALLOC(name, err);
            name_lane(json, "thread_name", (Lane){k + 1, w}, name);
        }
        add_steps(json, side, k + 1);
    }
    vf_json_end(json);
    return vf_json_finish(json, trace, err);
}
