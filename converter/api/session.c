#include "converter/api/session.h"

#include "converter/api/segment.h"
#include "runtime/exec/pool.h"

enum {
    MAX_VALUE_COUNT = 64, /* inputs up to here may decide shapes: sizes, scales, conditions */
    MAX_THREADS = 1024
};

static VfStatus check_names(const VfGraph *graph, const VitfoldData *in, VfArena *arena,
                            VfErr *err)
{
    VfIntern *names = vf_intern_new(arena);
    VF_TRY_ALLOC(names, err);
    for (int32_t i = 0; i < graph->n_input; i++)
        VF_TRY(vf_intern_add(names, graph->input[i]->name, NULL, err));
    for (size_t i = 0; i < in->n_array; i++)
        if (vf_intern_find(names, in->array[i].name) < 0)
            return vf_fail(err, VF_USAGE, "the model has no input '%s'",
                           vf_show(arena, in->array[i].name));
    return VF_OK;
}

/* A tensor of numbers; its contents if it has no more than `most` elements. */
static VfStatus bind_array(const VfArray *array, size_t most, VfArena *arena, VfBinding *binding,
                           VfErr *err)
{
    *binding = (VfBinding){.dtype = array->dtype, .rank = array->rank, .dims = array->dims};
    if (array->count > most)
        return VF_OK;
    VfTensor *value = VF_NEW(arena, VfTensor);
    VF_TRY_ALLOC(value, err);
    *value = (VfTensor){array->dtype, array->rank, array->dims, array->count, array->bytes,
                        array->data, VF_STORAGE_LENT};
    binding->value = value;
    return VF_OK;
}

static VfStatus bind_value(const VfFileValue *value, size_t most, VfArena *arena,
                           VfBinding *binding, VfErr *err)
{
    const VfTensor *t = value->tensor;
    if (value->kind == VF_FILE_TENSOR && t->dtype == VF_STRING) {
        *binding = (VfBinding){.dtype = t->dtype, .rank = t->rank, .dims = t->dims, .value = t};
        return VF_OK;
    }
    if (value->kind == VF_FILE_TENSOR) {
        VfArray array = {t->dtype, t->rank, t->dims, t->count, t->bytes, t->data};
        return bind_array(&array, most, arena, binding, err);
    }
    VfBinding *item = VF_NEW_ARRAY(arena, VfBinding, value->n_item);
    VF_TRY_ALLOC(item, err);
    *binding = (VfBinding){.kind = value->kind == VF_FILE_NONE ? VF_BINDING_ABSENT
                                                               : VF_BINDING_SEQUENCE,
                           .n_item = (int32_t)value->n_item, .item = item};
    for (size_t i = 0; i < value->n_item; i++)
        VF_TRY(bind_value(&value->item[i], most, arena, &item[i], err));
    return VF_OK;
}

static VfStatus bind(const VfValue *input, const VitfoldData *in, size_t most, VfArena *arena,
                     VfBinding *binding, VfErr *err)
{
    const VfFileValue *value = vf_data_find_value(in, input->name);
    if (value != NULL)
        VF_TRY(bind_value(value, most, arena, binding, err));
    else
        VF_TRY(bind_array(vf_data_find(in, input->name), most, arena, binding, err));
    binding->name = input->name;
    return VF_OK;
}

/* Contents of inputs are bound up to `most` elements, of those that `is_known` says all. */
static VfStatus bind_all(const VfGraph *graph, const VitfoldData *in, size_t most,
                         const bool *is_known, VfArena *arena, VfBinding *binding, int32_t *n,
                         VfErr *err)
{
    *n = 0;
    for (int32_t i = 0; i < graph->n_input; i++) {
        const VfValue *input = graph->input[i];
        bool is_whole = is_known != NULL && is_known[input->id];
        if (vf_data_find(in, input->name) != NULL)
            VF_TRY(bind(input, in, is_whole ? SIZE_MAX : most, arena, &binding[(*n)++], err));
        else if (vf_is_required_input(input))
            return vf_fail(err, VF_USAGE, "no data for input '%s'", vf_value_label(input));
    }
    return VF_OK;
}

/* All but the first, which the error tells. */
static void log_unsupported(const VitfoldModel *model, const VfUnsupported *unsupported)
{
    for (int32_t i = 1; i < unsupported->n; i++)
        vf_log(&model->log, VF_LOG_ERROR, "%s", unsupported->text[i]);
}

