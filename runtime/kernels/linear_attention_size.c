#include "runtime/kernels/linear_attention_size.h"

/* Built once: what lowering asks for must not depend on the instruction set. */

int64_t vfk_linear_attention_units(const VfkLinearAttentionParams *params)
{
    int64_t units = linear_groups(params);
    for (int64_t i = 0; i < params->batch_rank; i++) {
        units *= params->batch_dim[i];
    }
    return units;
}

size_t vfk_linear_attention_scratch_bytes(const VfkLinearAttentionParams *params)
{
    return (size_t)linear_layout(params).end * sizeof(float);
}
