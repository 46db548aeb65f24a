#include "passes/fold/affine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A zeroed field of `dims` whose data may be written through `*data` until it is published. */
static VfStatus new_field(VfArena *arena, int32_t rank, const int64_t *dims, VfField *field,
                          double **data, VfErr *err)
{
    size_t count = 1;
    if (rank > VF_FIELD_RANK_MAX)
        return vf_fail(err, VF_UNSUPPORTED, "rank %d is beyond %d", (int)rank,
                       (int)VF_FIELD_RANK_MAX);
    field->rank = rank;
    for (int32_t i = 0; i < rank; i++) {
        field->dims[i] = dims[i];
        if (__builtin_mul_overflow(count, (size_t)dims[i], &count) || count > VF_FIELD_COUNT_MAX)
            return vf_fail(err, VF_UNSUPPORTED, "a scale and shift of more than %d elements",
                           (int)VF_FIELD_COUNT_MAX);
    }
    field->count = count;
    *data = VF_NEW_ARRAY(arena, double, count);
    VF_TRY_ALLOC(*data, err);
    field->data = *data;
    return VF_OK;
}

static void ones(int32_t rank, int64_t *dims)
{
    for (int32_t i = 0; i < rank; i++)
        dims[i] = 1;
}

/* Distance of neighbours along each axis; 0 where the extent is 1, so that it repeats. */
static void strides_of(const VfField *x, int64_t *stride)
{
    int64_t step = 1;
    for (int32_t i = x->rank - 1; i >= 0; i--) {
        stride[i] = x->dims[i] == 1 ? 0 : step;
        step *= x->dims[i];
    }
}

/* Go to the next index of an array of `dims` and keep the offset of another array of strides up to
 * date. */
static void advance(int32_t rank, const int64_t *dims, int64_t *index, const int64_t *stride,
                    int64_t *offset)
{
    for (int32_t i = rank - 1; i >= 0; i--) {
        *offset += stride[i];
        if (++index[i] < dims[i])
            return;
        *offset -= stride[i] * dims[i];
        index[i] = 0;
    }
}

/* Copy `x` into an array of `dims`, repeating along axes of extent 1. */
static void broadcast(const VfField *x, const int64_t *dims, size_t count, double *out)
{
    int64_t index[VF_FIELD_RANK_MAX] = {0}, stride[VF_FIELD_RANK_MAX], offset = 0;
    strides_of(x, stride);
    for (size_t i = 0; i < count; i++) {
        out[i] = x->data[offset];
        advance(x->rank, dims, index, stride, &offset);
    }
}

static bool varies_along(const VfField *x, int32_t axis)
{
    int64_t inner = 1;
    for (int32_t i = axis + 1; i < x->rank; i++)
        inner *= x->dims[i];
    size_t step = (size_t)inner, block = step * (size_t)x->dims[axis];
    for (size_t i = 0; i < x->count; i++) {
        double first = x->data[i - i % block + i % step];
        if (memcmp(&x->data[i], &first, sizeof first) != 0)
            return true;
    }
    return false;
}

/* Make the extent 1 on each axis along which nothing varies. */
static VfStatus reduce(VfArena *arena, VfField *x, VfErr *err)
{
    for (int32_t axis = 0; axis < x->rank; axis++) {
        if (x->dims[axis] > 1 && !varies_along(x, axis)) {
            int64_t zero = 0;
            VfField less;
            VF_TRY(vf_field_take(arena, x, axis, 1, &zero, &less, err));
            *x = less;
        }
    }
    return VF_OK;
}

VfStatus vf_field_on_axis(VfArena *arena, int32_t rank, int32_t axis, size_t n, const double *data,
                          VfField *field, VfErr *err)
{
    int64_t dims[VF_FIELD_RANK_MAX];
    double *to;
    if (rank > VF_FIELD_RANK_MAX)
        return vf_fail(err, VF_UNSUPPORTED, "rank %d is beyond %d", (int)rank,
                       (int)VF_FIELD_RANK_MAX);
    ones(rank, dims);
    dims[axis] = (int64_t)n;
    VF_TRY(new_field(arena, rank, dims, field, &to, err));
    memcpy(to, data, n * sizeof *to);
    return reduce(arena, field, err);
}

VfStatus vf_field_uniform(VfArena *arena, int32_t rank, double number, VfField *field, VfErr *err)
{
    int64_t dims[VF_FIELD_RANK_MAX];
    double *to;
    if (rank <= VF_FIELD_RANK_MAX)
        ones(rank, dims);
    VF_TRY(new_field(arena, rank, dims, field, &to, err));
    to[0] = number;
    return VF_OK;
}

