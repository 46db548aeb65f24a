/* The part of the public C interface that tries models out: for speed, on labelled data, and in
 * search of the pass and site that break a model, and of the sites that do not.
 *
 * Each trial of a search starts anew from the model's file and is measured against the original on
 * the same data. Rules for errors, options and reports are those of vitfold_report.h; vitfold.h
 * includes this header.
 */
#ifndef VF_API_VITFOLD_TRIAL_H
#define VF_API_VITFOLD_TRIAL_H

#include "vitfold_report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is measured; of two, both run on the threads of the first. */
typedef struct VitfoldBenchModel {
    const VitfoldModel *model;
    const VitfoldData *in;
    VitfoldRunOptions run;
} VitfoldBenchModel;

typedef struct VitfoldBenchOptions {
    int64_t n_warmup, n_repeat; /* 0: 3 and 20 */
    int per_node;               /* what each operator and each node takes and reaches */
    int trace;                  /* also vitfold_report_trace */
} VitfoldBenchOptions;

/* Latency of one model, or of two in turns and their ratio run by run; beside the rates at which
 * the same threads multiply matrices and move memory. */
VITFOLD_API int vitfold_bench(const VitfoldBenchModel *model, size_t n_model,
                              const VitfoldBenchOptions *options, VitfoldReport **report,
                              VitfoldError *error);

/* The fastest run of each model as Chrome's trace events, if it was asked for; else NULL. */
VITFOLD_API const char *vitfold_report_trace(const VitfoldReport *report, size_t *size);

typedef struct VitfoldEvalOptions {
    VitfoldRunOptions run;
    int64_t batch;         /* samples a run; 0: as many as the model's input says, else 64 */
    int64_t n_sample;      /* only the first; 0: all */
    const char *output;    /* name of the output with the scores; NULL: the first */
    /* Images of a folder: pieces of `size` where the model leaves it open; cut from the middle of
     * the image with its short side made `resize` long (0: the piece is 7/8 of it); a byte v
     * becomes (v / 255 - mean) / std, where std[0] == 0 with the usual ones of ImageNet, of one
     * channel with 0 and 1. */
    int64_t size, resize;
    double mean[3], std[3];
} VitfoldEvalOptions;

/* Top-1 and top-5 on labelled data: an npz file (arrays x and y), or a folder with one folder for
 * each class, which holds PNG or JPEG images, or npy arrays. Classes are numbered by the names of
 * their folders if all are numbers, else in the order of the names. */
VITFOLD_API int vitfold_eval(const VitfoldModel *model, const char *path,
                             const VitfoldEvalOptions *options, VitfoldReport **report,
                             VitfoldError *error);

/* Told before each step of long work: `done` of `total` steps are over (the total may grow), the
 * next is about `what`. Other than 0: stop, with a report of what is known so far. */
typedef int VitfoldProgressFn(void *user, const char *what, size_t done, size_t total);

/* What changed models are measured on, against the original. */
typedef struct VitfoldTrialOptions {
    const VitfoldData *in;    /* one run; or */
    const char *labelled;     /* labelled samples as vitfold_eval takes them, run as `eval` says */
    VitfoldEvalOptions eval;  /* its `run` also holds for `in` */
    VitfoldProgressFn *progress; /* may be NULL */
    void *progress_user;
} VitfoldTrialOptions;

/* A limit of one metric over all outputs. "max-abs", "rel" (of the norms) and "ulp" break it above,
 * "cosine", "top1" (share of rows that agree with the original) and "accuracy" (labelled samples
 * only) below. What is not finite, missing or of another shape breaks every limit. */
typedef struct VitfoldThreshold {
    const char *metric;
    double value;
} VitfoldThreshold;

/* The first pass after which any threshold is broken, and of its edits one with which they are and
 * without which they are not. VITFOLD_DIFFERS when there is one. Works on copies read from the
 * model's file; of `passes` the limits, prints and effect are not used. */
VITFOLD_API int vitfold_bisect(const VitfoldModel *model, const VitfoldPassOptions *passes,
                               const VitfoldTrialOptions *trial,
                               const VitfoldThreshold *threshold, size_t n_threshold,
                               VitfoldReport **report, VitfoldError *error);

typedef struct VitfoldSensitivityOptions {
    const char *metric; /* NULL: accuracy with labelled samples, else rel */
    double budget;      /* what sites may lose together, if has_budget */
    int has_budget;
} VitfoldSensitivityOptions;

/* What each site of a pass does alone, the most harmful first. The loss of a metric is its
 * distance; 1 - cosine; the share of rows that disagree; how much accuracy is lost. With a budget,
 * sites are taken up from the least harmful on as long as all together, measured, stay within it;
 * the recipe of those is run once more and kept in the report. VITFOLD_DIFFERS when no site fits.
 * The report has a plot. `pass` names one pass, perhaps with options and sites. */
VITFOLD_API int vitfold_sensitivity(const VitfoldModel *model, const VitfoldPassOptions *pass,
                                    const VitfoldTrialOptions *trial,
                                    const VitfoldSensitivityOptions *options,
                                    VitfoldReport **report, VitfoldError *error);

/* The recipe of a report of vitfold_sensitivity, as XML; NULL when there is none. */
VITFOLD_API const char *vitfold_report_recipe(const VitfoldReport *report, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
