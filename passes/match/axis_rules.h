/* Inside of axis.c and axis_reshape.c. */
#ifndef VF_MATCH_AXIS_RULES_H
#define VF_MATCH_AXIS_RULES_H

#include "passes/match/axis.h"

/* Add a factor at the inner end (1 long: nothing to add); false when full. */
bool vf_axis_append(VfAxis *axis, const VfFactor *factor);

VfFactor vf_factor_make(VfDim dim, uint32_t role);

/* Axes of a view: `in` of a value of type `from`, zeroed `out` of one of type `to`; both ranks
 * known. */
void vf_axes_reshape(VfSymbols *symbols, const VfType *from, const VfAxis *in, const VfType *to,
                     VfAxis *out);

#endif
