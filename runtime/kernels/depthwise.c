#include "runtime/kernels/depthwise_row.h"

/* Convolutions done directly. The sum of a pixel begins with the bias and runs over input channel
 * and kernel position, those outside the input left out or adding zero.
 *
 * Four ways: with channels last and stride 1, depthwise_row.h; with channels last otherwise,
 * vectors of channels, a few pixels at a time; planes at stride 1,
 * strips of rows in a buffer with their border, which makes every tap one long run; else rows that
 * gather one weighted input row after the other. */

enum {
    DEPTHWISE_PIXELS = 4,           /* worked on side by side; sums stay in registers */
    DEPTHWISE_TAPS = 64,       /* added to sums before they are stored */
    DEPTHWISE_STRIP_BYTES = 16384   /* of a strip with its border; two lie on the stack */
};

/* What some pixels read: offsets in x from their image, and in the weights. */
typedef struct DepthwiseTaps {
    int64_t n;
    int64_t x[DEPTHWISE_TAPS];
    int64_t weight[DEPTHWISE_TAPS];
} DepthwiseTaps;

static inline int64_t depthwise_channels(const VfkConvParams *params)
{
    return params->groups * params->out_channels;
}

/* Kernel positions [first, first + DEPTHWISE_TAPS) that output pixel `out` reads inside the input,
 * in order; weights of one position lie `step` after those of the one before. */
static void depthwise_taps_of(const VfkConvParams *params, const int64_t out[3], int64_t first,
                              int64_t step, DepthwiseTaps *taps)
{
    const int64_t *kernel = params->kernel;
    const int64_t end = vfk_min_i64(first + DEPTHWISE_TAPS, vfk_volume(kernel));
    int64_t position[3] = {first / kernel[2] / kernel[1], first / kernel[2] % kernel[1],
                           first % kernel[2]};
    taps->n = 0;
    for (int64_t k = first; k < end; k++) {
        int64_t offset = 0;
        int inside = 1;
        for (int axis = 0; axis < 3; axis++) {
            const int64_t at = out[axis] * params->stride[axis] +
                               position[axis] * params->dilation[axis] - params->pad[axis];
            inside &= at >= 0 && at < params->in_dim[axis];
            offset += at * params->x_step[2 + axis];
        }
        taps->x[taps->n] = offset;
        taps->weight[taps->n] = k * step;
        taps->n += inside;
        for (int axis = 2; axis >= 0 && ++position[axis] == kernel[axis]; axis--) {
            position[axis] = 0;
        }
    }
}

/* Output columns [*begin, *end) whose every tap along the last axis is inside. */
static void depthwise_inner(const VfkConvParams *params, int64_t *begin, int64_t *end)
{
    const int64_t n = params->out_dim[2];
    const int64_t reach = (params->kernel[2] - 1) * params->dilation[2];
    int64_t low, high, other;
    vfk_inside(0, n, params->stride[2], -params->pad[2], params->in_dim[2], &low, &other);
    vfk_inside(0, n, params->stride[2], reach - params->pad[2], params->in_dim[2], &other, &high);
    *begin = low;
    *end = vfk_max_i64(low, high);
}

/* Pixels side by side with channels last. The sums begin with `start` (NULL: with 0), and `add` is
 * added to them (NULL: nothing). */
#define SPAN(dtype, T) \
    typedef struct Span_##dtype { \
        const DepthwiseTaps *taps; \
        const T *x, *weight, *start, *add; \
        T *y; \
        int64_t x_step, y_step, start_step, add_step, channels; /* from pixel to pixel */ \
    } Span_##dtype; \
    static inline __attribute__((always_inline)) void span_part_##dtype( \
        const Span_##dtype *s, const int pixels, int64_t c, const int64_t width) \
    { \
        Wide_##dtype sum[DEPTHWISE_PIXELS]; \
        const int64_t x_step = s->x_step; \
        for (int p = 0; p < pixels; p++) { \
            sum[p] = (Wide_##dtype){0}; \
            if (s->start) { \
                sum[p] = wide_load_##dtype(s->start + p * s->start_step + c, width); \
            } \
        } \
        for (int64_t t = 0; t < s->taps->n; t++) { \
            const T *from = s->x + s->taps->x[t] + c; \
            const Wide_##dtype w = \
                wide_load_##dtype(s->weight + s->taps->weight[t] + c, width); \
            for (int p = 0; p < pixels; p++) { \
                sum[p] += w * wide_load_##dtype(from + p * x_step, width); \
            } \
        } \
        for (int p = 0; p < pixels; p++) { \
            if (s->add) { \
                sum[p] += wide_load_##dtype(s->add + p * s->add_step + c, width); \
            } \
            wide_store_##dtype(s->y + p * s->y_step + c, sum[p], width); \
        } \
    } \
    static inline __attribute__((always_inline)) void span_##dtype(const Span_##dtype *s, \
                                                                   const int pixels) \
    { \
        int64_t c = 0; \
        for (; c + WIDE_##dtype <= s->channels; c += WIDE_##dtype) { \
            span_part_##dtype(s, pixels, c, WIDE_##dtype); \
        } \
        if (c < s->channels) { \
            span_part_##dtype(s, pixels, c, s->channels - c); \
        } \
    } \
    static void span_one_##dtype(const Span_##dtype *s) \
    { \
        span_##dtype(s, 1); \
    } \
    static void span_wide_##dtype(const Span_##dtype *s) \
    { \
        span_##dtype(s, DEPTHWISE_PIXELS); \
    }

