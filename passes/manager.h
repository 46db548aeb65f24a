/* Runs a pipeline of passes over a model.
 *
 * Owns the loop: infer and verify before the first pass and after every pass, clean-up passes
 * before and after the pipeline and behind each retrained pass that changed something, so that
 * the next sees what it would see in a run of its own; counting, --print-after, --stop-after.
 */
#ifndef VF_MANAGER_H
#define VF_MANAGER_H

#include "passes/pass.h"

/* One pass with its options, as parsed from "softmax-to-relu:act=relu,alpha=1,sites=0-5". */
typedef struct VfPipelineItem {
    const VfPass *pass;
    void *options;
    VfSites sites;
    const char *text; /* the words it was parsed from */
    const char *where; /* "recipe.xml:5", where it was read, for messages; NULL: as words */
} VfPipelineItem;

typedef struct VfPipeline {
    VfPipelineItem *item;
    int32_t n_item;
} VfPipeline;

/* Parse "none", "default", or a comma separated list (a comma belongs to the options of the pass
 * before it when what follows has a '='; ';' also separates passes). "default" may be one member of
 * a list. `skip` (may be NULL) lists passes to leave out. VF_USAGE names the unknown pass or option
 * and the nearest known, or why a pass cannot follow another (passes/order.h). */
VfStatus vf_pipeline_parse(VfArena *arena, const char *text, const char *skip, VfPipeline *pipeline,
                           VfErr *err);

/* Make an item without words: `pass` with its default options on `sites` (NULL: all), which stays
 * where it is. VF_USAGE for malformed sites. */
VfStatus vf_pipeline_item_init(VfArena *arena, const VfPass *pass, const char *sites,
                               VfPipelineItem *item, VfErr *err);

/* Set one option of such an item; a list has its items between commas. VF_USAGE as above. */
VfStatus vf_pipeline_item_set(VfArena *arena, VfPipelineItem *item, const char *name,
                              const char *value, VfErr *err);

/* Is `name` in a list with commas or semicolons? NULL is an empty list. */
bool vf_pass_is_listed(const char *list, const char *name);

/* VF_USAGE if a list names an unknown pass. */
VfStatus vf_pass_check_list(VfArena *arena, const char *list, VfErr *err);

typedef struct VfPipelineOptions {
    const VfEvaluator *evaluator;
    const VfCalibration *calibration; /* may be NULL */
    const VfArrayReader *arrays;      /* may be NULL */
    const VfLog *log;
    int32_t stop_after; /* edits of the named passes; -1: no limit */
    VfSitesSeen *seen;  /* collects the sites that passes of the pipeline ask for; may be NULL */
    bool cleanup;       /* run clean-up passes (false for "none") */
    /* Called after each pass (also clean-up), may be NULL: --print-after, reports, numeric effect.
     */
    VfStatus (*after_pass)(void *self, const VfPass *pass, const VfModel *model, VfErr *err);
    void *after_pass_self;
} VfPipelineOptions;

/* What one pass did. */
typedef struct VfPassStats {
    const VfPass *pass;
    int32_t first_edit, n_edit; /* range in the journal */
    int32_t first_refusal, n_refusal;
    bool is_item; /* of the pipeline; else it ran as clean-up */
    double seconds;
} VfPassStats;

/* Run. `stats` has room for what vf_pipeline_stats_max says; *n_stats is set. */
int32_t vf_pipeline_stats_max(const VfPipeline *pipeline);
VfStatus vf_pipeline_run(VfModel *model, const VfPipeline *pipeline,
                         const VfPipelineOptions *options, VfJournal *journal, VfPassStats *stats,
                         int32_t *n_stats, VfErr *err);

/* Only the clean-up passes, to a fixed point: what inspect and explain do before matching. */
VfStatus vf_normalize_model(VfModel *model, const VfEvaluator *evaluator, VfJournal *journal,
                            VfErr *err);

#endif
