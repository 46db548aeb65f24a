/* Pad: with zeros, which a scale keeps and a shift does not; or with copies of elements. */
#include "passes/fold/walk.h"
#include "passes/ir/attr.h"

static bool is_constant_mode(const VfNode *node)
{
    return vf_bytes_is_equal(vf_node_string(node, "mode"), vf_bytes("constant"));
}

static bool pads_zero(const VfNode *node)
{
    const VfValue *operand = vf_node_in(node, 2);
    const VfTensor *value = vf_value_const(operand);
    if (operand != NULL)
        return value != NULL && vf_tensor_is_all(value, 0.0);
    return vf_node_attr(node, "value") == NULL ||
           !(vf_node_float(node, "value") < 0.0 || vf_node_float(node, "value") > 0.0);
}

/* Elements put before axis `axis`; false when it is not known. */
static bool begin_of(const VfNode *node, int32_t rank, int32_t axis, int64_t *begin)
{
    int32_t n, n_axis;
    const int64_t *pads = vf_node_ints_or_operand(node, "pads", 1, &n);
    const int64_t *axes = vf_node_ints_or_operand(node, "axes", 3, &n_axis);
    if (pads == NULL || n < 0 || n_axis < 0 || n != 2 * (axes != NULL ? n_axis : rank))
        return false;
    *begin = axes != NULL ? 0 : pads[axis];
    for (int32_t i = 0; axes != NULL && i < n_axis; i++) {
        if (axes[i] == axis || axes[i] + rank == axis)
            *begin = pads[i];
    }
    return true;
}

static bool keeps_axis(const VfNode *node, int32_t axis)
{
    const VfType *from = &vf_node_in(node, 0)->type, *to = &node->out[0]->type;
    return from->rank == to->rank && vf_dim_is_same(from->dims[axis], to->dims[axis]);
}

/* Zeros around the shift along one axis, and ones around the scale where it varies along it. */
static VfStatus pad_axis(VfFoldWalk *walk, const VfNode *node, int32_t axis, VfAffine *x,
                         VfErr *err)
{
    const VfType *from = &vf_node_in(node, 0)->type, *to = &node->out[0]->type;
    int64_t begin;
    bool is_known = from->rank == to->rank && vf_dim_is_known(from->dims[axis]) &&
                    vf_dim_is_known(to->dims[axis]) && begin_of(node, from->rank, axis, &begin) &&
                    begin >= 0 && from->dims[axis].k > 0 &&
                    to->dims[axis].k >= begin + from->dims[axis].k;
    if (!is_known)
        return vf_fold_stop(
            walk, node, err,
            "'%s' pads with zeros, which the norm's shift would change, and its extents are not "
            "static",
            vf_node_label(node));
    size_t n = (size_t)from->dims[axis].k;
    int64_t *index = VF_NEW_ARRAY(walk->arena, int64_t, n);
    VF_TRY_ALLOC(index, err);
    for (size_t i = 0; i < n; i++)
        index[i] = begin + (int64_t)i;
    VfAffine out = *x;
    VF_TRY(vf_field_spread(walk->arena, &x->c, axis, n, index, to->dims[axis].k, 0.0, &out.c, err));
    if (x->a.dims[axis] != 1)
        VF_TRY(vf_field_spread(walk->arena, &x->a, axis, n, index, to->dims[axis].k, 1.0, &out.a,
                               err));
    *x = out;
    return VF_OK;
}

/* Copies carry what their elements do, if the axes along which it varies are left alone. */
static VfStatus check_axes(VfFoldWalk *walk, const VfNode *node, const VfAffine *x, VfErr *err)
{
    for (int32_t axis = 0; axis < x->a.rank; axis++) {
        if (vf_affine_varies(x, axis) && !keeps_axis(node, axis))
            return vf_fold_stop(walk, node, err, "'%s' pads the channels", vf_node_label(node));
    }
    return VF_OK;
}

VfStatus vf_fold_pad_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                             VfErr *err)
{
    VfAffine out = *in;
    (void)slot;
    if (!is_constant_mode(node)) {
        VF_TRY(check_axes(walk, node, in, err));
        return walk->why != NULL ? VF_OK : vf_fold_carry(walk, node->out[0], in, err);
    }
    if (!pads_zero(node))
        return vf_fold_stop(walk, node, err,
                            "'%s' pads with a constant, which the norm would change",
                            vf_node_label(node));
    bool is_shifted = !vf_field_is_all(&in->c, 0.0);
    for (int32_t axis = 0; axis < in->a.rank && walk->why == NULL; axis++) {
        if (!keeps_axis(node, axis) && (is_shifted || in->a.dims[axis] != 1))
            VF_TRY(pad_axis(walk, node, axis, &out, err));
    }
    return walk->why != NULL ? VF_OK : vf_fold_carry(walk, node->out[0], &out, err);
}

VfStatus vf_fold_pad_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                              VfErr *err)
{
    (void)index;
    VF_TRY(check_axes(walk, node, out, err));
    bool keeps_fill = !is_constant_mode(node) || (pads_zero(node) && vf_field_is_all(&out->c, 0.0));
    if (walk->why == NULL && !keeps_fill)
        return vf_fold_stop(walk, node, err,
                            "'%s' pads with a constant, which the norm's shift would change",
                            vf_node_label(node));
    return walk->why != NULL ? VF_OK : vf_fold_demand(walk, node, 0, out, err);
}
