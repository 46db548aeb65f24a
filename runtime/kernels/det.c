#include "runtime/kernels/variant.h"

static int64_t pivot_row(const double *a, int64_t n, int64_t k)
{
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++) {
        best = fabs(a[i * n + k]) > fabs(a[best * n + k]) ? i : best;
    }
    return best;
}

/* Overwrites `a`. */
static double determinant(double *a, int64_t n)
{
    double product = 1;
    for (int64_t k = 0; k < n; k++) {
        const int64_t row = pivot_row(a, n, k);
        const double pivot = a[row * n + k];
        if (pivot == 0) {
            return 0;
        }
        product *= row == k ? pivot : -pivot;
        for (int64_t j = k; j < n; j++) {
            const double other = a[k * n + j];
            a[k * n + j] = a[row * n + j];
            a[row * n + j] = other;
        }
        for (int64_t i = k + 1; i < n; i++) {
            const double factor = a[i * n + k] / pivot;
            for (int64_t j = k + 1; j < n; j++) {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    return product;
}

#define DET(dtype, T) \
    void VFK_FN(det, dtype)(const VfkArgs *args) \
    { \
        const VfkDetParams *params = args->params; \
        const int64_t size = params->n * params->n; \
        double *a = args->scratch; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            const T *x = args->in[0]; \
            for (int64_t i = 0; i < size; i++) { \
                a[i] = (double)x[u * size + i]; \
            } \
            ((T *)args->out[0])[u] = (T)determinant(a, params->n); \
        } \
    }

DET(f32, float)
DET(f64, double)
