/* The layers of signal-preserving attention by their definition, in double: kernels as dense
 * matrices, roots by Jacobi rotations, causal factors by Cholesky and substitution. Nothing here is
 * shared with the pass. */
#ifndef VF_TESTS_PASSES_SPA_REFERENCE_H
#define VF_TESTS_PASSES_SPA_REFERENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SPA_N = 8 };

typedef double SpaMatrix[SPA_N][SPA_N];

/* What is built: n tokens, a prefix before a grid of h x w, or a line where h is 0. */
typedef struct SpaCase {
    const char *kernel; /* "causal", "s", "g", "r", "u-causal", "u" */
    int32_t n, depth, h, w, prefix;
    double target; /* gamma or rho of the last layer */
    double link;   /* r: weight of the edges of the prefix */
    bool is_raw;   /* r: without unit diagonal */
} SpaCase;

static inline bool spa_is(const SpaCase *c, const char *kernel)
{
    return strcmp(c->kernel, kernel) == 0;
}

static inline void spa_multiply(int32_t n, SpaMatrix a, SpaMatrix b, SpaMatrix out)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            out[i][j] = 0;
            for (int32_t k = 0; k < n; k++)
                out[i][j] += a[i][k] * b[k][j];
        }
}

/* One rotation that makes a[p][q] zero; columns of v turn along. */
static inline void spa_rotate(int32_t n, SpaMatrix a, SpaMatrix v, int32_t p, int32_t q)
{
    double angle = 0.5 * atan2(2 * a[p][q], a[q][q] - a[p][p]), c = cos(angle), s = sin(angle);
    for (int32_t k = 0; k < n; k++) {
        double x = a[k][p], y = a[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for (int32_t k = 0; k < n; k++) {
        double x = a[p][k], y = a[q][k];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
        x = v[k][p], y = v[k][q];
        v[k][p] = c * x - s * y;
        v[k][q] = s * x + c * y;
    }
}

/* Eigenvalues end on the diagonal of a, vectors in the columns of v. */
static inline void spa_eigen(int32_t n, SpaMatrix a, SpaMatrix v)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            v[i][j] = i == j;
    for (int sweep = 0; sweep < 40; sweep++)
        for (int32_t p = 0; p < n; p++)
            for (int32_t q = p + 1; q < n; q++)
                if (fabs(a[p][q]) > 0)
                    spa_rotate(n, a, v, p, q);
}

/* sigma to `power` of a symmetric matrix. */
static inline void spa_power(int32_t n, SpaMatrix sigma, double power, SpaMatrix out)
{
    SpaMatrix a, v;
    memcpy(a, sigma, sizeof a);
    spa_eigen(n, a, v);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            out[i][j] = 0;
            for (int32_t k = 0; k < n; k++)
                out[i][j] += v[i][k] * pow(a[k][k], power) * v[j][k];
        }
}

/* gamma with sqrt(1 - exp(-2 gamma)) geometric in l. */
static inline double spa_gamma(const SpaCase *c, int32_t l)
{
    double share = (double)l / c->depth;
    return -0.5 * log(1 - pow(1 - exp(-2 * c->target), share));
}

static inline double spa_distance(const SpaCase *c, int32_t i, int32_t j)
{
    if (c->h == 0)
        return fabs((double)(i - j));
    return fabs((double)(i / c->w - j / c->w)) + fabs((double)(i % c->w - j % c->w));
}

/* Laplacian of the token graph of r. */
static inline void spa_laplacian(const SpaCase *c, SpaMatrix out)
{
    memset(out, 0, sizeof(SpaMatrix));
    for (int32_t i = 0; i < c->n; i++)
        for (int32_t j = 0; j < c->n; j++) {
            bool is_prefix[2] = {i < c->prefix, j < c->prefix};
            double weight = is_prefix[0] && is_prefix[1] ? 0
                            : is_prefix[0] || is_prefix[1]
                                ? c->link
                                : (fabs(spa_distance(c, i - c->prefix, j - c->prefix) - 1) < 0.5);
            if (i == j)
                continue;
            out[i][j] = -weight;
            out[i][i] += weight;
        }
}

/* The kernel after layer l; of r without its diagonal made 1. */
static inline void spa_sigma(const SpaCase *c, int32_t l, SpaMatrix out)
{
    bool is_uniform = spa_is(c, "u") || spa_is(c, "u-causal");
    double rho = 1 - pow(1 - c->target, (double)l / c->depth);
    for (int32_t i = 0; i < c->n; i++)
        for (int32_t j = 0; j < c->n; j++)
            out[i][j] = l == 0       ? (i == j)
                        : is_uniform ? (i == j ? 1 : rho)
                                     : exp(-spa_gamma(c, l) * spa_distance(c, i, j));
    if (l == 0 || !spa_is(c, "r"))
        return;
    SpaMatrix shifted;
    double lambda = exp(-spa_gamma(c, l)), sum = 0;
    spa_laplacian(c, shifted);
    for (int32_t i = 0; i < c->n; i++)
        shifted[i][i] += (1 - lambda) * (1 - lambda) / lambda;
    spa_power(c->n, shifted, -1, out);
    for (int32_t i = 0; i < c->n; i++)
        sum += out[i][i];
    for (int32_t i = 0; i < c->n; i++)
        for (int32_t j = 0; j < c->n; j++)
            out[i][j] *= c->n / sum;
}

static inline void spa_cholesky(int32_t n, SpaMatrix sigma, SpaMatrix f)
{
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) {
            double sum = sigma[i][j];
            for (int32_t k = 0; k < j; k++)
                sum -= f[i][k] * f[j][k];
            f[i][j] = i < j ? 0 : i == j ? sqrt(sum) : sum / f[j][j];
        }
}

/* A last = now, both lower triangular. */
static inline void spa_divide(int32_t n, SpaMatrix now, SpaMatrix last, SpaMatrix A)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = n - 1; j >= 0; j--) {
            double sum = now[i][j];
            for (int32_t k = j + 1; k < n; k++)
                sum -= A[i][k] * last[k][j];
            A[i][j] = sum / last[j][j];
        }
}

/* The attention matrix of layer l. */
static inline void spa_layer(const SpaCase *c, int32_t l, SpaMatrix A)
{
    SpaMatrix now, last, f, g;
    spa_sigma(c, l, now);
    spa_sigma(c, l - 1, last);
    if (spa_is(c, "causal") || spa_is(c, "u-causal")) {
        spa_cholesky(c->n, now, f);
        spa_cholesky(c->n, last, g);
        spa_divide(c->n, f, g, A);
        return;
    }
    spa_power(c->n, now, 0.5, f);
    spa_power(c->n, last, -0.5, g);
    spa_multiply(c->n, f, g, A);
    for (int32_t i = 0; spa_is(c, "r") && !c->is_raw && i < c->n; i++)
        for (int32_t j = 0; j < c->n; j++)
            A[i][j] *= sqrt((l == 1 ? 1 : last[j][j]) / now[i][i]);
}

#endif
