/* Trials: a model's passes run with this or that left out, and what that does to its outputs.
 *
 * Every trial starts from the model's file, so that it is what convert would make of it, and is
 * measured against the original on the same data.
 */
#ifndef VF_API_TRIAL_H
#define VF_API_TRIAL_H

#include "converter/api/compare.h"
#include "converter/api/scores.h"

typedef enum VfMetric {
    VF_METRIC_MAX_ABS,
    VF_METRIC_REL,
    VF_METRIC_COSINE,
    VF_METRIC_TOP1,
    VF_METRIC_ULP,
    VF_METRIC_ACCURACY,
    VF_METRIC_COUNT
} VfMetric;

/* What one model does on the data: the worst of its outputs. */
typedef struct VfNumbers {
    double max_abs, rel, cosine, ulp;
    int64_t n_row, n_top1;   /* rows along the last axis, and how many agree */
    size_t n_special;        /* elements that are not finite on one side alone */
    const char *fault;       /* an output cannot be compared: why; or NULL */
    int64_t n_sample, n_hit; /* labelled samples, and how many are right; 0: no labels */
} VfNumbers;

typedef struct VfTrial {
    VfArena *arena;
    const VitfoldModel *model;
    VitfoldPassOptions passes;
    const VitfoldTrialOptions *options;
    VfLabelled labelled;
    VitfoldData *want;   /* outputs of the original */
    VfNumbers original, noise;
    bool has_noise;      /* false: interrupted before it was measured */
    VfProgress progress;
} VfTrial;

/* --- metrics --- */

const char *vf_metric_name(VfMetric metric);

/* VF_USAGE for an unknown name, and for accuracy without labels. */
VfStatus vf_metric_find(const char *name, bool has_labels, VfMetric *metric, VfErr *err);

double vf_metric_value(const VfNumbers *numbers, VfMetric metric);

/* Nothing may be compared: not finite, missing, of another type. */
bool vf_numbers_are_broken(const VfNumbers *numbers);

/* Is the limit broken, below it for cosine, top1 and accuracy, else above? */
bool vf_metric_breaks(const VfNumbers *numbers, VfMetric metric, double limit);

/* How much is lost, 0 for nothing: the distance; 1 - cosine; the share of rows that disagree; the
 * accuracy that `original` has more. Infinity where nothing can be compared. */
double vf_metric_loss(const VfNumbers *numbers, const VfNumbers *original, VfMetric metric);

/* An object under `key`, null unless they are `known`. */
void vf_numbers_object(VfJson *json, const char *key, const VfNumbers *numbers, bool known);

/* Keys of the open object. */
void vf_numbers_json(VfJson *json, const VfNumbers *numbers);

/* Columns of VF_NUMBERS_ALIGN; with labels one more. */
#define VF_NUMBERS_ALIGN "rrrrr"
void vf_numbers_head(VfTable *table, bool has_labels);
void vf_numbers_cells(VfTable *table, const VfNumbers *numbers, bool has_labels);

/* --- trials --- */

/* Measure the original and its noise floor. `passes` is copied, without its limits. Close it also
 * after a failure. */
VfStatus vf_trial_open(VfTrial *trial, const VitfoldModel *model,
                       const VitfoldPassOptions *passes, const VitfoldTrialOptions *options,
                       VfArena *arena, VfErr *err);
void vf_trial_close(VfTrial *trial);

/* A copy of the model with all passes run; at most `stop_after` edits of them unless negative.
 * `search` may be NULL. Free with vitfold_model_free. */
VfStatus vf_trial_transform(const VfTrial *trial, int64_t stop_after, const VfSiteSearch *search,
                            VitfoldModel **model, VfErr *err);

VfStatus vf_trial_measure(const VfTrial *trial, const VitfoldModel *model, VfNumbers *numbers,
                          VfErr *err);

#endif
