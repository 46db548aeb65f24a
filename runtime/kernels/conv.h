/* Convolutions in one, two or three spatial axes.
 *
 * Spatial arrays hold three axes, depth, height, width; a 2-D convolution has depth 1, a 1-D
 * one depth and height 1 (dim 1, kernel 1, stride 1, pad 0, dilation 1).
 * in: x (batch x groups * in_channels x spatial), weight, bias (may be NULL);
 * out: y (batch x groups * out_channels x spatial).
 *
 *   conv_f32 f64            variants as matmul. weight is groups *
 *                           out_channels x in_channels x kernel. Columns of `block_cols` output
 *                           pixels are unfolded into scratch and multiplied; 1x1 with stride 1
 *                           and no pads is multiplied in place. Units: batch * groups *
 *                           ceil(output pixels / block_cols)
 *   depthwise_f32 f64       the same operation done directly, no scratch; choose it when
 *                           in_channels is 1. x and y are reached by x_step and y_step. Units:
 *                           vfk_depthwise_units(). Planes (channels_last 0): steps along
 *                           the last axis are 1. Channels last (1): in_channels and
 *                           out_channels are 1, steps from channel to channel 1, and weight is
 *                           kernel x groups. The sums are the same. in[3], NULL for planes and
 *                           where absent, is added to y; it is reached by add_step
 *   unfold_b4 b8            in: x (any strides); out: its windows, a row of in_channels * kernel
 *                           elements for each output pixel of each image, zeros where outside; in
 *                           the order channel, kernel position or, with channels_last, kernel
 *                           position, channel. groups is 1, kernel[0] * kernel[1] at most
 *                           VFK_UNFOLD_ROWS; with channels_last, steps from channel to channel are
 *                           1. Units: batch * out_dim[0] * out_dim[1]
 *   conv_transpose_f32 f64  weight is groups * in_channels x out_channels x kernel; in_dim and
 *                           out_dim are those of x and y; output_padding shows in out_dim
 *                           alone. No scratch. Units: batch * groups * out_channels
 */
#ifndef VFK_CONV_H
#define VFK_CONV_H

#include "runtime/kernels/kernel.h"

enum { VFK_UNFOLD_ROWS = 64 };

typedef struct VfkConvParams {
    int64_t batch;
    int64_t groups;
    int64_t in_channels;  /* of one group */
    int64_t out_channels; /* of one group */
    int64_t in_dim[3];
    int64_t out_dim[3];
    int64_t kernel[3];
    int64_t stride[3];
    int64_t pad[3]; /* before the first element, may be negative; out_dim tells those behind */
    int64_t dilation[3];
    int64_t block_cols; /* output pixels per unit of conv; chosen from shapes alone */
    int64_t channels_last; /* this field and the next two: of depthwise and unfold */
    int64_t x_step[5]; /* elements from one image, channel, depth, row, column to the next */
    int64_t y_step[5];
    int64_t add_step[5]; /* of what depthwise adds; that from channel to channel is 1 */
} VfkConvParams;

/* Scratch of a conv step of any variant; `element_bytes` is 4 for f32. 0 for depthwise and
 * conv_transpose (do not call for those). SIZE_MAX if it overflows. */
size_t vfk_conv_scratch_bytes(const VfkConvParams *params, size_t element_bytes);

/* A good block_cols for the shapes in `params` (the field itself is not read). */
int64_t vfk_conv_block_cols(const VfkConvParams *params, size_t element_bytes);

/* Units of a depthwise step. */
int64_t vfk_depthwise_units(const VfkConvParams *params);

#endif
