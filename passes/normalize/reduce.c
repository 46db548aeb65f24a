/* Reductions whose axes are put back behind them. */
#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/normalize/rule.h"

static bool is_reduction(VfOp op)
{
    static const VfOp known[] = {
        VF_OP_ARG_MAX,        VF_OP_ARG_MIN,           VF_OP_REDUCE_L1,
        VF_OP_REDUCE_L2,      VF_OP_REDUCE_LOG_SUM,    VF_OP_REDUCE_LOG_SUM_EXP,
        VF_OP_REDUCE_MAX,     VF_OP_REDUCE_MEAN,       VF_OP_REDUCE_MIN,
        VF_OP_REDUCE_PROD,    VF_OP_REDUCE_SUM,        VF_OP_REDUCE_SUM_SQUARE,
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] == op)
            return true;
    return false;
}

static int32_t axes_of(const VfNode *reduce, int64_t *axis)
{
    if (reduce->op != VF_OP_ARG_MAX && reduce->op != VF_OP_ARG_MIN)
        return vf_reduce_axes(reduce, axis);
    axis[0] = vf_axis_of(vf_node_int(reduce, "axis"), vf_node_in(reduce, 0)->type.rank);
    return axis[0] < 0 ? -1 : 1;
}

/* Does a view that gives `type` say no more than that the reduced axes are kept? Elements stay in
 * order, so the lengths decide. */
static bool keeps_dims(const VfNode *reduce, const VfType *type)
{
    int64_t axis[VF_AXIS_MAX];
    const VfType *from = &vf_node_in(reduce, 0)->type;
    if (from->rank < 1 || from->rank > VF_AXIS_MAX || type->rank != from->rank)
        return false;
    int32_t n = axes_of(reduce, axis), next = 0;
    if (n < 1)
        return false;
    for (int32_t i = 0; i < from->rank; i++) {
        bool is_reduced = next < n && axis[next] == i;
        next += is_reduced;
        if (is_reduced ? !vf_dim_is(type->dims[i], 1)
                       : !vf_dim_is_same(type->dims[i], from->dims[i]))
            return false;
    }
    return true;
}

VfStatus vf_normalize_keep_dims(VfPassCx *cx, VfNode *node, const char *rule, VfErr *err)
{
    VfValue *x = vf_node_in(node, 0), *out = NULL, *in[2];
    if (x == NULL || node->out[0] == NULL || x->kind != VF_VALUE_RESULT ||
        x->graph != node->graph || vf_value_single_user(x) != node)
        return VF_OK;
    const VfNode *reduce = x->def;
    if (!is_reduction(reduce->op) || reduce->n_in > 2 || vf_node_in(reduce, 0) == NULL ||
        vf_node_int(reduce, "keepdims") != 0 || !keeps_dims(reduce, &node->out[0]->type))
        return VF_OK;
    VfRewrite *rw = vf_normalize_begin(cx, node, rule);
    VF_TRY_ALLOC(rw, err);
    for (int32_t i = 0; i < reduce->n_in; i++)
        in[i] = vf_node_in(reduce, i) != NULL ? vf_node_in(reduce, i) : VF_NO_OPERAND;
    vf_rewrite_node_n(rw, reduce->domain, reduce->op_type, reduce->n_in, in, 1, &out);
    for (const VfAttr *attr = reduce->first_attr; attr != NULL; attr = attr->next)
        if (!vf_bytes_is_equal(attr->name, vf_bytes("keepdims")))
            vf_rewrite_attr(rw, attr);
    vf_rewrite_int(rw, "keepdims", 1);
    vf_rewrite_replace(rw, node->out[0], out);
    return vf_rewrite_commit(rw, err);
}
