/* Elementwise functions of one operand.
 *
 * y[i] = f(x[i]); both contiguous. Units: elements. Kernels are named OP_DTYPE after the dtype
 * of the operand; all may run in place but isnan and isinf, whose result is bool.
 *
 *   abs neg sign            f32 f64 i8 i16 i32 i64, abs and sign also u8 u16 u32 u64
 *   not                     bool
 *   bitwise_not             u8 u16 u32 u64 i8 i16 i32 i64
 *   clip                    f32 f64 and all integers; in[1] is the least value, in[2] the
 *                           greatest, one element each, either may be NULL; where they cross,
 *                           in[2] wins; a NaN element stays NaN
 *   relu                    f32 f64 i8 i16 i32 i64
 *   exp log sqrt reciprocal floor ceil round sin cos tan asin acos atan sinh cosh asinh acosh
 *   atanh sigmoid tanh erf gelu gelu_tanh softplus mish softsign hard_swish
 *   silu(alpha) leaky_relu(alpha) elu(alpha) selu(alpha, beta) celu(alpha)
 *   thresholded_relu(alpha) hard_sigmoid(alpha, beta) shrink(alpha, beta) affine(alpha, beta)
 *                           f32 f64
 *   isnan isinf(alpha, beta)
 *                           f32 f64, result bool
 *
 * exp log sigmoid tanh erf gelu gelu_tanh silu softplus mish elu selu celu of f32 have the variants
 * fma3, fma4 and neon, too: their polynomials with fused multiply-adds.
 *
 * Meaning of the constants, as ONNX has them:
 *   silu           x * sigmoid(alpha * x): alpha 1 for plain SiLU, 1.702 for quick GELU
 *   leaky_relu     alpha * x below 0
 *   elu            alpha * (exp(x) - 1) below 0
 *   selu           alpha = alpha, beta = gamma of the ONNX operator
 *   celu           max(0, x) + min(0, alpha * (exp(x / alpha) - 1))
 *   thresholded_relu  x where x > alpha, else 0
 *   hard_sigmoid   max(0, min(1, alpha * x + beta)); hard_swish is x * hard_sigmoid with 1/6, 1/2
 *   shrink         alpha = lambd, beta = bias
 *   affine         alpha * x + beta, computed in the dtype
 *   isinf          alpha != 0: detect -inf; beta != 0: detect +inf
 * round is half to even. gelu is the erf form, gelu_tanh the tanh form.
 *
 * Accuracy in f32, in units of the last place of the exact result, held by a test: exp, log 2;
 * tanh, sigmoid, softplus 4; erf 8. gelu is within 1e-5 relative for |x| < 6 and 1e-7 absolute
 * plus 4 units; gelu_tanh, silu, mish and elu and its like within 8 units or 5e-7 absolute,
 * whichever is larger. The others are as libm gives them; f64 is libm throughout. A NaN gives a
 * NaN; which one is not defined.
 */
#ifndef VFK_MAP_H
#define VFK_MAP_H

#include "runtime/kernels/kernel.h"

typedef struct VfkMapParams {
    int64_t n;    /* elements of the whole operand */
    double alpha; /* see above; 0 where unused */
    double beta;
} VfkMapParams;

#endif
