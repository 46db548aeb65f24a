/* Top-1 and top-5 on labelled data. */
#include "converter/api/scores.h"

typedef struct Eval {
    const VitfoldModel *model;
    const char *path;
    VfLabelled data;
    VfScores scores;
    size_t n_sample, n_top1, n_top5;
} Eval;

static VfStatus evaluate(Eval *eval, const VitfoldEvalOptions *options, VfArena *arena, VfErr *err)
{
    enum { N_TOP = 5 };
    VF_TRY(vf_labelled_open(arena, eval->path, eval->model, options, &eval->data, err));
    VF_TRY(vf_scores_run(eval->model, &eval->data, options, NULL, arena, &eval->scores, err));
    eval->n_sample = (size_t)eval->scores.array.dims[0];
    VF_TRY(vf_scores_hits(&eval->scores, &eval->data, 1, &eval->n_top1, err));
    return vf_scores_hits(&eval->scores, &eval->data, N_TOP, &eval->n_top5, err);
}

static void print_data(const Eval *eval, const char *preprocessing, VfArena *arena, VfText *text)
{
    const char *input = vf_show(arena, eval->scores.input->name);
    const char *type = vf_array_text(arena, &eval->data.x);
    if (eval->data.has_images)
        vf_text_printf(text, "preprocessing: %s; fed to '%s' (%s)\n", preprocessing, input, type);
    else
        vf_text_printf(text, "preprocessing: none, x is fed to '%s' as it is stored (%s)\n", input,
                       type);
    if (eval->data.file != NULL)
        vf_text_printf(text, "classes  %zu folders, numbered %s\n", eval->data.n_class,
                       eval->data.has_numbers ? "by their names" : "in the order of their names");
}

static void print(const Eval *eval, VitfoldReport *report)
{
    double n = (double)eval->n_sample;
    VfJson *json = &report->json;
    VfText *text = &report->out;
    const char *preprocessing = vf_labelled_preprocessing(report->arena, &eval->data);
    vf_json_string(json, "file", eval->model->path);
    vf_json_string(json, "data", eval->path);
    vf_json_string(json, "preprocessing", preprocessing);
    vf_json_int(json, "batch", (int64_t)eval->scores.batch);
    vf_json_int(json, "samples", (int64_t)eval->n_sample);
    vf_json_int(json, "top1_hits", (int64_t)eval->n_top1);
    vf_json_int(json, "top5_hits", (int64_t)eval->n_top5);
    vf_json_double(json, "top1", (double)eval->n_top1 / n);
    vf_json_double(json, "top5", (double)eval->n_top5 / n);
    print_data(eval, preprocessing, report->arena, text);
    vf_text_printf(text, "samples  %zu in batches of %zu\n", eval->n_sample, eval->scores.batch);
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
    Eval eval = {.model = model, .path = path};
    status = evaluate(&eval, options == NULL ? &defaults : options, report->arena, err);
    if (status == VF_OK)
        print(&eval, report);
    return (int)vf_report_finish(report, status, result, err);
}
