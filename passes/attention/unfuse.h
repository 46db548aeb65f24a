/* Fused attention operators taken apart, so that a pass can change what lies inside.
 *
 * A site whose norm_node is one operator (vf_is_fused) holds no products, no mask and no softmax of
 * its own that a pass could work on. The service builds them as pending values of a VfRewrite, all
 * in one layout whatever the operator's was; the pass puts its own nodes between them and replaces
 * the operator's result:
 *
 *     const char *why = vf_unfuse_why_not(site);            refuse with it
 *     VfRewrite *rw = vf_rewrite_begin(...);
 *     VfUnfused x;
 *     vf_unfuse(rw, site, &x);                              x.q, x.k, x.v
 *     VfValue *scores = vf_unfuse_scores(&x);               scale Q Kᵀ
 *     VfValue *logits = vf_unfuse_logits(&x, scores, need); biases and masks put on
 *     ... weights from the logits, o = weights V, or anything else made of x.q, x.k, x.v
 *     vf_rewrite_replace(rw, site->out, vf_unfuse_join(&x, o));
 *     vf_unfuse_caches(&x);                                 results with keys and values
 *     vf_rewrite_commit(rw, err);
 *
 * Nothing is built before it is asked for, so a pass that makes no scores gets no scores. Values
 * are NULL after a failure of the rewrite, and NULL is passed on (see rewrite.h).
 *
 * Operators: ONNX Attention (23 on); com.microsoft Attention (projection weights inside the node;
 * padding told by lengths, or by a table of numbers) and MultiHeadAttention (operands apart, keys
 * packed with values, or all three packed; biases inside the node) and GroupQueryAttention of a
 * prompt (grouped heads, all in one row, rotary positions). Earlier keys and values come first.
 *
 * Letters: B batch, H heads, N_q queries, N_k keys, d and d_v head widths.
 *
 * Lifetime: as the rewrite.
 */
#ifndef VF_ATTENTION_UNFUSE_H
#define VF_ATTENTION_UNFUSE_H

#include "passes/match/attention.h"
#include "passes/rewrite/rewrite.h"

/* What the logits of a removed key must be, so that a function gives it weight zero. */
typedef enum VfMaskNeed {
    VF_MASK_NEEDS_NOTHING, /* -inf, or far below zero: the function is zero there */
    VF_MASK_NEEDS_FINITE,  /* far below zero, but a number: not a number at -inf */
    VF_MASK_NEEDS_ZERO     /* zero: the function is zero nowhere else */
} VfMaskNeed;

enum { VF_UNFUSED_MASK_MAX = 4 };

typedef struct VfUnfused {
    VfRewrite *rw;
    const VfAttention *site;
    VfDtype dtype;
    int64_t heads;      /* H, also where the operator groups the heads of keys and values */
    double scale;       /* factor of Q Kᵀ */
    VfValue *q, *k, *v; /* B H N_q d, B H N_k d, B H N_k d_v; without the scale */

    /* private */
    VfValue *own[2]; /* keys and values, B G N_k d, each head once */
    bool has_kept;
    int32_t n_kept;
    VfValue *kept[VF_UNFUSED_MASK_MAX];
} VfUnfused;

/* Is the attention part of one operator? */
bool vf_is_fused(const VfAttention *site);

/* Why a fused site cannot be taken apart, or NULL: keys at places told by counts, a term of
 * the softmax without a key, sizes that are not known, an old opset... Fixed text. unfuse_why.c */
const char *vf_unfuse_why_not(const VfAttention *site);

/* Why a softmax of scale Q Kᵀ and masks, of the operands alone and read alone, is not all that the
 * operator is, or NULL: earlier keys, bounded scores, keys or values that are read, too. For passes
 * that build no scores, work on the operands or do not call vf_unfuse_caches. */
const char *vf_unfuse_why_not_alone(const VfAttention *site);

/* Queries, keys and values. Precondition: vf_unfuse_why_not gives NULL. */
void vf_unfuse(VfRewrite *rw, const VfAttention *site, VfUnfused *out);

/* scale Q Kᵀ, B H N_q N_k, of x->q and x->k as they are now (a pass may have changed them), within
 * the operator's bound. */
VfValue *vf_unfuse_scores(const VfUnfused *x);

/* `scores` with the operator's biases added and its removed keys as `need` says. unfuse_mask.c */
VfValue *vf_unfuse_logits(VfUnfused *x, VfValue *scores, VfMaskNeed need);

/* True where a query sees a key: a bool that broadcasts to `scores`, NULL when every query sees
 * every key. Of numbers that are added, -100 and less removes a key. Of `scores` the shape is read,
 * and of that no more than N_k when vf_unfuse_removes_by_key. unfuse_mask.c */
VfValue *vf_unfuse_kept(VfUnfused *x, VfValue *scores);

/* Can the operator remove keys (a mask, a causal flag, or run-time numbers that may be one)? False:
 * vf_unfuse_kept gives NULL. unfuse_mask.c */
bool vf_unfuse_may_remove(const VfAttention *site);

/* Are the keys that may be removed the same for all queries? Then what vf_unfuse_kept gives has one
 * row for them. unfuse_mask.c */
bool vf_unfuse_removes_by_key(const VfAttention *site);

/* B H N_q d_v in the layout of the operator's result. */
VfValue *vf_unfuse_join(const VfUnfused *x, VfValue *o);

/* Put keys and values in the place of the operator's other results, where these are read. */
void vf_unfuse_caches(const VfUnfused *x);

#endif
