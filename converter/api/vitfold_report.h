/* The part of the public C interface that reports: what vitfold finds in a model, does to it and
 * measures on it.
 *
 * A report is one document in two renderings, text for people and JSON, whose first key "schema"
 * names its form ("vitfold.inspect.1"); some have a plot or a page, too. Keys come in a fixed
 * order. A report belongs to the caller.
 * Rules for errors, options and names are those of vitfold.h, which includes this header.
 */
#ifndef VF_API_VITFOLD_REPORT_H
#define VF_API_VITFOLD_REPORT_H

#include "vitfold.h"

#ifdef __cplusplus
extern "C" {
#endif

VITFOLD_API void vitfold_report_free(VitfoldReport *report);
VITFOLD_API const char *vitfold_report_text(const VitfoldReport *report, size_t *size);
VITFOLD_API const char *vitfold_report_json(const VitfoldReport *report, size_t *size);

/* Names, types and the range of values of the tensors. */
VITFOLD_API int vitfold_describe(const VitfoldData *data, VitfoldReport **report,
                                 VitfoldError *error);

/* Inputs, outputs, operators, parameters, costs and sites. Looks at a cleaned-up copy read from
 * the models' files. */
VITFOLD_API int vitfold_inspect(VitfoldModel *const *model, size_t n_model, const VitfoldDim *dim,
                                size_t n_dim, VitfoldReport **report, VitfoldError *error);

enum { VITFOLD_GRAPH_SVG, VITFOLD_GRAPH_DOT, VITFOLD_GRAPH_GRAPHML };

/* The model drawn, as the text of the report; its JSON says only which model in which form. SVG: a
 * map, block by block, of a cleaned-up copy, with attention, norms and layers in colours. DOT and
 * GraphML: every node of the file with attributes and types. */
VITFOLD_API int vitfold_graph(const VitfoldModel *model, int form, const VitfoldDim *dim,
                              size_t n_dim, VitfoldReport **report, VitfoldError *error);

typedef struct VitfoldSignalOptions {
    const VitfoldDim *dim; /* sizes of symbolic dimensions (else 1) */
    size_t n_dim;
    const VitfoldData *data; /* samples to measure on; NULL: zero logits alone */
} VitfoldSignalOptions;

/* How the tokens come to resemble each other from one attention to the next, for one model or
 * several side by side: with logits at zero, and on data. Looks at a cleaned-up copy. */
VITFOLD_API int vitfold_signal(VitfoldModel *const *model, size_t n_model,
                               const VitfoldSignalOptions *options, VitfoldReport **report,
                               VitfoldError *error);

/* The plot of a report that has one (vitfold_signal, and others that say so), one SVG document;
 * else NULL. */
VITFOLD_API const char *vitfold_report_svg(const VitfoldReport *report, size_t *size);

/* The page of a report that was asked for one (VitfoldSummaryOptions, VitfoldDiffOptions,
 * VitfoldExplainOptions): an HTML document that needs no other file; else NULL. */
VITFOLD_API const char *vitfold_report_html(const VitfoldReport *report, size_t *size);

typedef struct VitfoldExplainOptions {
    const char *pass; /* only this pass, with options if need be ("insert-spa:tau=1"); NULL: all */
    const char *node; /* only sites and nodes of this name or glob; NULL: all */
    int html;         /* also a page with drawings of what was left alone */
} VitfoldExplainOptions;

/* Every candidate site and, where it was not matched, the first fact that failed. `options` may be
 * NULL. */
VITFOLD_API int vitfold_explain(const VitfoldModel *model, const VitfoldExplainOptions *options,
                                VitfoldReport **report, VitfoldError *error);

/* All faults of a model file. VITFOLD_INVALID with a report when there are any. */
VITFOLD_API int vitfold_check(const char *path, const VitfoldLoadOptions *options,
                              VitfoldReport **report, VitfoldError *error);

/* The passes, or one of them (`name` not NULL), with options, exactness and source. */
VITFOLD_API int vitfold_list_passes(const char *name, VitfoldReport **report,
                                    VitfoldError *error);

/* The operators that are known, with the opsets and dtypes that a run executes. */
VITFOLD_API int vitfold_list_operators(VitfoldReport **report, VitfoldError *error);

/* How training fades a norm out (arXiv 2405.11582): 1 - t/T, (1 + cos πt/T) / 2, or n equal stairs
 * 1 - floor(n t/T) / n; 1 at first and 0 from T on. */
enum { VITFOLD_SCHEDULE_LINEAR, VITFOLD_SCHEDULE_COSINE, VITFOLD_SCHEDULE_STEP };

/* What to feed to the input `norm_lambda` of a model that progressive-norm changed, after `t` of
 * `total` steps of training; `n_step` counts stairs. NaN where `kind`, `total` or `n_step` cannot
 * be. */
VITFOLD_API double vitfold_norm_lambda(int kind, int64_t n_step, int64_t t, int64_t total);

typedef struct VitfoldScheduleOptions {
    int64_t total;  /* steps of training */
    int kind;
    int64_t n_step; /* 0: 4 */
} VitfoldScheduleOptions;

/* A table of it, at 20 equal parts of the training if it is longer. */
VITFOLD_API int vitfold_norm_schedule(const VitfoldScheduleOptions *options,
                                      VitfoldReport **report, VitfoldError *error);

/* Called with the text form of the model after a pass has run. */
typedef void VitfoldTextFn(void *user, const char *text, size_t size);

typedef struct VitfoldPassOptions {
    const char *passes;      /* "default", "none", or a list with options; NULL: default */
    const char *recipe;      /* file of a recipe in place of `passes`, or NULL */
    const char *skip;        /* passes to leave out */
    int64_t opset;           /* version of the default domain to go to first; 0: as it is */
    int64_t ir_version;      /* IR version to go to; 0: as it is */
    int64_t stop_after;      /* at most so many edits if limited */
    int is_limited;
    /* Samples for passes that measure, along the first axis of arrays named after the model's
     * inputs ("x" for the only one); NULL: none. */
    const VitfoldData *calibration;
    /* Data to run the model on, before and after each pass that edits: the report, and that of
     * vitfold_summarize, then tell how far outputs and the ends of blocks moved, and
     * vitfold_report_svg gives a plot of it. NULL: not measured. */
    const VitfoldData *effect_in;
    VitfoldRunOptions effect_run;
    const char *print_after; /* pass after which `print` is called; "all": after each */
    VitfoldTextFn *print;
    void *print_user;
} VitfoldPassOptions;

/* Run passes over the model. The report is the journal: what each changed and left alone. `report`
 * may be NULL: none is made. */
VITFOLD_API int vitfold_transform(VitfoldModel *model, const VitfoldPassOptions *options,
                                  VitfoldReport **report, VitfoldError *error);

/* The recipe of the last vitfold_transform: the passes it ran with all their options, as XML. The
 * text belongs to the model. VITFOLD_USAGE if there was none, or if XML cannot hold a text. */
VITFOLD_API int vitfold_model_recipe(const VitfoldModel *model, const char **text, size_t *size,
                                     VitfoldError *error);

/* The RelaxNG schema of recipes. */
VITFOLD_API const char *vitfold_recipe_schema(size_t *size);

/* How many sites passes refused in the last vitfold_transform, and how many passes found nothing to
 * do. Clean-up does not count, nor do the default passes unless they were named one by one. */
VITFOLD_API size_t vitfold_model_n_refusal(const VitfoldModel *model);
VITFOLD_API size_t vitfold_model_n_idle_pass(const VitfoldModel *model);

/* The name of such a pass, in the order they ran; NULL when there are not as many. */
VITFOLD_API const char *vitfold_model_idle_pass(const VitfoldModel *model, size_t i);

typedef struct VitfoldSummaryOptions {
    const VitfoldDim *dim; /* sizes of symbolic dimensions for the costs (else 1) */
    size_t n_dim;
    int html;              /* also a page, with drawings of every kind of edit */
} VitfoldSummaryOptions;

/* The before and after table of a transformed model. Reads the original from its file; the
 * transformed one is cleaned up for it in memory, so save it before. */
VITFOLD_API int vitfold_summarize(VitfoldModel *model, const VitfoldSummaryOptions *options,
                                  VitfoldReport **report, VitfoldError *error);

typedef struct VitfoldCompareOptions {
    VitfoldRunOptions run;
    double rtol, atol;          /* limits; both 0: strictness below decides */
    const char *const *limit;   /* "OUTPUT=RTOL,ATOL" rows that differ for one output */
    size_t n_limit;
    int exact;                  /* values must be equal */
    int per_node;               /* also every common intermediate result */
    int report_only;            /* distances are told, never a failure */
} VitfoldCompareOptions;

/* Run `a` and `b` on the same data, or `a` against `expected` (then `b` is NULL). Without limits,
 * outputs may differ by 1e-4 of their largest value (float16: 3.9e-3, bfloat16:
 * 3.1e-2). VITFOLD_DIFFERS when they differ by more. With `per_node` the report has a plot along
 * the depth. */
VITFOLD_API int vitfold_compare(const VitfoldModel *a, const VitfoldModel *b,
                                const VitfoldData *in, const VitfoldData *expected,
                                const VitfoldCompareOptions *options, VitfoldReport **report,
                                VitfoldError *error);

typedef struct VitfoldDiffOptions {
    int64_t context;       /* unchanged nodes printed before and after an edit */
    int stat;              /* text: only counts */
    int full;              /* text: every place, constant and name */
    int color;             /* text with the colours of a terminal */
    int html;              /* also a page */
    const VitfoldData *in; /* also run both and tell how far common tensors moved; NULL: no */
    VitfoldRunOptions run;
} VitfoldDiffOptions;

/* What changed from `a` to `b`, as they are in memory: by name, then by structure. VITFOLD_DIFFERS
 * when anything did; the text is empty when nothing did. `options` may be NULL. */
VITFOLD_API int vitfold_diff(const VitfoldModel *a, const VitfoldModel *b,
                             const VitfoldDiffOptions *options, VitfoldReport **report,
                             VitfoldError *error);

/* Compare a transformed model with the one in its file on the same data, as strictly as the passes
 * that changed it promise: bit by bit (of the reference kernels), within rounding, or only telling
 * the distance. The JSON of vitfold_summarize repeats it. */
VITFOLD_API int vitfold_validate(VitfoldModel *model, const VitfoldData *in,
                                 const VitfoldRunOptions *options, VitfoldReport **report,
                                 VitfoldError *error);

enum { VITFOLD_WEIGHTS_F32, VITFOLD_WEIGHTS_F16, VITFOLD_WEIGHTS_BF16 };

typedef struct VitfoldEmitOptions {
    const VitfoldModel *with; /* a second model for the same program, or NULL */
    int weights_dtype;        /* how float32 weights are stored; they are widened on loading */
    int weights_in_c;         /* an array in C in place of a file */
    int is_single_file;       /* the kernels inside model.c */
    int no_fuse;              /* steps stay as the nodes are written */
    int with_samples;         /* also `in` and the outputs for it, as npy files */
    const char *title;        /* what the report calls the model; NULL: its path */
    const VitfoldBatch *batch; /* NULL: all shapes are those of `in` */
} VitfoldEmitOptions;

/* Write the folder `path`: the model as a C program for the shapes of `in`, which must hold every
 * input without a default, or for a range of batches. VITFOLD_UNSUPPORTED tells all reasons through
 * the model's log, or names the node that keeps the batch from being open. */
VITFOLD_API int vitfold_emit_c(const VitfoldModel *model, const VitfoldData *in,
                               const VitfoldEmitOptions *options, const char *path,
                               VitfoldReport **report, VitfoldError *error);

/* The same in two steps, as vitfold_model_prepare; both of the second step free `emission`, and a
 * commit that fails leaves nothing. */
typedef struct VitfoldEmission VitfoldEmission;
VITFOLD_API int vitfold_emit_prepare(const VitfoldModel *model, const VitfoldData *in,
                                     const VitfoldEmitOptions *options, const char *path,
                                     VitfoldEmission **emission, VitfoldReport **report,
                                     VitfoldError *error);
VITFOLD_API int vitfold_emission_commit(VitfoldEmission *emission, VitfoldError *error);
VITFOLD_API void vitfold_emission_abandon(VitfoldEmission *emission);

#ifdef __cplusplus
}
#endif

#endif
