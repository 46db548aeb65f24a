/* Unique: how many slices differ depends on what they are, so they are known when the plan is
 * made.
 */
#include "converter/lower/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "runtime/kernels/number.h"

/* Less than, equal to or greater than 0 as element `i` comes before, is, or follows element `k`. */
typedef int Compare(const VfTensor *tensor, size_t i, size_t k);

/* A known tensor cut along an axis, or into its elements. */
typedef struct Slices {
    const VfTensor *tensor;
    Compare *compare;
    size_t outer, n, inner; /* slice j: elements (o * n + j) * inner + i */
} Slices;

typedef struct Slice {
    const Slices *of;
    size_t at;
} Slice;

/* Slices that are equal are one group; groups are numbered as they rise. */
typedef struct Groups {
    size_t n;
    int64_t *of;    /* group of each slice */
    int64_t *first; /* of each group: its first slice, and how many it has */
    int64_t *count;
    int64_t *place; /* in the result */
} Groups;

/* What is no number is equal to its like and comes last. */
static int compare_floats(const VfTensor *tensor, size_t i, size_t k)
{
    double a = vf_tensor_get_double(tensor, i), b = vf_tensor_get_double(tensor, k);
    return isnan(a) || isnan(b) ? (isnan(a) != 0) - (isnan(b) != 0) : (a > b) - (a < b);
}

static int compare_integers(const VfTensor *tensor, size_t i, size_t k)
{
    int64_t a = vf_tensor_get_i64(tensor, i), b = vf_tensor_get_i64(tensor, k);
    return (a > b) - (a < b);
}

static int compare_unsigned(const VfTensor *tensor, size_t i, size_t k)
{
    uint64_t a = vf_number_bits(tensor->data, tensor->dtype, i);
    uint64_t b = vf_number_bits(tensor->data, tensor->dtype, k);
    return (a > b) - (a < b);
}

static int compare_strings(const VfTensor *tensor, size_t i, size_t k)
{
    const VfBytes *list = tensor->data;
    return vf_bytes_compare(list[i], list[k]);
}

static Compare *compare_of(VfDtype dtype)
{
    if (dtype == VF_STRING)
        return compare_strings;
    if (vf_dtype_info(dtype)->is_float)
        return compare_floats;
    return dtype == VF_U64 ? compare_unsigned : compare_integers;
}

static int compare_slices(const Slice *a, const Slice *b)
{
    const Slices *s = a->of;
    for (size_t o = 0; o < s->outer; o++)
        for (size_t i = 0; i < s->inner; i++) {
            int order = s->compare(s->tensor, (o * s->n + a->at) * s->inner + i,
                                   (o * s->n + b->at) * s->inner + i);
            if (order != 0)
                return order;
        }
    return 0;
}

/* Equal slices stay as they stand. */
static int in_order(const void *left, const void *right)
{
    const Slice *a = left, *b = right;
    int order = compare_slices(a, b);
    return order != 0 ? order : (a->at > b->at) - (a->at < b->at);
}

static VfStatus cut(const VfLowCall *call, const VfLowValue *x, Slices *s, VfErr *err)
{
    *s = (Slices){x->known, compare_of(x->dtype), 1, x->count, 1};
    if (vf_node_attr(call->node, "axis") == NULL)
        return VF_OK;
    int64_t axis;
    VF_TRY(vf_low_axis(call, "axis", x->rank, &axis, err));
    s->n = (size_t)x->dims[axis];
    /* Slices without elements are all equal; the other axes may be long. */
    s->outer = x->count > 0 ? (size_t)vf_low_product(x->dims, 0, (int32_t)axis) : 0;
    s->inner = x->count > 0 ? (size_t)vf_low_product(x->dims, (int32_t)axis + 1, x->rank) : 0;
    return VF_OK;
}