/* One output row: kernel positions from `first` on. */
#define CHANNELS_LAST(dtype, T) \
    static void last_row_##dtype(const VfkConvParams *params, Span_##dtype s, int64_t out[3], \
                                 int64_t first) \
    { \
        const T *x = s.x; \
        const T *start = s.start, *add = s.add; \
        T *y = s.y; \
        DepthwiseTaps taps; \
        int64_t begin, end; \
        depthwise_inner(params, &begin, &end); \
        s.taps = &taps; \
        for (int64_t w = 0, n; w < params->out_dim[2]; w += n) { \
            const int is_inner = w >= begin && w < end; \
            n = is_inner && w + DEPTHWISE_PIXELS <= end ? DEPTHWISE_PIXELS : 1; \
            if (!is_inner || w == begin) { \
                out[2] = w; \
                depthwise_taps_of(params, out, first, s.channels, &taps); \
            } \
            s.x = is_inner ? x + (w - begin) * s.x_step : x; \
            s.y = y + w * s.y_step; \
            s.start = start ? start + w * s.start_step : NULL; \
            s.add = add ? add + w * s.add_step : NULL; \
            if (n == 1) { \
                span_one_##dtype(&s); \
            } else { \
                span_wide_##dtype(&s); \
            } \
        } \
    } \
    /* One output row in groups of ROW_PIXELS; the last may do pixels of the one before again. */ \
    static void last_groups_##dtype(const VfkConvParams *params, const Span_##dtype *from, \
                                    int64_t out) \
    { \
        const int64_t stride = params->stride[1], n = params->out_dim[2]; \
        int64_t begin, end; \
        row_kernel_inside(params, out, &begin, &end); \
        RowSpan_##dtype s = {.bias = from->start, .add = from->add, .rows = end - begin, \
                             .add_col = from->add_step, \
                             .x_row = params->dilation[1] * params->x_step[3], \
                             .x_col = params->x_step[4], .y_col = params->y_step[4], \
                             .channels = from->channels, .columns = params->in_dim[2]}; \
        s.x = from->x + (out * stride - params->pad[1]) * params->x_step[3] + begin * s.x_row; \
        s.weight = from->weight + begin * params->kernel[2] * s.channels; \
        for (int64_t w = 0; w < n; w += ROW_PIXELS) { \
            const int64_t first = vfk_min_i64(w, n - ROW_PIXELS); \
            s.y = from->y + first * s.y_col; \
            s.add = from->add ? from->add + first * s.add_col : NULL; \
            s.column = first - params->pad[2]; \
            row_span_##dtype(&s, params->kernel[2]); \
        } \
    } \
    static void last_unit_##dtype(const VfkArgs *args, int64_t unit) \
    { \
        const VfkConvParams *params = args->params; \
        const int64_t rows = params->out_dim[0] * params->out_dim[1]; \
        const int64_t image = unit / rows, row = unit % rows; \
        int64_t out[3] = {row / params->out_dim[1], row % params->out_dim[1], 0}; \
        Span_##dtype s = {.x = (const T *)args->in[0] + image * params->x_step[0], \
                          .weight = args->in[1], \
                          .start = args->in[2], \
                          .x_step = params->x_step[4] * params->stride[2], \
                          .y_step = params->y_step[4], \
                          .add_step = params->add_step[4], \
                          .channels = depthwise_channels(params)}; \
        s.y = (T *)args->out[0] + image * params->y_step[0] + out[0] * params->y_step[2] + \
              out[1] * params->y_step[3]; \
        const T *add = args->in[3]; \
        if (add) { \
            add += image * params->add_step[0] + out[0] * params->add_step[2] + \
                   out[1] * params->add_step[3]; \
        } \
        if (row_is_open(params)) { \
            s.add = add; \
            last_groups_##dtype(params, &s, out[1]); \
            return; \
        } \
        for (int64_t k = 0; k < vfk_volume(params->kernel); k += DEPTHWISE_TAPS) { \
            s.add = k + DEPTHWISE_TAPS < vfk_volume(params->kernel) ? NULL : add; \
            last_row_##dtype(params, s, out, k); \
            s.start = s.y; \
            s.start_step = s.y_step; \
        } \
    }

