#include "runtime/kernels/binary_loop.h"

/* Arithmetic wraps: it is done in U, unsigned and at least as wide as int. */

static inline uint64_t power(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;
    for (; exponent; exponent >>= 1) {
        result *= exponent & 1 ? base : 1;
        base *= base;
    }
    return result;
}

/* A negative exponent: only 1 and -1 have an integer inverse, others truncate to 0. */
static inline int64_t power_signed(int64_t base, int64_t exponent)
{
    if (exponent >= 0) {
        return (int64_t)power((uint64_t)base, (uint64_t)exponent);
    }
    if (base == 1) {
        return 1;
    }
    return base == -1 ? (exponent & 1 ? -1 : 1) : 0;
}

/* Division by -1 is negation, which wraps for the lowest number instead of trapping. */
static inline int64_t quotient(int64_t p, int64_t q)
{
    if (q == -1) {
        return (int64_t)(0u - (uint64_t)p);
    }
    return q == 0 ? 0 : p / q;
}

static inline int64_t remainder_c(int64_t p, int64_t q)
{
    return q == 0 || q == -1 ? 0 : p % q;
}

static inline int64_t remainder_python(int64_t p, int64_t q)
{
    int64_t r = remainder_c(p, q);
    return r != 0 && (r < 0) != (q < 0) ? r + q : r;
}

#define COMMON(dtype, T, U) \
    VFK_BINARY_FAST(add, dtype, T, (T)((U)p + (U)q)) \
    VFK_BINARY_FAST(sub, dtype, T, (T)((U)p - (U)q)) \
    VFK_BINARY_FAST(mul, dtype, T, (T)((U)p * (U)q)) \
    VFK_BINARY(min, dtype, T, T, p < q ? p : q) \
    VFK_BINARY(max, dtype, T, T, p > q ? p : q)

#define UNSIGNED(dtype, T, U) \
    COMMON(dtype, T, U) \
    VFK_BINARY(div, dtype, T, T, q == 0 ? 0 : p / q) \
    VFK_BINARY(mod, dtype, T, T, q == 0 ? 0 : p % q) \
    VFK_BINARY(fmod, dtype, T, T, q == 0 ? 0 : p % q) \
    VFK_BINARY(pow, dtype, T, T, power(p, q))

#define SIGNED(dtype, T, U) \
    COMMON(dtype, T, U) \
    VFK_BINARY(div, dtype, T, T, quotient(p, q)) \
    VFK_BINARY(mod, dtype, T, T, remainder_python(p, q)) \
    VFK_BINARY(fmod, dtype, T, T, remainder_c(p, q)) \
    VFK_BINARY(pow, dtype, T, T, power_signed(p, q))

UNSIGNED(u8, uint8_t, uint32_t)
UNSIGNED(u16, uint16_t, uint32_t)
UNSIGNED(u32, uint32_t, uint32_t)
UNSIGNED(u64, uint64_t, uint64_t)
SIGNED(i8, int8_t, uint32_t)
SIGNED(i16, int16_t, uint32_t)
SIGNED(i32, int32_t, uint32_t)
SIGNED(i64, int64_t, uint64_t)
