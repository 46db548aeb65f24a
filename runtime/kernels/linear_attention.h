/* Linear attention: keys meet values before queries do.
 *
 *   linear_attention_f32    variants ref and per instruction set; fma3 and fma4, the same with
 *                           fused multiply-adds in the products. fma3 and fma4 agree bit for bit
 *                           with each other, but not with ref
 *
 * For every batch index (heads are batch axes too), with q m x d, k n x d, v n x dv, and f the
 * identity or relu, of queries and of keys:
 *
 *   out_i = factor (f(q_i) sum_j f(k_j)^T v_j) / (f(q_i) sum_j f(k_j) + shift)        m x dv
 *
 * in: q, k, v; out: out. Every axis of every operand has a stride of its own, 0 where it is
 * broadcast; columns of out have stride 1. The sums over keys run in blocks of GEMM_KC. Where the
 * divisor is 0 the results are as the division gives them.
 *
 * Units: batch * groups of VFK_LINEAR_COLUMNS columns of v, those of a batch together. Scratch:
 * vfk_linear_attention_scratch_bytes.
 */
#ifndef VFK_LINEAR_ATTENTION_H
#define VFK_LINEAR_ATTENTION_H

#include "runtime/kernels/kernel.h"

/* Columns of v of a unit; the most columns of q and k. n and d are at least 1. */
enum { VFK_LINEAR_COLUMNS = 32, VFK_LINEAR_DEPTH = 768 };

typedef struct VfkLinearAttentionParams {
    int64_t m;          /* queries */
    int64_t n;          /* keys */
    int64_t d;          /* columns of q and k */
    int64_t dv;         /* columns of v and out */
    int64_t batch_rank; /* 0: one head of one batch */
    int64_t batch_dim[VFK_MAX_RANK];
    int64_t q_batch[VFK_MAX_RANK]; /* strides in elements, 0 where broadcast */
    int64_t k_batch[VFK_MAX_RANK];
    int64_t v_batch[VFK_MAX_RANK];
    int64_t out_batch[VFK_MAX_RANK];
    int64_t q_row; /* strides in elements */
    int64_t q_col;
    int64_t k_row; /* between keys */
    int64_t k_col;
    int64_t v_row; /* between keys */
    int64_t v_col;
    int64_t out_row;
    int64_t relu_q; /* f of queries is relu */
    int64_t relu_k;
    double shift;
    double factor;
} VfkLinearAttentionParams;

/* Units of a step. */
int64_t vfk_linear_attention_units(const VfkLinearAttentionParams *params);

/* Scratch of a step, for any variant. */
size_t vfk_linear_attention_scratch_bytes(const VfkLinearAttentionParams *params);

#endif
