/* Where the values of a model lie along its depth, and which of them end a block.
 *
 * A block ends at a residual add (passes/match/residual.h). A model without any is cut at its
 * layers instead, the operators with weights. Depth is how many such ends lie on the longest
 * path from the inputs to a value, its own among them.
 */
#ifndef VF_API_BLOCKS_H
#define VF_API_BLOCKS_H

#include "converter/api/handle.h"

typedef struct VfBlockValue {
    VfBytes name;
    int32_t depth;
    bool is_end; /* of a block */
} VfBlockValue;

typedef struct VfBlocks {
    VfBlockValue *value; /* results of the main graph that have a name, in its order */
    int32_t n_value, n_end;
    bool has_residuals; /* false: cut at layers */
} VfBlocks;

/* Read the model's file again, clean it up and look. All memory in `arena`. */
VfStatus vf_blocks_find(VfArena *arena, const VitfoldModel *model, VfBlocks *blocks, VfErr *err);

#endif
