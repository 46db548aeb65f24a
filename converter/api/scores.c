#include "converter/api/scores.h"

#include <string.h>

enum { DEFAULT_BATCH = 64 };

typedef struct Scoring {
    const VitfoldModel *model;
    const VfLabelled *data;
    const VitfoldEvalOptions *options;
    const VfProgress *progress;
    VfArena *arena;
    VfScores *scores;
    size_t n_sample; /* to look at */
    bool is_fixed;   /* the model takes no other number of samples than the batch */
    char *row;       /* memory of the scores, NULL before the first batch */
    size_t row_bytes;
} Scoring;

static VfStatus choose_batch(Scoring *cx, VfErr *err)
{
    const VfValue *input = cx->scores->input;
    const VfType *type = &input->type;
    const VfArray *x = &cx->data->x;
    if (type->dtype != VF_UNDEFINED && type->dtype != x->dtype)
        return vf_fail(err, VF_INVALID, "x is %s, input '%s' needs %s",
                       vf_array_text(cx->arena, x), vf_value_label(input),
                       vf_type_text(cx->arena, cx->model->ir->symbols, type));
    cx->is_fixed = type->rank > 0 && vf_dim_is_known(type->dims[0]);
    int64_t batch = cx->options->batch > 0 ? cx->options->batch : DEFAULT_BATCH;
    if (cx->is_fixed)
        batch = type->dims[0].k;
    if (batch <= 0)
        return vf_fail(err, VF_UNSUPPORTED, "input '%s' takes no samples", vf_value_label(input));
    cx->scores->batch = (size_t)batch;
    return VF_OK;
}

/* Memory for `n` samples as one input. */
static VfStatus make_batch(const Scoring *cx, size_t n, VitfoldData *in, VfErr *err)
{
    const VfArray *x = &cx->data->x;
    int64_t dims[VF_ARRAY_MAX_RANK];
    memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
    dims[0] = (int64_t)(cx->is_fixed ? cx->scores->batch : n);
    VfArray array;
    void *data;
    VF_TRY(vf_array_new(&array, in->arena, x->dtype, x->rank, dims, &data, err));
    return vf_data_put(in, cx->scores->input->name, &array, err);
}

/* Put `n` samples from `first` on into the batch; a fixed one is filled up with the last. */
static VfStatus fill_batch(const Scoring *cx, size_t first, size_t n, char *to, VfErr *err)
{
    size_t sample = cx->data->sample_bytes, n_in = cx->is_fixed ? cx->scores->batch : n;
    for (size_t i = 0; i < n; i++)
        VF_TRY(vf_labelled_sample(cx->data, first + i, to + i * sample, err));
    for (size_t i = n; i < n_in; i++)
        memcpy(to + i * sample, to + (n - 1) * sample, sample);
    return VF_OK;
}

static VfStatus find_output(const Scoring *cx, const VfSession *session, int32_t *output,
                            VfErr *err)
{
    const char *wanted = cx->options->output;
    *output = 0;
    if (wanted == NULL)
        return VF_OK;
    for (; *output < session->plan->n_output; ++*output)
        if (vf_bytes_is_equal(session->plan->output[*output].name, vf_bytes(wanted)))
            return VF_OK;
    return vf_fail(err, VF_USAGE, "the model has no output '%s'", wanted);
}

/* Memory for all scores, of the type that the first batch has. */
static VfStatus make_room(Scoring *cx, const VfArray *batch, VfBytes name, VfErr *err)
{
    int64_t dims[] = {(int64_t)cx->n_sample, batch->dims[1]};
    void *data;
    VF_TRY(vf_array_new(&cx->scores->array, cx->arena, batch->dtype, 2, dims, &data, err));
    cx->row = data;
    cx->row_bytes = batch->bytes / (size_t)batch->dims[0];
    char *copy = vf_arena_copy(cx->arena, name.data, name.size);
    VF_TRY_ALLOC(copy, err);
    cx->scores->output = (VfBytes){copy, name.size};
    return VF_OK;
}

static VfStatus keep_scores(Scoring *cx, const VfArray *batch, VfBytes name, size_t first,
                            size_t n, VfErr *err)
{
    size_t n_row = cx->is_fixed ? cx->scores->batch : n;
    bool is_row_a_sample = batch->rank == 2 && (size_t)batch->dims[0] == n_row;
    if (!is_row_a_sample || !vf_dtype_info(batch->dtype)->is_float ||
        (cx->row != NULL && batch->dims[1] != cx->scores->array.dims[1]))
        return vf_fail(err, VF_UNSUPPORTED, "scores are %s, eval needs one row of classes a sample",
                       vf_array_text(cx->arena, batch));
    if (cx->row == NULL)
        VF_TRY(make_room(cx, batch, name, err));
    memcpy(cx->row + first * cx->row_bytes, batch->data, n * cx->row_bytes);
    return VF_OK;
}

