/* Axes through views: factors of the operand are dealt out to the axes of the result. */
#include "passes/match/axis_rules.h"

#include <string.h>

/* a / b when it comes out even. */
static bool divide_evenly(VfSymbols *symbols, VfDim a, VfDim b, VfDim *quotient)
{
    if (vf_dim_is(a, 0) || vf_dim_is(b, 0))
        return false;
    *quotient = vf_dim_div(symbols, a, b);
    return vf_dim_is_same(vf_dim_mul(symbols, *quotient, b), a);
}

bool vf_axis_append(VfAxis *axis, const VfFactor *factor)
{
    if (vf_dim_is(factor->dim, 1))
        return true;
    if (axis->n == VF_FACTOR_MAX)
        return false;
    axis->factor[axis->n++] = *factor;
    return true;
}

VfFactor vf_factor_make(VfDim dim, uint32_t role)
{
    VfDim none = vf_dim_unknown();
    return (VfFactor){dim, role, none, none, none};
}

/* The operand's factors not dealt out yet. */
typedef struct Supply {
    VfFactor factor[VF_AXIS_MAX * VF_FACTOR_MAX];
    int32_t from[VF_AXIS_MAX * VF_FACTOR_MAX]; /* operand axis of each */
    int32_t n, at;
} Supply;

/* Take factors worth `need` into `axis`; false when the dims do not divide. */
static bool take(VfSymbols *symbols, Supply *supply, VfDim need, VfAxis *axis, int32_t *from)
{
    while (!vf_dim_is(need, 1)) {
        if (supply->at == supply->n)
            return false;
        VfFactor *next = &supply->factor[supply->at];
        VfDim rest;
        if (vf_dim_is_same(next->dim, need) || divide_evenly(symbols, need, next->dim, &rest)) {
            need = vf_dim_is_same(next->dim, need) ? vf_dim(1) : rest;
            from[axis->n] = supply->from[supply->at++];
            if (!vf_axis_append(axis, next))
                return false;
        } else if (divide_evenly(symbols, next->dim, need, &rest)) {
            VfFactor part = vf_factor_make(need, next->role);
            from[axis->n] = supply->from[supply->at];
            if (!vf_axis_append(axis, &part))
                return false;
            *next = vf_factor_make(rest, next->role);
            need = vf_dim(1);
        } else {
            return false;
        }
    }
    return true;
}

/* Join neighbours of equal role; two token factors from two axes are an image's grid. */
static void join(VfSymbols *symbols, VfAxis *axis, const int32_t *from)
{
    VfAxis joined = {0};
    int32_t parts = 0, first_from = -1;
    for (int32_t i = 0; i < axis->n; i++) {
        const VfFactor *next = &axis->factor[i];
        VfFactor *last = joined.n > 0 ? &joined.factor[joined.n - 1] : NULL;
        if (last == NULL || last->role != next->role) {
            joined.factor[joined.n++] = *next;
            parts = 1;
            first_from = from[i];
            continue;
        }
        VfDim h = last->dim;
        *last = vf_factor_make(vf_dim_mul(symbols, last->dim, next->dim), last->role);
        parts++;
        if (parts == 2 && last->role == VF_ROLE_TOKEN && from[i] != first_from) {
            last->grid_h = h;
            last->grid_w = next->dim;
            last->prefix = vf_dim(0);
        }
    }
    *axis = joined;
}

/* A stretch of axes of one side of a view: `n` axes from `at` on. */
typedef struct Stretch {
    int32_t at, n;
} Stretch;

/* Deal the factors of operand axes `from` out to result axes `to`; false when dims do not divide.
 */
static bool deal(VfSymbols *symbols, const VfAxis *in, Stretch from, const VfType *type, Stretch to,
                 VfAxis *out)
{
    Supply supply = {.n = 0};
    for (int32_t a = from.at; a < from.at + from.n; a++) {
        for (int32_t i = 0; i < in[a].n; i++) {
            supply.factor[supply.n] = in[a].factor[i];
            supply.from[supply.n++] = a;
        }
    }
    for (int32_t a = to.at; a < to.at + to.n; a++) {
        int32_t source[VF_FACTOR_MAX + 1];
        if (!take(symbols, &supply, type->dims[a], &out[a], source)) {
            memset(&out[to.at], 0, sizeof(*out) * (size_t)to.n);
            return false;
        }
        join(symbols, &out[a], source);
    }
    return true;
}

