/* Sixteen results side by side, and what is left of them in the end. Internal to runtime/kernels.
 *
 * Sums and the like run in sixteen lanes, which are then merged in a tree; so they are the same in
 * every instruction set. The steps of the tree are written out: as a loop over its levels it would
 * not be compiled to vectors.
 */
#ifndef VFK_LANES_H
#define VFK_LANES_H

enum { VFK_SIXTEEN = 16 };

/* lane[0] = all of lane[16] joined; `joined` is an expression in a and b, lanes of type T. */
#define VFK_MERGE_STEP(T, lane, half, joined) \
    for (int l = 0; l < (half); l++) { \
        const T a = (lane)[l], b = (lane)[l + (half)]; \
        (lane)[l] = (joined); \
    }
#define VFK_MERGE(T, lane, joined) \
    VFK_MERGE_STEP(T, lane, 8, joined) \
    VFK_MERGE_STEP(T, lane, 4, joined) \
    VFK_MERGE_STEP(T, lane, 2, joined) \
    VFK_MERGE_STEP(T, lane, 1, joined)

#endif
