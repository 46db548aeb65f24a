/* Before     y = BatchNormalization(x; γ, β, μ, σ²) + η x, the sum in any spelling
 *            (passes/match/norm.h)
 * After      y = BatchNormalization(x; γ + η σ, β + η μ, μ, σ²)
 * Why valid  γ(x-μ)/σ + β + ηx = (γ+ησ)(x-μ)/σ + (β+ημ), σ with epsilon inside
 * Requires   constant parameters and η, inference mode
 * Exactness  rounding: computed in double, rounded once
 * Source     SLAB (arXiv 2405.11582), equation RepBN and lemma 4.1
 * Limits     a run-time η or run-time statistics stay as they are, and so does a RepBN that a graph
 *            input mixes with another norm, which is still in training
 */
#include <math.h>

#include "passes/match/norm.h"
#include "passes/pass.h"
#include "passes/repbn/repbn.h"
#include "passes/rewrite/rewrite.h"

enum { N_SWEEP_MAX = 64 };

/* New scale and shift in the dtypes of the old ones. */
static VfStatus merge(VfPassCx *cx, const VfBatchNorm *bn, VfTensor **gamma, VfTensor **beta,
                      VfErr *err)
{
    double *a, *c;
    void *gamma_data, *beta_data;
    int64_t n = bn->channels;
    VfArena *arena = cx->model->arena;
    VF_TRY(vf_batch_norm_affine(cx->arena, bn, &a, &c, err));
    VF_TRY(vf_tensor_new(arena, bn->gamma->dtype, 1, &n, gamma, &gamma_data, err));
    VF_TRY(vf_tensor_new(arena, bn->beta->dtype, 1, &n, beta, &beta_data, err));
    for (size_t i = 0; i < (size_t)n; i++) {
        double sigma = sqrt(vf_tensor_get_double(bn->var, i) + bn->epsilon);
        double mean = vf_tensor_get_double(bn->mean, i);
        vf_tensor_put_double(gamma_data, bn->gamma->dtype, i, a[i] * sigma);
        vf_tensor_put_double(beta_data, bn->beta->dtype, i, c[i] + a[i] * mean);
    }
    return VF_OK;
}

/* The norm with other parameters, and behind it what led back to the layout of the sum. */
static VfValue *build(VfRewrite *rw, const VfBatchNorm *bn, VfValue *gamma, VfValue *beta)
{
    /* Merging the norm before this one has replaced what the matcher saw as x. */
    VfValue *in[] = {vf_node_in(bn->bn, 0), gamma, beta, vf_node_in(bn->bn, 3),
                     vf_node_in(bn->bn, 4)};
    VfValue *y = vf_rewrite_node(rw, VF_OP_BATCH_NORMALIZATION, 5, in);
    for (const VfAttr *attr = bn->bn->first_attr; attr != NULL; attr = attr->next)
        vf_rewrite_attr(rw, attr);
    for (int32_t i = 0; i < bn->n_back; i++) {
        const VfNode *back = bn->back[i];
        VfValue *back_in[2] = {y, vf_node_in(back, 1)};
        y = vf_rewrite_node(rw, back->op, back->n_in > 1 ? 2 : 1, back_in);
        for (const VfAttr *attr = back->first_attr; attr != NULL; attr = attr->next)
            vf_rewrite_attr(rw, attr);
    }
    return y;
}

static VfStatus merge_site(VfPassCx *cx, const VfBatchNorm *bn, VfErr *err)
{
    VfTensor *gamma, *beta;
    VF_TRY(merge(cx, bn, &gamma, &beta, err));
    VfRewriteInfo info = {cx->pass, "repbn-to-bn", bn->label, NULL};
    VfRewrite *rw = vf_rewrite_begin(cx->journal, bn->bn, info);
    VF_TRY_ALLOC(rw, err);
    VfValue *new_gamma = vf_rewrite_const(rw, gamma, "scale_merged");
    VfValue *new_beta = vf_rewrite_const(rw, beta, "shift_merged");
    vf_rewrite_replace(rw, bn->y, build(rw, bn, new_gamma, new_beta));
    vf_rewrite_weight(rw, vf_node_in(bn->bn, 1), new_gamma);
    vf_rewrite_weight(rw, vf_node_in(bn->bn, 2), new_beta);
    const VfTensor *eta = vf_value_const(bn->eta);
    if (eta == NULL || eta->count == 1)
        vf_rewrite_note(rw, "eta %g", eta == NULL ? 1.0 : vf_tensor_get_double(eta, 0));
    else
        vf_rewrite_note(rw, "eta of %zu channels", eta->count);
    return vf_rewrite_commit(rw, err);
}

static bool gives_statistics(const VfNode *node)
{
    for (int32_t i = 1; i < node->n_out; i++) {
        if (node->out[i] != NULL)
            return true;
    }
    return false;
}

/* Refusals are recorded once, in the sweep that changes nothing. */
static VfStatus visit_site(VfPassCx *cx, const VfBatchNorm *bn, int32_t index, bool is_last,
                           VfErr *err)
{
    VfSiteFacts facts = {.index = index, .label = bn->label};
    bool selected, is_training, has_statistics = gives_statistics(bn->bn);
    VF_TRY(vf_sites_select(&cx->sites, &facts, &selected, err));
    if (!selected || !bn->bn->is_linked || !bn->last->is_linked)
        return VF_OK;
    VF_TRY(vf_repbn_refuse_training(cx, bn, is_last, &is_training, err));
    if (is_training)
        return VF_OK;
    if (bn->why == NULL && !has_statistics)
        return vf_pass_may_edit(cx) ? merge_site(cx, bn, err) : VF_OK;
    if (!is_last)
        return VF_OK;
    if (bn->why != NULL)
        return vf_pass_refuse(cx, bn->label, bn->bn, err, "%s", bn->why);
    return vf_pass_refuse(cx, bn->label, bn->bn, err, "'%s' also gives statistics, as in training",
                          bn->label);
}

static VfStatus sweep(VfPassCx *cx, bool is_last, VfErr *err)
{
    VfNorms norms;
    VF_TRY(vf_find_norms(cx->arena, cx->model, &norms, err));
    /* numbered among all batch norms of the model, so that a merged site keeps its number */
    for (int32_t i = 0; i < norms.n_batch; i++) {
        if (norms.batch[i].is_rep)
            VF_TRY(visit_site(cx, &norms.batch[i], i, is_last, err));
    }
    return VF_OK;
}

/* A merged norm may stand in a further sum with its x. */
static VfStatus run(VfPassCx *cx, VfErr *err)
{
    return vf_pass_sweep(cx, sweep, N_SWEEP_MAX, err);
}

const VfPass vf_pass_fold_repbn = {
    .name = "fold-repbn",
    .summary = "merge BN(x) + eta*x into one BatchNormalization",
    .source = "SLAB (arXiv 2405.11582), equation RepBN, lemma 4.1",
    .exactness = VF_ROUNDING,
    .is_default = true,
    .run = run,
};
