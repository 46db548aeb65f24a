/* Interpolation: ONNX Resize (linear, cubic, antialiased) and GridSample.
 *
 * resample_f32 f64: one axis of a Resize, VfkResampleParams; one step per axis that changes.
 *     out[o, j, i] = sum over t < taps of weight[j, t] * x[o, index[j, t], i]
 * in: x, index (i64, n_out x taps), weight (the dtype of x, n_out x taps). Lowering computes both
 * tables, which hold the coordinate mode, cubic coefficients, antialiasing and border rule.
 * index[j, 0] == -1 makes the whole slice j the extrapolation value. Terms are added in order
 * of t. Units: outer * n_out. Nearest Resize is index_copy (copy.h).
 *
 * grid_sample_f32 f64: VfkGridSampleParams. in: x (batch x channels x in_dim), grid (batch x
 * out_dim x spatial, the coordinate of the last axis first); out: y (batch x channels x out_dim).
 * Units: batch * out_dim[0] * out_dim[1]. A NaN coordinate samples at -1.
 */
#ifndef VFK_RESIZE_H
#define VFK_RESIZE_H

#include "runtime/kernels/kernel.h"

typedef struct VfkResampleParams {
    int64_t outer;
    int64_t n_in;
    int64_t n_out;
    int64_t inner;
    int64_t taps;
    double extrapolation;
} VfkResampleParams;

typedef struct VfkGridSampleParams {
    int64_t batch;
    int64_t channels;
    int64_t spatial;    /* axes that are sampled: 2 or 3 */
    int64_t in_dim[3];  /* depth (1 for two axes), height, width */
    int64_t out_dim[3];
    int64_t mode;    /* 0 linear, 1 nearest, 2 cubic (two axes alone) */
    int64_t padding; /* 0 zeros, 1 border, 2 reflection */
    int64_t align_corners;
} VfkGridSampleParams;

#endif
