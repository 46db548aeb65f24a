/* Samples handed to the executor a handful at a time. */
#include "converter/api/calibration.h"

#include <string.h>

#include "converter/api/session.h"

/* Samples of a run where the model leaves the number open. */
enum { HANDFUL = 16 };

/* The array of one input, cut into pieces: as many samples as the input's first axis must have. */
typedef struct Feed {
    const VfValue *input;
    const VfArray *array;
    int64_t each;   /* samples of a piece */
    int64_t n_piece; /* 1: the same for all runs */
    size_t bytes;   /* of a piece */
} Feed;

typedef struct Feeds {
    Feed *feed;
    int32_t n_feed;
    int64_t n_piece, n_run; /* pieces in all, and those of a run */
} Feeds;

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

const VfArray *vf_calibration_array(const VfGraph *graph, const VitfoldData *data,
                                    const VfValue *input)
{
    const VfArray *array = vf_data_find(data, input->name);
    if (array != NULL)
        return array;
    bool is_alone = vf_is_required_input(input) && n_required(graph) == 1;
    return is_alone ? vf_data_find(data, vf_bytes("x")) : NULL;
}

/* --- does the data fit? --- */

static bool is_first_fixed(const VfType *type)
{
    return type->rank > 0 && vf_dim_is_known(type->dims[0]);
}

/* All sizes but the first are those of the input, where it says them. */
static bool is_fitting(const VfType *type, const VfArray *array)
{
    if (type->kind != VF_TYPE_TENSOR ||
        (type->dtype != VF_UNDEFINED && type->dtype != array->dtype))
        return false;
    if (type->rank < 0)
        return array->rank > 0 && array->count > 0;
    bool is_same = array->rank == type->rank && array->count > 0;
    for (int32_t i = 1; i < array->rank && is_same; i++)
        is_same = !vf_dim_is_known(type->dims[i]) || array->dims[i] == type->dims[i].k;
    bool is_fixed = is_same && is_first_fixed(type);
    return is_same && (!is_fixed || (type->dims[0].k > 0 && array->dims[0] >= type->dims[0].k));
}

static VfStatus cut(VfArena *arena, const VfModel *model, Feed *feed, VfErr *err)
{
    const VfType *type = &feed->input->type;
    const VfArray *array = feed->array;
    if (!is_fitting(type, array))
        return vf_fail(err, VF_USAGE, "an array %s does not fit input '%s', %s",
                       vf_array_text(arena, array), vf_value_label(feed->input),
                       vf_type_text(arena, model->symbols, type));
    int64_t n_sample = array->rank == 0 ? 1 : array->dims[0];
    feed->each = array->rank == 0 || !is_first_fixed(type) ? 1 : type->dims[0].k;
    feed->n_piece = n_sample / feed->each;
    feed->bytes = array->bytes / (size_t)n_sample * (size_t)feed->each;
    if (array->bytes % (size_t)n_sample != 0)
        return vf_fail(err, VF_UNSUPPORTED, "samples of %s are no whole bytes",
                       vf_array_text(arena, array));
    return VF_OK;
}

/* How many pieces there are, and how many a run can take. */
static VfStatus count_pieces(Feeds *feeds, VfErr *err)
{
    bool is_free = feeds->n_feed > 0;
    feeds->n_piece = 1;
    for (int32_t i = 0; i < feeds->n_feed; i++) {
        const Feed *feed = &feeds->feed[i];
        if (feed->n_piece > 1 && feeds->n_piece > 1 && feed->n_piece != feeds->n_piece)
            return vf_fail(err, VF_USAGE, "inputs have %lld and %lld samples",
                           (long long)feeds->n_piece, (long long)feed->n_piece);
        if (feed->n_piece > feeds->n_piece)
            feeds->n_piece = feed->n_piece;
        is_free = is_free && feed->n_piece > 1 && !is_first_fixed(&feed->input->type);
    }
    feeds->n_run = !is_free ? 1 : feeds->n_piece < HANDFUL ? feeds->n_piece : HANDFUL;
    return VF_OK;
}

