#include "tests/support/run_model.h"

#include <math.h>
#include <string.h>

#include "converter/lower/lower.h"
#include "runtime/exec/run.h"

enum { SYMBOL_EXTENT = 3 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void fill(VfDtype dtype, size_t count, void *data, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        double unit = (double)next_random(state) / (double)(1u << 30) - 1.0;
        bool is_float = vf_dtype_info(dtype)->is_float != 0;
        double number = is_float ? unit : floor((unit + 1.0) * (dtype == VF_BOOL ? 1.0 : 2.0));
        vf_tensor_put_double(data, dtype, i, number);
    }
}

static VfStatus make_input(const VfValue *input, uint64_t *state, VfArena *arena,
                           VfBinding *binding, VfErr *err)
{
    int32_t rank = input->type.rank;
    if (rank == VF_RANK_UNKNOWN || input->type.dtype == VF_UNDEFINED)
        return vf_fail(err, VF_USAGE, "input '%s' has no type", vf_value_label(input));
    int64_t *dims = VF_NEW_ARRAY(arena, int64_t, (size_t)rank);
    VF_TRY_ALLOC(dims, err);
    for (int32_t i = 0; i < rank; i++) {
        VfDim dim = input->type.dims[i];
        dims[i] = vf_dim_is_known(dim) ? dim.k : dim.k * SYMBOL_EXTENT;
    }
    VfTensor *tensor;
    void *data;
    VF_TRY(vf_tensor_new(arena, input->type.dtype, rank, dims, &tensor, &data, err));
    fill(tensor->dtype, tensor->count, data, state);
    *binding = (VfBinding){.name = input->name,
                           .dtype = tensor->dtype,
                           .rank = rank,
                           .dims = tensor->dims,
                           .value = tensor};
    return VF_OK;
}

static VfStatus make_inputs(const VfGraph *graph, uint64_t seed, VfArena *arena,
                            VfBinding **binding, int32_t *n, VfErr *err)
{
    uint64_t state = seed * 2u + 1u;
    *n = 0;
    *binding = VF_NEW_ARRAY(arena, VfBinding, (size_t)graph->n_input);
    VF_TRY_ALLOC(*binding, err);
    for (int32_t i = 0; i < graph->n_input; i++) {
        if (graph->input[i]->tensor == NULL)
            VF_TRY(make_input(graph->input[i], &state, arena, &(*binding)[(*n)++], err));
    }
    return VF_OK;
}

static const void *find_input(const VfPlanTensor *input, const VfBinding *binding, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (vf_bytes_is_equal(binding[i].name, input->name))
            return binding[i].value->data;
    }
    return input->data;
}

static VfStatus run_plan(const VfPlan *plan, const VfBinding *binding, int32_t n_binding,
                         VfArena *arena, VfTestOutputs *outputs, VfErr *err)
{
    const void **in = VF_NEW_ARRAY(arena, const void *, (size_t)plan->n_input);
    void **out = VF_NEW_ARRAY(arena, void *, (size_t)plan->n_output);
    outputs->tensor = VF_NEW_ARRAY(arena, const VfTensor *, (size_t)plan->n_output);
    outputs->n = plan->n_output;
    if (in == NULL || out == NULL || outputs->tensor == NULL)
        return vf_no_memory(err);
    for (int32_t i = 0; i < plan->n_input; i++)
        in[i] = find_input(&plan->input[i], binding, n_binding);
    for (int32_t i = 0; i < plan->n_output; i++) {
        const VfPlanTensor *o = &plan->output[i];
        VfTensor *tensor;
        VF_TRY(vf_tensor_new(arena, o->dtype, o->rank, o->dims, &tensor, &out[i], err));
        outputs->tensor[i] = tensor;
    }
    VfPool *pool = vf_pool_new(1);
    VF_TRY_ALLOC(pool, err);
    VfRun *run = NULL;
    VfStatus status = vf_run_new(plan, pool, &run, err);
    if (status == VF_OK)
        status = vf_run(run, in, out, NULL, err);
    vf_run_free(run);
    vf_pool_free(pool);
    return status;
}

static VfStatus run_lowered(const VfModel *model, uint64_t seed, const VfLowerOptions *options,
                            VfArena *arena, VfTestOutputs *outputs, VfErr *err)
{
    VfBinding *binding;
    VfPlan *plan;
    int32_t n;
    VF_TRY(make_inputs(model->graph, seed, arena, &binding, &n, err));
    VF_TRY(vf_lower(model, n, binding, options, arena, &plan, NULL, err));
    VfStatus status = run_plan(plan, binding, n, arena, outputs, err);
    vf_plan_free(plan);
    return status;
}

enum { ARENA_BYTES_MAX = 1 << 30 };

VfStatus vf_test_run(const VfModel *model, uint64_t seed, VfArena *arena, VfTestOutputs *outputs,
                     VfErr *err)
{
    VfLowerOptions options = {.max_arena_bytes = ARENA_BYTES_MAX};
    return run_lowered(model, seed, &options, arena, outputs, err);
}

VfStatus vf_test_run_reference(const VfModel *model, uint64_t seed, VfArena *arena,
                               VfTestOutputs *outputs, VfErr *err)
{
    VfLowerOptions options = {.max_arena_bytes = ARENA_BYTES_MAX, .reference = true};
    return run_lowered(model, seed, &options, arena, outputs, err);
}

static double tensor_distance(const VfTensor *a, const VfTensor *b)
{
    double most = 0.0, size = 1.0;
    bool is_same = a->dtype == b->dtype && a->rank == b->rank && a->count == b->count;
    for (int32_t i = 0; is_same && i < a->rank; i++)
        is_same = a->dims[i] == b->dims[i];
    for (size_t i = 0; is_same && i < a->count; i++) {
        double x = vf_tensor_get_double(a, i), diff = fabs(x - vf_tensor_get_double(b, i));
        if (isnan(diff))
            return (double)INFINITY;
        most = fmax(most, diff);
        size = fmax(size, fabs(x));
    }
    return is_same ? most / size : (double)INFINITY;
}

double vf_test_distance(const VfTestOutputs *a, const VfTestOutputs *b)
{
    double most = a->n == b->n ? 0.0 : (double)INFINITY;
    for (int32_t i = 0; i < a->n && i < b->n; i++)
        most = fmax(most, tensor_distance(a->tensor[i], b->tensor[i]));
    return most;
}
