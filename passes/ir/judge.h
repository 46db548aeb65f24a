/* What the operator documents demand of one node by itself, opset by opset.
 *
 * The verifier, `check` and the lowering ask here, so that all three say the same sentence. What is
 * not known, operator or opset, is not judged.
 */
#ifndef VF_IR_JUDGE_H
#define VF_IR_JUDGE_H

#include "passes/ir/graph.h"

/* Takes a fault: half a sentence, to be put behind the name of the node, valid during the call.
 * Judging ends with the first status that is not VF_OK, and gives it back. */
typedef VfStatus VfJudgeNote(void *cx, const char *fault);

/* Numbers of operands and results, also of a call of a function; attributes that are lacking or of
 * the wrong type. What reads such a node reads something else. Operands and results omitted at the
 * end do not count, as far as any opset has them. */
VfStatus vf_judge_form(const VfNode *node, int64_t opset, VfJudgeNote *note, void *cx);

/* Attributes that the operator no longer has in `opset`, and operators that ended. Such a node can
 * be carried, but means nothing. */
VfStatus vf_judge_ended(const VfNode *node, int64_t opset, VfJudgeNote *note, void *cx);

/* String attributes that say none of the words there are. */
VfStatus vf_judge_words(const VfNode *node, int64_t opset, VfJudgeNote *note, void *cx);

#endif
