#include "runtime/kernels/gemm.h"
#include "runtime/kernels/matmul_unit.h"

/* c = alpha * c + beta * bias over the rows of a unit. */
#define FINISH(dtype, T) \
    static void finish_##dtype(const VfkMatmulParams *params, int64_t rows, const T *bias, T *c) \
    { \
        const T alpha = (T)params->alpha, beta = (T)params->beta; \
        const int64_t step = params->bias_col; \
        for (int64_t i = 0; i < rows; i++, c += params->ldc) { \
            if (alpha != (T)1) { \
                for (int64_t j = 0; j < params->n; j++) { \
                    c[j] *= alpha; \
                } \
            } \
            for (int64_t j = 0; bias && j < params->n; j++) { \
                c[j] += beta * bias[i * params->bias_row + j * step]; \
            } \
        } \
    }

#define MATMUL(dtype, T) \
    FINISH(dtype, T) \
    void VFK_FN(matmul, dtype)(const VfkArgs *args) \
    { \
        const VfkMatmulParams *params = args->params; \
        const T *a = args->in[0], *b = args->in[1], *bias = args->in[2]; \
        T *c = args->out[0]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            VfkMatmulUnit unit = vfk_matmul_unit(params, u); \
            Gemm_##dtype g = {.m = unit.rows, .n = params->n, .k = params->k}; \
            g.a_row = params->trans_a ? 1 : params->lda; \
            g.a_col = params->trans_a ? params->lda : 1; \
            g.b_row = params->trans_b ? 1 : params->ldb; \
            g.b_col = params->trans_b ? params->ldb : 1; \
            g.c_row = params->ldc; \
            if (params->k > 0) { \
                g.a = a + unit.offset.a + unit.row * g.a_row; \
                g.b = b + unit.offset.b; \
            } \
            g.c = c + unit.offset.c + unit.row * params->ldc; \
            gemm_##dtype(&g, args->scratch); \
            const T *unit_bias = NULL; \
            if (bias) { \
                unit_bias = bias + unit.offset.bias + unit.row * params->bias_row; \
            } \
            finish_##dtype(params, unit.rows, unit_bias, g.c); \
        } \
    }

MATMUL(f32, float)
MATMUL(f64, double)
