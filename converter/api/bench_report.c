/* What a measurement found, in text and JSON. */
#include "converter/api/bench.h"
#include "runtime/exec/pool.h"

typedef struct Latency {
    double mean, p50, p90, p99, min; /* seconds */
} Latency;

static Latency summarize(const VfBench *bench, const VfBenchSide *side)
{
    size_t n = bench->n_repeat;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        side->sorted[i] = side->seconds[i];
        sum += side->seconds[i];
    }
    vf_sort_doubles(side->sorted, n);
    return (Latency){
        .mean = sum / (double)n,
        .p50 = vf_quantile(side->sorted, n, 0.5),
        .p90 = vf_quantile(side->sorted, n, 0.9),
        .p99 = vf_quantile(side->sorted, n, 0.99),
        .min = side->sorted[0],
    };
}

static void print_latency(VfBench *bench, const VfBenchSide *side, const Latency *latency)
{
    VfJson *json = &bench->report->json;
    vf_json_double(json, "mean_ms", 1e3 * latency->mean);
    vf_json_double(json, "p50_ms", 1e3 * latency->p50);
    vf_json_double(json, "p90_ms", 1e3 * latency->p90);
    vf_json_double(json, "p99_ms", 1e3 * latency->p99);
    vf_json_double(json, "min_ms", 1e3 * latency->min);
    vf_json_array_row(json, "runs_ms");
    for (size_t i = 0; i < bench->n_repeat; i++)
        vf_json_double(json, NULL, 1e3 * side->seconds[i]);
    vf_json_end(json);
    vf_text_printf(&bench->report->out,
                   "latency  mean %.3f ms, P50 %.3f, P90 %.3f, P99 %.3f, min %.3f\n",
                   1e3 * latency->mean, 1e3 * latency->p50, 1e3 * latency->p90,
                   1e3 * latency->p99, 1e3 * latency->min);
}

static void print_work(VfBench *bench, const VfBenchSide *side, double seconds)
{
    const VfPlan *plan = side->session.plan;
    const VfPeaks *peaks = &bench->peaks;
    VfJson *json = &bench->report->json;
    VfText *text = &bench->report->out;
    double bytes = 0, rate = plan->flops / seconds;
    for (int32_t i = 0; i < plan->n_step; i++)
        bytes += plan->step[i].bytes;
    vf_json_double(json, "flops", plan->flops);
    vf_json_double(json, "bytes", bytes);
    vf_json_double(json, "gflops", 1e-9 * rate);
    vf_json_double(json, "gbytes", 1e-9 * bytes / seconds);
    vf_json_double(json, "share_of_sgemm", rate / peaks->sgemm_flops);
    vf_json_double(json, "share_of_memory", bytes / seconds / peaks->memory_bytes);
    vf_text_string(text, "work     ");
    vf_text_count(text, plan->flops);
    vf_text_printf(text, "flop at %.2f GFLOP/s, %.0f %% of sgemm\nmoved    ", 1e-9 * rate,
                   100 * rate / peaks->sgemm_flops);
    vf_text_bytes(text, bytes);
    vf_text_printf(text, " by all steps at %.2f GB/s, %.0f %% of memory\n", 1e-9 * bytes / seconds,
                   100 * bytes / seconds / peaks->memory_bytes);
}

/* One row of what the model keeps in memory. */
static void print_bytes(VitfoldReport *report, const char *key, const char *words, double bytes)
{
    vf_json_int(&report->json, key, (int64_t)bytes);
    vf_text_string(&report->out, words);
    vf_text_bytes(&report->out, bytes);
}

static void print_memory(VfBench *bench, const VfBenchSide *side)
{
    const VfPlan *plan = side->session.plan;
    VitfoldReport *report = bench->report;
    double weights = 0, made = 0;
    for (int32_t i = 0; i < plan->n_weight; i++) {
        weights += (double)plan->weight[i].bytes;
        made += plan->weight[i].is_made ? (double)plan->weight[i].bytes : 0;
    }
    print_bytes(report, "arena_bytes", "memory   arena ", (double)plan->arena_bytes);
    print_bytes(report, "live_bytes", ", lower bound ", (double)plan->live_bytes);
    print_bytes(report, "scratch_bytes", "; scratch of a thread ", (double)plan->scratch_bytes);
    print_bytes(report, "weight_bytes", "; weights ", weights);
    print_bytes(report, "made_weight_bytes", ", made from the file's ", made);
    vf_text_char(&report->out, '\n');
}

