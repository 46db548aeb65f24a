/* Transcendental functions of floats as straight-line code that compilers turn into vector
 * loops. Internal to runtime/kernels; error bounds are in map.h.
 *
 * Nothing here branches or calls, and what is fused is written so, not left to the compiler: the
 * bits are the same in scalar and vector code of every instruction set, and the same once more in
 * all that have VFK_FMA defined, whose multiply-adds are fused. Polynomials are least-maximum fits
 * made for the ranges named beside them.
 */
#ifndef VFK_VECMATH_H
#define VFK_VECMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* a b + c. */
#ifdef VFK_FMA
#define VFK_MADD_S(a, b, c) __builtin_fmaf((a), (b), (c))
#else
#define VFK_MADD_S(a, b, c) ((a) * (b) + (c))
#endif

static inline uint32_t vfk_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float vfk_from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The magnitude of `x` with the sign of `sign`. */
static inline float vfk_with_sign(float x, float sign)
{
    return vfk_from_bits((vfk_bits(x) & 0x7fffffffu) | (vfk_bits(sign) & 0x80000000u));
}

static inline float vfk_clamp01(float x)
{
    float t = x < 0.0f ? 0.0f : x;
    return t > 1.0f ? 1.0f : t;
}

/* exp: x = n ln 2 + r, |r| <= 0.3466. Adding and subtracting 1.5 * 2^23 rounds to an integer,
 * whose bits are the low bits of the sum. The power of two is applied in two factors, so that
 * results below the smallest normal number are rounded once and overflow is at the right place. */
static inline float vfk_exp(float x)
{
    const float magic = 12582912.0f;
    float t = x > 89.0f ? 89.0f : x;
    t = x < -105.0f ? -105.0f : t;
    float shifted = VFK_MADD_S(t, 1.44269504f, magic);
    float n = shifted - magic;
    float r = VFK_MADD_S(n, 2.12194440e-4f, VFK_MADD_S(n, -0.693359375f, t));
    float q = 0.00139508082f;
    q = VFK_MADD_S(q, r, 0.00836907327f);
    q = VFK_MADD_S(q, r, 0.0416662022f);
    q = VFK_MADD_S(q, r, 0.166665167f);
    q = VFK_MADD_S(q, r, 0.5f);
    q = VFK_MADD_S(q, r, 1.0f);
    float p = VFK_MADD_S(q, r, 1.0f);
    /* 2^n = 2^(n1 - 127) * 2^(n2 - 127) with both exponents biased and in range. */
    uint32_t biased = vfk_bits(shifted) - vfk_bits(magic) + 254u;
    uint32_t half = (biased >> 1) & 0xffu;
    float s1 = vfk_from_bits(half << 23);
    float s2 = vfk_from_bits((biased - half) << 23);
    return p * s1 * s2;
}

/* exp(x) - 1 for x <= 0. */
static inline float vfk_expm1_negative(float x)
{
    float t = x < -0.7f ? -0.7f : x;
    float q = 0.000147314742f;
    q = VFK_MADD_S(q, t, 0.0013432547f);
    q = VFK_MADD_S(q, t, 0.00831273012f);
    q = VFK_MADD_S(q, t, 0.0416619144f);
    q = VFK_MADD_S(q, t, 0.166666165f);
    q = VFK_MADD_S(q, t, 0.49999997f);
    float near = VFK_MADD_S(t * t, q, t);
    float far = vfk_exp(x) - 1.0f;
    return x < -0.6f ? far : near;
}

/* log: x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), s = f / (2 + f), and
 * log(1 + f) = f - f^2/2 + s (f^2/2 + s^2 R(s^2)). */
