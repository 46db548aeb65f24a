/* The text form of a model, `.vft`: prints and parses exactly; the language of the tests.
 *
 * docs/vft.md describes it. vf_vft_parse(vf_vft_print(m)) prints the same text again.
 * Weights are printed as literals when small, as `splat`, or as `hex` blobs when large, always
 * exact.
 */
#ifndef VF_IR_VFT_H
#define VF_IR_VFT_H

#include "passes/ir/graph.h"
#include "runtime/base/text.h"

/* Options of the printer. */
typedef struct VfVftStyle {
    bool with_data; /* print weights in full; otherwise dtype, shape and a digest (not parseable) */
    bool with_types; /* types of results as comments */
} VfVftStyle;

VfStatus vf_vft_print(const VfModel *model, VfVftStyle style, VfText *text, VfErr *err);

/* Print one node as one line, as in a diff. */
VfStatus vf_vft_print_node(const VfNode *node, VfText *text, VfErr *err);

/* Print the value of an attribute of `node`, as such a line has it. */
void vf_vft_print_attr(const VfNode *node, const VfAttr *attr, VfText *text);

/* Parse a whole model; errors name line and column. `*model` is the caller's, free with
 * vf_model_free. */
VfStatus vf_vft_parse(VfBytes text, const char *file, VfModel **model, VfErr *err);

#endif
