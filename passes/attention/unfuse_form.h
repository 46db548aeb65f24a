/* Where the fused operators keep what; private to the files unfuse*.c. */
#ifndef VF_ATTENTION_UNFUSE_FORM_H
#define VF_ATTENTION_UNFUSE_FORM_H

#include "passes/attention/unfuse.h"

/* Columns: operator, attributes with the heads of queries and of keys, attribute that makes it
 * causal; operands (-1 none): numbers or flags of keys that are seen (integers), mask or bias added
 * to the scores, first and past the last one that serve a cache. */
typedef struct VfUnfuseForm {
    VfOp op;
    const char *heads, *groups, *causal;
    int8_t seen, added, cache[2];
    int8_t past_length; /* a further operand of a cache, or -1 */
} VfUnfuseForm;

/* NULL: an operator that cannot be taken apart. */
const VfUnfuseForm *vf_unfuse_form(VfOp op);

/* Heads of the queries, and of keys and values; 0 when not known. */
int64_t vf_unfuse_heads(const VfAttention *site);
int64_t vf_unfuse_groups(const VfAttention *site);

/* How queries, keys and values are packed. */
typedef enum VfUnfusePacking {
    VF_UNFUSE_APART,    /* three operands */
    VF_UNFUSE_WEIGHTS,  /* one operand, to be multiplied by the projection weights */
    VF_UNFUSE_PACKED,   /* B N H 3 d */
    VF_UNFUSE_PACKED_KV /* queries; B N H 2 d */
} VfUnfusePacking;

VfUnfusePacking vf_unfuse_packing(const VfNode *node);

/* Widths of queries, keys and values with all heads, as the node's weights or operands say; false:
 * not known, or not divisible by the heads. */
bool vf_unfuse_widths(const VfNode *node, int64_t heads, int64_t width[3]);

/* Forms of the operand of keys that are seen. */
typedef enum VfSeenForm {
    VF_SEEN_NONE,
    VF_SEEN_END,       /* B: the first key that is padding */
    VF_SEEN_END_START, /* 2 B: and the first that is not */
    VF_SEEN_KEYS,      /* B N_k flags */
    VF_SEEN_PAIRS,     /* B N_q N_k flags */
    VF_SEEN_OTHER
} VfSeenForm;

VfSeenForm vf_unfuse_seen_form(const VfNode *node);

#endif
