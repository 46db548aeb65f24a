/* What the handles of vitfold.h are inside, and what the files of this folder share. */
#ifndef VF_API_HANDLE_H
#define VF_API_HANDLE_H

#include "converter/api/recipe.h"
#include "converter/api/vitfold.h"
#include "converter/data/array.h"
#include "converter/onnx/import.h"
#include "converter/onnx/value_file.h"
#include "converter/report/json.h"
#include "converter/report/table.h"
#include "passes/manager.h"
#include "runtime/base/file.h"
#include "runtime/base/intern.h"
#include "runtime/base/log.h"

struct VfEffect;

struct VitfoldModel {
    VfArena *arena; /* of the handle; the graph has its own */
    VfModel *ir;
    const char *path;
    VfImportOptions import;
    size_t max_memory; /* bytes a plan may need; 0: no limit */
    VitfoldLogFn *log_fn;
    void *log_user;
    VfLog log; /* hands lines on to log_fn */
    VfJournal *journal; /* of the last transform, or NULL */
    VfPassStats *stats;
    int32_t n_stats;
    VfRecipe *recipe;      /* of the last transform, or NULL */
    bool has_implied;      /* its default passes were not named one by one */
    VfExactness exactness; /* the least exact of the passes that edited */
    VfBytes check; /* JSON of the last vitfold_validate, in `arena`; empty: none */
    struct VfEffect *effect; /* of the last transform (api/effect.h); NULL: not measured */
};

/* Was `pass` named, and not run only as a clean-up or a default? */
bool vf_model_asks_for(const VitfoldModel *model, const VfPass *pass);

struct VitfoldData {
    VfArena *arena;
    VfNamedArray *array; /* of dtype VF_UNDEFINED where there is a value */
    const VfFileValue **value; /* NULL for tensors of numbers, set for sequences, optionals and
                                * strings; the list is NULL where all are tensors of numbers */
    VfIntern *names; /* of the entries, by their numbers */
    size_t n_array, capacity, value_capacity;
};

/* A report is written through `out` (text) and `json`, then finished. */
struct VitfoldReport {
    VfArena *arena;
    VfText out;
    VfJson json;
    VfBytes text, document;
    VfBytes svg, recipe, html, trace; /* empty where there is none */
};

/* --- report.c --- */

VfStatus vf_report_begin(const char *schema, VitfoldReport **report, VfErr *err);

/* Close both renderings and hand the report over, or free it if `status` or closing failed.
 * VF_DIFFERS and VF_CANCELLED count as success. Returns `status`, or why closing failed. */
VfStatus vf_report_finish(VitfoldReport *report, VfStatus status, VitfoldReport **out, VfErr *err);

/* --- model.c --- */

/* Run the clean-up passes; without `evaluator` no constant is folded. */
VfStatus vf_clean_up(VfModel *ir, const VfEvaluator *evaluator, VfErr *err);

/* The model as it is in its file, with the same options. */
VfStatus vf_load_original(const VitfoldModel *model, VitfoldModel **original, VfErr *err);

/* The model's file read again, with dims fixed. Free with vf_model_free. */
VfStatus vf_load_again(const VitfoldModel *model, const VitfoldDim *dim, size_t n_dim,
                       VfModel **again, VfErr *err);

/* As above, and cleaned up for matching. */
VfStatus vf_load_clean(const VitfoldModel *model, const VitfoldDim *dim, size_t n_dim,
                       VfModel **clean, VfErr *err);

/* Whether a run must be given this input. */
bool vf_is_required_input(const VfValue *input);

/* A name for messages: control characters and bytes that are not UTF-8 made visible. */
const char *vf_show(VfArena *arena, VfBytes name);

/* --- transform.c --- */

/* What a search for guilty or harmless sites asks of the passes, beside their options. */
typedef struct VfSiteSearch {
    const char *sites; /* in place of those that the only pass names; NULL: as it is written */
    VfSitesSeen *seen; /* filled, may be NULL */
    VfBytes recipe;    /* text of a recipe in place of the passes; empty: none */
} VfSiteSearch;

/* vitfold_transform without a report. `search` may be NULL. */
VfStatus vf_run_passes(VitfoldModel *model, const VitfoldPassOptions *options,
                       const VfSiteSearch *search, VfErr *err);

/* "exact", "rounding", "retrained". */
const char *vf_exactness_name(VfExactness exactness);

/* --- data.c --- */

/* Take over an array whose memory outlives the list; copied if it is not aligned. */
VfStatus vf_data_put(VitfoldData *data, VfBytes name, const VfArray *array, VfErr *err);

/* The same with a copy of everything. */
VfStatus vf_data_copy(VitfoldData *data, VfBytes name, const VfArray *array, VfErr *err);

/* Take over an array as it is, which kernels may then read where it is not aligned. */
VfStatus vf_data_lend(VitfoldData *data, VfBytes name, const VfArray *array, VfErr *err);

/* Take a copy of a sequence, an optional or a tensor, of numbers or strings. */
VfStatus vf_data_put_value(VitfoldData *data, VfBytes name, const VfFileValue *value, VfErr *err);

/* Entry `i`, or `name`, if it is no tensor of numbers, else NULL. */
const VfFileValue *vf_data_value(const VitfoldData *data, size_t i);
const VfFileValue *vf_data_find_value(const VitfoldData *data, VfBytes name);

/* VF_UNSUPPORTED, naming the entry and `what` takes tensors of numbers alone, if there is one that
 * is none. */
VfStatus vf_data_need_arrays(const VitfoldData *data, const char *what, VfErr *err);

/* The number of the entry called `name`, or -1. */
int32_t vf_data_index(const VitfoldData *data, VfBytes name);

/* Its array, or NULL if there is no entry. */
const VfArray *vf_data_find(const VitfoldData *data, VfBytes name);

/* --- dims.c --- */

/* Sizes of symbols, by the numbers of their names. */
typedef struct VfSizes {
    VfIntern *name;
    int64_t *size;
} VfSizes;

/* Those that `dim` gives: of two of one name the first. In `arena`. */
VfStatus vf_sizes_init(VfSizes *sizes, VfArena *arena, const VitfoldDim *dim, size_t n_dim,
                       VfErr *err);

/* The size of symbol `name`, or -1. */
int64_t vf_sizes_get(const VfSizes *sizes, VfBytes name);

/* Put the sizes of `dim` in place of symbols in the types of inputs and outputs. */
VfStatus vf_fix_dims(VfModel *ir, const VitfoldDim *dim, size_t n_dim, VfErr *err);

/* A size for every symbol in the input shapes: that of `dim`, else 1. In `arena`. */
VfStatus vf_assume_dims(VfArena *arena, const VfModel *ir, const VitfoldDim *dim, size_t n_dim,
                        VitfoldDim **assumed, size_t *n_assumed, VfErr *err);

#endif
