/* One site of softmax-to-relu: its options, what was decided about it, and the rewrite. Private to
 * softmax_to_relu.c and this folder.
 */
#ifndef VF_POINTWISE_SITE_H
#define VF_POINTWISE_SITE_H

#include "passes/pass.h"
#include "passes/pointwise/act.h"
#include "passes/pointwise/fold_scale.h"
#include "passes/pointwise/gate.h"
#include "passes/pointwise/scale.h"

typedef struct VfReluOptions {
    int act; /* row of vf_act_table */
    double alpha;
    const char *gain, *shift; /* a number or "auto" */
    int length;               /* 0 all keys, 1 those the mask leaves */
    int qk_norm, fold_scale;
    int gate; /* VfGateKind */
} VfReluOptions;

/* One site on its way. Filled by the pass: cx to logits and is_cast, gate when there is to be one.
 */
typedef struct VfReluSite {
    VfPassCx *cx;
    const VfReluOptions *options;
    const VfAct *act;
    VfReluScale scale;
    VfAxes *axes; /* NULL without a gate */
    const VfAttention *site;
    VfRewrite *rw;
    VfValue *logits; /* what h is applied to */
    bool is_cast;    /* the softmax stood between Casts, which go away with it */
    VfReluFoldCx fold_cx;
    VfReluFold fold;
    VfGate gate;
} VfReluSite;

/* Build it and commit, or record why masks cannot be kept. */
VfStatus vf_relu_rewrite_site(VfReluSite *work, VfErr *err);

#endif
