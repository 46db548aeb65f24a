/* Operators that pick elements along axes, or put values side by side. */
#include <string.h>

#include "passes/fold/walk.h"
#include "passes/ir/attr.h"
#include "runtime/base/size.h"

/* Elements picked along one axis. */
typedef struct Pick {
    int32_t axis;
    size_t n;
    int64_t *index; /* NULL: not known */
} Pick;

static VfStatus new_pick(VfFoldWalk *walk, size_t n, Pick *pick, VfErr *err)
{
    pick->n = n;
    pick->index = VF_NEW_ARRAY(walk->arena, int64_t, n);
    VF_TRY_ALLOC(pick->index, err);
    return VF_OK;
}

static VfStatus unknown_pick(VfFoldWalk *walk, const VfNode *node, VfErr *err)
{
    return vf_fold_stop(walk, node, err, "which channels '%s' (%.*s) picks is not known",
                        vf_node_label(node), (int)node->op_type.size, node->op_type.data);
}

/* The extent of `axis` as a plain number, or -1. */
static int64_t extent_of(const VfValue *value, int32_t axis)
{
    const VfType *type = &value->type;
    bool is_known = axis >= 0 && axis < type->rank && vf_dim_is_known(type->dims[axis]);
    return is_known ? type->dims[axis].k : -1;
}

static bool normal_axis(int64_t axis, int32_t rank, int32_t *out)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return false;
    *out = (int32_t)(axis < 0 ? axis + rank : axis);
    return true;
}

/* --- Slice --- */

/* The four lists of a Slice; `n` is -1 where one is not constant. */
typedef struct Cuts {
    const int64_t *start, *end, *axis, *step;
    int32_t n_start, n_end, n_axis, n_step;
} Cuts;

static Cuts read_cuts(const VfNode *node)
{
    Cuts cuts;
    cuts.start = vf_node_ints_or_operand(node, "starts", 1, &cuts.n_start);
    cuts.end = vf_node_ints_or_operand(node, "ends", 2, &cuts.n_end);
    cuts.axis = vf_node_ints_or_operand(node, "axes", 3, &cuts.n_axis);
    cuts.step = vf_node_ints_or_operand(node, "steps", 4, &cuts.n_step);
    return cuts;
}

/* The elements that cut `i` keeps of an axis of `extent`. */
static VfStatus cut_pick(VfFoldWalk *walk, const Cuts *cuts, int32_t i, int64_t extent, Pick *pick,
                         VfErr *err)
{
    int64_t step = cuts->n_step > i ? cuts->step[i] : 1;
    int64_t start = cuts->start[i], end = cuts->end[i];
    if (step == 0 || step == INT64_MIN)
        return VF_OK;
    start = vf_clamp(start < 0 ? start + extent : start, 0, step > 0 ? extent : extent - 1);
    end = vf_clamp(end < 0 ? end + extent : end, step > 0 ? 0 : -1, step > 0 ? extent : extent - 1);
    int64_t span = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
    if (span <= 0)
        return VF_OK;
    VF_TRY(new_pick(walk, (size_t)((span - 1) / stride + 1), pick, err));
    for (size_t k = 0; k < pick->n; k++)
        pick->index[k] = start + (int64_t)k * step;
    return VF_OK;
}

/* What the Slice picks along axis `want`: *is_cut false when it leaves the axis whole. */
static VfStatus slice_pick(VfFoldWalk *walk, const VfNode *node, int32_t want, bool *is_cut,
                           Pick *pick, VfErr *err)
{
    Cuts cuts = read_cuts(node);
    const VfValue *x = vf_node_in(node, 0);
    *is_cut = true;
    *pick = (Pick){.axis = want};
    if (cuts.n_axis < 0 || cuts.n_start < 0 || (cuts.n_axis > 0 && cuts.n_axis != cuts.n_start))
        return VF_OK;
    for (int32_t i = 0; i < cuts.n_start; i++) {
        int32_t axis = i;
        if (cuts.n_axis > 0 && !normal_axis(cuts.axis[i], x->type.rank, &axis))
            return VF_OK;
        if (axis != want)
            continue;
        int64_t extent = extent_of(x, axis);
        if (extent <= 0 || cuts.n_end <= i || cuts.n_step < 0)
            return VF_OK;
        return cut_pick(walk, &cuts, i, extent, pick, err);
    }
    *is_cut = false;
    return VF_OK;
}

