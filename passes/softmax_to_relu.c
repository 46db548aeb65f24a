/* softmax-to-relu: attention weights that are a point-wise function of the logits, over the number
 * of keys.
 *
 * Before     P = softmax(S) over L keys, S = scale Q Kᵀ + bias + mask
 * After      P = gain L^-alpha h(S + shift), h = act
 * Why valid  it is another function: the network has to be trained again. What stays is the graph
 *            around it: scale, biases and masks lie inside h, a removed key keeps weight zero. What
 *            the scores are shifted by for all keys alike, such as their maximum, goes: softmax
 *            does not see it, h would
 * Requires   attention found by match/attention; the rank of the logits
 * Exactness  VF_RETRAINED
 * Source     arXiv 2309.08586, sections 3 and 4
 * Limits     talking heads, channel attention and other kinds that only contain a softmax are left
 *            alone, and so are fused operators with keys at places told by counts, or a term in
 *            the softmax that belongs to no key; others are taken apart. With act=identity a mask
 *            must be the last thing added. fold-scale=on leaves a factor where it stands, with a
 *            note, when the layers around cannot take it: keys counted at run time or row by row,
 *            a packed projection with several readers
 */
#include <math.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/pass.h"
#include "passes/pointwise/site.h"
#include "passes/spa_insert/own.h"

enum { N_OPTION = 8 };

/* Of relu over normal logits, with logits of variance one: a gain of √(2π) or a shift c with
 * φ(c) + cΦ(c) = 1 makes the weights of a row sum to one on average. */
static const double auto_gain = 2.5066282746310002, auto_shift = 0.8994715612537436;

static const VfOption option[] = {
    {.name = "act",
     .help = "function of the logits in place of softmax",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(VfReluOptions, act),
     .def = "relu",
     .choices = "relu|relu2|relu6|gelu|softplus|sigmoid|identity"},
    {.name = "alpha",
     .help = "weights are divided by the number of keys to this power",
     .type = VF_OPTION_DOUBLE,
     .offset = offsetof(VfReluOptions, alpha),
     .def = "1",
     .min = 0,
     .max = 2},
    {.name = "gain",
     .help = "factor of the weights; auto (act=relu) makes them sum to one on average",
     .type = VF_OPTION_STRING,
     .offset = offsetof(VfReluOptions, gain),
     .def = "1"},
    {.name = "shift",
     .help = "added to the logits; auto (act=relu) makes the weights sum to one on average",
     .type = VF_OPTION_STRING,
     .offset = offsetof(VfReluOptions, shift),
     .def = "0"},
    {.name = "L",
     .help = "number of keys divided by: all of them, or those the masks leave to each row",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(VfReluOptions, length),
     .def = "constant",
     .choices = "constant|valid"},
    {.name = "qk-norm",
     .help = "LayerNorm of queries and keys over the head width (on or off)",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(VfReluOptions, qk_norm),
     .def = "off",
     .choices = "off|on"},
    {.name = "fold-scale",
     .help = "move the factors of scores and weights into the layers around (on or off)",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(VfReluOptions, fold_scale),
     .def = "off",
     .choices = "off|on"},
    {.name = "gate",
     .help = "multiply the output by a layer of the tokens, which starts as one",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(VfReluOptions, gate),
     .def = "off",
     .choices = "off|identity|silu"},
    {0},
};

/* --- sites --- */

/* Why a softmax site cannot be rewritten, or NULL. */
static const char *why_not(const VfReluSite *work)
{
    const VfAttention *site = work->site;
    if (vf_spa_is_own(work->cx->model, site))
        return "what insert-spa added to it is made for softmax: change the function first";
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
static const char *why_not_options(VfReluSite *work)
{
    const VfAttention *site = work->site;
    bool is_masked = site->mask != VF_MASK_NONE || site->n_term > 0;
    if (work->act->need == VF_MASK_NEEDS_ZERO && is_masked && fabs(work->scale.shift) > 0.0)
        return "act=identity: a shift would give removed keys a weight";
    const char *why = vf_is_fused(site) ? NULL : vf_relu_why_not_shifts(site, work->logits);
    if (why == NULL && work->scale.is_valid && !vf_is_fused(site))
        why = vf_relu_why_not_valid(site, work->logits);
    if (why == NULL && work->options->qk_norm)
        why = vf_qk_norm_why_not(site);
    if (why == NULL && work->options->gate != VF_GATE_OFF) {
        vf_gate_find(work->axes, site, &work->gate);
        why = work->gate.why;
    }
    return why;
}

static VfStatus visit_site(VfReluSite *work, VfErr *err)
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
    return vf_relu_rewrite_site(work, err);
}

static VfStatus read_options(VfReluSite *work, VfErr *err)
{
    const VfReluOptions *options = work->options;
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
    VfReluSite work = {.cx = cx, .options = cx->options};
    VF_TRY(read_options(&work, err));
    VF_TRY(vf_find_attention(cx->arena, cx->model, &found, err));
    if (work.options->gate != VF_GATE_OFF)
        VF_TRY(vf_axes_new(cx->arena, cx->model, &work.axes, err));
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
    .options_bytes = sizeof(VfReluOptions),
    .run = run,
};
