/* Top-1 and top-5 on labelled data. */
#include <string.h>

#include "converter/api/session.h"
#include "converter/data/labelled.h"

enum { DEFAULT_BATCH = 64, N_TOP = 5 };

typedef struct Eval {
    const VitfoldModel *model;
    const VitfoldEvalOptions *options;
    const VfValue *input;
    VfLabelled data;
    size_t n_sample; /* to look at */
    size_t batch;    /* samples of a run */
    bool is_fixed;   /* the model takes no other number */
    size_t n_top1, n_top5;
    VfArena *arena;
} Eval;

static VfStatus find_input(Eval *eval, VfErr *err)
{
    const VfGraph *graph = eval->model->ir->graph;
    for (int32_t i = 0; i < graph->n_input; i++) {
        if (!vf_is_required_input(graph->input[i]))
            continue;
        if (eval->input != NULL)
            return vf_fail(err, VF_UNSUPPORTED, "eval needs a model with one input, this has %zu",
                           vitfold_model_n_input(eval->model));
        eval->input = graph->input[i];
    }
    if (eval->input == NULL)
        return vf_fail(err, VF_UNSUPPORTED, "eval needs a model with one input, this has 0");
    return VF_OK;
}

static VfStatus choose_batch(Eval *eval, VfErr *err)
{
    const VfType *type = &eval->input->type;
    const VfArray *x = &eval->data.x;
    if (type->dtype != VF_UNDEFINED && type->dtype != x->dtype)
        return vf_fail(err, VF_INVALID, "x is %s, input '%s' needs %s",
                       vf_array_text(eval->arena, x), vf_value_label(eval->input),
                       vf_type_text(eval->arena, eval->model->ir->symbols, type));
    eval->is_fixed = type->rank > 0 && vf_dim_is_known(type->dims[0]);
    int64_t batch = eval->options->batch > 0 ? eval->options->batch : DEFAULT_BATCH;
    if (eval->is_fixed)
        batch = type->dims[0].k;
    if (batch <= 0)
        return vf_fail(err, VF_UNSUPPORTED, "input '%s' takes no samples",
                       vf_value_label(eval->input));
    eval->batch = (size_t)batch;
    return VF_OK;
}

/* `n` samples from `first` on as one input; a fixed batch is filled up with the last sample. */
static VfStatus make_batch(Eval *eval, size_t first, size_t n, VitfoldData *in, VfErr *err)
{
    const VfArray *x = &eval->data.x;
    size_t sample = eval->data.sample_bytes, n_in = eval->is_fixed ? eval->batch : n;
    int64_t dims[VF_ARRAY_MAX_RANK];
    memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
    dims[0] = (int64_t)n_in;
    VfArray array;
    void *data;
    VF_TRY(vf_array_new(&array, in->arena, x->dtype, x->rank, dims, &data, err));
    for (size_t i = 0; i < n_in; i++) {
        size_t from = first + (i < n ? i : n - 1);
        memcpy((char *)data + i * sample, (const char *)x->data + from * sample, sample);
    }
    return vf_data_put(in, eval->input->name, &array, err);
}

