#include "passes/ir/infer_op.h"

VfDim vf_infer_better_dim(VfDim a, VfDim b)
{
    if (vf_dim_is_known(a) || b.sym == VF_SYM_UNKNOWN)
        return a;
    return vf_dim_is_known(b) || a.sym == VF_SYM_UNKNOWN ? b : a;
}

static bool is_provably_different(VfDim a, VfDim b)
{
    if (vf_dim_is_known(a) && vf_dim_is_known(b))
        return a.k != b.k;
    return false;
}

VfStatus vf_infer_unify(const VfInferCx *cx, VfDim a, VfDim b, const char *what, VfDim *out)
{
    if (is_provably_different(a, b))
        return vf_infer_fail(cx, "%s: %lld is not %lld", what, (long long)a.k, (long long)b.k);
    *out = vf_infer_better_dim(a, b);
    return VF_OK;
}

/* The dim two dims broadcast to. A symbol may be 1, so next to another symbol nothing is known;
 * next to a number other than 1 it can only be that number or 1. False when they cannot broadcast.
 */
static bool broadcast_dim(VfDim a, VfDim b, VfDim *out)
{
    if (vf_dim_is(a, 1) || vf_dim_is_same(a, b)) {
        *out = b;
        return true;
    }
    if (vf_dim_is(b, 1)) {
        *out = a;
        return true;
    }
    if (is_provably_different(a, b))
        return false;
    *out = vf_dim_is_known(a) ? a : vf_dim_is_known(b) ? b : vf_dim_unknown();
    return true;
}

VfStatus vf_infer_broadcast(const VfInferCx *cx, const VfType *a, const VfType *b, VfType *out)
{
    if (a->rank == VF_RANK_UNKNOWN || b->rank == VF_RANK_UNKNOWN) {
        out->rank = VF_RANK_UNKNOWN;
        out->dims = NULL;
        return VF_OK;
    }
    int32_t rank = a->rank > b->rank ? a->rank : b->rank;
    VfDim *dims = vf_infer_new_dims(cx, rank);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; i < rank; i++) {
        int32_t ia = i - (rank - a->rank), ib = i - (rank - b->rank);
        VfDim da = ia >= 0 ? a->dims[ia] : vf_dim(1), db = ib >= 0 ? b->dims[ib] : vf_dim(1);
        if (!broadcast_dim(da, db, &dims[i]))
            return vf_infer_fail(cx, "shapes do not broadcast: axis %d is %lld and %lld", (int)i,
                                 (long long)da.k, (long long)db.k);
    }
    out->rank = rank;
    out->dims = dims;
    return VF_OK;
}

VfStatus vf_infer_broadcasts_to(const VfInferCx *cx, int32_t slot, const VfType *to)
{
    const VfType *type = vf_infer_shape_of(cx, slot);
    if (type && type->rank > to->rank)
        return vf_infer_fail(cx, "operand %d has rank %d, what it broadcasts to %d", (int)slot,
                             (int)type->rank, (int)to->rank);
    for (int32_t i = 0; type && i < type->rank; i++) {
        VfDim from = type->dims[i], dim = to->dims[to->rank - type->rank + i];
        if (!vf_dim_is(from, 1) && is_provably_different(from, dim))
            return vf_infer_fail(cx, "axis %d of operand %d does not broadcast to %lld", (int)i,
                                 (int)slot, (long long)dim.k);
    }
    return VF_OK;
}

VfStatus vf_infer_join(VfArena *arena, const VfType *a, const VfType *b, VfType *out, VfErr *err)
{
    VfType joined = {VF_TYPE_TENSOR, VF_UNDEFINED, VF_RANK_UNKNOWN, NULL};
    if (a->kind == b->kind) {
        joined.kind = a->kind;
        joined.dtype = a->dtype == b->dtype ? a->dtype : VF_UNDEFINED;
    }
    if (a->kind == b->kind && a->rank == b->rank && a->rank != VF_RANK_UNKNOWN) {
        VfDim *dims = VF_NEW_ARRAY(arena, VfDim, (size_t)a->rank);
        VF_TRY_ALLOC(dims, err);
        for (int32_t i = 0; i < a->rank; i++)
            dims[i] = vf_dim_is_same(a->dims[i], b->dims[i]) ? a->dims[i] : vf_dim_unknown();
        joined.rank = a->rank;
        joined.dims = a->rank > 0 ? dims : NULL;
    }
    *out = joined;
    return VF_OK;
}

static VfStatus meet_dims(VfArena *arena, const VfType *a, const VfType *b, VfType *out, VfErr *err)
{
    if (a->rank != b->rank)
        return VF_INVALID;
    VfDim *dims = VF_NEW_ARRAY(arena, VfDim, (size_t)a->rank);
    VF_TRY_ALLOC(dims, err);
    for (int32_t i = 0; i < a->rank; i++) {
        if (is_provably_different(a->dims[i], b->dims[i]))
            return VF_INVALID;
        dims[i] = a->dims[i].sym == VF_SYM_UNKNOWN ? b->dims[i] : a->dims[i];
    }
    out->rank = a->rank;
    out->dims = a->rank > 0 ? dims : NULL;
    return VF_OK;
}

static bool says_nothing(const VfType *type)
{
    return type->kind == VF_TYPE_TENSOR && type->dtype == VF_UNDEFINED &&
           type->rank == VF_RANK_UNKNOWN;
}

VfStatus vf_infer_meet(VfArena *arena, const VfType *a, const VfType *b, VfType *out, VfErr *err)
{
    *out = says_nothing(a) ? *b : *a;
    if (says_nothing(a) || says_nothing(b) || a->kind == VF_TYPE_OTHER || b->kind == VF_TYPE_OTHER)
        return VF_OK;
    if (a->kind != b->kind)
        return VF_INVALID;
    if (a->dtype != VF_UNDEFINED && b->dtype != VF_UNDEFINED && a->dtype != b->dtype)
        return VF_INVALID;
    out->dtype = a->dtype != VF_UNDEFINED ? a->dtype : b->dtype;
    if (a->rank == VF_RANK_UNKNOWN || b->rank == VF_RANK_UNKNOWN) {
        out->rank = a->rank == VF_RANK_UNKNOWN ? b->rank : a->rank;
        out->dims = a->rank == VF_RANK_UNKNOWN ? b->dims : a->dims;
        return VF_OK;
    }
    return meet_dims(arena, a, b, out, err);
}
