#include "converter/api/session.h"

#include <string.h>
#include <unistd.h>


enum {
    MAX_VALUE_COUNT = 64, /* inputs up to here may decide shapes: sizes, scales, conditions */
    MAX_THREADS = 1024
};

static VfStatus check_names(const VfGraph *graph, const VitfoldData *in, VfArena *arena,
                            VfErr *err)
{
    for (size_t i = 0; i < in->n_array; i++) {
        int32_t k = 0;
        while (k < graph->n_input && !vf_bytes_is_equal(graph->input[k]->name, in->array[i].name))
            k++;
        if (k < graph->n_input)
            continue;
        return vf_fail(err, VF_USAGE, "the model has no input '%s'",
                       vf_show(arena, in->array[i].name));
    }
    return VF_OK;
}

static VfStatus bind(const VfValue *input, const VfArray *array, bool with_values, VfArena *arena,
                     VfBinding *binding, VfErr *err)
{
    *binding = (VfBinding){input->name, array->dtype, array->rank, array->dims, NULL};
    bool is_small = array->count <= MAX_VALUE_COUNT && array->dtype != VF_STRING;
    if (!with_values || !is_small)
        return VF_OK;
    VfTensor *value = VF_NEW(arena, VfTensor);
    VF_TRY_ALLOC(value, err);
    *value = (VfTensor){array->dtype, array->rank, array->dims, array->count, array->bytes,
                        array->data, VF_STORAGE_LENT};
    binding->value = value;
    return VF_OK;
}

static VfStatus bind_all(const VfGraph *graph, const VitfoldData *in, bool with_values,
                         VfArena *arena, VfBinding *binding, int32_t *n, VfErr *err)
{
    *n = 0;
    for (int32_t i = 0; i < graph->n_input; i++) {
        const VfValue *input = graph->input[i];
        const VfArray *array = vf_data_find(in, input->name);
        if (array != NULL)
            VF_TRY(bind(input, array, with_values, arena, &binding[(*n)++], err));
        else if (vf_is_required_input(input))
            return vf_fail(err, VF_USAGE, "no data for input '%s'", vf_value_label(input));
    }
    return VF_OK;
}

static void log_unsupported(const VitfoldModel *model, const VfUnsupported *unsupported)
{
    for (int32_t i = 0; i < unsupported->n; i++)
        vf_log(&model->log, VF_LOG_ERROR, "%s", unsupported->text[i]);
}

/* What a plan is made of, and where it goes. */
typedef struct Lowering {
    const VitfoldModel *model;
    const VitfoldData *in;
    const VfLowerOptions *options;
    VfArena *arena;
    VfPlan **plan;
} Lowering;

static VfStatus lower(const Lowering *cx, bool with_values, bool is_last, VfErr *err)
{
    const VfGraph *graph = cx->model->ir->graph;
    VfBinding *binding = VF_NEW_ARRAY(cx->arena, VfBinding, (size_t)graph->n_input);
    VfUnsupported unsupported = {0};
    int32_t n;
    VF_TRY_ALLOC(binding, err);
    VF_TRY(bind_all(graph, cx->in, with_values, cx->arena, binding, &n, err));
    VfStatus status = vf_lower(cx->model->ir, n, binding, cx->options, cx->arena, cx->plan,
                               &unsupported, err);
    if (status == VF_UNSUPPORTED && is_last)
        log_unsupported(cx->model, &unsupported);
    return status;
}

VfStatus vf_session_plan(const VitfoldModel *model, const VitfoldData *in,
                         const VfLowerOptions *options, VfArena *arena, VfPlan **plan, VfErr *err)
{
    Lowering cx = {model, in, options, arena, plan};
    return lower(&cx, false, true, err);
}

/* Values of small inputs are given to the plan only when it cannot be made without them: what
 * depends on them is computed once, by the plan. */
static VfStatus lower_session(const VitfoldModel *model, const VitfoldData *in,
                              const VfLowerOptions *options, VfSession *session, VfErr *err)
{
    Lowering cx = {model, in, options, session->arena, &session->plan};
    VfStatus status = lower(&cx, false, false, err);
    return status == VF_UNSUPPORTED ? lower(&cx, true, true, err) : status;
}

