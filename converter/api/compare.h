/* Distances between two sets of tensors: what compare, diff, convert's numeric effect and the
 * search for a guilty site measure and show. One row for each tensor, everywhere the same.
 */
#ifndef VF_API_COMPARE_H
#define VF_API_COMPARE_H

#include "converter/api/handle.h"
#include "runtime/exec/compare.h"

/* How outputs are judged. */
typedef enum VfStrictness {
    VF_STRICT_BITS,   /* equal values */
    VF_STRICT_CLOSE,  /* within vf_close_limit of the largest value */
    VF_STRICT_LIMITS, /* within rtol and atol */
    VF_STRICT_NONE    /* only told */
} VfStrictness;

/* What rounding may do to a tensor of a whole model, over its largest value: 1e-4, and eight
 * roundings of the coarser of its dtype and `computed`, where that is float16 (4e-3) or bfloat16
 * (3e-2). */
double vf_close_limit(VfDtype dtype, VfDtype computed);

/* The coarsest of float32, float16 and bfloat16 among the values that the model computes. */
VfStatus vf_computed_dtype(const VfModel *model, VfDtype *dtype, VfErr *err);

typedef struct VfJudge {
    VfStrictness strictness;
    VfDtype computed; /* as vf_computed_dtype, of both models; VF_UNDEFINED: of the tensors alone */
    double rtol, atol;
    const char *const *limit; /* "OUTPUT=RTOL,ATOL" */
    size_t n_limit;
    bool has_got_noise; /* noise is `got` computed another way, not `want` */
} VfJudge;

/* One tensor of both sides. */
typedef struct VfMoved {
    VfBytes name;
    const VfArray *got, *want; /* got: NULL where it is missing */
    const char *fault;         /* why they cannot be compared, or NULL */
    VfDistance distance;
    bool has_noise;
    VfDistance noise; /* of `want`, or `got`, from its own value computed another way */
    double close;     /* as vf_close_limit */
    bool is_bad;      /* beyond the limits of a judge */
} VfMoved;

/* Measure `got` and `noise` (each may be NULL) against `want`. A tensor that is missing or of
 * another type gets a fault. Texts in `arena`. */
VfStatus vf_moved_measure(VfArena *arena, const VfArray *got, const VfArray *noise,
                          const VfNamedArray *want, VfMoved *moved, VfErr *err);

/* "equal", "noise" (within four times the noise floor), "close" (within vf_close_limit), "moved"
 * (by more), "not finite" (NaN or infinity where the other has a number), "not comparable",
 * "differs" (the judge said so). */
const char *vf_moved_verdict(const VfMoved *moved);

/* Keys of the open object, from "name" on. */
void vf_moved_json(VfJson *json, const VfMoved *moved);

/* The headings and the cells of VF_MOVED_ALIGN. */
#define VF_MOVED_ALIGN "lrrrrrrrl"
void vf_moved_head(VfTable *table);
void vf_moved_cells(VfTable *table, const VfMoved *moved);

/* Run `model` into a new list, which is the caller's also after a failure. */
VfStatus vf_run_into(const VitfoldModel *model, const VitfoldData *in,
                     const VitfoldRunOptions *options, VitfoldData **out, VfErr *err);

/* The same with the other kernels: the reference ones sum in another order than BLAS. What that
 * changes is noise. */
VfStatus vf_run_reference(const VitfoldModel *model, const VitfoldData *in,
                          VitfoldRunOptions options, VitfoldData **out, VfErr *err);

/* Compare `got` with the reference `want` tensor by tensor: rows of `key` and of a table. `noise`
 * (may be NULL) are the values of `want` (VfJudge: or `got`) computed another way: the distance
 * that means nothing. `*n_differ` counts those beyond the judge's limits. */
VfStatus vf_compare_data(const VitfoldData *got, const VitfoldData *want, const VitfoldData *noise,
                         const VfJudge *judge, const char *key, VitfoldReport *report,
                         size_t *n_differ, VfErr *err);

#endif
