#include "runtime/exec/plan.h"

void vf_plan_free(VfPlan *plan)
{
    if (plan != NULL)
        vf_arena_free(plan->arena);
}
