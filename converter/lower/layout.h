/* Images whose channels lie last in memory, as tokens do that were turned into an image. */
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

#endif
