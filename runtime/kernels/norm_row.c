#include "runtime/kernels/moments.h"

/* y = (x - centre) * scale * weight + bias; moment: centre, scale; weight and bias may be NULL. */
#define SCALED(dtype, T) \
    static void scaled_##dtype(const T *x, T *y, int64_t n, const double moment[2], \
                               const T *restrict weight, const T *restrict bias) \
    { \
        run_affine_##dtype(x, y, n, moment[0], (T)moment[1], (T)0); \
        for (int64_t i = 0; weight && i < n; i++) { \
            y[i] *= weight[i]; \
        } \
        for (int64_t i = 0; bias && i < n; i++) { \
            y[i] += bias[i]; \
        } \
    }

#define ROW_NORMS(dtype, T) \
    void VFK_FN(layer_norm, dtype)(const VfkArgs *args) \
    { \
        const VfkRowNormParams *params = args->params; \
        const int64_t n = params->n; \
        T *mean_out = args->out[1], *inverse_out = args->out[2]; \
        for (int64_t row = args->begin; row < args->end; row++) { \
            const T *x = (const T *)args->in[0] + row * n; \
            const double mean = run_sum_##dtype(x, n, 0.0) / (double)n; \
            const double variance = run_distance_##dtype(x, n, mean) / (double)n; \
            const double inverse = 1.0 / sqrt(variance + params->eps); \
            const double moment[2] = {mean, inverse}; \
            scaled_##dtype(x, (T *)args->out[0] + row * n, n, moment, args->in[1], args->in[2]); \
            if (mean_out) { \
                mean_out[row] = (T)mean; \
            } \
            if (inverse_out) { \
                inverse_out[row] = (T)inverse; \
            } \
        } \
    } \
    void VFK_FN(rms_norm, dtype)(const VfkArgs *args) \
    { \
        const VfkRowNormParams *params = args->params; \
        const int64_t n = params->n; \
        for (int64_t row = args->begin; row < args->end; row++) { \
            const T *x = (const T *)args->in[0] + row * n; \
            const double square = run_distance_##dtype(x, n, 0.0) / (double)n; \
            const double moment[2] = {0.0, 1.0 / sqrt(square + params->eps)}; \
            scaled_##dtype(x, (T *)args->out[0] + row * n, n, moment, args->in[1], NULL); \
        } \
    }

#define LP_NORM(dtype, T) \
    void VFK_FN(lp_norm, dtype)(const VfkArgs *args) \
    { \
        const VfkLpNormParams *params = args->params; \
        const int64_t n = params->n, inner = params->inner; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const int64_t first = u / inner * n * inner + u % inner; \
            const T *x = (const T *)args->in[0] + first; \
            T *y = (T *)args->out[0] + first; \
            double sum = 0.0; \
            for (int64_t i = 0; i < n; i++) { \
                const double v = (double)x[i * inner]; \
                sum += params->p == 1 ? fabs(v) : v * v; \
            } \
            const double norm = params->p == 1 ? sum : sqrt(sum); \
            for (int64_t i = 0; i < n; i++) { \
                y[i * inner] = norm == 0.0 ? (T)0 : (T)((double)x[i * inner] / norm); \
            } \
        } \
    }

SCALED(f32, float)
SCALED(f64, double)
ROW_NORMS(f32, float)
ROW_NORMS(f64, double)
LP_NORM(f32, float)
LP_NORM(f64, double)
