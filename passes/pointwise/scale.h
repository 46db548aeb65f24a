/* What the weights of ReLU attention are multiplied by; private to
 * softmax_to_relu.c and this folder.
 *
 * Source: spec of the conversion passes, sections 1.2 and 1.3.
 */
#ifndef VF_POINTWISE_SCALE_H
#define VF_POINTWISE_SCALE_H

#include "passes/match/attention.h"
#include "passes/rewrite/rewrite.h"

/* weights = gain L^-alpha h(S + shift) */
typedef struct VfReluScale {
    double alpha, gain, shift;
    bool is_valid; /* L is the number of keys that the mask leaves to the row, at least 1 */
} VfReluScale;

/* A number, or the word auto, which is `for_auto`; NaN: there is none. */
VfStatus vf_relu_read_number(const char *name, const char *text, double for_auto, double *number,
                             VfErr *err);

/* Why the keys left to each row cannot be counted, or NULL. `logits` is what h is applied to.
 * pointwise/valid.c */
const char *vf_relu_why_not_valid(const VfAttention *site, VfValue *logits);

/* Do masks of the site remove keys, in a way that can be counted? pointwise/valid.c */
bool vf_relu_has_valid(const VfAttention *site, VfValue *logits);

/* `weights` times gain L_i^-alpha, L_i what the masks leave to row i. Precondition:
 * vf_relu_has_valid. pointwise/valid.c */
VfValue *vf_relu_scale_valid(VfRewrite *rw, VfArena *arena, const VfAttention *site,
                             const VfReluScale *scale, VfValue *logits, VfValue *weights);

/* The same by flags of keys that are left, which broadcast to the logits. pointwise/valid.c */
VfValue *vf_relu_scale_by_kept(VfRewrite *rw, const VfReluScale *scale, VfValue *kept,
                               VfValue *logits, VfValue *weights);

/* `weights` times gain L^-alpha. `arena` is the model's. */
VfValue *vf_relu_scale_weights(VfRewrite *rw, VfArena *arena, const VfAttention *site,
                               const VfReluScale *scale, VfValue *logits, VfValue *weights);

/* Why queries and keys cannot be normalised, or NULL. pointwise/qk_norm.c */
const char *vf_qk_norm_why_not(const VfAttention *site);

/* Put LayerNormalization over the head width, scale of ones and no shift, on queries and keys.
 * Precondition: vf_qk_norm_why_not gives NULL. */
void vf_qk_norm_insert(VfRewrite *rw, VfArena *arena, const VfAttention *site);

/* The same of queries or keys that a rewrite builds, head width last. */
VfValue *vf_qk_norm_of(VfRewrite *rw, VfArena *arena, VfValue *x, int64_t width);

#endif
