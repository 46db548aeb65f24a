/* linearize-attention: simplified linear attention (SLA) in place of softmax.
 *
 * Before     O = softmax(scale Q Kᵀ + bias + mask) V
 * After      O = φ(Q)(φ(K+P)ᵀ V) / (φ(Q) Σφ(K+P) + ε) + DWC(V), φ = Relu; or the same sums as
 *            (φ(Q)φ(K+P)ᵀ) V, whichever costs less
 * Why valid  it is another function: the network has to be trained again. Projections stay; scale,
 *            bias and softmax go. P starts as zero or from a file; DWC as zero, as adding V, from
 *            a file, or as the least squares of what softmax gives beyond the linear part. Half
 *            precision: φ(Q) and φ(K) shrink by about N_k^-1/2, so that no sum passes 65504
 *
 * Requires   attention found by match/attention, its weights read by the value product alone; a
 *            fixed token grid for the convolution. Tokens outside the grid stay out of it
 * Exactness  VF_RETRAINED
 * Source     SLAB (arXiv 2405.11582), equation SLA
 *
 * Limits     masks are multiplied: those of keys alone to φ(K), others in the quadratic form only.
 *            They do not stop the convolution at the edge of a region. Causal ones are multiplied
 *            where order=quadratic asks for it, without a convolution. Fused operators with caches
 *            are refused. P is a table (heads, d, N_k); a file gives it as SLAB keeps it,
 *            (1, N_k, heads d)
 */
#include <math.h>
#include <string.h>

#include "passes/grid_option.h"
#include "passes/linear/linear.h"
#include "passes/match/facts.h"
#include "passes/spa_insert/own.h"

/* Resize with half pixels and without its second operand. */
enum { STRETCH_OPSET = 13, FIT_KERNEL_MAX = 7 };

static const VfOption option[] = {
    {.name = "eps",
     .help = "added to the sum of the weights; in half precision, which takes means so that none "
             "is too large, to their mean, and at least 1e-4",
     .type = VF_OPTION_DOUBLE,
     .offset = offsetof(VfLinearOptions, eps),
     .def = "1e-6",
     .min = 0,
     .max = 1},
    {.name = "order",
     .help = "which product first: keys with values, or queries with keys",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(VfLinearOptions, order),
     .def = "auto",
     .choices = "auto|linear|quadratic"},
    {.name = "key-position",
     .help = "add a table to the keys: zeros, to be trained, or given; npz needs position-file",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(VfLinearOptions, key_position),
     .def = "off",
     .choices = "off|on|npz"},
    {.name = "dwc",
     .help = "depthwise convolution of the values: none, or its first weights; npz needs dwc-file, "
             "lsq fits them to what softmax gives on calibration data",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(VfLinearOptions, dwc),
     .def = "zero",
     .choices = "off|zero|identity|npz|lsq"},
    {.name = "kernel",
     .help = "width of the convolution, an odd number",
     .type = VF_OPTION_INT,
     .offset = offsetof(VfLinearOptions, kernel),
     .def = "5",
     .min = 1,
     .max = 31},
    VF_GRID_OPTION_ROWS(VfLinearOptions),
    {.name = "dwc-file",
     .help = "npz file with arrays 'weight' [d_v, 1, kernel, kernel] and, if any, 'bias' [d_v] for "
             "all sites, or 'SITE.weight' and 'SITE.bias' by label or number",
     .type = VF_OPTION_STRING,
     .offset = offsetof(VfLinearOptions, dwc_file)},
    {.name = "position-file",
     .help = "npz file with an array 'position' [1, keys, heads * d], as SLAB keeps it, for all "
             "sites, or 'SITE.position' by label or number",
     .type = VF_OPTION_STRING,
     .offset = offsetof(VfLinearOptions, position_file)},
    {.name = "ridge",
     .help = "how far dwc=lsq draws its weights to zero, relative to the squares of the values",
     .type = VF_OPTION_DOUBLE,
     .offset = offsetof(VfLinearOptions, ridge),
     .def = "1e-4",
     .min = 0,
     .max = 1e6},
    {.name = "upsample",
     .help = "values of reduced keys for the convolution: repeated on the map, or stretched along "
             "the sequence for checkpoints of SLAB",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(VfLinearOptions, upsample),
     .def = "nearest",
     .choices = "nearest|linear-1d"},
    {0},
};

