/* Whether two models say the same: used to check that what was written reads back as it was.
 *
 * Compared are names, order, operators, operands, attributes, tensors bit by bit, declared
 * types with symbols by their text, documentation, metadata and carried fields. Not
 * compared are ids, inferred types and contents, origins and where data is stored.
 */
#ifndef VF_IR_EQUAL_H
#define VF_IR_EQUAL_H

#include "passes/ir/graph.h"

/* If they differ and `why` is not NULL, it holds a sentence on the first difference (status
 * VF_DIFFERS). Out of memory counts as different, with status VF_NO_MEMORY. */
bool vf_model_is_equal(const VfModel *a, const VfModel *b, VfErr *why);

#endif
