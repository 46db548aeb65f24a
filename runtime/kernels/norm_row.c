#include "runtime/kernels/norm_rows.h"

/* The rows whose norms are taken; where something is added they are computed first. */
#define ADDED_ROWS(dtype, T) \
    static const T *added_rows_##dtype(const VfkArgs *args, int64_t row, int64_t rows) \
    { \
        const VfkRowNormParams *params = args->params; \
        const int64_t first = row * params->n, count = rows * params->n; \
        const T *x = (const T *)args->in[0] + first; \
        if (!params->adds) { \
            return x; \
        } \
        const T *other = (const T *)args->in[3] + first; \
        T *sum = (T *)(args->out[3] ? args->out[3] : args->out[0]) + first; \
        for (int64_t i = 0; i < count; i++) { \
            sum[i] = x[i] + other[i]; \
        } \
        return sum; \
    }

#define ROW_NORMS(dtype, T) \
    static void layer_rows_##dtype(const VfkArgs *args, int64_t row, int64_t rows) \
    { \
        const VfkRowNormParams *params = args->params; \
        const int64_t n = params->n; \
        const T *first = added_rows_##dtype(args, row, rows), *x[NORM_ROWS]; \
        T *mean_out = args->out[1], *inverse_out = args->out[2], *y[NORM_ROWS]; \
        double moment[NORM_ROWS][2]; \
        for (int64_t r = 0; r < rows; r++) { \
            x[r] = first + r * n; \
            y[r] = (T *)args->out[0] + (row + r) * n; \
        } \
        norm_rows_##dtype(rows, n, params->eps, args->in[1], args->in[2], x, y, moment); \
        for (int64_t r = 0; mean_out && r < rows; r++) { \
            mean_out[row + r] = (T)moment[r][0]; \
        } \
        for (int64_t r = 0; inverse_out && r < rows; r++) { \
            inverse_out[row + r] = (T)moment[r][1]; \
        } \
    } \
    void VFK_FN(layer_norm, dtype)(const VfkArgs *args) \
    { \
        const VfkRowNormParams *params = args->params; \
        const int64_t most = norm_rows_together(params->n, sizeof(T)); \
        for (int64_t row = args->begin, rows; row < args->end; row += rows) { \
            rows = vfk_min_i64(most, args->end - row); \
            layer_rows_##dtype(args, row, rows); \
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

ADDED_ROWS(f32, float)
ADDED_ROWS(f64, double)
ROW_NORMS(f32, float)
ROW_NORMS(f64, double)
LP_NORM(f32, float)
LP_NORM(f64, double)
