/* Where the blocks of linear attention lie in scratch. Internal to runtime/kernels. */
#ifndef VFK_LINEAR_ATTENTION_SIZE_H
#define VFK_LINEAR_ATTENTION_SIZE_H

#include "runtime/kernels/gemm_size.h"
#include "runtime/kernels/variant.h"

/* Rows of queries that any variant works on at once. */
enum { LINEAR_ROWS = 14 };

static inline int64_t linear_round_up(int64_t x)
{
    const int64_t panel = GEMM_PANEL_BYTES / (int64_t)sizeof(float);
    return (x + panel - 1) / panel * panel;
}

/* Offsets in floats, each a multiple of a panel. */
typedef struct LinearLayout {
    int64_t at_value, at_sum, at_part, at_query, at_key_sum, at_divisor, end;
} LinearLayout;

static inline LinearLayout linear_layout(const VfkLinearAttentionParams *p)
{
    LinearLayout x = {.at_value = p->d * GEMM_STRIDE};
    x.at_sum = x.at_value + vfk_min_i64(p->n, GEMM_KC) * VFK_LINEAR_COLUMNS;
    x.at_part = x.at_sum + p->d * VFK_LINEAR_COLUMNS;
    x.at_query = x.at_part + vfk_max_i64(p->d, LINEAR_ROWS) * VFK_LINEAR_COLUMNS;
    x.at_key_sum = x.at_query + LINEAR_ROWS * GEMM_STRIDE;
    x.at_divisor = x.at_key_sum + linear_round_up(p->d);
    x.end = x.at_divisor + p->m;
    return x;
}

static inline int64_t linear_groups(const VfkLinearAttentionParams *p)
{
    return (p->dv + VFK_LINEAR_COLUMNS - 1) / VFK_LINEAR_COLUMNS;
}

#endif
