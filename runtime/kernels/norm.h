/* Normalisations. All f32 and f64; sums of f32 are kept in double. All operands contiguous.
 *
 *   layer_norm          VfkRowNormParams; in: x, scale (n, may be NULL), bias (n, may be NULL);
 *                       out: y, mean (rows, may be NULL), inverse standard deviation (rows, may
 *                       be NULL; f32 or f64 as x). Units: rows. May run in place. If it adds,
 *                       in[3] is as large as x, the norm is that of x + in[3], and that sum is
 *                       out[3] (may be NULL)
 *   rms_norm            VfkRowNormParams; in: x, scale (may be NULL); out: y. Units: rows. In
 *                       place
 *   batch_norm          VfkChannelNormParams; in: x, scale, bias, mean, var (channels each);
 *                       y = (x - mean) * (scale / sqrt(var + eps)) + bias. Units: batch *
 *                       channels. In place
 *   instance_norm       VfkChannelNormParams; in: x, scale, bias. Units: batch * channels. In
 *                       place
 *   mean_variance_norm  VfkChannelNormParams; in: x; each channel over batch and inner,
 *                       (x - mean) / (sqrt(var) + eps), eps 1e-9 as ONNX's function body. Units:
 *                       channels. In place
 *   group_norm          VfkGroupNormParams; in: x, scale, bias. Units: batch * groups. In place
 *   lp_norm             VfkLpNormParams; in: x (outer x n x inner); x / (sum |x|^p)^(1/p),
 *                       where the norm is 0 the result is 0. Units: outer * inner. In place
 *   lrn                 VfkLrnParams; in: x. Units: batch * channels
 *
 * Variances are two-pass (mean first, then squared distances), divided by the count.
 */
#ifndef VFK_NORM_H
#define VFK_NORM_H

#include "runtime/kernels/kernel.h"

typedef struct VfkRowNormParams {
    int64_t rows;
    int64_t n; /* elements of a row: the normalised axes */
    double eps;
    int64_t adds; /* of layer_norm: whether in[3] is there; else not read */
} VfkRowNormParams;

typedef struct VfkChannelNormParams {
    int64_t batch;
    int64_t channels;
    int64_t inner;
    double eps;
} VfkChannelNormParams;

typedef struct VfkGroupNormParams {
    int64_t batch;
    int64_t groups;
    int64_t channels; /* of all groups; a multiple of groups */
    int64_t inner;
    int64_t per_group; /* scale and bias have one element per group (opset 18), not per channel */
    double eps;
} VfkGroupNormParams;

typedef struct VfkLpNormParams {
    int64_t outer;
    int64_t n;
    int64_t inner;
    int64_t p; /* 1 or 2 */
} VfkLpNormParams;

typedef struct VfkLrnParams {
    int64_t batch;
    int64_t channels;
    int64_t inner;
    int64_t size; /* channels in the window */
    double alpha;
    double beta;
    double bias;
} VfkLrnParams;

#endif
