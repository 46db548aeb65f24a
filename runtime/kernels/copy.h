/* Movement of elements: strided copies and copies through index tables.
 *
 * Kernels by the bytes of an element: copy_b1 b2 b4 b8 b16, index_copy_b1 ... b16.
 *
 * copy: for every index i below dim,
 *     out[dst_offset + i . dst_stride] = in[src_offset + i . src_stride]
 * It serves Transpose, Slice, Expand, Split, Concat, Tile, Pad's interior, DepthToSpace and
 * SpaceToDepth. Strides may be negative, source strides 0. Several steps may fill one output.
 * Units: rows, that is indices over all axes but the last; 1 if rank is 0 or 1. The axes may
 * stand in any order as long as both stride lists agree. Put last the axis whose dst_stride is
 * 1; if its src_stride is not 1, put the axis with src_stride 1 before it: that pair is copied
 * in tiles. Rows that are contiguous on both sides, and whole ranges, are memcpy.
 *
 * index_copy: out is contiguous; for every index i below dim,
 *     out[i] = in[0][table_0[i_0] + table_1[i_1] + ...]
 * in[1] is the i64 tables of all axes one after the other, that of the last axis first (dim[rank -
 * 1] entries, then dim[rank - 2], ...: those of a smaller batch are the beginning of those of a
 * larger one), already multiplied by the source's strides, in elements; an entry of VFK_INDEX_FILL
 * makes the element in[2][0], or zero bytes if in[2] is NULL. It serves Pad in every mode, nearest
 * Resize and slices with repeats. Units: rows, as above.
 */
#ifndef VFK_COPY_H
#define VFK_COPY_H

#include "runtime/kernels/kernel.h"

#define VFK_INDEX_FILL INT64_MIN

typedef struct VfkCopyParams {
    int64_t rank;
    int64_t dim[VFK_MAX_RANK];
    int64_t src_stride[VFK_MAX_RANK]; /* in elements */
    int64_t dst_stride[VFK_MAX_RANK];
    int64_t src_offset; /* in elements */
    int64_t dst_offset;
} VfkCopyParams;

typedef struct VfkIndexCopyParams {
    int64_t rank; /* at least 1 */
    int64_t dim[VFK_MAX_RANK]; /* of the result */
} VfkIndexCopyParams;

#endif
