#include "runtime/kernels/moments.h"

#define BATCH_NORM(dtype, T) \
    void VFK_FN(batch_norm, dtype)(const VfkArgs *args) \
    { \
        const VfkChannelNormParams *params = args->params; \
        const T *scale = args->in[1], *bias = args->in[2]; \
        const T *mean = args->in[3], *variance = args->in[4]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const int64_t c = u % params->channels, n = params->inner; \
            const double root = sqrt((double)variance[c] + params->eps); \
            run_affine_##dtype((const T *)args->in[0] + u * n, (T *)args->out[0] + u * n, n, \
                               (double)mean[c], (T)((double)scale[c] / root), bias[c]); \
        } \
    }

#define INSTANCE_NORM(dtype, T) \
    void VFK_FN(instance_norm, dtype)(const VfkArgs *args) \
    { \
        const VfkChannelNormParams *params = args->params; \
        const T *scale = args->in[1], *bias = args->in[2]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const int64_t c = u % params->channels, n = params->inner; \
            const T *x = (const T *)args->in[0] + u * n; \
            const double mean = run_sum_##dtype(x, n, 0.0) / (double)n; \
            const double variance = run_distance_##dtype(x, n, mean) / (double)n; \
            run_affine_##dtype(x, (T *)args->out[0] + u * n, n, mean, \
                               (T)((double)scale[c] / sqrt(variance + params->eps)), bias[c]); \
        } \
    }

/* One channel lies in `batch` runs of `inner`, channels * inner apart. */
#define MEAN_VARIANCE_NORM(dtype, T) \
    void VFK_FN(mean_variance_norm, dtype)(const VfkArgs *args) \
    { \
        const VfkChannelNormParams *params = args->params; \
        const int64_t n = params->inner, step = params->channels * n; \
        const double count = (double)(params->batch * n); \
        for (int64_t c = args->begin; c < args->end; c++) { \
            const T *x = (const T *)args->in[0] + c * n; \
            T *y = (T *)args->out[0] + c * n; \
            double sum = 0.0, distance = 0.0; \
            for (int64_t b = 0; b < params->batch; b++) { \
                sum += run_sum_##dtype(x + b * step, n, 0.0); \
            } \
            const double mean = sum / count; \
            for (int64_t b = 0; b < params->batch; b++) { \
                distance += run_distance_##dtype(x + b * step, n, mean); \
            } \
            const T scale = (T)(1.0 / (sqrt(distance / count) + params->eps)); \
            for (int64_t b = 0; b < params->batch; b++) { \
                run_affine_##dtype(x + b * step, y + b * step, n, mean, scale, (T)0); \
            } \
        } \
    }

#define GROUP_NORM(dtype, T) \
    void VFK_FN(group_norm, dtype)(const VfkArgs *args) \
    { \
        const VfkGroupNormParams *params = args->params; \
        const T *scale = args->in[1], *bias = args->in[2]; \
        const int64_t members = params->channels / params->groups, inner = params->inner; \
        const int64_t n = members * inner; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const T *x = (const T *)args->in[0] + u * n; \
            T *y = (T *)args->out[0] + u * n; \
            const int64_t group = u % params->groups; \
            const double mean = run_sum_##dtype(x, n, 0.0) / (double)n; \
            const double variance = run_distance_##dtype(x, n, mean) / (double)n; \
            const double root = sqrt(variance + params->eps); \
            for (int64_t m = 0; m < members; m++) { \
                const int64_t c = params->per_group ? group : group * members + m; \
                run_affine_##dtype(x + m * inner, y + m * inner, inner, mean, \
                                   (T)((double)scale[c] / root), bias[c]); \
            } \
        } \
    }

/* The window of channel c is [c - (size - 1) / 2, c + size / 2], cut at the ends. */
#define LRN(dtype, T) \
    void VFK_FN(lrn, dtype)(const VfkArgs *args) \
    { \
        const VfkLrnParams *params = args->params; \
        const int64_t inner = params->inner; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const int64_t c = u % params->channels; \
            const int64_t first = vfk_max_i64(0, c - (params->size - 1) / 2); \
            const int64_t last = vfk_min_i64(params->channels - 1, c + params->size / 2); \
            const T *x = (const T *)args->in[0] + u * inner; \
            T *y = (T *)args->out[0] + u * inner; \
            for (int64_t i = 0; i < inner; i++) { \
                double sum = 0.0; \
                for (int64_t k = first; k <= last; k++) { \
                    const double v = (double)x[(k - c) * inner + i]; \
                    sum += v * v; \
                } \
                const double base = params->bias + params->alpha / (double)params->size * sum; \
                y[i] = (T)((double)x[i] / pow(base, params->beta)); \
            } \
        } \
    }

#define FLOATS(dtype, T) \
    BATCH_NORM(dtype, T) \
    INSTANCE_NORM(dtype, T) \
    MEAN_VARIANCE_NORM(dtype, T) \
    GROUP_NORM(dtype, T) \
    LRN(dtype, T)

FLOATS(f32, float)
FLOATS(f64, double)
