/* The point-wise functions of ReLU attention in double, written from spec 1.1 and not from the
 * passes.
 */
#ifndef VF_TESTS_ACT_REFERENCE_H
#define VF_TESTS_ACT_REFERENCE_H

#include <math.h>
#include <string.h>

/* h(s); `act` as the option of the pass spells it. */
static inline double apply(const char *act, double s)
{
    double r = s > 0 ? s : 0;
    if (strcmp(act, "relu") == 0)
        return r;
    if (strcmp(act, "relu2") == 0)
        return r * r;
    if (strcmp(act, "relu6") == 0)
        return r < 6 ? r : 6;
    if (strcmp(act, "gelu") == 0)
        return 0.5 * s * erfc(-s / sqrt(2));
    if (strcmp(act, "softplus") == 0)
        return r + log1p(exp(-fabs(s)));
    return strcmp(act, "sigmoid") == 0 ? 1 / (1 + exp(-s)) : s;
}

#endif
