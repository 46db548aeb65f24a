/* Samples handed out one by one: a run keeps all intermediate results, so a batch of many would
 * take as many times the memory. */
#include "converter/api/session.h"
#include "converter/api/signal.h"

/* The array of one input and how far apart its samples are. */
typedef struct Feed {
    const VfValue *input;
    const VfArray *array;
    VfArray first; /* one sample */
    size_t step;   /* bytes; 0: the same for all samples */
} Feed;

typedef struct Samples {
    VfCalibration calibration; /* first: a pointer to it is one to this */
    const VitfoldModel *model; /* for its log */
    const VitfoldData *data;
} Samples;

static int32_t n_required(const VfGraph *graph)
{
    int32_t n = 0;
    for (int32_t i = 0; i < graph->n_input; i++)
        n += vf_is_required_input(graph->input[i]);
    return n;
}

/* An array named after the input, or "x" where there is one input only. */
static const VfArray *array_of(const VfGraph *graph, const VitfoldData *data,
                               const VfValue *input)
{
    const VfArray *array = vf_data_find(data, input->name);
    bool is_alone = vf_is_required_input(input) && n_required(graph) == 1;
    return array == NULL && is_alone ? vf_data_find(data, vf_bytes("x")) : array;
}

/* Sizes but the first are those of the input; the first a multiple, which is the samples. */
static VfStatus fit(VfArena *arena, Feed *feed, int64_t *n_sample, VfErr *err)
{
    const VfType *type = &feed->input->type;
    const VfArray *array = feed->array;
    int64_t *dims = VF_NEW_ARRAY(arena, int64_t, (size_t)array->rank + 1);
    VF_TRY_ALLOC(dims, err);
    bool is_fit = array->rank == type->rank && array->dtype == type->dtype;
    for (int32_t i = 0; i < array->rank && is_fit; i++) {
        dims[i] = type->dims[i].k;
        is_fit = vf_dim_is_known(type->dims[i]) && dims[i] > 0 &&
                 (i == 0 ? array->dims[0] > 0 && array->dims[0] % dims[0] == 0
                         : array->dims[i] == dims[i]);
    }
    if (!is_fit)
        return vf_fail(err, VF_USAGE, "an array %s does not fit input '%s'",
                       vf_array_text(arena, array), vf_value_label(feed->input));
    int64_t n = array->rank == 0 ? 1 : array->dims[0] / dims[0];
    if (n > 1 && *n_sample > 1 && n != *n_sample)
        return vf_fail(err, VF_USAGE, "inputs have %lld and %lld samples", (long long)n,
                       (long long)*n_sample);
    *n_sample = n > *n_sample ? n : *n_sample;
    VF_TRY(vf_array_init(&feed->first, arena, array->dtype, array->rank, dims, array->data, err));
    feed->step = n > 1 ? feed->first.bytes : 0;
    return VF_OK;
}

static VfStatus make_feeds(VfArena *arena, const Samples *samples, const VfModel *model,
                           Feed **feed, int32_t *n_feed, int64_t *n_sample, VfErr *err)
{
    const VfGraph *graph = model->graph;
    *feed = VF_NEW_ARRAY(arena, Feed, (size_t)graph->n_input + 1);
    VF_TRY_ALLOC(*feed, err);
    *n_feed = 0;
    *n_sample = 1;
    for (int32_t i = 0; i < graph->n_input; i++) {
        const VfArray *array = array_of(graph, samples->data, graph->input[i]);
        if (array == NULL && vf_is_required_input(graph->input[i]))
            return vf_fail(err, VF_USAGE, "no data for input '%s'",
                           vf_value_label(graph->input[i]));
        if (array == NULL)
            continue;
        (*feed)[*n_feed] = (Feed){.input = graph->input[i], .array = array};
        VF_TRY(fit(arena, &(*feed)[(*n_feed)++], n_sample, err));
    }
    return VF_OK;
}

/* Where a value's bytes lie after a run: kept, or an output. */
static VfStatus find_result(VfArena *arena, const VfSession *session, const VfValue *value,
                            VfTensor *tensor, VfErr *err)
{
    const VfPlan *plan = session->plan;
    const VfPlanTensor *found = NULL;
    const void *data = NULL;
    for (int32_t i = 0; i < plan->n_saved && found == NULL; i++)
        if (value->name.size > 0 && vf_bytes_is_equal(plan->saved[i].name, value->name)) {
            found = &plan->saved[i];
            data = vf_run_saved(session->run, i);
        }
    if (found == NULL)
        return vf_fail(err, VF_UNSUPPORTED, "value '%s' is not computed by a run",
                       vf_value_label(value));
    VfArray array;
    VF_TRY(vf_array_init(&array, arena, found->dtype, found->rank, found->dims, data, err));
    *tensor = (VfTensor){array.dtype, array.rank, array.dims, array.count, array.bytes,
                         array.data, VF_STORAGE_LENT};
    return VF_OK;
}

