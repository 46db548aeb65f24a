/* Inside of axis.c, axis_input.c and axis_reshape.c. */
#ifndef VF_MATCH_AXIS_RULES_H
#define VF_MATCH_AXIS_RULES_H

#include "passes/match/axis.h"

/* Add a factor at the inner end (1 long: nothing to add); false when full. */
bool vf_axis_append(VfAxis *axis, const VfFactor *factor);

VfFactor vf_factor_make(VfDim dim, uint32_t role);

/* The axis of an image input (rank 4 and more) that counts channels: the first behind the batch or
 * the last, by where a convolution or layer has it, else by its length. axis_input.c */
int32_t vf_axis_of_channels(const VfAxes *axes, const VfValue *input);

/* Axes of a view: `in` of a value of type `from`, zeroed `out` of one of type `to`; both ranks
 * known. */
void vf_axes_reshape(VfSymbols *symbols, const VfType *from, const VfAxis *in, const VfType *to,
                     VfAxis *out);

#endif
