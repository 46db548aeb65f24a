/* normalize: one spelling for what can be spelled in many ways.
 *
 * Before     calls of functions, If with a constant condition, Identity, Dropout, Casts and views
 *            that change nothing, chains of Transposes, Reshapes and Casts, sequences taken apart
 *            again
 * After      the plain nodes, as few as say the same
 * Why valid  each rule moves, drops or renames elements; no arithmetic is touched
 * Requires   inferred types
 * Exactness  same bits
 * Source     ONNX operator documents
 * Limits     Dropout in training mode stays; shapes with two unknown axes keep their computed
 *            targets; transposes and reshapes whose intermediate value is read elsewhere stay;
 *            a function that with all it calls is more than 64 times the nodes of all functions
 *            (and 4,096) stays a call
 */
#include "passes/normalize/rule.h"

VfRewrite *vf_normalize_begin(VfPassCx *cx, VfNode *node, const char *rule)
{
    return vf_rewrite_begin(cx->journal, node,
                            (VfRewriteInfo){cx->pass, rule, vf_node_label(node), NULL});
}

/* Rows of one operator are tried in order. `same` or `apply` is set. VF_OP_OTHER: any node. */
static const struct {
    const char *name;
    VfOp op;
    VfSameAs *same;
    VfNormalizeRule *apply;
} rules[] = {
    {"inline-function", VF_OP_OTHER, NULL, vf_normalize_inline_function},
    {"inline-if", VF_OP_IF, NULL, vf_normalize_inline_if},
    {"identity", VF_OP_IDENTITY, vf_same_identity, NULL},
    {"dropout-at-inference", VF_OP_DROPOUT, vf_same_dropout, NULL},
    {"cast-to-same", VF_OP_CAST, vf_same_cast, NULL},
    {"cast-through-wider", VF_OP_CAST, NULL, vf_normalize_merge_casts},
    {"cast-to-same", VF_OP_CAST_LIKE, vf_same_cast, NULL},
    {"cast-like", VF_OP_CAST_LIKE, NULL, vf_normalize_cast_like},
    {"reshape-to-same", VF_OP_RESHAPE, vf_same_view, NULL},
    {"reshape-target", VF_OP_RESHAPE, NULL, vf_normalize_reshape_target},
    {"merge-reshapes", VF_OP_RESHAPE, NULL, vf_normalize_merge_reshapes},
    {"keep-dims", VF_OP_RESHAPE, NULL, vf_normalize_keep_dims},
    {"keep-dims", VF_OP_UNSQUEEZE, NULL, vf_normalize_keep_dims},
    {"reshape-to-same", VF_OP_FLATTEN, vf_same_view, NULL},
    {"reshape-to-same", VF_OP_SQUEEZE, vf_same_view, NULL},
    {"reshape-to-same", VF_OP_UNSQUEEZE, vf_same_view, NULL},
    {"transpose-nothing", VF_OP_TRANSPOSE, vf_same_transpose, NULL},
    {"merge-transposes", VF_OP_TRANSPOSE, NULL, vf_normalize_merge_transposes},
    {"expand-to-same", VF_OP_EXPAND, vf_same_expand, NULL},
    {"expand-to-same", VF_OP_TILE, vf_same_expand, NULL},
    {"slice-whole", VF_OP_SLICE, vf_same_slice, NULL},
    {"pad-nothing", VF_OP_PAD, vf_same_pad, NULL},
    {"concat-of-one", VF_OP_CONCAT, vf_same_concat, NULL},
    {"concat-of-one", VF_OP_SUM, vf_same_concat, NULL},
    {"concat-of-one", VF_OP_MAX, vf_same_concat, NULL},
    {"concat-of-one", VF_OP_MIN, vf_same_concat, NULL},
    {"concat-of-one", VF_OP_MEAN, vf_same_concat, NULL},
    {"split-into-one", VF_OP_SPLIT, vf_same_split, NULL},
    {"split-sequence", VF_OP_SPLIT_TO_SEQUENCE, NULL, vf_normalize_split_sequence},
    {"sequence-at", VF_OP_SEQUENCE_AT, NULL, vf_normalize_sequence_at},
    {"concat-sequence", VF_OP_CONCAT_FROM_SEQUENCE, NULL, vf_normalize_concat_sequence},
};

static VfStatus replace_by_same(VfPassCx *cx, VfNode *node, const char *rule, VfSameAs *same,
                                VfErr *err)
{
    VfValue *y = vf_node_out(node, 0);
    VfValue *x = y != NULL ? same(node) : NULL;
    if (x == NULL || (y->n_use == 0 && node->n_out == 1))
        return VF_OK;
    VfRewrite *rw = vf_normalize_begin(cx, node, rule);
    VF_TRY_ALLOC(rw, err);
    vf_rewrite_replace(rw, y, x);
    return vf_rewrite_commit(rw, err);
}

static VfStatus visit(VfPassCx *cx, VfNode *node, void *self, VfErr *err)
{
    (void)self;
    int32_t n_edit = cx->journal->n_edit;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].op != node->op)
            continue;
        VF_TRY(rules[i].same != NULL ? replace_by_same(cx, node, rules[i].name, rules[i].same, err)
                                     : rules[i].apply(cx, node, rules[i].name, err));
        if (cx->journal->n_edit != n_edit)
            return VF_OK;
    }
    return VF_OK;
}

static VfStatus run(VfPassCx *cx, VfErr *err)
{
    for (;;) {
        int32_t n_edit = cx->journal->n_edit;
        VF_TRY(vf_pass_until_fixed(cx, visit, NULL, err));
        if (cx->journal->n_edit == n_edit)
            return VF_OK;
        /* inlining and merging make values whose types let further rules apply */
        VF_TRY(vf_infer_graph(cx->model->graph, cx->evaluator, err));
    }
}

const VfPass vf_pass_normalize = {
    .name = "normalize",
    .summary = "drop what does nothing, merge chains, inline functions",
    .source = "ONNX operator documents",
    .exactness = VF_EXACT,
    .is_default = true,
    .is_cleanup = true,
    .run = run,
};
