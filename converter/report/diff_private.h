/* What the files that find and print differences share. */
#ifndef VF_REPORT_DIFF_PRIVATE_H
#define VF_REPORT_DIFF_PRIVATE_H

#include "converter/report/diff.h"

VfStatus vf_diff_add_part(VfArena *arena, VfDiffParts *parts, VfDiffPart part, VfErr *err);

/* Add a part if two texts differ. */
VfStatus vf_diff_text_part(VfDiff *diff, VfDiffParts *parts, const char *what, VfBytes key,
                           VfBytes a, VfBytes b, VfErr *err);

/* Add parts for metadata that differs; keys are `what`. */
VfStatus vf_diff_meta(VfDiff *diff, VfDiffParts *parts, const char *what, VfBytes key,
                      const VfMeta *a, const VfMeta *b, VfErr *err);

/* The bytes of a number. */
VfStatus vf_diff_number(VfArena *arena, int64_t number, VfBytes *out, VfErr *err);

/* The type of a value, with the symbols of its model. */
VfStatus vf_diff_type(VfArena *arena, const VfModel *model, const VfType *type, VfBytes *out,
                      VfErr *err);

/* A constant in short: type, and its elements if they are few. */
VfStatus vf_diff_constant(VfArena *arena, const VfTensor *tensor, VfBytes *out, VfErr *err);

VfStatus vf_diff_facts(VfDiff *diff, VfErr *err);     /* diff_facts.c */
VfStatus vf_diff_operators(VfDiff *diff, VfErr *err); /* diff_operators.c */
VfStatus vf_diff_nodes(VfDiff *diff, VfErr *err);     /* diff_nodes.c */
VfStatus vf_diff_weights(VfDiff *diff, VfErr *err);   /* diff_weights.c */
VfStatus vf_diff_hunks(VfDiff *diff, VfErr *err);     /* diff_hunks.c */

#endif
