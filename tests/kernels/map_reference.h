/* What the elementwise kernels compute, in double. alpha is 1.5 and beta 0.25. */
#ifndef VF_TESTS_MAP_REFERENCE_H
#define VF_TESTS_MAP_REFERENCE_H

#include <math.h>

static inline double ref_neg(double v) { return -v; }
static inline double ref_sign(double v) { return v != v ? v : (v > 0) - (v < 0); }
static inline double ref_relu(double v) { return v < 0 ? 0 : v; }
static inline double ref_reciprocal(double v) { return 1 / v; }
static inline double ref_sigmoid(double v)
{
    return v < 0 ? exp(v) / (1 + exp(v)) : 1 / (1 + exp(-v));
}

static inline double ref_gelu(double v) { return 0.5 * v * erfc(-v / sqrt(2.0)); }
static inline double ref_softplus(double v) { return v > 0 ? v + log1p(exp(-v)) : log1p(exp(v)); }
static inline double ref_softsign(double v) { return v / (1 + fabs(v)); }
static inline double ref_silu(double v) { return v * ref_sigmoid(1.5 * v); }
static inline double ref_mish(double v) { return v * tanh(ref_softplus(v)); }
static inline double ref_leaky(double v) { return v < 0 ? 1.5 * v : v; }
static inline double ref_elu(double v) { return v < 0 ? 1.5 * expm1(v) : v; }
static inline double ref_selu(double v) { return 0.25 * (v > 0 ? v : 1.5 * expm1(v)); }
static inline double ref_celu(double v) { return v < 0 ? 1.5 * expm1(v / 1.5) : v; }
static inline double ref_thresholded(double v) { return v > 1.5 ? v : 0; }
static inline double ref_affine(double v) { return 1.5 * v + 0.25; }
static inline double ref_shrink(double v) { return v < -1.5 ? v + 0.25 : v > 1.5 ? v - 0.25 : 0; }
static inline double clamp01(double v) { return v < 0 ? 0 : v > 1 ? 1 : v; }
static inline double ref_hard_sigmoid(double v) { return clamp01(1.5 * v + 0.25); }
static inline double ref_hard_swish(double v) { return v * clamp01(v / 6 + 0.5); }

static inline double ref_gelu_tanh(double v)
{
    return 0.5 * v * (1 + tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v)));
}

/* The place value of the last bit of `x` as a float. */
static inline double last_place(double x)
{
    int exponent;
    frexp(x, &exponent);
    return ldexp(1.0, exponent - 24 < -149 ? -149 : exponent - 24);
}

#endif
