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
#include "passes/pointwise/scale.h"

typedef struct ReluOptions {
    int act; /* row of vf_act_table */
    double alpha;
    const char *gain, *shift; /* a number or "auto" */
    int length;               /* 0 all keys, 1 those the mask leaves */
    int qk_norm;
} ReluOptions;

enum { N_OPTION = 6 };

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
     .help = "number of keys divided by: all of them, or those a constant mask leaves to each row",
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
} Work;

/* --- what goes away with the softmax --- */

/* S of S - max(S) over the keys: softmax does not see the difference, h would. */
static VfValue *without_maximum(const VfAttention *site, VfValue *logits)
{
    const VfNode *sub = vf_def_if(logits, VF_OP_SUB);
    const VfNode *max = sub != NULL ? vf_def_if(vf_node_in(sub, 1), VF_OP_REDUCE_MAX) : NULL;
    int64_t axis[VF_AXIS_MAX];
    bool is_row_maximum = max != NULL && vf_node_in(max, 0) == vf_node_in(sub, 0) &&
                          vf_reduce_axes(max, axis) == 1 && axis[0] == site->key_axis;
    return is_row_maximum ? vf_node_in(sub, 0) : logits;
}

/* Softmax computed in a wider dtype: every reader casts back to what the logits were. */
static bool is_cast_pair(const VfValue *logits, const VfValue *weights)
{
    const VfNode *cast = vf_def_if(logits, VF_OP_CAST);
    const VfValue *x = cast != NULL ? vf_node_in(cast, 0) : NULL;
    if (x == NULL || !vf_dtype_info(x->type.dtype)->is_float || vf_value_is_output(weights))
        return false;
    for (const VfUse *use = weights->first_use; use != NULL; use = use->next)
        if (use->node->op != VF_OP_CAST || vf_node_int(use->node, "to") != (int64_t)x->type.dtype)
            return false;
    return weights->n_use > 0;
}

/* --- building --- */

/* gain L^-alpha h(logits + shift) */
static VfValue *build_weights(const Work *work, VfValue *logits)
{
    VfRewrite *rw = work->rw;
    if (fabs(work->scale.shift) > 0.0)
        logits = vf_rewrite_binary(rw, VF_OP_ADD, logits,
                                   vf_rewrite_scalar(rw, work->logits->type.dtype,
                                                     work->scale.shift, "shift"));
    return vf_relu_scale_weights(rw, work->cx->model->arena, work->site, &work->scale,
                                 work->logits, work->act->build(rw, logits));
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
    vf_text_printf(&text, "%s%s", work->scale.is_valid ? ", valid keys" : "",
                   work->options->qk_norm ? ", qk-norm" : "");
    VF_TRY(vf_text_get(&text, &note, err));
    vf_rewrite_note(work->rw, "%.*s", (int)note.size, note.data);
    return vf_rewrite_commit(work->rw, err);
}

/* The operator gives way to plain nodes around the function. */
static VfStatus rewrite_fused(Work *work, VfErr *err)
{
    VfUnfused x;
    vf_unfuse(work->rw, work->site, &x);
    work->logits = vf_unfuse_logits(&x, vf_unfuse_scores(&x), work->act->need);
    if (work->logits == NULL)
        return vf_rewrite_commit(work->rw, err); /* reports the failure */
    VfValue *o = vf_rewrite_binary(work->rw, VF_OP_MATMUL, build_weights(work, work->logits), x.v);
    vf_rewrite_replace(work->rw, work->site->out, vf_unfuse_join(&x, o));
    return commit_site(work, err);
}

static VfStatus rewrite_site(Work *work, VfErr *err)
{
    VfPassCx *cx = work->cx;
    const VfAttention *site = work->site;
    work->rw = vf_rewrite_begin(cx->journal, site->norm_node,
                                (VfRewriteInfo){cx->pass, "softmax-to-relu", site->label, NULL});
    VF_TRY_ALLOC(work->rw, err);
    if (vf_is_fused(site))
        return rewrite_fused(work, err);
    VfMaskGuard guard = {work->rw, cx->model->arena, site, NULL};
    VfValue *logits = vf_act_guard_masks(&guard, work->act, work->logits);
    if (guard.why != NULL)
        return vf_pass_refuse(cx, site->label, site->norm_node, err, "act=%s: %s", work->act->name,
                              guard.why);
    if (work->options->qk_norm)
        vf_qk_norm_insert(work->rw, cx->model->arena, site);
    replace_weights(work, build_weights(work, logits));
    return commit_site(work, err);
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
static const char *why_not_options(const Work *work)
{
    const VfAttention *site = work->site;
    bool is_masked = site->mask != VF_MASK_NONE || site->n_term > 0;
    if (work->act->need == VF_MASK_NEEDS_ZERO && is_masked && fabs(work->scale.shift) > 0.0)
        return "act=identity: a shift would give removed keys a weight";
    if (vf_is_fused(site) && (work->scale.is_valid || work->options->qk_norm))
        return "L=valid and qk-norm=on do not look into fused operators";
    const char *why = work->scale.is_valid ? vf_relu_why_not_valid(site, work->logits) : NULL;
    return why == NULL && work->options->qk_norm ? vf_qk_norm_why_not(site) : why;
}

static VfStatus visit_site(Work *work, VfErr *err)
{
    const VfAttention *site = work->site;
    const char *why = site->kind == VF_ATTENTION_OTHER ? site->why : why_not(work);
    if (why != NULL)
        return vf_pass_refuse(work->cx, site->label, site->norm_node, err, "%s", why);
    if (!vf_is_fused(site)) {
        work->logits = without_maximum(site, site->logits);
        work->is_cast = is_cast_pair(work->logits, vf_node_out(site->norm_node, 0));
        if (work->is_cast)
            work->logits = vf_node_in(work->logits->def, 0);
    }
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
