/* Values that lie in memory in another order than that of their axes: images whose channels lie
 * last, as tokens do that were turned into an image. */
#ifndef VF_LOWER_LAYOUT_H
#define VF_LOWER_LAYOUT_H

#include "converter/lower/low.h"

/* Whether the channels (axis 1) of `x` lie side by side, and the elements of a row do not. Other
 * axes may have any strides. */
bool vf_low_has_channels_last(const VfLowValue *x);
/* The same, and all of `x` is one contiguous run: rows of channels. */
bool vf_low_is_rows_of_channels(const VfLowValue *x);
/* A view with the dims of contiguous `value`, which is to be filled, on its memory as rows of
 * channels. */
VfStatus vf_low_as_rows_of_channels(VfLower *cx, VfLowValue *value, VfLowValue **out, VfErr *err);

/* The order in which the axes of a value lie in memory, where there are no gaps. Element by
 * element, an operator can work in that order and leave its result in it: no copy is needed. */
typedef struct VfLowOrder {
    bool is_moved; /* another order than that of the axes; else nothing is to be done */
    int64_t there[VFK_MAX_RANK]; /* axes of the value, outermost in memory first */
    int64_t back[VFK_MAX_RANK];
} VfLowOrder;

void vf_low_order_of(const VfLowValue *x, VfLowOrder *order);
bool vf_low_is_same_order(const VfLowOrder *a, const VfLowOrder *b, int32_t rank);
/* Views of `x` with its axes in that order, and back. `x` itself where nothing is to be done. */
VfStatus vf_low_to_order(VfLower *cx, VfLowValue *x, const VfLowOrder *order, VfLowValue **out,
                         VfErr *err);
VfStatus vf_low_from_order(VfLower *cx, VfLowValue *x, const VfLowOrder *order, VfLowValue **out,
                           VfErr *err);

#endif
