#include <math.h>

#include "passes/repbn/repbn.h"

/* floor(n t / total) without overflow, for t < total. */
static int64_t steps_done(int64_t n, int64_t t, int64_t total)
{
    int64_t product;
    if (__builtin_mul_overflow(n, t, &product))
        return (int64_t)floor((double)n * ((double)t / (double)total));
    return product / total;
}

double vf_repbn_lambda(VfRepBnSchedule schedule, int64_t n_step, int64_t t, int64_t total)
{
    static const double pi = 3.14159265358979323846;
    if (t <= 0)
        return 1.0;
    if (t >= total)
        return 0.0;
    double at = (double)t / (double)total;
    if (schedule == VF_REPBN_LINEAR)
        return (double)(total - t) / (double)total;
    if (schedule == VF_REPBN_COSINE)
        return 0.5 * (1.0 + cos(pi * at));
    return 1.0 - (double)steps_done(n_step, t, total) / (double)n_step;
}
