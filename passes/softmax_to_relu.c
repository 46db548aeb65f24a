/* softmax-to-relu: attention weights that are a point-wise function of the logits, over the number
 * of keys.
 *
 * Before     P = softmax(S) over L keys, S = scale Q Kᵀ + bias + mask
 * After      P = gain L^-alpha h(S + shift), h = act
 * Why valid  it is another function: the network has to be trained again. What stays is the graph
 *            around it: scale, biases and masks lie inside h, a removed key keeps weight zero
 * Requires   attention found by match/attention; the rank of the logits
 * Exactness  VF_RETRAINED
 * Source     arXiv 2309.08586, sections 3 and 4
 * Limits     talking heads, channel attention and other kinds that only contain a softmax are left
 *            alone, and so are fused operators but ONNX Attention without a cache, which is taken
 *            apart. With act=identity a mask must be the last thing added. L=valid counts what a
 *            constant mask leaves
 */
#include <math.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/pass.h"
#include "passes/pointwise/act.h"
#include "passes/pointwise/fold_scale.h"
#include "passes/pointwise/gate.h"
#include "passes/pointwise/scale.h"

typedef struct ReluOptions {
    int act; /* row of vf_act_table */
    double alpha;
    const char *gain, *shift; /* a number or "auto" */
    int length;               /* 0 all keys, 1 those the mask leaves */
    int qk_norm, fold_scale;
    int gate; /* VfGateKind */
} ReluOptions;

enum { N_OPTION = 8 };

/* Of relu over normal logits, with logits of variance one: a gain of √(2π) or a shift c with
 * φ(c) + cΦ(c) = 1 makes the weights of a row sum to one on average. */
static const double auto_gain = 2.5066282746310002, auto_shift = 0.8994715612537436;

static const VfOption option[] = {
    {.name = "act",
     .help = "function of the logits in place of softmax",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(ReluOptions, act),
     .def = "relu",
     .choices = "relu|relu2|relu6|gelu|softplus|sigmoid|identity"},
    {.name = "alpha",
     .help = "weights are divided by the number of keys to this power",
     .type = VF_OPTION_DOUBLE,
     .offset = offsetof(ReluOptions, alpha),
     .def = "1",
     .min = 0,
     .max = 2},
    {.name = "gain",
     .help = "factor of the weights; auto (act=relu) makes them sum to one on average",
     .type = VF_OPTION_STRING,
     .offset = offsetof(ReluOptions, gain),
     .def = "1"},
    {.name = "shift",
     .help = "added to the logits; auto (act=relu) makes the weights sum to one on average",
     .type = VF_OPTION_STRING,
     .offset = offsetof(ReluOptions, shift),
     .def = "0"},
    {.name = "L",
     .help = "number of keys divided by: all of them, or those the masks leave to each row",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(ReluOptions, length),
     .def = "constant",
     .choices = "constant|valid"},
    {.name = "qk-norm",
     .help = "LayerNorm of queries and keys over the head width (on or off)",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(ReluOptions, qk_norm),
     .def = "off",
     .choices = "off|on"},
    {.name = "fold-scale",
     .help = "move the factors of scores and weights into the layers around (on or off)",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(ReluOptions, fold_scale),
     .def = "off",
     .choices = "off|on"},
    {.name = "gate",
     .help = "multiply the output by a layer of the tokens, which starts as one",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(ReluOptions, gate),
     .def = "off",
     .choices = "off|identity|silu"},
    {0},
};

/* One site on its way. */
typedef struct Work {
    VfPassCx *cx;
    const ReluOptions *options;
    const VfAct *act;
    VfReluScale scale;
    const VfAttention *site;
    VfRewrite *rw;
    VfValue *logits; /* what h is applied to */
    bool is_cast;    /* the softmax stood between Casts, which go away with it */
    VfReluFoldCx fold_cx;
    VfReluFold fold;
    VfGate gate;
} Work;

/* --- building --- */

/* gain L^-alpha h(logits + shift); `kept` tells the keys left to each row, or is NULL. */
static VfValue *build_weights(const Work *work, VfValue *logits, VfValue *kept)
{
    VfRewrite *rw = work->rw;
    if (fabs(work->scale.shift) > 0.0)
        logits = vf_rewrite_binary(rw, VF_OP_ADD, logits,
                                   vf_rewrite_scalar(rw, work->logits->type.dtype,
                                                     work->scale.shift, "shift"));
    VfValue *weights = work->act->build(rw, logits);
    if (work->fold.folds_weights)
        return weights;
    if (kept != NULL)
        return vf_relu_scale_by_kept(rw, &work->scale, kept, work->logits, weights);
    return vf_relu_scale_weights(rw, work->cx->model->arena, work->site, &work->scale,
                                 work->logits, weights);
}

static void replace_weights(const Work *work, VfValue *weights)
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

static VfStatus commit_site(Work *work, VfErr *err)
{
    VfPassCx *cx = work->cx;
    const char *keys = vf_dim_text(cx->arena, cx->model->symbols,
                                   vf_dim_at(work->logits, work->site->key_axis));
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
static VfValue *rewrite_fused(Work *work)
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
    return out;
}

