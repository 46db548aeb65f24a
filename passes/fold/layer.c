/* Layers with constant weights: where a scale and shift can end. Only whether they can is asked
 * here; fold/weights.c computes the new weights. */
#include "passes/fold/layer.h"
#include "passes/ir/attr.h"

static const VfTensor *weight_of(const VfNode *node, int32_t slot)
{
    const VfTensor *tensor = vf_value_const(vf_node_in(node, slot));
    bool is_float = tensor != NULL && tensor->count > 0 && vf_dtype_info(tensor->dtype)->is_float &&
                    vf_dtype_info(tensor->dtype)->bits >= 16;
    return is_float ? tensor : NULL;
}

static VfStatus no_weights(VfFoldWalk *walk, const VfNode *node, VfErr *err)
{
    return vf_fold_stop(walk, node, err, "the weights of '%s' (%.*s) are not constant",
                        vf_node_label(node), (int)node->op_type.size, node->op_type.data);
}

static bool has_extent(const VfField *x, int32_t axis, int64_t extent)
{
    return axis >= 0 && axis < x->rank && (x->dims[axis] == 1 || x->dims[axis] == extent);
}

static VfStatus other_axis(VfFoldWalk *walk, const VfNode *node, VfErr *err)
{
    return vf_fold_stop(
        walk, node, err,
        "at '%s' (%.*s) the norm varies along another axis than that of the weights",
        vf_node_label(node), (int)node->op_type.size, node->op_type.data);
}

/* Scale and shift must vary along `axis` alone, on which the weights have `extent`. */
static VfStatus check_axis(VfFoldWalk *walk, const VfNode *node, const VfAffine *x, int32_t axis,
                           int64_t extent, bool *fits, VfErr *err)
{
    *fits = has_extent(&x->a, axis, extent) && has_extent(&x->c, axis, extent) &&
            vf_affine_is_on_axis(x, axis);
    return *fits ? VF_OK : other_axis(walk, node, err);
}

/* The scale must; where the shift varies along other axes too, it becomes a map, not a bias. */
static VfStatus check_scale(VfFoldWalk *walk, const VfNode *node, const VfAffine *x, int32_t axis,
                            int64_t extent, bool *fits, VfErr *err)
{
    *fits = has_extent(&x->a, axis, extent) && has_extent(&x->c, axis, extent) &&
            vf_field_is_on_axis(&x->a, axis);
    if (!*fits)
        return other_axis(walk, node, err);
    if (!vf_field_is_on_axis(&x->c, axis))
        walk->needs_border_map = true;
    return VF_OK;
}

/* --- MatMul --- */

VfStatus vf_fold_matmul_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                                VfErr *err)
{
    const VfTensor *w = weight_of(node, 1 - slot);
    bool fits;
    if (w == NULL || w->rank < 1)
        return no_weights(walk, node, err);
    int32_t rank = in->a.rank;
    int32_t axis = slot == 0 || rank == 1 ? rank - 1 : rank - 2;
    int64_t extent = w->dims[slot == 1 || w->rank == 1 ? w->rank - 1 : w->rank - 2];
    if (w->rank == 2)
        VF_TRY(check_scale(walk, node, in, axis, extent, &fits, err));
    else
        VF_TRY(check_axis(walk, node, in, axis, extent, &fits, err));
    return fits ? vf_fold_add_step(walk, VF_FOLD_INTO_NEXT, node, slot, in, err) : VF_OK;
}

VfStatus vf_fold_matmul_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                                 VfErr *err)
{
    int32_t slot = weight_of(node, 1) != NULL ? 1 : 0;
    const VfTensor *w = weight_of(node, slot);
    bool fits;
    (void)index;
    if (w == NULL || w->rank < 2 || vf_node_in(node, 1 - slot)->type.rank < 2)
        return no_weights(walk, node, err);
    int32_t axis = slot == 1 ? out->a.rank - 1 : out->a.rank - 2;
    int64_t extent = w->dims[slot == 1 ? w->rank - 1 : w->rank - 2];
    VF_TRY(check_axis(walk, node, out, axis, extent, &fits, err));
    return fits ? vf_fold_add_step(walk, VF_FOLD_INTO_PREVIOUS, node, slot, out, err) : VF_OK;
}

