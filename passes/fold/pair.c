/* What is done to the scale and to the shift alike. */
#include <string.h>

#include "passes/fold/walk.h"

VfStatus vf_affine_uniform(VfArena *arena, int32_t rank, double factor, VfAffine *out, VfErr *err)
{
    VF_TRY(vf_field_uniform(arena, rank, factor, &out->a, err));
    return vf_field_uniform(arena, rank, 0.0, &out->c, err);
}

bool vf_affine_is_identity(const VfAffine *affine)
{
    return vf_field_is_all(&affine->a, 1.0) && vf_field_is_all(&affine->c, 0.0);
}

bool vf_affine_varies(const VfAffine *affine, int32_t axis)
{
    return affine->a.dims[axis] != 1 || affine->c.dims[axis] != 1;
}

bool vf_affine_is_on_axis(const VfAffine *affine, int32_t axis)
{
    return vf_field_is_on_axis(&affine->a, axis) && vf_field_is_on_axis(&affine->c, axis);
}

VfStatus vf_affine_move_axes(VfArena *arena, const VfAffine *x, int32_t rank, const int32_t *from,
                             VfAffine *out, VfErr *err)
{
    int64_t a[VF_FIELD_RANK_MAX], c[VF_FIELD_RANK_MAX];
    for (int32_t i = 0; i < rank; i++) {
        a[i] = from[i] < 0 ? 1 : x->a.dims[from[i]];
        c[i] = from[i] < 0 ? 1 : x->c.dims[from[i]];
    }
    VF_TRY(vf_field_view(arena, &x->a, rank, a, &out->a, err));
    return vf_field_view(arena, &x->c, rank, c, &out->c, err);
}

VfStatus vf_affine_to_rank(VfArena *arena, const VfAffine *x, int32_t rank, VfAffine *out,
                           VfErr *err)
{
    int32_t from[VF_FIELD_RANK_MAX];
    for (int32_t i = 0; i < rank; i++)
        from[i] = i - (rank - x->a.rank);
    return vf_affine_move_axes(arena, x, rank, from, out, err);
}

static bool field_fits(const VfField *x, const VfType *type)
{
    for (int32_t i = 0; i < x->rank; i++) {
        int32_t axis = i - (x->rank - type->rank);
        if (x->dims[i] != 1 && (axis < 0 || !vf_dim_is(type->dims[axis], x->dims[i])))
            return false;
    }
    return true;
}

bool vf_affine_fits(const VfAffine *x, const VfType *type)
{
    return type->rank != VF_RANK_UNKNOWN && field_fits(&x->a, type) && field_fits(&x->c, type);
}

static VfStatus field_take(VfArena *arena, const VfField *x, int32_t axis, size_t n,
                           const int64_t *index, VfField *out, VfErr *err)
{
    if (x->dims[axis] != 1)
        return vf_field_take(arena, x, axis, n, index, out, err);
    VfField same = *x;
    *out = same;
    return VF_OK;
}

VfStatus vf_affine_take(VfArena *arena, const VfAffine *x, int32_t axis, size_t n,
                        const int64_t *index, VfAffine *out, VfErr *err)
{
    VfAffine taken;
    VF_TRY(field_take(arena, &x->a, axis, n, index, &taken.a, err));
    VF_TRY(field_take(arena, &x->c, axis, n, index, &taken.c, err));
    *out = taken;
    return VF_OK;
}

VfStatus vf_affine_spread(VfArena *arena, const VfAffine *x, int32_t axis, size_t n,
                          const int64_t *index, int64_t extent, VfAffine *out, VfErr *err)
{
    VF_TRY(vf_field_spread(arena, &x->a, axis, n, index, extent, 1.0, &out->a, err));
    return vf_field_spread(arena, &x->c, axis, n, index, extent, 0.0, &out->c, err);
}