static VfStatus lower(const VitfoldModel *model, const VitfoldData *in,
                      const VfLowerOptions *options, size_t most, const bool *is_known,
                      VfArena *arena, VfPlan **plan, VfUnsupported *unsupported, VfErr *err)
{
    const VfGraph *graph = model->ir->graph;
    VfBinding *binding = VF_NEW_ARRAY(arena, VfBinding, (size_t)graph->n_input);
    int32_t n;
    *unsupported = (VfUnsupported){0};
    VF_TRY_ALLOC(binding, err);
    VF_TRY(bind_all(graph, in, most, is_known, arena, binding, &n, err));
    return vf_lower(model->ir, n, binding, options, arena, plan, unsupported, err);
}

VfStatus vf_session_plan(const VitfoldModel *model, const VitfoldData *in,
                         const VfLowerOptions *options, VfArena *arena, VfPlan **plan, VfErr *err)
{
    VfUnsupported unsupported;
    VfStatus status = lower(model, in, options, 0, NULL, arena, plan, &unsupported, err);
    if (status == VF_UNSUPPORTED)
        log_unsupported(model, &unsupported);
    return status;
}

VfStatus vf_session_lower(const VitfoldModel *model, const VitfoldData *in,
                          const VfLowerOptions *options, const bool *is_known, VfSession *session,
                          VfUnsupported *unsupported, VfErr *err)
{
    VfLowerOptions own = *options;
    own.n_given = session->n_given;
    own.given = session->given;
    return lower(model, in, &own, MAX_VALUE_COUNT, is_known, session->arena, &session->plan,
                 unsupported, err);
}

/* As a whole, else in segments. */
static VfStatus lower_session(const VitfoldModel *model, const VitfoldData *in,
                              const VfLowerOptions *options, VfSession *session, VfErr *err)
{
    VfUnsupported unsupported;
    VfStatus status = vf_session_lower(model, in, options, NULL, session, &unsupported, err);
    if (status == VF_UNSUPPORTED)
        status = vf_segments_lower(model, in, options, unsupported.first, session, &unsupported,
                                   err);
    if (status == VF_UNSUPPORTED)
        log_unsupported(model, &unsupported);
    return status;
}

static int32_t thread_count(int wanted)
{
    int32_t n = wanted > 0 ? wanted : vf_processor_count();
    return n > MAX_THREADS ? MAX_THREADS : n;
}

static VfStatus place_input(VfSession *session, const void *data, size_t bytes, int32_t *n,
                            VfErr *err)
{
    if (*n >= session->plan->n_input || bytes != session->plan->input[*n].bytes)
        return vf_fail(err, VF_INTERNAL, "the plan's input %d is not the model's", *n);
    session->in[(*n)++] = data;
    return VF_OK;
}

static VfStatus place_value(VfSession *session, const VfFileValue *value, int32_t *n, VfErr *err)
{
    if (value->kind == VF_FILE_TENSOR && value->tensor->dtype != VF_STRING)
        return place_input(session, value->tensor->data, value->tensor->bytes, n, err);
    for (size_t i = 0; i < value->n_item; i++)
        VF_TRY(place_value(session, &value->item[i], n, err));
    return VF_OK;
}

static VfStatus place_given(VfSession *session, const VfBinding *b, int32_t *n, VfErr *err)
{
    if (b->kind == VF_BINDING_TENSOR && b->dtype != VF_STRING)
        return place_input(session, b->value->data, b->value->bytes, n, err);
    for (int32_t i = 0; i < b->n_item; i++)
        VF_TRY(place_given(session, &b->item[i], n, err));
    return VF_OK;
}

/* The plan's inputs are the tensors of the graph's inputs, in order, then those given. */
static VfStatus place_inputs(VfSession *session, const VfGraph *graph, const VitfoldData *in,
                             VfErr *err)
{
    int32_t n = 0;
    for (int32_t i = 0; i < graph->n_input; i++) {
        VfBytes name = graph->input[i]->name;
        const VfArray *array = vf_data_find(in, name);
        const VfFileValue *value = vf_data_find_value(in, name);
        if (value != NULL)
            VF_TRY(place_value(session, value, &n, err));
        else if (array != NULL)
            VF_TRY(place_input(session, array->data, array->bytes, &n, err));
    }
    for (int32_t i = 0; i < session->n_given; i++)
        VF_TRY(place_given(session, &session->given[i].binding, &n, err));
    return n == session->plan->n_input
               ? VF_OK
               : vf_fail(err, VF_INTERNAL, "the plan's input %d is not the model's", n);
}

