/* A gate on the output of attention: O_concat ⊙ ψ(X W_G + b_G) before the output projection, where
 * X is what the query projection reads. It starts as one: W_G is zero and ψ(b_G) = 1.
 *
 * Source: arXiv 2309.08586, section 4; spec of the conversion passes, section 1.4. Private to
 * softmax_to_relu.c and this folder.
 */
#ifndef VF_POINTWISE_GATE_H
#define VF_POINTWISE_GATE_H

#include "passes/match/attention.h"
#include "passes/match/axis.h"
#include "passes/rewrite/rewrite.h"

typedef enum VfGateKind { VF_GATE_OFF, VF_GATE_IDENTITY, VF_GATE_SILU } VfGateKind;

typedef struct VfGate {
    VfValue *x;    /* what the query projection reads, width last */
    VfNode *layer; /* the output projection; reads O_concat in `slot` */
    int32_t slot;
    int64_t in, out; /* widths of x and of O_concat */
    const char *why; /* no gate can be put in; fixed text */
} VfGate;

/* `axes` of the model when the pass began. */
void vf_gate_find(const VfAxes *axes, const VfAttention *site, VfGate *gate);

/* Add the gate to the rewrite. `new_out` takes the place of site->out in it (it may be site->out).
 * `arena` is the model's. */
void vf_gate_insert(VfRewrite *rw, VfArena *arena, const VfAttention *site, const VfGate *gate,
                    VfGateKind kind, VfValue *new_out);

#endif
