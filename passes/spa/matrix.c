#include "passes/spa/matrix.h"

#include <float.h>
#include <math.h>
#include <string.h>

VfStatus vf_matrix_new(VfArena *arena, int32_t n_row, int32_t n_col, VfMatrix *m, VfErr *err)
{
    if (n_row < 1 || n_col < 1 || n_row > VF_MATRIX_MAX || n_col > VF_MATRIX_MAX)
        return vf_fail(err, VF_UNSUPPORTED, "a matrix of %d x %d is not between 1 and %d a side",
                       n_row, n_col, VF_MATRIX_MAX);
    *m = (VfMatrix){n_row, n_col, VF_NEW_ARRAY(arena, double, (size_t)n_row * (size_t)n_col)};
    VF_TRY_ALLOC(m->at, err);
    return VF_OK;
}

VfStatus vf_matrix_identity(VfArena *arena, int32_t n, VfMatrix *m, VfErr *err)
{
    VF_TRY(vf_matrix_new(arena, n, n, m, err));
    for (int32_t i = 0; i < n; i++)
        vf_matrix_row(m, i)[i] = 1;
    return VF_OK;
}

/* y += f x */
static void add_scaled(int32_t n, double f, const double *restrict x, double *restrict y)
{
    for (int32_t i = 0; i < n; i++)
        y[i] += f * x[i];
}

/* y += f[0] x[0] + ... + f[3] x[3]: four at once load and store y a quarter as often. */
static void add_four(int32_t n, const double *f, const double *const *x, double *restrict y)
{
    const double *restrict a = x[0], *restrict b = x[1], *restrict c = x[2], *restrict d = x[3];
    for (int32_t i = 0; i < n; i++)
        y[i] += (f[0] * a[i] + f[1] * b[i]) + (f[2] * c[i] + f[3] * d[i]);
}

/* y += Σ f[k] (row k of m) */
static void add_rows(const VfMatrix *m, const double *f, double *y)
{
    int32_t k = 0;
    for (; k + 4 <= m->n_row; k += 4) {
        const double *const x[] = {vf_matrix_row(m, k), vf_matrix_row(m, k + 1),
                                   vf_matrix_row(m, k + 2), vf_matrix_row(m, k + 3)};
        add_four(m->n_col, f + k, x, y);
    }
    for (; k < m->n_row; k++)
        add_scaled(m->n_col, f[k], vf_matrix_row(m, k), y);
}

void vf_matrix_multiply(const VfMatrix *a, const VfMatrix *b, VfMatrix *out)
{
    memset(out->at, 0, (size_t)out->n_row * (size_t)out->n_col * sizeof *out->at);
    for (int32_t i = 0; i < a->n_row; i++)
        add_rows(b, vf_matrix_row(a, i), vf_matrix_row(out, i));
}

/* Four sums, so that one addition need not wait for the other. */
static double dot(int32_t n, const double *x, const double *y)
{
    double sum[4] = {0, 0, 0, 0};
    int32_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int32_t k = 0; k < 4; k++)
            sum[k] += x[i + k] * y[i + k];
    for (; i < n; i++)
        sum[0] += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void vf_matrix_multiply_transposed(const VfMatrix *a, const VfMatrix *b, VfMatrix *out)
{
    for (int32_t i = 0; i < a->n_row; i++)
        for (int32_t j = 0; j < b->n_row; j++)
            vf_matrix_row(out, i)[j] = dot(a->n_col, vf_matrix_row(a, i), vf_matrix_row(b, j));
}

VfStatus vf_matrix_from_eigen(VfArena *scratch, const VfMatrix *v, const double *w, VfMatrix *out,
                              VfErr *err)
{
    double *column = VF_NEW_ARRAY(scratch, double, (size_t)v->n_row);
    VF_TRY_ALLOC(column, err);
    memset(out->at, 0, (size_t)out->n_row * (size_t)out->n_col * sizeof *out->at);
    for (int32_t i = 0; i < v->n_col; i++) {
        for (int32_t k = 0; k < v->n_row; k++)
            column[k] = w[k] * vf_matrix_row(v, k)[i];
        add_rows(v, column, vf_matrix_row(out, i));
    }
    return VF_OK;
}

