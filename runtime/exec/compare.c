#include "runtime/exec/compare.h"

#include <math.h>

#include "runtime/kernels/number.h"

/* How the elements of a dtype are compared. */
typedef struct Format {
    VfDtype dtype;
    bool is_float, is_complex;
    int bits, min_exponent; /* of floats: see vf_number_precision */
} Format;

typedef struct Number {
    double re, im;
} Number;

static VfStatus need_format(VfDtype dtype, Format *format, VfErr *err)
{
    *format = (Format){.dtype = dtype, .is_complex = dtype == VF_C64 || dtype == VF_C128};
    format->is_float = vf_number_precision(dtype, &format->bits, &format->min_exponent);
    if (vf_dtype_info(dtype)->bits > 0)
        return VF_OK;
    return vf_fail(err, VF_UNSUPPORTED, "cannot compare arrays of %s", vf_dtype_info(dtype)->name);
}

static Number get(const Format *format, const void *data, size_t i)
{
    double im = format->is_complex ? vf_number_imaginary_at(data, format->dtype, i) : 0;
    return (Number){vf_number_at(data, format->dtype, i), im};
}

static bool is_finite(Number x) { return isfinite(x.re) && isfinite(x.im); }

static double size_of(Number x) { return x.im == 0 ? fabs(x.re) : hypot(x.re, x.im); }

static double distance_of(Number x, Number y)
{
    return size_of((Number){x.re - y.re, x.im - y.im});
}

/* Of elements, those of 64-bit integers exactly before they become a double. */
static double gap_of(const Format *format, const void *a, const void *b, size_t i, Number x,
                     Number y)
{
    if (format->dtype != VF_I64 && format->dtype != VF_U64)
        return distance_of(x, y);
    uint64_t p = vf_number_bits(a, format->dtype, i), q = vf_number_bits(b, format->dtype, i);
    bool is_less = format->dtype == VF_I64 ? (int64_t)p < (int64_t)q : p < q;
    return (double)(is_less ? q - p : p - q);
}

/* Equality of elements; 64-bit integers do not fit a double, so bits decide for integers. */
static bool is_same(const Format *format, const void *a, const void *b, size_t i, Number x,
                    Number y)
{
    if (format->is_float)
        return (x.re == y.re || (isnan(x.re) && isnan(y.re))) &&
               (x.im == y.im || (isnan(x.im) && isnan(y.im)));
    return vf_number_bits(a, format->dtype, i) == vf_number_bits(b, format->dtype, i);
}

static double ulps_of(const Format *format, double x, double y)
{
    double larger = fmax(fabs(x), fabs(y));
    int exponent = format->min_exponent;
    if (larger > 0 && ilogb(larger) > exponent)
        exponent = ilogb(larger);
    return fabs(x - y) / ldexp(1.0, exponent - format->bits + 1);
}

typedef struct Sums {
    double abs, square, aa, bb, ab;
    size_t n;
} Sums;

static void add_pair(const Format *format, Number x, Number y, double diff, size_t i,
                     VfDistance *d, Sums *sums)
{
    double size = size_of(y);
    sums->abs += diff;
    sums->square += diff * diff;
    sums->aa += x.re * x.re + x.im * x.im;
    sums->bb += y.re * y.re + y.im * y.im;
    sums->ab += x.re * y.re + x.im * y.im;
    sums->n++;
    if (diff > d->max_abs) {
        d->max_abs = diff;
        d->worst = i;
    }
    d->max_abs_b = fmax(d->max_abs_b, size);
    if (size != 0)
        d->max_rel = fmax(d->max_rel, diff / size);
    if (format->is_float && diff > 0)
        d->max_ulp = fmax(d->max_ulp, fmax(ulps_of(format, x.re, y.re),
                                           ulps_of(format, x.im, y.im)));
}

static size_t top1(const Format *format, const void *data, size_t begin, size_t n)
{
    size_t best = 0;
    double most = vf_number_at(data, format->dtype, begin);
    for (size_t i = 1; i < n; i++) {
        double value = vf_number_at(data, format->dtype, begin + i);
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
    Format format;
    VF_TRY(need_format(dtype, &format, err));
    VfDistance d = {.count = count};
    Sums sums = {0};
    for (size_t i = 0; i < count; i++) {
        Number x = get(&format, a, i), y = get(&format, b, i);
        bool same = is_same(&format, a, b, i, x, y);
        d.n_differ += !same;
        if (is_finite(x) && is_finite(y))
            add_pair(&format, x, y, gap_of(&format, a, b, i, x, y), i, &d, &sums);
        else
            d.n_special_differ += !same;
    }
    finish(&d, &sums);
    row = format.is_complex ? 0 : row;
    for (size_t begin = 0; row > 0 && begin + row <= count; begin += row) {
        d.n_row++;
        d.n_top1 += top1(&format, a, begin, row) == top1(&format, b, begin, row);
    }
    *distance = d;
    return VF_OK;
}

VfStatus vf_compare_is_close(VfDtype dtype, size_t count, const void *a, const void *b, double rtol,
                             double atol, bool *is_close, VfErr *err)
{
    Format format;
    VF_TRY(need_format(dtype, &format, err));
    *is_close = true;
    for (size_t i = 0; i < count && *is_close; i++) {
        Number x = get(&format, a, i), y = get(&format, b, i);
        if (is_same(&format, a, b, i, x, y))
            continue;
        double diff = gap_of(&format, a, b, i, x, y);
        *is_close = is_finite(x) && is_finite(y) && diff > 0 && diff <= atol + rtol * size_of(y);
    }
    return VF_OK;
}
