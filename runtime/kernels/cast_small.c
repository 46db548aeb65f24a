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

/* The sign of the lowest `bits` bits. */
static inline int32_t sign_extended(uint32_t v, uint32_t bits)
{
    const uint32_t sign = 1u << (bits - 1u);
    return (int32_t)(v ^ sign) - (int32_t)sign;
}

/* f4e2m1: the values of the codes without the sign bit, 8. It has neither NaN nor infinity. */
static const float f4_value[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};

static inline float decode4(uint32_t code)
{
    return code & 8u ? -f4_value[code & 7u] : f4_value[code & 7u];
}

static uint32_t encode4(float x)
{
    const float magnitude = fabsf(x);
    uint32_t code = 0;
    if (x != x) {
        return 8;
    }
    for (; code < 7u; code++) {
        const float middle = (f4_value[code] + f4_value[code + 1u]) / 2.0f;
        if (magnitude < middle || (magnitude == middle && code % 2u == 0)) {
            break;
        }
    }
    return code | (vfk_bits(x) >> 28 & 8u);
}

/* f8e8m0: code c is 2^(c - 127), 255 is NaN. The exponent field of an f32 is the code, but for
 * 2^-127, an f32 without the leading one. */
static uint8_t encode_e8m0(float x, const VfkCastParams *params)
{
    const uint32_t magnitude = vfk_bits(x) & 0x7fffffffu, least = 0x400000u, most = 0x7f000000u;
    if (x != x || (params->saturate == 0 && (magnitude < least || magnitude > most))) {
        return 0xff;
    }
    if (magnitude <= least) {
        return 0;
    }
    const uint32_t middle = magnitude < 0x800000u ? 0x200000u : 0x400000u;
    const uint32_t rest = magnitude < 0x800000u ? magnitude - least : magnitude & 0x7fffffu;
    const int is_up = params->rounding == VFK_CAST_UP        ? rest > 0
                      : params->rounding == VFK_CAST_NEAREST ? rest >= middle
                                                             : 0;
    const uint32_t code = (magnitude >> 23) + (is_up ? 1u : 0u);
    return (uint8_t)(code > 0xfeu ? 0xfeu : code);
}

void VFK_FN(cast_f32, f8e8m0)(const VfkArgs *args)
{
    const VfkCastParams *params = args->params;
    const float *x = args->in[0];
    uint8_t *y = args->out[0];
    for (int64_t i = args->begin; i < args->end; i++) {
        y[i] = encode_e8m0(x[i], params);
    }
}

void VFK_FN(cast_f8e8m0, f32)(const VfkArgs *args)
{
    const uint8_t *x = args->in[0];
    float *y = args->out[0];
    for (int64_t i = args->begin; i < args->end; i++) {
        y[i] = x[i] == 0xffu ? NAN : ldexpf(1.0f, (int)x[i] - 127);
    }
}

/* Units are bytes; bits of the last that belong to no element are 0. */
#define PACK(bits, from, to, T, expr) \
    void VFK_FN(cast_##from, to)(const VfkArgs *args) \
    { \
        const VfkCastParams *params = args->params; \
        const T *x = args->in[0]; \
        uint8_t *y = args->out[0]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const int64_t each = 8 / bits, end = vfk_min_i64(each * (u + 1), params->n); \
            uint32_t byte = 0; \
            for (int64_t i = each * u; i < end; i++) { \
                const T v = x[i]; \
                byte |= ((uint32_t)(expr) & ((1u << bits) - 1u)) << (bits * (i % each)); \
            } \
            y[u] = (uint8_t)byte; \
        } \
    }

#define UNPACK(bits, from, to, T, expr) \
    void VFK_FN(cast_##from, to)(const VfkArgs *args) \
    { \
        const VfkCastParams *params = args->params; \
        const uint8_t *x = args->in[0]; \
        T *y = args->out[0]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const int64_t each = 8 / bits, end = vfk_min_i64(each * (u + 1), params->n); \
            for (int64_t i = each * u; i < end; i++) { \
                const uint32_t v = (uint32_t)(x[u] >> (bits * (i % each))) & ((1u << bits) - 1u); \
                y[i] = (T)(expr); \
            } \
        } \
    }

PACK(4, f32, u4, float, whole(v, params->saturate != 0, 0.0f, 15.0f))
PACK(4, f32, i4, float, whole(v, params->saturate != 0, -8.0f, 7.0f))
PACK(4, u8, u4, uint8_t, v)
PACK(4, i8, i4, int8_t, v)
UNPACK(4, u4, f32, float, v)
UNPACK(4, i4, f32, float, sign_extended(v, 4))
UNPACK(4, u4, u8, uint8_t, v)
UNPACK(4, i4, i8, int8_t, sign_extended(v, 4))
PACK(2, f32, u2, float, whole(v, params->saturate != 0, 0.0f, 3.0f))
PACK(2, f32, i2, float, whole(v, params->saturate != 0, -2.0f, 1.0f))
PACK(2, u8, u2, uint8_t, v)
PACK(2, i8, i2, int8_t, v)
UNPACK(2, u2, f32, float, v)
UNPACK(2, i2, f32, float, sign_extended(v, 2))
UNPACK(2, u2, u8, uint8_t, v)
UNPACK(2, i2, i8, int8_t, sign_extended(v, 2))
PACK(4, f32, f4e2m1, float, encode4(v))
UNPACK(4, f4e2m1, f32, float, decode4(v))
