#include "runtime/kernels/attention_size.h"

/* Built once: what lowering asks for must not depend on the instruction set. */

/* Even shares of about 50 rows: enough units for several workers where heads are few. Where keys
 * must be packed anew for each unit, more rows pay for it. */
int64_t vfk_attention_block_rows(const VfkAttentionParams *params)
{
    VfkAttentionParams one = *params;
    one.block_rows = 1;
    const int64_t pair = attend_layout(&one).is_kept ? 100 : 400;
    const int64_t pairs = (params->m + pair / 2 - 1) / pair;
    const int64_t blocks = pairs > 0 ? 2 * pairs : 1;
    return vfk_max_i64(1, (params->m + blocks - 1) / blocks);
}

int64_t vfk_attention_units(const VfkAttentionParams *params)
{
    int64_t units = (params->m + params->block_rows - 1) / params->block_rows;
    for (int64_t i = 0; i < params->batch_rank; i++) {
        units *= params->batch_dim[i];
    }
    return units;
}

size_t vfk_attention_scratch_bytes(const VfkAttentionParams *params)
{
    return (size_t)attend_layout(params).end * sizeof(float);
}
