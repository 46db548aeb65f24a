#include "passes/apart.h"

#include "passes/match/residual.h"
#include "passes/rewrite/rewrite.h"

typedef struct Form {
    VfOp op;
    VfApartKind kind;
    int32_t bias, shift; /* operands, -1: none; a norm's scale is operand 2 */
    const char *plain;   /* the operator of the default domain, */
    int32_t since;       /* from this opset on; before: */
    const char *domain, *other;
} Form;

/* onnxruntime has the norms in the default domain of every opset. */
static const Form form_table[] = {
    {VF_OP_MS_SKIP_LAYER_NORMALIZATION, VF_APART_NORM, 4, 3, "LayerNormalization", 1, NULL, NULL},
    {VF_OP_MS_SKIP_SIMPLIFIED_LAYER_NORMALIZATION, VF_APART_NORM, 3, -1, "RMSNormalization", 23, "",
     "SimplifiedLayerNormalization"},
    {VF_OP_MS_BIAS_GELU, VF_APART_ACTIVATION, 1, -1, "Gelu", 20, "com.microsoft", "Gelu"},
    {VF_OP_MS_FAST_GELU, VF_APART_ACTIVATION, 1, -1, "Gelu", 20, "com.microsoft", "FastGelu"},
};

static const Form *form_of(VfOp op, VfApartKind kind)
{
    for (size_t i = 0; i < sizeof form_table / sizeof *form_table; i++)
        if (form_table[i].op == op && form_table[i].kind == kind)
            return &form_table[i];
    return NULL;
}

static VfValue *operand(const VfNode *node, int32_t slot)
{
    return slot < 0 ? NULL : vf_node_in(node, slot);
}

static const char *why_not(const VfNode *node, const Form *form)
{
    if (vf_node_out(node, 0) == NULL || vf_node_in(node, 0) == NULL)
        return "it has no operand or no result";
    for (int32_t i = 1; form->kind == VF_APART_NORM && i < 3; i++)
        if (vf_node_out(node, i) != NULL && vf_node_out(node, i)->n_use > 0)
            return "its mean or deviation is read, too";
    return NULL;
}

/* What is normalised. */
static VfValue *sum_of(VfRewrite *rw, const VfNode *node, VfValue *bias)
{
    VfValue *x = vf_node_in(node, 0), *skip = vf_node_in(node, 1);
    bool is_of_skip = bias != NULL && skip->kind == VF_VALUE_RESULT && vf_is_layer(skip->def);
    if (is_of_skip)
        skip = vf_rewrite_binary(rw, VF_OP_ADD, skip, bias);
    else if (bias != NULL)
        x = vf_rewrite_binary(rw, VF_OP_ADD, x, bias);
    return vf_rewrite_binary(rw, VF_OP_ADD, x, skip);
}

static VfValue *add_node(VfRewrite *rw, const VfNode *node, const Form *form, int32_t n_in,
                         VfValue *const *in)
{
    bool is_plain = vf_graph_opset(node->graph, vf_bytes("")) >= form->since;
    VfValue *out = NULL;
    vf_rewrite_node_n(rw, vf_bytes(is_plain ? "" : form->domain),
                      vf_bytes(is_plain ? form->plain : form->other), n_in, in, 1, &out);
    if (is_plain && form->op == VF_OP_MS_FAST_GELU)
        vf_rewrite_string(rw, "approximate", "tanh");
    if (form->kind == VF_APART_NORM) {
        vf_rewrite_int(rw, "axis", -1);
        vf_rewrite_float(rw, "epsilon", (float)vf_node_float(node, "epsilon"));
    }
    return out;
}

static VfStatus take_apart(VfPassCx *cx, VfNode *node, const Form *form, VfErr *err)
{
    const char *label = vf_node_label(node);
    VfRewrite *rw = vf_rewrite_begin(cx->journal, node,
                                     (VfRewriteInfo){cx->pass, "take-apart", label, NULL});
    VF_TRY_ALLOC(rw, err);
    VfValue *bias = operand(node, form->bias), *shift = operand(node, form->shift);
    bool is_norm = form->kind == VF_APART_NORM;
    VfValue *x = is_norm ? sum_of(rw, node, bias)
                         : vf_rewrite_binary(rw, VF_OP_ADD, vf_node_in(node, 0), bias);
    VfValue *in[3] = {x, is_norm ? vf_node_in(node, 2) : NULL, shift};
    int32_t n_in = is_norm ? 2 + (shift != NULL) : 1;
    if (is_norm && vf_node_out(node, 3) != NULL)
        vf_rewrite_replace(rw, vf_node_out(node, 3), x);
    vf_rewrite_replace(rw, vf_node_out(node, 0), add_node(rw, node, form, n_in, in));
    return vf_rewrite_commit(rw, err);
}

static VfStatus visit(VfPassCx *cx, VfNode *node, void *self, VfErr *err)
{
    const Form *form = form_of(node->op, *(const VfApartKind *)self);
    if (form == NULL || (form->kind == VF_APART_ACTIVATION && operand(node, form->bias) == NULL))
        return VF_OK;
    const char *why = why_not(node, form);
    if (why != NULL)
        return vf_pass_refuse(cx, vf_node_label(node), node, err, "%s", why);
    return take_apart(cx, node, form, err);
}

VfStatus vf_take_apart(VfPassCx *cx, VfApartKind kind, VfErr *err)
{
    return vf_pass_each_node(cx, visit, &kind, err);
}
