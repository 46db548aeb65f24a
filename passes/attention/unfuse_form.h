/* How the fused operators are laid out; private to the files unfuse*.c. */
#ifndef VF_ATTENTION_UNFUSE_FORM_H
#define VF_ATTENTION_UNFUSE_FORM_H

#include "passes/attention/unfuse.h"
#include "passes/match/fused.h"

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
    VF_SEEN_LAST,      /* B: the last key that is none */
    VF_SEEN_KEYS,      /* B N_k flags */
    VF_SEEN_PAIRS,     /* B N_q N_k flags */
    VF_SEEN_OTHER
} VfSeenForm;

VfSeenForm vf_unfuse_seen_form(const VfNode *node);

#endif
