#include "passes/declared.h"

/* Is `type` possible for result `i`, whatever the file declares? */
static VfStatus is_allowed(VfPassCx *cx, const VfNode *node, int32_t i, const VfType *type,
                           bool *result, VfErr *err)
{
    const VfFact **in = VF_NEW_ARRAY(cx->arena, const VfFact *, (size_t)node->n_in);
    VfFact *fact = VF_NEW_ARRAY(cx->arena, VfFact, (size_t)node->n_in);
    VfFact *out = VF_NEW_ARRAY(cx->arena, VfFact, (size_t)node->n_out);
    VF_TRY_ALLOC(in, err);
    VF_TRY_ALLOC(fact, err);
    VF_TRY_ALLOC(out, err);
    for (int32_t k = 0; k < node->n_in; k++) {
        if (vf_node_in(node, k) == NULL)
            continue;
        fact[k] = vf_value_fact(vf_node_in(node, k));
        in[k] = &fact[k];
    }
    VF_TRY(vf_infer_node(cx->arena, cx->model->symbols, node, in, out, err));
    *result = vf_type_is_compatible(&out[i].type, type);
    return VF_OK;
}

VfStatus vf_check_declared(VfPassCx *cx, const VfNode *node, int32_t i, const VfTensor *found,
                           VfErr *err)
{
    const VfValue *value = node->out[i];
    VfType type;
    bool is_possible = false;
    if (value == NULL || value->n_use == 0 || found == NULL)
        return VF_OK;
    VF_TRY(vf_tensor_type(cx->arena, found, &type, err));
    if (vf_type_is_compatible(&value->type, &type))
        return VF_OK;
    VF_TRY(is_allowed(cx, node, i, &type, &is_possible, err));
    if (!is_possible)
        return VF_OK;
    const char *declared = vf_type_text(cx->arena, cx->model->symbols, &value->type);
    const char *real = vf_type_text(cx->arena, cx->model->symbols, &type);
    return vf_fail(err, VF_INVALID, "value '%s' is declared %s but must be %s",
                   vf_value_label(value), declared != NULL ? declared : "?",
                   real != NULL ? real : "?");
}
