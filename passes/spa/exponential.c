/* The exponential kernel on a line and on a grid: causal factors in closed form, symmetric roots
 * through the eigenvectors of the tridiagonal inverse, which are cosines and sines. */
#include <math.h>

#include "passes/spa/parts.h"
#include "passes/spa/schedule.h"

static const double pi = 3.14159265358979323846;

/* With λ, μ of layers l and l - 1 and a, b their Cholesky diagonals, for i > j >= 1:
 * A[0,0] = 1, A[i,i] = a/b, A[i,0] = λ^(i-1) (λ²-μ²) / (b (λb + aμ)),
 * A[i,j] = (a/b) λ^(i-j-1) (λ-μ). Logarithms do not underflow far from the diagonal. */
VfStatus vf_spa_fill_causal(VfArena *scratch, const VfSpaSpec *spec, VfSpaLayer *layer,
                            bool *has_log, VfErr *err)
{
    (void)scratch, (void)err;
    VfSpaDecay now = vf_spa_decay(spec->target, spec->depth, layer->l);
    VfSpaDecay last = vf_spa_decay(spec->target, spec->depth, layer->l - 1);
    double step = vf_spa_decay_step(spec->target, spec->depth, layer->l); /* λ² - μ² */
    double ratio = log(now.a / last.a);
    double first = log(step / (last.a * (now.lambda * last.a + now.a * last.lambda)));
    double near = ratio + log(step / (now.lambda + last.lambda));
    for (int32_t i = 0; i < spec->tokens; i++) {
        double *b = vf_matrix_row(&layer->B, i), *a = vf_matrix_row(&layer->A, i);
        for (int32_t j = 1; j < i; j++)
            b[j] = near - (i - j - 1) * now.gamma;
        b[0] = first - (i - 1) * now.gamma;
        b[i] = i == 0 ? 0 : ratio;
        for (int32_t j = 0; j <= i; j++)
            a[j] = exp(b[j]);
    }
    *has_log = true;
    return VF_OK;
}

/* Eigenvector m = 0..n-1 of the kernel has the entries cos(pθ), p the place seen from the middle,
 * for even m, and sin(pθ) for odd m: its inverse is (1-λ²)⁻¹ tridiag(1, 1+λ², ..., 1; -λ), and
 * both ends ask for cos(½(n+1)θ) = λ cos(½(n-1)θ) or the same of sines. One root lies between
 * mπ/n, where λ is 1, and (m+1)π/(n+1), where it is 0. With θ = mπ/n + δ both conditions become
 *
 *     (1-λ) cos(½(n-1)δ - ½mπ/n) = 2 sin(½nδ) sin(½θ)
 *
 * in which no angle is large and nothing cancels. */
static double solve_offset(VfSpaDecay at, int32_t n, int32_t m)
{
    enum { MOST_HALVINGS = 200 };
    double base = pi * m / n, low = 0, high = pi * (n - m) / ((double)n * (n + 1));
    for (int i = 0; i < MOST_HALVINGS; i++) {
        double delta = 0.5 * (low + high);
        if (delta <= low || delta >= high)
            break;
        double left = at.one_less * cos(0.5 * (n - 1) * delta - 0.5 * base);
        if (left > 2 * sin(0.5 * n * delta) * sin(0.5 * (base + delta)))
            low = delta;
        else
            high = delta;
    }
    return 0.5 * (low + high);
}

/* The half of a vector that the other half mirrors, of length 1. Of pairs of equal entries each
 * counts √2 times, the middle entry of an odd number once. */
static void fill_vector(int32_t n, int32_t m, double delta, int32_t half, double *x)
{
    double sum = 0;
    for (int32_t i = 0; i < half; i++) {
        int64_t twice = 2 * (int64_t)i - n + 1; /* the place, seen from the middle */
        double angle = pi * (double)(twice * m % (4 * (int64_t)n)) / (2.0 * n) +
                       0.5 * (double)twice * delta;
        x[i] = m % 2 == 0 ? cos(angle) : sin(angle);
        x[i] *= twice == 0 ? sqrt(0.5) : 1;
        sum += x[i] * x[i];
    }
    for (int32_t i = 0; i < half; i++)
        x[i] /= sqrt(sum);
}

