/* Branches whose condition the plan does not know: they are computed whatever that says. */
#ifndef VF_LOWER_CHOICE_H
#define VF_LOWER_CHOICE_H

#include "converter/lower/low.h"

typedef struct VfLowChoice {
    struct VfLowChoice *outer; /* the one around it, or NULL */
    VfLowValue *condition;
    bool is_else;      /* taken where the condition is false */
    VfLowValue *taken; /* whether this one and all around it are, once somebody asked */
} VfLowChoice;

/* Whether the run takes cx->choice, which is there: a bool. */
VfStatus vf_low_is_taken(VfLower *cx, VfLowValue **out, VfErr *err);

#endif
