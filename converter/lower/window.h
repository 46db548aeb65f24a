/* Sliding windows of Conv, ConvTranspose and the pools, in three axes (runtime/kernels/conv.h). */
#ifndef VF_LOWER_WINDOW_H
#define VF_LOWER_WINDOW_H

#include "converter/lower/emit.h"

typedef struct VfLowWindow {
    int32_t n; /* spatial axes of the operator, 1 to 3; the arrays are filled from the end */
    int64_t in_dim[3], out_dim[3], kernel[3], stride[3], pad[3], pad_end[3], dilation[3];
} VfLowWindow;

/* Read kernel_shape (or take `kernel` if not NULL), strides, dilations, pads and auto_pad. `in` and
 * `out` are operand and result, spatial axes from 2 on. Checks all numbers. */
VfStatus vf_low_window(const VfLowCall *call, const VfLowValue *in, const VfLowValue *out,
                       const int64_t *kernel, VfLowWindow *window, VfErr *err);

/* Copy to params of a kernel the arrays of a window that they have by the same names; not pad_end,
 * which few read. Needs <string.h>. */
#define VF_LOW_COPY_WINDOW(window, params)                                            \
    do {                                                                              \
        memcpy((params)->in_dim, (window)->in_dim, sizeof (window)->in_dim);          \
        memcpy((params)->out_dim, (window)->out_dim, sizeof (window)->out_dim);       \
        memcpy((params)->kernel, (window)->kernel, sizeof (window)->kernel);          \
        memcpy((params)->stride, (window)->stride, sizeof (window)->stride);          \
        memcpy((params)->pad, (window)->pad, sizeof (window)->pad);                   \
        memcpy((params)->dilation, (window)->dilation, sizeof (window)->dilation);    \
    } while (0)

/* A transposed convolution of dense operands (x, weight, no bias) into `out`, one group for each
 * channel of `out`. The caller has checked that they fit `w`. op_conv.c */
VfStatus vf_low_transposed_conv(VfLower *cx, VfLowValue *in[3], const VfLowWindow *w,
                                VfLowValue *out, VfErr *err);

#endif
