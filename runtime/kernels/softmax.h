/* Softmax, LogSoftmax and Hardmax along one axis.
 *
 *   softmax log_softmax hardmax    f32 f64
 *
 * The operand has the shape outer x n x inner, contiguous. Units: outer * inner; unit u is the
 * line with outer index u / inner and inner index u % inner. May run in place. Opsets below 13
 * flatten: inner is 1 then. The maximum is subtracted first. A row of -inf only, or with a NaN
 * or +inf, gives NaN, as the formula does. f32 sums are kept in double; results are within 4
 * units of the last place plus 1e-7 relative. Hardmax puts 1 at the first maximum.
 */
#ifndef VFK_SOFTMAX_H
#define VFK_SOFTMAX_H

#include "runtime/kernels/kernel.h"

typedef struct VfkSoftmaxParams {
    int64_t outer;
    int64_t n;
    int64_t inner;
} VfkSoftmaxParams;

#endif
