#include "runtime/kernels/number.h"

#include <math.h>
#include <string.h>

/* A binary floating point format narrower than 32 bits. */
typedef struct Format {
    VfDtype dtype;
    int mantissa_bits, bias;
    uint32_t sign;     /* mask of the sign, the highest bit */
    uint32_t largest;  /* bits of the largest finite number */
    uint32_t infinity; /* bits of +infinity, 0 if there is none */
    uint32_t nan;      /* bits of the NaN we write, 0 if there is none */
    bool saturates;    /* too large becomes `largest`, else `infinity` */
} Format;

/*   dtype         man bias   sign    largest infinity nan   saturates */
static const Format format[] = {
    {VF_F16,         10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00, false},
    {VF_BF16,        7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0, false},
    {VF_F8E4M3FN,    3, 7,   0x80,   0x7e,   0,      0x7f,   true},
    {VF_F8E4M3FNUZ,  3, 8,   0x80,   0x7f,   0,      0x80,   true},
    {VF_F8E5M2,      2, 15,  0x80,   0x7b,   0x7c,   0x7f,   true},
    {VF_F8E5M2FNUZ,  2, 16,  0x80,   0x7f,   0,      0x80,   true},
    {VF_F4E2M1,      1, 1,   0x8,    0x7,    0,      0,      true},
};

static const Format *find_format(VfDtype dtype)
{
    for (size_t i = 0; i < sizeof format / sizeof format[0]; i++) {
        if (format[i].dtype == dtype)
            return &format[i];
    }
    return NULL;
}

bool vf_number_is_float(VfDtype dtype)
{
    return vf_dtype_info(dtype)->is_float != 0;
}

static unsigned element_bits(VfDtype dtype)
{
    return vf_dtype_info(dtype)->bits;
}

uint64_t vf_number_bits(const void *data, VfDtype dtype, size_t i)
{
    const unsigned char *byte = data;
    unsigned bits = element_bits(dtype);
    if (bits == 0)
        return 0;
    if (bits < 8) {
        unsigned per_byte = 8 / bits;
        unsigned shift = (unsigned)(i % per_byte) * bits;
        return (uint64_t)(byte[i / per_byte] >> shift) & ((1u << bits) - 1);
    }
    unsigned size = bits / 8, read = dtype == VF_C64 || dtype == VF_C128 ? size / 2 : size;
    uint64_t value = 0;
    for (unsigned k = read; k-- > 0;)
        value = value << 8 | byte[i * size + k];
    return value;
}

void vf_number_put_bits(void *data, VfDtype dtype, size_t i, uint64_t value)
{
    unsigned char *byte = data;
    unsigned bits = element_bits(dtype);
    if (bits == 0)
        return;
    if (bits < 8) {
        unsigned per_byte = 8 / bits, mask = (1u << bits) - 1;
        unsigned shift = (unsigned)(i % per_byte) * bits;
        unsigned char *at = &byte[i / per_byte];
        *at = (unsigned char)((*at & ~(mask << shift)) | ((unsigned)value & mask) << shift);
        return;
    }
    unsigned size = bits / 8, written = dtype == VF_C64 || dtype == VF_C128 ? size / 2 : size;
    for (unsigned k = 0; k < written; k++)
        byte[i * size + k] = (unsigned char)(value >> 8 * k);
}

static double decode(const Format *f, uint32_t bits)
{
    uint32_t magnitude = bits & (f->sign - 1);
    double sign = bits & f->sign ? -1.0 : 1.0;
    if (f->nan == f->sign && bits == f->nan)
        return (double)NAN;
    if (f->infinity != 0 && magnitude == f->infinity)
        return sign * (double)INFINITY;
    if (magnitude > f->largest)
        return (double)NAN;
    int exponent = (int)(magnitude >> f->mantissa_bits);
    double mantissa = magnitude & ((1u << f->mantissa_bits) - 1);
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - f->bias - f->mantissa_bits);
    mantissa += 1u << f->mantissa_bits;
    return sign * ldexp(mantissa, exponent - f->bias - f->mantissa_bits);
}

static uint32_t encode(const Format *f, double value)
{
    if (isnan(value))
        return f->nan;
    uint32_t sign = signbit(value) ? f->sign : 0;
    double magnitude = fabs(value);
    uint32_t beyond = f->saturates ? f->largest : f->infinity;
    if (isinf(magnitude))
        return sign | beyond;
    int lowest = 1 - f->bias, exponent;
    (void)frexp(magnitude, &exponent);
    exponent = magnitude == 0 || exponent - 1 < lowest ? lowest : exponent - 1;
    /* The number in units of its last place; a carry into the next exponent comes out by itself. */
    double units = nearbyint(ldexp(magnitude, f->mantissa_bits - exponent));
    double bits = ldexp((double)(exponent - lowest), f->mantissa_bits) + units;
    if (bits > f->largest)
        return sign | beyond;
    if (bits == 0 && f->nan == f->sign)
        return 0; /* the format has no negative zero: those bits are its NaN */
    return sign | (uint32_t)bits;
}