static inline float vfk_log(float x)
{
    int small = x < 1.17549435e-38f;
    float scaled = small ? x * 8388608.0f : x;
    uint32_t bits = vfk_bits(scaled) - 0x3f3504f3u;
    float k = (float)((int32_t)(bits >> 23) - (int32_t)((bits >> 31) * 512u));
    k = small ? k - 23.0f : k;
    float f = vfk_from_bits((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    float s = f / (2.0f + f);
    float z = s * s;
    float r = 0.235821486f;
    r = VFK_MADD_S(r, z, 0.285373092f);
    r = VFK_MADD_S(r, z, 0.400003344f);
    r = VFK_MADD_S(r, z, 0.666666627f);
    r = r * z;
    float half = 0.5f * f * f;
    float low = VFK_MADD_S(k, -2.12194440e-4f, s * (half + r));
    float y = VFK_MADD_S(k, 0.693359375f, f - (half - low));
    y = x > 3.40282347e38f ? x : y;
    y = x == 0.0f ? -INFINITY : y;
    y = x < 0.0f ? NAN : y;
    return x != x ? x : y;
}

/* log(1 + e) for 0 <= e <= 1: the rounding error of 1 + e is put back. */
static inline float vfk_log1p_unit(float e)
{
    float u = 1.0f + e;
    return vfk_log(u) + (e - (u - 1.0f)) / u;
}

/* erf: x P(x^2) / Q(x^2) below 3.92, from where on it is 1. One division costs less than the
 * exponential of the usual tail. */
static inline float vfk_erf(float x)
{
    float t = x > 3.92f ? 3.92f : x;
    t = t < -3.92f ? -3.92f : t;
    float z = t * t;
    float p = 2.05009815e-06f;
    p = VFK_MADD_S(p, z, 0.000284883281f);
    p = VFK_MADD_S(p, z, 0.00376561005f);
    p = VFK_MADD_S(p, z, 0.0527487025f);
    p = VFK_MADD_S(p, z, 0.190406203f);
    p = VFK_MADD_S(p, z, 1.12837911f);
    float q = 3.80918573e-05f;
    q = VFK_MADD_S(q, z, 0.00116253528f);
    q = VFK_MADD_S(q, z, 0.0149692008f);
    q = VFK_MADD_S(q, z, 0.114109017f);
    q = VFK_MADD_S(q, z, 0.502075851f);
    q = VFK_MADD_S(q, z, 1.0f);
    float y = t * p / q;
    y = y > 1.0f ? 1.0f : y;
    return y < -1.0f ? -1.0f : y;
}

static inline float vfk_tanh(float x)
{
    float a = fabsf(x);
    float t = a > 0.65f ? 0.65f : a;
    float z = t * t;
    float p = -0.00545350276f;
    p = VFK_MADD_S(p, z, 0.0204129238f);
    p = VFK_MADD_S(p, z, -0.0536705367f);
    p = VFK_MADD_S(p, z, 0.133306235f);
    p = VFK_MADD_S(p, z, -0.333332539f);
    float near = VFK_MADD_S(t, z * p, t);
    float far = 1.0f - 2.0f / (vfk_exp(2.0f * a) + 1.0f);
    float y = vfk_with_sign(a > 0.65f ? far : near, x);
    return x != x ? x : y;
}

static inline float vfk_sigmoid(float x)
{
    float e = vfk_exp(-fabsf(x));
    float r = 1.0f / (1.0f + e);
    float y = x < 0.0f ? e * r : r;
    return x != x ? x : y;
}

/* x Phi(x). The lower tail of the normal distribution is 1 / (2 (1 + p)^16) with a polynomial p in
 * |x|, which keeps small results accurate where 1 + erf would cancel. Even and odd powers are two
 * chains, half as long as one; both end in a positive coefficient, so p grows without end and the
 * tail ends in 0. (1 + p)^2 - 1 is computed as p (p + 2), which does not round p's last bits away.
 */
static inline float vfk_gelu(float x)
{
    float a = fabsf(x);
    float z = a * a;
    float even = 8.96708471e-11f;
    even = VFK_MADD_S(even, z, -2.04069348e-08f);
    even = VFK_MADD_S(even, z, -2.14024226e-06f);
    even = VFK_MADD_S(even, z, 4.66643251e-05f);
    even = VFK_MADD_S(even, z, 0.00328676077f);
    even = VFK_MADD_S(even, z, 0.049867861f);
    float odd = 3.72564841e-07f;
    odd = VFK_MADD_S(odd, z, 1.01237265e-05f);
    odd = VFK_MADD_S(odd, z, 3.17027989e-05f);
    odd = VFK_MADD_S(odd, z, 0.02113696f);
    float p = a * VFK_MADD_S(odd, a, even);
    p = p * (p + 2.0f);
    p = p * (p + 2.0f);
    float eighth = VFK_MADD_S(p, p + 2.0f, 1.0f);
    float tail = 0.5f / (eighth * eighth);
    return x * (x < 0.0f ? tail : 1.0f - tail);
}

/* x (1 + tanh u) / 2 = x sigmoid(2u), which does not cancel for negative u. */
static inline float vfk_gelu_tanh(float x)
{
    float twice = 1.59576917f * VFK_MADD_S(0.0447149985f, x * x * x, x);
    return x * vfk_sigmoid(twice);
}

static inline float vfk_softplus(float x)
{
    float most = x > 0.0f ? x : 0.0f;
    float y = most + vfk_log1p_unit(vfk_exp(-fabsf(x)));
    return x != x ? x : y;
}

/* x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2); 1 for large x in float. */
static inline float vfk_mish(float x)
{
    float e = vfk_exp(x > 20.0f ? 20.0f : x);
    float n = e * (e + 2.0f);
    float y = x * (n / (n + 2.0f));
    return x > 20.0f ? x : y;
}

#endif
