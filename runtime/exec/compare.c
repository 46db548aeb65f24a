#include "runtime/exec/compare.h"

#include <math.h>
#include <string.h>

typedef double GetFn(const void *data, size_t i);

#define GETTER(name, type)                                          \
    static double get_##name(const void *data, size_t i)            \
    {                                                               \
        type value;                                                 \
        memcpy(&value, (const char *)data + i * sizeof value, sizeof value); \
        return (double)value;                                       \
    }
GETTER(f32, float)
GETTER(f64, double)
GETTER(u8, uint8_t)
GETTER(i8, int8_t)
GETTER(u16, uint16_t)
GETTER(i16, int16_t)
GETTER(u32, uint32_t)
GETTER(i32, int32_t)
GETTER(u64, uint64_t)
GETTER(i64, int64_t)
#undef GETTER

static double get_bf16(const void *data, size_t i)
{
    uint16_t half;
    memcpy(&half, (const char *)data + 2 * i, 2);
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double get_f16(const void *data, size_t i)
{
    uint16_t half;
    memcpy(&half, (const char *)data + 2 * i, 2);
    double sign = (half & 0x8000) != 0 ? -1.0 : 1.0;
    int exponent = (half >> 10) & 31, fraction = half & 1023;
    if (exponent == 31)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, -24);
    return sign * ldexp(fraction + 1024, exponent - 25);
}

/* dtype, how to read an element, bits of the significand with the leading one, least exponent of
 * a normal number (floats; 0 bits for integers) */
typedef struct Format {
    VfDtype dtype;
    GetFn *get;
    int bits, min_exponent;
} Format;

static const Format format_table[] = {
    {VF_F32, get_f32, 24, -126}, {VF_F64, get_f64, 53, -1022}, {VF_F16, get_f16, 11, -14},
    {VF_BF16, get_bf16, 8, -126}, {VF_BOOL, get_u8, 0, 0},     {VF_U8, get_u8, 0, 0},
    {VF_I8, get_i8, 0, 0},       {VF_U16, get_u16, 0, 0},      {VF_I16, get_i16, 0, 0},
    {VF_U32, get_u32, 0, 0},     {VF_I32, get_i32, 0, 0},      {VF_U64, get_u64, 0, 0},
    {VF_I64, get_i64, 0, 0},
};

static const Format *find_format(VfDtype dtype)
{
    for (size_t i = 0; i < sizeof format_table / sizeof *format_table; i++)
        if (format_table[i].dtype == dtype)
            return &format_table[i];
    return NULL;
}

static VfStatus need_format(VfDtype dtype, const Format **format, VfErr *err)
{
    *format = find_format(dtype);
    if (*format != NULL)
        return VF_OK;
    return vf_fail(err, VF_UNSUPPORTED, "cannot compare arrays of %s", vf_dtype_info(dtype)->name);
}

/* Equality of elements; 64-bit integers do not fit a double, so bytes decide for integers. */
static bool is_same(const Format *format, const void *a, const void *b, size_t i, double x,
                    double y)
{
    if (format->bits != 0)
        return x == y || (isnan(x) && isnan(y));
    size_t bytes = vf_dtype_bytes(format->dtype, 1);
    return memcmp((const char *)a + i * bytes, (const char *)b + i * bytes, bytes) == 0;
}

static double ulp_of(const Format *format, double x, double y)
{
    double larger = fmax(fabs(x), fabs(y));
    int exponent = format->min_exponent;
    if (larger > 0 && ilogb(larger) > exponent)
        exponent = ilogb(larger);
    return ldexp(1.0, exponent - format->bits + 1);
}

typedef struct Sums {
    double abs, square, aa, bb, ab;
    size_t n;
} Sums;

static void add_pair(const Format *format, double x, double y, size_t i, VfDistance *d, Sums *sums)
{
    double diff = fabs(x - y);
    sums->abs += diff;
    sums->square += diff * diff;
    sums->aa += x * x;
    sums->bb += y * y;
    sums->ab += x * y;
    sums->n++;
    if (diff > d->max_abs) {
        d->max_abs = diff;
        d->worst = i;
    }
    d->max_abs_b = fmax(d->max_abs_b, fabs(y));
    if (y != 0)
        d->max_rel = fmax(d->max_rel, diff / fabs(y));
    if (format->bits != 0 && diff > 0)
        d->max_ulp = fmax(d->max_ulp, diff / ulp_of(format, x, y));
}

static size_t top1(const Format *format, const void *data, size_t begin, size_t n)
{
    size_t best = 0;
    double most = format->get(data, begin);
    for (size_t i = 1; i < n; i++) {
        double value = format->get(data, begin + i);
        if (value > most || (isnan(most) && !isnan(value))) {
            most = value;
            best = i;
        }
    }
    return best;
}

static void finish(VfDistance *d, const Sums *sums)
{
    d->mean_abs = sums->n > 0 ? sums->abs / (double)sums->n : 0;
    if (sums->bb > 0)
        d->norm_rel = sqrt(sums->square / sums->bb);
    else
        d->norm_rel = sums->aa > 0 ? (double)INFINITY : 0;
    if (sums->aa > 0 && sums->bb > 0)
        d->cosine = sums->ab / (sqrt(sums->aa) * sqrt(sums->bb));
    else
        d->cosine = sums->aa == sums->bb ? 1 : 0;
}

VfStatus vf_compare(VfDtype dtype, size_t count, size_t row, const void *a, const void *b,
                    VfDistance *distance, VfErr *err)
{
    const Format *format;
    VF_TRY(need_format(dtype, &format, err));
    VfDistance d = {.count = count};
    Sums sums = {0};
    for (size_t i = 0; i < count; i++) {
        double x = format->get(a, i), y = format->get(b, i);
        bool same = is_same(format, a, b, i, x, y);
        d.n_differ += !same;
        if (isfinite(x) && isfinite(y))
            add_pair(format, x, y, i, &d, &sums);
        else
            d.n_special_differ += !same;
    }
    finish(&d, &sums);
    for (size_t begin = 0; row > 0 && begin + row <= count; begin += row) {
        d.n_row++;
        d.n_top1 += top1(format, a, begin, row) == top1(format, b, begin, row);
    }
    *distance = d;
    return VF_OK;
}

VfStatus vf_compare_is_close(VfDtype dtype, size_t count, const void *a, const void *b, double rtol,
                             double atol, bool *is_close, VfErr *err)
{
    const Format *format;
    VF_TRY(need_format(dtype, &format, err));
    *is_close = true;
    for (size_t i = 0; i < count && *is_close; i++) {
        double x = format->get(a, i), y = format->get(b, i);
        if (is_same(format, a, b, i, x, y))
            continue;
        *is_close = isfinite(x) && isfinite(y) && x != y && fabs(x - y) <= atol + rtol * fabs(y);
    }
    return VF_OK;
}
