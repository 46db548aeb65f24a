/* Where a model keeps the labels that vf_node_label and vf_value_label (passes/ir/graph.h) made. */
#ifndef VF_IR_LABEL_H
#define VF_IR_LABEL_H

typedef struct VfLabels VfLabels;

/* NULL when out of memory. */
VfLabels *vf_labels_new(void);
void vf_labels_free(VfLabels *labels);

#endif