static VfStatus place_tensors(VfSession *session, const VfGraph *graph, const VitfoldData *in,
                              VfErr *err)
{
    const VfPlan *plan = session->plan;
    session->in = VF_NEW_ARRAY(session->arena, const void *, (size_t)plan->n_input);
    session->out = VF_NEW_ARRAY(session->arena, void *, (size_t)plan->n_output);
    VF_TRY_ALLOC(session->in, err);
    VF_TRY_ALLOC(session->out, err);
    for (int32_t i = 0; i < plan->n_output; i++) {
        session->out[i] = vf_arena_alloc(session->arena, plan->output[i].bytes);
        VF_TRY_ALLOC(session->out[i], err);
    }
    return place_inputs(session, graph, in, err);
}

VfStatus vf_session_ready(VfSession *session, const VfGraph *graph, const VitfoldData *in,
                          VfErr *err)
{
    VF_TRY(place_tensors(session, graph, in, err));
    return vf_run_new(session->plan, session->pool, &session->run, err);
}

static VfStatus open_session(const VitfoldModel *model, const VitfoldData *in,
                             const VfLowerOptions *lowering, int n_thread, VfSession *session,
                             VfErr *err)
{
    session->arena = vf_arena_new();
    VF_TRY_ALLOC(session->arena, err);
    VF_TRY(check_names(model->ir->graph, in, session->arena, err));
    if (!session->is_pool_lent)
        session->pool = vf_pool_new(thread_count(n_thread));
    if (session->pool == NULL)
        return vf_fail(err, VF_NO_MEMORY, "cannot start %d threads", thread_count(n_thread));
    VF_TRY(lower_session(model, in, lowering, session, err));
    return vf_session_ready(session, model->ir->graph, in, err);
}

/* The session is empty, or holds the pool that it is lent. */
static VfStatus open_or_close(const VitfoldModel *model, const VitfoldData *in,
                              const VfLowerOptions *lowering, int n_thread, VfSession *session,
                              VfErr *err)
{
    VfStatus status = open_session(model, in, lowering, n_thread, session, err);
    if (status != VF_OK)
        vf_session_close(session);
    return status;
}

static VfLowerOptions lower_options(const VitfoldModel *model, const VitfoldRunOptions *o)
{
    return (VfLowerOptions){.save_all = o->save_all != 0, .reference = o->reference != 0,
                            .no_fuse = o->no_fuse != 0, .lists = o->lists != 0,
                            .max_arena_bytes = model->max_memory};
}

VfStatus vf_session_open_keeping(const VitfoldModel *model, const VitfoldData *in,
                                 const VitfoldRunOptions *options, int32_t n,
                                 VfValue *const *keep, VfSession *session, VfErr *err)
{
    static const VitfoldRunOptions defaults;
    const VitfoldRunOptions *o = options == NULL ? &defaults : options;
    VfLowerOptions lowering = lower_options(model, o);
    lowering.n_keep = n;
    lowering.keep = keep;
    *session = (VfSession){0};
    return open_or_close(model, in, &lowering, o->n_thread, session, err);
}

VfStatus vf_session_open_on(VfPool *pool, const VitfoldModel *model, const VitfoldData *in,
                            const VitfoldRunOptions *options, VfSession *session, VfErr *err)
{
    VfLowerOptions lowering = lower_options(model, options);
    *session = (VfSession){.pool = pool, .is_pool_lent = pool != NULL};
    return open_or_close(model, in, &lowering, options->n_thread, session, err);
}

VfStatus vf_session_open(const VitfoldModel *model, const VitfoldData *in,
                         const VitfoldRunOptions *options, VfSession *session, VfErr *err)
{
    return vf_session_open_keeping(model, in, options, 0, NULL, session, err);
}

VfStatus vf_session_run(VfSession *session, const VfRunOptions *times, VfErr *err)
{
    return vf_run(session->run, session->in, session->out, times, err);
}

VfStatus vf_session_output(const VfSession *session, int32_t i, VfArray *array, VfErr *err)
{
    const VfPlanTensor *tensor = &session->plan->output[i];
    return vf_array_init(array, session->arena, tensor->dtype, tensor->rank, tensor->dims,
                         tensor->dtype == VF_STRING ? tensor->data : session->out[i], err);
}

void vf_session_close(VfSession *session)
{
    if (session->run != NULL)
        vf_run_free(session->run);
    if (!session->is_pool_lent)
        vf_pool_free(session->pool);
    vf_plan_free(session->plan);
    vf_arena_free(session->arena);
    *session = (VfSession){0};
}
