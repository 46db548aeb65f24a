/* Elementwise functions of two operands with broadcasting.
 *
 * out[i] = f(a[i . stride_a], b[i . stride_b]) for every index i below dim; out is contiguous.
 * Units: elements of out in row-major order. Kernels are named after the operands' dtype.
 *
 *   add sub mul div pow min max   f32 f64 u8 u16 u32 u64 i8 i16 i32 i64
 *   mod                           f32 f64 and integers; the sign of the divisor (Python)
 *   fmod                          f32 f64 and integers; the sign of the dividend (C)
 *   prelu                         f32 f64; b is the slope
 *   and or xor                    bool
 *   equal                         all numbers and bool; result bool
 *   less less_equal greater greater_equal
 *                                 all numbers; result bool
 *   bitwise_and bitwise_or bitwise_xor
 *                                 integers
 *   shift_left shift_right        u8 u16 u32 u64; a shift of the width or more gives 0
 *
 * Integers wrap. Integer division truncates toward zero; dividing by 0 gives 0, and so do mod
 * and fmod of integers by 0. Integer pow with a negative exponent truncates 1 / a^-b, and 0 to a
 * negative power is 0. min and max give NaN if either operand is. pow in f32 is within 2 units of
 * the last place; a scalar exponent of 2, 3, 0.5, -0.5, 1 or -1 is computed by products and sqrt.
 *
 * All may run in place (out[0] is in[0]) when operand a is contiguous, but those with a bool
 * result of wider operands.
 */
#ifndef VFK_BINARY_H
#define VFK_BINARY_H

#include "runtime/kernels/kernel.h"

/* Lowering merges neighbouring axes where both operands allow; the fewer the faster. Fast when
 * the last axis has strides (1,1), (1,0) or (0,1). */
typedef struct VfkBinaryParams {
    int64_t rank;                  /* 0 for one element */
    int64_t dim[VFK_MAX_RANK];     /* of the result; entries from `rank` on are not read */
    int64_t stride_a[VFK_MAX_RANK]; /* in elements, 0 where broadcast */
    int64_t stride_b[VFK_MAX_RANK];
} VfkBinaryParams;

#endif
