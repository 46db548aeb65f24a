/* Softmax of rows of scores, in panels. Internal to runtime/kernels.
 *
 * A row is whole panels, of which the last is filled up with -inf: soft_fill does it.
 */
#ifndef VFK_ATTENTION_SOFT_H
#define VFK_ATTENTION_SOFT_H

#include "runtime/kernels/panel.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* a > b ? a : b in each lane. */
static inline Vector_f32 soft_greater(Vector_f32 a, Vector_f32 b)
{
#if defined(__AVX512F__)
    return (Vector_f32)_mm512_max_ps(a, b);
#elif defined(__AVX__)
    return (Vector_f32)_mm256_max_ps(a, b);
#elif defined(__SSE2__)
    return (Vector_f32)_mm_max_ps(a, b);
#else
    typedef int32_t Mask __attribute__((vector_size(VFK_VECTOR_BYTES)));
    const Mask is = a > b;
    return (Vector_f32)((is & (Mask)a) | (~is & (Mask)b));
#endif
}

/* exp of d <= 0; NaN stays NaN. 0 below -87: numbers below the normal ones, as of masks of -100,
 * make products slow. d log2 e = n + r with |r| <= 1/2; the polynomial, the least-maximum fit of
 * 2^r that is 1 at 0, is doubled, and 2^(n - 1) has the bits of 0 from n = -126 on. Adding
 * 1.5 * 2^23 rounds to an integer, which is then in the low bits, with the exponent's 126. */
static inline Vector_f32 soft_exp_lanes(Vector_f32 d)
{
    typedef uint32_t Bits __attribute__((vector_size(VFK_VECTOR_BYTES)));
    const Vector_f32 zero = {0.0f}, least = zero - 87.4f, log2_e = zero + 1.44269504f;
    const Vector_f32 magic = zero + (12582912.0f + 126.0f);
    const Vector_f32 t = soft_greater(least, d);
    const Vector_f32 shifted = VFK_MADD_f32(t, log2_e, magic);
    const Vector_f32 r = VFK_MADD_f32(t, log2_e, magic - shifted);
    Vector_f32 y = VFK_MADD_f32(zero + 0.000307067239f, r, zero + 0.00267977477f);
    y = VFK_MADD_f32(y, r, zero + 0.0192368738f);
    y = VFK_MADD_f32(y, r, zero + 0.111006647f);
    y = VFK_MADD_f32(y, r, zero + 0.480452955f);
    y = VFK_MADD_f32(y, r, zero + 1.38629436f);
    y = VFK_MADD_f32(y, r, zero + 2.0f);
    return y * (Vector_f32)((Bits)shifted << 23);
}

/* Fill up a row of `n` scores; there must be room for a panel more. */
static inline void soft_fill(float *s, int64_t n)
{
    const Panel zero = {{{0.0f}}};
    for (int i = 0; i < PANEL_PARTS; i++) {
        const Vector_f32 masked = zero.part[i] - INFINITY;
        memcpy(s + n + i * LANES_f32, &masked, sizeof masked);
    }
}

/* The greatest of each lane. NaN may be passed over: exponentials bring it back. */
static inline Panel soft_greatest(const float *s, int64_t n)
{
    Panel most = panel_load(s);
    for (int64_t j = PANEL_f32; j < n; j += PANEL_f32) {
        const Panel x = panel_load(s + j);
        for (int i = 0; i < PANEL_PARTS; i++) {
            most.part[i] = soft_greater(most.part[i], x.part[i]);
        }
    }
    return most;
}

/* s = exp(s - most); the sum of each lane. */
static inline Panel soft_exp(float *s, int64_t n, float most)
{
    Panel sum = {{{0.0f}}};
    for (int64_t j = 0; j < n; j += PANEL_f32) {
        Panel x = panel_load(s + j);
        for (int i = 0; i < PANEL_PARTS; i++) {
            x.part[i] = soft_exp_lanes(x.part[i] - most);
            sum.part[i] += x.part[i];
        }
        memcpy(s + j, &x, sizeof x);
    }
    return sum;
}

/* --- lanes merged --- */

typedef int32_t SoftMask8 __attribute__((vector_size(32)));
typedef int32_t SoftMask4 __attribute__((vector_size(16)));

/* The greater of each lane; b where one is NaN. */
#define SOFT_GREATER(V, M, a, b) ((V)((((a) > (b)) & (M)(a)) | (~((a) > (b)) & (M)(b))))

static inline float soft_greatest_lane(const Panel *most)
{
    PanelHalf half[2];
    memcpy(half, most, sizeof half);
    half[0] = SOFT_GREATER(PanelHalf, SoftMask8, half[0], half[1]);
    PanelQuarter quarter[2];
    memcpy(quarter, half, sizeof quarter);
    quarter[0] = SOFT_GREATER(PanelQuarter, SoftMask4, quarter[0], quarter[1]);
    const float a = quarter[0][0] > quarter[0][2] ? quarter[0][0] : quarter[0][2];
    const float b = quarter[0][1] > quarter[0][3] ? quarter[0][1] : quarter[0][3];
    return a > b ? a : b;
}

#endif
