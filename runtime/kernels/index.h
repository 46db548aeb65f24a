/* Indices held in tensors. Internal to runtime/kernels. */
#ifndef VFK_INDEX_H
#define VFK_INDEX_H

#include "runtime/kernels/kernel.h"

/* Element i of an i32 or i64 tensor (`bytes` 4 or 8). */
static inline int64_t vfk_index_load(const void *index, int64_t bytes, int64_t i)
{
    return bytes == 4 ? ((const int32_t *)index)[i] : ((const int64_t *)index)[i];
}

/* The same, counted from the end if negative; outside [0, dim) if it is out of range. */
static inline int64_t vfk_index_wrap(const void *index, int64_t bytes, int64_t i, int64_t dim)
{
    int64_t at = vfk_index_load(index, bytes, i);
    return at < 0 ? at + dim : at;
}

/* Index i of an operand, counted from the end if negative. One that is out of range is told; then
 * it is -1. */
static inline int64_t vfk_index_of(const VfkArgs *args, int operand, int64_t bytes, int64_t i,
                                   int64_t dim)
{
    int64_t at = vfk_index_wrap(args->in[operand], bytes, i, dim);
    if (at >= 0 && at < dim) {
        return at;
    }
    if (args->fault != NULL && !args->fault->is_set) {
        *args->fault = (VfkFault){vfk_index_load(args->in[operand], bytes, i), dim, 1};
    }
    return -1;
}

/* The same of operand 1, where gathering and scattering have them. */
static inline int64_t vfk_index_find(const VfkArgs *args, int64_t bytes, int64_t i, int64_t dim)
{
    return vfk_index_of(args, 1, bytes, i, dim);
}

#endif
