/* Free memory of the run arena, without an end: what no buffer that is alive holds.
 *
 * Gaps lie in a tree by offset, in which each knows the largest below it; so taking and giving back
 * take time that grows with the logarithm of the number of gaps. Its shape is the same in each run.
 */
#ifndef VF_LOWER_GAPS_H
#define VF_LOWER_GAPS_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/status.h"

typedef struct VfGap VfGap;

typedef struct VfGaps {
    VfGap *root;
    VfGap *spare; /* not in the tree */
} VfGaps;

/* All is free. `most`: pieces that may be held at one time, or more. Memory of `arena`. */
VfStatus vf_gaps_init(VfGaps *gaps, VfArena *arena, size_t most, VfErr *err);

/* Hold `bytes`, at least 1, at the lowest offset where they are free. */
size_t vf_gaps_take(VfGaps *gaps, size_t bytes);

/* Free `bytes` at `offset`, a piece that was taken. */
void vf_gaps_give(VfGaps *gaps, size_t offset, size_t bytes);

#endif
