/* Latency of models, run in turns, beside what the machine can do. */
#include "converter/api/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "runtime/base/clock.h"
#include "runtime/exec/pool.h"

enum { DEFAULT_WARMUP = 3, DEFAULT_REPEAT = 20 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void vf_sort_doubles(double *list, size_t n) { qsort(list, n, sizeof *list, by_value); }

double vf_quantile(const double *sorted, size_t n, double share)
{
    double at = ceil(share * (double)n);
    size_t i = at < 1 ? 0 : (size_t)at - 1;
    return sorted[i < n ? i : n - 1];
}

static void add_steps(VfBenchSide *side)
{
    const VfPlan *plan = side->session.plan;
    for (int32_t i = 0; i < plan->n_step; i++) {
        const VfPlanStep *step = &plan->step[i];
        VfBenchCost *cost = &side->node[step->node];
        cost->seconds += 1e-9 * (double)(side->times.step[i].end_ns - side->times.step[i].begin_ns);
        cost->flops += step->flops;
        cost->bytes += step->bytes;
    }
}

static void keep_fastest(VfBenchSide *side, double seconds)
{
    if (side->best.share == NULL || (side->best_seconds > 0 && seconds >= side->best_seconds))
        return;
    VfRunOptions times = side->times;
    side->times = side->best;
    side->best = times;
    side->best_seconds = seconds;
}

static VfStatus run_once(VfBenchSide *side, size_t i, VfErr *err)
{
    int64_t start = vf_clock_ns();
    VF_TRY(vf_session_run(&side->session, &side->times, err));
    side->seconds[i] = 1e-9 * (double)(vf_clock_ns() - start);
    if (side->node != NULL)
        add_steps(side);
    keep_fastest(side, side->seconds[i]);
    return VF_OK;
}

static VfStatus run_in_turns(VfBench *bench, VfErr *err)
{
    for (size_t i = 0; i < bench->n_warmup; i++)
        for (size_t k = 0; k < bench->n_side; k++)
            VF_TRY(vf_session_run(&bench->side[k].session, NULL, err));
    for (size_t i = 0; i < bench->n_repeat; i++)
        for (size_t k = 0; k < bench->n_side; k++)
            VF_TRY(run_once(&bench->side[k], i, err));
    return VF_OK;
}

static VfStatus alloc_times(const VfBenchSide *side, bool with_shares, VfArena *arena,
                            VfRunOptions *times, VfErr *err)
{
    size_t n_step = (size_t)side->session.plan->n_step;
    times->step = VF_NEW_ARRAY(arena, VfRunSpan, n_step + 1);
    VF_TRY_ALLOC(times->step, err);
    if (!with_shares)
        return VF_OK;
    size_t n_worker = (size_t)vf_pool_size(side->session.pool);
    times->share = VF_NEW_ARRAY(arena, VfRunSpan, n_step * n_worker + 1);
    VF_TRY_ALLOC(times->share, err);
    return VF_OK;
}

static VfStatus prepare(VfBench *bench, VfBenchSide *side, VfErr *err)
{
    VfArena *arena = bench->report->arena;
    const VitfoldBenchOptions *options = bench->options;
    side->seconds = VF_NEW_ARRAY(arena, double, bench->n_repeat);
    side->sorted = VF_NEW_ARRAY(arena, double, bench->n_repeat);
    VF_TRY_ALLOC(side->seconds, err);
    VF_TRY_ALLOC(side->sorted, err);
    if (options->per_node) {
        side->node = VF_NEW_ARRAY(arena, VfBenchCost, (size_t)side->session.plan->n_node + 1);
        VF_TRY_ALLOC(side->node, err);
    }
    if (options->per_node || options->trace)
        VF_TRY(alloc_times(side, options->trace != 0, arena, &side->times, err));
    return options->trace ? alloc_times(side, true, arena, &side->best, err) : VF_OK;
}

/* Linux counts into the peak of getrusage what the process was before it became this program: a
 * copy of whoever started it. */
static double peak_rss(void)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && kib == 0 && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmHWM: %llu kB", &kib) != 1)
            kib = 0;
    if (status != NULL)
        fclose(status);
    struct rusage usage;
    if (kib == 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        kib = (unsigned long long)usage.ru_maxrss;
    return 1024.0 * (double)kib;
}

static VfStatus measure(VfBench *bench, VfErr *err)
{
    for (size_t k = 0; k < bench->n_side; k++)
        VF_TRY(prepare(bench, &bench->side[k], err));
    VF_TRY(run_in_turns(bench, err));
    bench->peak_rss = peak_rss();
    VF_TRY(vf_measure_peaks(bench->side[0].session.pool, &bench->peaks, err));
    VF_TRY(vf_bench_print(bench, err));
    return bench->options->trace ? vf_bench_trace(bench, &bench->report->trace, err) : VF_OK;
}

/* Threads of two pools would be in each other's way: the second model runs on the first one's. */
static VfStatus open_side(VfBench *bench, size_t k, const VitfoldBenchModel *given, VfErr *err)
{
    VfBenchSide *side = &bench->side[k];
    side->given = given;
    VfPool *lent = k > 0 ? bench->side[0].session.pool : NULL;
    VF_TRY(vf_session_open_on(lent, given->model, given->in, &given->run, &side->session, err));
    bench->n_side++;
    if (side->session.n_segment > 0)
        return vf_fail(err, VF_UNSUPPORTED, "'%s' runs in %d segments, for shapes in it depend on "
                       "data: bench measures models that run as one", given->model->path,
                       side->session.n_segment + 1);
    return VF_OK;
}

static VfStatus bench_models(VfBench *bench, const VitfoldBenchModel *model, size_t n, VfErr *err)
{
    VfStatus status = VF_OK;
    for (size_t k = 0; k < n && status == VF_OK; k++)
        status = open_side(bench, k, &model[k], err);
    if (status == VF_OK)
        status = measure(bench, err);
    while (bench->n_side > 0)
        vf_session_close(&bench->side[--bench->n_side].session);
    return status;
}

int vitfold_bench(const VitfoldBenchModel *model, size_t n_model,
                  const VitfoldBenchOptions *options, VitfoldReport **result, VitfoldError *err)
{
    static const VitfoldBenchOptions defaults;
    VfBench bench = {.options = options == NULL ? &defaults : options};
    if (n_model < 1 || n_model > VF_BENCH_MAX_SIDES)
        return (int)vf_fail(err, VF_USAGE, "one or two models can be measured, not %zu", n_model);
    VfStatus status = vf_report_begin("vitfold.bench.2", &bench.report, err);
    if (status != VF_OK)
        return (int)status;
    int64_t n_warmup = bench.options->n_warmup, n_repeat = bench.options->n_repeat;
    bench.n_warmup = n_warmup > 0 ? (size_t)n_warmup : DEFAULT_WARMUP;
    bench.n_repeat = n_repeat > 0 ? (size_t)n_repeat : DEFAULT_REPEAT;
    status = bench_models(&bench, model, n_model, err);
    return (int)vf_report_finish(bench.report, status, result, err);
}
