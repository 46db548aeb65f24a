/* softmax-to-relu: attention weights that are a point-wise function of the logits, over the number
 * of keys.
 *
 * Before    P = softmax(S) over L keys, S = scale Q Kᵀ + bias + mask
 * After     P = L^-alpha h(S), h = act
 * Why valid it is another function: the network has to be trained again. What stays is the graph
 * around it: scale, biases and masks lie inside h, a removed key keeps weight zero Requires
 * attention found by match/attention; the rank of the logits Exactness VF_RETRAINED Source    arXiv
 * 2309.08586, sections 3 and 4 Limits    talking heads, channel attention and other kinds that only
 * contain a softmax are left alone, and so are fused operators but ONNX Attention without a cache,
 * which is taken apart. L counts masked keys too. With act=identity a mask must be the last thing
 * added
 */
#include <math.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/pass.h"
#include "passes/softmax_act.h"

typedef struct ReluOptions {
    int act; /* row of vf_act_table */
    double alpha;
} ReluOptions;

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
    {0},
};

/* One site on its way. */
typedef struct Work {
    VfPassCx *cx;
    const ReluOptions *options;
    const VfAct *act;
    const VfAttention *site;
    VfRewrite *rw;
    VfValue *logits; /* what h is applied to */
    bool is_cast;    /* the softmax stood between Casts, which go away with it */
} Work;

/* Is the softmax part of a larger operator? */
static bool is_fused(const VfAttention *site)
{
    VfOp op = site->norm_node->op;
    return op != VF_OP_SOFTMAX && op != VF_OP_DIV && op != VF_OP_MUL;
}

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

/* L as a scalar of the logits' dtype, read from their shape at run time. */
static VfValue *run_time_length(const Work *work)
{
    VfRewrite *rw = work->rw;
    VfValue *axis = vf_rewrite_scalar(rw, VF_I64, (double)work->site->key_axis, "key_axis");
    VfValue *shape = vf_rewrite_unary(rw, VF_OP_SHAPE, work->logits);
    VfValue *length = vf_rewrite_binary(rw, VF_OP_GATHER, shape, axis);
    return vf_rewrite_cast(rw, length, work->logits->type.dtype);
}

/* `weights` times L^-alpha. */
static VfValue *scale_weights(const Work *work, VfValue *weights)
{
    VfRewrite *rw = work->rw;
    VfDtype dtype = work->logits->type.dtype;
    VfDim keys = vf_dim_at(work->logits, work->site->key_axis);
    double alpha = work->options->alpha;
    if (alpha == 0.0 || vf_dim_is(keys, 1))
        return weights;
    if (vf_dim_is_known(keys))
        return vf_rewrite_binary(
            rw, VF_OP_MUL, weights,
            vf_rewrite_scalar(rw, dtype, pow((double)keys.k, -alpha), "key_share"));
    VfValue *length = run_time_length(work);
    if (alpha == 1.0)
        return vf_rewrite_binary(rw, VF_OP_DIV, weights, length);
    VfValue *exponent = vf_rewrite_scalar(rw, dtype, -alpha, "minus_alpha");
    return vf_rewrite_binary(rw, VF_OP_MUL, weights,
                             vf_rewrite_binary(rw, VF_OP_POW, length, exponent));
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
    vf_rewrite_note(work->rw, "act %s, alpha %g, %s keys", work->act->name, work->options->alpha,
                    keys != NULL ? keys : "?");
    return vf_rewrite_commit(work->rw, err);
}

/* The operator gives way to plain nodes around the function. */
static VfStatus rewrite_fused(Work *work, VfErr *err)
{
    work->logits = vf_unfuse_logits(work->rw, work->site, work->act);
    if (work->logits == NULL)
        return vf_rewrite_commit(work->rw, err); /* reports the failure */
    VfValue *weights = scale_weights(work, work->act->build(work->rw, work->logits));
    vf_rewrite_replace(work->rw, work->site->out,
                       vf_unfuse_output(work->rw, work->site, weights));
    return commit_site(work, err);
}

static VfStatus rewrite_site(Work *work, VfErr *err)
{
    VfPassCx *cx = work->cx;
    const VfAttention *site = work->site;
    work->rw = vf_rewrite_begin(cx->journal, site->norm_node,
                                (VfRewriteInfo){cx->pass, "softmax-to-relu", site->label, NULL});
    VF_TRY_ALLOC(work->rw, err);
    if (is_fused(site))
        return rewrite_fused(work, err);
    VfMaskGuard guard = {work->rw, cx->model->arena, site, NULL};
    VfValue *logits = vf_act_guard_masks(&guard, work->act, work->logits);
    if (guard.why != NULL)
        return vf_pass_refuse(cx, site->label, site->norm_node, err, "act=%s: %s", work->act->name,
                              guard.why);
    replace_weights(work, scale_weights(work, work->act->build(work->rw, logits)));
    return commit_site(work, err);
}

/* --- sites --- */

/* Why a softmax site cannot be rewritten, or NULL. */
static const char *why_not(const Work *work)
{
    const VfAttention *site = work->site;
    if (is_fused(site))
        return vf_unfuse_why_not(site, work->act);
    if (site->key_axis < 0 || site->logits->type.rank < 1)
        return "the rank of the logits is not known";
    if (!vf_dtype_info(site->logits->type.dtype)->is_float)
        return "the dtype of the logits is not known";
    if (vf_graph_opset(site->graph, vf_bytes("")) < work->act->opset)
        return "the opset is too old for the function";
    return NULL;
}

static VfStatus visit_site(Work *work, VfErr *err)
{
    const VfAttention *site = work->site;
    const char *why = site->kind == VF_ATTENTION_OTHER ? site->why : why_not(work);
    if (why != NULL)
        return vf_pass_refuse(work->cx, site->label, site->norm_node, err, "%s", why);
    if (is_fused(site))
        return rewrite_site(work, err);
    work->logits = without_maximum(site, site->logits);
    work->is_cast = is_cast_pair(work->logits, vf_node_out(site->norm_node, 0));
    if (work->is_cast)
        work->logits = vf_node_in(work->logits->def, 0);
    return rewrite_site(work, err);
}

static VfStatus run(VfPassCx *cx, VfErr *err)
{
    VfAttentions found;
    Work work = {.cx = cx, .options = cx->options};
    work.act = &vf_act_table[work.options->act];
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
    .n_option = 2,
    .options_bytes = sizeof(ReluOptions),
    .run = run,
};
