/* Block sizes of the packed products, and the scratch they need. Internal to runtime/kernels. */
#ifndef VFK_GEMM_SIZE_H
#define VFK_GEMM_SIZE_H

#include <stdint.h>

/* Columns of b lie in panels of one cache line; two panels are a group. KC steps of MC rows of a
 * stay in the second-level cache. A row of a is held at a stride that every tile knows when it is
 * compiled and that spreads the rows over the sets of the first-level cache. */
enum {
    GEMM_PANEL_BYTES = 64,
    GEMM_KC = 768,
    GEMM_RUN = 256, /* terms that are summed one after the other */
    GEMM_MC = 224,
    GEMM_STRIDE = GEMM_KC + 16
};

/* Elements of a group of b, and of the rows of a, that scratch holds. */
static inline int64_t gemm_b_elements(int64_t k, int64_t element_bytes)
{
    return (k < GEMM_KC ? k : GEMM_KC) * 2 * GEMM_PANEL_BYTES / element_bytes;
}

static inline int64_t gemm_a_elements(int64_t m)
{
    return (m < GEMM_MC ? m : GEMM_MC) * GEMM_STRIDE;
}

#endif