VfStatus vf_field_of_tensor(VfArena *arena, const VfTensor *tensor, int32_t rank, VfField *field,
                            bool *fits, VfErr *err)
{
    int64_t dims[VF_FIELD_RANK_MAX];
    double *to;
    int32_t extra = rank - tensor->rank;
    *fits = extra >= 0 && rank <= VF_FIELD_RANK_MAX && tensor->count > 0;
    if (!*fits)
        return VF_OK;
    ones(rank, dims);
    for (int32_t i = 0; i < tensor->rank; i++)
        dims[extra + i] = tensor->dims[i];
    VF_TRY(new_field(arena, rank, dims, field, &to, err));
    for (size_t i = 0; i < field->count; i++)
        to[i] = vf_tensor_get_double(tensor, i);
    return reduce(arena, field, err);
}

bool vf_field_is_on_axis(const VfField *field, int32_t axis)
{
    for (int32_t i = 0; i < field->rank; i++) {
        if (i != axis && field->dims[i] != 1)
            return false;
    }
    return true;
}

bool vf_field_is_all(const VfField *field, double number)
{
    for (size_t i = 0; i < field->count; i++) {
        if (!(field->data[i] <= number && field->data[i] >= number))
            return false;
    }
    return true;
}

bool vf_field_is_finite(const VfField *field)
{
    for (size_t i = 0; i < field->count; i++) {
        if (!isfinite(field->data[i]))
            return false;
    }
    return true;
}

bool vf_field_is_equal(const VfField *x, const VfField *y)
{
    return x->rank == y->rank &&
           memcmp(x->dims, y->dims, (size_t)x->rank * sizeof x->dims[0]) == 0 &&
           memcmp(x->data, y->data, x->count * sizeof *x->data) == 0;
}

double vf_field_min(const VfField *field)
{
    double least = field->data[0];
    for (size_t i = 1; i < field->count; i++)
        least = fmin(least, field->data[i]);
    return least;
}

double vf_field_at(const VfField *field, int32_t axis, int64_t i)
{
    return field->data[field->dims[axis] == 1 ? 0 : i];
}

VfStatus vf_field_expand(VfArena *arena, const VfField *x, const int64_t *dims, VfField *out,
                         VfErr *err)
{
    double *to;
    VF_TRY(new_field(arena, x->rank, dims, out, &to, err));
    broadcast(x, dims, out->count, to);
    return VF_OK;
}

static double compute(char op, double x, double y)
{
    return op == '+' ? x + y : op == '-' ? x - y : x * y;
}

VfStatus vf_field_combine(VfArena *arena, char op, const VfField *x, const VfField *y, VfField *out,
                          bool *fits, VfErr *err)
{
    int64_t dims[VF_FIELD_RANK_MAX];
    *fits = x->rank == y->rank;
    for (int32_t i = 0; i < x->rank && *fits; i++) {
        dims[i] = x->dims[i] == 1 ? y->dims[i] : x->dims[i];
        *fits = y->dims[i] == 1 || y->dims[i] == dims[i];
    }
    if (!*fits)
        return VF_OK;
    double *to;
    VF_TRY(new_field(arena, x->rank, dims, out, &to, err));
    double *right = VF_NEW_ARRAY(arena, double, out->count);
    VF_TRY_ALLOC(right, err);
    broadcast(x, dims, out->count, to);
    broadcast(y, dims, out->count, right);
    for (size_t i = 0; i < out->count; i++)
        to[i] = compute(op, to[i], right[i]);
    return reduce(arena, out, err);
}

VfStatus vf_field_transpose(VfArena *arena, const VfField *x, const int64_t *perm, VfField *out,
                            VfErr *err)
{
    int64_t dims[VF_FIELD_RANK_MAX], stride[VF_FIELD_RANK_MAX], from[VF_FIELD_RANK_MAX];
    int64_t index[VF_FIELD_RANK_MAX] = {0}, offset = 0;
    double *to;
    strides_of(x, from);
    for (int32_t i = 0; i < x->rank; i++) {
        dims[i] = x->dims[perm[i]];
        stride[i] = from[perm[i]];
    }
    VF_TRY(new_field(arena, x->rank, dims, out, &to, err));
    for (size_t i = 0; i < out->count; i++) {
        to[i] = x->data[offset];
        advance(x->rank, dims, index, stride, &offset);
    }
    return VF_OK;
}

VfStatus vf_field_take(VfArena *arena, const VfField *x, int32_t axis, size_t n,
                       const int64_t *index, VfField *out, VfErr *err)
{
    int64_t dims[VF_FIELD_RANK_MAX];
    size_t inner = 1, outer = 1;
    double *to;
    memcpy(dims, x->dims, sizeof dims);
    dims[axis] = (int64_t)n;
    for (int32_t i = 0; i < axis; i++)
        outer *= (size_t)x->dims[i];
    for (int32_t i = axis + 1; i < x->rank; i++)
        inner *= (size_t)x->dims[i];
    VF_TRY(new_field(arena, x->rank, dims, out, &to, err));
    for (size_t o = 0; o < outer; o++) {
        const double *from = x->data + o * (size_t)x->dims[axis] * inner;
        for (size_t i = 0; i < n; i++, to += inner)
            memcpy(to, from + (size_t)index[i] * inner, inner * sizeof *to);
    }
    return n == 1 ? VF_OK : reduce(arena, out, err);
}

