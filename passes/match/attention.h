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
    VF_ATTENTION_SOFTMAX,   /* softmax over keys, nothing between softmax and the value product */
    VF_ATTENTION_POINTWISE, /* a point-wise function in place of softmax */
    VF_ATTENTION_LINEAR,    /* no token-by-token matrix: φ(Q)(φ(K)ᵀV) in any spelling */
    VF_ATTENTION_OTHER /* talking heads, channel attention, pooling by scores, constant queries...:
                        * has a softmax, is attention of a kind, but not one a rewrite may treat as
                        * SOFTMAX; `why` says which */
} VfAttentionKind;

typedef enum VfMaskKind {
    VF_MASK_NONE,
    VF_MASK_CONST,
    VF_MASK_WINDOW,
    VF_MASK_CAUSAL,
    VF_MASK_RUNTIME
} VfMaskKind;

/* Which of the four a term added to the logits is. */
typedef struct VfLogitTerm {
    VfNode *node;   /* Add, Where, Max, ... that applies it */
    VfValue *value; /* the term (bias table, mask) or, for Where, the condition */
    bool is_mask;   /* holds values <= -100 or -inf, or is a condition; otherwise a bias */
    double lowest;  /* smallest value if constant, else NaN */
} VfLogitTerm;

enum { VF_ATTENTION_TERM_MAX = 6 };

typedef struct VfAttention {
    VfAttentionKind kind;
    int32_t index; /* among all attentions of the model, graph order */
    const char
        *label; /* name for reports and site globs: node name of softmax, or of the module path */
    const char *why; /* OTHER: what it is. NULL otherwise */
    VfGraph *graph;

    VfValue *q, *k, *v;  /* operands of the products after head split, before scaling; NULL when not
                            identified */
    VfNode *score_node;  /* MatMul or Einsum that makes QKᵀ (NULL for LINEAR and fused) */
    VfNode *norm_node;   /* Softmax, or the point-wise function, or the fused Attention operator */
    VfNode *value_node;  /* MatMul or Einsum with V */
    VfValue *raw_scores; /* result of score_node */
    VfValue *logits;     /* operand of norm_node */
    VfValue *probs;      /* what value_node reads (after Casts, Dropout) */
    VfValue *out;        /* result of value_node */

    double scale;         /* product of all constant factors on Q, K and the scores; 1 when none */
    VfValue *scale_value; /* run-time factor (learned, or Sqrt of a Shape), or NULL */
    int32_t n_scale_node; /* nodes that apply scale factors */
    VfNode *scale_node[VF_ATTENTION_TERM_MAX];
    VfLogitTerm
        term[VF_ATTENTION_TERM_MAX]; /* what is added between raw scores and logits, in order */
    int32_t n_term;
    VfMaskKind mask;
    bool has_bias;

    bool is_cross;  /* queries and keys come from different token sets */
    bool is_window; /* windows are folded into the batch */
    bool is_causal;
    VfDim heads;    /* H; unknown when the head axis could not be told from the batch */
    VfDim n_q, n_k; /* queries and keys: last two axes of the scores */
    VfDim d, d_v;   /* head widths */
    int32_t
        key_axis;  /* axis of `logits` that counts keys (softmax's axis), >= 0; -1 unknown rank */
    VfDim windows; /* windows per image when is_window, else 1 */
    VfDim grid_h, grid_w; /* token grid, unknown when not found */
    VfDim prefix;         /* class and register tokens before the grid; unknown when not found */
    /* POINTWISE: which function ("relu", "relu2", "gelu", ...) as vf text; NULL otherwise */
    const char *act;
    double alpha; /* POINTWISE: exponent of 1/L if found, else NaN */
} VfAttention;

/* A root the matcher looked at that did not become SOFTMAX: the first fact that failed. */
typedef struct VfMiss {
    VfNode *node;       /* Softmax (or other root) */
    const char *rule;   /* which recogniser came nearest */
    const char *reason; /* one sentence with node names and shapes */
} VfMiss;

typedef struct VfAttentions {
    VfAttention *site;
    int32_t n_site;
    VfMiss *miss;
    int32_t n_miss;
} VfAttentions;

/* Find all attention of the model (main graph and subgraphs) in graph order. Linear time but for
 * the neighbourhoods looked at. All memory in `arena`. VF_OK also when nothing is found. */
VfStatus vf_find_attention(VfArena *arena, VfModel *model, VfAttentions *found, VfErr *err);

#endif
