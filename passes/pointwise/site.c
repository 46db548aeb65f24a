#include "passes/pointwise/site.h"

#include <math.h>

#include "passes/match/facts.h"

/* --- building --- */

/* gain L^-alpha h(logits + shift); `kept` tells the keys left to each row, or is NULL. */
static VfValue *build_weights(const VfReluSite *work, VfValue *logits, VfValue *kept)
{
    VfRewrite *rw = work->rw;
    if (fabs(work->scale.shift) > 0.0)
        logits = vf_rewrite_binary(
            rw, VF_OP_ADD, logits,
            vf_rewrite_scalar(rw, work->logits->type.dtype, work->scale.shift, "shift"));
    VfValue *weights = work->act->build(rw, logits);
    if (work->fold.folds_weights)
        return weights;
    if (kept != NULL)
        return vf_relu_scale_by_kept(rw, &work->scale, kept, work->logits, weights);
    return vf_relu_scale_weights(rw, work->cx->model->arena, work->site, &work->scale, work->logits,
                                 weights);
}

static void replace_weights(const VfReluSite *work, VfValue *weights)
{
    VfValue *old = vf_node_out(work->site->norm_node, 0);
    if (!work->is_cast) {
        vf_rewrite_replace(work->rw, old, weights);
        return;
    }
    for (const VfUse *use = old->first_use; use != NULL; use = use->next)
        vf_rewrite_replace(work->rw, vf_node_out(use->node, 0), weights);
}

static void write_fold(const VfReluFold *fold, VfText *text)
{
    if (fold->folds_scores)
        vf_text_printf(text, ", scale of the scores in the weights of the %s", fold->scores_into);
    if (fold->folds_weights)
        vf_text_printf(text, ", scale of the weights in those of the %s", fold->weights_into);
    if (fold->why_not_scores != NULL)
        vf_text_printf(text, "; scale of the scores stays: %s", fold->why_not_scores);
    if (fold->why_not_weights != NULL)
        vf_text_printf(text, "; scale of the weights stays: %s", fold->why_not_weights);
}

static VfStatus commit_site(VfReluSite *work, VfErr *err)
{
    VfPassCx *cx = work->cx;
    const char *keys =
        vf_dim_text(cx->arena, cx->model->symbols, vf_dim_at(work->logits, work->site->key_axis));
    VfText text;
    VfBytes note;
    vf_text_init(&text, cx->arena);
    vf_text_printf(&text, "act %s, alpha %g, %s keys", work->act->name, work->options->alpha,
                   keys != NULL ? keys : "?");
    if (fabs(work->scale.gain - 1.0) > 0.0)
        vf_text_printf(&text, ", gain %g", work->scale.gain);
    if (fabs(work->scale.shift) > 0.0)
        vf_text_printf(&text, ", shift %g", work->scale.shift);
    vf_text_printf(&text, "%s%s%s", work->scale.is_valid ? ", valid keys" : "",
                   work->options->qk_norm ? ", qk-norm" : "",
                   work->options->gate != VF_GATE_OFF ? ", gate" : "");
    write_fold(&work->fold, &text);
    VF_TRY(vf_text_get(&text, &note, err));
    vf_rewrite_note(work->rw, "%.*s", (int)note.size, note.data);
    return vf_rewrite_commit(work->rw, err);
}

/* The operator gives way to plain nodes around the function. Returns what takes the place of its
 * result. */
static VfValue *rewrite_fused(VfReluSite *work)
{
    VfRewrite *rw = work->rw;
    VfArena *arena = work->cx->model->arena;
    VfUnfused x;
    vf_unfuse(rw, work->site, &x);
    if (work->options->qk_norm) {
        x.q = vf_qk_norm_of(rw, arena, x.q, work->site->d.k);
        x.k = vf_qk_norm_of(rw, arena, x.k, work->site->d.k);
    }
    if (work->fold.folds_scores)
        x.scale = 1.0;
    VfValue *scores = vf_unfuse_scores(&x);
    work->logits = vf_unfuse_logits(&x, scores, work->act->need);
    if (work->logits == NULL)
        return NULL;
    VfValue *kept = work->scale.is_valid ? vf_unfuse_kept(&x, scores) : NULL;
    VfValue *weights = build_weights(work, work->logits, kept);
    VfValue *out = vf_unfuse_join(&x, vf_rewrite_binary(rw, VF_OP_MATMUL, weights, x.v));
    vf_rewrite_replace(rw, work->site->out, out);
    vf_unfuse_caches(&x);
    return out;
}

