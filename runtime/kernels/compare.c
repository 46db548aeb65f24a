#include "runtime/kernels/binary_loop.h"

#define COMPARE(dtype, T) \
    VFK_BINARY(equal, dtype, T, uint8_t, p == q) \
    VFK_BINARY(less, dtype, T, uint8_t, p < q) \
    VFK_BINARY(less_equal, dtype, T, uint8_t, p <= q) \
    VFK_BINARY(greater, dtype, T, uint8_t, p > q) \
    VFK_BINARY(greater_equal, dtype, T, uint8_t, p >= q)

COMPARE(f32, float)
COMPARE(f64, double)
COMPARE(u8, uint8_t)
COMPARE(u16, uint16_t)
COMPARE(u32, uint32_t)
COMPARE(u64, uint64_t)
COMPARE(i8, int8_t)
COMPARE(i16, int16_t)
COMPARE(i32, int32_t)
COMPARE(i64, int64_t)
VFK_BINARY(equal, bool, uint8_t, uint8_t, !p == !q)
