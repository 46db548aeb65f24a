/* What the files that align models share. */
#ifndef VF_IR_ALIGN_PRIVATE_H
#define VF_IR_ALIGN_PRIVATE_H

#include "passes/ir/align.h"

/* A node of an ordered list that is sorted by key, then place. */
typedef struct VfAlignItem {
    uint64_t key;
    int32_t place;
    const VfNode *node;
} VfAlignItem;

/* One side's hashes by id. */
typedef struct VfAlignSide {
    const VfModel *model;
    uint64_t *value;     /* what a value computes, of the last round */
    uint64_t *node;      /* the same for a node */
    uint64_t *data;      /* digest of a constant; 0: not taken yet */
    uint64_t *local;     /* operator, attributes, types of constants of a node; 0: not taken yet */
} VfAlignSide;

typedef struct VfAligner {
    VfArena *arena;
    VfAlign *out;
    VfAlignSide side[2];
    const VfValue **queue; /* values of a whose neighbours are to be looked at */
    size_t n_queue, next, queue_capacity;
    VfAlignItem *item[2]; /* scratch: as many as a model has nodes and uses */
    size_t item_capacity[2];
    bool *is_looked_up; /* by id of a node of a: its operands were held against those of its twin */
    size_t work; /* cells that may still be compared pairwise */
    bool trusts_names;
    VfErr *err;
} VfAligner;

/* --- align.c --- */
bool vf_align_is_free(const VfAligner *al, const VfNode *a, const VfNode *b);
bool vf_align_same_op(const VfNode *a, const VfNode *b);
VfStatus vf_align_values(VfAligner *al, const VfValue *a, const VfValue *b);
/* Both free and of the same operator; results of equal index become twins. */
VfStatus vf_align_nodes(VfAligner *al, const VfNode *a, const VfNode *b, VfAlignBy by);
int vf_align_item_compare(const void *x, const void *y);

/* --- align_hash.c --- */
uint64_t vf_align_mix(uint64_t h, uint64_t word);
uint64_t vf_align_bytes(uint64_t h, const void *data, size_t size);
/* Operator, attributes and types of constant operands. */
uint64_t vf_align_local(VfAligner *al, int side, const VfNode *node);
/* Align free nodes of the pair that compute the same: with the data of constants, or only their
 * types. */
VfStatus vf_align_by_hash(VfAligner *al, const VfGraphPair *pair, bool with_data);

/* --- align_near.c --- */
/* Empty the queue. */
VfStatus vf_align_spread(VfAligner *al);
/* Put all twins of the pair's graph in the queue again. */
VfStatus vf_align_reseed(VfAligner *al, const VfGraphPair *pair);

/* --- align_order.c --- */
/* Align stretches of free nodes between aligned ones by the longest common sequence. */
VfStatus vf_align_by_order(VfAligner *al, const VfGraphPair *pair, bool *is_more);

#endif
