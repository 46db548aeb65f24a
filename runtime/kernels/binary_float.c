#include "runtime/kernels/binary_loop.h"

#define FLOATS(op, expr32, expr64) \
    VFK_BINARY_FAST(op, f32, float, expr32) \
    VFK_BINARY_FAST(op, f64, double, expr64)

FLOATS(add, p + q, p + q)
FLOATS(sub, p - q, p - q)
FLOATS(mul, p * q, p * q)
FLOATS(div, p / q, p / q)
/* A NaN on either side wins: comparisons with it are false. No branches, so | and not ||. */
FLOATS(min, ((p != p) | (p < q)) ? p : q, ((p != p) | (p < q)) ? p : q)
FLOATS(max, ((p != p) | (p > q)) ? p : q, ((p != p) | (p > q)) ? p : q)
FLOATS(prelu, p < 0.0f ? p * q : p, p < 0.0 ? p * q : p)
VFK_BINARY(fmod, f32, float, float, fmodf(p, q))
VFK_BINARY(fmod, f64, double, double, fmod(p, q))

/* p - floor(p / q) q, of the sign of q, a zero too. */
#define MOD(dtype, T, remainder, sign) \
    static T mod_##dtype(T p, T q) \
    { \
        const T r = remainder(p, q); \
        return r == (T)0 ? sign((T)0, q) : (r < (T)0) != (q < (T)0) ? r + q : r; \
    } \
    VFK_BINARY(mod, dtype, T, T, mod_##dtype(p, q))

MOD(f32, float, fmodf, copysignf)
MOD(f64, double, fmod, copysign)

/* The square root that pow(v, 1/2) is: -0 gives +0 and -inf gives +inf. */
#define POW_HALF(v, root, T) ((v) == -(T)INFINITY ? (T)INFINITY : root(v) + (T)0)

#define POW_ROW(dtype, T, root, power) \
    static void row_pow_##dtype(const void *a, int64_t stride_a, const void *b, \
                                int64_t stride_b, void *out, int64_t n) \
    { \
        const T *x = a, *exponent = b; \
        T *y = out; \
        const T e = stride_b == 0 ? *exponent : (T)NAN; \
        if (e == (T)2) { \
            for (int64_t i = 0; i < n; i++) { \
                const T v = x[i * stride_a]; \
                y[i] = v * v; \
            } \
        } else if (e == (T)3) { \
            for (int64_t i = 0; i < n; i++) { \
                const T v = x[i * stride_a]; \
                y[i] = v * v * v; \
            } \
        } else if (e == (T)0.5) { \
            for (int64_t i = 0; i < n; i++) { \
                const T v = x[i * stride_a]; \
                y[i] = POW_HALF(v, root, T); \
            } \
        } else if (e == (T)-0.5) { \
            for (int64_t i = 0; i < n; i++) { \
                const T v = x[i * stride_a]; \
                y[i] = (T)1 / POW_HALF(v, root, T); \
            } \
        } else { \
            for (int64_t i = 0; i < n; i++) { \
                const T v = x[i * stride_a]; \
                y[i] = e == (T)1    ? v \
                       : e == (T)-1 ? (T)1 / v \
                                    : power(v, exponent[i * stride_b]); \
            } \
        } \
    } \
    VFK_BINARY_KERNEL(pow, dtype, T, T)

POW_ROW(f32, float, sqrtf, powf)
POW_ROW(f64, double, sqrt, pow)