VfStatus vf_fold_slice_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                               VfErr *err)
{
    VfAffine out = *in;
    (void)slot;
    for (int32_t axis = 0; axis < in->a.rank; axis++) {
        bool is_cut;
        Pick pick;
        if (!vf_affine_varies(in, axis))
            continue;
        VF_TRY(slice_pick(walk, node, axis, &is_cut, &pick, err));
        if (is_cut && pick.index == NULL)
            return unknown_pick(walk, node, err);
        if (is_cut)
            VF_TRY(vf_affine_take(walk->arena, &out, axis, pick.n, pick.index, &out, err));
    }
    return vf_fold_carry(walk, node->out[0], &out, err);
}

VfStatus vf_fold_slice_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                                VfErr *err)
{
    VfAffine in = *out;
    (void)index;
    for (int32_t axis = 0; axis < out->a.rank; axis++) {
        bool is_cut;
        Pick pick;
        if (!vf_affine_varies(out, axis))
            continue;
        VF_TRY(slice_pick(walk, node, axis, &is_cut, &pick, err));
        if (is_cut && pick.index == NULL)
            return unknown_pick(walk, node, err);
        VfAffine more;
        if (is_cut) {
            VF_TRY(vf_affine_spread(walk->arena, &in, axis, pick.n, pick.index,
                                    extent_of(vf_node_in(node, 0), axis), &more, err));
            in = more;
        }
    }
    return vf_fold_demand(walk, node, 0, &in, err);
}

/* --- Gather --- */

/* Constant indices along the axis, or pick->index NULL. */
static VfStatus gather_pick(VfFoldWalk *walk, const VfNode *node, int32_t axis, Pick *pick,
                            VfErr *err)
{
    const VfTensor *indices = vf_value_const(vf_node_in(node, 1));
    int64_t extent = extent_of(vf_node_in(node, 0), axis);
    *pick = (Pick){.axis = axis};
    if (indices == NULL || extent <= 0 || indices->count == 0)
        return VF_OK;
    VF_TRY(new_pick(walk, indices->count, pick, err));
    for (size_t i = 0; i < pick->n; i++) {
        int64_t at = vf_tensor_get_i64(indices, i);
        at = at < 0 ? at + extent : at;
        if (at < 0 || at >= extent) {
            pick->index = NULL;
            return VF_OK;
        }
        pick->index[i] = at;
    }
    return VF_OK;
}

/* The axis and the number of axes that the indices put in its place. */
static bool read_gather(const VfNode *node, int32_t rank, int32_t *axis, int32_t *n_index_axis)
{
    const VfValue *indices = vf_node_in(node, 1);
    *n_index_axis = indices != NULL ? indices->type.rank : VF_RANK_UNKNOWN;
    return *n_index_axis != VF_RANK_UNKNOWN && normal_axis(vf_node_int(node, "axis"), rank, axis) &&
           rank - 1 + *n_index_axis <= VF_FIELD_RANK_MAX;
}

VfStatus vf_fold_gather_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                                VfErr *err)
{
    int32_t axis, n_index_axis, from[VF_FIELD_RANK_MAX];
    VfAffine picked = *in, out;
    (void)slot;
    if (!read_gather(node, in->a.rank, &axis, &n_index_axis))
        return unknown_pick(walk, node, err);
    if (vf_affine_varies(in, axis)) {
        Pick pick;
        VF_TRY(gather_pick(walk, node, axis, &pick, err));
        if (pick.index == NULL || n_index_axis > 1)
            return unknown_pick(walk, node, err);
        VF_TRY(vf_affine_take(walk->arena, in, axis, pick.n, pick.index, &picked, err));
    }
    int32_t rank = in->a.rank - 1 + n_index_axis;
    for (int32_t i = 0; i < rank; i++) {
        bool is_index = i >= axis && i < axis + n_index_axis;
        from[i] = i < axis ? i : is_index ? (n_index_axis == 1 ? axis : -1) : i - n_index_axis + 1;
    }
    VF_TRY(vf_affine_move_axes(walk->arena, &picked, rank, from, &out, err));
    return vf_fold_carry(walk, node->out[0], &out, err);
}

