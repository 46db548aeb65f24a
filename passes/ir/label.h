/* Where a model keeps the labels that vf_node_label and vf_value_label (passes/ir/graph.h) made. */
#ifndef VF_IR_LABEL_H
#define VF_IR_LABEL_H

#include "runtime/base/status.h"

typedef struct VfLabels VfLabels;

/* NULL when out of memory. */
VfLabels *vf_labels_new(void);
void vf_labels_free(VfLabels *labels);

/* VF_NO_MEMORY if there was none for a label, now or earlier, which then was "?". Who prints labels
 * asks afterwards. */
VfStatus vf_labels_check(VfLabels *labels, VfErr *err);

#endif
