/* Inside of the norm matcher. */
#ifndef VF_MATCH_NORM_PARTS_H
#define VF_MATCH_NORM_PARTS_H

#include "passes/match/norm.h"

/* Is `node` a normalisation operator, or the division that ends a decomposed LayerNorm or RMSNorm?
 * Fills `norm` but for the label. */
bool vf_layer_norm_of(VfSymbols *symbols, VfNode *node, VfLayerNorm *norm);

/* Describe a BatchNormalization node. */
VfStatus vf_batch_norm_of(VfArena *arena, VfNode *node, VfBatchNorm *norm, VfErr *err);

#endif
