#include "runtime/kernels/half.h"
#include "runtime/kernels/variant.h"

/* Toward zero, clamped; NaN gives 0. The bounds are the first doubles outside the type. */
#define CLAMP(name, T, below, above, least, most) \
    static inline T name(double x) \
    { \
        return x != x ? 0 : x <= (below) ? (least) : x >= (above) ? (most) : (T)x; \
    }

CLAMP(clamp_u8, uint8_t, -1.0, 256.0, 0, UINT8_MAX)
CLAMP(clamp_u16, uint16_t, -1.0, 65536.0, 0, UINT16_MAX)
CLAMP(clamp_u32, uint32_t, -1.0, 4294967296.0, 0, UINT32_MAX)
CLAMP(clamp_u64, uint64_t, -1.0, 18446744073709551616.0, 0, UINT64_MAX)
CLAMP(clamp_i8, int8_t, -129.0, 128.0, INT8_MIN, INT8_MAX)
CLAMP(clamp_i16, int16_t, -32769.0, 32768.0, INT16_MIN, INT16_MAX)
CLAMP(clamp_i32, int32_t, -2147483649.0, 2147483648.0, INT32_MIN, INT32_MAX)
CLAMP(clamp_i64, int64_t, -9223372036854775808.0, 9223372036854775808.0, INT64_MIN, INT64_MAX)

/* Conversions of a value of any arithmetic type; integers convert by their low bits. */
#define TO_INT(v, T, clamp) \
    _Generic((v), float: clamp((double)(v)), double: clamp((double)(v)), default: (T)(v))
#define TO_f32(v) (float)(v)
#define TO_f64(v) (double)(v)
#define TO_f16(v) \
    _Generic((v), float: vfk_f32_to_f16((float)(v)), \
             default: vfk_f32_to_f16(vfk_f64_to_f32_odd((double)(v))))
#define TO_bf16(v) \
    _Generic((v), float: vfk_f32_to_bf16((float)(v)), \
             default: vfk_f32_to_bf16(vfk_f64_to_f32_odd((double)(v))))
#define TO_bool(v) (uint8_t)((v) != 0)
#define TO_u8(v) TO_INT(v, uint8_t, clamp_u8)
#define TO_u16(v) TO_INT(v, uint16_t, clamp_u16)
#define TO_u32(v) TO_INT(v, uint32_t, clamp_u32)
#define TO_u64(v) TO_INT(v, uint64_t, clamp_u64)
#define TO_i8(v) TO_INT(v, int8_t, clamp_i8)
#define TO_i16(v) TO_INT(v, int16_t, clamp_i16)
#define TO_i32(v) TO_INT(v, int32_t, clamp_i32)
#define TO_i64(v) TO_INT(v, int64_t, clamp_i64)

#define PLAIN(v) (v)
#define TRUTH(v) (uint8_t)((v) != 0)

/* T, V: stored type and type of the loaded value; U: stored type of the result. */
#define CAST(from, T, V, load, to, U) \
    void VFK_FN(cast_##from, to)(const VfkArgs *args) \
    { \
        const T *x = args->in[0]; \
        U *y = args->out[0]; \
        for (int64_t i = args->begin; i < args->end; i++) { \
            const V v = load(x[i]); \
            y[i] = TO_##to(v); \
        } \
    }

#define CAST_FROM(from, T, V, load) \
    CAST(from, T, V, load, f32, float) \
    CAST(from, T, V, load, f64, double) \
    CAST(from, T, V, load, f16, uint16_t) \
    CAST(from, T, V, load, bf16, uint16_t) \
    CAST(from, T, V, load, bool, uint8_t) \
    CAST(from, T, V, load, u8, uint8_t) \
    CAST(from, T, V, load, u16, uint16_t) \
    CAST(from, T, V, load, u32, uint32_t) \
    CAST(from, T, V, load, u64, uint64_t) \
    CAST(from, T, V, load, i8, int8_t) \
    CAST(from, T, V, load, i16, int16_t) \
    CAST(from, T, V, load, i32, int32_t) \
    CAST(from, T, V, load, i64, int64_t)

CAST_FROM(f32, float, float, PLAIN)
CAST_FROM(f64, double, double, PLAIN)
CAST_FROM(f16, uint16_t, float, vfk_f16_to_f32)
CAST_FROM(bf16, uint16_t, float, vfk_bf16_to_f32)
CAST_FROM(bool, uint8_t, uint8_t, TRUTH)
CAST_FROM(u8, uint8_t, uint8_t, PLAIN)
CAST_FROM(u16, uint16_t, uint16_t, PLAIN)
CAST_FROM(u32, uint32_t, uint32_t, PLAIN)
CAST_FROM(u64, uint64_t, uint64_t, PLAIN)
CAST_FROM(i8, int8_t, int8_t, PLAIN)
CAST_FROM(i16, int16_t, int16_t, PLAIN)
CAST_FROM(i32, int32_t, int32_t, PLAIN)
CAST_FROM(i64, int64_t, int64_t, PLAIN)
