/* Averages, sums and extremes over axes along which the map does not vary. */
#include "passes/fold/walk.h"
#include "passes/ir/attr.h"

/* The axes a ReduceX works on as flags; false when they are not known. */
static bool reduced_axes(const VfNode *node, int32_t rank, bool *is_reduced)
{
    int32_t n;
    const int64_t *axes = vf_node_ints_or_operand(node, "axes", 1, &n);
    if (n < 0)
        return false;
    bool is_all = n == 0 && vf_node_int(node, "noop_with_empty_axes") == 0;
    for (int32_t i = 0; i < rank; i++)
        is_reduced[i] = is_all;
    for (int32_t i = 0; i < n; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank)
            return false;
        is_reduced[axis] = true;
    }
    return true;
}

/* How many elements a reduction takes together, or -1. */
static int64_t reduced_count(const VfType *type, const bool *is_reduced)
{
    int64_t count = 1;
    for (int32_t i = 0; i < type->rank; i++) {
        if (!is_reduced[i])
            continue;
        if (!vf_dim_is_known(type->dims[i]) ||
            __builtin_mul_overflow(count, type->dims[i].k, &count))
            return -1;
    }
    return count;
}

/* Max and Min keep their element under f only if f is increasing. */
static bool is_extreme(VfOp op)
{
    return op == VF_OP_REDUCE_MAX || op == VF_OP_REDUCE_MIN || op == VF_OP_MAX_POOL ||
           op == VF_OP_GLOBAL_MAX_POOL;
}

static VfStatus check_extreme(VfFoldWalk *walk, const VfNode *node, const VfAffine *x, VfErr *err)
{
    if (is_extreme(node->op) && vf_field_min(&x->a) < 0.0)
        return vf_fold_stop(walk, node, err,
                            "'%s' takes extremes and a scale of the norm is negative",
                            vf_node_label(node));
    return VF_OK;
}

/* A sum of n elements has n times the shift. */
static VfStatus sum_shift(VfFoldWalk *walk, const VfNode *node, const VfAffine *in,
                          const bool *is_reduced, VfAffine *out, VfErr *err)
{
    int64_t count = reduced_count(&vf_node_in(node, 0)->type, is_reduced);
    VfField n;
    bool fits;
    *out = *in;
    if (node->op != VF_OP_REDUCE_SUM || vf_field_is_all(&in->c, 0.0))
        return VF_OK;
    if (count < 0)
        return vf_fold_stop(walk, node, err, "how many elements '%s' sums is not known",
                            vf_node_label(node));
    VF_TRY(vf_field_uniform(walk->arena, in->c.rank, (double)count, &n, err));
    return vf_field_combine(walk->arena, '*', &in->c, &n, &out->c, &fits, err);
}

/* For each axis of the result the axis of the operand; returns the rank of the result. */
static int32_t kept_axes(const VfNode *node, int32_t rank, const bool *is_reduced, int32_t *from)
{
    bool keeps = vf_node_int(node, "keepdims") != 0;
    int32_t n = 0;
    for (int32_t i = 0; i < rank; i++) {
        if (keeps || !is_reduced[i])
            from[n++] = i;
    }
    return n;
}

VfStatus vf_fold_reduce_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                                VfErr *err)
{
    bool is_reduced[VF_FIELD_RANK_MAX];
    int32_t from[VF_FIELD_RANK_MAX];
    VfAffine summed, out;
    (void)slot;
    if (!reduced_axes(node, in->a.rank, is_reduced))
        return vf_fold_stop(walk, node, err, "the axes of '%s' are not known", vf_node_label(node));
    for (int32_t i = 0; i < in->a.rank; i++) {
        if (is_reduced[i] && vf_affine_varies(in, i))
            return vf_fold_stop(walk, node, err, "'%s' takes the channels together",
                                vf_node_label(node));
    }
    VF_TRY(check_extreme(walk, node, in, err));
    VF_TRY(sum_shift(walk, node, in, is_reduced, &summed, err));
    if (walk->why != NULL)
        return VF_OK;
    int32_t rank = kept_axes(node, in->a.rank, is_reduced, from);
    VF_TRY(vf_affine_move_axes(walk->arena, &summed, rank, from, &out, err));
    return vf_fold_carry(walk, node->out[0], &out, err);
}

