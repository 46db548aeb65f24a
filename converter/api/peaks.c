/* The roofs are small models, lowered and run as all are: whatever makes products of the model
 * under measurement fast makes these fast, too. */
#include "converter/api/peaks.h"

#include <string.h>
#include <unistd.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "runtime/base/clock.h"
#include "runtime/exec/pool.h"

enum { MAX_IN = 2, MIN_RUNS = 3 };

static const int64_t LEAST_NS = 60000000; /* to repeat runs for */
static const int64_t MIB = 1 << 20;

typedef struct Product {
    int m, n, k;
} Product;

/* Large ones, and one as wide as layers are. */
static const Product product[] = {{512, 512, 512}, {1024, 1024, 1024}, {256, 2048, 1024}};

/* A plan with memory for what it reads and writes. */
typedef struct Trial {
    VfArena *arena;
    VfPlan *plan;
    VfRun *run;
    const void *in[MAX_IN];
    void *out[1];
} Trial;

static VfStatus time_runs(Trial *trial, double *seconds, VfErr *err)
{
    int64_t begin = vf_clock_ns(), best = INT64_MAX;
    for (int i = 0; i < MIN_RUNS || vf_clock_ns() - begin < LEAST_NS; i++) {
        int64_t start = vf_clock_ns();
        VF_TRY(vf_run(trial->run, trial->in, trial->out, NULL, err));
        int64_t took = vf_clock_ns() - start;
        best = took < best ? took : best;
    }
    *seconds = 1e-9 * (double)(best > 0 ? best : 1);
    return VF_OK;
}

static VfStatus give_memory(Trial *trial, VfErr *err)
{
    const VfPlan *plan = trial->plan;
    for (int32_t i = 0; i < plan->n_input; i++) {
        char *data = vf_arena_alloc(trial->arena, plan->input[i].bytes);
        VF_TRY_ALLOC(data, err);
        /* Pages that were never written may all be one page. */
        memset(data, 0x3c, plan->input[i].bytes);
        trial->in[i] = data;
    }
    trial->out[0] = vf_arena_alloc(trial->arena, plan->output[0].bytes);
    VF_TRY_ALLOC(trial->out[0], err);
    return VF_OK;
}

static VfStatus time_model(Trial *trial, const VfModel *model, VfPool *pool, double *seconds,
                           VfErr *err)
{
    VfBinding binding[MAX_IN];
    const VfLowerOptions options = {0};
    const VfGraph *graph = model->graph;
    int64_t dims[MAX_IN][2];
    for (int32_t i = 0; i < graph->n_input; i++) {
        const VfType *type = &graph->input[i]->type;
        for (int32_t k = 0; k < type->rank; k++)
            dims[i][k] = type->dims[k].k;
        binding[i] = (VfBinding){graph->input[i]->name, VF_F32, type->rank, dims[i]};
    }
    VF_TRY(vf_lower(model, graph->n_input, binding, &options, trial->arena, &trial->plan, NULL,
                    err));
    VF_TRY(give_memory(trial, err));
    VF_TRY(vf_run_new(trial->plan, pool, &trial->run, err));
    VfStatus status = time_runs(trial, seconds, err);
    vf_run_free(trial->run);
    return status;
}

/* The shortest time of a run of the model `text`. */
static VfStatus time_text(const char *text, VfPool *pool, double *seconds, VfErr *err)
{
    VfModel *model;
    VF_TRY_ALLOC(text, err);
    VF_TRY(vf_vft_parse(vf_bytes(text), "peak", &model, err));
    Trial trial = {.arena = vf_arena_new()};
    VfStatus status = trial.arena == NULL ? vf_no_memory(err)
                                          : time_model(&trial, model, pool, seconds, err);
    vf_plan_free(trial.plan);
    vf_arena_free(trial.arena);
    vf_model_free(model);
    return status;
}

static VfStatus product_rate(VfArena *arena, VfPool *pool, double *rate, VfErr *err)
{
    *rate = 0;
    for (size_t i = 0; i < sizeof product / sizeof *product; i++) {
        Product p = product[i];
        double seconds;
        const char *text = vf_arena_printf(arena, "model ir=8 opset=17\n"
                                           "graph peak (x: f32[%d, %d]) -> (y: f32[%d, %d]) {\n"
                                           "    w = const f32[%d, %d] random(1)\n"
                                           "    y = MatMul(x, w) @product\n}\n",
                                           p.m, p.k, p.m, p.n, p.k, p.n);
        VF_TRY(time_text(text, pool, &seconds, err));
        double this_rate = 2.0 * p.m * p.n * p.k / seconds;
        *rate = this_rate > *rate ? this_rate : *rate;
    }
    return VF_OK;
}

static VfStatus sum_rate(VfArena *arena, VfPool *pool, int64_t bytes, double *rate, VfErr *err)
{
    double seconds;
    long long n = bytes / (int64_t)sizeof(float);
    const char *text = vf_arena_printf(arena, "model ir=8 opset=17\n"
                                       "graph peak (a: f32[%lld], b: f32[%lld]) -> (y: f32[%lld]) "
                                       "{\n    y = Add(a, b) @sum\n}\n", n, n, n);
    VF_TRY(time_text(text, pool, &seconds, err));
    *rate = 3 * (double)bytes / seconds;
    return VF_OK;
}

/* Twice the last cache, where the system tells its size. */
static int64_t large_bytes(void)
{
    long cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return cache < 16 * MIB ? 32 * MIB : cache > 128 * MIB ? 256 * MIB : 2 * (int64_t)cache;
}

static VfStatus measure(VfArena *arena, VfPool *pool, VfPeaks *peaks, VfErr *err)
{
    VF_TRY(product_rate(arena, pool, &peaks->sgemm_flops, err));
    VF_TRY(sum_rate(arena, pool, MIB * vf_pool_size(pool), &peaks->cache_bytes, err));
    return sum_rate(arena, pool, large_bytes(), &peaks->memory_bytes, err);
}

VfStatus vf_measure_peaks(VfPool *pool, VfPeaks *peaks, VfErr *err)
{
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    VfStatus status = measure(arena, pool, peaks, err);
    vf_arena_free(arena);
    return status;
}
