/* Reductions over any set of axes.
 *
 * For every index i of the kept axes, in row-major order, out[i] combines
 * in[i . keep_stride + j . red_stride] over every index j of the reduced axes. out is
 * contiguous. Units: elements of out (the product of keep_dim; 1 if keep_rank is 0).
 *
 *   reduce_sum reduce_mean reduce_prod reduce_max reduce_min reduce_l1 reduce_sum_square
 *                          f32 f64 i32 i64
 *   reduce_max reduce_min  also u8 i8 bool
 *   reduce_l2 reduce_log_sum reduce_log_sum_exp
 *                          f32 f64
 *
 * Sums of f32 are kept in double and rounded once. The order of every sum is fixed: thirty-two
 * lanes along a contiguous reduced axis, else one after the other. Integer means truncate.
 * Nothing to reduce: sum 0, prod 1, max the lowest value (-inf), min the highest, mean NaN (0 for
 * integers). max and min give NaN if any element is. log_sum_exp subtracts the maximum first.
 * Merge axes and put the reduced axis with stride 1 last; fast when either the last reduced or
 * the last kept axis has stride 1.
 */
#ifndef VFK_REDUCE_H
#define VFK_REDUCE_H

#include "runtime/kernels/kernel.h"

typedef struct VfkReduceParams {
    int64_t keep_rank;
    int64_t keep_dim[VFK_MAX_RANK];
    int64_t keep_stride[VFK_MAX_RANK]; /* in elements */
    int64_t red_rank;                  /* 0: every element by itself */
    int64_t red_dim[VFK_MAX_RANK];
    int64_t red_stride[VFK_MAX_RANK];
} VfkReduceParams;

#endif
