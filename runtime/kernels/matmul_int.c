#include "runtime/kernels/matmul_unit.h"

/* U: unsigned, at least as wide as int, where products wrap. Rows of b are added to rows of c,
 * so that the inner loop is contiguous; a transposed b is read by its stride. */
#define MATMUL(dtype, T, U) \
    static void product_##dtype(const VfkMatmulParams *params, int64_t rows, const T *a, \
                                const T *b, T *c) \
    { \
        const int64_t a_row = params->trans_a ? 1 : params->lda; \
        const int64_t a_col = params->trans_a ? params->lda : 1; \
        const int64_t b_row = params->trans_b ? 1 : params->ldb; \
        const int64_t b_col = params->trans_b ? params->ldb : 1; \
        for (int64_t i = 0; i < rows; i++, c += params->ldc) { \
            for (int64_t j = 0; j < params->n; j++) { \
                c[j] = 0; \
            } \
            for (int64_t p = 0; p < params->k; p++) { \
                const U v = (U)a[i * a_row + p * a_col]; \
                for (int64_t j = 0; j < params->n; j++) { \
                    c[j] = (T)((U)c[j] + v * (U)b[p * b_row + j * b_col]); \
                } \
            } \
        } \
    } \
    void VFK_FN(matmul, dtype)(const VfkArgs *args) \
    { \
        const VfkMatmulParams *params = args->params; \
        const T *a = args->in[0], *b = args->in[1]; \
        T *c = args->out[0]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            VfkMatmulUnit unit = vfk_matmul_unit(params, u); \
            int64_t a_row = params->trans_a ? 1 : params->lda; \
            if (params->k > 0) { \
                product_##dtype(params, unit.rows, a + unit.offset.a + unit.row * a_row, \
                                b + unit.offset.b, \
                                c + unit.offset.c + unit.row * params->ldc); \
            } else { \
                product_##dtype(params, unit.rows, a, b, \
                                c + unit.offset.c + unit.row * params->ldc); \
            } \
        } \
    }

MATMUL(i32, int32_t, uint32_t)
MATMUL(i64, int64_t, uint64_t)
MATMUL(u8, uint8_t, uint32_t)
MATMUL(u32, uint32_t, uint32_t)
MATMUL(u64, uint64_t, uint64_t)

/* The offsets of matmul_integer's units are those of a plain product. */
static VfkMatmulUnit integer_unit(const VfkMatmulIntegerParams *params, int64_t unit)
{
    VfkMatmulParams plain = {.m = params->m,
                             .block_rows = params->block_rows,
                             .batch_rank = params->batch_rank};
    memcpy(plain.batch_dim, params->batch_dim, sizeof plain.batch_dim);
    memcpy(plain.a_batch, params->a_batch, sizeof plain.a_batch);
    memcpy(plain.b_batch, params->b_batch, sizeof plain.b_batch);
    memcpy(plain.c_batch, params->c_batch, sizeof plain.c_batch);
    return vfk_matmul_unit(&plain, unit);
}

/* One row of the product: x of a, zero points taken off. */
#define MATMUL_INTEGER(a_type, A, b_type, B) \
    static void row_##a_type##_##b_type(const VfkMatmulIntegerParams *params, const A *a, \
                                        int32_t a_zero, const B *b, const B *b_zero, int32_t *c) \
    { \
        for (int64_t j = 0; j < params->n; j++) { \
            c[j] = 0; \
        } \
        for (int64_t p = 0; p < params->k; p++) { \
            const int32_t v = a[p] - a_zero; \
            const B *from = b + p * params->ldb; \
            for (int64_t j = 0; j < params->n; j++) { \
                const int32_t zero = b_zero ? b_zero[j * params->b_zero_stride] : 0; \
                c[j] = (int32_t)((uint32_t)c[j] + (uint32_t)(v * (from[j] - zero))); \
            } \
        } \
    } \
    void VFK_FN(matmul_integer_##a_type, b_type)(const VfkArgs *args) \
    { \
        const VfkMatmulIntegerParams *params = args->params; \
        const A *a = args->in[0], *a_zero = args->in[2]; \
        const B *b = args->in[1]; \
        int32_t *c = args->out[0]; \
        for (int64_t u = args->begin; u < args->end; u++) { \
            VfkMatmulUnit unit = integer_unit(params, u); \
            for (int64_t i = unit.row; i < unit.row + unit.rows; i++) { \
                int32_t zero = a_zero ? a_zero[i * params->a_zero_stride] : 0; \
                row_##a_type##_##b_type(params, a + unit.offset.a + i * params->lda, zero, \
                                        b + unit.offset.b, args->in[3], \
                                        c + unit.offset.c + i * params->ldc); \
            } \
        } \
    }

MATMUL_INTEGER(u8, uint8_t, u8, uint8_t)
MATMUL_INTEGER(u8, uint8_t, i8, int8_t)
MATMUL_INTEGER(i8, int8_t, u8, uint8_t)
MATMUL_INTEGER(i8, int8_t, i8, int8_t)
