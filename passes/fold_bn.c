/* Before     BatchNormalization (or BN(x) + η x) next to MatMul, Gemm, Einsum, Conv or
 *            ConvTranspose with constant weights, or with operators between that commute with a
 *            scale and shift per channel
 * After      the same layers with other weights and biases, no norm
 * Why valid  f(x) = a⊙x + c; W(a⊙x + c) + b = (W diag a) x + (b + W c);
 *            a⊙(Wu + b) + c = (diag a W) u + (a⊙b + c); zero padding gives c nothing to meet, so
 *            there the shift becomes a map of the border
 * Requires   forward: every reader ends in such a layer; backward: nobody else reads what is before
 * Exactness  rounding: computed in double, rounded once
 * Source     SLAB (arXiv 2405.11582), section 3.2; ONNX BatchNormalization, opsets 7 to 15
 * Limits     a border map needs static spatial extents; a residual reader keeps the norm
 */
#include <math.h>
#include <string.h>

#include "passes/fold/apply.h"
#include "passes/fold/plan.h"
#include "passes/pass.h"
#include "passes/repbn/repbn.h"
#include "passes/rewrite/rewrite.h"

/* Sweeps over all norms: one makes room for the next where norms follow each other. */
enum { N_SWEEP_MAX = 64 };

/* What a run keeps between sweeps. */
typedef struct Run {
    VfPassCx *cx;
    VfArena *arena;      /* of one site */
    int32_t *site_index; /* by node id: number of the norm at the start, from 1; 0: none */
    int32_t n_site_index;
    bool is_last; /* nothing changed in the sweep before: say what stays */
} Run;

static void range_of(const VfField *x, double *low, double *high)
{
    *low = *high = x->data[0];
    for (size_t i = 1; i < x->count; i++) {
        *low = fmin(*low, x->data[i]);
        *high = fmax(*high, x->data[i]);
    }
}

static void write_note(const Run *run, VfRewrite *rw, const VfFoldPlan *plan, const char *label)
{
    double a_low, a_high, c_low, c_high, spread = vf_spread_of(run->arena, plan->affine.a.count,
                                                             plan->affine.a.data);
    range_of(&plan->affine.a, &a_low, &a_high);
    range_of(&plan->affine.c, &c_low, &c_high);
    if (spread <= VF_SPREAD_LIMIT) {
        vf_rewrite_note(rw, "a: %.3g to %.3g, c: %.3g to %.3g", a_low, a_high, c_low, c_high);
        return;
    }
    vf_rewrite_note(rw, "a: %.3g to %.3g, c: %.3g to %.3g; largest |a| is %.3g times the median",
                    a_low, a_high, c_low, c_high, spread);
    vf_log(run->cx->log, VF_LOG_WARNING,
           "'%s': the largest scale is %.3g times the median: some channel has next "
           "to no variance",
           label, spread);
}

/* Try one direction. `*is_done` is false when the new weights are not finite or too large; then
 * `err` has the sentence. */
static VfStatus fold(const Run *run, const VfBatchNorm *bn, const VfFoldPlan *plan, bool is_forward,
                     bool *is_done, VfErr *err)
{
    const VfFoldWalk *walk = is_forward ? &plan->forward : &plan->backward;
    const char *rule = !is_forward              ? "bn-into-previous"
                       : walk->needs_border_map ? "bn-into-next-with-border-map"
                                                : "bn-into-next";
    VfRewriteInfo info = {run->cx->pass, rule, bn->label, NULL};
    VfRewrite *rw = vf_rewrite_begin(run->cx->journal, bn->bn, info);
    VF_TRY_ALLOC(rw, err);
    /* First, so that what a step puts behind x reaches the readers of y too. */
    vf_rewrite_replace(rw, plan->y, plan->x);
    VfStatus status = vf_fold_apply(rw, walk, err);
    *is_done = status == VF_OK;
    if (status != VF_OK)
        return status == VF_DIFFERS || status == VF_UNSUPPORTED ? VF_OK : status;
    write_note(run, rw, plan, bn->label);
    return vf_rewrite_commit(rw, err);
}

static VfStatus refuse(const Run *run, const VfBatchNorm *bn, const VfFoldFacts *facts, VfErr *err)
{
    const VfNode *node = facts->node_forward != NULL ? facts->node_forward : bn->bn;
    if (strcmp(facts->why_not_forward, facts->why_not_backward) == 0)
        return vf_pass_refuse(run->cx, bn->label, node, err, "%s", facts->why_not_forward);
    return vf_pass_refuse(run->cx, bn->label, node, err, "forward: %s; backward: %s",
                          facts->why_not_forward, facts->why_not_backward);
}

