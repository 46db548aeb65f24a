/* Inside of the attention matcher: one scan of a model, and the two products around a softmax.
 *
 *     scores:  S = Q Kᵀ             a product; `key` is the axis the softmax normalises over
 *     values:  O = P V              a product that sums over that axis
 */
#ifndef VF_MATCH_ATTENTION_PARTS_H
#define VF_MATCH_ATTENTION_PARTS_H

#include "passes/match/attention.h"
#include "passes/match/axis.h"
#include "passes/match/pointwise.h"
#include "passes/match/product.h"

enum { VF_PATH_MAX = 24 };

/* One scan of a model; all memory in `arena`. */
typedef struct VfScan {
    VfArena *arena;
    VfModel *model;
    VfAxes *axes;
    VfAttention *site;
    size_t site_capacity;
    VfMiss *miss;
    size_t miss_capacity;
    int32_t n_site, n_miss;
    bool *is_taken; /* by node id: value products, and products inside of sites */
} VfScan;

/* Nodes from a value up to the product, nearest to the value first; `slot` says which operand leads
 * on. */
typedef struct VfPath {
    VfNode *node[VF_PATH_MAX];
    int32_t slot[VF_PATH_MAX];
    int32_t axis[VF_PATH_MAX]; /* of the node's result, the one that counts keys; -1: several */
    int32_t n;
} VfPath;

typedef enum VfScoreRank {
    VF_SCORE_NONE,
    VF_SCORE_CONST_QUERY, /* one operand constant: a linear layer, or a constant query */
    VF_SCORE_MIXED, /* run-time product, but a layer mixes the scores on the way (talking heads) */
    VF_SCORE_PLAIN  /* run-time product, element-wise operators and movers on the way */
} VfScoreRank;

/* The product that makes the scores, found by walking up from the logits. */
typedef struct VfScores {
    VfScoreRank rank;
    VfProduct product;
    int32_t query_in, key_in; /* operands */
    int32_t key_axis;         /* of the product's result */
    const VfNode *mixer;      /* MIXED: the first layer in between */
    VfPath path;
    const VfNode *stop;   /* NONE: where the search ended nearest to a product */
    const char *stop_why; /* NONE: fact that failed there, fixed text */
} VfScores;

/* Walk up from `value` whose axis `axis` counts keys. */
void vf_find_scores(const VfScan *scan, VfValue *value, int32_t axis, VfScores *scores);

/* The same, but no further than to the first product, whatever its rank. */
void vf_find_nearest_scores(const VfScan *scan, VfValue *value, int32_t axis, VfScores *scores);

/* Pass a view above which `axis` of its result is several axes, up to where they are one again: the
 * value and axis there, the steps added to `path`. False: not so, `path` as before. */
bool vf_through_split(const VfScan *scan, VfPath *path, VfNode *view, int32_t axis, VfValue **value,
                      int32_t *up);

/* The product (or Mul and ReduceSum) that sums over the keys, found by walking down. */
typedef struct VfValues {
    VfNode *node;      /* MatMul, Einsum or the ReduceSum; NULL: not found */
    VfProduct product; /* n_in 0 when it is Mul and ReduceSum */
    int32_t probs_in, value_in;
    VfValue *probs; /* what it reads */
    VfValue *v;
    const VfNode *mixer; /* a layer or operator between softmax and product, or NULL */
    const VfNode
        *stop; /* not found: a reader that leads elsewhere, or NULL: no reader but outputs */
    const char *stop_why; /* fact that failed there, fixed text */
} VfValues;

void vf_find_values(const VfScan *scan, VfValue *probs, int32_t axis, VfValues *values);

/* Fill q, k, v, scale, terms, heads, sizes, mask kind, window, grid of a site whose nodes are set.
 * `values` may be NULL. */
VfStatus vf_describe_scores(VfScan *scan, const VfScores *scores, const VfValues *values,
                            VfAttention *site, VfErr *err);
/* What is put on the scores, all but the factors of a product: `is_mask` where the operator says
 * so. `lowest`: see VfLogitTerm. attention_term.c */
VfLogitTerm vf_make_term(VfNode *node, int32_t slot, VfValue *value, bool is_mask, double lowest);

/* Step `at` of the way from scores to logits: note it when it is a shift, and why_shift when it
 * lets one be seen. True: it is a shift. attention_shift.c */
bool vf_describe_shift(const VfPath *path, int32_t at, VfAttention *site);

/* Is `value`, put on the result of `node` by broadcasting, the same along axis `axis` of that?
 * attention_shift.c */
bool vf_is_same_along(const VfValue *value, const VfNode *node, int32_t axis);

/* The constant factors behind norm_node. attention_weights.c */
double vf_gain_of(const VfAttention *site);

/* The part about heads, windows, grid; axes of the scores. */
void vf_describe_axes(const VfScan *scan, const VfScores *scores, VfAttention *site);
/* Take the token grid and prefix of `axis` (may be NULL); false when it has none. */
bool vf_set_grid(VfAttention *site, const VfAxis *axis);
/* Mask kind and causality from the terms. */
void vf_describe_mask(const VfScan *scan, VfAttention *site);

/* What a product of queries and keys is, told by the roles of its axes. */
typedef enum VfScoreAxes {
    VF_SCORES_TOKENS,   /* sums over channels, counts tokens: scores of tokens */
    VF_SCORES_CHANNELS, /* sums over tokens, counts channels: channel attention, or Kᵀ V */
    VF_SCORES_UNKNOWN,  /* roles not known */
    VF_SCORES_NEITHER   /* roles known, and they contradict both */
} VfScoreAxes;

VfScoreAxes vf_score_axes(const VfScan *scan, const VfScores *scores);

/* Is `value` a feature map φ of something: a point-wise function, also behind movers, scales,
 * masks, norms of tokens and an epsilon. */
bool vf_has_feature_map(VfValue *value);

/* Is the result of `p`, or one of the weights on its way from `s`, divided by something that is
 * made of the weights, of `query`, or of the result itself (a column of ones)? `operand` and
 * `other` are those of `p` that come from `s`, and what it multiplies. */
bool vf_is_divided_by_sums(const VfProduct *p, int32_t operand, int32_t other, const VfScores *s,
                           const VfValue *query);

/* A new site in `scan`, or NULL when out of memory. Valid until the next call. */
VfAttention *vf_scan_add(VfScan *scan, VfAttentionKind kind, VfNode *norm_node);

/* Record a miss; the sentence is formatted in the scan's arena. */
VfStatus vf_scan_miss(VfScan *scan, VfNode *node, const char *rule, VfErr *err, const char *fmt,
                      ...) VF_PRINTF(5, 6);

/* The recognisers: each looks at one node and adds at most one site or miss. */
VfStatus vf_match_softmax(VfScan *scan, VfNode *node, VfErr *err);
VfStatus vf_match_product_pair(VfScan *scan, VfNode *node, VfErr *err);
VfStatus vf_match_additive(VfScan *scan, VfNode *node, VfErr *err);
VfStatus vf_match_fused(VfScan *scan, VfNode *node, VfErr *err);

/* "f32[2,4,8,8]" of a value; "?" when out of memory. */
const char *vf_scan_type(const VfScan *scan, const VfValue *value);

#endif
