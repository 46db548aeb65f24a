/* Distances between two sets of outputs. */
#ifndef VF_API_COMPARE_H
#define VF_API_COMPARE_H

#include "converter/api/handle.h"
#include "runtime/exec/compare.h"

/* How outputs are judged. */
typedef enum VfStrictness {
    VF_STRICT_BITS,   /* equal values */
    VF_STRICT_CLOSE,  /* within VF_CLOSE of the largest value */
    VF_STRICT_LIMITS, /* within rtol and atol */
    VF_STRICT_NONE    /* only told */
} VfStrictness;

/* What float32 rounding may do to a whole model. */
#define VF_CLOSE 1e-4

typedef struct VfJudge {
    VfStrictness strictness;
    double rtol, atol;
    const char *const *limit; /* "OUTPUT=RTOL,ATOL" */
    size_t n_limit;
} VfJudge;

/* Compare `got` with the reference `want` tensor by tensor: rows of `key` and of a table. `noise`
 * (may be NULL) are the values of `want` computed another way: the distance that means nothing.
 * `*n_differ` counts those beyond the judge's limits. */
VfStatus vf_compare_data(const VitfoldData *got, const VitfoldData *want, const VitfoldData *noise,
                         const VfJudge *judge, const char *key, VitfoldReport *report,
                         size_t *n_differ, VfErr *err);

#endif