static int32_t thread_count(int wanted)
{
    long n = wanted > 0 ? wanted : sysconf(_SC_NPROCESSORS_ONLN);
    return (int32_t)(n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n);
}

static VfStatus place_tensors(VfSession *session, const VitfoldData *in, VfErr *err)
{
    const VfPlan *plan = session->plan;
    session->in = VF_NEW_ARRAY(session->arena, const void *, (size_t)plan->n_input);
    session->out = VF_NEW_ARRAY(session->arena, void *, (size_t)plan->n_output);
    VF_TRY_ALLOC(session->in, err);
    VF_TRY_ALLOC(session->out, err);
    for (int32_t i = 0; i < plan->n_input; i++) {
        const VfArray *array = vf_data_find(in, plan->input[i].name);
        if (array == NULL || array->bytes != plan->input[i].bytes)
            return vf_fail(err, VF_INTERNAL, "the plan's input %d is not the model's", i);
        session->in[i] = array->data;
    }
    for (int32_t i = 0; i < plan->n_output; i++) {
        session->out[i] = vf_arena_alloc(session->arena, plan->output[i].bytes);
        VF_TRY_ALLOC(session->out[i], err);
    }
    return VF_OK;
}

static VfStatus open_session(const VitfoldModel *model, const VitfoldData *in,
                             const VfLowerOptions *lowering, int n_thread, VfSession *session,
                             VfErr *err)
{
    session->arena = vf_arena_new();
    VF_TRY_ALLOC(session->arena, err);
    VF_TRY(check_names(model->ir->graph, in, session->arena, err));
    VF_TRY(lower_session(model, in, lowering, session, err));
    VF_TRY(place_tensors(session, in, err));
    session->pool = vf_pool_new(thread_count(n_thread));
    if (session->pool == NULL)
        return vf_fail(err, VF_NO_MEMORY, "cannot start %d threads", thread_count(n_thread));
    return vf_run_new(session->plan, session->pool, &session->run, err);
}

static VfStatus open_or_close(const VitfoldModel *model, const VitfoldData *in,
                              const VfLowerOptions *lowering, int n_thread, VfSession *session,
                              VfErr *err)
{
    *session = (VfSession){0};
    VfStatus status = open_session(model, in, lowering, n_thread, session, err);
    if (status != VF_OK)
        vf_session_close(session);
    return status;
}

VfStatus vf_session_open_keeping(const VitfoldModel *model, const VitfoldData *in,
                                 const VitfoldRunOptions *options, int32_t n,
                                 VfValue *const *keep, VfSession *session, VfErr *err)
{
    static const VitfoldRunOptions defaults;
    const VitfoldRunOptions *o = options == NULL ? &defaults : options;
    VfLowerOptions lowering = {.save_all = o->save_all != 0, .reference = o->reference != 0,
                               .n_keep = n, .keep = keep};
    return open_or_close(model, in, &lowering, o->n_thread, session, err);
}

VfStatus vf_session_open(const VitfoldModel *model, const VitfoldData *in,
                         const VitfoldRunOptions *options, VfSession *session, VfErr *err)
{
    return vf_session_open_keeping(model, in, options, 0, NULL, session, err);
}

VfStatus vf_session_run(VfSession *session, int64_t *step_ns, VfErr *err)
{
    VfRunOptions options = {.step_ns = step_ns};
    return vf_run(session->run, session->in, session->out, &options, err);
}

VfStatus vf_session_output(const VfSession *session, int32_t i, VfArray *array, VfErr *err)
{
    const VfPlanTensor *tensor = &session->plan->output[i];
    return vf_array_init(array, session->arena, tensor->dtype, tensor->rank, tensor->dims,
                         session->out[i], err);
}

void vf_session_close(VfSession *session)
{
    if (session->run != NULL)
        vf_run_free(session->run);
    if (session->pool != NULL)
        vf_pool_free(session->pool);
    vf_plan_free(session->plan);
    vf_arena_free(session->arena);
    *session = (VfSession){0};
}
