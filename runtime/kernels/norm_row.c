#include "runtime/kernels/moments.h"

/* Rows worked on together, so that the sums of one fill the time that those of another take to
 * merge; fewer where rows are long, so that they stay in the first-level cache. */
enum { ROWS = 8, ROWS_BYTES = 16384 };

static int64_t rows_together(int64_t n, size_t element_bytes)
{
    const int64_t fit = ROWS_BYTES / (int64_t)element_bytes / vfk_max_i64(n, 1);
    return vfk_max_i64(1, vfk_min_i64(fit, ROWS));
}

/* y = (x - shift - rest) * scale * weight + bias; the centre is taken away in two parts as in
 * run_affine. */
#define SCALED_LOOP(value) \
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
#define SCALED(dtype, T) \
    static void scaled_##dtype(const T *x, T *y, int64_t n, const double moment[2], \
                               const T *restrict weight, const T *restrict bias) \
    { \
        const T shift = (T)moment[0], rest = (T)(moment[0] - (double)shift); \
        const T scale = (T)moment[1]; \
        if (x == y) { \
            T *to = y; \
            SCALED_LOOP(((to[i] - shift) - rest) * scale) \
        } else { \
            const T *restrict from = x; \
            T *restrict to = y; \
            SCALED_LOOP(((from[i] - shift) - rest) * scale) \
        } \
    }

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
        const T *x = added_rows_##dtype(args, row, rows); \
        T *y = (T *)args->out[0] + row * n; \
        T *mean_out = args->out[1], *inverse_out = args->out[2]; \
        double moment[ROWS][2] = {{0}}; \
        for (int64_t r = 0; r < rows; r++) { \
            moment[r][0] = run_sum_##dtype(x + r * n, n, 0.0) / (double)n; \
        } \
        for (int64_t r = 0; r < rows; r++) { \
            moment[r][1] = run_distance_##dtype(x + r * n, n, moment[r][0]) / (double)n; \
        } \
        for (int64_t r = 0; r < ROWS; r++) { \
            moment[r][1] = 1.0 / sqrt(moment[r][1] + params->eps); \
        } \
        for (int64_t r = 0; r < rows; r++) { \
            scaled_##dtype(x + r * n, y + r * n, n, moment[r], args->in[1], args->in[2]); \
        } \
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
        const int64_t most = rows_together(params->n, sizeof(T)); \
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

SCALED(f32, float)
SCALED(f64, double)
ADDED_ROWS(f32, float)
ADDED_ROWS(f64, double)
ROW_NORMS(f32, float)
ROW_NORMS(f64, double)
LP_NORM(f32, float)
LP_NORM(f64, double)
