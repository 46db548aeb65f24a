/* Point-wise functions in the spellings of exporters. */
#ifndef VF_MATCH_POINTWISE_H
#define VF_MATCH_POINTWISE_H

#include "passes/ir/graph.h"

/* The point-wise function that ends at `value`: its name ("relu", "relu2", "gelu", ...; see act in
 * attention.h), fixed text, and in `*of` what it is applied to. NULL if none does; a function of a
 * constant is none. */
const char *vf_pointwise_of(VfValue *value, VfValue **of);

#endif
