/* Normal equations of a depthwise convolution, solved by Cholesky factors. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "passes/linear/fit.h"

/* A pivot below this part of its diagonal is rounding: the direction carries no data. */
static const double pivot_level = 1e-13;

static size_t n_unknown(const VfDwcSums *sums)
{
    return (size_t)(sums->side * sums->side) + 1;
}

VfStatus vf_dwc_sums_init(VfDwcSums *sums, VfArena *arena, VfErr *err)
{
    size_t n = n_unknown(sums), width = (size_t)sums->width, gram, rhs;
    if (__builtin_mul_overflow(width, n, &rhs) || __builtin_mul_overflow(rhs, n, &gram))
        return vf_no_memory(err);
    sums->gram = VF_NEW_ARRAY(arena, double, gram);
    sums->rhs = VF_NEW_ARRAY(arena, double, rhs);
    sums->solution = VF_NEW_ARRAY(arena, double, rhs);
    sums->square = VF_NEW_ARRAY(arena, double, width);
    sums->row = VF_NEW_ARRAY(arena, double, n);
    VF_TRY_ALLOC(sums->gram, err);
    VF_TRY_ALLOC(sums->rhs, err);
    VF_TRY_ALLOC(sums->solution, err);
    VF_TRY_ALLOC(sums->square, err);
    VF_TRY_ALLOC(sums->row, err);
    return VF_OK;
}

/* The neighbours of one place in channel `c`, zero outside the map, and a one. */
static void fill_row(const VfDwcSums *sums, const double *x, int64_t at, int64_t c)
{
    int64_t half = sums->side / 2;
    double *to = sums->row;
    for (int64_t y = at / sums->w - half; y <= at / sums->w + half; y++) {
        for (int64_t z = at % sums->w - half; z <= at % sums->w + half; z++) {
            bool is_inside = y >= 0 && y < sums->h && z >= 0 && z < sums->w;
            *to++ = is_inside ? x[(y * sums->w + z) * sums->width + c] : 0.0;
        }
    }
    *to = 1.0;
}

void vf_dwc_sums_add(VfDwcSums *sums, const double *x, const double *y)
{
    size_t n = n_unknown(sums);
    for (int64_t c = 0; c < sums->width; c++) {
        double *gram = sums->gram + (size_t)c * n * n, *rhs = sums->rhs + (size_t)c * n;
        for (int64_t at = 0; at < sums->h * sums->w; at++) {
            double want = y[at * sums->width + c];
            fill_row(sums, x, at, c);
            sums->square[c] += want * want;
            for (size_t i = 0; i < n; i++) {
                double own = sums->row[i];
                rhs[i] += own * want;
                for (size_t j = 0; j <= i; j++)
                    gram[i * n + j] += own * sums->row[j];
            }
        }
    }
}

/* Lower factor in place; a row without data becomes zero but for its pivot. */
static void factor(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double diagonal = a[i * n + i];
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (j < i)
                a[i * n + j] = isinf(a[j * n + j]) ? 0.0 : sum / a[j * n + j];
            else
                a[i * n + i] = sum > pivot_level * diagonal ? sqrt(sum) : (double)INFINITY;
        }
    }
}

/* An infinite pivot makes its unknown zero. */
static void substitute(const double *a, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= a[k * n + i] * x[k];
        x[i] /= a[i * n + i];
    }
}

/* yᵀy - 2 xᵀXᵀy + xᵀXᵀX x */
static double residual(const VfDwcSums *sums, size_t c, size_t n)
{
    const double *gram = sums->gram + c * n * n, *rhs = sums->rhs + c * n;
    const double *x = sums->solution + c * n;
    double sum = sums->square[c];
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * (gram[i * n + i] * x[i] - 2 * rhs[i]);
        for (size_t j = 0; j < i; j++)
            sum += 2 * x[i] * gram[i * n + j] * x[j];
    }
    return sum;
}

VfStatus vf_dwc_sums_solve(VfDwcSums *sums, VfArena *arena, double ridge, VfErr *err)
{
    size_t n = n_unknown(sums), width = (size_t)sums->width;
    double left = 0, all = 0;
    double *a = VF_NEW_ARRAY(arena, double, n * n);
    VF_TRY_ALLOC(a, err);
    for (size_t c = 0; c < width; c++) {
        const double *gram = sums->gram + c * n * n, *rhs = sums->rhs + c * n;
        double trace = 0, count = gram[n * n - 1];
        memcpy(a, gram, n * n * sizeof *a);
        memcpy(sums->solution + c * n, rhs, n * sizeof *a);
        for (size_t i = 0; i + 1 < n; i++)
            trace += gram[i * n + i];
        for (size_t i = 0; i + 1 < n; i++)
            a[i * n + i] += ridge * trace / (double)(n - 1);
        factor(a, n);
        substitute(a, n, sums->solution + c * n);
        left += residual(sums, c, n);
        all += count > 0 ? sums->square[c] - rhs[n - 1] * rhs[n - 1] / count : 0.0;
    }
    sums->r2 = all > 0 || isnan(all) ? 1.0 - left / all : 1.0;
    return VF_OK;
}