bool vf_number_infinity(VfDtype dtype, bool is_negative, uint64_t *bits)
{
    const Format *f = find_format(dtype);
    bool is_wide = dtype == VF_F32 || dtype == VF_F64;
    if (f == NULL && is_wide)
        *bits = vf_number_encode(dtype, is_negative ? -(double)INFINITY : (double)INFINITY);
    else if (f != NULL && f->infinity != 0)
        *bits = f->infinity | (is_negative ? f->sign : 0);
    else
        return false;
    return true;
}

/* Powers of two from 2^-127; 255 is NaN. */
static uint64_t encode_power(double value)
{
    if (isnan(value) || value < 0)
        return 255;
    if (isinf(value))
        return 254;
    int exponent;
    double fraction = frexp(value, &exponent);
    exponent += fraction > 0.75 ? 127 : 126;
    return value == 0 || exponent < 0 ? 0 : exponent > 254 ? 254 : (uint64_t)exponent;
}

static int64_t sign_extend(uint64_t bits, unsigned width)
{
    unsigned shift = 64 - width;
    return (int64_t)(bits << shift) >> shift;
}

static double value_of_f32(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

static double value_of_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double vf_number_value(VfDtype dtype, uint64_t bits)
{
    const Format *narrow = find_format(dtype);
    if (narrow != NULL)
        return decode(narrow, (uint32_t)bits);
    if (dtype == VF_F32 || dtype == VF_C64)
        return value_of_f32(bits);
    if (dtype == VF_F64 || dtype == VF_C128)
        return value_of_f64(bits);
    if (dtype == VF_F8E8M0)
        return bits == 255 ? (double)NAN : ldexp(1.0, (int)bits - 127);
    if (vf_dtype_info(dtype)->is_signed && element_bits(dtype) > 0)
        return (double)sign_extend(bits, element_bits(dtype));
    return (double)bits;
}

double vf_number_at(const void *data, VfDtype dtype, size_t i)
{
    if (dtype == VF_F32) { /* the most frequent one, without a loop over its bytes */
        float value;
        memcpy(&value, (const char *)data + i * sizeof value, sizeof value);
        return (double)value;
    }
    return vf_number_value(dtype, vf_number_bits(data, dtype, i));
}

double vf_number_imaginary_at(const void *data, VfDtype dtype, size_t i)
{
    VfDtype part = dtype == VF_C64 ? VF_F32 : dtype == VF_C128 ? VF_F64 : VF_UNDEFINED;
    return part == VF_UNDEFINED ? 0 : vf_number_at(data, part, 2 * i + 1);
}

bool vf_number_precision(VfDtype dtype, int *bits, int *min_exponent)
{
    const Format *narrow = find_format(dtype);
    bool is_f32 = dtype == VF_F32 || dtype == VF_C64, is_f64 = dtype == VF_F64 || dtype == VF_C128;
    if (narrow == NULL && !is_f32 && !is_f64 && dtype != VF_F8E8M0)
        return false;
    *bits = narrow != NULL ? narrow->mantissa_bits + 1 : is_f32 ? 24 : is_f64 ? 53 : 1;
    *min_exponent = narrow != NULL ? 1 - narrow->bias : is_f64 ? -1022 : is_f32 ? -126 : -127;
    return true;
}

static uint64_t encode_integer(VfDtype dtype, double value)
{
    unsigned bits = element_bits(dtype);
    bool is_signed = vf_dtype_info(dtype)->is_signed != 0;
    if (dtype == VF_BOOL)
        return value != 0;
    if (isnan(value) || bits == 0)
        return 0;
    value = nearbyint(value);
    double limit = ldexp(1.0, (int)(is_signed ? bits - 1 : bits)); /* first that does not fit */
    uint64_t largest = UINT64_MAX >> (64 - (is_signed ? bits - 1 : bits));
    if (value >= limit)
        return largest;
    if (!is_signed)
        return value <= 0 ? 0 : (uint64_t)value;
    return value <= -limit ? ~largest : (uint64_t)(int64_t)value;
}

uint64_t vf_number_encode(VfDtype dtype, double value)
{
    const Format *narrow = find_format(dtype);
    if (narrow != NULL)
        return encode(narrow, value);
    if (dtype == VF_F8E8M0)
        return encode_power(value);
    if (dtype == VF_F32 || dtype == VF_C64) {
        float single = (float)value;
        uint32_t word;
        memcpy(&word, &single, sizeof word);
        return word;
    }
    if (dtype == VF_F64 || dtype == VF_C128) {
        uint64_t word;
        memcpy(&word, &value, sizeof word);
        return word;
    }
    return encode_integer(dtype, value);
}
