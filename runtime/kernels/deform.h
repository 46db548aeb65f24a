/* The windows of a deformable convolution.
 *
 * deform_f32 f64: VfkDeformParams. in: x (batch x channels x in_dim), offset (batch x groups x taps
 * x 2 x out_dim, down and to the right), mask (batch x groups x taps x out_dim, or NULL); out: y
 * (batch x channels x taps x out_dim), what each tap of the kernel sees at each place, times the
 * mask. Channels share offsets in groups that follow each other. Between pixels the image is taken
 * linearly; pixels beyond it, and places that are no numbers, are 0. Units: batch * groups * taps.
 */
#ifndef VFK_DEFORM_H
#define VFK_DEFORM_H

#include "runtime/kernels/kernel.h"

typedef struct VfkDeformParams {
    int64_t batch;
    int64_t channels;
    int64_t groups;
    int64_t in_dim[2]; /* height, width */
    int64_t out_dim[2];
    int64_t kernel[2];
    int64_t stride[2];
    int64_t pad[2]; /* before the first pixel */
    int64_t dilation[2];
} VfkDeformParams;

#endif
