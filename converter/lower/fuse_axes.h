/* Axes of rows carried over from one layout to another.
 *
 * A fused step walks over rows with a stride for each operand. Where the steps around it see the
 * same elements under other axes (a residual over two axes, a copy that rearranges windows), the
 * strides of the rows follow from where their elements lie: an axis with stride s in a buffer is
 * part of the axis of the other layout that covers stride s there.
 */
#ifndef VF_LOWER_FUSE_AXES_H
#define VF_LOWER_FUSE_AXES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/kernels/kernel.h"

/* Operands of rows. */
enum { FUSE_A, FUSE_C, FUSE_ADD, FUSE_N_OPERAND };

typedef struct VfFuseRows {
    int32_t rank;
    int64_t dim[VFK_MAX_RANK];
    int64_t step[FUSE_N_OPERAND][VFK_MAX_RANK]; /* in elements */
} VfFuseRows;

/* Elements of a whole buffer under some axes, and where they lie elsewhere. */
typedef struct VfFuseMap {
    int32_t rank;
    const int64_t *dim;
    const int64_t *at; /* strides in the buffer */
    const int64_t *to; /* strides elsewhere */
} VfFuseMap;

/* Whether the axes cover `count` elements of the buffer, each once and without a gap. */
bool vf_fuse_is_cover(const VfFuseMap *map, int64_t count);

/* Stride elsewhere of an axis of `dim` elements `step` apart; false if it has no single one. */
bool vf_fuse_carry(const VfFuseMap *map, int64_t step, int64_t dim, int64_t *to);

/* The same for all axes of rows, from the strides of operand `from` to those of operand `into`.
 * Axes are split where that is needed. False leaves `rows` as they were. */
bool vf_fuse_carry_rows(const VfFuseMap *map, int from, int into, VfFuseRows *rows);

#endif