/* Rows of output that a strip holds, or 0 where this way is not open: it is for stride 1, one
 * channel and two axes. *width: of a row with its border. */
static int64_t depthwise_strip_rows(const VfkConvParams *params, int64_t elements, int64_t *width)
{
    const int64_t reach_h = (params->kernel[1] - 1) * params->dilation[1];
    const int64_t reach_w = (params->kernel[2] - 1) * params->dilation[2];
    *width = params->out_dim[2] + reach_w;
    if (params->in_dim[0] != 1 || params->out_dim[0] != 1 || params->kernel[0] != 1 ||
        params->pad[0] != 0 || params->pad[1] < 0 || params->pad[2] < 0 ||
        params->stride[1] != 1 || params->stride[2] != 1 || params->in_channels != 1 ||
        *width > elements) {
        return 0;
    }
    return vfk_max_i64(0, elements / *width - reach_h - 1);
}

/* Strips end in room for what the last vectors read and write too much. */
#define STRIPS(dtype, T) \
    enum { \
        STRIP_##dtype = DEPTHWISE_STRIP_BYTES / sizeof(T), \
        ROOM_##dtype = STRIP_##dtype + DEPTHWISE_PIXELS * WIDE_##dtype \
    }; \
    /* Input rows for `n` output rows from `first` on, with zeros around. */ \
    static void border_##dtype(const VfkConvParams *params, const T *x, int64_t first, \
                               int64_t n, int64_t width, T *strip) \
    { \
        const int64_t left = vfk_min_i64(params->pad[2], width); \
        const int64_t inside = vfk_min_i64(params->in_dim[2], width - left); \
        const int64_t rows = n + (params->kernel[1] - 1) * params->dilation[1]; \
        const int64_t size = (rows + 1) * width + DEPTHWISE_PIXELS * WIDE_##dtype; \
        memset(strip, 0, (size_t)size * sizeof(T)); \
        for (int64_t r = 0; r < rows; r++) { \
            const int64_t h = first + r - params->pad[1]; \
            if (h >= 0 && h < params->in_dim[1]) { \
                memcpy(strip + r * width + left, x + h * params->x_step[3], \
                       (size_t)inside * sizeof(T)); \
            } \
        } \
    } \
    /* sum = bias + the taps of `size` neighbours. */ \
    static void sweep_##dtype(const VfkConvParams *params, const T *strip, const T *weight, \
                              T bias, int64_t width, int64_t size, T *sum) \
    { \
        for (int64_t i = 0; i < size; i += DEPTHWISE_PIXELS * WIDE_##dtype) { \
            Wide_##dtype acc[DEPTHWISE_PIXELS]; \
            for (int p = 0; p < DEPTHWISE_PIXELS; p++) { \
                acc[p] = bias - (Wide_##dtype){0}; \
            } \
            const T *w = weight; \
            for (int64_t kh = 0; kh < params->kernel[1]; kh++) { \
                const T *from = strip + i + kh * params->dilation[1] * width; \
                for (int64_t kw = 0; kw < params->kernel[2]; kw++, w++) { \
                    for (int p = 0; p < DEPTHWISE_PIXELS; p++) { \
                        acc[p] += *w * wide_load_##dtype(from + p * WIDE_##dtype, \
                                                           WIDE_##dtype); \
                    } \
                    from += params->dilation[2]; \
                } \
            } \
            memcpy(sum + i, acc, sizeof acc); \
        } \
    } \
    static void strip_plane_##dtype(const VfkConvParams *params, const T *x, const T *weight, \
                                    T bias, T *y) \
    { \
        T strip[ROOM_##dtype], sum[ROOM_##dtype]; \
        int64_t width = 0; \
        const int64_t rows = depthwise_strip_rows(params, STRIP_##dtype, &width); \
        for (int64_t h = 0, n; h < params->out_dim[1]; h += n) { \
            n = vfk_min_i64(rows, params->out_dim[1] - h); \
            border_##dtype(params, x, h, n, width, strip); \
            sweep_##dtype(params, strip, weight, bias, width, n * width, sum); \
            for (int64_t r = 0; r < n; r++) { \
                memcpy(y + (h + r) * params->y_step[3], sum + r * width, \
                       (size_t)params->out_dim[2] * sizeof(T)); \
            } \
        } \
    }

/* Planes row by row. */
#define PLANES(dtype, T) \
    /* y[i] += weight * line[i * stride + shift] for the columns inside. */ \
    static inline void add_row_##dtype(const VfkConvParams *params, T *restrict y, \
                                       const T *restrict line, T weight, int64_t k) \
    { \
        const int64_t stride = params->stride[2]; \
        const int64_t shift = k * params->dilation[2] - params->pad[2]; \
        int64_t begin, end; \
        vfk_inside(0, params->out_dim[2], stride, shift, params->in_dim[2], &begin, &end); \
        for (int64_t i = begin; stride == 1 && i < end; i++) { \
            y[i] += weight * line[i + shift]; \
        } \
        for (int64_t i = begin; stride != 1 && i < end; i++) { \
            y[i] += weight * line[i * stride + shift]; \
        } \
    } \
    /* Add channel `plane` with its kernel to row (d, h) of the output. */ \
    static void add_plane_##dtype(const VfkConvParams *params, const int64_t out[2], \
                                  const T *plane, const T *weight, T *y) \
    { \
        for (int64_t k = 0; k < params->kernel[0] * params->kernel[1]; k++) { \
            const int64_t position[2] = {k / params->kernel[1], k % params->kernel[1]}; \
            int64_t offset = 0; \
            int inside = 1; \
            for (int axis = 0; axis < 2; axis++) { \
                const int64_t at = out[axis] * params->stride[axis] + \
                                   position[axis] * params->dilation[axis] - params->pad[axis]; \
                inside &= at >= 0 && at < params->in_dim[axis]; \
                offset += at * params->x_step[2 + axis]; \
            } \
            for (int64_t c = 0; inside && c < params->kernel[2]; c++) { \
                add_row_##dtype(params, y, plane + offset, weight[k * params->kernel[2] + c], c); \
            } \
        } \
    } \
    static void row_plane_##dtype(const VfkConvParams *params, const T *x, const T *weight, \
                                  T bias, T *y) \
    { \
        const int64_t rows = params->out_dim[0] * params->out_dim[1], n = params->out_dim[2]; \
        for (int64_t row = 0; row < rows; row++) { \
            const int64_t out[2] = {row / params->out_dim[1], row % params->out_dim[1]}; \
            T *to = y + out[0] * params->y_step[2] + out[1] * params->y_step[3]; \
            for (int64_t i = 0; i < n; i++) { \
                to[i] = bias; \
            } \
            for (int64_t c = 0; c < params->in_channels; c++) { \
                add_plane_##dtype(params, out, x + c * params->x_step[1], \
                                  weight + c * vfk_volume(params->kernel), to); \
            } \
        } \
    } \
    static void plane_unit_##dtype(const VfkArgs *args, int64_t unit) \
    { \
        const VfkConvParams *params = args->params; \
        const int64_t channels = depthwise_channels(params); \
        const int64_t image = unit / channels, channel = unit % channels; \
        const int64_t first = channel / params->out_channels * params->in_channels; \
        const int64_t taps = params->in_channels * vfk_volume(params->kernel); \
        const T *x = (const T *)args->in[0] + image * params->x_step[0]; \
        const T *weight = (const T *)args->in[1] + channel * taps; \
        const T *bias = args->in[2]; \
        T *y = (T *)args->out[0] + image * params->y_step[0] + channel * params->y_step[1]; \
        int64_t width; \
        if (depthwise_strip_rows(params, STRIP_##dtype, &width) > 0) { \
            strip_plane_##dtype(params, x + first * params->x_step[1], weight, \
                                bias ? bias[channel] : 0, y); \
        } else { \
            row_plane_##dtype(params, x + first * params->x_step[1], weight, \
                              bias ? bias[channel] : 0, y); \
        } \
    }

#define DEPTHWISE(dtype, T) \
    SPAN(dtype, T) \
    VFK_DEPTHWISE_ROW(dtype, T) \
    CHANNELS_LAST(dtype, T) \
    STRIPS(dtype, T) \
    PLANES(dtype, T) \
    void VFK_FN(depthwise, dtype)(const VfkArgs *args) \
    { \
        const VfkConvParams *params = args->params; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            if (params->channels_last) { \
                last_unit_##dtype(args, u); \
            } else { \
                plane_unit_##dtype(args, u); \
            } \
        } \
    }

DEPTHWISE(f32, float)
DEPTHWISE(f64, double)
