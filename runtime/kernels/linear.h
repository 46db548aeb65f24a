/* Products with a constant matrix, packed once, and what is usually done to their result.
 *
 *   c = act(alpha * (a b) + bias) * scale + add
 *
 * in: a, packed b, bias [n] or NULL, scale [n] or NULL, add or NULL, where params.fetch is not 0
 * what is needed after this step, and where params.norms is set scale [k] or NULL and bias [k] or
 * NULL of a layer norm: the product is then that of the norms of the rows of a, with the bits of
 * layer_norm_f32; out: c.
 *
 *   linear_f32   variants ref and per instruction set; fma3, fma4 and neon, the same with fused
 *                multiply-adds in the sums
 *   pack_f32     packs b. in: b; out: vfk_packed_elements floats, 64-byte aligned. Units: panels
 *
 * Rows may have several axes, each with its own stride in a, c and add: heads, windows and images
 * that a transpose rearranges need no copy. Along n, c and add have unit stride. c overlaps no
 * operand. Rows of a up to GEMM_KC long that lie GEMM_STRIDE apart, or a single one, are read where
 * they are; others are copied first.
 *
 * What is needed next is only asked for, while the last columns of a call are worked on: memory is
 * slower than a step that begins by waiting for it. It changes no result.
 *
 * Sums have the bits of matmul_f32 of the same variant, and the rest is done in the order of the
 * formula, each operation rounded as by the kernel of its own: one step gives the bits of many.
 *
 * Packed b: panels of VFK_PANEL columns, one after the other, k rows of VFK_PANEL elements each;
 * the last panel is filled up with zeros.
 *
 * Units: blocks of rows times groups of VFK_GROUP columns, the groups of a block together, so that
 * threads share rows before columns and find in their own caches what they wrote in the step
 * before. Both sizes follow from the shape alone; results do not depend on threads.
 */
#ifndef VFK_LINEAR_H
#define VFK_LINEAR_H

#include "runtime/kernels/gemm_size.h"
#include "runtime/kernels/kernel.h"

enum {
    VFK_PANEL = GEMM_PANEL_BYTES / 4,
    VFK_GROUP = 2 * VFK_PANEL,
    VFK_LINEAR_SMALL = 1 << 18 /* elements of b: 1 MiB */
};

/* What is done to alpha * (a b) + bias; the names of map.h. */
typedef enum VfkAct {
    VFK_ACT_NONE,
    VFK_ACT_RELU,
    VFK_ACT_GELU,
    VFK_ACT_GELU_TANH,
    VFK_ACT_SILU, /* x sigmoid(act_alpha x) */
    VFK_ACT_SIGMOID,
    VFK_ACT_TANH,
    VFK_ACT_HARD_SWISH,
    VFK_ACT_MISH,
    VFK_ACT_COUNT
} VfkAct;

typedef struct VfkLinearParams {
    int64_t n; /* columns of b */
    int64_t k; /* rows of b */
    int64_t rank;
    int64_t dim[VFK_MAX_RANK]; /* axes of the rows, outermost first; rank 0: one row */
    int64_t a_step[VFK_MAX_RANK];
    int64_t c_step[VFK_MAX_RANK];
    int64_t add_step[VFK_MAX_RANK]; /* 0 where broadcast */
    int64_t a_col; /* elements from one step of k to the next in a: 1 is fastest */
    int64_t act;   /* VfkAct */
    int64_t fetch; /* bytes that are needed after this step; 0: not known */
    int64_t norms; /* whether rows of a are normalised first; k is at most GEMM_KC, a_col 1 */
    double norm_eps;
    double alpha;
    double act_alpha;
} VfkLinearParams;

/* in: b; element (p, j) at p * row + j * col. */
typedef struct VfkPackParams {
    int64_t k;
    int64_t n;
    int64_t row;
    int64_t col;
} VfkPackParams;

static inline int64_t vfk_linear_rows(const VfkLinearParams *params)
{
    int64_t rows = 1;
    for (int64_t i = 0; i < params->rank; i++) {
        rows *= params->dim[i];
    }
    return rows;
}

/* Rows of a unit, shared evenly: at most GEMM_MC, or half of that where b is so small that every
 * thread may read all of it. */
static inline int64_t vfk_linear_block_rows(const VfkLinearParams *params)
{
    int64_t rows = vfk_linear_rows(params);
    int64_t most = params->n * params->k <= VFK_LINEAR_SMALL ? GEMM_MC / 2 : GEMM_MC;
    int64_t blocks = rows > 0 ? (rows + most - 1) / most : 1;
    return rows > 0 ? (rows + blocks - 1) / blocks : 1;
}

static inline int64_t vfk_linear_groups(const VfkLinearParams *params)
{
    return (params->n + VFK_GROUP - 1) / VFK_GROUP;
}

static inline int64_t vfk_linear_units(const VfkLinearParams *params)
{
    int64_t rows = vfk_linear_rows(params), block = vfk_linear_block_rows(params);
    return (rows + block - 1) / block * vfk_linear_groups(params);
}

static inline int64_t vfk_pack_units(const VfkPackParams *params)
{
    return (params->n + VFK_PANEL - 1) / VFK_PANEL;
}

/* Floats of packed b; k and n are such that this does not overflow. */
static inline int64_t vfk_packed_elements(int64_t k, int64_t n)
{
    return (n + VFK_PANEL - 1) / VFK_PANEL * VFK_PANEL * k;
}

/* What every thread reads of packed b before anything else of it; 0 where they begin at different
 * columns. */
static inline int64_t vfk_linear_first_bytes(const VfkLinearParams *params)
{
    const int64_t k = params->k < GEMM_KC ? params->k : GEMM_KC;
    const int64_t n = params->n < VFK_GROUP ? params->n : VFK_GROUP;
    return params->n * params->k <= VFK_LINEAR_SMALL ? vfk_packed_elements(k, n) * 4 : 0;
}

/* More rows never need less, though their units may be smaller. */
static inline size_t vfk_linear_scratch_bytes(const VfkLinearParams *params)
{
    return (size_t)gemm_a_elements(vfk_linear_rows(params)) * sizeof(float);
}

#endif
