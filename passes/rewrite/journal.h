/* Edits made by passes, in order.
 *
 * One entry per committed rewrite; a diff is a rendering of the journal. Entries point at
 * nodes and values of the model, so a journal must not outlive it. Nodes an entry names may
 * be unlinked; their operands can still be read. Memory is the model's arena.
 */
#ifndef VF_REWRITE_JOURNAL_H
#define VF_REWRITE_JOURNAL_H

#include "passes/ir/graph.h"
#include "runtime/base/intern.h"

/* A value whose uses moved to another. */
typedef struct VfSwap {
    const VfValue *from, *to;
} VfSwap;

/* An operand of a node that stayed, or went with the same rewrite, was another value before. */
typedef struct VfMove {
    const VfNode *node; /* may be the ret of a graph */
    int32_t slot;
    const VfValue *from, *to; /* NULL: omitted */
} VfMove;

/* A number of the note that programs read: "row_error". The name is a literal. */
typedef struct VfEditNumber {
    const char *name;
    double value;
} VfEditNumber;

/* One committed rewrite. */
typedef struct VfEdit {
    const char *pass; /* CLI name */
    const char *rule; /* rule of the pass, "bn-into-next-matmul" */
    const char *site; /* label of the site or node it is about */
    const char *note; /* facts worth a line ("a: 0.4 to 1.9, c: -0.2 to 0.3"), or NULL */
    int32_t n_before, n_after, n_swap, n_weight, n_move, n_number;
    const VfNode *const *before; /* nodes removed */
    const VfNode *const *after;  /* nodes added */
    const VfSwap *swap;          /* values replaced; also operands exchanged on kept nodes */
    const VfSwap *weight;        /* constants replaced by new constants (subset of what changed) */
    const VfMove *move;          /* every operand that was set, what swap says use by use */
    const VfEditNumber *number;  /* measured or checked by the pass */
} VfEdit;

/* A site that a pass looked at and left alone. */
typedef struct VfRefusal {
    const char *pass;
    const char *site;   /* label of the site */
    const VfNode *node; /* the node the reason is about */
    const char *reason; /* one sentence a user can act on */
    bool is_no_site;    /* told for the user: the model's opset has nothing to put there */
} VfRefusal;

typedef struct VfJournal {
    VfModel *model;
    int32_t n_edit, n_refusal;
    VfEdit *edit;
    VfRefusal *refusal;
    size_t edit_capacity, refusal_capacity;
    VfIntern *names;  /* every name in the model; filled when the first question needs it */
    int32_t *n_named; /* how many values and outputs had that name then */
    int32_t n_counted;
    size_t named_capacity;
    bool has_names;
} VfJournal;

/* An empty journal of `model`, in its arena; NULL when out of memory. */
VfJournal *vf_journal_new(VfModel *model);

/* Append a copy of `edit` (arrays and strings are copied too). */
VfStatus vf_journal_add(VfJournal *journal, const VfEdit *edit, VfErr *err);

/* Append a refusal (strings are copied). */
VfStatus vf_journal_refuse(VfJournal *journal, const VfRefusal *refusal, VfErr *err);

/* A name that no node or value of the model has, and that is not given out again: `wanted`, or
 * `wanted` with "_2", "_3", ... added. Depends only on the names in the model and the calls before.
 */
VfStatus vf_journal_name(VfJournal *journal, const char *wanted, VfBytes *name, VfErr *err);

/* Whether something else may be called as `value`, an output included: where that is so in a body,
 * the name means another value there. New names are no one else's. */
VfStatus vf_journal_may_hide(VfJournal *journal, const VfValue *value, bool *may, VfErr *err);

#endif
