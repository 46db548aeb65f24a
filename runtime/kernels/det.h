/* Determinants.
 *
 * det_f32 f64: VfkDetParams. in: x (batch x n x n); out: y (batch). Gauss's elimination in double,
 * with the greatest element of a column as pivot. Without rows it is 1. scratch: n * n doubles.
 * Units: batch.
 */
#ifndef VFK_DET_H
#define VFK_DET_H

#include "runtime/kernels/kernel.h"

typedef struct VfkDetParams {
    int64_t n;
} VfkDetParams;

#endif