/* One half of a symmetric root. The kernel is its own mirror image, so its eigenvectors are even or
 * odd: rows of `v` are those of the even (sign 1) or odd (-1) half, `root` the roots of their
 * eigenvalues. */
static VfStatus half_eigen(VfArena *scratch, VfSpaDecay at, int32_t n, int sign, VfMatrix *v,
                           double **root, VfErr *err)
{
    int32_t half = sign > 0 ? (n + 1) / 2 : n / 2;
    *root = VF_NEW_ARRAY(scratch, double, (size_t)half);
    VF_TRY_ALLOC(*root, err);
    VF_TRY(vf_matrix_new(scratch, half, half, v, err));
    for (int32_t k = 0; k < half; k++) {
        int32_t m = sign > 0 ? 2 * k : 2 * k + 1;
        double delta = solve_offset(at, n, m), s = sin(0.5 * (pi * m / n + delta));
        (*root)[k] = at.a / sqrt(at.one_less * at.one_less + 4 * at.lambda * s * s);
        fill_vector(n, m, delta, half, vf_matrix_row(v, k));
    }
    if (n == 1)
        (*root)[0] = 1;
    return VF_OK;
}

/* out = Σ^½ or Σ^-½ in one half. */
static VfStatus half_root(VfArena *scratch, VfSpaDecay at, int32_t n, int sign, bool is_inverse,
                          VfMatrix *out, VfErr *err)
{
    VfMatrix v;
    double *root = NULL;
    VF_TRY(half_eigen(scratch, at, n, sign, &v, &root, err));
    for (int32_t i = 0; is_inverse && i < v.n_row; i++)
        root[i] = 1 / root[i];
    VF_TRY(vf_matrix_new(scratch, v.n_row, v.n_row, out, err));
    return vf_matrix_from_eigen(scratch, &v, root, out, err);
}

static VfStatus half_layer(VfArena *scratch, const VfSpaDecay *at, int32_t n, int sign,
                           VfMatrix *out, VfErr *err)
{
    VfMatrix now, last;
    VF_TRY(half_root(scratch, at[1], n, sign, false, &now, err));
    if (at[0].lambda == 0) {
        *out = now;
        return VF_OK;
    }
    VF_TRY(half_root(scratch, at[0], n, sign, true, &last, err));
    VF_TRY(vf_matrix_new(scratch, now.n_row, now.n_row, out, err));
    vf_matrix_multiply(&now, &last, out);
    return VF_OK;
}

/* Even vectors are (x, x reversed)/√2, odd ones (x, -x reversed)/√2; the middle entry of an odd
 * size stands alone. */
static void join_halves(const VfMatrix *even, const VfMatrix *odd, VfMatrix *A)
{
    int32_t n = A->n_row, pair = n / 2;
    for (int32_t i = 0; i < pair; i++)
        for (int32_t j = 0; j < pair; j++) {
            double e = vf_matrix_row(even, i)[j], o = vf_matrix_row(odd, i)[j];
            vf_matrix_row(A, i)[j] = vf_matrix_row(A, n - 1 - i)[n - 1 - j] = 0.5 * (e + o);
            vf_matrix_row(A, i)[n - 1 - j] = vf_matrix_row(A, n - 1 - i)[j] = 0.5 * (e - o);
        }
    if (n % 2 == 0)
        return;
    for (int32_t i = 0; i < pair; i++) {
        double half = sqrt(0.5);
        vf_matrix_row(A, i)[pair] = vf_matrix_row(A, n - 1 - i)[pair] =
            half * vf_matrix_row(even, i)[pair];
        vf_matrix_row(A, pair)[i] = vf_matrix_row(A, pair)[n - 1 - i] =
            half * vf_matrix_row(even, pair)[i];
    }
    vf_matrix_row(A, pair)[pair] = vf_matrix_row(even, pair)[pair];
}