typedef struct Asked {
    int32_t n;
    VfValue *const *value;
    VfCalibrationVisit *visit;
    void *user;
} Asked;

static VfStatus run_samples(VfArena *arena, VfSession *session, const Feed *feed, int32_t n_feed,
                            int64_t n_sample, const Asked *asked, VfErr *err)
{
    VfTensor *tensor = VF_NEW_ARRAY(arena, VfTensor, (size_t)asked->n);
    const VfTensor **list = VF_NEW_ARRAY(arena, const VfTensor *, (size_t)asked->n);
    VF_TRY_ALLOC(tensor, err);
    VF_TRY_ALLOC(list, err);
    for (int64_t s = 0; s < n_sample; s++) {
        for (int32_t i = 0; i < session->plan->n_input; i++)
            for (int32_t k = 0; k < n_feed; k++)
                if (vf_bytes_is_equal(session->plan->input[i].name, feed[k].input->name))
                    session->in[i] =
                        (const char *)feed[k].array->data + (size_t)s * feed[k].step;
        VF_TRY(vf_session_run(session, NULL, err));
        for (int32_t i = 0; i < asked->n; i++) {
            list[i] = &tensor[i];
            if (s == 0)
                VF_TRY(find_result(arena, session, asked->value[i], &tensor[i], err));
        }
        VF_TRY(asked->visit(asked->user, list, err));
    }
    return VF_OK;
}

static VfStatus measure_in(VfArena *arena, const Samples *samples, const VfModel *model,
                           const Asked *asked, VfErr *err)
{
    Feed *feed;
    int32_t n_feed;
    int64_t n_sample = 0;
    VfSession session;
    VitfoldRunOptions options = {.save_all = 1};
    VitfoldModel handle = {.arena = samples->model->arena, .ir = (VfModel *)(uintptr_t)model,
                           .path = samples->model->path, .log = samples->model->log};
    VF_TRY(make_feeds(arena, samples, model, &feed, &n_feed, &n_sample, err));
    VitfoldData first = {.arena = arena,
                         .array = VF_NEW_ARRAY(arena, VfNamedArray, (size_t)n_feed + 1)};
    VF_TRY_ALLOC(first.array, err);
    for (int32_t i = 0; i < n_feed; i++)
        first.array[first.n_array++] = (VfNamedArray){feed[i].input->name, feed[i].first};
    VF_TRY(vf_session_open(&handle, &first, &options, &session, err));
    VfStatus status = run_samples(arena, &session, feed, n_feed, n_sample, asked, err);
    vf_session_close(&session);
    return status;
}

static VfStatus measure(const VfCalibration *self, const VfModel *model, int32_t n,
                        VfValue *const *value, VfCalibrationVisit *visit, void *user, VfErr *err)
{
    const Asked asked = {n, value, visit, user};
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    VfStatus status = measure_in(arena, (const Samples *)self, model, &asked, err);
    vf_arena_free(arena);
    return status;
}

VfStatus vf_signal_samples(VfArena *arena, const VitfoldModel *model, const VitfoldData *data,
                           const VfCalibration **calibration, VfErr *err)
{
    Samples *samples = VF_NEW(arena, Samples);
    VF_TRY_ALLOC(samples, err);
    *samples = (Samples){{measure}, model, data};
    *calibration = &samples->calibration;
    return VF_OK;
}

/* --- sizes --- */

/* Symbols of all axes but the first, which counts samples, have the sizes of the data. */
VfStatus vf_signal_dims(VfArena *arena, const VfModel *ir, const VitfoldSignalOptions *options,
                        VitfoldDim **dim, size_t *n_dim, VfErr *err)
{
    const VfGraph *graph = ir->graph;
    size_t capacity = 0;
    void *items = NULL;
    *n_dim = options->n_dim;
    VF_TRY(vf_arena_grow(arena, &items, &capacity, *n_dim + 1, sizeof **dim, err));
    *dim = items;
    for (size_t i = 0; i < options->n_dim; i++)
        (*dim)[i] = options->dim[i];
    for (int32_t i = 0; options->data != NULL && i < graph->n_input; i++) {
        const VfType *type = &graph->input[i]->type;
        const VfArray *array = array_of(graph, options->data, graph->input[i]);
        for (int32_t d = 1; array != NULL && d < type->rank && d < array->rank; d++) {
            VfBytes name = vf_symbol_text(ir->symbols, type->dims[d].sym);
            if (type->dims[d].sym <= VF_SYM_ONE || type->dims[d].k != 1 ||
                vf_dim_size(*dim, *n_dim, name) >= 0)
                continue;
            VF_TRY(vf_arena_grow(arena, &items, &capacity, *n_dim + 1, sizeof **dim, err));
            *dim = items;
            (*dim)[*n_dim].name = vf_arena_copy(arena, name.data, name.size);
            VF_TRY_ALLOC((*dim)[*n_dim].name, err);
            (*dim)[(*n_dim)++].size = array->dims[d];
        }
    }
    return VF_OK;
}
