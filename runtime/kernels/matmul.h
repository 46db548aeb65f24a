/* Matrix products: MatMul, Gemm, the steps of Einsum, MatMulInteger.
 *
 * For every batch index,  C = alpha * op(A) op(B) + beta * bias,  with op(A) m x k, op(B) k x n.
 * in: a, b, bias (may be NULL); out: c.
 *
 *   matmul_f32 matmul_f64          variants ref and per instruction set; fma3, fma4 and neon, the
 *                                  same with fused multiply-adds; blas (OpenBLAS). The fused ones
 *                                  agree bit for bit with each other, but not with ref
 *   matmul_i32 i64 u8 u32 u64      wrapping; alpha, beta and bias are not read
 *   matmul_integer_A_B             A, B of {u8, i8}; VfkMatmulIntegerParams; c is i32. in: a, b,
 *                                  zero point of a, zero point of b (both may be NULL)
 *
 * Leading dimensions and batch strides let lowering hand over views: heads inside an
 * interleaved B x S x H x D tensor are matrices with ld H * D, and their Transpose disappears.
 * Rows must have unit stride. Batches with one weight (b stride 0) should be merged into m.
 *
 * Units: batch * ceil(m / block_rows), the blocks of a batch together. block_rows is chosen from
 * the shape alone (vfk_matmul_block_rows), so results do not depend on threads. Scratch:
 * vfk_matmul_scratch_bytes; blas needs none, but asking for the same is harmless.
 */
#ifndef VFK_MATMUL_H
#define VFK_MATMUL_H

#include "runtime/kernels/kernel.h"

typedef struct VfkMatmulParams {
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t trans_a; /* a is stored k x m */
    int64_t trans_b; /* b is stored n x k */
    int64_t lda;     /* elements between stored rows */
    int64_t ldb;
    int64_t ldc;
    int64_t batch_rank; /* 0: one product */
    int64_t batch_dim[VFK_MAX_RANK];
    int64_t a_batch[VFK_MAX_RANK]; /* strides in elements, 0 where broadcast */
    int64_t b_batch[VFK_MAX_RANK];
    int64_t c_batch[VFK_MAX_RANK];
    int64_t bias_batch[VFK_MAX_RANK];
    int64_t bias_row; /* stride of bias along m, in elements: 0 for one row */
    int64_t bias_col; /* along n: 0 for one column, 1 usually */
    int64_t block_rows;
    double alpha;
    double beta;
} VfkMatmulParams;

typedef struct VfkMatmulIntegerParams {
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t lda; /* no transposes here */
    int64_t ldb;
    int64_t ldc;
    int64_t batch_rank;
    int64_t batch_dim[VFK_MAX_RANK];
    int64_t a_batch[VFK_MAX_RANK];
    int64_t b_batch[VFK_MAX_RANK];
    int64_t c_batch[VFK_MAX_RANK];
    int64_t a_zero_stride; /* 0: one zero point for a; 1: one per row */
    int64_t b_zero_stride; /* 0: one zero point for b; 1: one per column */
    int64_t block_rows;
} VfkMatmulIntegerParams;

/* The number of products. */
static inline double vfk_matmul_batches(int64_t batch_rank, const int64_t *batch_dim)
{
    double batches = 1;
    for (int64_t i = 0; i < batch_rank; i++) {
        batches *= (double)batch_dim[i];
    }
    return batches;
}

/* Rows of a unit: all of them when there are many products; else a multiple of 16 of about a
 * sixteenth, at least some 96. */
static inline int64_t vfk_matmul_block_rows(int64_t m, int64_t batch_rank,
                                            const int64_t *batch_dim)
{
    int64_t blocks = m / 96;
    if (vfk_matmul_batches(batch_rank, batch_dim) >= 3 || blocks < 2) {
        return m > 0 ? m : 1;
    }
    if (blocks > 16) {
        blocks = 16;
    }
    int64_t rows = (m + blocks - 1) / blocks;
    return (rows + 15) / 16 * 16;
}

/* Units of a step. */
static inline int64_t vfk_matmul_units(int64_t m, int64_t n, int64_t block_rows,
                                       int64_t batch_rank, const int64_t *batch_dim)
{
    int64_t blocks = n == 0 ? 0 : (m + block_rows - 1) / block_rows;
    return (int64_t)vfk_matmul_batches(batch_rank, batch_dim) * blocks;
}

/* Scratch of a matmul step, for any variant; `element_bytes` is 4 for f32. matmul_integer
 * needs none. */
size_t vfk_matmul_scratch_bytes(const VfkMatmulParams *params, size_t element_bytes);

/* Make OpenBLAS run each call on the thread that makes it. The executor calls it once before
 * it starts threads of its own. Does nothing in a build without OpenBLAS. */
void vfk_blas_single_thread(void);

#endif
