/* Layer norms of a few rows, wherever these lie. Internal to runtime/kernels.
 *
 * The same bits in every variant: sums as in moments.h, and no multiply-adds are fused.
 */
#ifndef VFK_NORM_ROWS_H
#define VFK_NORM_ROWS_H

#include "runtime/kernels/moments.h"

/* Rows worked on together, so that the sums of one fill the time that those of another take to
 * merge; fewer where rows are long, so that they stay in the first-level cache. */
enum { NORM_ROWS = 8, NORM_ROWS_BYTES = 16384 };

static inline int64_t norm_rows_together(int64_t n, size_t element_bytes)
{
    const int64_t fit = NORM_ROWS_BYTES / (int64_t)element_bytes / vfk_max_i64(n, 1);
    return vfk_max_i64(1, vfk_min_i64(fit, NORM_ROWS));
}

/* y = (x - shift - rest) * scale * weight + bias; the centre is taken away in two parts as in
 * run_affine. */
#define VFK_SCALED_LOOP(value) \
    if (weight && bias) { \
        for (int64_t i = 0; i < n; i++) { \
            to[i] = (value) * weight[i] + bias[i]; \
        } \
    } else { \
        for (int64_t i = 0; i < n; i++) { \
            to[i] = (value); \
        } \
        for (int64_t i = 0; weight && i < n; i++) { \
            to[i] *= weight[i]; \
        } \
        for (int64_t i = 0; bias && i < n; i++) { \
            to[i] += bias[i]; \
        } \
    }

/* moment: centre, scale; weight and bias may be NULL. */
#define VFK_SCALED(dtype, T) \
    static inline void scaled_##dtype(const T *x, T *y, int64_t n, const double moment[2], \
                                      const T *restrict weight, const T *restrict bias) \
    { \
        const T shift = (T)moment[0], rest = (T)(moment[0] - (double)shift); \
        const T scale = (T)moment[1]; \
        if (x == y) { \
            T *to = y; \
            VFK_SCALED_LOOP(((to[i] - shift) - rest) * scale) \
        } else { \
            const T *restrict from = x; \
            T *restrict to = y; \
            VFK_SCALED_LOOP(((from[i] - shift) - rest) * scale) \
        } \
    }

/* y = (x - mean) / sqrt(var + eps) * weight + bias of at most NORM_ROWS rows of n; weight and bias
 * may be NULL. moment: mean and inverse standard deviation of each. A row of y is that of x, or
 * apart. */
#define VFK_NORM_OF_ROWS(dtype, T) \
    static inline void norm_rows_##dtype(int64_t rows, int64_t n, double eps, const T *weight, \
                                         const T *bias, const T *const *x, T *const *y, \
                                         double moment[NORM_ROWS][2]) \
    { \
        for (int64_t r = 0; r < NORM_ROWS; r++) { \
            moment[r][0] = moment[r][1] = 0.0; \
        } \
        for (int64_t r = 0; r < rows; r++) { \
            moment[r][0] = run_sum_##dtype(x[r], n, 0.0) / (double)n; \
        } \
        for (int64_t r = 0; r < rows; r++) { \
            moment[r][1] = run_distance_##dtype(x[r], n, moment[r][0]) / (double)n; \
        } \
        for (int64_t r = 0; r < NORM_ROWS; r++) { \
            moment[r][1] = 1.0 / sqrt(moment[r][1] + eps); \
        } \
        for (int64_t r = 0; r < rows; r++) { \
            scaled_##dtype(x[r], y[r], n, moment[r], weight, bias); \
        } \
    }

VFK_SCALED(f32, float)
VFK_SCALED(f64, double)
VFK_NORM_OF_ROWS(f32, float)
VFK_NORM_OF_ROWS(f64, double)

#endif
