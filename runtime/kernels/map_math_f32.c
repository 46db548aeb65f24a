#include "runtime/kernels/map_loop.h"
#include "runtime/kernels/vecmath.h"

#define MAP(op, expr) VFK_MAP(op, f32, float, expr)

MAP(exp, vfk_exp(v))
MAP(log, vfk_log(v))
MAP(sigmoid, vfk_sigmoid(v))
MAP(tanh, vfk_tanh(v))
MAP(erf, vfk_erf(v))
MAP(gelu, vfk_gelu(v))
MAP(gelu_tanh, vfk_gelu_tanh(v))
MAP(silu, v * vfk_sigmoid(a * v))
MAP(softplus, vfk_softplus(v))
MAP(mish, vfk_mish(v))
MAP(elu, v < 0.0f ? a * vfk_expm1_negative(v) : v)
MAP(selu, b * (v > 0.0f ? v : a * vfk_expm1_negative(v)))
MAP(celu, v < 0.0f ? a * vfk_expm1_negative(v / a) : v)
