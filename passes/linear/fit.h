/* Least squares for one depthwise convolution.
 *
 * Each channel has side² taps and a bias of its own. The normal equations are summed map by map,
 * so that no sample is kept, and solved once with a small multiple of the identity added (ridge);
 * the bias is not drawn to zero.
 */
#ifndef VF_LINEAR_FIT_H
#define VF_LINEAR_FIT_H

#include "runtime/base/arena.h"
#include "runtime/base/status.h"

typedef struct VfDwcSums {
    int64_t h, w, side, width; /* set before init: map, taps along a side, channels */
    double *gram, *rhs;        /* per channel: XᵀX and Xᵀy, the bias last */
    double *square;            /* per channel: yᵀy */
    double *row;               /* one row of X */
    double *solution;          /* after solve: per channel the taps by rows, then the bias */
    double r2;                 /* after solve: 1 - residual / variance, over all channels */
} VfDwcSums;

/* Memory in `arena`. VF_NO_MEMORY. */
VfStatus vf_dwc_sums_init(VfDwcSums *sums, VfArena *arena, VfErr *err);

/* One more map: `x` what is convolved and `y` what should come out, both (h w, width). */
void vf_dwc_sums_add(VfDwcSums *sums, const double *x, const double *y);

/* `ridge` is relative to the mean of the diagonal. Directions without data get zero. */
VfStatus vf_dwc_sums_solve(VfDwcSums *sums, VfArena *arena, double ridge, VfErr *err);

#endif
