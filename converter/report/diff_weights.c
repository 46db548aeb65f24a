/* Constants: how far each moved from its twin. */
#include "converter/report/diff_private.h"

static VfStatus add(VfDiff *diff, VfDiffKind kind, const VfValue *a, const VfValue *b, VfErr *err)
{
    VfDiffWeight weight = {.kind = kind, .a = a, .b = b};
    if (kind == VF_DIFF_CHANGED)
        weight.change = vf_weight_change(a->tensor, b->tensor);
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
