#include "passes/spa/schedule.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* log(1 - exp(-x)) for x > 0: each form is exact where the other cancels. */
static double log_one_less_exp(double x)
{
    return x < 0.6931471805599453 ? log(-expm1(-x)) : log1p(-exp(-x));
}

VfSpaDecay vf_spa_decay(double gamma_last, int32_t depth, int32_t l)
{
    if (l == 0)
        return (VfSpaDecay){(double)INFINITY, 0, 1, 1};
    double gamma = gamma_last;
    double share = log_one_less_exp(2 * gamma_last) * l / depth;
    if (l < depth)
        gamma = -0.5 * log_one_less_exp(-share);
    return (VfSpaDecay){gamma, exp(-gamma), sqrt(-expm1(-2 * gamma)), -expm1(-gamma)};
}

double vf_spa_decay_step(double gamma_last, int32_t depth, int32_t l)
{
    double share = log_one_less_exp(2 * gamma_last) / depth;
    return exp(share * (l - 1)) * -expm1(share);
}

double vf_spa_rho(double rho_last, int32_t depth, int32_t l)
{
    return l == depth ? rho_last : -expm1(log1p(-rho_last) * l / depth);
}

double vf_tat_map(double slope, double c)
{
    double weight = (1 - slope) * (1 - slope) / (pi * (1 + slope * slope));
    if (c >= 1)
        return 1;
    return fmin(1, c + weight * (sqrt((1 - c) * (1 + c)) - c * acos(c)));
}

double vf_tat_compose(double slope, int32_t n)
{
    double c = 0;
    for (int32_t i = 0; i < n; i++)
        c = vf_tat_map(slope, c);
    return c;
}

double vf_tat_scale(double slope)
{
    return sqrt(2 / (1 + slope * slope));
}

VfStatus vf_tat_solve(int32_t n, double target, double *slope, VfErr *err)
{
    if (!(target > 0 && target < 1))
        return vf_fail(err, VF_USAGE, "target %g is not between 0 and 1", target);
    if (n < 1 || n > VF_TAT_MAX_LAYERS)
        return vf_fail(err, VF_USAGE, "%d layers are not between 1 and %d", n, VF_TAT_MAX_LAYERS);
    double most = vf_tat_compose(0, n);
    if (most < target)
        return vf_fail(err, VF_UNSUPPORTED,
                       "target %g is out of reach with %d non-linear layers: plain relu gives %.6f",
                       target, n, most);
    double low = 0, high = 1; /* the composition falls from `most` to 0 in between */
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (vf_tat_compose(middle, n) >= target)
            low = middle;
        else
            high = middle;
    }
    *slope = low;
    return VF_OK;
}
