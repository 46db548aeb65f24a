/* Attention operators that are one node: where each keeps what.
 *
 * One row per operator; the matcher, the service that takes operators apart
 * (passes/attention/unfuse.h) and insert-spa read it, and nothing else says it.
 */
#ifndef VF_MATCH_FUSED_H
#define VF_MATCH_FUSED_H

#include "passes/match/attention.h"

/* What an operand added to the scores is while its numbers are not known. */
typedef enum VfFusedAdded { VF_ADDED_BIAS, VF_ADDED_MASK } VfFusedAdded;

typedef struct VfFusedForm {
    VfOp op; /* tells domain and name */
    VfAttentionKind kind;
    /* Attributes, NULL: none. Heads of queries, of keys and values; sees no later key. */
    const char *heads, *groups, *causal;
    /* Operands, -1: none. */
    int8_t q, k, v; /* q == k: all three are made of one operand */
    int8_t seen;    /* integers: keys that are seen, as flags or lengths */
    int8_t added;   /* numbers added to the scores, or flags of keys that are seen */
    VfFusedAdded is;
    int8_t cache[2];    /* first and past the last one of a cache; the first holds earlier keys */
    int8_t past_length; /* a further one of a cache */
    int8_t n_in;        /* operands that are understood */
    const char *why;    /* why it cannot be taken apart and takes no bias; NULL: it can, it does */
} VfFusedForm;

/* NULL: no attention operator. */
const VfFusedForm *vf_fused_form(VfOp op);

/* Operand `slot` of the node; NULL also for slot -1. */
VfValue *vf_fused_in(const VfNode *node, int32_t slot);

/* Heads of the queries, and of keys and values; 0 when not known. */
int64_t vf_fused_heads(const VfNode *node);
int64_t vf_fused_groups(const VfNode *node);

/* Does the node's attribute let no query see a later key? */
bool vf_fused_is_causal(const VfNode *node);

/* Are queries, keys and values in one row of operand q, which is no product with weights? */
bool vf_fused_is_packed_row(const VfNode *node);

/* Has the softmax a term that belongs to no key? */
bool vf_fused_has_sink(const VfNode *node);

/* How many keys before a query's place, and how many behind it, are seen beside the one at it; -1:
 * all. True: not all. A window of no keys at all is { -2, -2 }. */
bool vf_fused_window(const VfNode *node, int64_t window[2]);

/* The bound of the scores, c tanh(S / c); 0: none. */
double vf_fused_softcap(const VfNode *node);

/* Keys, or keys and values, that come before those of the other operands; NULL: none. */
VfValue *vf_fused_past(const VfNode *node);

#endif