static VfStatus group(VfLower *cx, const Slices *s, Groups *g, VfErr *err)
{
    Slice *slice = VF_NEW_ARRAY(cx->arena, Slice, s->n + 1);
    int64_t *list = VF_NEW_ARRAY(cx->arena, int64_t, 4 * s->n + 1);
    VF_TRY_ALLOC(slice, err);
    VF_TRY_ALLOC(list, err);
    *g = (Groups){0, list, list + s->n, list + 2 * s->n, list + 3 * s->n};
    for (size_t i = 0; i < s->n; i++)
        slice[i] = (Slice){s, i};
    qsort(slice, s->n, sizeof *slice, in_order);
    for (size_t i = 0; i < s->n; i++) {
        if (i == 0 || compare_slices(&slice[i - 1], &slice[i]) != 0) {
            g->first[g->n] = (int64_t)slice[i].at;
            g->place[g->n] = (int64_t)g->n;
            g->n++;
        }
        g->of[slice[i].at] = (int64_t)g->n - 1;
        g->count[g->n - 1]++;
    }
    return VF_OK;
}

/* Groups in the order of their first slices. */
static void keep_order(const Slices *s, Groups *g)
{
    int64_t next = 0;
    for (size_t i = 0; i < s->n; i++)
        if (g->first[g->of[i]] == (int64_t)i)
            g->place[g->of[i]] = next++;
}

/* The first slice of each group. */
static VfStatus take_slices(VfLower *cx, const VfLowCall *call, const Slices *s, const Groups *g,
                            VfLowValue **out, VfErr *err)
{
    const VfLowValue *x = call->in[0];
    VfTensor *tensor;
    void *data;
    bool is_flat = vf_node_attr(call->node, "axis") == NULL;
    int64_t axis = 0, *dims = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)x->rank + 1);
    VF_TRY_ALLOC(dims, err);
    if (!is_flat)
        VF_TRY(vf_low_axis(call, "axis", x->rank, &axis, err));
    for (int32_t i = 0; i < x->rank && !is_flat; i++)
        dims[i] = x->dims[i];
    dims[axis] = (int64_t)g->n;
    VF_TRY(vf_tensor_new(cx->arena, x->dtype, is_flat ? 1 : x->rank, dims, &tensor, &data, err));
    size_t width = x->dtype == VF_STRING ? sizeof(VfBytes) : vf_low_width(x->dtype);
    size_t piece = width * s->inner;
    for (size_t o = 0; o < s->outer; o++)
        for (size_t i = 0; i < g->n; i++)
            memcpy((char *)data + (o * g->n + (size_t)g->place[i]) * piece,
                   (const char *)x->known->data + (o * s->n + (size_t)g->first[i]) * piece, piece);
    return vf_low_const(cx, tensor, out, err);
}

/* First slices and counts of the groups, and the group of each slice. */
static VfStatus take_indices(VfLower *cx, VfLowCall *call, const Slices *s, const Groups *g,
                             VfErr *err)
{
    int64_t *list = VF_NEW_ARRAY(cx->arena, int64_t, s->n + 2 * g->n + 1);
    VF_TRY_ALLOC(list, err);
    int64_t *const part[3] = {list, list + g->n, list + g->n + s->n};
    const size_t n[3] = {g->n, s->n, g->n};
    for (size_t i = 0; i < g->n; i++) {
        part[0][g->place[i]] = g->first[i];
        part[2][g->place[i]] = g->count[i];
    }
    for (size_t i = 0; i < s->n; i++)
        part[1][i] = g->place[g->of[i]];
    for (int32_t i = 0; i < 3; i++)
        if (vf_low_has_out(call, i + 1))
            VF_TRY(vf_low_const_i64(cx, n[i], part[i], &call->out[i + 1], err));
    return VF_OK;
}

VfStatus vf_lower_unique(VfLower *cx, VfLowCall *call, VfErr *err)
{
    Slices s = {0};
    Groups g = {0};
    if (call->in[0]->known == NULL)
        return vf_low_await(call, err, "operand 0 is not known when the plan is made");
    VF_TRY(cut(call, call->in[0], &s, err));
    VF_TRY(group(cx, &s, &g, err));
    if (vf_node_int(call->node, "sorted") == 0)
        keep_order(&s, &g);
    VF_TRY(take_slices(cx, call, &s, &g, &call->out[0], err));
    return take_indices(cx, call, &s, &g, err);
}
