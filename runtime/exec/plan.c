#include "runtime/exec/plan.h"

VfStatus vf_plan_fail(const VfPlanNode *node, const VfkFault *fault, VfErr *err)
{
    return vf_fail(err, VF_INVALID, "node '%.*s': index %lld lies outside an axis of %lld",
                   (int)node->name.size, node->name.data, (long long)fault->index,
                   (long long)fault->dim);
}

void vf_plan_free(VfPlan *plan)
{
    if (plan != NULL)
        vf_arena_free(plan->arena);
}