/* Why the masks cannot be kept, or NULL: the softmax gives way to the function. */
static const char *rewrite_plain(Work *work)
{
    VfArena *arena = work->cx->model->arena;
    VfMaskGuard guard = {work->rw, arena, work->site, NULL};
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
static VfStatus rewrite_once(Work *work, const char **why, VfErr *err)
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

static VfStatus plan_fold(Work *work, VfErr *err)
{
    const VfAttention *site = work->site;
    bool is_fused = vf_is_fused(site), is_valid = work->scale.is_valid;
    work->fold = (VfReluFold){0};
    work->fold_cx = (VfReluFoldCx){
        .arena = work->cx->arena,
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

static VfStatus rewrite_site(Work *work, VfErr *err)
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

/* --- sites --- */

/* Why a softmax site cannot be rewritten, or NULL. */
static const char *why_not(const Work *work)
{
    const VfAttention *site = work->site;
    if (vf_is_fused(site))
        return vf_unfuse_why_not(site);
    if (site->key_axis < 0 || site->logits->type.rank < 1)
        return "the rank of the logits is not known";
    if (!vf_dtype_info(site->logits->type.dtype)->is_float)
        return "the dtype of the logits is not known";
    if (vf_graph_opset(site->graph, vf_bytes("")) < work->act->opset)
        return "the opset is too old for the function";
    return NULL;
}

/* Why the options cannot be met at a site whose logits are known, or NULL. */
static const char *why_not_options(Work *work)
{
    const VfAttention *site = work->site;
    bool is_masked = site->mask != VF_MASK_NONE || site->n_term > 0;
    if (work->act->need == VF_MASK_NEEDS_ZERO && is_masked && fabs(work->scale.shift) > 0.0)
        return "act=identity: a shift would give removed keys a weight";
    const char *why = work->scale.is_valid && !vf_is_fused(site)
                          ? vf_relu_why_not_valid(site, work->logits)
                          : NULL;
    if (why == NULL && work->options->qk_norm)
        why = vf_qk_norm_why_not(site);
    if (why == NULL && work->options->gate != VF_GATE_OFF) {
        vf_gate_find(site, &work->gate);
        why = work->gate.why;
    }
    return why;
}

static VfStatus visit_site(Work *work, VfErr *err)
{
    const VfAttention *site = work->site;
    const char *why = site->kind == VF_ATTENTION_OTHER ? site->why : why_not(work);
    if (why != NULL)
        return vf_pass_refuse(work->cx, site->label, site->norm_node, err, "%s", why);
    work->is_cast = false;
    work->logits = vf_is_fused(site) ? NULL : vf_relu_logits(site, &work->is_cast);
    why = why_not_options(work);
    if (why != NULL)
        return vf_pass_refuse(work->cx, site->label, site->norm_node, err, "%s", why);
    return rewrite_site(work, err);
}

static VfStatus read_options(Work *work, VfErr *err)
{
    const ReluOptions *options = work->options;
    work->act = &vf_act_table[options->act];
    work->scale = (VfReluScale){.alpha = options->alpha, .is_valid = options->length == 1};
    bool is_relu = strcmp(work->act->name, "relu") == 0;
    double gain = is_relu ? auto_gain : (double)NAN, shift = is_relu ? auto_shift : (double)NAN;
    VF_TRY(vf_relu_read_number("gain", options->gain, gain, &work->scale.gain, err));
    VF_TRY(vf_relu_read_number("shift", options->shift, shift, &work->scale.shift, err));
    bool is_both = strcmp(options->gain, "auto") == 0 && strcmp(options->shift, "auto") == 0;
    return is_both ? vf_fail(err, VF_USAGE, "gain=auto and shift=auto each set the sum of a row")
                   : VF_OK;
}

static VfStatus run(VfPassCx *cx, VfErr *err)
{
    VfAttentions found;
    Work work = {.cx = cx, .options = cx->options};
    VF_TRY(read_options(&work, err));
    VF_TRY(vf_find_attention(cx->arena, cx->model, &found, err));
    for (int32_t i = 0; i < found.n_site && vf_pass_may_edit(cx); i++) {
        work.site = &found.site[i];
        if (work.site->kind != VF_ATTENTION_SOFTMAX && work.site->kind != VF_ATTENTION_OTHER)
            continue;
        bool selected = false;
        /* numbered among all attention of the model, so that a rewritten site keeps its number */
        VfSiteFacts facts = {work.site->index, work.site->label, work.site->is_window};
        VF_TRY(vf_sites_select(&cx->sites, &facts, &selected, err));
        if (selected && work.site->norm_node->is_linked)
            VF_TRY(visit_site(&work, err));
    }
    return VF_OK;
}

const VfPass vf_pass_softmax_to_relu = {
    .name = "softmax-to-relu",
    .summary = "attention weights h(S) / L^alpha in place of softmax(S)",
    .source = "arXiv 2309.08586 (ReLU attention), sections 3 and 4",
    .exactness = VF_RETRAINED,
    .option = option,
    .n_option = N_OPTION,
    .options_bytes = sizeof(ReluOptions),
    .run = run,
};
