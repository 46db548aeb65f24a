/* How two nodes hang together. */
#ifndef VF_REPORT_TRAIL_H
#define VF_REPORT_TRAIL_H

#include "passes/ir/graph.h"

/* The nodes of a shortest way along results, both ends included, from the one that computes first
 * to the other. */
typedef struct VfTrail {
    const VfNode **node;
    int32_t n; /* 0: neither computes from the other, or they are too far apart to be drawn */
} VfTrail;

/* In `arena`. */
VfStatus vf_trail_find(VfArena *arena, const VfNode *a, const VfNode *b, VfTrail *trail,
                       VfErr *err);

#endif
