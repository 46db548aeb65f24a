/* Rules of the pass normalize, spread over the files of this folder.
 *
 * A rule looks at one node. If it applies it commits one rewrite, else it leaves all alone;
 * both are VF_OK. Rules of one operator are tried in order until one has edited.
 */
#ifndef VF_NORMALIZE_RULE_H
#define VF_NORMALIZE_RULE_H

#include "passes/pass.h"
#include "passes/rewrite/rewrite.h"

/* `rule` is the name for the journal. */
typedef VfStatus VfNormalizeRule(VfPassCx *cx, VfNode *node, const char *rule, VfErr *err);

/* The value that result 0 of a node always equals, bit for bit, or NULL. */
typedef VfValue *VfSameAs(const VfNode *node);

/* normalize/same.c: nodes that do nothing. */
VfSameAs vf_same_identity, vf_same_dropout, vf_same_cast, vf_same_view, vf_same_transpose,
    vf_same_expand, vf_same_slice, vf_same_pad, vf_same_concat, vf_same_split;

/* normalize/merge.c: chains that become one node. */
VfNormalizeRule vf_normalize_merge_transposes, vf_normalize_merge_reshapes,
    vf_normalize_reshape_target, vf_normalize_merge_casts, vf_normalize_cast_like;

/* normalize/reduce.c: a reduction without its axes, and a view that puts them back. */
VfNormalizeRule vf_normalize_keep_dims;

/* normalize/sequence.c: sequences whose elements are known one by one. */
VfNormalizeRule vf_normalize_split_sequence, vf_normalize_sequence_at, vf_normalize_concat_sequence;

/* normalize/inline.c: bodies put in place of what calls them. */
VfNormalizeRule vf_normalize_inline_function, vf_normalize_inline_if;

/* A rewrite at `node` called `rule`. NULL when out of memory. */
VfRewrite *vf_normalize_begin(VfPassCx *cx, VfNode *node, const char *rule);

#endif
