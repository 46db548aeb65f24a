/* Where a unit of a matrix product lies. Internal to runtime/kernels. */
#ifndef VFK_MATMUL_UNIT_H
#define VFK_MATMUL_UNIT_H

#include "runtime/kernels/variant.h"

/* Element offsets of a batch in up to four operands. */
typedef struct VfkBatchOffset {
    int64_t a, b, c, bias;
} VfkBatchOffset;

/* One unit: some rows of one batch. */
typedef struct VfkMatmulUnit {
    VfkBatchOffset offset; /* of the batch */
    int64_t row;           /* first row */
    int64_t rows;
} VfkMatmulUnit;

static inline VfkMatmulUnit vfk_matmul_unit(const VfkMatmulParams *params, int64_t unit)
{
    int64_t blocks = (params->m + params->block_rows - 1) / params->block_rows;
    int64_t batch = unit / blocks;
    VfkMatmulUnit result = {.row = unit % blocks * params->block_rows};
    result.rows = vfk_min_i64(params->block_rows, params->m - result.row);
    for (int64_t axis = params->batch_rank - 1; axis >= 0; axis--) {
        int64_t index = batch % params->batch_dim[axis];
        batch /= params->batch_dim[axis];
        result.offset.a += index * params->a_batch[axis];
        result.offset.b += index * params->b_batch[axis];
        result.offset.c += index * params->c_batch[axis];
        result.offset.bias += index * params->bias_batch[axis];
    }
    return result;
}

#endif
