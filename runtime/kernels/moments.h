/* Sums over contiguous runs for the normalisations, and their affine steps. Internal to
 * runtime/kernels.
 *
 * Sums run in sixteen lanes of double, merged in a tree; so they are the same in every
 * instruction set. The affine steps do apart and in-place operands in separate loops.
 */
#ifndef VFK_MOMENTS_H
#define VFK_MOMENTS_H

#include "runtime/kernels/lanes.h"
#include "runtime/kernels/variant.h"

/* Define name(x, n, centre): the sum of `term` in v, a double. */
#define VFK_RUN_SUM(name, T, term) \
    static inline double name(const T *x, int64_t n, double centre) \
    { \
        double lane[VFK_SIXTEEN] = {0.0}; \
        int64_t i = 0; \
        (void)centre; \
        for (; i + VFK_SIXTEEN <= n; i += VFK_SIXTEEN) { \
            for (int l = 0; l < VFK_SIXTEEN; l++) { \
                const double v = (double)x[i + l]; \
                lane[l] += (term); \
            } \
        } \
        for (int l = 0; i < n; i++, l++) { \
            const double v = (double)x[i]; \
            lane[l] += (term); \
        } \
        VFK_MERGE(double, lane, a + b) \
        return lane[0]; \
    }

/* Define sum, square distance and affine step over T. */
#define VFK_MOMENTS(dtype, T) \
    VFK_RUN_SUM(run_sum_##dtype, T, v) \
    VFK_RUN_SUM(run_distance_##dtype, T, (v - centre) * (v - centre)) \
    /* y = (x - centre) * scale + offset. The centre is taken away in two parts: of numbers far \
     * from 0 that lie close together its rounding would be most of the result. */ \
    static inline void run_affine_##dtype(const T *x, T *y, int64_t n, double centre, T scale, \
                                          T offset) \
    { \
        const T shift = (T)centre, rest = (T)(centre - (double)shift); \
        if (x == y) { \
            for (int64_t i = 0; i < n; i++) { \
                y[i] = ((y[i] - shift) - rest) * scale + offset; \
            } \
        } else { \
            const T *restrict from = x; \
            T *restrict to = y; \
            for (int64_t i = 0; i < n; i++) { \
                to[i] = ((from[i] - shift) - rest) * scale + offset; \
            } \
        } \
    }

VFK_MOMENTS(f32, float)
VFK_MOMENTS(f64, double)

#endif
