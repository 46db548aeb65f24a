/* Carrying out what vf_relu_fold_plan decided. */
#include <math.h>

#include "passes/attention/unfuse.h"
#include "passes/fold/apply.h"
#include "passes/match/facts.h"
#include "passes/pointwise/fold_scale.h"

static bool is_same_place(const VfFoldStep *a, const VfFoldStep *b)
{
    return a->kind == b->kind && a->node == b->node &&
           (a->kind == VF_FOLD_INTO_PREVIOUS || a->slot == b->slot);
}

/* Both walks may end in one layer, such as a packed projection: there the factors multiply. */
static VfStatus merge_step(const VfReluFoldCx *cx, VfFoldWalk *into, const VfFoldStep *step,
                           VfErr *err)
{
    for (size_t i = 0; i < into->n_step; i++) {
        VfFoldStep *have = &into->step[i];
        VfField both;
        bool fits = false;
        if (!is_same_place(have, step))
            continue;
        if (have->affine.a.rank == step->affine.a.rank)
            VF_TRY(vf_field_combine(cx->arena, '*', &have->affine.a, &step->affine.a, &both, &fits,
                                    err));
        if (!fits)
            return vf_fail(err, VF_DIFFERS, "two factors of one layer do not fit together");
        have->affine.a = both;
        return VF_OK;
    }
    return vf_fold_add_step(into, step->kind, step->node, step->slot, &step->affine, err);
}

/* What stands in place of the result of a node that applied the factor. */
static VfValue *without_scale(const VfAttention *site, VfValue *value)
{
    for (int32_t i = 0; i < site->n_scale_node; i++) {
        int32_t slot = 0;
        double factor;
        const VfNode *node = site->scale_node[i];
        if (value->def != node || !vf_is_scale(node, &slot, &factor, NULL))
            continue;
        value = vf_node_in(node, slot);
        i = -1; /* the next may be applied right before */
    }
    return value;
}

VfValue *vf_relu_fold_logits(const VfReluFoldCx *cx, const VfReluFold *fold, VfValue *logits)
{
    bool is_own = fold->folds_scores && !vf_is_fused(cx->site);
    return is_own ? without_scale(cx->site, logits) : logits;
}

VfStatus vf_relu_fold_apply(VfRewrite *rw, const VfReluFoldCx *cx, VfReluFold *fold, VfErr *err)
{
    const VfAttention *site = cx->site;
    for (int32_t i = 1; i < fold->n_walk; i++)
        for (size_t k = 0; k < fold->walk[i].n_step; k++)
            VF_TRY(merge_step(cx, &fold->walk[0], &fold->walk[i].step[k], err));
    if (fold->n_walk > 0)
        VF_TRY(vf_fold_apply(rw, &fold->walk[0], err));
    for (int32_t i = 0; fold->folds_scores && !vf_is_fused(site) && i < site->n_scale_node; i++) {
        VfValue *scaled = vf_node_out(site->scale_node[i], 0);
        vf_rewrite_replace(rw, scaled, without_scale(site, scaled));
    }
    return VF_OK;
}
