/* What the files that compare models share. */
#ifndef VF_IR_EQUAL_PRIVATE_H
#define VF_IR_EQUAL_PRIVATE_H

#include "passes/ir/equal.h"

typedef struct VfEqual {
    const VfModel *a, *b;
    const VfValue **twin; /* by id of a value of `a`: the value of `b` that stands for it */
    VfErr *why;
} VfEqual;

/* All return VF_OK if equal, else VF_DIFFERS with a sentence. */
VfStatus vf_equal_graph(const VfEqual *eq, const VfGraph *a, const VfGraph *b);
VfStatus vf_equal_attrs(const VfEqual *eq, const VfAttr *a, const VfAttr *b, const char *owner);
VfStatus vf_equal_type(const VfEqual *eq, const VfType *a, const VfType *b, const char *owner);

bool vf_equal_raw(VfRaw a, VfRaw b);
bool vf_equal_meta(const VfMeta *a, const VfMeta *b);

#endif
