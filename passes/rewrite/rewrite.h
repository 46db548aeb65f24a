/* Changes to a graph, all or nothing.
 *
 * A rewrite collects new nodes and constants, replacements of values, and operand changes of
 * kept nodes. Nothing of it is visible in the graph before vf_rewrite_commit; abandoning
 * needs no undo. Commit checks every replacement (dtype and shape compatible, every operand
 * defined before its user, so no cycle), links, moves uses, removes what died, writes the
 * journal entry. After import nothing else changes a graph. A commit costs as much as what it
 * touches, whatever the size of the graph.
 *
 * Builders return the (pending) result value, or NULL after a failure; NULL operands from a
 * failed builder are passed on, and the first failure is returned by commit. So a rewrite is
 * written as straight lines without checks. (An omitted optional operand is VF_NO_OPERAND.)
 *
 * Memory: the model's arena for what is committed.
 */
#ifndef VF_REWRITE_REWRITE_H
#define VF_REWRITE_REWRITE_H

#include "passes/ir/attr.h"
#include "passes/ir/graph.h"
#include "passes/rewrite/journal.h"

typedef struct VfRewrite VfRewrite;

extern VfValue *const VF_NO_OPERAND;

/* What a rewrite is called in the journal. */
typedef struct VfRewriteInfo {
    const char *pass, *rule, *site, *note;
} VfRewriteInfo;

/* Begin. New nodes go right before `anchor` (a node of the graph, often the first user or the node
 * replaced), each further down where an operand is defined later than that. If a user of a replaced
 * value stands before that place, they go right behind their operands instead. New nodes and
 * constants belong to the anchor's graph and are named after the anchor. NULL when out of memory.
 * Nothing to free: lies in the model's arena. */
VfRewrite *vf_rewrite_begin(VfJournal *journal, VfNode *anchor, VfRewriteInfo info);

/* The first failure so far. */
VfStatus vf_rewrite_status(const VfRewrite *rewrite);

/* A new node of the default domain with one result. The result's type is inferred at once, and
 * again with each attribute. */
VfValue *vf_rewrite_node(VfRewrite *rw, VfOp op, int32_t n_in, VfValue *const *in);
/* The general form: several results; `out` receives n_out values. */
VfNode *vf_rewrite_node_n(VfRewrite *rw, VfBytes domain, VfBytes op_type, int32_t n_in,
                          VfValue *const *in, int32_t n_out, VfValue **out);
VfValue *vf_rewrite_unary(VfRewrite *rw, VfOp op, VfValue *a);
VfValue *vf_rewrite_binary(VfRewrite *rw, VfOp op, VfValue *a, VfValue *b);
/* Attributes of the last node made. */
void vf_rewrite_int(VfRewrite *rw, const char *name, int64_t value);
void vf_rewrite_float(VfRewrite *rw, const char *name, float value);
void vf_rewrite_string(VfRewrite *rw, const char *name, const char *value);
void vf_rewrite_ints(VfRewrite *rw, const char *name, int32_t n, const int64_t *values);
/* Copy of an attribute record onto the last node made. */
void vf_rewrite_attr(VfRewrite *rw, const VfAttr *attr);

/* A new constant; `hint` is part of its name ("w_folded"). */
VfValue *vf_rewrite_const(VfRewrite *rw, const VfTensor *tensor, const char *hint);
VfValue *vf_rewrite_scalar(VfRewrite *rw, VfDtype dtype, double value, const char *hint);
VfValue *vf_rewrite_const_i64(VfRewrite *rw, int32_t n, const int64_t *values, const char *hint);

/* Operators that are spelled by opset: the right form is chosen from the graph's opset. */
VfValue *vf_rewrite_squeeze(VfRewrite *rw, VfValue *x, int32_t n, const int64_t *axes);
VfValue *vf_rewrite_unsqueeze(VfRewrite *rw, VfValue *x, int32_t n, const int64_t *axes);
VfValue *vf_rewrite_reduce(VfRewrite *rw, VfOp op, VfValue *x, int32_t n, const int64_t *axes,
                           bool keepdims);
VfValue *vf_rewrite_slice(VfRewrite *rw, VfValue *x, int64_t axis, int64_t start, int64_t end);
VfValue *vf_rewrite_transpose(VfRewrite *rw, VfValue *x, int32_t n, const int64_t *perm);
VfValue *vf_rewrite_reshape(VfRewrite *rw, VfValue *x, int32_t n, const int64_t *dims);
VfValue *vf_rewrite_cast(VfRewrite *rw, VfValue *x, VfDtype dtype);
VfValue *vf_rewrite_clip(VfRewrite *rw, VfValue *x, double low, double high);

/* At commit, every use of `from` in the graph (outputs too; output names stay) becomes a use of
 * `to`. Operands of new nodes are not touched, so `to` may be computed from `from`. */
void vf_rewrite_replace(VfRewrite *rw, VfValue *from, VfValue *to);
/* At commit, operand `slot` of the kept `node` becomes `to` (VF_NO_OPERAND: omitted; slot == n_in:
 * appended, and so on for several in a row). */
void vf_rewrite_set_in(VfRewrite *rw, VfNode *node, int32_t slot, VfValue *to);
/* At commit, the node or constant of `value`, which nothing reads, is removed, and what lives only
 * for it. */
void vf_rewrite_remove(VfRewrite *rw, VfValue *value);
/* Note that `to` takes the place of the constant `from` (for the journal's weight list). */
void vf_rewrite_weight(VfRewrite *rw, const VfValue *from, const VfValue *to);
/* Format the note of the journal entry. */
void vf_rewrite_note(VfRewrite *rw, const char *fmt, ...) VF_PRINTF(2, 3);
/* Add a number to the journal entry, for programs; `name` is a literal. */
void vf_rewrite_number(VfRewrite *rw, const char *name, double value);

/* Apply, or change nothing and return the failure. Removes nodes that lost their last use, upwards
 * from the replaced values, and constants nobody reads. */
VfStatus vf_rewrite_commit(VfRewrite *rw, VfErr *err);

#endif
