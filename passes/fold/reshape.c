/* What Reshape does to the axes along which a scale and shift vary.
 *
 * A reshape keeps the elements in order, so the axes of both sides fall into groups of equal
 * products: [B, 196, 192] to [B, 14, 14, 192] is B|B, 196|14 14, 192|192. Products may hold
 * symbols; groups are found from both ends, and what lies between is one group. A field that
 * varies along an axis of a group can follow if the whole group is plain numbers.
 */
#include <string.h>

#include "passes/fold/affine.h"

/* Axes [in0, in1) become axes [out0, out1). */
typedef struct Group {
    int32_t in0, in1, out0, out1;
} Group;

typedef struct Groups {
    Group group[2 * VF_FIELD_RANK_MAX + 1];
    int32_t n;
} Groups;

typedef struct Sides {
    VfSymbols *symbols;
    const VfType *from, *to;
} Sides;

/* Which side has the smaller product: -1 the left, 1 the right, 0 unknown. */
static int smaller(VfDim p, VfDim q)
{
    if (p.sym != q.sym || p.sym == VF_SYM_UNKNOWN)
        return p.sym == VF_SYM_ONE ? -1 : q.sym == VF_SYM_ONE ? 1 : 0;
    return p.k < q.k ? -1 : 1;
}

/* The next group from (i, j) on in direction `step`, at most up to the ends (i_end, j_end). `*ni`,
 * `*nj` count its axes. */
static bool next_group(const Sides *sides, int32_t i, int32_t j, int32_t n_in, int32_t n_out,
                       int32_t step, int32_t *ni, int32_t *nj)
{
    if (n_in == 0 || n_out == 0)
        return false;
    VfDim p = sides->from->dims[i], q = sides->to->dims[j];
    *ni = *nj = 1;
    while (!vf_dim_is_same(p, q)) {
        int side = smaller(p, q);
        if (p.k == 0 || q.k == 0 || side == 0)
            return false;
        if (side < 0 && *ni < n_in)
            p = vf_dim_mul(sides->symbols, p, sides->from->dims[i + step * (*ni)++]);
        else if (side > 0 && *nj < n_out)
            q = vf_dim_mul(sides->symbols, q, sides->to->dims[j + step * (*nj)++]);
        else
            return false;
    }
    return true;
}

static void find_groups(const Sides *sides, Groups *groups)
{
    int32_t i = 0, j = 0, in_end = sides->from->rank, out_end = sides->to->rank, ni, nj;
    groups->n = 0;
    while (next_group(sides, i, j, in_end - i, out_end - j, 1, &ni, &nj)) {
        groups->group[groups->n++] = (Group){i, i + ni, j, j + nj};
        i += ni;
        j += nj;
    }
    while (next_group(sides, in_end - 1, out_end - 1, in_end - i, out_end - j, -1, &ni, &nj)) {
        groups->group[groups->n++] = (Group){in_end - ni, in_end, out_end - nj, out_end};
        in_end -= ni;
        out_end -= nj;
    }
    if (i < in_end || j < out_end)
        groups->group[groups->n++] = (Group){i, in_end, j, out_end};
}

static bool varies_in(const VfField *x, const Group *group)
{
    for (int32_t i = group->in0; i < group->in1; i++) {
        if (x->dims[i] != 1)
            return true;
    }
    return false;
}

static bool is_static(const VfType *type, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++) {
        if (!vf_dim_is_known(type->dims[i]) || type->dims[i].k <= 0)
            return false;
    }
    return true;
}

/* Extents of the field before (repeated to whole groups) and after. */
static bool follow_groups(const Sides *sides, const Groups *groups, const VfField *x,
                          int64_t *before, int64_t *after)
{
    for (int32_t g = 0; g < groups->n; g++) {
        const Group *group = &groups->group[g];
        bool varies = varies_in(x, group);
        if (varies && group->in1 - group->in0 == 1 && group->out1 - group->out0 == 1) {
            before[group->in0] = after[group->out0] = x->dims[group->in0];
            continue;
        }
        if (varies && !(is_static(sides->from, group->in0, group->in1) &&
                        is_static(sides->to, group->out0, group->out1)))
            return false;
        for (int32_t i = group->in0; i < group->in1; i++)
            before[i] = varies ? sides->from->dims[i].k : 1;
        for (int32_t j = group->out0; j < group->out1; j++)
            after[j] = varies ? sides->to->dims[j].k : 1;
    }
    return true;
}

static int64_t product(int32_t n, const int64_t *dims)
{
    int64_t total = 1;
    for (int32_t i = 0; i < n; i++) {
        if (__builtin_mul_overflow(total, dims[i], &total))
            return -1;
    }
    return total;
}

VfStatus vf_field_reshape(VfArena *arena, VfSymbols *symbols, const VfField *x, const VfType *from,
                          const VfType *to, VfField *out, bool *fits, VfErr *err)
{
    Sides sides = {symbols, from, to};
    Groups groups;
    int64_t before[VF_FIELD_RANK_MAX], after[VF_FIELD_RANK_MAX];
    *fits = from->rank == x->rank && from->rank >= 0 && to->rank >= 0 &&
            from->rank <= VF_FIELD_RANK_MAX && to->rank <= VF_FIELD_RANK_MAX;
    if (!*fits)
        return VF_OK;
    find_groups(&sides, &groups);
    *fits = follow_groups(&sides, &groups, x, before, after) &&
            product(from->rank, before) == product(to->rank, after) && product(to->rank, after) > 0;
    if (!*fits)
        return VF_OK;
    VfField whole;
    VF_TRY(vf_field_expand(arena, x, before, &whole, err));
    return vf_field_view(arena, &whole, to->rank, after, out, err);
}
