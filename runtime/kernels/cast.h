/* Conversion between element types (ONNX Cast).
 *
 * Units: elements; for 4-bit types on either side, pairs of elements ((n + 1) / 2 units).
 * Kernels are named cast_FROM_TO:
 *
 *   any pair of  f32 f64 f16 bf16 bool u8 u16 u32 u64 i8 i16 i32 i64   (also FROM = TO)
 *   f32 with     f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz  both ways; other pairs go through f32
 *   u8 with u4, i8 with i4, f32 with u4 and i4         both ways; other pairs go through these
 *
 * To bool: true unless zero (NaN is true). Float to integer: toward zero; out-of-range values
 * clamp and NaN gives 0, where ONNX leaves both undefined. Integer to a narrower integer: the
 * low bits. To f16 and bf16: nearest, ties to even, overflow to infinity. To 8-bit floats:
 * nearest even; with `saturate` overflow and infinity go to the largest finite value, without
 * it to infinity or NaN as ONNX's table says. Float to 4-bit integers: with `saturate` nearest
 * even and clamped, as QuantizeLinear wants it; without it toward zero and then the low bits,
 * which is what Cast does in ONNX's tests.
 */
#ifndef VFK_CAST_H
#define VFK_CAST_H

#include "runtime/kernels/kernel.h"

typedef struct VfkCastParams {
    int64_t n;        /* elements of the whole operand */
    int64_t saturate; /* 8-bit floats and 4-bit integers only, see above */
} VfkCastParams;

#endif
