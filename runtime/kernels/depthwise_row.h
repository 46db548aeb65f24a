/* Depthwise convolutions with channels last, stride 1 along a row. Internal to runtime/kernels.
 *
 * A vector of channels of ROW_PIXELS pixels side by side: each pixel of an input row is read once
 * for all kernel positions of that row. The sum of a pixel begins with the bias and runs over the
 * kernel's positions in order; those to the left and right of the input add zero, rows above and
 * below are left out.
 */
#ifndef VFK_DEPTHWISE_ROW_H
#define VFK_DEPTHWISE_ROW_H

#include "runtime/kernels/conv_unfold.h"
#include "runtime/kernels/vector.h"

/* Sizes of feature maps are often multiples of seven. Kernels at most ROW_TAPS wide. Pixels that
 * lie a multiple of ROW_SAME_SETS bytes apart share few sets of the first-level cache; of those
 * ROW_VECTORS vectors next to each other are read before their lines are pushed out. */
enum { ROW_PIXELS = 7, ROW_TAPS = 7, ROW_VECTORS = 4, ROW_SAME_SETS = 2048 };

/* The kernel rows of output row `out` that are inside the input: [*begin, *end). */
static inline void row_kernel_inside(const VfkConvParams *params, int64_t out, int64_t *begin,
                                     int64_t *end)
{
    vfk_inside(0, params->kernel[1], params->dilation[1],
               out * params->stride[1] - params->pad[1], params->in_dim[1], begin, end);
}

/* Whether this way is open. */
static inline int row_is_open(const VfkConvParams *params)
{
    const int64_t taps = params->kernel[2];
    return params->in_dim[0] == 1 && params->out_dim[0] == 1 && params->kernel[0] == 1 &&
           params->pad[0] == 0 && params->stride[2] == 1 && params->dilation[2] == 1 &&
           (taps == 3 || taps == 5 || taps == 7) && params->out_dim[2] >= ROW_PIXELS;
}

/* Defined for each T: row_span_dtype(&span, taps), one group of pixels, all channels. The lines of
 * the last row that the next group reads are asked for. */
#define VFK_DEPTHWISE_ROW(dtype, T) \
    typedef struct RowSpan_##dtype { \
        const T *x;      /* column 0 of the first input row that is read */ \
        const T *weight; /* of that row's first kernel position */ \
        const T *bias;   /* or NULL */ \
        const T *add;    /* to the first pixel, or NULL */ \
        T *y;            /* the first pixel */ \
        int64_t rows, x_row, x_col, add_col, y_col, channels; \
        int64_t column, columns; /* the leftmost input column, < 0 outside; of the input */ \
    } RowSpan_##dtype; \
    /* Channels from c on, `vectors` of them. */ \
    static inline __attribute__((always_inline)) void row_part_##dtype( \
        const RowSpan_##dtype *s, const int taps, const int is_edge, const int vectors, \
        int64_t c, const int64_t width) \
    { \
        Wide_##dtype sum[ROW_VECTORS][ROW_PIXELS], x[ROW_PIXELS + ROW_TAPS - 1]; \
        const Wide_##dtype zero = {0}; \
        for (int v = 0; v < vectors; v++) { \
            const int64_t at = c + v * WIDE_##dtype; \
            const Wide_##dtype start = s->bias ? wide_load_##dtype(s->bias + at, width) : zero; \
            for (int p = 0; p < ROW_PIXELS; p++) { \
                sum[v][p] = start; \
            } \
        } \
        for (int64_t h = 0; h < s->rows; h++) { \
            _Pragma("GCC unroll 4") for (int v = 0; v < vectors; v++) { \
                const int64_t at = c + v * WIDE_##dtype; \
                const T *from = s->x + h * s->x_row + s->column * s->x_col + at; \
                const T *weight = s->weight + h * taps * s->channels + at; \
                _Pragma("GCC unroll 13") for (int i = 0; i < ROW_PIXELS + taps - 1; i++) { \
                    const int64_t column = s->column + i; \
                    const int is_outside = is_edge && (column < 0 || column >= s->columns); \
                    x[i] = is_outside ? zero : wide_load_##dtype(from + i * s->x_col, width); \
                    if (h == s->rows - 1 && i >= taps - 1) { \
                        __builtin_prefetch(from + (i + ROW_PIXELS) * s->x_col, 0, 2); \
                    } \
                } \
                _Pragma("GCC unroll 7") for (int k = 0; k < taps; k++) { \
                    const Wide_##dtype w = \
                        wide_load_##dtype(weight + k * s->channels, width); \
                    _Pragma("GCC unroll 7") for (int p = 0; p < ROW_PIXELS; p++) { \
                        sum[v][p] += w * x[p + k]; \
                    } \
                } \
            } \
        } \
        for (int p = 0; p < ROW_PIXELS; p++) { \
            for (int v = 0; v < vectors; v++) { \
                const int64_t at = c + v * WIDE_##dtype; \
                if (s->add) { \
                    sum[v][p] += wide_load_##dtype(s->add + p * s->add_col + at, width); \
                } \
                wide_store_##dtype(s->y + p * s->y_col + at, sum[v][p], width); \
            } \
        } \
    } \
    static inline __attribute__((always_inline)) void row_parts_##dtype( \
        const RowSpan_##dtype *s, const int taps, const int is_edge) \
    { \
        enum { STEP = ROW_VECTORS * WIDE_##dtype }; \
        const int is_same = s->x_col * (int64_t)sizeof(T) % ROW_SAME_SETS == 0; \
        int64_t c = 0; \
        for (; is_same && c + STEP <= s->channels; c += STEP) { \
            row_part_##dtype(s, taps, is_edge, ROW_VECTORS, c, WIDE_##dtype); \
        } \
        for (; c + WIDE_##dtype <= s->channels; c += WIDE_##dtype) { \
            row_part_##dtype(s, taps, is_edge, 1, c, WIDE_##dtype); \
        } \
        if (c < s->channels) { \
            row_part_##dtype(s, taps, 1, 1, c, s->channels - c); \
        } \
    } \
    VFK_ROW_SPAN(dtype, 3) \
    VFK_ROW_SPAN(dtype, 5) \
    VFK_ROW_SPAN(dtype, 7) \
    static void row_span_##dtype(const RowSpan_##dtype *s, int64_t taps) \
    { \
        const int is_edge = s->column < 0 || s->column + ROW_PIXELS + taps - 1 > s->columns; \
        (taps == 3 ? row_span_3_##dtype : taps == 5 ? row_span_5_##dtype : row_span_7_##dtype)( \
            s, is_edge); \
    }

#define VFK_ROW_SPAN(dtype, taps) \
    static void row_span_##taps##_##dtype(const RowSpan_##dtype *s, int is_edge) \
    { \
        if (is_edge) { \
            row_parts_##dtype(s, taps, 1); \
        } else { \
            row_parts_##dtype(s, taps, 0); \
        } \
    }

#endif
