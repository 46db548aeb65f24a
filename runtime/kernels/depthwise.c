#include "runtime/kernels/conv_unfold.h"

/* Convolutions done directly, one output plane per unit: rows of the plane gather one weighted
 * input row after the other, in the order of input channel and kernel position. */

/* What happens along the last axis for one kernel position. */
typedef struct Tap {
    int64_t shift; /* input column = output column * stride + shift */
    int64_t begin; /* output columns that read inside the input */
    int64_t end;
} Tap;

static Tap tap_of(const VfkConvParams *params, int64_t k)
{
    Tap tap = {.shift = k * params->dilation[2] - params->pad[2]};
    vfk_inside(0, params->out_dim[2], params->stride[2], tap.shift, params->in_dim[2],
               &tap.begin, &tap.end);
    return tap;
}

/* The input row that output row (d, h) reads at kernel position (kd, kh), or -1. */
static int64_t input_row(const VfkConvParams *params, const int64_t out[2], const int64_t k[2])
{
    int64_t at[2];
    for (int axis = 0; axis < 2; axis++) {
        at[axis] = out[axis] * params->stride[axis] + k[axis] * params->dilation[axis] -
                   params->pad[axis];
        if (at[axis] < 0 || at[axis] >= params->in_dim[axis]) {
            return -1;
        }
    }
    return at[0] * params->in_dim[1] + at[1];
}

/* Elements of a small plane with its border; two buffers of them lie on the stack. */
enum { SMALL_PLANE = 2048 };

/* Width of the bordered plane if a plane can be done in one sweep, or 0: stride 1, one channel,
 * two axes, and small. `*size` is the length of the sweep. */
static int64_t small_width(const VfkConvParams *params, int64_t *size)
{
    const int64_t reach_h = (params->kernel[1] - 1) * params->dilation[1];
    const int64_t reach_w = (params->kernel[2] - 1) * params->dilation[2];
    const int64_t width = params->out_dim[2] + reach_w;
    if (params->in_dim[0] != 1 || params->out_dim[0] != 1 || params->kernel[0] != 1 ||
        params->pad[0] != 0 || params->pad[1] < 0 || params->pad[2] < 0 ||
        params->stride[1] != 1 || params->stride[2] != 1 || params->in_channels != 1 ||
        width > SMALL_PLANE || params->out_dim[1] + reach_h + 1 > SMALL_PLANE / width) {
        return 0;
    }
    *size = params->out_dim[1] * width;
    return width;
}

/* A bordered plane makes every tap one long loop: rows of the sum have the border's width, and
 * what is beyond out_dim is dropped. */
#define SMALL(dtype, T) \
    static void border_##dtype(const VfkConvParams *params, const T *x, T *plane, int64_t width) \
    { \
        memset(plane, 0, SMALL_PLANE * sizeof(T)); \
        const int64_t room = width - params->pad[2]; \
        const int64_t n = vfk_max_i64(vfk_min_i64(params->in_dim[2], room), 0); \
        const int64_t reach = (params->kernel[1] - 1) * params->dilation[1]; \
        const int64_t height = params->out_dim[1] + reach - params->pad[1]; \
        for (int64_t h = 0; h < vfk_min_i64(params->in_dim[1], height); h++) { \
            T *row = plane + (h + params->pad[1]) * width + vfk_min_i64(params->pad[2], width); \
            memcpy(row, x + h * params->in_dim[2], (size_t)n * sizeof(T)); \
        } \
    } \
    static void small_plane_##dtype(const VfkConvParams *params, const T *x, const T *weight, \
                                    T bias, T *y) \
    { \
        T plane[SMALL_PLANE + 160], sum[SMALL_PLANE]; \
        int64_t size = 0; \
        const int64_t width = small_width(params, &size); \
        border_##dtype(params, x, plane, width); \
        for (int64_t i = 0; i < size; i++) { \
            sum[i] = bias; \
        } \
        for (int64_t k = 0; k < params->kernel[1] * params->kernel[2]; k++) { \
            const T *from = plane + k / params->kernel[2] * params->dilation[1] * width + \
                            k % params->kernel[2] * params->dilation[2]; \
            const T w = weight[k]; \
            for (int64_t i = 0; i < size; i++) { \
                sum[i] += w * from[i]; \
            } \
        } \
        for (int64_t h = 0; h < params->out_dim[1]; h++) { \
            memcpy(y + h * params->out_dim[2], sum + h * width, \
                   (size_t)params->out_dim[2] * sizeof(T)); \
        } \
    }

SMALL(f32, float)
SMALL(f64, double)

#define DEPTHWISE(dtype, T) \
    /* y[i] += weight * line[i * stride + shift] for the columns of a tap. */ \
    static inline void add_row_##dtype(T *restrict y, const T *restrict line, T weight, Tap tap, \
                                       int64_t stride) \
    { \
        if (stride == 1) { \
            for (int64_t i = tap.begin; i < tap.end; i++) { \
                y[i] += weight * line[i + tap.shift]; \
            } \
        } else { \
            for (int64_t i = tap.begin; i < tap.end; i++) { \
                y[i] += weight * line[i * stride + tap.shift]; \
            } \
        } \
    } \
    /* Add channel `plane` with its kernel to row (d, h) of the output. */ \
    static void add_plane_##dtype(const VfkConvParams *params, const int64_t out[2], \
                                  const T *plane, const T *weight, T *y) \
    { \
        for (int64_t k = 0; k < params->kernel[0] * params->kernel[1]; k++) { \
            const int64_t position[2] = {k / params->kernel[1], k % params->kernel[1]}; \
            const int64_t row = input_row(params, out, position); \
            for (int64_t c = 0; row >= 0 && c < params->kernel[2]; c++) { \
                add_row_##dtype(y, plane + row * params->in_dim[2], \
                                weight[k * params->kernel[2] + c], tap_of(params, c), \
                                params->stride[2]); \
            } \
        } \
    } \
    void VFK_FN(depthwise, dtype)(const VfkArgs *args) \
    { \
        const VfkConvParams *params = args->params; \
        const int64_t channels = params->groups * params->out_channels; \
        const int64_t in_plane = vfk_volume(params->in_dim), taps = vfk_volume(params->kernel); \
        const int64_t rows = params->out_dim[0] * params->out_dim[1], n = params->out_dim[2]; \
        const T *bias = args->in[2]; \
        int64_t size; \
        const int is_small = small_width(params, &size) > 0; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const int64_t channel = u % channels; \
            const int64_t group = u / params->out_channels; \
            const T *x = (const T *)args->in[0] + group * params->in_channels * in_plane; \
            const T *weight = (const T *)args->in[1] + channel * params->in_channels * taps; \
            if (is_small) { \
                small_plane_##dtype(params, x, weight, bias ? bias[channel] : 0, \
                                    (T *)args->out[0] + u * rows * n); \
                continue; \
            } \
            for (int64_t row = 0; row < rows; row++) { \
                const int64_t out[2] = {row / params->out_dim[1], row % params->out_dim[1]}; \
                T *y = (T *)args->out[0] + (u * rows + row) * n; \
                for (int64_t i = 0; i < n; i++) { \
                    y[i] = bias ? bias[channel] : 0; \
                } \
                for (int64_t c = 0; c < params->in_channels; c++) { \
                    add_plane_##dtype(params, out, x + c * in_plane, weight + c * taps, y); \
                } \
            } \
        } \
    }

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

DEPTHWISE(f32, float)
DEPTHWISE(f64, double)
TRANSPOSE(f32, float)
TRANSPOSE(f64, double)
