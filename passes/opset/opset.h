/* Another opset or IR version for a model.
 *
 * Raising the opset keeps the function: most operators mean the same in the newer opset, some have
 * attributes that became operands or defaults that changed and are rewritten (forms.c), and where
 * neither holds the node is named with the reason and the model stays as it was.
 * Lowering is possible as far as every operator used has the same form in the older opset.
 * Functions are changed with the model. Operators of other domains stay as they are.
 *
 * Source: the ONNX operator documents, opsets 7 to 27; the ONNX IR specification.
 */
#ifndef VF_PASSES_OPSET_H
#define VF_PASSES_OPSET_H

#include "passes/ir/infer.h"
#include "passes/rewrite/journal.h"

enum { VF_OPSET_MIN = 7, VF_OPSET_MAX = 27, VF_IR_MIN = 3, VF_IR_MAX = 13 };

/* Import `version` of the default domain in place of the one imported. VF_USAGE: out of range;
 * VF_UNSUPPORTED: names every node that is in the way. */
VfStatus vf_opset_change(VfModel *model, int64_t version, const VfEvaluator *evaluator,
                         VfJournal *journal, VfErr *err);

/* Set the IR version. VF_UNSUPPORTED names what the older one cannot hold. */
VfStatus vf_ir_version_change(VfModel *model, int64_t version, VfErr *err);

#endif
