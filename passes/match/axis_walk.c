/* One axis followed through one node, down and up. */
#include "passes/match/axis_rules.h"

#include "passes/match/facts.h"

/* Operators whose result has the shape of operand 0 and keeps its places. */
static bool keeps_shape(VfOp op)
{
    static const VfOp list[] = {
        VF_OP_SOFTMAX,
        VF_OP_LAYER_NORMALIZATION,
        VF_OP_BATCH_NORMALIZATION,
        VF_OP_INSTANCE_NORMALIZATION,
        VF_OP_RMS_NORMALIZATION,
        VF_OP_GROUP_NORMALIZATION,
        VF_OP_DROPOUT,
        VF_OP_TRILU,
        VF_OP_CUM_SUM,
        VF_OP_LP_NORMALIZATION,
        VF_OP_LOG_SOFTMAX,
        VF_OP_MS_BIAS_SOFTMAX,
        VF_OP_CAST_LIKE,
        VF_OP_MS_BIAS_GELU,
        VF_OP_HARDMAX,
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        if (list[i] == op)
            return true;
    }
    return false;
}

/* The rule is the same both ways but for the direction of the map. */
static int32_t follow(const VfAxes *axes, const VfNode *node, int32_t slot, int32_t axis, bool down)
{
    const VfValue *in = vf_node_in(node, slot), *out = vf_node_out(node, 0);
    if (in == NULL || out == NULL || in->type.rank < 0 || out->type.rank < 0 || axis < 0 ||
        axis >= (down ? in : out)->type.rank)
        return -1;
    VfProduct p;
    if (vf_product_of((VfNode *)node, &p)) {
        if (slot >= p.n_in)
            return -1;
        return down ? vf_product_out_axis(&p, p.letter[slot][axis])
                    : vf_product_axis(&p, slot, p.out_letter[axis]);
    }
    int32_t perm[VF_AXIS_MAX];
    if (node->op == VF_OP_TRANSPOSE) {
        int32_t n = vf_transpose_perm(node, perm);
        for (int32_t i = 0; down && i < n; i++) {
            if (perm[i] == axis)
                return i;
        }
        return down || n < 0 ? -1 : perm[axis];
    }
    if (vf_op_has(node->op, VF_OPF_VIEW)) {
        const VfType *from = down ? &in->type : &out->type, *to = down ? &out->type : &in->type;
        return slot == 0 ? vf_axis_through_view(axes->model->symbols, from, to, axis) : -1;
    }
    int32_t shift = out->type.rank - in->type.rank;
    if (vf_op_has(node->op, VF_OPF_ELEMENTWISE) || (node->op == VF_OP_EXPAND && slot == 0)) {
        int32_t to = down ? axis + shift : axis - shift;
        return to < 0 || to >= (down ? out : in)->type.rank ? -1 : to;
    }
    if (slot != 0 || shift != 0)
        return -1;
    if (keeps_shape(node->op))
        return axis;
    bool is_conv = node->op == VF_OP_CONV || node->op == VF_OP_MS_FUSED_CONV;
    bool is_same = vf_dim_is_same(in->type.dims[axis], out->type.dims[axis]);
    if (is_conv && axis == 1)
        return -1;
    bool keeps = is_conv || node->op == VF_OP_SLICE || node->op == VF_OP_PAD ||
                 node->op == VF_OP_CONCAT || node->op == VF_OP_SPLIT;
    return keeps && is_same ? axis : -1;
}

int32_t vf_axis_down(const VfAxes *axes, const VfNode *node, int32_t slot, int32_t axis)
{
    return follow(axes, node, slot, axis, true);
}

int32_t vf_axis_up(const VfAxes *axes, const VfNode *node, int32_t slot, int32_t axis)
{
    return follow(axes, node, slot, axis, false);
}