VfStatus vf_fold_gather_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                                 VfErr *err)
{
    const VfValue *x = vf_node_in(node, 0);
    int32_t rank = x->type.rank, axis, n_index_axis, from[VF_FIELD_RANK_MAX];
    VfAffine in;
    (void)index;
    if (rank > VF_FIELD_RANK_MAX || !read_gather(node, rank, &axis, &n_index_axis))
        return unknown_pick(walk, node, err);
    for (int32_t i = axis; i < axis + n_index_axis; i++) {
        if (vf_affine_varies(out, i))
            return unknown_pick(walk, node, err);
    }
    for (int32_t i = 0; i < rank; i++)
        from[i] = i < axis ? i : i == axis ? -1 : i + n_index_axis - 1;
    VF_TRY(vf_affine_move_axes(walk->arena, out, rank, from, &in, err));
    return vf_fold_demand(walk, node, 0, &in, err);
}

/* --- Split --- */

/* The elements of the split axis that result `index` holds; pick->index NULL when not known. */
static VfStatus split_pick(VfFoldWalk *walk, const VfNode *node, int32_t index, int32_t axis,
                           Pick *pick, VfErr *err)
{
    int64_t start = 0;
    *pick = (Pick){.axis = axis};
    for (int32_t i = 0; i <= index; i++) {
        int64_t extent = node->out[i] != NULL ? extent_of(node->out[i], axis) : -1;
        if (extent <= 0)
            return VF_OK;
        start += i < index ? extent : 0;
        pick->n = (size_t)extent;
    }
    VF_TRY(new_pick(walk, pick->n, pick, err));
    for (size_t i = 0; i < pick->n; i++)
        pick->index[i] = start + (int64_t)i;
    return VF_OK;
}

VfStatus vf_fold_split_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                               VfErr *err)
{
    int32_t axis;
    (void)slot;
    if (!normal_axis(vf_node_int(node, "axis"), in->a.rank, &axis))
        return unknown_pick(walk, node, err);
    for (int32_t i = 0; i < node->n_out; i++) {
        VfAffine out = *in;
        Pick pick;
        if (node->out[i] == NULL)
            continue;
        if (vf_affine_varies(in, axis)) {
            VF_TRY(split_pick(walk, node, i, axis, &pick, err));
            if (pick.index == NULL)
                return unknown_pick(walk, node, err);
            VF_TRY(vf_affine_take(walk->arena, in, axis, pick.n, pick.index, &out, err));
        }
        VF_TRY(vf_fold_carry(walk, node->out[i], &out, err));
    }
    return VF_OK;
}

VfStatus vf_fold_split_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                                VfErr *err)
{
    int32_t axis;
    Pick pick;
    VfAffine in;
    if (!normal_axis(vf_node_int(node, "axis"), out->a.rank, &axis))
        return unknown_pick(walk, node, err);
    VF_TRY(split_pick(walk, node, index, axis, &pick, err));
    int64_t extent = extent_of(vf_node_in(node, 0), axis);
    if (pick.index == NULL || extent <= 0)
        return unknown_pick(walk, node, err);
    VF_TRY(vf_affine_spread(walk->arena, out, axis, pick.n, pick.index, extent, &in, err));
    return vf_fold_demand(walk, node, 0, &in, err);
}

/* --- Concat --- */

