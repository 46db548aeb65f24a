#include "runtime/kernels/reduce_loop.h"

VFK_REDUCE_TYPES(f32, float, double)
VFK_REDUCE_TYPES(f64, double, double)

#define LOWEST ((double)-INFINITY)
#define HIGHEST ((double)INFINITY)

/* A NaN, once met, stays: comparisons with it are false. No branches, so | and not ||. */
#define FLOATS(dtype, T) \
    VFK_REDUCE(reduce_sum, dtype, T, double, 0.0, a + v, a + b, a) \
    VFK_REDUCE(reduce_mean, dtype, T, double, 0.0, a + v, a + b, a / (double)count) \
    VFK_REDUCE(reduce_prod, dtype, T, double, 1.0, a * v, a * b, a) \
    VFK_REDUCE(reduce_max, dtype, T, double, LOWEST, ((a != a) | (a > v)) ? a : v, \
               ((a != a) | (a > b)) ? a : b, a) \
    VFK_REDUCE(reduce_min, dtype, T, double, HIGHEST, ((a != a) | (a < v)) ? a : v, \
               ((a != a) | (a < b)) ? a : b, a) \
    VFK_REDUCE(reduce_l1, dtype, T, double, 0.0, a + fabs(v), a + b, a) \
    VFK_REDUCE(reduce_l2, dtype, T, double, 0.0, a + v * v, a + b, sqrt(a)) \
    VFK_REDUCE(reduce_sum_square, dtype, T, double, 0.0, a + v * v, a + b, a) \
    VFK_REDUCE(reduce_log_sum, dtype, T, double, 0.0, a + v, a + b, log(a))

FLOATS(f32, float)
FLOATS(f64, double)

/* Two passes: the greatest element, then the sum of exponentials below it. */
#define LOG_SUM_EXP(dtype, T) \
    static double log_sum_exp_##dtype(const T *x, const VfkReduceParams *params, int64_t count) \
    { \
        double most = LOWEST, sum = 0.0; \
        VfkWalk red = {.rank = params->red_rank, \
                       .dim = params->red_dim, \
                       .stride = {params->red_stride, NULL, NULL}}; \
        vfk_walk_seek(&red, 0); \
        for (int64_t i = 0; i < count; i++) { \
            const double v = (double)x[red.offset[0]]; \
            most = most != most || most > v ? most : v; \
            vfk_walk_next(&red, red.rank - 1); \
        } \
        if (most != most || most - most != 0.0) { \
            return most; \
        } \
        vfk_walk_seek(&red, 0); \
        for (int64_t i = 0; i < count; i++) { \
            sum += exp((double)x[red.offset[0]] - most); \
            vfk_walk_next(&red, red.rank - 1); \
        } \
        return most + log(sum); \
    } \
    void VFK_FN(reduce_log_sum_exp, dtype)(const VfkArgs *args) \
    { \
        const VfkReduceParams *params = args->params; \
        const int64_t count = vfk_product(params->red_rank, params->red_dim); \
        VfkWalk keep = vfk_keep_walk(params); \
        vfk_walk_seek(&keep, args->begin); \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const T *x = (const T *)args->in[0] + keep.offset[0]; \
            ((T *)args->out[0])[u] = (T)log_sum_exp_##dtype(x, params, count); \
            vfk_walk_next(&keep, keep.rank - 1); \
        } \
    }

LOG_SUM_EXP(f32, float)
LOG_SUM_EXP(f64, double)