/* --- Gemm --- */

VfStatus vf_fold_gemm_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                              VfErr *err)
{
    const VfTensor *w = slot < 2 ? weight_of(node, 1 - slot) : NULL;
    bool fits;
    if (slot == 2)
        return vf_fold_stop(walk, node, err, "'%s' adds it as its bias", vf_node_label(node));
    if (w == NULL || w->rank != 2 || vf_fold_carried(walk, vf_node_in(node, 2)) != NULL)
        return no_weights(walk, node, err);
    bool is_trans_x = vf_node_int(node, slot == 0 ? "transA" : "transB") != 0;
    bool is_trans_w = vf_node_int(node, slot == 0 ? "transB" : "transA") != 0;
    int32_t axis = (slot == 0) != is_trans_x ? 1 : 0;
    int64_t extent = w->dims[(slot == 0) != is_trans_w ? 0 : 1];
    VF_TRY(check_scale(walk, node, in, axis, extent, &fits, err));
    return fits ? vf_fold_add_step(walk, VF_FOLD_INTO_NEXT, node, slot, in, err) : VF_OK;
}

VfStatus vf_fold_gemm_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                               VfErr *err)
{
    int32_t slot = weight_of(node, 1) != NULL ? 1 : 0;
    const VfTensor *w = weight_of(node, slot);
    const VfValue *bias = vf_node_in(node, 2);
    bool fits;
    (void)index;
    if (w == NULL || w->rank != 2)
        return no_weights(walk, node, err);
    if (bias != NULL && weight_of(node, 2) == NULL)
        return vf_fold_stop(walk, node, err, "the bias of '%s' is not constant",
                            vf_node_label(node));
    bool is_trans = vf_node_int(node, slot == 1 ? "transB" : "transA") != 0;
    VF_TRY(check_axis(walk, node, out, slot, w->dims[(slot == 1) != is_trans ? 1 : 0], &fits, err));
    return fits ? vf_fold_add_step(walk, VF_FOLD_INTO_PREVIOUS, node, slot, out, err) : VF_OK;
}

/* --- Einsum --- */

static bool has_each_once(const VfProduct *p)
{
    for (int32_t i = 0; i < p->n_in; i++)
        for (int32_t a = 0; a < p->rank[i]; a++)
            if (vf_product_axis(p, i, p->letter[i][a]) != a)
                return false;
    return p->n_in == 2 && p->out_rank <= VF_FIELD_RANK_MAX;
}

static bool is_einsum(const VfNode *node, VfProduct *p)
{
    return vf_product_of((VfNode *)node, p) && has_each_once(p) &&
           p->rank[0] <= VF_FIELD_RANK_MAX && p->rank[1] <= VF_FIELD_RANK_MAX;
}

bool vf_einsum_sum_axes(const VfNode *node, int32_t slot, VfProduct *p, int32_t *axis,
                        int32_t *w_axis)
{
    int32_t n_summed = 0, w = 1 - slot;
    if (slot > 1 || !is_einsum(node, p) || weight_of(node, w) == NULL)
        return false;
    for (int32_t i = 0; i < 2; i++) {
        for (int32_t a = 0; a < p->rank[i]; a++) {
            bool is_kept = vf_product_out_axis(p, p->letter[i][a]) >= 0;
            n_summed += !is_kept;
            if (!is_kept && i == slot)
                *axis = a;
            else if (!is_kept)
                *w_axis = a;
        }
    }
    return n_summed == 2 && p->letter[slot][*axis] == p->letter[w][*w_axis];
}

VfStatus vf_fold_einsum_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                                VfErr *err)
{
    VfProduct p;
    int32_t axis = -1, w_axis = -1;
    bool fits;
    if (!vf_einsum_sum_axes(node, slot, &p, &axis, &w_axis))
        return vf_fold_stop(walk, node, err,
                            "'%s' is no sum over one axis of it and of constant weights",
                            vf_node_label(node));
    int64_t extent = vf_value_const(vf_node_in(node, 1 - slot))->dims[w_axis];
    VF_TRY(check_axis(walk, node, in, axis, extent, &fits, err));
    return fits ? vf_fold_add_step(walk, VF_FOLD_INTO_NEXT, node, slot, in, err) : VF_OK;
}

