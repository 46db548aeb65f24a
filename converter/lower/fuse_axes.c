#include "converter/lower/fuse_axes.h"

bool vf_fuse_is_cover(const VfFuseMap *map, int64_t count)
{
    int64_t covered = 1;
    bool is_found = true;
    while (covered < count && is_found) {
        is_found = false;
        for (int32_t i = 0; i < map->rank && !is_found; i++)
            if (map->dim[i] > 1 && map->at[i] == covered) {
                covered *= map->dim[i];
                is_found = true;
            }
    }
    int64_t all = 1;
    for (int32_t i = 0; i < map->rank; i++)
        all *= map->dim[i];
    return covered == count && all == count;
}

/* The axis that holds elements `step` apart, or -1. */
static int32_t find_axis(const VfFuseMap *map, int64_t step)
{
    int32_t best = -1;
    for (int32_t i = 0; i < map->rank; i++)
        if (map->dim[i] > 1 && map->at[i] <= step && (best < 0 || map->at[i] > map->at[best]))
            best = i;
    return best >= 0 && step % map->at[best] == 0 ? best : -1;
}

/* How many of `dim` elements from the first on have one stride `*to`: all, a part that divides
 * them, or 0 for none. */
static int64_t carry_part(const VfFuseMap *map, int64_t step, int64_t dim, int64_t *to)
{
    *to = 0;
    if (dim == 1)
        return 1;
    int32_t axis = find_axis(map, step);
    if (axis < 0)
        return 0;
    int64_t factor = step / map->at[axis], length = map->dim[axis];
    *to = factor * map->to[axis];
    if (factor * dim <= length)
        return dim;
    int64_t inner = length / factor;
    return length % factor == 0 && inner > 1 && dim % inner == 0 ? inner : 0;
}

bool vf_fuse_carry(const VfFuseMap *map, int64_t step, int64_t dim, int64_t *to)
{
    return carry_part(map, step, dim, to) == dim;
}

/* Axis `i` becomes two, the inner one of `inner` elements. */
static bool split_axis(VfFuseRows *rows, int32_t i, int64_t inner)
{
    if (rows->rank == VFK_MAX_RANK)
        return false;
    for (int32_t k = rows->rank++; k > i; k--) {
        rows->dim[k] = rows->dim[k - 1];
        for (int32_t m = 0; m < FUSE_N_OPERAND; m++)
            rows->step[m][k] = rows->step[m][k - 1];
    }
    rows->dim[i] /= inner;
    rows->dim[i + 1] = inner;
    for (int32_t m = 0; m < FUSE_N_OPERAND; m++)
        rows->step[m][i] *= inner;
    return true;
}

bool vf_fuse_carry_rows(const VfFuseMap *map, int from, int into, VfFuseRows *rows)
{
    VfFuseRows next = *rows;
    int64_t to[VFK_MAX_RANK] = {0};
    /* From the last axis on: the inner part of an axis is done, the outer one comes next. */
    for (int32_t i = next.rank; i-- > 0;) {
        int64_t inner = carry_part(map, next.step[from][i], next.dim[i], &to[i]);
        if (inner == 0)
            return false;
        if (inner == next.dim[i])
            continue;
        if (!split_axis(&next, i, inner))
            return false;
        for (int32_t k = next.rank - 1; k > i; k--)
            to[k] = to[k - 1];
        i++; /* the outer part */
    }
    for (int32_t i = 0; i < next.rank; i++)
        next.step[into][i] = to[i];
    *rows = next;
    return true;
}
