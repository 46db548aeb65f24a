#include "converter/report/weight_change.h"

#include <math.h>
#include <string.h>

static bool is_same_type(const VfTensor *a, const VfTensor *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

VfWeightChange vf_weight_change(const VfTensor *a, const VfTensor *b)
{
    double sum = 0, sum_a = 0;
    VfWeightChange change = {.is_measured = is_same_type(a, b) && a->dtype != VF_STRING};
    for (size_t i = 0; change.is_measured && i < a->count; i++) {
        double x = vf_tensor_get_double(a, i), y = vf_tensor_get_double(b, i);
        double d = fabs(y - x);
        if (x == y || (isnan(x) && isnan(y))) {
            sum_a += isfinite(x) ? x * x : 0;
            continue;
        }
        change.n_differ++;
        if (!isfinite(d))
            continue;
        sum_a += x * x;
        sum += d * d;
        change.max_abs = fmax(change.max_abs, d);
    }
    change.norm = sqrt(sum);
    change.norm_rel = sum == 0 ? 0 : sum_a == 0 ? (double)INFINITY : sqrt(sum / sum_a);
    return change;
}
