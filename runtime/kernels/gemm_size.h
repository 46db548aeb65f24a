/* Block sizes of the packed product, and the scratch they need. Internal to runtime/kernels. */
#ifndef VFK_GEMM_SIZE_H
#define VFK_GEMM_SIZE_H

#include <stdint.h>

/* Rows of a tile: 12 of 16 vector registers accumulate. KC x NC of b stays in the second-level
 * cache, a tile's panels in the first. The widest tile of any variant has 32 columns. */
enum { GEMM_MR = 6, GEMM_KC = 256, GEMM_MC = 96, GEMM_NC = 512, GEMM_WIDEST = 32 };

static inline int64_t gemm_round_up(int64_t x, int64_t step)
{
    return (x + step - 1) / step * step;
}

/* Elements of packed b, and of packed a, for any variant; at most KC * NC and KC * MC. */
static inline int64_t gemm_b_elements(int64_t n, int64_t k)
{
    int64_t width = n < GEMM_NC ? gemm_round_up(n, GEMM_WIDEST) : GEMM_NC;
    return width * (k < GEMM_KC ? k : GEMM_KC);
}

static inline int64_t gemm_a_elements(int64_t m, int64_t k)
{
    int64_t height = m < GEMM_MC ? gemm_round_up(m, GEMM_MR) : GEMM_MC;
    return height * (k < GEMM_KC ? k : GEMM_KC);
}

#endif