static VfStatus make_feeds(VfArena *arena, const VfModel *model, const VitfoldData *data,
                           Feeds *feeds, VfErr *err)
{
    const VfGraph *graph = model->graph;
    *feeds = (Feeds){.feed = VF_NEW_ARRAY(arena, Feed, (size_t)graph->n_input + 1)};
    VF_TRY_ALLOC(feeds->feed, err);
    for (int32_t i = 0; i < graph->n_input; i++) {
        const VfArray *array = vf_calibration_array(graph, data, graph->input[i]);
        if (array == NULL && vf_is_required_input(graph->input[i]))
            return vf_fail(err, VF_USAGE, "no data for input '%s'",
                           vf_value_label(graph->input[i]));
        if (array == NULL)
            continue;
        Feed *feed = &feeds->feed[feeds->n_feed++];
        *feed = (Feed){.input = graph->input[i], .array = array};
        VF_TRY(cut(arena, model, feed, err));
    }
    return count_pieces(feeds, err);
}

VfStatus vf_calibration_check(VfArena *arena, const VitfoldModel *model, const VitfoldData *data,
                              VfErr *err)
{
    Feeds feeds;
    VF_TRY(make_feeds(arena, model->ir, data, &feeds, err));
    for (int32_t i = 0; i < feeds.n_feed; i++) {
        const Feed *feed = &feeds.feed[i];
        int64_t n_sample = feed->array->rank == 0 ? 1 : feed->array->dims[0];
        if (n_sample % feed->each != 0)
            vf_log(&model->log, VF_LOG_NOTE,
                   "input '%s' takes %lld samples a run: the last %lld of %lld are left out",
                   vf_value_label(feed->input), (long long)feed->each,
                   (long long)(n_sample % feed->each), (long long)n_sample);
    }
    return VF_OK;
}

/* --- running --- */

typedef struct Measurement {
    VfArena *arena;
    const Samples *samples;
    const VfModel *model;
    Feeds feeds;
    int32_t n;
    VfValue *const *value;
    VfCalibrationVisit *visit;
    void *user;
} Measurement;

/* The arrays of the run that starts with piece `first`. */
static VfStatus take_pieces(const Measurement *m, int64_t first, int64_t n, VitfoldData *in,
                            VfErr *err)
{
    for (int32_t i = 0; i < m->feeds.n_feed; i++) {
        const Feed *feed = &m->feeds.feed[i];
        int64_t dims[VF_ARRAY_MAX_RANK];
        if (feed->array->rank > 0)
            memcpy(dims, feed->array->dims, (size_t)feed->array->rank * sizeof *dims);
        dims[0] = feed->each * (feed->n_piece > 1 ? n : 1);
        const char *data = feed->array->data;
        VfArray array;
        VF_TRY(vf_array_init(&array, in->arena, feed->array->dtype, feed->array->rank, dims,
                             feed->n_piece > 1 ? data + (size_t)first * feed->bytes : data, err));
        VF_TRY(vf_data_lend(in, feed->input->name, &array, err));
    }
    return VF_OK;
}

static VfStatus visit_results(const Measurement *m, const VfSession *session, VfTensor *tensor,
                              const VfTensor **list, VfErr *err)
{
    int32_t n_own = session->plan->n_output - m->n;
    for (int32_t i = 0; i < m->n; i++) {
        const VfPlanTensor *from = &session->plan->output[n_own + i];
        size_t count = 1; /* the plan checked its size in bytes */
        for (int32_t d = 0; d < from->rank; d++)
            count *= (size_t)from->dims[d];
        tensor[i] = (VfTensor){from->dtype, from->rank, from->dims, count, from->bytes,
                               session->out[n_own + i], VF_STORAGE_LENT};
        list[i] = &tensor[i];
    }
    return m->visit(m->user, list, err);
}

