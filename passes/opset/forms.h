/* How the form of an operator changed from opset to opset. */
#ifndef VF_PASSES_OPSET_FORMS_H
#define VF_PASSES_OPSET_FORMS_H

#include "passes/rewrite/rewrite.h"

enum { VF_FORM_DROP_MAX = 4 };

/* A node on its way from opset `from` to `to`. */
typedef struct VfForm {
    VfNode *node;
    int64_t from, to;
    VfArena *arena;  /* for reasons */
    VfRewrite *rw;   /* NULL: it is only asked whether and what is to be done */
    bool is_changed; /* an operand moves */
    int32_t n_in;    /* operands with those that are added */
    const char *drop[VF_FORM_DROP_MAX]; /* attributes that go */
    int32_t n_drop;
    VfErr *err;
} VfForm;

/* Take all steps between the two opsets. Sets *reason (NULL: none) where that cannot be done, in
 * which case nothing is changed. Without `rw` nothing is changed at all. */
VfStatus vf_form_change(VfForm *form, const char **reason);

/* For `to` below `from`: sets *reason unless the node means the same in the older opset as it is.
 * Attributes that the older form lacks go where they have their default. */
VfStatus vf_form_keep(VfForm *form, const char **reason);

#endif
