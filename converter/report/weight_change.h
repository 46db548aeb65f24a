/* How far a constant moved from the one whose place it took. */
#ifndef VF_REPORT_WEIGHT_CHANGE_H
#define VF_REPORT_WEIGHT_CHANGE_H

#include "passes/ir/tensor.h"

typedef struct VfWeightChange {
    bool is_measured; /* same dtype and shape, numbers: the rest is set */
    size_t n_differ;
    double max_abs, norm, norm_rel; /* of b - a; relative to a, infinity where a is 0 */
} VfWeightChange;

/* NaN differs from all but NaN and is left out of the distances. */
VfWeightChange vf_weight_change(const VfTensor *a, const VfTensor *b);

#endif
