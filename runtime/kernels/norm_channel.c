#include "runtime/kernels/moments.h"

/* Channels side by side whose constants are made once for all rows. */
enum { SIDE_BY_SIDE = 64 };

/* Inner 1: rows of channels. The same arithmetic as run_affine, whose rest is 0 here. */
#define BATCH_NORM_ROWS(dtype, T) \
    typedef struct Channels_##dtype { \
        T mean[SIDE_BY_SIDE], scale[SIDE_BY_SIDE], bias[SIDE_BY_SIDE]; \
    } Channels_##dtype; \
    static void channels_of_##dtype(const VfkArgs *args, int64_t first, int64_t n, \
                                    Channels_##dtype *c) \
    { \
        const VfkChannelNormParams *params = args->params; \
        const T *scale = (const T *)args->in[1] + first, *bias = (const T *)args->in[2] + first; \
        const T *mean = (const T *)args->in[3] + first, *var = (const T *)args->in[4] + first; \
        for (int64_t i = 0; i < n; i++) { \
            c->mean[i] = mean[i]; \
            c->scale[i] = (T)((double)scale[i] / sqrt((double)var[i] + params->eps)); \
            c->bias[i] = bias[i]; \
        } \
    } \
    static void channels_row_##dtype(const Channels_##dtype *c, const T *x, T *y, int64_t n) \
    { \
        if (x == y) { \
            for (int64_t i = 0; i < n; i++) { \
                y[i] = (y[i] - c->mean[i]) * c->scale[i] + c->bias[i]; \
            } \
        } else { \
            const T *restrict from = x; \
            T *restrict to = y; \
            for (int64_t i = 0; i < n; i++) { \
                to[i] = (from[i] - c->mean[i]) * c->scale[i] + c->bias[i]; \
            } \
        } \
    } \
    static void batch_norm_rows_##dtype(const VfkArgs *args) \
    { \
        const VfkChannelNormParams *params = args->params; \
        const int64_t channels = params->channels; \
        const T *x = args->in[0]; \
        T *y = args->out[0]; \
        for (int64_t first = 0; first < channels; first += SIDE_BY_SIDE) { \
            Channels_##dtype c; \
            const int64_t n = vfk_min_i64(SIDE_BY_SIDE, channels - first); \
            channels_of_##dtype(args, first, n, &c); \
            for (int64_t at = args->begin / channels * channels + first; at < args->end; \
                 at += channels) { \
                if (at >= args->begin && at + n <= args->end) { \
                    channels_row_##dtype(&c, x + at, y + at, n); \
                    continue; \
                } \
                for (int64_t i = vfk_max_i64(args->begin - at, 0); \
                     i < vfk_min_i64(n, args->end - at); i++) { \
                    y[at + i] = (x[at + i] - c.mean[i]) * c.scale[i] + c.bias[i]; \
                } \
            } \
        } \
    }

#define BATCH_NORM(dtype, T) \
    BATCH_NORM_ROWS(dtype, T) \
    void VFK_FN(batch_norm, dtype)(const VfkArgs *args) \
    { \
        const VfkChannelNormParams *params = args->params; \
        const T *scale = args->in[1], *bias = args->in[2]; \
        const T *mean = args->in[3], *variance = args->in[4]; \
        if (params->inner == 1) { \
            batch_norm_rows_##dtype(args); \
            return; \
        } \
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
