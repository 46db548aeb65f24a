/* Parameters from moments. */
#include <math.h>

#include "passes/fold/affine.h"
#include "passes/match/facts.h"
#include "passes/repbn/repbn.h"

typedef struct Parameters {
    double *gamma, *beta, *mean, *var;
} Parameters;

double vf_repbn_r2(const VfRepBnMoments *moments, int64_t channels)
{
    double explained = 0, all = 0;
    for (int64_t c = 0; c < channels; c++) {
        all += moments->y_var[c];
        if (moments->x_var[c] > 0)
            explained += moments->cov[c] * moments->cov[c] / moments->x_var[c];
    }
    return all > 0 ? explained / all : 1.0;
}

static void set_default(const VfRepBnSite *site, Parameters *p)
{
    for (int64_t c = 0; c < site->channels; c++)
        p->gamma[c] = p->var[c] = 1.0;
}

static void set_statistics(const VfRepBnSite *site, Parameters *p)
{
    for (int64_t c = 0; c < site->channels; c++) {
        p->mean[c] = site->moments.x_mean[c];
        p->var[c] = site->moments.x_var[c];
    }
}

/* Element of a scale or shift that belongs to channel `c`. */
static double part(const VfValue *value, int64_t c, double absent)
{
    const VfTensor *t = vf_value_const(value);
    if (t == NULL || t->count == 0)
        return absent;
    return vf_tensor_get_double(t, t->count == 1 ? 0 : (size_t)c);
}

static void set_stats(const VfRepBnSite *site, Parameters *p)
{
    set_statistics(site, p);
    for (int64_t c = 0; c < site->channels; c++) {
        p->gamma[c] = part(site->norm->scale, c, 1.0);
        p->beta[c] = part(site->norm->shift, c, 0.0);
    }
}

static void set_lsq(const VfRepBnSite *site, const VfRepBnOptions *options, Parameters *p)
{
    const VfRepBnMoments *m = &site->moments;
    set_statistics(site, p);
    for (int64_t c = 0; c < site->channels; c++) {
        double a = m->x_var[c] > 0 ? m->cov[c] / m->x_var[c] : 0.0;
        double shift = m->y_mean[c] - a * m->x_mean[c];
        p->gamma[c] = (a - options->eta) * sqrt(m->x_var[c] + options->eps);
        p->beta[c] = shift + (a - options->eta) * m->x_mean[c];
    }
}

/* --- tensors --- */

static VfStatus tensor_of(VfPassCx *cx, const VfRepBnSite *site, const double *number, int64_t n,
                          const VfTensor **out, VfErr *err)
{
    *out = vf_tensor_doubles(cx->model->arena, site->norm->x->type.dtype, 1, &n, number);
    VF_TRY_ALLOC(*out, err);
    return VF_OK;
}

static bool is_finite(const VfTensor *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (!isfinite(vf_tensor_get_double(t, i)))
            return false;
    return true;
}

static VfStatus set_tensors(VfPassCx *cx, const VfRepBnSite *site, const Parameters *p, double eta,
                            VfRepBn *repbn, VfErr *err)
{
    int64_t n = site->channels;
    VF_TRY(tensor_of(cx, site, p->gamma, n, &repbn->gamma, err));
    VF_TRY(tensor_of(cx, site, p->beta, n, &repbn->beta, err));
    VF_TRY(tensor_of(cx, site, p->mean, n, &repbn->mean, err));
    VF_TRY(tensor_of(cx, site, p->var, n, &repbn->var, err));
    VF_TRY(tensor_of(cx, site, &eta, 1, &repbn->eta, err));
    const VfTensor *all[] = {repbn->gamma, repbn->beta, repbn->mean, repbn->var, repbn->eta};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!is_finite(all[i]))
            repbn->why = "its parameters on the data are no finite numbers in its dtype";
    return VF_OK;
}

/* --- telling --- */

/* A channel whose variance vanishes gets a factor of up to γ / √eps. */
static VfStatus warn_of_spread(VfPassCx *cx, const VfRepBnSite *site, const VfRepBnOptions *options,
                               const Parameters *p, VfErr *err)
{
    size_t n = (size_t)site->channels;
    double *a = VF_NEW_ARRAY(cx->arena, double, n), spread;
    VF_TRY_ALLOC(a, err);
    for (size_t c = 0; c < n; c++)
        a[c] = p->gamma[c] / sqrt(p->var[c] + options->eps) + options->eta;
    spread = vf_spread_of(cx->arena, n, a);
    if (spread > VF_SPREAD_LIMIT)
        vf_log(cx->log, VF_LOG_WARNING,
               "'%s': the largest scale is %.3g times the median: some channel hardly varies",
               site->norm->label, spread);
    return VF_OK;
}

static VfStatus describe(VfPassCx *cx, const VfRepBnSite *site, const VfRepBnOptions *options,
                         VfRepBn *repbn, VfErr *err)
{
    static const char *const name[] = {"lsq", "stats", "default"};
    const char *start = name[options->init];
    if (options->init == VF_REPBN_DEFAULT)
        repbn->note = vf_arena_printf(cx->model->arena, "init default, eta %g", options->eta);
    else
        repbn->note = vf_arena_printf(
            cx->model->arena, "init %s, eta %g, R2 of an affine map %.6f, %lld values a channel",
            start, options->eta, vf_repbn_r2(&site->moments, site->channels),
            (long long)site->moments.n);
    VF_TRY_ALLOC(repbn->note, err);
    return VF_OK;
}

VfStatus vf_repbn_parameters(VfPassCx *cx, const VfRepBnOptions *options, const VfRepBnSite *site,
                             VfRepBn *repbn, VfErr *err)
{
    Parameters p;
    size_t n = (size_t)site->channels;
    double **list[] = {&p.gamma, &p.beta, &p.mean, &p.var};
    *repbn = (VfRepBn){.eps = (float)options->eps};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        *list[i] = VF_NEW_ARRAY(cx->arena, double, n);
        VF_TRY_ALLOC(*list[i], err);
    }
    if (options->init == VF_REPBN_DEFAULT)
        set_default(site, &p);
    else if (options->init == VF_REPBN_STATS)
        set_stats(site, &p);
    else
        set_lsq(site, options, &p);
    VF_TRY(set_tensors(cx, site, &p, options->eta, repbn, err));
    if (repbn->why != NULL)
        return VF_OK;
    VF_TRY(warn_of_spread(cx, site, options, &p, err));
    return describe(cx, site, options, repbn, err);
}