/* a <- H a H for the block behind row k, where H = 1 - factor v vᵀ: a - v wᵀ - w vᵀ with
 * w = p - ½ factor (p v) v, p = factor a v. */
static void reflect(VfMatrix *a, int32_t k, const double *v, double factor, double *w)
{
    int32_t n = a->n_row;
    double inner = 0;
    for (int32_t i = k + 1; i < n; i++) {
        w[i] = factor * dot(n - k - 1, vf_matrix_row(a, i) + k + 1, v + k + 1);
        inner += w[i] * v[i];
    }
    add_scaled(n - k - 1, -0.5 * factor * inner, v + k + 1, w + k + 1);
    for (int32_t i = k + 1; i < n; i++) {
        add_scaled(n - k - 1, -v[i], w + k + 1, vf_matrix_row(a, i) + k + 1);
        add_scaled(n - k - 1, -w[i], v + k + 1, vf_matrix_row(a, i) + k + 1);
    }
}

void vf_matrix_tridiagonalise(VfMatrix *a, double *diagonal, double *off, double *scratch)
{
    int32_t n = a->n_row;
    double *v = scratch, *w = scratch + n;
    for (int32_t k = 0; k < n; k++) {
        double length = 0;
        diagonal[k] = vf_matrix_row(a, k)[k];
        for (int32_t i = k + 1; i < n; i++)
            v[i] = vf_matrix_row(a, i)[k];
        if (k + 1 < n)
            length = sqrt(dot(n - k - 1, v + k + 1, v + k + 1));
        off[k] = length;
        if (length == 0 || k + 2 >= n)
            continue;
        off[k] = v[k + 1] > 0 ? -length : length;
        v[k + 1] -= off[k];
        reflect(a, k, v, 2 / dot(n - k - 1, v + k + 1, v + k + 1), w);
    }
}

/* The first row at or after `from` whose coupling to the next is lost in rounding. */
static int32_t find_split(int32_t n, const double *diagonal, const double *off, int32_t from)
{
    int32_t m = from;
    while (m + 1 < n &&
           fabs(off[m]) > DBL_EPSILON * 0.5 * (fabs(diagonal[m]) + fabs(diagonal[m + 1])))
        m++;
    return m;
}

/* One sweep of rotations that chases the bulge from row m up to row `from`. */
static void sweep(double *diagonal, double *off, int32_t from, int32_t m)
{
    double g = (diagonal[from + 1] - diagonal[from]) / (2 * off[from]);
    double r = hypot(g, 1);
    g = diagonal[m] - diagonal[from] + off[from] / (g + copysign(r, g));
    double s = 1, c = 1, p = 0;
    for (int32_t i = m - 1; i >= from; i--) {
        double f = s * off[i], b = c * off[i];
        r = hypot(f, g);
        off[i + 1] = r;
        if (r == 0) {
            diagonal[i + 1] -= p;
            off[m] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = diagonal[i + 1] - p;
        r = (diagonal[i] - g) * s + 2 * c * b;
        p = s * r;
        diagonal[i + 1] = g + p;
        g = c * r - b;
    }
    diagonal[from] -= p;
    off[from] = g;
    off[m] = 0;
}

VfStatus vf_tridiagonal_eigen(int32_t n, double *diagonal, double *off, VfErr *err)
{
    /* Two sweeps a value are usual; far more means that the numbers are not finite. */
    enum { MOST_SWEEPS = 60 };
    off[n - 1] = 0;
    for (int32_t from = 0; from < n; from++) {
        int n_sweep = 0;
        for (int32_t m; (m = find_split(n, diagonal, off, from)) != from;) {
            if (n_sweep++ == MOST_SWEEPS)
                return vf_fail(err, VF_INTERNAL, "no eigenvalues of a matrix of size %d", n);
            sweep(diagonal, off, from, m);
        }
    }
    return VF_OK;
}