VfStatus vf_field_spread(VfArena *arena, const VfField *x, int32_t axis, size_t n,
                         const int64_t *index, int64_t extent, double rest, VfField *out,
                         VfErr *err)
{
    int64_t dims[VF_FIELD_RANK_MAX];
    size_t inner = 1, outer = 1;
    double *to;
    memcpy(dims, x->dims, sizeof dims);
    dims[axis] = extent;
    for (int32_t i = 0; i < axis; i++)
        outer *= (size_t)x->dims[i];
    for (int32_t i = axis + 1; i < x->rank; i++)
        inner *= (size_t)x->dims[i];
    VF_TRY(new_field(arena, x->rank, dims, out, &to, err));
    for (size_t i = 0; i < out->count; i++)
        to[i] = rest;
    for (size_t o = 0; o < outer; o++) {
        const double *from = x->data + o * (size_t)x->dims[axis] * inner;
        for (size_t i = 0; i < n; i++) {
            size_t at = x->dims[axis] == 1 ? 0 : i;
            size_t place = (o * (size_t)extent + (size_t)index[i]) * inner;
            memcpy(to + place, from + at * inner, inner * sizeof *to);
        }
    }
    return reduce(arena, out, err);
}

/* The extents of fields side by side; false when they contradict. */
static bool concat_dims(int32_t n, const VfField *x, const int64_t *extent, int32_t axis,
                        int64_t *dims)
{
    memcpy(dims, x[0].dims, sizeof x[0].dims);
    int64_t total = 0;
    for (int32_t k = 0; k < n; k++) {
        total += extent[k];
        for (int32_t i = 0; i < x[0].rank; i++) {
            int64_t have = x[k].dims[i];
            if (i == axis || have == 1)
                continue;
            if (dims[i] != 1 && dims[i] != have)
                return false;
            dims[i] = have;
        }
    }
    dims[axis] = total;
    return true;
}

VfStatus vf_field_concat(VfArena *arena, int32_t n, const VfField *x, const int64_t *extent,
                         int32_t axis, VfField *out, bool *fits, VfErr *err)
{
    int64_t dims[VF_FIELD_RANK_MAX];
    double *to;
    *fits = concat_dims(n, x, extent, axis, dims);
    if (!*fits)
        return VF_OK;
    VF_TRY(new_field(arena, x[0].rank, dims, out, &to, err));
    size_t inner = 1, outer = 1;
    for (int32_t i = axis + 1; i < out->rank; i++)
        inner *= (size_t)dims[i];
    for (int32_t i = 0; i < axis; i++)
        outer *= (size_t)dims[i];
    size_t row = (size_t)dims[axis] * inner, at = 0;
    for (int32_t k = 0; k < n; k++) {
        int64_t part_dims[VF_FIELD_RANK_MAX];
        memcpy(part_dims, dims, sizeof part_dims);
        part_dims[axis] = extent[k];
        size_t part = (size_t)extent[k] * inner;
        double *block = VF_NEW_ARRAY(arena, double, part *outer);
        VF_TRY_ALLOC(block, err);
        broadcast(&x[k], part_dims, part * outer, block);
        for (size_t o = 0; o < outer; o++)
            memcpy(to + o * row + at, block + o * part, part * sizeof *to);
        at += part;
    }
    return reduce(arena, out, err);
}

VfStatus vf_field_view(VfArena *arena, const VfField *x, int32_t rank, const int64_t *dims,
                       VfField *out, VfErr *err)
{
    double *to;
    VF_TRY(new_field(arena, rank, dims, out, &to, err));
    if (out->count != x->count)
        return vf_fail(err, VF_INTERNAL, "a field of %zu elements seen as %zu", x->count,
                       out->count);
    memcpy(to, x->data, x->count * sizeof *to);
    return reduce(arena, out, err);
}

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double vf_spread_of(VfArena *arena, size_t n, const double *x)
{
    double *sorted = VF_NEW_ARRAY(arena, double, n);
    if (sorted == NULL)
        return 1.0;
    for (size_t i = 0; i < n; i++)
        sorted[i] = fabs(x[i]);
    qsort(sorted, n, sizeof *sorted, compare_double);
    double median = sorted[n / 2];
    return median > 0.0 ? sorted[n - 1] / median : 1.0;
}
