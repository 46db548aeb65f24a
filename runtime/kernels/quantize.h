/* QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
 *
 * Operands have the shape outer x n x inner; the scale and zero point of element (o, a, i) are at
 *     o * scale_outer + (a / block) * scale_axis + i * scale_inner.
 * Per tensor: all three strides 0. Per axis: scale_axis 1, block 1, outer and inner strides 0.
 * Blocked: outer stride (n / block rounded up) * inner, axis stride inner, inner stride 1.
 * Units: rows, outer * n.
 *
 *   quantize_f32_u8 i8 u16 i16          in: x, scale, zero point (may be NULL, then 0):
 *                                       saturate(round_half_even(x / scale) + zero)
 *   dequantize_u8_f32 i8 u16 i16 i32    in: q, scale, zero point (may be NULL):
 *                                       (q - zero) * scale
 *   dynamic_quantize_f32                VfkDynamicQuantizeParams; in: x; out: y (u8), scale
 *                                       (f32), zero point (u8). Units: 1
 */
#ifndef VFK_QUANTIZE_H
#define VFK_QUANTIZE_H

#include "runtime/kernels/kernel.h"

typedef struct VfkQuantizeParams {
    int64_t outer;
    int64_t n;
    int64_t inner;
    int64_t block; /* at least 1 */
    int64_t scale_outer;
    int64_t scale_axis;
    int64_t scale_inner;
} VfkQuantizeParams;

typedef struct VfkDynamicQuantizeParams {
    int64_t n;
} VfkDynamicQuantizeParams;

#endif
