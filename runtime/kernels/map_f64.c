#include "runtime/kernels/map_loop.h"

#define MAP(op, expr) VFK_MAP(op, f64, double, expr)

static inline double clamp01_f64(double v)
{
    double t = v < 0.0 ? 0.0 : v;
    return t > 1.0 ? 1.0 : t;
}

static double sigmoid(double v)
{
    double e = exp(-fabs(v));
    return v < 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
}

static double softplus(double v)
{
    return v != v ? v : fmax(v, 0.0) + log1p(exp(-fabs(v)));
}

static double gelu_tanh(double v)
{
    const double sqrt_2_over_pi = 0.79788456080286535588;
    return 0.5 * v * (1.0 + tanh(sqrt_2_over_pi * (v + 0.044715 * v * v * v)));
}

MAP(abs, fabs(v))
MAP(neg, -v)
MAP(sign, v > 0.0 ? 1.0 : v < 0.0 ? -1.0 : v != v ? v : 0.0)
MAP(relu, v < 0.0 ? 0.0 : v)
MAP(exp, exp(v))
MAP(log, log(v))
MAP(sqrt, sqrt(v))
MAP(reciprocal, 1.0 / v)
MAP(floor, floor(v))
MAP(ceil, ceil(v))
MAP(round, rint(v))
MAP(sin, sin(v))
MAP(cos, cos(v))
MAP(tan, tan(v))
MAP(asin, asin(v))
MAP(acos, acos(v))
MAP(atan, atan(v))
MAP(sinh, sinh(v))
MAP(cosh, cosh(v))
MAP(asinh, asinh(v))
MAP(acosh, acosh(v))
MAP(atanh, atanh(v))
MAP(sigmoid, sigmoid(v))
MAP(tanh, tanh(v))
MAP(erf, erf(v))
MAP(gelu, 0.5 * v * (1.0 + erf(v * 0.70710678118654752440)))
MAP(gelu_tanh, gelu_tanh(v))
MAP(silu, v * sigmoid(a * v))
MAP(softplus, softplus(v))
MAP(mish, v * tanh(softplus(v)))
MAP(softsign, v / (1.0 + fabs(v)))
MAP(hard_swish, v * clamp01_f64(v * (1.0 / 6.0) + 0.5))
MAP(leaky_relu, v < 0.0 ? a * v : v)
MAP(elu, v < 0.0 ? a * expm1(v) : v)
MAP(selu, b * (v > 0.0 ? v : a * expm1(v)))
MAP(celu, v < 0.0 ? a * expm1(v / a) : v)
MAP(thresholded_relu, v > a ? v : 0.0)
MAP(hard_sigmoid, clamp01_f64(a * v + b))
MAP(shrink, v < -a ? v + b : v > a ? v - b : 0.0)
MAP(affine, a * v + b)
VFK_MAP_CLIP(f64, double, (double)-INFINITY, (double)INFINITY)
