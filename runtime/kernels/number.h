/* Single elements of any numeric dtype, to and from double and int64.
 *
 * Data is little endian as tensors keep it and may be unaligned. Narrow floats are described
 * by a table of their formats, so one pair of functions converts all of them exactly. A dtype
 * without elements of fixed size (unknown, strings) has no bits: they read as zero, and nothing is
 * stored.
 *
 * Source: IEEE 754 binary16, bfloat16, and the float8/float4 formats of the ONNX documents.
 */
#ifndef VFK_NUMBER_H
#define VFK_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/kernels/dtype.h"

/* Bits of element `i`, low bits first; for complex numbers those of the real part. */
uint64_t vf_number_bits(const void *data, VfDtype dtype, size_t i);

/* Store the low bits of `bits` as element `i`. Complex: the real part, the imaginary part stays. */
void vf_number_put_bits(void *data, VfDtype dtype, size_t i, uint64_t bits);

/* The value of an element with these bits; exact but for 64-bit integers. */
double vf_number_value(VfDtype dtype, uint64_t bits);

/* The value of element `i`, the imaginary part of a complex one: 0 for all other dtypes. */
double vf_number_at(const void *data, VfDtype dtype, size_t i);
double vf_number_imaginary_at(const void *data, VfDtype dtype, size_t i);

/* The bits of `value` in `dtype`: nearest, ties to even. Integers saturate, NaN becomes 0; floats
 * of 8 bits and fewer saturate at their largest finite number, wider ones become infinite. */
uint64_t vf_number_encode(VfDtype dtype, double value);

/* The bits of an infinity; false if the dtype has none. */
bool vf_number_infinity(VfDtype dtype, bool is_negative, uint64_t *bits);

/* Floating point of any width. */
bool vf_number_is_float(VfDtype dtype);

/* Floats and the parts of complex numbers: bits of the significand with the leading one, and the
 * least exponent of a normal number. False for others. */
bool vf_number_precision(VfDtype dtype, int *bits, int *min_exponent);

#endif
