/* Constants: how far each moved from its twin. */
#include <math.h>
#include <string.h>

#include "converter/report/diff_private.h"

static bool is_same_type(const VfTensor *a, const VfTensor *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

/* NaN differs from all but NaN and is left out of the distances. */
static void measure(VfDiffWeight *weight)
{
    const VfTensor *a = weight->a->tensor, *b = weight->b->tensor;
    double sum = 0, sum_a = 0;
    weight->is_measured = is_same_type(a, b) && a->dtype != VF_STRING;
    for (size_t i = 0; weight->is_measured && i < a->count; i++) {
        double x = vf_tensor_get_double(a, i), y = vf_tensor_get_double(b, i);
        double d = fabs(y - x);
        if (x == y || (isnan(x) && isnan(y))) {
            sum_a += isfinite(x) ? x * x : 0;
            continue;
        }
        weight->n_differ++;
        if (!isfinite(d))
            continue;
        sum_a += x * x;
        sum += d * d;
        weight->max_abs = fmax(weight->max_abs, d);
    }
    weight->norm = sqrt(sum);
    weight->norm_rel = sum == 0 ? 0 : sum_a == 0 ? (double)INFINITY : sqrt(sum / sum_a);
}

static VfStatus add(VfDiff *diff, VfDiffKind kind, const VfValue *a, const VfValue *b, VfErr *err)
{
    VfDiffWeight weight = {.kind = kind, .a = a, .b = b};
    if (kind == VF_DIFF_CHANGED)
        measure(&weight);
    VF_TRY(vf_arena_grow(diff->arena, (void **)&diff->weight, &diff->weight_capacity,
                         diff->n_weight + 1, sizeof *diff->weight, err));
    diff->weight[diff->n_weight++] = weight;
    return VF_OK;
}

static bool is_constant(const VfValue *value)
{
    return value != NULL && value->kind == VF_VALUE_CONST;
}

static VfStatus visit_graphs(VfDiff *diff, const VfGraphPair *pair, VfErr *err)
{
    const VfAlign *align = diff->align;
    for (const VfValue *a = pair->a->first_value; a != NULL; a = a->next) {
        const VfValue *b = align->value_b[a->id];
        if (!is_constant(a))
            continue;
        if (!is_constant(b))
            VF_TRY(add(diff, VF_DIFF_REMOVED, a, NULL, err));
        else if (!vf_tensor_is_equal(a->tensor, b->tensor))
            VF_TRY(add(diff, VF_DIFF_CHANGED, a, b, err));
    }
    for (const VfValue *b = pair->b->first_value; b != NULL; b = b->next)
        if (is_constant(b) && !is_constant(align->value_a[b->id]))
            VF_TRY(add(diff, VF_DIFF_ADDED, NULL, b, err));
    return VF_OK;
}

VfStatus vf_diff_weights(VfDiff *diff, VfErr *err)
{
    for (size_t i = 0; i < diff->align->n_pair; i++)
        VF_TRY(visit_graphs(diff, &diff->align->pair[i], err));
    return VF_OK;
}