VfStatus vf_fold_reduce_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                                 VfErr *err)
{
    bool is_reduced[VF_FIELD_RANK_MAX];
    int32_t kept[VF_FIELD_RANK_MAX], from[VF_FIELD_RANK_MAX], rank = vf_node_in(node, 0)->type.rank;
    VfAffine in;
    (void)index;
    if (rank < 0 || rank > VF_FIELD_RANK_MAX || !reduced_axes(node, rank, is_reduced))
        return vf_fold_stop(walk, node, err, "the axes of '%s' are not known", vf_node_label(node));
    if (node->op == VF_OP_REDUCE_SUM && !vf_field_is_all(&out->c, 0.0))
        return vf_fold_stop(walk, node, err, "'%s' sums, so the shift would count several times",
                            vf_node_label(node));
    VF_TRY(check_extreme(walk, node, out, err));
    int32_t n_kept = kept_axes(node, rank, is_reduced, kept);
    for (int32_t i = 0; i < rank; i++)
        from[i] = -1;
    for (int32_t i = 0; i < n_kept; i++)
        from[kept[i]] = i;
    VF_TRY(vf_affine_move_axes(walk->arena, out, rank, from, &in, err));
    return vf_fold_demand(walk, node, 0, &in, err);
}

/* --- pools over the axes from 2 on --- */

/* Does an average take padding zeros in, so that a shift changes less at the border? */
static bool averages_zeros(const VfNode *node)
{
    int32_t n;
    const int64_t *pads = vf_node_ints(node, "pads", &n);
    VfBytes mode = vf_node_string(node, "auto_pad");
    if (node->op != VF_OP_AVERAGE_POOL || vf_node_int(node, "count_include_pad") == 0)
        return false;
    bool pads_zero = vf_node_int(node, "ceil_mode") != 0 ||
                     vf_bytes_is_equal(mode, vf_bytes("SAME_UPPER")) ||
                     vf_bytes_is_equal(mode, vf_bytes("SAME_LOWER"));
    for (int32_t i = 0; i < n; i++)
        pads_zero = pads_zero || pads[i] != 0;
    return pads_zero;
}

static VfStatus check_pool(VfFoldWalk *walk, const VfNode *node, const VfAffine *x, VfErr *err)
{
    for (int32_t axis = 2; axis < x->a.rank; axis++) {
        if (vf_affine_varies(x, axis))
            return vf_fold_stop(walk, node, err, "'%s' pools over the channels",
                                vf_node_label(node));
    }
    if (averages_zeros(node) && !vf_field_is_all(&x->c, 0.0))
        return vf_fold_stop(walk, node, err, "'%s' averages padding zeros too (count_include_pad)",
                            vf_node_label(node));
    return check_extreme(walk, node, x, err);
}

VfStatus vf_fold_pool_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                              VfErr *err)
{
    (void)slot;
    VF_TRY(check_pool(walk, node, in, err));
    return walk->why != NULL ? VF_OK : vf_fold_carry(walk, node->out[0], in, err);
}

VfStatus vf_fold_pool_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                               VfErr *err)
{
    VF_TRY(check_pool(walk, node, out, err));
    if (index != 0)
        return vf_fold_stop(walk, node, err, "'%s' gives indices", vf_node_label(node));
    return vf_fold_demand(walk, node, 0, out, err);
}

/* --- Resize --- */

/* Interpolation weights add up to one, except where the result lies outside and is filled. */
static VfStatus check_resize(VfFoldWalk *walk, const VfNode *node, const VfAffine *x, bool *fits,
                             VfErr *err)
{
    const VfType *from = &vf_node_in(node, 0)->type, *to = &node->out[0]->type;
    VfBytes mode = vf_node_string(node, "mode");
    *fits = (vf_bytes_is_equal(mode, vf_bytes("nearest")) ||
             vf_bytes_is_equal(mode, vf_bytes("linear"))) &&
            !vf_bytes_is_equal(vf_node_string(node, "coordinate_transformation_mode"),
                               vf_bytes("tf_crop_and_resize"));
    if (!*fits)
        return vf_fold_stop(walk, node, err, "'%s' resizes in a way that may not keep constants",
                            vf_node_label(node));
    for (int32_t axis = 0; axis < x->a.rank; axis++) {
        bool is_same = from->rank == to->rank && vf_dim_is_same(from->dims[axis], to->dims[axis]);
        *fits = *fits && (is_same || !vf_affine_varies(x, axis));
    }
    return *fits ? VF_OK
                 : vf_fold_stop(walk, node, err, "'%s' resizes the channels", vf_node_label(node));
}

VfStatus vf_fold_resize_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                                VfErr *err)
{
    bool fits;
    (void)slot;
    VF_TRY(check_resize(walk, node, in, &fits, err));
    return fits ? vf_fold_carry(walk, node->out[0], in, err) : VF_OK;
}

VfStatus vf_fold_resize_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                                 VfErr *err)
{
    bool fits;
    (void)index;
    VF_TRY(check_resize(walk, node, out, &fits, err));
    return fits ? vf_fold_demand(walk, node, 0, out, err) : VF_OK;
}