/* What each operand carries; the identity where it carries nothing. */
static VfStatus carried_parts(VfFoldWalk *walk, const VfNode *node, int32_t rank, VfField *a,
                              VfField *c, bool *is_same, VfErr *err)
{
    *is_same = true;
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfAffine *part = vf_fold_carried(walk, vf_node_in(node, i));
        if (part != NULL) {
            a[i] = part->a;
            c[i] = part->c;
        } else {
            VF_TRY(vf_field_uniform(walk->arena, rank, 1.0, &a[i], err));
            VF_TRY(vf_field_uniform(walk->arena, rank, 0.0, &c[i], err));
        }
        *is_same = *is_same && vf_field_is_equal(&a[0], &a[i]) && vf_field_is_equal(&c[0], &c[i]);
    }
    return VF_OK;
}

static VfStatus concat_fields(VfFoldWalk *walk, const VfNode *node, int32_t axis, const VfField *a,
                              const VfField *c, VfErr *err)
{
    int64_t *extent = VF_NEW_ARRAY(walk->arena, int64_t, (size_t)node->n_in);
    VF_TRY_ALLOC(extent, err);
    for (int32_t i = 0; i < node->n_in; i++) {
        extent[i] = extent_of(vf_node_in(node, i), axis);
        if (extent[i] < 0)
            return vf_fold_stop(walk, node, err,
                                "the extents that '%s' puts side by side are not known",
                                vf_node_label(node));
    }
    VfAffine out;
    bool fits_a, fits_c;
    VF_TRY(vf_field_concat(walk->arena, node->n_in, a, extent, axis, &out.a, &fits_a, err));
    VF_TRY(vf_field_concat(walk->arena, node->n_in, c, extent, axis, &out.c, &fits_c, err));
    if (!fits_a || !fits_c)
        return vf_fold_stop(walk, node, err, "'%s' joins values of different shape",
                            vf_node_label(node));
    return vf_fold_carry(walk, node->out[0], &out, err);
}

VfStatus vf_fold_concat_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                                VfErr *err)
{
    int32_t axis;
    bool is_same;
    (void)slot;
    VfField *a = VF_NEW_ARRAY(walk->arena, VfField, (size_t)node->n_in);
    VF_TRY_ALLOC(a, err);
    VfField *c = VF_NEW_ARRAY(walk->arena, VfField, (size_t)node->n_in);
    VF_TRY_ALLOC(c, err);
    if (!normal_axis(vf_node_int(node, "axis"), in->a.rank, &axis))
        return vf_fold_stop(walk, node, err, "the axis of '%s' is not known", vf_node_label(node));
    VF_TRY(carried_parts(walk, node, in->a.rank, a, c, &is_same, err));
    if (is_same && !vf_affine_varies(in, axis))
        return vf_fold_carry(walk, node->out[0], in, err);
    return concat_fields(walk, node, axis, a, c, err);
}

VfStatus vf_fold_concat_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                                 VfErr *err)
{
    int32_t axis;
    int64_t start = 0;
    (void)index;
    if (!normal_axis(vf_node_int(node, "axis"), out->a.rank, &axis))
        return vf_fold_stop(walk, node, err, "the axis of '%s' is not known", vf_node_label(node));
    bool varies = vf_affine_varies(out, axis);
    for (int32_t i = 0; i < node->n_in && walk->why == NULL; i++) {
        VfAffine in = *out;
        int64_t extent = extent_of(vf_node_in(node, i), axis);
        if (varies && extent < 0)
            return vf_fold_stop(walk, node, err,
                                "the extents that '%s' puts side by side are not known",
                                vf_node_label(node));
        if (extent == 0)
            continue;
        if (varies) {
            Pick pick;
            VF_TRY(new_pick(walk, (size_t)extent, &pick, err));
            for (size_t k = 0; k < pick.n; k++)
                pick.index[k] = start + (int64_t)k;
            VF_TRY(vf_affine_take(walk->arena, out, axis, pick.n, pick.index, &in, err));
        }
        start += extent;
        if (vf_value_const(vf_node_in(node, i)) != NULL)
            VF_TRY(vf_fold_add_step(walk, VF_FOLD_INTO_CONST, node, i, &in, err));
        else
            VF_TRY(vf_fold_demand(walk, node, i, &in, err));
    }
    return VF_OK;
}
