/* Attention: queries, keys and values of many heads to weighted sums of values.
 *
 *   attention_f32    variants ref and per instruction set; fma3 and fma4, the same with fused
 *                    multiply-adds in the products. fma3 and fma4 agree bit for bit with each
 *                    other, but not with ref
 *
 * For every batch index (heads are batch axes too), with q m x d, k n x d, v n x dv:
 *
 *   s = scale * q k^T + shift + bias + bias2        m x n, never whole in memory
 *   out = factor * f(s) v                           m x dv
 *
 * in: q, k, v, bias, bias2 (both may be NULL); out: out. A bias is any f32 tensor broadcast to
 * m x n by its strides: masks of 0 and -inf, relative positions. f is the softmax of each row,
 * or a function of each score. In a softmax the greatest score is subtracted and the sum of the
 * exponentials divides the weighted sum; a row of -inf only, or with a NaN or +inf, gives NaN, as
 * the formula does. A scale that is a power of two is taken to q. Below exp(-87) exponentials are
 * 0.
 *
 * Every axis of every operand has a stride of its own, 0 where it is broadcast, so that heads
 * inside a B x S x H x D tensor, packed q, k and v, and keys stored as d x n need no copy. Rows
 * of q and v with unit stride are faster; out must have it.
 *
 * Keys are taken in even blocks of at most VFK_ATTEND_KEYS; from block to block, the sums of a
 * softmax are scaled to the greatest score so far. A row's result depends on nothing but the
 * row's operands.
 *
 * Units: batch * ceil(m / block_rows), the blocks of a batch together: a call packs the keys and
 * values of a batch once for all of its blocks, unless they are too many to keep. block_rows
 * comes from the shape alone (vfk_attention_block_rows). Scratch: vfk_attention_scratch_bytes.
 */
#ifndef VFK_ATTENTION_H
#define VFK_ATTENTION_H

#include <math.h>

#include "runtime/kernels/kernel.h"

/* The most keys of a block, and the most columns of q and k. n is at least 1. */
enum { VFK_ATTEND_KEYS = 384, VFK_ATTEND_DEPTH = 768 };

/* f, the function of scores. */
typedef enum VfkAttend {
    VFK_ATTEND_SOFTMAX,
    VFK_ATTEND_NONE,
    VFK_ATTEND_RELU,
    VFK_ATTEND_SIGMOID
} VfkAttend;

typedef struct VfkAttentionParams {
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
    int64_t bias_batch[VFK_MAX_RANK];
    int64_t bias2_batch[VFK_MAX_RANK];
    int64_t q_row; /* strides in elements */
    int64_t q_col;
    int64_t k_row; /* between keys */
    int64_t k_col;
    int64_t v_row; /* between keys */
    int64_t v_col;
    int64_t out_row;
    int64_t bias_row; /* between queries */
    int64_t bias_col; /* between keys */
    int64_t bias2_row;
    int64_t bias2_col;
    int64_t function; /* VfkAttend */
    int64_t block_rows;
    double scale;
    double shift;
    double factor;
} VfkAttentionParams;

/* Or its negative: queries may be scaled by it instead of scores, which get the same bits. */
static inline int vfk_is_power_of_two(double x)
{
    int exponent;
    return fabs(frexp(x, &exponent)) == 0.5;
}

/* Queries of a unit. */
int64_t vfk_attention_block_rows(const VfkAttentionParams *params);

/* Units of a step whose block_rows is set. */
int64_t vfk_attention_units(const VfkAttentionParams *params);

/* Scratch of a step, for any variant. */
size_t vfk_attention_scratch_bytes(const VfkAttentionParams *params);

#endif
