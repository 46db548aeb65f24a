/* A layer at part strength, through another function than softmax, and with a skip. */
#include <math.h>
#include <string.h>

#include "passes/spa/kernel.h"

static int32_t row_length(const VfSpaLayer *layer, int32_t i)
{
    return layer->is_causal ? i + 1 : layer->A.n_col;
}

void vf_spa_weaken(VfSpaLayer *layer, double tau)
{
    for (int32_t i = 0; i < layer->A.n_row; i++) {
        double *a = vf_matrix_row(&layer->A, i), *b = vf_matrix_row(&layer->B, i), sum = 0;
        layer->D[i] = pow(layer->D[i], tau);
        for (int32_t j = 0; j < row_length(layer, i); j++) {
            b[j] = tau * b[j] + 0.0; /* never -0 */
            sum += exp(b[j]);
        }
        for (int32_t j = 0; j < row_length(layer, i); j++)
            a[j] = layer->D[i] * exp(b[j]) / sum;
    }
}

static double bias_same(double y)
{
    return y;
}

/* log(exp(y) - 1) */
static double bias_softplus(double y)
{
    return y > 1 ? y + log1p(-exp(-y)) : log(expm1(y));
}

/* h(bias) = y, or why there is no such function. */
static const struct {
    const char *act;
    double (*inverse)(double y);
    const char *why;
} inverse_table[] = {
    {"relu", bias_same, NULL},
    {"relu2", sqrt, NULL},
    {"identity", bias_same, NULL},
    {"softplus", bias_softplus, NULL},
    {"relu6", NULL, "it is at most 6, and the diagonal is about 0.9 times the number of keys"},
    {"sigmoid", NULL, "it is below 1, and the diagonal is about 0.9 times the number of keys"},
    {"gelu", NULL, "it has no inverse in closed form"},
};

VfStatus vf_spa_pointwise_bias(VfArena *arena, const VfSpaLayer *layer, const char *act,
                               double scale, VfMatrix *bias, VfErr *err)
{
    size_t n = sizeof inverse_table / sizeof inverse_table[0], k = 0;
    while (k < n && strcmp(act, inverse_table[k].act) != 0)
        k++;
    if (k == n || inverse_table[k].inverse == NULL)
        return vf_fail(err, VF_UNSUPPORTED, "'%s' cannot carry the bias: %s", act,
                       k == n ? "its inverse is not known" : inverse_table[k].why);
    VF_TRY(vf_matrix_new(arena, layer->A.n_row, layer->A.n_col, bias, err));
    for (int32_t i = 0; i < bias->n_row; i++)
        for (int32_t j = 0; j < row_length(layer, i); j++)
            vf_matrix_row(bias, i)[j] =
                inverse_table[k].inverse(scale * vf_matrix_row(&layer->A, i)[j]);
    return VF_OK;
}

void vf_spa_shape(VfMatrix *A, double alpha, double beta, double gamma, const VfMatrix *C)
{
    for (int32_t i = 0; i < A->n_row; i++)
        for (int32_t j = 0; j < A->n_col; j++) {
            double *a = &vf_matrix_row(A, i)[j];
            *a = (i == j ? alpha : 0) + beta * *a;
            if (C != NULL)
                *a -= gamma * vf_matrix_row(C, i)[j];
        }
}