VfStatus vf_spa_line_root(VfArena *scratch, const VfSpaSpec *spec, int32_t l, int32_t n,
                          VfMatrix *A, VfErr *err)
{
    VfSpaDecay at[2] = {vf_spa_decay(spec->target, spec->depth, l - 1),
                        vf_spa_decay(spec->target, spec->depth, l)};
    VfMatrix even, odd = {0};
    VF_TRY(half_layer(scratch, at, n, 1, &even, err));
    if (n > 1)
        VF_TRY(half_layer(scratch, at, n, -1, &odd, err));
    join_halves(&even, &odd, A);
    return VF_OK;
}

VfStatus vf_spa_fill_line(VfArena *scratch, const VfSpaSpec *spec, VfSpaLayer *layer,
                          bool *has_log, VfErr *err)
{
    (void)has_log;
    return vf_spa_line_root(scratch, spec, layer->l, spec->tokens, &layer->A, err);
}

/* out = h ⊗ w */
static void kronecker(const VfMatrix *h, const VfMatrix *w, VfMatrix *out)
{
    for (int32_t i = 0; i < out->n_row; i++)
        for (int32_t j = 0; j < out->n_col; j++)
            vf_matrix_row(out, i)[j] = vf_matrix_row(h, i / w->n_row)[j / w->n_col] *
                                       vf_matrix_row(w, i % w->n_row)[j % w->n_col];
}

VfStatus vf_spa_fill_grid(VfArena *scratch, const VfSpaSpec *spec, VfSpaLayer *layer,
                          bool *has_log, VfErr *err)
{
    (void)has_log;
    VfMatrix h, w;
    VF_TRY(vf_matrix_new(scratch, spec->grid_h, spec->grid_h, &h, err));
    VF_TRY(vf_matrix_new(scratch, spec->grid_w, spec->grid_w, &w, err));
    VF_TRY(vf_spa_line_root(scratch, spec, layer->l, spec->grid_h, &h, err));
    VF_TRY(vf_spa_line_root(scratch, spec, layer->l, spec->grid_w, &w, err));
    kronecker(&h, &w, &layer->A);
    return VF_OK;
}

static void fill_sigma_line(double gamma, VfMatrix *sigma)
{
    for (int32_t i = 0; i < sigma->n_row; i++)
        for (int32_t j = 0; j < sigma->n_col; j++)
            vf_matrix_row(sigma, i)[j] = exp(-gamma * (i > j ? i - j : j - i));
}

VfStatus vf_spa_sigma_line(VfArena *scratch, const VfSpaSpec *spec, int32_t l, VfMatrix *sigma,
                           VfErr *err)
{
    (void)scratch, (void)err;
    fill_sigma_line(vf_spa_decay(spec->target, spec->depth, l).gamma, sigma);
    return VF_OK;
}

VfStatus vf_spa_sigma_grid(VfArena *scratch, const VfSpaSpec *spec, int32_t l, VfMatrix *sigma,
                           VfErr *err)
{
    VfMatrix h, w;
    double gamma = vf_spa_decay(spec->target, spec->depth, l).gamma;
    VF_TRY(vf_matrix_new(scratch, spec->grid_h, spec->grid_h, &h, err));
    VF_TRY(vf_matrix_new(scratch, spec->grid_w, spec->grid_w, &w, err));
    fill_sigma_line(gamma, &h);
    fill_sigma_line(gamma, &w);
    kronecker(&h, &w, sigma);
    return VF_OK;
}

/* Sum of exp(-γ |i-j|) over all pairs of a line of n. */
static double line_sum(double gamma, int32_t n)
{
    double sum = n;
    for (int32_t k = 1; k < n; k++)
        sum += 2.0 * (n - k) * exp(-gamma * k);
    return sum;
}

VfStatus vf_spa_mean_line(VfArena *scratch, const VfSpaSpec *spec, double *mean, VfErr *err)
{
    (void)scratch, (void)err;
    double n = spec->tokens;
    *mean = (line_sum(spec->target, spec->tokens) - n) / (n * (n - 1));
    return VF_OK;
}

VfStatus vf_spa_mean_grid(VfArena *scratch, const VfSpaSpec *spec, double *mean, VfErr *err)
{
    (void)scratch, (void)err;
    double n = spec->tokens;
    double sum = line_sum(spec->target, spec->grid_h) * line_sum(spec->target, spec->grid_w);
    *mean = (sum - n) / (n * (n - 1));
    return VF_OK;
}
