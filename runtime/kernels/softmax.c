#include "runtime/kernels/lanes.h"
#include "runtime/kernels/variant.h"
#include "runtime/kernels/vecmath.h"

/* Lanes of a row's sum, and of its maximum (GCC does not make vectors of an inner loop of sixteen
 * comparisons: it unrolls it); columns worked on side by side when inner is not 1; elements of rows
 * worked on together, so that one fills the time another takes to merge its lanes; rows at most.
 * A row of more than SHORT elements is worked on in blocks by itself. */
enum {
    LANES = VFK_SIXTEEN,
    PAIR = 2 * LANES,
    COLUMNS = 32,
    TOGETHER = 2048,
    MOST_ROWS = 32,
    SHORT = 256
};

static int64_t whole_lanes(int64_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

/* On `n` elements, a whole number of lanes. The greatest may pass over NaN: the exponentials bring
 * it back. */
#define LANE_LOOPS(dtype, T, e) \
    static inline T lanes_most_##dtype(const T *t, int64_t n) \
    { \
        T lane[PAIR]; \
        for (int l = 0; l < PAIR; l++) { \
            lane[l] = (T)-INFINITY; \
        } \
        int64_t k = 0; \
        for (; k + PAIR <= n; k += PAIR) { \
            for (int l = 0; l < PAIR; l++) { \
                const T v = t[k + l]; \
                lane[l] = lane[l] > v ? lane[l] : v; \
            } \
        } \
        for (int l = 0; k < n && l < LANES; l++) { \
            lane[l] = lane[l] > t[k + l] ? lane[l] : t[k + l]; \
        } \
        VFK_MERGE_STEP(T, lane, LANES, a > b ? a : b) \
        VFK_MERGE(T, lane, a > b ? a : b) \
        return lane[0]; \
    } \
    static inline void lanes_exp_##dtype(T *t, int64_t n) \
    { \
        for (int64_t k = 0; k < n; k += LANES) { \
            for (int l = 0; l < LANES; l++) { \
                t[k + l] = e(t[k + l]); \
            } \
        } \
    } \
    static inline void lanes_shift_##dtype(T *t, int64_t n, T most) \
    { \
        for (int64_t k = 0; k < n; k += LANES) { \
            for (int l = 0; l < LANES; l++) { \
                t[k + l] -= most; \
            } \
        } \
    } \
    static inline void lanes_scale_##dtype(T *t, int64_t n, T scale) \
    { \
        for (int64_t k = 0; k < n; k += LANES) { \
            for (int l = 0; l < LANES; l++) { \
                t[k + l] *= scale; \
            } \
        } \
    } \
    static inline void lanes_add_##dtype(const T *t, int64_t n, double lane[LANES]) \
    { \
        for (int64_t k = 0; k < n; k += LANES) { \
            for (int l = 0; l < LANES; l++) { \
                lane[l] += (double)t[k + l]; \
            } \
        } \
    } \
    /* n > 0 elements, filled up so that exponentials of what is added are 0. */ \
    static inline void lanes_fill_##dtype(T *t, const T *x, int64_t n) \
    { \
        for (int l = 0; l < LANES; l++) { \
            t[whole_lanes(n) - LANES + l] = (T)-INFINITY; \
        } \
        memcpy(t, x, (size_t)n * sizeof(T)); \
    }

/* Exponentials of lanes that hold no element are computed, too: none is computed by itself. */
#define SHORT_ROWS(dtype, T) \
    static void softmax_short_##dtype(const T *x, T *y, int64_t n, int64_t rows) \
    { \
        T t[TOGETHER] __attribute__((aligned(64))), scale[MOST_ROWS]; \
        const int64_t full = whole_lanes(n); \
        for (int64_t r = 0; r < rows; r++) { \
            lanes_fill_##dtype(t + r * full, x + r * n, n); \
        } \
        for (int64_t r = 0; r < rows; r++) { \
            lanes_shift_##dtype(t + r * full, full, lanes_most_##dtype(t + r * full, full)); \
        } \
        lanes_exp_##dtype(t, rows * full); \
        for (int64_t r = 0; r < rows; r++) { \
            double lane[LANES] = {0.0}; \
            lanes_add_##dtype(t + r * full, full, lane); \
            VFK_MERGE(double, lane, a + b) \
            scale[r] = (T)(1.0 / lane[0]); \
        } \
        for (int64_t r = 0; r < rows; r++) { \
            lanes_scale_##dtype(t + r * full, full, scale[r]); \
        } \
        for (int64_t r = 0; r < rows; r++) { \
            memcpy(y + r * n, t + r * full, (size_t)n * sizeof(T)); \
        } \
    }

#define LONG_ROWS(dtype, T) \
    static T row_most_##dtype(const T *x, int64_t n) \
    { \
        T last[LANES]; \
        const int64_t whole = n / LANES * LANES; \
        const T a = lanes_most_##dtype(x, whole); \
        if (whole == n) { \
            return a; \
        } \
        lanes_fill_##dtype(last, x + whole, n - whole); \
        const T b = lanes_most_##dtype(last, LANES); \
        return a > b ? a : b; \
    } \
    /* The sum of the exponentials, which are put into y if it is not NULL. */ \
    static double row_exp_##dtype(const T *x, T *y, int64_t n, T most) \
    { \
        T t[SHORT] __attribute__((aligned(64))); \
        double lane[LANES] = {0.0}; \
        for (int64_t i = 0; i < n; i += SHORT) { \
            const int64_t m = vfk_min_i64(SHORT, n - i), full = whole_lanes(m); \
            const int64_t whole = m / LANES * LANES; \
            for (int64_t k = 0; k < whole; k++) { \
                t[k] = x[i + k] - most; \
            } \
            if (whole < m) { \
                lanes_fill_##dtype(t + whole, x + i + whole, m - whole); \
                lanes_shift_##dtype(t + whole, LANES, most); \
            } \
            lanes_exp_##dtype(t, full); \
            lanes_add_##dtype(t, full, lane); \
            for (int64_t k = 0; y && k < m; k++) { \
                y[i + k] = t[k]; \
            } \
        } \
        VFK_MERGE(double, lane, a + b) \
        return lane[0]; \
    } \
    static void softmax_row_##dtype(const T *x, T *y, int64_t n) \
    { \
        const T scale = (T)(1.0 / row_exp_##dtype(x, y, n, row_most_##dtype(x, n))); \
        for (int64_t i = 0; i < n; i++) { \
            y[i] *= scale; \
        } \
    } \
    static void log_softmax_row_##dtype(const T *x, T *y, int64_t n) \
    { \
        const T most = row_most_##dtype(x, n); \
        const T shift = (T)log(row_exp_##dtype(x, NULL, n, most)); \
        for (int64_t i = 0; i < n; i++) { \
            y[i] = (x[i] - most) - shift; \
        } \
    } \
    /* Rows from `x` on, as many as are worked on together but at most `left`: how many. */ \
    static int64_t softmax_rows_##dtype(const T *x, T *y, int64_t n, int64_t left) \
    { \
        int64_t rows = vfk_min_i64(vfk_min_i64(TOGETHER / whole_lanes(n), MOST_ROWS), left); \
        if (n > SHORT) { \
            rows = 1; \
            softmax_row_##dtype(x, y, n); \
        } else { \
            softmax_short_##dtype(x, y, n, rows); \
        } \
        return rows; \
    } \
    static int64_t log_softmax_rows_##dtype(const T *x, T *y, int64_t n, int64_t left) \
    { \
        (void)left; \
        log_softmax_row_##dtype(x, y, n); \
        return 1; \
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
                width = op##_rows_##dtype(x + at, y + at, n, args->end - u); \
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
    LANE_LOOPS(dtype, T, e) \
    SHORT_ROWS(dtype, T) \
    LONG_ROWS(dtype, T) \
    COLUMNS_OF(dtype, T, e) \
    KERNEL(softmax, dtype, T, 0) \
    KERNEL(log_softmax, dtype, T, 1) \
    HARDMAX(dtype, T)

FLOATS(f32, float, vfk_exp)
FLOATS(f64, double, exp)
