#include "runtime/kernels/variant.h"
#include "runtime/kernels/vecmath.h"

/* An 8-bit float format. The `uz` formats have one NaN, 0x80, no infinity and no -0. */
typedef struct Format8 {
    int mantissa; /* stored bits */
    int bias;
    int is_uz;
    int has_inf;
    uint32_t nan; /* code of a NaN */
    uint32_t most; /* code of the largest finite value */
} Format8;

static const Format8 f8e4m3fn = {3, 7, 0, 0, 0x7f, 0x7e};
static const Format8 f8e4m3fnuz = {3, 8, 1, 0, 0x80, 0x7f};
static const Format8 f8e5m2 = {2, 15, 0, 1, 0x7f, 0x7b};
static const Format8 f8e5m2fnuz = {2, 16, 1, 0, 0x80, 0x7f};

static float decode8(const Format8 *format, uint8_t code)
{
    uint32_t magnitude = code & 0x7fu;
    if (format->is_uz ? code == 0x80u : magnitude > format->most + (uint32_t)format->has_inf) {
        return NAN;
    }
    if (format->has_inf && magnitude == format->most + 1u) {
        return code & 0x80u ? -INFINITY : INFINITY;
    }
    int exponent = (int)(magnitude >> format->mantissa);
    int fraction = (int)(magnitude & ((1u << format->mantissa) - 1u));
    fraction += exponent ? 1 << format->mantissa : 0;
    exponent = (exponent ? exponent : 1) - format->bias - format->mantissa;
    float value = ldexpf((float)fraction, exponent);
    return code & 0x80u ? -value : value;
}

/* The code of a finite |x| rounded to nearest even; above `most` if too large. */
static uint32_t encode8_magnitude(const Format8 *format, float magnitude)
{
    int exponent, least = 1 - format->bias;
    frexpf(magnitude, &exponent);
    exponent = magnitude == 0.0f || exponent - 1 < least ? least : exponent - 1;
    float scaled = ldexpf(magnitude, format->mantissa - exponent);
    uint32_t steps = (uint32_t)rintf(scaled);
    /* Adding the steps carries into the exponent when rounding reaches the next power. */
    return ((uint32_t)(exponent - least) << format->mantissa) + steps;
}

static uint8_t encode8(const Format8 *format, float x, int saturate)
{
    uint32_t sign = vfk_bits(x) >> 24 & 0x80u;
    float magnitude = fabsf(x);
    if (x != x) {
        return (uint8_t)(format->is_uz ? format->nan : format->nan | sign);
    }
    uint32_t code = magnitude > 1e6f ? 0xffu : encode8_magnitude(format, magnitude);
    if (code > format->most) {
        uint32_t overflow = format->has_inf ? format->most + 1u : format->nan;
        code = saturate ? format->most : overflow;
    }
    if (format->is_uz && (code == 0 || code == 0x80u)) {
        return (uint8_t)code;
    }
    return (uint8_t)(code | sign);
}

#define CAST8(format) \
    void VFK_FN(cast_f32, format)(const VfkArgs *args) \
    { \
        const VfkCastParams *params = args->params; \
        const float *x = args->in[0]; \
        uint8_t *y = args->out[0]; \
        for (int64_t i = args->begin; i < args->end; i++) { \
            y[i] = encode8(&format, x[i], params->saturate != 0); \
        } \
    } \
    void VFK_FN(cast_##format, f32)(const VfkArgs *args) \
    { \
        const uint8_t *x = args->in[0]; \
        float *y = args->out[0]; \
        for (int64_t i = args->begin; i < args->end; i++) { \
            y[i] = decode8(&format, x[i]); \
        } \
    }

CAST8(f8e4m3fn)
CAST8(f8e4m3fnuz)
CAST8(f8e5m2)
CAST8(f8e5m2fnuz)

/* Nearest even in [least, most], or toward zero within 32 bits; NaN gives 0. */
static int32_t whole(float x, int saturate, float least, float most)
{
    const float low = saturate ? least : -2147483648.0f, high = saturate ? most : 2147483520.0f;
    const float t = x < low ? low : x > high ? high : x;
    if (t != t) {
        return 0;
    }
    return saturate ? (int32_t)rintf(t) : (int32_t)t;
}

static inline int32_t signed4(uint32_t nibble)
{
    return (int32_t)(nibble ^ 8u) - 8;
}

/* Units are pairs; the last pair may have one element, and its upper half is 0 then. */
#define PACK(from, to, T, expr) \
    void VFK_FN(cast_##from, to)(const VfkArgs *args) \
    { \
        const VfkCastParams *params = args->params; \
        const T *x = args->in[0]; \
        uint8_t *y = args->out[0]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            uint32_t byte = 0; \
            for (int64_t i = 2 * u; i < vfk_min_i64(2 * u + 2, params->n); i++) { \
                const T v = x[i]; \
                byte |= ((uint32_t)(expr) & 15u) << (i % 2 ? 4 : 0); \
            } \
            y[u] = (uint8_t)byte; \
        } \
    }

#define UNPACK(from, to, T, expr) \
    void VFK_FN(cast_##from, to)(const VfkArgs *args) \
    { \
        const VfkCastParams *params = args->params; \
        const uint8_t *x = args->in[0]; \
        T *y = args->out[0]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            for (int64_t i = 2 * u; i < vfk_min_i64(2 * u + 2, params->n); i++) { \
                const uint32_t v = (uint32_t)(x[u] >> (i % 2 ? 4 : 0)) & 15u; \
                y[i] = (T)(expr); \
            } \
        } \
    }

PACK(f32, u4, float, whole(v, params->saturate != 0, 0.0f, 15.0f))
PACK(f32, i4, float, whole(v, params->saturate != 0, -8.0f, 7.0f))
PACK(u8, u4, uint8_t, v)
PACK(i8, i4, int8_t, v)
UNPACK(u4, f32, float, v)
UNPACK(i4, f32, float, signed4(v))
UNPACK(u4, u8, uint8_t, v)
UNPACK(i4, i8, int8_t, signed4(v))
