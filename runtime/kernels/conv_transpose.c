#include "runtime/kernels/conv_unfold.h"

/* Each input element is spread over the output: output = input * stride + k * dilation - pad. */
#define TRANSPOSE(dtype, T) \
    static void spread_row_##dtype(const VfkConvParams *params, const T *line, T *y, \
                                   const T *weight) \
    { \
        const int64_t stride = params->stride[2]; \
        for (int64_t k = 0; k < params->kernel[2]; k++) { \
            const int64_t shift = k * params->dilation[2] - params->pad[2]; \
            int64_t begin, end; \
            vfk_inside(0, params->in_dim[2], stride, shift, params->out_dim[2], &begin, &end); \
            for (int64_t i = begin; i < end; i++) { \
                y[i * stride + shift] += weight[k] * line[i]; \
            } \
        } \
    } \
    static void spread_plane_##dtype(const VfkConvParams *params, const T *x, T *y, \
                                     const T *weight) \
    { \
        const int64_t rows = params->in_dim[0] * params->in_dim[1]; \
        for (int64_t k = 0; k < params->kernel[0] * params->kernel[1]; k++) { \
            for (int64_t row = 0; row < rows; row++) { \
                const int64_t d = row / params->in_dim[1] * params->stride[0] + \
                                  k / params->kernel[1] * params->dilation[0] - params->pad[0]; \
                const int64_t h = row % params->in_dim[1] * params->stride[1] + \
                                  k % params->kernel[1] * params->dilation[1] - params->pad[1]; \
                if (d < 0 || d >= params->out_dim[0] || h < 0 || h >= params->out_dim[1]) { \
                    continue; \
                } \
                spread_row_##dtype(params, x + row * params->in_dim[2], \
                                   y + (d * params->out_dim[1] + h) * params->out_dim[2], \
                                   weight + k * params->kernel[2]); \
            } \
        } \
    } \
    void VFK_FN(conv_transpose, dtype)(const VfkArgs *args) \
    { \
        const VfkConvParams *params = args->params; \
        const int64_t in_plane = vfk_volume(params->in_dim), taps = vfk_volume(params->kernel); \
        const int64_t out_plane = vfk_volume(params->out_dim); \
        const T *bias = args->in[2]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const int64_t o = u % params->out_channels, image_group = u / params->out_channels; \
            const int64_t group = image_group % params->groups; \
            T *y = (T *)args->out[0] + u * out_plane; \
            for (int64_t i = 0; i < out_plane; i++) { \
                y[i] = bias ? bias[group * params->out_channels + o] : 0; \
            } \
            for (int64_t c = 0; c < params->in_channels; c++) { \
                const int64_t x_at = (image_group * params->in_channels + c) * in_plane; \
                const int64_t w_at = (group * params->in_channels + c) * params->out_channels + o; \
                spread_plane_##dtype(params, (const T *)args->in[0] + x_at, y, \
                                     (const T *)args->in[1] + w_at * taps); \
            } \
        } \
    }

TRANSPOSE(f32, float)
TRANSPOSE(f64, double)
