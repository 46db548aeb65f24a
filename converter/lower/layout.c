#include "converter/lower/layout.h"

#include "converter/lower/emit.h"

enum { MOST_AXES = 8 };

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
