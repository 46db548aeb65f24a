/* Indices held in tensors. Internal to runtime/kernels. */
#ifndef VFK_INDEX_H
#define VFK_INDEX_H

#include <stdint.h>

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

/* The same, clamped into [0, dim); dim > 0. */
static inline int64_t vfk_index_clamp(const void *index, int64_t bytes, int64_t i, int64_t dim)
{
    int64_t at = vfk_index_wrap(index, bytes, i, dim);
    at = at < 0 ? 0 : at;
    return at < dim ? at : dim - 1;
}

#endif
