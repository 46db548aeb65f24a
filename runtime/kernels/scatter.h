/* Writing through indices: ScatterElements and ScatterND.
 *
 * in: data, indices, updates. out is a copy of data with updates applied in row-major order of
 * the indices, so among equal indices the last wins. Indices are as in gather.h; one outside
 * its axis is told, and its updates are left out. Units: 1, the whole tensor. May run in place (no
 * copy then).
 *
 *   scatter_elements_b1 b2 b4 b8 b16, scatter_nd_b1 ...   reduction must be VFK_SCATTER_SET
 *   scatter_elements_f32 f64 i8 u8 ..., scatter_nd_f32 ... any reduction
 *   scatter_elements_c64 c128, scatter_nd_c64 c128        VFK_SCATTER_ADD or VFK_SCATTER_MUL
 */
#ifndef VFK_SCATTER_H
#define VFK_SCATTER_H

#include "runtime/kernels/kernel.h"

typedef enum VfkScatterReduction {
    VFK_SCATTER_SET = 0,
    VFK_SCATTER_ADD = 1,
    VFK_SCATTER_MUL = 2,
    VFK_SCATTER_MAX = 3,
    VFK_SCATTER_MIN = 4
} VfkScatterReduction;

typedef struct VfkScatterElementsParams {
    int64_t n; /* elements of data */
    int64_t rank;
    int64_t dim[VFK_MAX_RANK];         /* shape of the indices and updates */
    int64_t data_stride[VFK_MAX_RANK]; /* in elements */
    int64_t axis;
    int64_t axis_dim; /* length of the axis in data */
    int64_t index_bytes;
    int64_t reduction;
} VfkScatterElementsParams;

typedef struct VfkScatterNdParams {
    int64_t n;       /* elements of data */
    int64_t n_tuple; /* index tuples */
    int64_t depth;   /* length of a tuple */
    int64_t dim[VFK_MAX_RANK];    /* of the indexed axes, `depth` of them */
    int64_t stride[VFK_MAX_RANK]; /* of the indexed axes in data, in elements */
    int64_t inner;   /* elements per tuple */
    int64_t index_bytes;
    int64_t reduction;
} VfkScatterNdParams;

#endif