/* --- sites --- */

static const char *why_no_position(VfLinearSite *work)
{
    if (work->options->key_position == VF_POSITION_OFF)
        return NULL;
    if (!vf_dim_is_known(work->n_k) || !vf_dim_is_known(work->d))
        return "a key position table needs a fixed number of keys";
    if (!vf_dim_is_known(work->site->heads))
        return "a key position table needs the number of heads";
    work->heads = vf_linear_find_heads(work);
    return work->heads != VF_HEADS_HIDDEN
               ? NULL
               : "its heads are folded into the batch: key positions find no axis";
}

static const char *why_not_structure(VfLinearSite *work)
{
    const VfAttention *site = work->site;
    if (site->kind == VF_ATTENTION_OTHER)
        return site->why;
    if (vf_spa_is_own(work->cx->model, site))
        return "linear attention has no place for what insert-spa added to it";
    const char *why = vf_is_fused(site) ? vf_linear_read_fused(work) : vf_linear_read(work);
    if (why != NULL)
        return why;
    /* the weights are gone afterwards */
    if (vf_attention_shares_weights(site, VF_ALL_READERS))
        return "its attention weights are read elsewhere too, and this form has none";
    if (!vf_dtype_info(site->out->type.dtype)->is_float)
        return "the dtype of its result is not known";
    if (isnan(vf_linear_gain(work)))
        return "its weights are multiplied by a number that is known at run time only";
    if (site->scale < 0.0)
        return "its scores are multiplied by a negative number, which relu would not undo";
    return NULL;
}

static const char *why_not_stretched(const VfLinearSite *work)
{
    bool is_stretched =
        work->options->upsample == VF_UPSAMPLE_LINEAR_1D && work->grid.stride > 1;
    if (is_stretched && vf_graph_opset(work->site->graph, vf_bytes("")) < STRETCH_OPSET)
        return "the opset cannot stretch its values: use upsample=nearest";
    return NULL;
}

static const char *why_not(VfLinearSite *work, bool is_auto)
{
    const char *why = why_not_structure(work);
    if (why == NULL)
        why = vf_linear_find_mask(work);
    if (why == NULL && is_auto && work->mask == VF_LINEAR_MASK_PAIRS)
        why = "its mask needs the quadratic form, which costs as much as softmax";
    if (why == NULL && is_auto && !vf_linear_has_sizes(work))
        why = "its number of tokens is not fixed, so the cost is not known";
    if (why == NULL)
        why = why_no_position(work);
    if (why == NULL && work->options->dwc != VF_DWC_OFF)
        why = vf_linear_find_grid(work);
    if (why == NULL && work->options->dwc != VF_DWC_OFF)
        why = why_not_stretched(work);
    return why;
}

static VfStatus refuse_cost(const VfLinearSite *work, VfErr *err)
{
    const VfAttention *site = work->site;
    long long n_q = work->n_q.k, n_k = work->n_k.k;
    if (n_q != n_k)
        return vf_pass_refuse(work->cx, site->label, site->norm_node, err,
                              "%lld queries over %lld keys cost less with softmax", n_q, n_k);
    return vf_pass_refuse(work->cx, site->label, site->norm_node, err,
                          "%lld tokens are too few: the linear form pays above %.0f", n_q,
                          vf_linear_break_even(work));
}

static VfStatus visit_site(VfLinearSite *work, bool is_auto, VfErr *err)
{
    const VfAttention *site = work->site;
    bool is_told = is_auto && vf_dim_is_known(work->d) && vf_dim_is_known(work->d_v);
    if (work->why != NULL && is_told)
        return vf_pass_refuse(work->cx, site->label, site->norm_node, err,
                              "%s; the linear form pays above %.0f tokens", work->why,
                              vf_linear_break_even(work));
    if (work->why != NULL)
        return vf_pass_refuse(work->cx, site->label, site->norm_node, err, "%s", work->why);
    if (is_auto && !vf_linear_pays(work))
        return refuse_cost(work, err);
    return vf_linear_rewrite(work, err);
}

