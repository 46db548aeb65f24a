/* Latency of a model, beside the rate at which the machine multiplies matrices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "converter/api/sgemm_rate.h"
#include "converter/api/session.h"
#include "runtime/exec/pool.h"

enum { DEFAULT_WARMUP = 3, DEFAULT_REPEAT = 20, MAX_NODES_SHOWN = 20 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Latency {
    double mean, p50, p90, p99, min; /* seconds */
} Latency;

/* Time of one node over all repeats. */
typedef struct NodeTime {
    const VfPlanNode *node;
    double seconds, flops;
    int32_t order;
} NodeTime;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_time(const void *a, const void *b)
{
    const NodeTime *x = a, *y = b;
    if (x->seconds > y->seconds || x->seconds < y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The smallest time that `share` of all do not exceed. */
static double quantile(const double *sorted, size_t n, double share)
{
    double at = ceil(share * (double)n);
    size_t i = at < 1 ? 0 : (size_t)at - 1;
    return sorted[i < n ? i : n - 1];
}

static Latency summarize(double *seconds, size_t n)
{
    Latency latency = {0};
    for (size_t i = 0; i < n; i++)
        latency.mean += seconds[i] / (double)n;
    qsort(seconds, n, sizeof *seconds, by_value);
    latency.p50 = quantile(seconds, n, 0.5);
    latency.p90 = quantile(seconds, n, 0.9);
    latency.p99 = quantile(seconds, n, 0.99);
    latency.min = seconds[0];
    return latency;
}

typedef struct Bench {
    VfSession *session;
    VitfoldReport *report;
    size_t n_warmup, n_repeat;
    double *seconds;
    NodeTime *node;   /* by number in the plan, or NULL */
    VfRunOptions times; /* of one run */
} Bench;

static void add_steps(Bench *bench)
{
    const VfPlan *plan = bench->session->plan;
    for (int32_t i = 0; i < plan->n_step; i++) {
        NodeTime *time = &bench->node[plan->step[i].node];
        const VfRunSpan *span = &bench->times.step[i];
        time->seconds += 1e-9 * (double)(span->end_ns - span->begin_ns);
        time->flops += plan->step[i].flops;
    }
}

static VfStatus measure(Bench *bench, VfErr *err)
{
    for (size_t i = 0; i < bench->n_warmup; i++)
        VF_TRY(vf_session_run(bench->session, NULL, err));
    for (size_t i = 0; i < bench->n_repeat; i++) {
        double start = now();
        VF_TRY(vf_session_run(bench->session, &bench->times, err));
        bench->seconds[i] = now() - start;
        if (bench->times.step != NULL)
            add_steps(bench);
    }
    return VF_OK;
}

static VfStatus prepare(Bench *bench, const VitfoldBenchOptions *options, VfErr *err)
{
    const VfPlan *plan = bench->session->plan;
    VfArena *arena = bench->report->arena;
    bench->n_warmup = options->n_warmup > 0 ? (size_t)options->n_warmup : DEFAULT_WARMUP;
    bench->n_repeat = options->n_repeat > 0 ? (size_t)options->n_repeat : DEFAULT_REPEAT;
    bench->seconds = VF_NEW_ARRAY(arena, double, bench->n_repeat);
    VF_TRY_ALLOC(bench->seconds, err);
    if (!options->per_node)
        return VF_OK;
    bench->node = VF_NEW_ARRAY(arena, NodeTime, (size_t)plan->n_node);
    bench->times.step = VF_NEW_ARRAY(arena, VfRunSpan, (size_t)plan->n_step);
    VF_TRY_ALLOC(bench->node, err);
    VF_TRY_ALLOC(bench->times.step, err);
    for (int32_t i = 0; i < plan->n_node; i++)
        bench->node[i] = (NodeTime){.node = &plan->node[i], .order = i};
    return VF_OK;
}

static void print_latency(const Bench *bench, const Latency *latency, double rate)
{
    const VfPlan *plan = bench->session->plan;
    VfJson *json = &bench->report->json;
    VfText *text = &bench->report->out;
    double own_rate = plan->flops / latency->p50;
    int threads = vf_pool_size(bench->session->pool);
    vf_json_int(json, "threads", threads);
    vf_json_int(json, "warmup", (int64_t)bench->n_warmup);
    vf_json_int(json, "repeats", (int64_t)bench->n_repeat);
    vf_json_double(json, "mean_ms", 1e3 * latency->mean);
    vf_json_double(json, "p50_ms", 1e3 * latency->p50);
    vf_json_double(json, "p90_ms", 1e3 * latency->p90);
    vf_json_double(json, "p99_ms", 1e3 * latency->p99);
    vf_json_double(json, "min_ms", 1e3 * latency->min);
    vf_json_double(json, "flops", plan->flops);
    vf_json_double(json, "gflops", 1e-9 * own_rate);
    vf_json_double(json, "sgemm_gflops", 1e-9 * rate);
    vf_json_double(json, "share_of_sgemm", own_rate / rate);
    vf_json_int(json, "arena_bytes", (int64_t)plan->arena_bytes);
    vf_text_printf(text, "threads  %d, %zu runs after %zu to warm up\n", threads, bench->n_repeat,
                   bench->n_warmup);
    vf_text_printf(text, "latency  mean %.3f ms, P50 %.3f, P90 %.3f, P99 %.3f, min %.3f\n",
                   1e3 * latency->mean, 1e3 * latency->p50, 1e3 * latency->p90,
                   1e3 * latency->p99, 1e3 * latency->min);
    vf_text_string(text, "work     ");
    vf_text_count(text, plan->flops);
    vf_text_printf(text, " flops, %.2f GFLOP/s at P50\n", 1e-9 * own_rate);
    vf_text_printf(text, "sgemm    %.2f GFLOP/s on this machine: the model reaches %.0f %%\n",
                   1e-9 * rate, 100 * own_rate / rate);
    vf_text_string(text, "memory   ");
    vf_text_bytes(text, (double)plan->arena_bytes);
    vf_text_char(text, '\n');
}

static void print_nodes(const Bench *bench)
{
    VfJson *json = &bench->report->json;
    VfTable table;
    int32_t n = bench->session->plan->n_node;
    double repeats = (double)bench->n_repeat, total = 0;
    qsort(bench->node, (size_t)n, sizeof *bench->node, by_time);
    for (int32_t i = 0; i < n; i++)
        total += bench->node[i].seconds;
    vf_table_init(&table, bench->report->arena, "rrrlll");
    static const char *const head[] = {"ms", "%", "GFLOP/s", "operator", "shapes", "node"};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        vf_table_printf(&table, "%s", head[i]);
    vf_json_array(json, "nodes");
    for (int32_t i = 0; i < n; i++) {
        const NodeTime *time = &bench->node[i];
        double rate = time->seconds > 0 ? time->flops / time->seconds : 0;
        vf_json_object_row(json, NULL);
        vf_json_bytes(json, "name", time->node->name);
        vf_json_string(json, "op", time->node->op);
        vf_json_string(json, "shapes", time->node->shapes);
        vf_json_double(json, "ms", 1e3 * time->seconds / repeats);
        vf_json_double(json, "flops", time->flops / repeats);
        vf_json_end(json);
        if (i >= MAX_NODES_SHOWN)
            continue;
        vf_table_printf(&table, "%.3f", 1e3 * time->seconds / repeats);
        vf_table_printf(&table, "%.1f", 100 * time->seconds / total);
        vf_table_printf(&table, "%.2f", 1e-9 * rate);
        vf_table_printf(&table, "%s", time->node->op);
        vf_table_printf(&table, "%s", time->node->shapes == NULL ? "" : time->node->shapes);
        vf_table_cell(&table, time->node->name);
    }
    vf_json_end(json);
    vf_text_char(&bench->report->out, '\n');
    vf_table_print(&table, 0, &bench->report->out);
}

static VfStatus bench_session(Bench *bench, const VitfoldModel *model,
                              const VitfoldBenchOptions *options, VfErr *err)
{
    double rate;
    VF_TRY(prepare(bench, options, err));
    VF_TRY(measure(bench, err));
    VF_TRY(vf_sgemm_rate(bench->session->pool, &rate, err));
    Latency latency = summarize(bench->seconds, bench->n_repeat);
    vf_json_string(&bench->report->json, "file", model->path);
    print_latency(bench, &latency, rate);
    if (bench->node != NULL)
        print_nodes(bench);
    return VF_OK;
}

int vitfold_bench(const VitfoldModel *model, const VitfoldData *in,
                  const VitfoldBenchOptions *options, VitfoldReport **result, VitfoldError *err)
{
    static const VitfoldBenchOptions defaults;
    VitfoldReport *report;
    VfSession session;
    if (options == NULL)
        options = &defaults;
    VfStatus status = vf_report_begin("vitfold.bench.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    status = vf_session_open(model, in, &options->run, &session, err);
    if (status == VF_OK) {
        Bench bench = {.session = &session, .report = report};
        status = bench_session(&bench, model, options, err);
        vf_session_close(&session);
    }
    return (int)vf_report_finish(report, status, result, err);
}
