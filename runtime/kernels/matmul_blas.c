#include <cblas.h>

#include "runtime/kernels/matmul_unit.h"

/* Added to the finished sums, as matmul.c does: a product and its bias in one step give the bits
 * of two steps. */
#define ADD_BIAS(dtype, T) \
    static void add_bias_##dtype(const VfkMatmulParams *params, int64_t rows, const T *bias, T *c) \
    { \
        const T beta = (T)params->beta; \
        for (int64_t i = 0; i < rows; i++, c += params->ldc, bias += params->bias_row) { \
            for (int64_t j = 0; j < params->n; j++) { \
                c[j] += beta * bias[j * params->bias_col]; \
            } \
        } \
    }

/* Products of a vector are memory-bound and go to gemv: one row as op(B)^T a, one column as
 * op(A) b. Dimensions fit int (vfk_fits_int): lowering chooses another variant where they
 * do not. */
#define PRODUCT(dtype, T, gemm, gemv) \
    static void product_##dtype(const VfkMatmulParams *params, int64_t rows, const T *a, \
                                const T *b, T *c) \
    { \
        const T beta = 0; \
        const int m = (int)rows, n = (int)params->n, k = (int)params->k; \
        const int lda = (int)params->lda, ldb = (int)params->ldb, ldc = (int)params->ldc; \
        const T alpha = (T)params->alpha; \
        if (m == 1 && params->trans_b) { \
            gemv(CblasRowMajor, CblasNoTrans, n, k, alpha, b, ldb, a, \
                 params->trans_a ? lda : 1, beta, c, 1); \
        } else if (m == 1) { \
            gemv(CblasRowMajor, CblasTrans, k, n, alpha, b, ldb, a, params->trans_a ? lda : 1, \
                 beta, c, 1); \
        } else if (n == 1 && params->trans_a) { \
            gemv(CblasRowMajor, CblasTrans, k, m, alpha, a, lda, b, params->trans_b ? 1 : ldb, \
                 beta, c, ldc); \
        } else if (n == 1) { \
            gemv(CblasRowMajor, CblasNoTrans, m, k, alpha, a, lda, b, \
                 params->trans_b ? 1 : ldb, beta, c, ldc); \
        } else { \
            gemm(CblasRowMajor, params->trans_a ? CblasTrans : CblasNoTrans, \
                 params->trans_b ? CblasTrans : CblasNoTrans, m, n, k, alpha, a, lda, b, ldb, \
                 beta, c, ldc); \
        } \
    } \
    /* No terms. */ \
    static void empty_##dtype(const VfkMatmulParams *params, int64_t rows, T *c) \
    { \
        for (int64_t i = 0; i < rows; i++, c += params->ldc) { \
            memset(c, 0, (size_t)params->n * sizeof(T)); \
        } \
    }

#define MATMUL(dtype, T, gemm, gemv) \
    ADD_BIAS(dtype, T) \
    PRODUCT(dtype, T, gemm, gemv) \
    void VFK_PASTE(matmul, dtype, blas)(const VfkArgs *args) \
    { \
        const VfkMatmulParams *params = args->params; \
        const T *bias = args->in[2]; \
        const int64_t a_row = params->trans_a ? 1 : params->lda; \
        for (int64_t u = args->begin; u < args->end && params->n > 0; u++) { \
            VfkMatmulUnit unit = vfk_matmul_unit(params, u); \
            T *c = (T *)args->out[0] + unit.offset.c + unit.row * params->ldc; \
            if (params->k == 0) { \
                empty_##dtype(params, unit.rows, c); \
            } else { \
                product_##dtype(params, unit.rows, \
                                (const T *)args->in[0] + unit.offset.a + unit.row * a_row, \
                                (const T *)args->in[1] + unit.offset.b, c); \
            } \
            if (bias) { \
                add_bias_##dtype(params, unit.rows, \
                                 bias + unit.offset.bias + unit.row * params->bias_row, c); \
            } \
        } \
    }

MATMUL(f32, float, cblas_sgemm, cblas_sgemv)
MATMUL(f64, double, cblas_dgemm, cblas_dgemv)

void vfk_blas_single_thread(void)
{
    openblas_set_num_threads(1);
}
