/* Results computed by clean-up against what the model declares of them. */
#ifndef VF_DECLARED_H
#define VF_DECLARED_H

#include "passes/pass.h"

/* VF_INVALID if result `i` of `node`, computed as `found` (NULL: not computed), contradicts the
 * type of its value although the operator allows for it: then the file declares it wrongly, which
 * only computing could tell. What contradicts the operator itself is a fault of ours; that is left
 * to the checks of the rewrite. */
VfStatus vf_check_declared(VfPassCx *cx, const VfNode *node, int32_t i, const VfTensor *found,
                           VfErr *err);

#endif
