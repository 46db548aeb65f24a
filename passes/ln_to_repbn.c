/* Before     y = LayerNorm(x) or RMSNorm(x), an operator or written out (passes/match/norm.h)
 * After      y = BatchNormalization(x; γ, β, μ, σ²) + η x, between Transposes where channels do not
 *            lie in axis 1
 * Why valid  it is another function: the network has to be trained again. init=lsq starts from the
 *            affine map nearest to the norm on calibration data, channel by channel, and tells how
 *            much of its variance that explains; fold-repbn and fold-bn then leave no norm
 * Requires   one axis of channels of known length; but for init=default calibration data
 * Exactness  VF_RETRAINED
 * Source     SLAB (arXiv 2405.11582), equation RepBN; least squares: spec 2.2
 * Limits     a norm that also gives its mean, or that is mixed by progressive-norm, stays. With
 *            fit=joint all norms are measured before any is changed
 */
#include "passes/repbn/repbn.h"

typedef struct Options {
    int init, fit;
    double eta, eps;
} Options;

enum { N_OPTION = 4 };

static const VfOption option[] = {
    {.name = "init",
     .help = "lsq: nearest affine map on the data; stats: statistics of the data, the norm's scale "
             "and shift; default: scale 1, shift 0, mean 0, variance 1",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(Options, init),
     .def = "lsq",
     .choices = "lsq|stats|default"},
    {.name = "fit",
     .help = "joint: norms are measured on the model as it was; in-turn: each behind those changed "
             "before it, in as many runs over the data",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(Options, fit),
     .def = "joint",
     .choices = "joint|in-turn"},
    {.name = "eta",
     .help = "share of x that is added; init=lsq gives the same function for any",
     .type = VF_OPTION_DOUBLE,
     .offset = offsetof(Options, eta),
     .def = "1"},
    VF_REPBN_EPS(Options, eps),
    {0},
};

static const char *why_not(const VfRepBnPass *pass, const VfLayerNorm *norm)
{
    VfRepBnMix mix;
    for (int32_t i = 1; i < norm->last->n_out; i++)
        if (norm->last->out[i] != NULL && norm->last->out[i]->n_use > 0)
            return "its mean or deviation is read, too";
    if (vf_repbn_find_mix(norm, &mix))
        return vf_arena_printf(pass->cx->arena, "'%s' mixes it with RepBN already: "
                               "progressive-norm:finish=repbn ends that",
                               vf_value_label(mix.lambda));
    return NULL;
}

static VfStatus apply(VfRepBnPass *pass, const VfRepBnSite *site, const VfRepBn *repbn, VfErr *err)
{
    const VfLayerNorm *norm = site->norm;
    const char *rule = norm->is_rms ? "rms-norm-to-repbn" : "layer-norm-to-repbn";
    VfRewriteInfo info = {pass->cx->pass, rule, norm->label, NULL};
    VfRewrite *rw = vf_rewrite_begin(pass->cx->journal, norm->last, info);
    VF_TRY_ALLOC(rw, err);
    vf_rewrite_replace(rw, norm->y, vf_repbn_build(rw, site, repbn));
    vf_rewrite_note(rw, "%s", repbn->note);
    return vf_rewrite_commit(rw, err);
}

static VfStatus run(VfPassCx *cx, VfErr *err)
{
    const Options *o = cx->options;
    VfRepBnPass pass = {.cx = cx,
                        .options = {(VfRepBnInit)o->init, o->fit == 1, o->eta, o->eps},
                        .why_not = why_not,
                        .apply = apply};
    return vf_repbn_run(&pass, err);
}

const VfPass vf_pass_ln_to_repbn = {
    .name = "ln-to-repbn",
    .summary = "RepBN, BN(x) + eta*x, in place of LayerNorm and RMSNorm",
    .source = "SLAB (arXiv 2405.11582), equation RepBN",
    .exactness = VF_RETRAINED,
    .option = option,
    .n_option = N_OPTION,
    .options_bytes = sizeof(Options),
    .run = run,
};
