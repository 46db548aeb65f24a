#include "runtime/kernels/map_loop.h"

/* Arithmetic is done in U, the unsigned type of the same width or wider, so that it wraps. */
#define UNSIGNED(dtype, T, most) \
    VFK_MAP(abs, dtype, T, v) \
    VFK_MAP(sign, dtype, T, (T)(v != 0)) \
    VFK_MAP(bitwise_not, dtype, T, (T)~v) \
    VFK_MAP_CLIP(dtype, T, 0, most)

#define SIGNED(dtype, T, U, least, most) \
    VFK_MAP(abs, dtype, T, (T)(v < 0 ? (U)0 - (U)v : (U)v)) \
    VFK_MAP(sign, dtype, T, (T)((v > 0) - (v < 0))) \
    VFK_MAP(bitwise_not, dtype, T, (T)~v) \
    VFK_MAP(neg, dtype, T, (T)((U)0 - (U)v)) \
    VFK_MAP(relu, dtype, T, v < 0 ? (T)0 : v) \
    VFK_MAP_CLIP(dtype, T, least, most)

UNSIGNED(u8, uint8_t, UINT8_MAX)
UNSIGNED(u16, uint16_t, UINT16_MAX)
UNSIGNED(u32, uint32_t, UINT32_MAX)
UNSIGNED(u64, uint64_t, UINT64_MAX)
SIGNED(i8, int8_t, uint32_t, INT8_MIN, INT8_MAX)
SIGNED(i16, int16_t, uint32_t, INT16_MIN, INT16_MAX)
SIGNED(i32, int32_t, uint32_t, INT32_MIN, INT32_MAX)
SIGNED(i64, int64_t, uint64_t, INT64_MIN, INT64_MAX)
