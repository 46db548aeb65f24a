/* Reading through indices: Gather, GatherElements, GatherND.
 *
 * in: data, indices. Indices are i32 or i64 as `index_bytes` (4 or 8) says. A negative index
 * counts from the end. An index outside its axis is told (VfkFault) and gives zero bytes.
 * Kernels by the bytes of an element: b1 b2 b4 b8 b16.
 *
 *   gather           out[o, j, i] = data[o, index[j], i]. Units: outer * n_index
 *   gather_elements  out[i] = data[i with i_axis := index[i]]; out and index have the shape dim
 *                    and are contiguous. Units: elements of out
 *   gather_nd        for every batch b and tuple t: inner elements from
 *                    data[b * batch_stride + sum over j < depth of index[b, t, j] * stride[j]].
 *                    Units: batch * n_tuple
 */
#ifndef VFK_GATHER_H
#define VFK_GATHER_H

#include "runtime/kernels/kernel.h"

typedef struct VfkGatherParams {
    int64_t outer;   /* product of the axes before */
    int64_t axis_dim; /* length of the gathered axis in data */
    int64_t n_index; /* number of indices */
    int64_t inner;   /* product of the axes behind */
    int64_t index_bytes;
} VfkGatherParams;

typedef struct VfkGatherElementsParams {
    int64_t rank;
    int64_t dim[VFK_MAX_RANK];         /* shape of the indices and the result */
    int64_t data_stride[VFK_MAX_RANK]; /* in elements */
    int64_t axis;
    int64_t axis_dim; /* length of the axis in data */
    int64_t index_bytes;
} VfkGatherElementsParams;

typedef struct VfkGatherNdParams {
    int64_t batch;        /* product of the batch_dims axes */
    int64_t batch_stride; /* elements of data per batch */
    int64_t n_tuple;      /* index tuples per batch */
    int64_t depth;        /* length of a tuple */
    int64_t dim[VFK_MAX_RANK];    /* of the indexed axes, `depth` of them */
    int64_t stride[VFK_MAX_RANK]; /* of the indexed axes in data, in elements */
    int64_t inner;        /* elements per tuple */
    int64_t index_bytes;
} VfkGatherNdParams;

#endif