static VfStatus fold_site(const Run *run, const VfBatchNorm *bn, VfErr *err)
{
    VfFoldPlan *plan = VF_NEW(run->arena, VfFoldPlan);
    VF_TRY_ALLOC(plan, err);
    VF_TRY(vf_fold_plan(run->arena, run->cx->model, bn, plan, err));
    bool can[2] = {plan->facts.why_not_forward == NULL, plan->facts.why_not_backward == NULL};
    /* A border map costs a node and weights of the size of the image: only where nothing else
     * works. */
    bool is_forward_first = can[0] && !(can[1] && plan->facts.needs_border_map);
    VfErr why = {0};
    for (int32_t i = 0; i < 2 && vf_pass_may_edit(run->cx); i++) {
        bool is_forward = (i == 0) == is_forward_first, is_done = false;
        if (!can[is_forward ? 0 : 1])
            continue;
        VfStatus status = fold(run, bn, plan, is_forward, &is_done, &why);
        if (status != VF_OK)
            return vf_fail(err, status, "%s", why.text);
        if (is_done)
            return VF_OK;
    }
    if (!run->is_last)
        return VF_OK;
    if (can[0] || can[1])
        return vf_pass_refuse(run->cx, bn->label, bn->bn, err, "%s", why.text);
    return refuse(run, bn, &plan->facts, err);
}

/* Edits of this sweep may have changed what the matcher saw. */
static bool is_current(const VfBatchNorm *bn)
{
    return bn->bn->is_linked && bn->last->is_linked && bn->x == vf_node_in(bn->bn, 0);
}

static VfStatus visit_site(Run *run, const VfBatchNorm *bn, VfErr *err)
{
    int32_t id = bn->bn->id;
    VfSiteFacts facts = {.index = id < run->n_site_index ? run->site_index[id] - 1 : -1,
                         .label = bn->label};
    bool selected, is_training;
    VF_TRY(vf_sites_select(&run->cx->sites, &facts, &selected, err));
    if (!selected || !is_current(bn) || bn->y->first_use == NULL)
        return VF_OK;
    VF_TRY(vf_repbn_refuse_training(run->cx, bn, run->is_last, &is_training, err));
    if (is_training)
        return VF_OK;
    VfStatus status = fold_site(run, bn, err);
    vf_arena_reset(run->arena);
    return status;
}

static VfStatus number_sites(Run *run, const VfNorms *norms, VfErr *err)
{
    run->n_site_index = run->cx->model->n_node_id;
    run->site_index = VF_NEW_ARRAY(run->cx->arena, int32_t, (size_t)run->n_site_index);
    VF_TRY_ALLOC(run->site_index, err);
    for (int32_t i = 0; i < norms->n_batch; i++)
        run->site_index[norms->batch[i].bn->id] = i + 1;
    return VF_OK;
}

/* The last norm first: what follows a norm is then free of norms when its turn comes. */
static VfStatus sweep(Run *run, VfErr *err)
{
    VfNorms norms;
    VF_TRY(vf_find_norms(run->cx->arena, run->cx->model, &norms, err));
    if (run->site_index == NULL)
        VF_TRY(number_sites(run, &norms, err));
    for (int32_t i = norms.n_batch - 1; i >= 0 && vf_pass_may_edit(run->cx); i--)
        VF_TRY(visit_site(run, &norms.batch[i], err));
    return VF_OK;
}

static VfStatus run_sweeps(Run *run, VfErr *err)
{
    for (int32_t i = 0; i < N_SWEEP_MAX && !run->is_last; i++) {
        int32_t n_edit = run->cx->journal->n_edit;
        VF_TRY(sweep(run, err));
        run->is_last = run->cx->journal->n_edit == n_edit;
    }
    return run->is_last ? sweep(run, err) : VF_OK;
}

static VfStatus run_pass(VfPassCx *cx, VfErr *err)
{
    Run run = {.cx = cx, .arena = vf_arena_new()};
    VF_TRY_ALLOC(run.arena, err);
    VfStatus status = run_sweeps(&run, err);
    vf_arena_free(run.arena);
    return status != VF_OK ? status : vf_pass_refuse_in_functions(cx, vf_batch_norm_op, err);
}

const VfPass vf_pass_fold_bn = {
    .name = "fold-bn",
    .summary =
        "fold BatchNormalization into the linear layers and convolutions before or behind it",
    .source = "SLAB (arXiv 2405.11582), section 3.2; ONNX BatchNormalization",
    .exactness = VF_ROUNDING,
    .is_default = true,
    .run = run_pass,
};
