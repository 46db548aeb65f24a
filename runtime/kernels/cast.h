/* Conversion between element types (ONNX Cast).
 *
 * Units: elements; for types below 8 bits on either side, bytes of these: 2 elements of 4 bits
 * ((n + 1) / 2 units), 4 elements of 2 bits ((n + 3) / 4 units).
 * Kernels are named cast_FROM_TO:
 *
 *   any pair of  f32 f64 f16 bf16 bool u8 u16 u32 u64 i8 i16 i32 i64   (also FROM = TO)
 *   f32 with     f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz  both ways; other pairs go through f32
 *   f32 with     f4e2m1 f8e8m0                         both ways; other pairs go through f32
 *   u8 with u4 u2, i8 with i4 i2, f32 with all four    both ways; other pairs go through these
 *
 * To bool: true unless zero (NaN is true). Float to integer: toward zero; out-of-range values
 * clamp and NaN gives 0, where ONNX leaves both undefined. Integer to a narrower integer: the
 * low bits. To f16 and bf16: nearest, ties to even, overflow to infinity. To 8-bit floats:
 * nearest even; with `saturate` overflow and infinity go to the largest finite value, without
 * it to infinity or NaN as ONNX's table says. Float to 4-bit and 2-bit integers: with `saturate`
 * nearest even and clamped, as QuantizeLinear wants it; without it toward zero and then the low
 * bits, which is what Cast does in ONNX's tests. To f4e2m1: nearest even, overflow and infinity
 * to +-6, NaN to -0. To f8e8m0: the power of two that `rounding` says; with `saturate` what lies
 * outside of its range becomes the nearest end, without it NaN; NaN stays; of a negative number,
 * which ONNX leaves undefined, the magnitude.
 */
#ifndef VFK_CAST_H
#define VFK_CAST_H

#include "runtime/kernels/kernel.h"

/* Of what lies between two powers of two; NEAREST: from the middle on up. */
typedef enum VfkCastRounding { VFK_CAST_UP, VFK_CAST_DOWN, VFK_CAST_NEAREST } VfkCastRounding;

typedef struct VfkCastParams {
    int64_t n;        /* elements of the whole operand */
    int64_t saturate; /* 8-bit floats and narrow integers only, see above */
    int64_t rounding; /* VfkCastRounding; f8e8m0 only */
} VfkCastParams;

#endif
