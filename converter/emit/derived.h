/* Numbers of steps that are no linear functions of the batch, but are computed from others that
 * are: the blocks that products are cut into. Emitted code calls the function of the
 * kernel's header that lowering called.
 */
#ifndef VF_EMIT_DERIVED_H
#define VF_EMIT_DERIVED_H

#include <stdbool.h>

#include "runtime/exec/plan.h"

typedef struct VfEmitDerived {
    const char *params; /* name of the struct */
    const char *field;  /* that is computed, or NULL: only the units are */
    const char *code;   /* that computes it, for a struct called `params` */
    const char *units;  /* the expression of the step's units */
    bool (*is_right)(const VfPlanStep *step); /* see below */
} VfEmitDerived;

/* The row for a kernel, or NULL. */
const VfEmitDerived *vf_emit_derived(const VfkKernel *kernel);

/* Whether the field is computed. */
bool vf_emit_is_derived(const VfkKernel *kernel, const VfkField *field);

/* Whether field and units of the step are what the code computes. */
bool vf_emit_derived_is_right(const VfPlanStep *step);

#endif
