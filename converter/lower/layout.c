#include "converter/lower/layout.h"

#include <string.h>

#include "converter/lower/emit.h"

enum { MOST_AXES = VFK_MAX_RANK };

bool vf_low_has_channels_last(const VfLowValue *x)
{
    return x->known == NULL && x->rank > 2 && x->stride[1] == 1 && x->dims[1] > 1 &&
           !vf_low_is_dense(x);
}

static void strides_of_rows(const VfLowValue *x, int64_t stride[MOST_AXES])
{
    int64_t step = x->dims[1];
    for (int32_t i = x->rank; i-- > 2; step *= x->dims[i])
        stride[i] = step;
    stride[0] = step;
    stride[1] = 1;
}

bool vf_low_is_rows_of_channels(const VfLowValue *x)
{
    int64_t stride[MOST_AXES];
    if (x->rank > MOST_AXES || !vf_low_has_channels_last(x))
        return false;
    strides_of_rows(x, stride);
    for (int32_t i = 0; i < x->rank; i++)
        if (x->dims[i] != 1 && x->stride[i] != stride[i])
            return false;
    return true;
}

VfStatus vf_low_as_rows_of_channels(VfLower *cx, VfLowValue *value, VfLowValue **out, VfErr *err)
{
    int64_t stride[MOST_AXES];
    if (value->rank > MOST_AXES)
        return vf_low_refuse(err, "%d axes", value->rank);
    strides_of_rows(value, stride);
    return vf_low_view(cx, value, value->rank, value->dims, stride, 0, out, err);
}

/* Axes by stride, outermost first; those of one element stay where they are. */
static void sort_axes(const VfLowValue *x, int64_t *axis)
{
    for (int32_t i = 0; i < x->rank; i++)
        axis[i] = i;
    for (int32_t i = 0; i < x->rank; i++)
        for (int32_t k = i + 1; k < x->rank; k++) {
            int64_t a = axis[i], b = axis[k];
            if (x->dims[a] == 1 || x->dims[b] == 1 || x->stride[a] >= x->stride[b])
                continue;
            axis[i] = b;
            axis[k] = a;
        }
}

static bool has_no_gaps(const VfLowValue *x, const int64_t *axis)
{
    int64_t step = 1;
    for (int32_t i = x->rank; i-- > 0; step *= x->dims[axis[i]])
        if (x->dims[axis[i]] != 1 && x->stride[axis[i]] != step)
            return false;
    return true;
}

void vf_low_order_of(const VfLowValue *x, VfLowOrder *order)
{
    memset(order, 0, sizeof *order);
    if (x->known != NULL || x->rank > MOST_AXES || x->count == 0 || vf_low_is_dense(x))
        return;
    sort_axes(x, order->there);
    order->is_moved = has_no_gaps(x, order->there);
    for (int32_t i = 0; i < x->rank; i++)
        order->back[order->there[i]] = i;
}

bool vf_low_is_same_order(const VfLowOrder *a, const VfLowOrder *b, int32_t rank)
{
    return a->is_moved && b->is_moved &&
           memcmp(a->there, b->there, (size_t)rank * sizeof *a->there) == 0;
}

VfStatus vf_low_to_order(VfLower *cx, VfLowValue *x, const VfLowOrder *order, VfLowValue **out,
                         VfErr *err)
{
    *out = x;
    return order->is_moved ? vf_low_permute(cx, x, order->there, out, err) : VF_OK;
}

VfStatus vf_low_from_order(VfLower *cx, VfLowValue *x, const VfLowOrder *order, VfLowValue **out,
                           VfErr *err)
{
    *out = x;
    return order->is_moved ? vf_low_permute(cx, x, order->back, out, err) : VF_OK;
}