static VfStatus run_pieces(const Measurement *m, VfSession *session, const VitfoldData *first,
                           int64_t begin, int64_t end, VfErr *err)
{
    VfTensor *tensor = VF_NEW_ARRAY(session->arena, VfTensor, (size_t)m->n + 1);
    const VfTensor **list = VF_NEW_ARRAY(session->arena, const VfTensor *, (size_t)m->n + 1);
    VF_TRY_ALLOC(tensor, err);
    VF_TRY_ALLOC(list, err);
    int64_t step = end - begin < m->feeds.n_run ? end - begin : m->feeds.n_run;
    for (int64_t at = begin; at < end; at += step) {
        for (int32_t i = 0; i < session->plan->n_input; i++) {
            int32_t k = vf_data_index(first, session->plan->input[i].name);
            if (k < 0)
                continue;
            const Feed *feed = &m->feeds.feed[k]; /* its entry has its number */
            size_t skip = feed->n_piece > 1 ? (size_t)(at - begin) * feed->bytes : 0;
            session->in[i] = (const char *)first->array[k].array.data + skip;
        }
        VF_TRY(vf_session_run(session, NULL, err));
        VF_TRY(visit_results(m, session, tensor, list, err));
    }
    return VF_OK;
}

/* All runs of this range take the same number of pieces. */
static VfStatus run_range(const Measurement *m, int64_t begin, int64_t end, VfErr *err)
{
    VfSession session;
    VitfoldData in = {.arena = m->arena, .names = vf_intern_new(m->arena)};
    const VitfoldModel *given = m->samples->model;
    /* Nothing is written through the handle. */
    VitfoldModel handle = {.arena = given->arena, .ir = (VfModel *)(uintptr_t)m->model,
                           .path = given->path, .log = given->log};
    if (begin >= end)
        return VF_OK;
    VF_TRY_ALLOC(in.names, err);
    int64_t n = end - begin < m->feeds.n_run ? end - begin : m->feeds.n_run;
    VF_TRY(take_pieces(m, begin, n, &in, err));
    VF_TRY(vf_session_open_keeping(&handle, &in, NULL, m->n, m->value, &session, err));
    bool is_one = end - begin <= n;
    VfStatus status = is_one || !vf_session_depends(&session)
                          ? run_pieces(m, &session, &in, begin, end, err)
                          : vf_fail(err, VF_UNSUPPORTED, "shapes in the model depend on data: only "
                                    "as many samples as it takes in one run can be measured");
    vf_session_close(&session);
    return status;
}

static VfStatus run_all(Measurement *m, VfErr *err)
{
    VF_TRY(make_feeds(m->arena, m->model, m->samples->data, &m->feeds, err));
    int64_t whole = m->feeds.n_piece / m->feeds.n_run * m->feeds.n_run;
    VF_TRY(run_range(m, 0, whole, err));
    return run_range(m, whole, m->feeds.n_piece, err);
}

static VfStatus measure(const VfCalibration *self, const VfModel *model, int32_t n,
                        VfValue *const *value, VfCalibrationVisit *visit, void *user, VfErr *err)
{
    Measurement m = {.samples = (const Samples *)self, .model = model, .n = n, .value = value,
                     .visit = visit, .user = user};
    m.arena = vf_arena_new();
    VF_TRY_ALLOC(m.arena, err);
    VfStatus status = run_all(&m, err);
    vf_arena_free(m.arena);
    return status;
}

VfStatus vf_calibration_new(VfArena *arena, const VitfoldModel *model, const VitfoldData *data,
                            const VfCalibration **calibration, VfErr *err)
{
    Samples *samples = VF_NEW(arena, Samples);
    VF_TRY_ALLOC(samples, err);
    *samples = (Samples){{measure}, model, data};
    *calibration = &samples->calibration;
    return VF_OK;
}
