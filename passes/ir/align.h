/* Which node and value of one model stands for which of another.
 *
 * Three kinds of evidence, strongest first: equal names of values; equal structure (operator,
 * attributes, what the operands compute, constants by their data, then by their type alone); and
 * neighbourhood: what only one node reads, or writes, on both sides. Names are believed without
 * further evidence where nearly all common names stand for the same operator: files of one origin.
 * Elsewhere they are numbers that exporters gave, and an operand must agree too.
 *
 * Aligned nodes have the same operator, nothing else is promised: what differs between them is for
 * the caller to find. Values may be aligned although their nodes are not, or are of another kind.
 * Time is linear in the models but for sorting and for stretches without any evidence, which are
 * compared pairwise up to a fixed amount of work. The answer depends on nothing but the models.
 */
#ifndef VF_IR_ALIGN_H
#define VF_IR_ALIGN_H

#include "passes/ir/graph.h"

typedef enum VfAlignBy { VF_ALIGN_NOT, VF_ALIGN_NAME, VF_ALIGN_HASH, VF_ALIGN_NEAR } VfAlignBy;

/* Two graphs that were aligned: main graphs, bodies of functions of one name, subgraphs of aligned
 * nodes. */
typedef struct VfGraphPair {
    const VfGraph *a, *b;
    VfBytes label; /* "" for the main graph; name of the function, or of the attribute */
    const VfNode *owner; /* of `a`, for subgraphs */
} VfGraphPair;

typedef struct VfAlign {
    const VfModel *a, *b;
    const VfValue **value_b; /* by id of a value of a: its twin, or NULL; and back */
    const VfValue **value_a;
    const VfNode **node_b; /* by id of a node of a; and back */
    const VfNode **node_a;
    unsigned char *by; /* VfAlignBy by id of a node of a */
    VfGraphPair *pair; /* in order: main graph, functions, subgraphs as they are met */
    size_t n_pair, pair_capacity;
} VfAlign;

/* Align two models, which may be one and the same. Memory is `arena`'s. */
VfStatus vf_align(VfArena *arena, const VfModel *a, const VfModel *b, VfAlign **align, VfErr *err);

/* Whether an operand of an aligned pair of nodes is the same: twins, both omitted, or constants of
 * equal data. */
bool vf_align_is_same(const VfAlign *align, const VfValue *a, const VfValue *b);

/* Whether two operators with these names may exchange their two operands. */
bool vf_op_is_commutative(const VfNode *node);

#endif
