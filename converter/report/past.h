/* The graph as it was between two edits of a journal: what nodes read then.
 *
 * Nodes that are gone keep their operands, and those that stay have the ones of today; what moved
 * in between is in the journal. "After n edits" is the graph when the first n of its entries were
 * made: 0 is the graph before any.
 */
#ifndef VF_REPORT_PAST_H
#define VF_REPORT_PAST_H

#include "passes/rewrite/journal.h"

typedef struct VfPast VfPast;

/* Index the moves of the journal. Memory is `arena`'s. The graph must be as the last edit left it.
 */
VfStatus vf_past_new(VfArena *arena, const VfJournal *journal, VfPast **past, VfErr *err);

/* Operand `slot` of `node` after `n_edit` edits; NULL: omitted. */
const VfValue *vf_past_in(const VfPast *past, const VfNode *node, int32_t slot, int32_t n_edit);

/* A copy of the node's record that reads what the node read then; names, attributes and results are
 * the node's own. For printing: it is in no list. In `arena`. */
VfStatus vf_past_node(VfArena *arena, const VfPast *past, const VfNode *node, int32_t n_edit,
                      VfNode *copy, VfErr *err);

#endif
