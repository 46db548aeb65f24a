/* RepBN in place of a LayerNorm or RMSNorm: RepBN(x) = γ (x-μ)/σ + β + η x for each channel, with σ
 * = √(var + eps). Shared by ln-to-repbn and progressive-norm.
 *
 * Source: SLAB (arXiv 2405.11582), equations RepBN and PRepBN; spec of the conversion passes, 2.
 */
#ifndef VF_REPBN_REPBN_H
#define VF_REPBN_REPBN_H

#include "passes/match/norm.h"
#include "passes/pass.h"
#include "passes/rewrite/rewrite.h"

/* What the parameters start from.
 *
 *     lsq      RepBN(x) = a x + c, the affine map nearest to the norm's own result y on the data:
 *              a = Cov(x, y) / Var(x), c = E[y] - a E[x]. μ and var are those of x, and
 *              γ = (a - η) σ, β = c + (a - η) μ, whatever η is
 *     stats    μ and var of x on the data, γ and β the norm's scale and shift
 *     default  γ = 1, β = 0, μ = 0, var = 1, as a new layer; the norm's scale and shift go
 *
 * Variances are those of all values, n in the denominator. */
typedef enum VfRepBnInit { VF_REPBN_LSQ, VF_REPBN_STATS, VF_REPBN_DEFAULT } VfRepBnInit;

typedef struct VfRepBnOptions {
    VfRepBnInit init;
    bool is_in_turn; /* each norm is measured behind those changed before it */
    double eta, eps;
} VfRepBnOptions;

/* The row of a pass's table of options for `field`, the epsilon. */
#define VF_REPBN_EPS(Options, field)                \
    {.name = "eps",                                 \
     .help = "epsilon of the BatchNormalization",   \
     .type = VF_OPTION_DOUBLE,                      \
     .offset = offsetof(Options, field),            \
     .def = "1e-05",                                \
     .min = 1e-12,                                  \
     .max = 1}

/* Moments of x and y on calibration data, one number for each channel. */
typedef struct VfRepBnMoments {
    int64_t n; /* values of a channel */
    double *x_mean, *y_mean, *x_var, *y_var, *cov;
} VfRepBnMoments;

/* A norm over one axis of known length. */
typedef struct VfRepBnSite {
    const VfLayerNorm *norm;
    int64_t channels;
    VfRepBnMoments moments; /* n is 0 when nothing was measured */
} VfRepBnSite;

/* γ, β, μ, var and η in the dtype of x. */
typedef struct VfRepBn {
    const VfTensor *gamma, *beta, *mean, *var, *eta;
    float eps;
    const char *note; /* for the journal */
    const char *why;  /* why the numbers cannot be used, or NULL */
} VfRepBn;

/* --- the sites of a pass; site.c --- */

typedef struct VfRepBnPass VfRepBnPass;
struct VfRepBnPass {
    VfPassCx *cx;
    VfRepBnOptions options;
    /* Has the pass done its work there? May be NULL. */
    bool (*is_done)(const VfLayerNorm *norm);
    /* What else stands in the way, or NULL. */
    const char *(*why_not)(const VfRepBnPass *pass, const VfLayerNorm *norm);
    VfStatus (*apply)(VfRepBnPass *pass, const VfRepBnSite *site, const VfRepBn *repbn,
                      VfErr *err);
    /* By number of the node behind the norm, for those found at first. */
    bool *is_selected;
    VfRepBnMoments *measured; /* all before any is changed; NULL until then */
    int32_t n_selected;
};

/* Apply at all selected norms, numbered among the LayerNorms and RMSNorms of the model as found.
 * All are measured before any is changed, unless in turn. VF_USAGE: the start
 * wants data and there is none. */
VfStatus vf_repbn_run(VfRepBnPass *pass, VfErr *err);

/* Are the nodes of the norm still in the graph, and do they read what they read when it was found?
 * A norm behind one that was changed does not. */
bool vf_repbn_is_alive(const VfLayerNorm *norm);

/* --- measure.c --- */

/* Fill the moments of `n` sites of the main graph. */
VfStatus vf_repbn_measure(VfPassCx *cx, int32_t n, VfRepBnSite *site, VfErr *err);

/* Add a batch of x and y of the same dims to the sums behind the moments. `axis` holds channels. */
VfStatus vf_repbn_add_batch(VfArena *arena, const VfTensor *x, const VfTensor *y, int32_t axis,
                            VfRepBnMoments *moments, VfErr *err);

/* --- parameters.c --- */

VfStatus vf_repbn_parameters(VfPassCx *cx, const VfRepBnOptions *options, const VfRepBnSite *site,
                             VfRepBn *repbn, VfErr *err);

/* The share of y's variance that the best affine map of x explains, over all channels; 1 where y
 * does not vary. */
double vf_repbn_r2(const VfRepBnMoments *moments, int64_t channels);

/* --- build.c --- */

/* RepBN(x) in the dtype and layout of the norm's result. Parameters become initializers called
 * after the rewrite's anchor: /repbn_scale, _shift, _mean, _var, _eta. */
VfValue *vf_repbn_build(VfRewrite *rw, const VfRepBnSite *site, const VfRepBn *repbn);

/* --- mix.c --- */

/* λ LN(x) + (1-λ) RepBN(x) around a norm. λ is a graph input (or what it was fixed to) of one
 * element, read directly or through a Cast. */
typedef struct VfRepBnMix {
    VfValue *lambda;
    VfValue *ln, *repbn; /* the two sides */
    VfValue *y;          /* the sum */
} VfRepBnMix;

/* False when the norm's result is no side of a mix. */
bool vf_repbn_find_mix(const VfLayerNorm *norm, VfRepBnMix *mix);

/* Is the norm the RepBN of a mix whose λ is still a graph input? Its parameters are then what
 * training is to find, and no pass may fold them; with `is_last` that is recorded as a refusal. */
VfStatus vf_repbn_refuse_training(VfPassCx *cx, const VfBatchNorm *bn, bool is_last,
                                  bool *is_training, VfErr *err);

/* --- schedule.c --- */

typedef enum VfRepBnSchedule {
    VF_REPBN_LINEAR, /* 1 - t/T */
    VF_REPBN_COSINE, /* (1 + cos πt/T) / 2 */
    VF_REPBN_STEP,   /* 1 - floor(n t/T) / n */
    VF_REPBN_SCHEDULE_COUNT
} VfRepBnSchedule;

/* λ behind `t` of `total` steps of training: 1 at first, 0 from `total` on. `n_step` is of
 * VF_REPBN_STEP. Precondition: total and n_step are positive. */
double vf_repbn_lambda(VfRepBnSchedule schedule, int64_t n_step, int64_t t, int64_t total);

#endif