/* The fewest axes at one end of both types with the same number of elements; false when not known.
 * `step` 1: at the left end of the stretches, -1: at the right end. */
static bool find_group(VfSymbols *symbols, const VfType *a, Stretch in, const VfType *b,
                       Stretch out, int32_t step, int32_t *n_in, int32_t *n_out)
{
    if (in.n < 1 || out.n < 1)
        return false;
    int32_t i = step > 0 ? in.at : in.at + in.n - 1, j = step > 0 ? out.at : out.at + out.n - 1;
    VfDim p = a->dims[i], q = b->dims[j], rest;
    *n_in = *n_out = 1;
    while (!vf_dim_is_same(p, q)) {
        if (*n_out < out.n && (vf_dim_is(q, 1) || divide_evenly(symbols, p, q, &rest))) {
            q = vf_dim_mul(symbols, q, b->dims[j + step * (*n_out)++]);
        } else if (*n_in < in.n && (vf_dim_is(p, 1) || divide_evenly(symbols, q, p, &rest))) {
            p = vf_dim_mul(symbols, p, a->dims[i + step * (*n_in)++]);
        } else {
            return false;
        }
    }
    return true;
}

/* Where some dims are unknown: deal group by group from both ends; what lies between stays unknown.
 */
static void deal_ends(VfSymbols *symbols, const VfType *from, const VfAxis *in, const VfType *to,
                      VfAxis *out)
{
    Stretch a = {0, from->rank}, b = {0, to->rank};
    int32_t n_in, n_out;
    while (find_group(symbols, from, a, to, b, -1, &n_in, &n_out)) {
        a.n -= n_in;
        b.n -= n_out;
        deal(symbols, in, (Stretch){a.n, n_in}, to, (Stretch){b.n, n_out}, out);
    }
    while (find_group(symbols, from, a, to, b, 1, &n_in, &n_out)) {
        deal(symbols, in, (Stretch){a.at, n_in}, to, (Stretch){b.at, n_out}, out);
        a = (Stretch){a.at + n_in, a.n - n_in};
        b = (Stretch){b.at + n_out, b.n - n_out};
    }
    if (a.n == 1 && b.n == 1)
        out[b.at] = in[a.at];
}

void vf_axes_reshape(VfSymbols *symbols, const VfType *from, const VfAxis *in, const VfType *to,
                     VfAxis *out)
{
    Stretch all_in = {0, from->rank}, all_out = {0, to->rank};
    if (!deal(symbols, in, all_in, to, all_out, out))
        deal_ends(symbols, from, in, to, out);
}

int32_t vf_axis_through_view(VfSymbols *symbols, const VfType *from, const VfType *to, int32_t axis)
{
    if (from->rank < 0 || to->rank < 0 || axis < 0 || axis >= from->rank)
        return -1;
    VfDim before = vf_dim(1), length = from->dims[axis];
    for (int32_t i = 0; i < axis; i++)
        before = vf_dim_mul(symbols, before, from->dims[i]);
    VfDim product = vf_dim(1);
    for (int32_t i = 0; i < to->rank; i++) {
        if (vf_dim_is_same(product, before) && vf_dim_is_same(to->dims[i], length))
            return i;
        product = vf_dim_mul(symbols, product, to->dims[i]);
    }
    VfDim after = vf_dim(1);
    for (int32_t i = axis + 1; i < from->rank; i++)
        after = vf_dim_mul(symbols, after, from->dims[i]);
    product = vf_dim(1);
    for (int32_t i = to->rank - 1; i >= 0; i--) {
        if (vf_dim_is_same(product, after) && vf_dim_is_same(to->dims[i], length))
            return i;
        product = vf_dim_mul(symbols, product, to->dims[i]);
    }
    return -1;
}
