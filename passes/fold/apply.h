/* Carrying out the steps of a walk inside one rewrite. */
#ifndef VF_FOLD_APPLY_H
#define VF_FOLD_APPLY_H

#include "passes/fold/walk.h"
#include "passes/rewrite/rewrite.h"

/* Add to `rw` what all steps ask for: new constants, operands and, where no bias takes the shift
 * up, an Add. VF_DIFFERS, VF_UNSUPPORTED: some new weight is not finite or too large; the rewrite
 * is to be abandoned. */
VfStatus vf_fold_apply(VfRewrite *rw, const VfFoldWalk *walk, VfErr *err);

#endif