static VfStatus run_batch(Scoring *cx, VfSession *session, size_t first, size_t n, VfErr *err)
{
    VfArray batch;
    int32_t output;
    VF_TRY(vf_progress_tell(cx->progress, err));
    VF_TRY(find_output(cx, session, &output, err));
    VF_TRY(vf_session_run(session, NULL, err));
    VF_TRY(vf_session_output(session, output, &batch, err));
    return keep_scores(cx, &batch, session->plan->output[output].name, first, n, err);
}

/* The session is opened when the first batch is there, and anew for each if it depends on what is
 * in a batch. */
static VfStatus run_next(Scoring *cx, VitfoldData *in, VfSession *session, size_t first, size_t n,
                         VfErr *err)
{
    VF_TRY(fill_batch(cx, first, n, (char *)(uintptr_t)in->array[0].array.data, err));
    if (session->plan != NULL && vf_session_depends(session))
        vf_session_close(session);
    if (session->plan == NULL)
        VF_TRY(vf_session_open(cx->model, in, &cx->options->run, session, err));
    return run_batch(cx, session, first, n, err);
}

static VfStatus run_session(Scoring *cx, VitfoldData *in, size_t begin, size_t end, VfErr *err)
{
    VfSession session = {0};
    size_t step = cx->scores->batch;
    VfStatus status = VF_OK;
    for (size_t first = begin; first < end && status == VF_OK; first += step)
        status = run_next(cx, in, &session, first, step < end - first ? step : end - first, err);
    if (session.plan != NULL)
        vf_session_close(&session);
    return status;
}

/* A plan is made for the full batch and used for all of them; the rest gets one of its own. */
static VfStatus run_range(Scoring *cx, size_t begin, size_t end, VfErr *err)
{
    size_t n = cx->scores->batch < end - begin ? cx->scores->batch : end - begin;
    if (begin >= end)
        return VF_OK;
    VitfoldData *in = vitfold_data_new();
    VF_TRY_ALLOC(in, err);
    VfStatus status = make_batch(cx, n, in, err);
    if (status == VF_OK)
        status = run_session(cx, in, begin, end, err);
    vitfold_data_free(in);
    return status;
}

VfStatus vf_scores_run(const VitfoldModel *model, const VfLabelled *data,
                       const VitfoldEvalOptions *options, const VfProgress *progress,
                       VfArena *arena, VfScores *scores, VfErr *err)
{
    Scoring cx = {.model = model, .data = data, .options = options, .progress = progress,
                  .arena = arena, .scores = scores, .n_sample = data->n_sample};
    *scores = (VfScores){0};
    VF_TRY(vf_single_input(model, &scores->input, err));
    VF_TRY(choose_batch(&cx, err));
    if (options->n_sample > 0 && (size_t)options->n_sample < cx.n_sample)
        cx.n_sample = (size_t)options->n_sample;
    if (cx.n_sample == 0)
        return vf_fail(err, VF_INVALID, "data '%s': no samples", data->path);
    size_t whole = cx.n_sample / scores->batch * scores->batch;
    VF_TRY(run_range(&cx, 0, whole, err));
    return run_range(&cx, whole, cx.n_sample, err);
}

/* How many classes score higher than the label, earlier ones winning ties. */
static size_t rank_of(const VfArray *scores, size_t row, size_t n_class, size_t label)
{
    double own = vf_array_get_double(scores, row * n_class + label);
    size_t rank = 0;
    for (size_t i = 0; i < n_class; i++) {
        double other = vf_array_get_double(scores, row * n_class + i);
        rank += other > own || (i < label && !(other < own));
    }
    return rank;
}

VfStatus vf_scores_hits(const VfScores *scores, const VfLabelled *data, size_t n_top,
                        size_t *n_hit, VfErr *err)
{
    size_t n_sample = (size_t)scores->array.dims[0], n_class = (size_t)scores->array.dims[1];
    *n_hit = 0;
    for (size_t i = 0; i < n_sample; i++) {
        int64_t label = data->y[i];
        if ((uint64_t)label >= n_class)
            return vf_fail(err, VF_INVALID,
                           "data '%s': label %zu is class %lld, the model has %zu", data->path, i,
                           (long long)label, n_class);
        *n_hit += rank_of(&scores->array, i, n_class, (size_t)label) < n_top;
    }
    return VF_OK;
}
