#include "runtime/kernels/variant.h"

/* `better`: whether v should replace the best so far, m. A NaN replaces any number. */
#define ARG(op, dtype, T, better) \
    void VFK_FN(op, dtype)(const VfkArgs *args) \
    { \
        const VfkArgParams *params = args->params; \
        const int64_t n = params->n, inner = params->inner; \
        int64_t *out = args->out[0]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const T *x = (const T *)args->in[0] + u / inner * n * inner + u % inner; \
            int64_t best = 0; \
            for (int64_t i = 1; i < n; i++) { \
                const T v = x[i * inner], m = x[best * inner]; \
                const int equal = v == m || (v != v && m != m); \
                best = (equal && params->select_last) || (!equal && (better)) ? i : best; \
            } \
            out[u] = best; \
        } \
    }

#define ARGS(dtype, T) \
    ARG(argmax, dtype, T, m == m && !(v < m)) \
    ARG(argmin, dtype, T, m == m && !(v > m))

ARGS(f32, float)
ARGS(f64, double)
ARGS(u8, uint8_t)
ARGS(i8, int8_t)
ARGS(i32, int32_t)
ARGS(i64, int64_t)
ARGS(u16, uint16_t)
ARGS(i16, int16_t)
ARGS(u32, uint32_t)
ARGS(u64, uint64_t)

/* A: accumulator, wide for floats and unsigned for integers. */
#define CUMULATE(op, sign, neutral, dtype, T, A) \
    void VFK_FN(op, dtype)(const VfkArgs *args) \
    { \
        const VfkCumulateParams *params = args->params; \
        const int64_t n = params->n, inner = params->inner; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const int64_t first = u / inner * n * inner + u % inner; \
            A so_far = neutral; \
            for (int64_t i = 0; i < n; i++) { \
                const int64_t at = first + (params->reverse ? n - 1 - i : i) * inner; \
                const A v = (A)((const T *)args->in[0])[at]; \
                const A with_it = so_far sign v; \
                ((T *)args->out[0])[at] = (T)(params->exclusive ? so_far : with_it); \
                so_far = with_it; \
            } \
        } \
    }

#define CUMULATES(dtype, T, A) \
    CUMULATE(cumsum, +, 0, dtype, T, A) \
    CUMULATE(cumprod, *, 1, dtype, T, A)

CUMULATES(f32, float, double)
CUMULATES(f64, double, double)
CUMULATES(i32, int32_t, uint32_t)
CUMULATES(i64, int64_t, uint64_t)
CUMULATES(u8, uint8_t, uint32_t)
CUMULATES(i8, int8_t, uint32_t)
CUMULATES(u16, uint16_t, uint32_t)
CUMULATES(i16, int16_t, uint32_t)
CUMULATES(u32, uint32_t, uint32_t)
CUMULATES(u64, uint64_t, uint64_t)
