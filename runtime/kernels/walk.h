/* Walking over strided index spaces. Internal to runtime/kernels. */
#ifndef VFK_WALK_H
#define VFK_WALK_H

#include <stdint.h>

#include "runtime/kernels/kernel.h"

/* An element of 16 bytes: moved, never computed with. */
typedef struct VfkWide {
    uint64_t half[2];
} VfkWide;

/* A position in row-major order, with the element offset of up to three operands. */
typedef struct VfkWalk {
    int64_t rank;
    const int64_t *dim;
    const int64_t *stride[3]; /* NULL where there is no such operand */
    int64_t index[VFK_MAX_RANK];
    int64_t offset[3];
} VfkWalk;

/* Go to element `flat` of the index space. rank, dim and stride must be set. */
static inline void vfk_walk_seek(VfkWalk *walk, int64_t flat)
{
    for (int s = 0; s < 3; s++) {
        walk->offset[s] = 0;
    }
    for (int64_t axis = walk->rank - 1; axis >= 0; axis--) {
        int64_t dim = walk->dim[axis] > 0 ? walk->dim[axis] : 1;
        walk->index[axis] = flat % dim;
        flat /= dim;
        for (int s = 0; s < 3; s++) {
            if (walk->stride[s]) {
                walk->offset[s] += walk->index[axis] * walk->stride[s][axis];
            }
        }
    }
}

/* Advance axis `axis` by one with carry into the axes before it. */
static inline void vfk_walk_next(VfkWalk *walk, int64_t axis)
{
    for (; axis >= 0; axis--) {
        int carry = ++walk->index[axis] == walk->dim[axis];
        int64_t steps = carry ? 1 - walk->dim[axis] : 1;
        for (int s = 0; s < 3; s++) {
            if (walk->stride[s]) {
                walk->offset[s] += steps * walk->stride[s][axis];
            }
        }
        if (!carry) {
            return;
        }
        walk->index[axis] = 0;
    }
}

/* The next run of elements along the last axis that starts at the walk's position and ends
 * before `left` elements: its length. Call vfk_walk_skip with it to go on. */
static inline int64_t vfk_walk_run(const VfkWalk *walk, int64_t left)
{
    if (walk->rank == 0) {
        return left < 1 ? left : 1;
    }
    int64_t run = walk->dim[walk->rank - 1] - walk->index[walk->rank - 1];
    return run < left ? run : left;
}

static inline void vfk_walk_skip(VfkWalk *walk, int64_t run)
{
    int64_t last = walk->rank - 1;
    if (last < 0) {
        return;
    }
    walk->index[last] += run - 1;
    for (int s = 0; s < 3; s++) {
        if (walk->stride[s]) {
            walk->offset[s] += (run - 1) * walk->stride[s][last];
        }
    }
    vfk_walk_next(walk, last);
}

#endif