/* Why the masks cannot be kept, or NULL: the softmax gives way to the function. */
static const char *rewrite_plain(VfReluSite *work)
{
    VfArena *arena = work->cx->model->arena;
    VfMaskGuard guard = {work->rw, arena, work->site, NULL};
    vf_relu_drop_shifts(work->rw, work->site, work->logits);
    work->logits = vf_relu_fold_logits(&work->fold_cx, &work->fold, work->logits);
    VfValue *logits = vf_act_guard_masks(&guard, work->act, work->logits);
    if (guard.why != NULL)
        return guard.why;
    if (work->options->qk_norm)
        vf_qk_norm_insert(work->rw, arena, work->site);
    replace_weights(work, build_weights(work, logits, NULL));
    return NULL;
}

/* One attempt; VF_DIFFERS or VF_UNSUPPORTED when weights cannot take the factors of the plan. */
static VfStatus rewrite_once(VfReluSite *work, const char **why, VfErr *err)
{
    VfPassCx *cx = work->cx;
    const VfAttention *site = work->site;
    VfValue *out = site->out;
    work->rw = vf_rewrite_begin(cx->journal, site->norm_node,
                                (VfRewriteInfo){cx->pass, "softmax-to-relu", site->label, NULL});
    VF_TRY_ALLOC(work->rw, err);
    VF_TRY(vf_relu_fold_apply(work->rw, &work->fold_cx, &work->fold, err));
    if (vf_is_fused(site))
        out = rewrite_fused(work);
    else if ((*why = rewrite_plain(work)) != NULL)
        return VF_OK;
    if (work->options->gate != VF_GATE_OFF)
        vf_gate_insert(work->rw, cx->model->arena, site, &work->gate,
                       (VfGateKind)work->options->gate, out);
    return work->logits == NULL ? vf_rewrite_commit(work->rw, err) /* reports the failure */
                                : commit_site(work, err);
}

static VfStatus plan_fold(VfReluSite *work, VfErr *err)
{
    const VfAttention *site = work->site;
    bool is_fused = vf_is_fused(site), is_valid = work->scale.is_valid;
    work->fold = (VfReluFold){0};
    work->fold_cx =
        (VfReluFoldCx){.arena = work->cx->arena,
                       .model = work->cx->model,
                       .site = site,
                       .act = work->act,
                       .scale = &work->scale,
                       .keys = is_fused ? site->n_k : vf_dim_at(work->logits, site->key_axis),
                       .is_by_row = is_valid && (is_fused ? vf_unfuse_may_remove(site)
                                                          : vf_relu_has_valid(site, work->logits)),
                       .has_qk_norm = work->options->qk_norm != 0};
    return work->options->fold_scale ? vf_relu_fold_plan(&work->fold_cx, &work->fold, err) : VF_OK;
}

VfStatus vf_relu_rewrite_site(VfReluSite *work, VfErr *err)
{
    static const char *const small = "a new weight would not hold its number";
    const char *why = NULL;
    VfValue *logits = work->logits;
    VF_TRY(plan_fold(work, err));
    VfStatus status = rewrite_once(work, &why, err);
    bool has_fold = work->fold.folds_scores || work->fold.folds_weights;
    if (has_fold && (status == VF_DIFFERS || status == VF_UNSUPPORTED)) {
        work->logits = logits;
        work->fold = (VfReluFold){.why_not_scores = small, .why_not_weights = small};
        status = rewrite_once(work, &why, err);
    }
    VF_TRY(status);
    return why == NULL ? VF_OK
                       : vf_pass_refuse(work->cx, work->site->label, work->site->norm_node, err,
                                        "act=%s: %s", work->act->name, why);
}
