/* The uniform kernel (1-ρ) I + ρ 1 1ᵀ: it knows no geometry, so it serves any set of tokens. */
#include <math.h>

#include "passes/spa/parts.h"
#include "passes/spa/schedule.h"

/* Row i (from 0) of the Cholesky factor: its diagonal, and what stands below in its column. */
static double chol_diagonal(double rho, int32_t i)
{
    return i == 0 ? 1 : sqrt((1 - rho) * (1 + i * rho) / (1 + (i - 1) * rho));
}

static double chol_below(double rho, int32_t j)
{
    return j == 0 ? rho : rho * sqrt((1 - rho) / ((1 + j * rho) * (1 + (j - 1) * rho)));
}

/* A[i,i] = d_i/d'_i and A[i,j] = c_j/d'_j - (S_{i-1} - S_j) - d_i w_i/d'_i with
 * S_i = Σ_{1<=k<=i} c_k w_k/d'_k and w_k = ρ'/(1 + (k-1) ρ'), counted from 0; ' is layer l - 1. */
VfStatus vf_spa_fill_uniform_causal(VfArena *scratch, const VfSpaSpec *spec, VfSpaLayer *layer,
                                    bool *has_log, VfErr *err)
{
    (void)has_log;
    double rho = vf_spa_rho(spec->target, spec->depth, layer->l);
    double last = vf_spa_rho(spec->target, spec->depth, layer->l - 1);
    double *sum = VF_NEW_ARRAY(scratch, double, (size_t)spec->tokens);
    VF_TRY_ALLOC(sum, err);
    for (int32_t i = 0; i < spec->tokens; i++) {
        double *a = vf_matrix_row(&layer->A, i);
        double d = chol_diagonal(last, i), w = i == 0 ? 0 : last / (1 + (i - 1) * last);
        a[i] = chol_diagonal(rho, i) / d;
        sum[i] = i == 0 ? 0 : sum[i - 1] + chol_below(rho, i) * w / d;
        for (int32_t j = 0; j < i; j++)
            a[j] = chol_below(rho, j) / chol_diagonal(last, j) - (sum[i - 1] - sum[j]) - a[i] * w;
    }
    return VF_OK;
}

VfStatus vf_spa_fill_uniform(VfArena *scratch, const VfSpaSpec *spec, VfSpaLayer *layer,
                             bool *has_log, VfErr *err)
{
    (void)scratch, (void)has_log, (void)err;
    double rho = vf_spa_rho(spec->target, spec->depth, layer->l);
    double last = vf_spa_rho(spec->target, spec->depth, layer->l - 1), n = spec->tokens;
    double p = sqrt((1 - rho) / (1 - last));
    double q = (sqrt((1 + (n - 1) * rho) / (1 + (n - 1) * last)) - p) / n;
    for (int32_t i = 0; i < spec->tokens; i++)
        for (int32_t j = 0; j < spec->tokens; j++)
            vf_matrix_row(&layer->A, i)[j] = i == j ? p + q : q;
    return VF_OK;
}

VfStatus vf_spa_sigma_uniform(VfArena *scratch, const VfSpaSpec *spec, int32_t l, VfMatrix *sigma,
                              VfErr *err)
{
    (void)scratch, (void)err;
    double rho = vf_spa_rho(spec->target, spec->depth, l);
    for (int32_t i = 0; i < spec->tokens; i++)
        for (int32_t j = 0; j < spec->tokens; j++)
            vf_matrix_row(sigma, i)[j] = i == j ? 1 : rho;
    return VF_OK;
}
