/* Where the blocks of linear attention lie in scratch. Internal to runtime/kernels. */
#ifndef VFK_LINEAR_ATTENTION_SIZE_H
#define VFK_LINEAR_ATTENTION_SIZE_H

#include "runtime/kernels/gemm_size.h"
#include "runtime/kernels/variant.h"

/* Columns of sums: those of a unit and the panel of the divisor. Rows of queries at once. */
enum {
    LINEAR_WIDTH = VFK_LINEAR_COLUMNS + GEMM_PANEL_BYTES / (int)sizeof(float),
    LINEAR_ROWS = 14
};

/* Offsets in floats, each a multiple of a panel. */
typedef struct LinearLayout {
    int64_t at_value, at_sum, at_part, at_query, at_divisor, end;
} LinearLayout;

static inline LinearLayout linear_layout(const VfkLinearAttentionParams *p)
{
    LinearLayout x = {.at_value = p->d * GEMM_STRIDE};
    x.at_sum = x.at_value + vfk_min_i64(p->n, GEMM_KC) * LINEAR_WIDTH;
    x.at_part = x.at_sum + p->d * LINEAR_WIDTH;
    x.at_query = x.at_part + vfk_max_i64(p->d, LINEAR_ROWS) * LINEAR_WIDTH;
    x.at_divisor = x.at_query + LINEAR_ROWS * GEMM_STRIDE;
    x.end = x.at_divisor + p->m;
    return x;
}

static inline int64_t linear_groups(const VfkLinearAttentionParams *p)
{
    return (p->dv + VFK_LINEAR_COLUMNS - 1) / VFK_LINEAR_COLUMNS;
}

#endif