static VfStatus print_side(VfBench *bench, size_t k, VfErr *err)
{
    VfBenchSide *side = &bench->side[k];
    VitfoldReport *report = bench->report;
    Latency latency = summarize(bench, side);
    const char *kernels = side->given->run.reference ? "reference" : "best";
    bool is_fused = side->given->run.no_fuse == 0;
    vf_json_object(&report->json, NULL);
    vf_json_string(&report->json, "file", side->given->model->path);
    vf_json_string(&report->json, "kernels", kernels);
    vf_json_bool(&report->json, "fused", is_fused);
    if (bench->n_side > 1) {
        vf_text_printf(&report->out, "\n%c        ", "AB"[k]);
        vf_text_visible(&report->out, vf_bytes(side->given->model->path));
        vf_text_printf(&report->out, ", %s kernels%s\n", kernels, is_fused ? "" : ", not fused");
    }
    print_latency(bench, side, &latency);
    print_work(bench, side, latency.p50);
    print_memory(bench, side);
    VfStatus status = bench->options->per_node ? vf_bench_profile(bench, side, err) : VF_OK;
    vf_json_end(&report->json);
    return status;
}

/* Of each run of B to the run of A just before it: what slows the machine down slows both. */
static VfStatus print_ratio(VfBench *bench, VfErr *err)
{
    size_t n = bench->n_repeat;
    VitfoldReport *report = bench->report;
    double *ratio = VF_NEW_ARRAY(report->arena, double, n);
    VF_TRY_ALLOC(ratio, err);
    for (size_t i = 0; i < n; i++)
        ratio[i] = bench->side[1].seconds[i] / bench->side[0].seconds[i];
    vf_sort_doubles(ratio, n);
    double p10 = vf_quantile(ratio, n, 0.1), p50 = vf_quantile(ratio, n, 0.5);
    double p90 = vf_quantile(ratio, n, 0.9);
    vf_json_object_row(&report->json, "ratio");
    vf_json_double(&report->json, "p10", p10);
    vf_json_double(&report->json, "p50", p50);
    vf_json_double(&report->json, "p90", p90);
    vf_json_end(&report->json);
    vf_text_printf(&report->out, "\nB / A    %.3f, the median of %zu pairs of runs; P10 %.3f, P90 "
                   "%.3f\n", p50, n, p10, p90);
    return VF_OK;
}

static void print_head(VfBench *bench)
{
    VfJson *json = &bench->report->json;
    VfText *text = &bench->report->out;
    const VfPeaks *peaks = &bench->peaks;
    int threads = vf_pool_size(bench->side[0].session.pool);
    vf_json_int(json, "threads", threads);
    vf_json_int(json, "warmup", (int64_t)bench->n_warmup);
    vf_json_int(json, "repeats", (int64_t)bench->n_repeat);
    vf_json_double(json, "sgemm_gflops", 1e-9 * peaks->sgemm_flops);
    vf_json_double(json, "memory_gbytes", 1e-9 * peaks->memory_bytes);
    vf_json_double(json, "cache_gbytes", 1e-9 * peaks->cache_bytes);
    vf_json_int(json, "peak_rss_bytes", (int64_t)bench->peak_rss);
    vf_text_printf(text, "threads  %d, %zu runs after %zu to warm up\n", threads, bench->n_repeat,
                   bench->n_warmup);
    vf_text_printf(text, "machine  sgemm %.2f GFLOP/s, memory %.2f GB/s, cache %.2f GB/s\n",
                   1e-9 * peaks->sgemm_flops, 1e-9 * peaks->memory_bytes,
                   1e-9 * peaks->cache_bytes);
    vf_text_string(text, "process  at most ");
    vf_text_bytes(text, bench->peak_rss);
    vf_text_string(text, " resident\n");
}

VfStatus vf_bench_print(VfBench *bench, VfErr *err)
{
    print_head(bench);
    vf_json_array(&bench->report->json, "models");
    for (size_t k = 0; k < bench->n_side; k++)
        VF_TRY(print_side(bench, k, err));
    vf_json_end(&bench->report->json);
    return bench->n_side > 1 ? print_ratio(bench, err) : VF_OK;
}
