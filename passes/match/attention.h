/* Attention as passes see it, whatever exporter wrote the graph.
 *
 * The matcher runs on a normalised graph (inlined functions, no Identity, constants folded,
 * types inferred) and never changes it. Only this folder knows how exporters spell attention.
 *
 *     S = scale * Q Kᵀ + bias + mask      logits, softmax over the keys
 *     P = softmax(S)                      probabilities [..., H, N_q, N_k]
 *     O = P V
 */
#ifndef VF_MATCH_ATTENTION_H
#define VF_MATCH_ATTENTION_H

#include "passes/ir/graph.h"

typedef enum VfAttentionKind {
    /* Softmax over keys, nothing between softmax and the value product. */
    VF_ATTENTION_SOFTMAX,
    /* A point-wise function in place of softmax. */
    VF_ATTENTION_POINTWISE,
    /* Linear in the tokens: φ(Q)(φ(K)ᵀV), or (φ(Q)φ(K)ᵀ)V with nothing between the products. */
    VF_ATTENTION_LINEAR,
    /* Talking heads, channel attention, pooling by scores or by constant queries...: has a softmax,
     * is attention of a kind, but not one a rewrite may treat as SOFTMAX; `why` says which. */
    VF_ATTENTION_OTHER
} VfAttentionKind;

/* WINDOW: one mask for each window of an image. RUNTIME: made of an input, or not readable. */
typedef enum VfMaskKind {
    VF_MASK_NONE,
    VF_MASK_CONST,
    VF_MASK_WINDOW,
    VF_MASK_CAUSAL,
    VF_MASK_RUNTIME
} VfMaskKind;

/* A term applied to the logits. */
typedef struct VfLogitTerm {
    VfNode *node;   /* Add, Sub, Where, Max, Mul, ... that applies it */
    int32_t slot;   /* operand of it that carries the scores; -1: a fused operator */
    VfValue *value; /* the term (bias table, mask) or, for Where, the condition */
    bool is_mask;   /* holds values <= -100 or -inf, or is a condition; otherwise a bias */
    bool is_bias;   /* known at run time only, and no mask or more than one: a product or a table of
                     * other numbers makes it */
    double lowest;  /* smallest value if constant (of a Where: of the value put in; of what is taken
                     * from the scores: less its largest), else NaN */
} VfLogitTerm;

/* May the term take keys away from a softmax? A condition or low numbers do, and what is added or
 * subtracted at run time may; a maximum bounds the scores from below, a factor removes nothing. */
bool vf_term_may_remove(const VfLogitTerm *term);

/* Is the term taken from the scores, so that its numbers count the other way round? */
bool vf_term_is_taken(const VfLogitTerm *term);

enum { VF_ATTENTION_TERM_MAX = 6 };

/* What is added to the logits or taken from them, is made of them, and is the same for all keys of
 * a row, like their maximum: softmax does not see it. No term. */
typedef struct VfLogitShift {
    VfNode *node; /* Add or Sub */
    int32_t slot; /* operand that carries the scores */
} VfLogitShift;

/* An added number from the first one down removes a key; every point-wise function that takes -inf
 * to zero takes the second one there. Source: spec of the conversion passes, 1.1 and 1.4. */
#define VF_MASK_LEVEL (-100.0)
#define VF_MASK_FINITE (-1e4)

typedef struct VfAttention {
    VfAttentionKind kind;
    int32_t index;     /* among all attentions of the model, graph order */
    const char *label; /* for reports and site globs: label of norm_node */
    const char *why;   /* OTHER: what it is. NULL otherwise */
    VfGraph *graph;

    /* Operands of the products after the head split, before casts and a swap of the last two axes,
     * q and k before scaling; other transposes stay, so k may be [..., d, N_k]. NULL when not
     * identified. Fused operators: their operands. */
    VfValue *q, *k, *v;
    VfNode *score_node;  /* MatMul or Einsum that makes QKᵀ; NULL for φ(K)ᵀV first and fused */
    VfNode *norm_node;   /* never NULL: Softmax (or the last node of one written out), the node that
                          * ends the point-wise function, the fused operator; value_node when
                          * nothing stands between the products */
    VfNode *value_node;  /* MatMul or Einsum with V, or the ReduceSum of Mul and ReduceSum */
    VfValue *raw_scores; /* result of score_node */
    VfValue *logits;     /* what softmax or the point-wise function is applied to */
    VfValue *probs;      /* what value_node reads (after Casts, Dropout) */
    VfValue *out;        /* result of value_node */

    double scale;         /* product of all constant factors on Q, K and the scores; 1 if none, NaN
                           * if a fused operator's default cannot be computed */
    VfValue *scale_value; /* run-time or per-head factor (learned, or from a Shape), or NULL */
    int32_t n_scale_node; /* nodes that apply scale factors */
    VfNode *scale_node[VF_ATTENTION_TERM_MAX];
    int32_t n_term; /* what is applied between raw scores and logits, in order */
    VfLogitTerm term[VF_ATTENTION_TERM_MAX];
    int32_t n_shift; /* in order */
    VfLogitShift shift[VF_ATTENTION_TERM_MAX];
    const char *why_shift; /* why logits without the shifts are others for softmax, too; or NULL */
    VfMaskKind mask;
    bool has_bias;
    double gain; /* product of constant factors on the weights behind softmax or function, that of
                  * the value product too; NaN: not told, or known at run time only */

    bool is_cross;  /* queries and keys come from different token sets, or differ in number */
    bool is_window; /* windows are folded into the batch */
    bool is_causal;
    VfDim heads;          /* H; unknown when the head axis could not be told from the batch */
    VfDim n_q, n_k;       /* queries and keys */
    VfDim d, d_v;         /* head widths */
    int32_t key_axis;     /* axis of `logits` that counts keys, >= 0; -1: no logits */
    VfDim windows;        /* windows per image when is_window, else 1 */
    VfDim grid_h, grid_w; /* grid of the query tokens (of the keys', when only that is known) */
    VfDim prefix;         /* class and register tokens before the grid; unknown without grid */

    const char *act; /* POINTWISE: "relu", "relu2", "relu6", "gelu", "softplus", "sigmoid",
                      * "identity", another operator's name, "clip", "other"; NULL otherwise */
    double alpha;    /* POINTWISE: exponent of the factor 1/L^alpha, 0 without one; NaN: not told */
} VfAttention;

/* A root the matcher looked at that did not become SOFTMAX, POINTWISE or LINEAR: the first fact
 * that failed. Sites of kind OTHER have one too. */
typedef struct VfMiss {
    VfNode *node;       /* Softmax (or other root) */
    const char *rule;   /* which recogniser came nearest: "softmax-attention", "product-pair" */
    const char *reason; /* one sentence with node names and shapes */
} VfMiss;

typedef struct VfAttentions {
    VfAttention *site;
    int32_t n_site;
    VfMiss *miss;
    int32_t n_miss;
} VfAttentions;

/* Who else than the value product of a site may read its weights, or what leads from them to it. */
typedef enum VfWeightReaders {
    VF_ALL_READERS,  /* anything */
    VF_OTHER_VALUES  /* what leads to another product with values; not a graph output, say */
} VfWeightReaders;

bool vf_attention_shares_weights(const VfAttention *site, VfWeightReaders which);

/* Find all attention of the model (main graph and subgraphs) in graph order. Linear time but for
 * the neighbourhoods looked at. All memory in `arena`. VF_OK also when nothing is found. */
VfStatus vf_find_attention(VfArena *arena, VfModel *model, VfAttentions *found, VfErr *err);

#endif
