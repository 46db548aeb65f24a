#include "converter/api/sgemm_rate.h"

#include <time.h>

#include "runtime/exec/pool.h"
#include "runtime/kernels/matmul.h"

enum { SIDE = 1024, N_RUN = 8, MIN_BLOCK = 64 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static VfStatus time_runs(VfRun *run, const void *const *in, void *const *out, double *rate,
                          VfErr *err)
{
    *rate = 0;
    for (int i = 0; i < N_RUN; i++) {
        double start = now();
        VF_TRY(vf_run(run, in, out, NULL, err));
        double this_rate = 2.0 * SIDE * SIDE * SIDE / (now() - start);
        *rate = this_rate > *rate ? this_rate : *rate;
    }
    return VF_OK;
}

static VfStatus make_and_time(VfArena *arena, VfPool *pool, double *rate, VfErr *err)
{
    enum { BYTES = SIDE * SIDE * (int)sizeof(float) };
    int64_t share = SIDE / vf_pool_size(pool) / MIN_BLOCK * MIN_BLOCK;
    VfkMatmulParams params = {.m = SIDE, .n = SIDE, .k = SIDE, .lda = SIDE, .ldb = SIDE,
                              .ldc = SIDE, .alpha = 1,
                              .block_rows = share < MIN_BLOCK ? MIN_BLOCK : share};
    const VfPlanRef in_ref[] = {{VF_SPACE_INPUT, 0, 0}, {VF_SPACE_INPUT, 1, 0},
                                {VF_SPACE_NONE, 0, 0}};
    const VfPlanRef out_ref[] = {{VF_SPACE_OUTPUT, 0, 0}};
    VfPlanTensor tensor = {.dtype = VF_F32, .bytes = BYTES};
    VfPlanTensor input[] = {tensor, tensor};
    VfPlanStep step = {
        .kernel = vfk_kernel_find("matmul_f32", 0),
        .params = &params,
        .n_in = 3,
        .n_out = 1,
        .in = in_ref,
        .out = out_ref,
        .scratch_bytes = vfk_matmul_scratch_bytes(&params, sizeof(float)),
        .units = (SIDE + params.block_rows - 1) / params.block_rows,
        .grain = 1,
    };
    VfPlan plan = {.arena = arena, .input = input, .output = &tensor, .step = &step, .n_input = 2,
                   .n_output = 1, .n_step = 1, .scratch_bytes = step.scratch_bytes};
    float *a = vf_arena_alloc(arena, BYTES), *b = vf_arena_alloc(arena, BYTES);
    float *c = vf_arena_alloc(arena, BYTES);
    if (step.kernel == NULL || a == NULL || b == NULL || c == NULL)
        return vf_no_memory(err);
    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i] = (float)(i % 7) - 3;
        b[i] = (float)(i % 5) - 2;
    }
    VfRun *run;
    VF_TRY(vf_run_new(&plan, pool, &run, err));
    VfStatus status = time_runs(run, (const void *const[]){a, b}, (void *const[]){c}, rate, err);
    vf_run_free(run);
    return status;
}

VfStatus vf_sgemm_rate(VfPool *pool, double *rate, VfErr *err)
{
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    VfStatus status = make_and_time(arena, pool, rate, err);
    vf_arena_free(arena);
    return status;
}
