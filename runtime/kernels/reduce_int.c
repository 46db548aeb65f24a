#include "runtime/kernels/reduce_loop.h"

/* Sums and products wrap in 64 bits and then in the type. */
#define WRAP(x) (int64_t)(x)
#define U(x) (uint64_t)(x)

#define EXTREMES(dtype, T, least, most) \
    VFK_REDUCE_TYPES(dtype, T, int64_t) \
    VFK_REDUCE(reduce_max, dtype, T, int64_t, least, a > v ? a : v, a > b ? a : b, a) \
    VFK_REDUCE(reduce_min, dtype, T, int64_t, most, a < v ? a : v, a < b ? a : b, a)

#define SUMS(dtype, T) \
    VFK_REDUCE(reduce_sum, dtype, T, int64_t, 0, WRAP(U(a) + U(v)), WRAP(U(a) + U(b)), a) \
    VFK_REDUCE(reduce_mean, dtype, T, int64_t, 0, WRAP(U(a) + U(v)), WRAP(U(a) + U(b)), \
               count ? a / count : 0) \
    VFK_REDUCE(reduce_prod, dtype, T, int64_t, 1, WRAP(U(a) * U(v)), WRAP(U(a) * U(b)), a) \
    VFK_REDUCE(reduce_l1, dtype, T, int64_t, 0, WRAP(U(a) + (v < 0 ? 0u - U(v) : U(v))), \
               WRAP(U(a) + U(b)), a) \
    VFK_REDUCE(reduce_sum_square, dtype, T, int64_t, 0, WRAP(U(a) + U(v) * U(v)), \
               WRAP(U(a) + U(b)), a)

EXTREMES(i32, int32_t, INT32_MIN, INT32_MAX)
EXTREMES(i64, int64_t, INT64_MIN, INT64_MAX)
EXTREMES(u8, uint8_t, 0, UINT8_MAX)
EXTREMES(i8, int8_t, INT8_MIN, INT8_MAX)
EXTREMES(bool, uint8_t, 0, 1)
SUMS(i32, int32_t)
SUMS(i64, int64_t)
VFK_REDUCE_TYPES(u64, uint64_t, uint64_t)
VFK_REDUCE(reduce_max, u64, uint64_t, uint64_t, 0, a > v ? a : v, a > b ? a : b, a)
VFK_REDUCE(reduce_min, u64, uint64_t, uint64_t, UINT64_MAX, a < v ? a : v, a < b ? a : b, a)
VFK_REDUCE(reduce_mean, u64, uint64_t, uint64_t, 0, a + v, a + b,
           count ? a / (uint64_t)count : 0)
