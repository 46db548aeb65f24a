/* What differs between two models: found once, then printed as text or JSON.
 *
 * The models are aligned (passes/ir/align.h). A node is removed or added when it has no twin, and
 * changed when an attribute or operand of it differs from its twin's; names, documentation and
 * declared types that differ are notes, so that a renamed graph is not a changed one. Nodes that
 * differ and touch each other form a hunk; hunks that differ by names alone form a group. All
 * lists keep the order of the models: a's nodes first, then what only b has. A difference that
 * shows in no list is told as a fact, so that empty lists mean equal models.
 *
 * Everything lies in the arena given and points into both models.
 */
#ifndef VF_REPORT_DIFF_H
#define VF_REPORT_DIFF_H

#include "converter/report/json.h"
#include "converter/report/weight_change.h"
#include "passes/ir/align.h"

typedef enum VfDiffKind { VF_DIFF_REMOVED, VF_DIFF_ADDED, VF_DIFF_CHANGED } VfDiffKind;

/* One thing that reads otherwise; a or b without data: not there on that side. */
typedef struct VfDiffPart {
    const char *what; /* "opset", "input", "attribute", "operand", "name of value", ... */
    VfBytes key;      /* which one */
    VfBytes a, b;
} VfDiffPart;

typedef struct VfDiffParts {
    VfDiffPart *part;
    size_t n, capacity;
} VfDiffParts;

typedef struct VfDiffNode {
    VfDiffKind kind;
    const VfNode *a, *b; /* NULL where it is not */
    VfDiffParts parts;   /* of a changed node */
    size_t hunk;
} VfDiffNode;

typedef struct VfDiffWeight {
    VfDiffKind kind;
    const VfValue *a, *b;
    VfWeightChange change; /* of a changed one */
} VfDiffWeight;

typedef struct VfDiffHunk {
    size_t first, n; /* in `member` */
    size_t group;
} VfDiffHunk;

typedef struct VfDiffGroup {
    size_t first, n; /* in `grouped` */
} VfDiffGroup;

/* How many nodes of one operator there are, functions and subgraphs included. */
typedef struct VfDiffOperator {
    VfBytes name; /* "domain::Op" */
    int32_t a, b;
} VfDiffOperator;

typedef struct VfDiff {
    VfArena *arena;
    const VfAlign *align;
    VfDiffParts facts; /* of the model, its inputs and outputs, its functions */
    VfDiffParts notes; /* names, documentation, metadata, declared types of what is aligned */
    VfDiffNode *node;
    size_t n_node, node_capacity;
    VfDiffWeight *weight;
    size_t n_weight, weight_capacity;
    VfDiffOperator *operators;
    size_t n_operator, operator_capacity;
    size_t *at_a, *at_b; /* by node id: 1 + number in `node`; 0: unchanged */
    VfDiffHunk *hunk;
    size_t n_hunk;
    size_t *member;  /* numbers of nodes, hunk by hunk */
    VfDiffGroup *group;
    size_t n_group;
    size_t *grouped; /* numbers of hunks, group by group */
    size_t n_same;   /* aligned nodes without a change */
} VfDiff;

VfStatus vf_diff_models(VfArena *arena, const VfModel *a, const VfModel *b, VfDiff **diff,
                        VfErr *err);

bool vf_diff_is_empty(const VfDiff *diff);

/* "removed", "added", "changed". */
const char *vf_diff_kind_name(VfDiffKind kind);

/* Where a hunk is: what the names in it have in common, else the label of its first node. */
VfStatus vf_diff_place(const VfDiff *diff, const VfDiffHunk *hunk, VfBytes *place, VfErr *err);

typedef struct VfDiffStyle {
    int32_t context; /* unchanged nodes before and after a hunk */
    bool is_stat;    /* only counts */
    bool is_full;    /* every place, weight and note */
    bool has_color;
} VfDiffStyle;

VfStatus vf_diff_text(const VfDiff *diff, const VfDiffStyle *style, VfText *text, VfErr *err);

/* Keys of the open object; docs/schemas/diff.json describes them. */
VfStatus vf_diff_json(const VfDiff *diff, VfJson *json, VfErr *err);

#endif