int32_t vf_einsum_weights(const VfNode *node, VfProduct *p)
{
    int32_t w = weight_of(node, 1) != NULL ? 1 : 0;
    return is_einsum(node, p) && weight_of(node, w) != NULL ? w : -1;
}

VfStatus vf_fold_einsum_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                                 VfErr *err)
{
    VfProduct p;
    int32_t w = vf_einsum_weights(node, &p);
    (void)index;
    if (w < 0)
        return no_weights(walk, node, err);
    for (int32_t a = 0; a < p.rank[w]; a++) {
        int32_t axis = vf_product_out_axis(&p, p.letter[w][a]);
        int64_t extent = vf_value_const(p.in[w])->dims[a];
        if (axis >= 0 && has_extent(&out->a, axis, extent) && has_extent(&out->c, axis, extent) &&
            vf_affine_is_on_axis(out, axis))
            return vf_fold_add_step(walk, VF_FOLD_INTO_PREVIOUS, node, w, out, err);
    }
    return other_axis(walk, node, err);
}

/* --- Conv, ConvTranspose --- */

static VfStatus conv_weights(VfFoldWalk *walk, const VfNode *node, const VfTensor **w,
                             int64_t *group, VfErr *err)
{
    *w = weight_of(node, 1);
    *group = vf_node_int(node, "group");
    bool is_valid = *w != NULL && (*w)->rank >= 3 && (*w)->rank <= VF_FIELD_RANK_MAX &&
                    *group > 0 && (*w)->dims[0] % *group == 0;
    if (is_valid)
        return VF_OK;
    *w = NULL;
    return no_weights(walk, node, err);
}

/* A shift before a layer whose taps do not all meet an element needs a map of the border. */
static VfStatus check_border(VfFoldWalk *walk, const VfNode *node, const VfAffine *in, VfErr *err)
{
    VfConvFrame frame;
    bool is_even = !vf_conv_has_border(node) && vf_field_is_on_axis(&in->c, 1);
    if (vf_field_is_all(&in->c, 0.0) || is_even)
        return VF_OK;
    walk->needs_border_map = true;
    if (vf_conv_frame(node, &frame))
        return VF_OK;
    return vf_fold_stop(
        walk, node, err,
        "'%s' pads with zeros and its size is not static, so the norm's shift has no constant "
        "border map",
        vf_node_label(node));
}

VfStatus vf_fold_conv_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                              VfErr *err)
{
    const VfTensor *w;
    int64_t group;
    bool fits;
    VF_TRY(conv_weights(walk, node, &w, &group, err));
    if (w == NULL)
        return VF_OK;
    int64_t channels = node->op == VF_OP_CONV ? w->dims[1] * group : w->dims[0];
    VF_TRY(check_scale(walk, node, in, 1, channels, &fits, err));
    if (fits && in->c.dims[0] != 1)
        return other_axis(walk, node, err);
    if (fits)
        VF_TRY(check_border(walk, node, in, err));
    return walk->why != NULL ? VF_OK
                             : vf_fold_add_step(walk, VF_FOLD_INTO_NEXT, node, slot, in, err);
}

VfStatus vf_fold_conv_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                               VfErr *err)
{
    const VfTensor *w;
    int64_t group;
    bool fits;
    (void)index;
    VF_TRY(conv_weights(walk, node, &w, &group, err));
    if (w == NULL)
        return VF_OK;
    if (vf_node_in(node, 2) != NULL && weight_of(node, 2) == NULL)
        return vf_fold_stop(walk, node, err, "the bias of '%s' is not constant",
                            vf_node_label(node));
    int64_t channels = node->op == VF_OP_CONV ? w->dims[0] : w->dims[1] * group;
    VF_TRY(check_axis(walk, node, out, 1, channels, &fits, err));
    return fits ? vf_fold_add_step(walk, VF_FOLD_INTO_PREVIOUS, node, 1, out, err) : VF_OK;
}