static VfStatus check_weights(const VfLinearOptions *options, VfErr *err)
{
    if (options->dwc == VF_DWC_NPZ && options->dwc_file == NULL)
        return vf_fail(err, VF_USAGE, "option 'dwc': npz needs dwc-file=FILE");
    if (options->dwc != VF_DWC_NPZ && options->dwc_file != NULL)
        return vf_fail(err, VF_USAGE, "option 'dwc-file': it is read with dwc=npz only");
    if (options->dwc == VF_DWC_LSQ && options->kernel > FIT_KERNEL_MAX)
        return vf_fail(err, VF_USAGE, "option 'kernel': lsq fits at most %d taps along a side",
                       FIT_KERNEL_MAX);
    return VF_OK;
}

static VfStatus check_position(const VfLinearOptions *options, VfErr *err)
{
    bool is_npz = options->key_position == VF_POSITION_NPZ;
    if (is_npz && options->position_file == NULL)
        return vf_fail(err, VF_USAGE, "option 'key-position': npz needs position-file=FILE");
    if (!is_npz && options->position_file != NULL)
        return vf_fail(err, VF_USAGE,
                       "option 'position-file': it is read with key-position=npz only");
    if (is_npz && options->dwc == VF_DWC_LSQ)
        return vf_fail(err, VF_USAGE, "option 'dwc': lsq fits without key positions");
    return VF_OK;
}

static VfStatus check_options(const VfLinearOptions *options, VfErr *err)
{
    if (options->kernel % 2 == 0)
        return vf_fail(err, VF_USAGE, "option 'kernel': %lld is not an odd number",
                       (long long)options->kernel);
    VF_TRY(vf_grid_options_check(options->grid, options->prefix, err));
    VF_TRY(check_position(options, err));
    return check_weights(options, err);
}

/* All sites are read, and their weights found, on the graph as it came. */
static VfStatus select_sites(VfPassCx *cx, bool is_auto, VfLinearSite **chosen, int32_t *n,
                             VfErr *err)
{
    VfAttentions found;
    const VfSites any = {.seen = cx->sites.seen};
    VF_TRY(vf_find_attention(cx->arena, cx->model, &found, err));
    VfLinearSite *site = VF_NEW_ARRAY(cx->arena, VfLinearSite, (size_t)found.n_site);
    VF_TRY_ALLOC(site, err);
    for (int32_t i = 0; i < found.n_site; i++) {
        const VfAttention *at = &found.site[i];
        VfSiteFacts facts = {at->index, at->label, at->is_window};
        bool selected;
        VF_TRY(vf_sites_select(is_auto ? &any : &cx->sites, &facts, &selected, err));
        if (!selected || at->kind == VF_ATTENTION_LINEAR)
            continue;
        site[*n] = (VfLinearSite){.cx = cx, .options = cx->options, .site = at};
        site[*n].why = why_not(&site[*n], is_auto);
        ++*n;
    }
    *chosen = site;
    return VF_OK;
}

static VfStatus find_weights(VfPassCx *cx, VfLinearSite *site, int32_t n, VfErr *err)
{
    const VfLinearOptions *options = cx->options;
    VF_TRY(vf_linear_load(cx, site, n, err));
    return options->dwc == VF_DWC_LSQ ? vf_linear_fit(site, n, err) : VF_OK;
}

/* `sites=auto` takes the sites where the linear form costs less. */
static VfStatus run(VfPassCx *cx, VfErr *err)
{
    VfLinearSite *site = NULL;
    int32_t n = 0;
    bool is_auto = cx->sites.spec != NULL && strcmp(cx->sites.spec, "auto") == 0;
    VF_TRY(check_options(cx->options, err));
    VF_TRY(select_sites(cx, is_auto, &site, &n, err));
    VF_TRY(find_weights(cx, site, n, err));
    for (int32_t i = 0; i < n && vf_pass_may_edit(cx); i++) {
        if (site[i].site->norm_node->is_linked)
            VF_TRY(visit_site(&site[i], is_auto, err));
    }
    return VF_OK;
}

const VfPass vf_pass_linearize_attention = {
    .name = "linearize-attention",
    .summary = "simplified linear attention, relu(Q)(relu(K)'V) normalised, in place of softmax",
    .source = "SLAB (arXiv 2405.11582), equation SLA",
    .exactness = VF_RETRAINED,
    .option = option,
    .n_option = 11,
    .options_bytes = sizeof(VfLinearOptions),
    .run = run,
};
