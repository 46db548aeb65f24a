#include "runtime/kernels/binary_loop.h"

#define BITS(dtype, T) \
    VFK_BINARY(bitwise_and, dtype, T, T, p & q) \
    VFK_BINARY(bitwise_or, dtype, T, T, p | q) \
    VFK_BINARY(bitwise_xor, dtype, T, T, p ^ q)

/* The shifted value is widened, so that narrow types are not shifted as signed int. */
#define SHIFTS(dtype, T) \
    VFK_BINARY(shift_left, dtype, T, T, q >= 8 * sizeof(T) ? 0 : (uint64_t)p << q) \
    VFK_BINARY(shift_right, dtype, T, T, q >= 8 * sizeof(T) ? 0 : (uint64_t)p >> q)

BITS(u8, uint8_t)
BITS(u16, uint16_t)
BITS(u32, uint32_t)
BITS(u64, uint64_t)
BITS(i8, int8_t)
BITS(i16, int16_t)
BITS(i32, int32_t)
BITS(i64, int64_t)
SHIFTS(u8, uint8_t)
SHIFTS(u16, uint16_t)
SHIFTS(u32, uint32_t)
SHIFTS(u64, uint64_t)
VFK_BINARY(and, bool, uint8_t, uint8_t, p && q)
VFK_BINARY(or, bool, uint8_t, uint8_t, p || q)
VFK_BINARY(xor, bool, uint8_t, uint8_t, !p != !q)
