#include "runtime/kernels/variant.h"
#include "runtime/kernels/vecmath.h"

/* Lanes of a row's sum; columns worked on side by side when inner is not 1, and lanes of a row's
 * maximum. */
enum { LANES = 16, COLUMNS = 32 };

/* The greatest of a row. NaN may be passed over: the exponentials bring it back. */
#define ROW_MAX(dtype, T) \
    static T row_most_##dtype(const T *x, int64_t n) \
    { \
        T lane[COLUMNS]; \
        for (int64_t l = 0; l < COLUMNS; l++) { \
            lane[l] = (T)-INFINITY; \
        } \
        for (int64_t i = 0; i + COLUMNS <= n; i += COLUMNS) { \
            for (int64_t l = 0; l < COLUMNS; l++) { \
                const T v = x[i + l]; \
                lane[l] = lane[l] > v ? lane[l] : v; \
            } \
        } \
        for (int64_t i = n / COLUMNS * COLUMNS, l = 0; i + l < n; l++) { \
            lane[l] = lane[l] > x[i + l] ? lane[l] : x[i + l]; \
        } \
        for (int64_t step = COLUMNS / 2; step > 0; step /= 2) { \
            for (int64_t l = 0; l < step; l++) { \
                lane[l] = lane[l] > lane[l + step] ? lane[l] : lane[l + step]; \
            } \
        } \
        return lane[0]; \
    }

/* y = e(x - most); the sum of y in sixteen lanes of double. `store` keeps y or not. Blocks are
 * filled up to whole vectors, so that no exponential is computed by itself. */
#define ROW_EXP(dtype, T, e) \
    static double row_exp_##dtype(const T *x, T *y, int64_t n, T most, int store) \
    { \
        double lane[LANES] = {0.0}; \
        for (int64_t i = 0; i < n; i += VFK_BLOCK) { \
            T t[VFK_BLOCK]; \
            const int64_t m = vfk_min_i64(VFK_BLOCK, n - i); \
            const int64_t full = (m + LANES - 1) / LANES * LANES; \
            for (int64_t k = 0; k < m; k++) { \
                t[k] = x[i + k] - most; \
            } \
            for (int64_t k = m; k < full; k++) { \
                t[k] = (T)-INFINITY; \
            } \
            for (int64_t k = 0; k < full; k += LANES) { \
                for (int64_t l = 0; l < LANES; l++) { \
                    t[k + l] = e(t[k + l]); \
                } \
            } \
            for (int64_t k = 0; k < full; k += LANES) { \
                for (int l = 0; l < LANES; l++) { \
                    lane[l] += (double)t[k + l]; \
                } \
            } \
            if (store) { \
                memcpy(y + i, t, (size_t)m * sizeof(T)); \
            } \
        } \
        for (int step = LANES / 2; step > 0; step /= 2) { \
            for (int l = 0; l < step; l++) { \
                lane[l] += lane[l + step]; \
            } \
        } \
        return lane[0]; \
    }

#define ROWS(dtype, T) \
    static void softmax_row_##dtype(const T *x, T *y, int64_t n) \
    { \
        const double sum = row_exp_##dtype(x, y, n, row_most_##dtype(x, n), 1); \
        const T scale = (T)(1.0 / sum); \
        for (int64_t i = 0; i < n; i++) { \
            y[i] *= scale; \
        } \
    } \
    static void log_softmax_row_##dtype(const T *x, T *y, int64_t n) \
    { \
        const T most = row_most_##dtype(x, n); \
        const T shift = (T)log(row_exp_##dtype(x, y, n, most, 0)); \
        for (int64_t i = 0; i < n; i++) { \
            y[i] = (x[i] - most) - shift; \
        } \
    }

/* `width` lines that lie side by side, `stride` elements between steps of a line. */
#define COLUMNS_OF(dtype, T, e) \
    static void softmax_columns_##dtype(const T *x, T *y, int64_t n, int64_t stride, \
                                        int64_t width, int take_log) \
    { \
        T most[COLUMNS]; \
        double sum[COLUMNS]; \
        for (int64_t c = 0; c < width; c++) { \
            most[c] = (T)-INFINITY; \
            sum[c] = 0.0; \
        } \
        for (int64_t i = 0; i < n; i++) { \
            for (int64_t c = 0; c < width; c++) { \
                const T v = x[i * stride + c]; \
                most[c] = most[c] > v ? most[c] : v; \
            } \
        } \
        for (int64_t i = 0; i < n; i++) { \
            T t[COLUMNS]; \
            for (int64_t c = 0; c < width; c++) { \
                t[c] = e(x[i * stride + c] - most[c]); \
                sum[c] += (double)t[c]; \
            } \
            if (!take_log) { \
                memcpy(y + i * stride, t, (size_t)width * sizeof(T)); \
            } \
        } \
        for (int64_t c = 0; c < width; c++) { \
            const T factor = (T)(1.0 / sum[c]), shift = (T)log(sum[c]); \
            for (int64_t i = 0; i < n; i++) { \
                const int64_t at = i * stride + c; \
                y[at] = take_log ? (x[at] - most[c]) - shift : y[at] * factor; \
            } \
        } \
    }

/* Lines of the units of `args`: rows if inner is 1, else runs of neighbours. */
#define KERNEL(op, dtype, T, take_log) \
    void VFK_FN(op, dtype)(const VfkArgs *args) \
    { \
        const VfkSoftmaxParams *params = args->params; \
        const int64_t n = params->n, inner = params->inner; \
        const T *x = args->in[0]; \
        T *y = args->out[0]; \
        for (int64_t u = args->begin, width; u < args->end && n > 0; u += width) { \
            const int64_t at = u / inner * n * inner + u % inner; \
            if (inner == 1) { \
                op##_row_##dtype(x + at, y + at, n); \
                width = 1; \
            } else { \
                width = vfk_min_i64(vfk_min_i64(COLUMNS, args->end - u), inner - u % inner); \
                softmax_columns_##dtype(x + at, y + at, n, inner, width, take_log); \
            } \
        } \
    }

#define HARDMAX(dtype, T) \
    void VFK_FN(hardmax, dtype)(const VfkArgs *args) \
    { \
        const VfkSoftmaxParams *params = args->params; \
        const int64_t n = params->n, inner = params->inner; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const int64_t at = u / inner * n * inner + u % inner; \
            const T *x = (const T *)args->in[0] + at; \
            T *y = (T *)args->out[0] + at; \
            int64_t best = 0; \
            for (int64_t i = 1; i < n; i++) { \
                best = x[i * inner] > x[best * inner] ? i : best; \
            } \
            for (int64_t i = 0; i < n; i++) { \
                y[i * inner] = (T)(i == best); \
            } \
        } \
    }

#define FLOATS(dtype, T, e) \
    ROW_MAX(dtype, T) \
    ROW_EXP(dtype, T, e) \
    ROWS(dtype, T) \
    COLUMNS_OF(dtype, T, e) \
    KERNEL(softmax, dtype, T, 0) \
    KERNEL(log_softmax, dtype, T, 1) \
    HARDMAX(dtype, T)

FLOATS(f32, float, vfk_exp)
FLOATS(f64, double, exp)