static VfStatus find_scores(const Eval *eval, const VfSession *session, int32_t *output, VfErr *err)
{
    const char *wanted = eval->options->output;
    *output = 0;
    if (wanted == NULL)
        return VF_OK;
    for (; *output < session->plan->n_output; ++*output)
        if (vf_bytes_is_equal(session->plan->output[*output].name, vf_bytes(wanted)))
            return VF_OK;
    return vf_fail(err, VF_USAGE, "the model has no output '%s'", wanted);
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

static VfStatus count_hits(Eval *eval, const VfArray *scores, size_t first, size_t n, VfErr *err)
{
    size_t n_row = eval->is_fixed ? eval->batch : n;
    if (scores->rank != 2 || (size_t)scores->dims[0] != n_row)
        return vf_fail(err, VF_UNSUPPORTED, "scores are %s, eval needs one row of classes a sample",
                       vf_array_text(eval->arena, scores));
    size_t n_class = (size_t)scores->dims[1];
    for (size_t i = 0; i < n; i++) {
        int64_t label = eval->data.y[first + i];
        if ((uint64_t)label >= n_class)
            return vf_fail(err, VF_INVALID, "label %zu is class %lld, the model has %zu",
                           first + i, (long long)label, n_class);
        size_t rank = rank_of(scores, i, n_class, (size_t)label);
        eval->n_top1 += rank == 0;
        eval->n_top5 += rank < N_TOP;
    }
    return VF_OK;
}

static VfStatus run_batch(Eval *eval, VfSession *session, size_t first, size_t n, VfErr *err)
{
    VfArray scores;
    int32_t output;
    VF_TRY(find_scores(eval, session, &output, err));
    VF_TRY(vf_session_run(session, NULL, err));
    VF_TRY(vf_session_output(session, output, &scores, err));
    return count_hits(eval, &scores, first, n, err);
}

/* A plan is made for the full batch and used for all of them; the rest gets one of its own. */
static VfStatus run_range(Eval *eval, size_t begin, size_t end, size_t step, VfErr *err)
{
    VfSession session;
    VitfoldData *in = vitfold_data_new();
    VF_TRY_ALLOC(in, err);
    VfStatus status = begin < end ? make_batch(eval, begin, step < end - begin ? step : end - begin,
                                               in, err) : VF_OK;
    if (status != VF_OK || begin >= end) {
        vitfold_data_free(in);
        return status;
    }
    status = vf_session_open(eval->model, in, &eval->options->run, &session, err);
    if (status != VF_OK) {
        vitfold_data_free(in);
        return status;
    }
    void *buffer = (void *)(uintptr_t)in->array[0].array.data;
    for (size_t first = begin; first < end && status == VF_OK; first += step) {
        size_t n = step < end - first ? step : end - first;
        memcpy(buffer, (const char *)eval->data.x.data + first * eval->data.sample_bytes,
               n * eval->data.sample_bytes);
        status = run_batch(eval, &session, first, n, err);
    }
    vf_session_close(&session);
    vitfold_data_free(in);
    return status;
}

static VfStatus evaluate(Eval *eval, const char *path, VfErr *err)
{
    VF_TRY(find_input(eval, err));
    VF_TRY(vf_labelled_read(eval->arena, path, &eval->data, err));
    VF_TRY(choose_batch(eval, err));
    int64_t wanted = eval->options->n_sample;
    eval->n_sample = eval->data.n_sample;
    if (wanted > 0 && (size_t)wanted < eval->n_sample)
        eval->n_sample = (size_t)wanted;
    if (eval->n_sample == 0)
        return vf_fail(err, VF_INVALID, "data '%s': no samples", path);
    size_t whole = eval->n_sample / eval->batch * eval->batch;
    VF_TRY(run_range(eval, 0, whole, eval->batch, err));
    return run_range(eval, whole, eval->n_sample, eval->batch, err);
}

static void print(const Eval *eval, const char *path, VitfoldReport *report)
{
    double n = (double)eval->n_sample;
    VfJson *json = &report->json;
    VfText *text = &report->out;
    vf_json_string(json, "file", eval->model->path);
    vf_json_string(json, "data", path);
    vf_json_string(json, "preprocessing", "none");
    vf_json_int(json, "batch", (int64_t)eval->batch);
    vf_json_int(json, "samples", (int64_t)eval->n_sample);
    vf_json_int(json, "top1_hits", (int64_t)eval->n_top1);
    vf_json_int(json, "top5_hits", (int64_t)eval->n_top5);
    vf_json_double(json, "top1", (double)eval->n_top1 / n);
    vf_json_double(json, "top5", (double)eval->n_top5 / n);
    vf_text_printf(text, "preprocessing: none, x is fed to '%s' as it is stored (%s)\n",
                   vf_show(report->arena, eval->input->name),
                   vf_array_text(report->arena, &eval->data.x));
    vf_text_printf(text, "samples  %zu in batches of %zu\n", eval->n_sample, eval->batch);
    vf_text_printf(text, "top-1    %.4f (%zu)\ntop-5    %.4f (%zu)\n", (double)eval->n_top1 / n,
                   eval->n_top1, (double)eval->n_top5 / n, eval->n_top5);
}

int vitfold_eval(const VitfoldModel *model, const char *path, const VitfoldEvalOptions *options,
                 VitfoldReport **result, VitfoldError *err)
{
    static const VitfoldEvalOptions defaults;
    VitfoldReport *report;
    VfStatus status = vf_report_begin("vitfold.eval.1", &report, err);
    if (status != VF_OK)
        return (int)status;
    Eval eval = {.model = model, .options = options == NULL ? &defaults : options,
                 .arena = report->arena};
    status = evaluate(&eval, path, err);
    if (status == VF_OK)
        print(&eval, path, report);
    return (int)vf_report_finish(report, status, result, err);
}
