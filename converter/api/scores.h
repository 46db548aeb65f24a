/* The scores that a model with one input gives labelled samples, run in batches. */
#ifndef VF_API_SCORES_H
#define VF_API_SCORES_H

#include "converter/api/labelled_open.h"
#include "converter/api/progress.h"
#include "converter/api/session.h"

typedef struct VfScores {
    VfArray array;         /* [samples, classes] */
    VfBytes output;        /* its name */
    const VfValue *input;  /* of the model */
    size_t batch;          /* samples of a run */
} VfScores;

/* Run `model` over the samples. All memory in `arena`. `progress` may be NULL; it is asked between
 * batches, VF_CANCELLED when it wants to stop. VF_UNSUPPORTED for models with more inputs or other
 * outputs than a row of classes a sample. */
VfStatus vf_scores_run(const VitfoldModel *model, const VfLabelled *data,
                       const VitfoldEvalOptions *options, const VfProgress *progress,
                       VfArena *arena, VfScores *scores, VfErr *err);

/* How many samples have their label among the `n_top` best scores, the first class winning ties.
 * VF_INVALID for labels that are no class. */
VfStatus vf_scores_hits(const VfScores *scores, const VfLabelled *data, size_t n_top,
                        size_t *n_hit, VfErr *err);

#endif
