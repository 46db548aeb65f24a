/* The part of convolution that all variants share. Internal to runtime/kernels.
 *
 * A unit is a block of output pixels of one image and group. Its pixels' windows are unfolded
 * into a matrix, one row per (channel, kernel position), one column per pixel; weights times
 * that matrix is the result.
 */
#ifndef VFK_CONV_UNFOLD_H
#define VFK_CONV_UNFOLD_H

#include "runtime/kernels/variant.h"

/* One unit, as offsets in elements. */
typedef struct VfkConvUnit {
    int64_t x;      /* first input element of the image and group */
    int64_t weight; /* first weight of the group */
    int64_t y;      /* first output element: channel 0 of the group, pixel `pixel` */
    int64_t channel; /* first output channel of the group, for the bias */
    int64_t pixel;
    int64_t pixels; /* of this unit */
} VfkConvUnit;

static inline int64_t vfk_volume(const int64_t dim[3])
{
    return dim[0] * dim[1] * dim[2];
}

static inline VfkConvUnit vfk_conv_unit(const VfkConvParams *params, int64_t unit)
{
    const int64_t total = vfk_volume(params->out_dim);
    const int64_t blocks = (total + params->block_cols - 1) / params->block_cols;
    const int64_t image_group = unit / blocks, group = image_group % params->groups;
    VfkConvUnit result = {.pixel = unit % blocks * params->block_cols};
    result.pixels = vfk_min_i64(params->block_cols, total - result.pixel);
    result.x = image_group * params->in_channels * vfk_volume(params->in_dim);
    result.weight = group * params->out_channels * params->in_channels * vfk_volume(params->kernel);
    result.channel = group * params->out_channels;
    result.y = image_group * params->out_channels * total + result.pixel;
    return result;
}

/* Whether the input itself is the unfolded matrix. */
static inline int vfk_conv_is_plain(const VfkConvParams *params)
{
    for (int axis = 0; axis < 3; axis++) {
        if (params->kernel[axis] != 1 || params->stride[axis] != 1 || params->pad[axis] != 0 ||
            params->in_dim[axis] != params->out_dim[axis]) {
            return 0;
        }
    }
    return 1;
}

/* Of output positions [first, first + n) of an axis, those whose input position
 * out * stride + shift lies in [0, dim): *begin and *end relative to `first`. */
static inline void vfk_inside(int64_t first, int64_t n, int64_t stride, int64_t shift,
                              int64_t dim, int64_t *begin, int64_t *end)
{
    int64_t low = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    int64_t high = dim - shift <= 0 ? 0 : (dim - shift + stride - 1) / stride;
    *begin = vfk_min_i64(vfk_max_i64(low - first, 0), n);
    *end = vfk_max_i64(vfk_min_i64(high - first, n), *begin);
}

/* Define unfold_dtype: fill `rows` (channels * kernel volume rows of `unit->pixels`). */
#define VFK_UNFOLD(dtype, T) \
    /* Part of one output row: n pixels from column `first`. `line` is the input row or NULL. */ \
    static inline void unfold_line_##dtype(const VfkConvParams *params, const T *line, \
                                           int64_t shift, int64_t first, int64_t n, T *row) \
    { \
        const int64_t stride = params->stride[2]; \
        int64_t begin = n, end = n; \
        if (line) { \
            vfk_inside(first, n, stride, shift, params->in_dim[2], &begin, &end); \
        } \
        for (int64_t i = 0; i < begin; i++) { \
            row[i] = 0; \
        } \
        if (begin < end && stride == 1) { \
            memcpy(row + begin, line + first + begin + shift, (size_t)(end - begin) * sizeof(T)); \
        } else { \
            for (int64_t i = begin; i < end; i++) { \
                row[i] = line[(first + i) * stride + shift]; \
            } \
        } \
        for (int64_t i = end; i < n; i++) { \
            row[i] = 0; \
        } \
    } \
    /* One row of the matrix: kernel position k of the channel `plane`. */ \
    static inline void unfold_row_##dtype(const VfkConvParams *params, const VfkConvUnit *unit, \
                                          const T *plane, const int64_t k[3], T *row) \
    { \
        int64_t shift[3]; \
        for (int axis = 0; axis < 3; axis++) { \
            shift[axis] = k[axis] * params->dilation[axis] - params->pad[axis]; \
        } \
        const int64_t width = params->out_dim[2], height = params->out_dim[1]; \
        for (int64_t done = 0, n; done < unit->pixels; done += n) { \
            const int64_t at = unit->pixel + done, first = at % width; \
            const int64_t h = at / width % height * params->stride[1] + shift[1]; \
            const int64_t d = at / width / height * params->stride[0] + shift[0]; \
            const int inside = \
                h >= 0 && h < params->in_dim[1] && d >= 0 && d < params->in_dim[0]; \
            const T *line = NULL; \
            if (inside) { \
                line = plane + (d * params->in_dim[1] + h) * params->in_dim[2]; \
            } \
            n = vfk_min_i64(width - first, unit->pixels - done); \
            unfold_line_##dtype(params, line, shift[2], first, n, row + done); \
        } \
    } \
    static inline void unfold_##dtype(const VfkConvParams *params, const VfkConvUnit *unit, \
                                      const T *x, T *rows) \
    { \
        for (int64_t c = 0; c < params->in_channels; c++, x += vfk_volume(params->in_dim)) { \
            for (int64_t k = 0; k < vfk_volume(params->kernel); k++, rows += unit->pixels) { \
                const int64_t position[3] = {k / params->kernel[2] / params->kernel[1], \
                                             k / params->kernel[2] % params->kernel[1], \
                                             k % params->kernel[2]}; \
                unfold_row_##dtype(params, unit, x, position, rows); \
            } \
        } \
    }

VFK_UNFOLD(f32, float)
VFK_UNFOLD(f64, double)

#endif
