#include <math.h>
#include <string.h>

#include "passes/fold/layer.h"
#include "passes/ir/attr.h"

size_t vf_weights_count(const VfTensor *w, int32_t from, int32_t to)
{
    size_t count = 1;
    for (int32_t i = from; i < to; i++)
        count *= (size_t)w->dims[i];
    return count;
}

VfStatus vf_weights_not_finite(VfErr *err)
{
    return vf_fail(err, VF_DIFFERS, "a folded weight is not finite");
}

/* Elements of a map of shifts and multiply-adds to fill it. */
static const size_t MAP_MAX = VF_FIELD_COUNT_MAX, MAP_WORK_MAX = (size_t)1 << 32;

static VfStatus too_large(VfErr *err)
{
    return vf_fail(err, VF_UNSUPPORTED, "a map of shifts that is too large");
}

/* A field of `dims` whose elements are still to be filled. */
static VfStatus new_map(VfArena *arena, int32_t rank, const int64_t *dims, size_t work_of_each,
                        VfField *map, double **data, VfErr *err)
{
    size_t count = 1, work;
    map->rank = rank;
    for (int32_t i = 0; i < rank; i++) {
        map->dims[i] = dims[i];
        if (__builtin_mul_overflow(count, (size_t)dims[i], &count))
            return too_large(err);
    }
    if (count > MAP_MAX || __builtin_mul_overflow(count, work_of_each, &work) ||
        work > MAP_WORK_MAX)
        return too_large(err);
    *data = VF_NEW_ARRAY(arena, double, count);
    VF_TRY_ALLOC(*data, err);
    map->count = count;
    map->data = *data;
    return VF_OK;
}

VfStatus vf_weights_contract_map(VfArena *arena, const VfTensor *w, int32_t axis,
                                 const VfField *shift, int32_t shift_axis, VfField *out, VfErr *err)
{
    size_t n = (size_t)w->dims[1 - axis], extent = (size_t)w->dims[axis], inner = 1;
    int64_t dims[VF_FIELD_RANK_MAX];
    double *map;
    for (int32_t i = 0; i < shift->rank; i++) {
        dims[i] = i == shift_axis ? (int64_t)n : shift->dims[i];
        inner *= i > shift_axis ? (size_t)shift->dims[i] : 1;
    }
    VF_TRY(new_map(arena, shift->rank, dims, extent, out, &map, err));
    bool is_uniform = shift->dims[shift_axis] == 1;
    for (size_t i = 0; i < out->count; i++) {
        size_t at = i % inner, column = i / inner % n, row = i / inner / n;
        for (size_t k = 0; k < extent; k++) {
            size_t from = (row * (is_uniform ? 1 : extent) + (is_uniform ? 0 : k)) * inner + at;
            size_t weight = axis == 0 ? k * n + column : column * extent + k;
            map[i] += vf_tensor_get_double(w, weight) * shift->data[from];
        }
    }
    return VF_OK;
}

/* --- convolutions --- */

/* tap_sum[o * taps + t]: what the shift adds to output channel o through tap t. */
static VfStatus sum_channels(VfArena *arena, const VfNode *node, const VfTensor *w,
                             const VfField *shift, size_t n_out, size_t taps, double **tap_sum,
                             VfErr *err)
{
    bool is_transpose = node->op == VF_OP_CONV_TRANSPOSE;
    size_t group = (size_t)vf_node_int(node, "group"), width = (size_t)w->dims[1];
    size_t rows = (size_t)w->dims[0] / group;
    size_t count = n_out * taps;
    double *sum = VF_NEW_ARRAY(arena, double, count);
    VF_TRY_ALLOC(sum, err);
    for (size_t i = 0; i < w->count; i++) {
        size_t row = i / taps / width, column = row / rows * width + i / taps % width;
        size_t from = is_transpose ? row : column, to = is_transpose ? column : row;
        sum[to * taps + i % taps] +=
            vf_tensor_get_double(w, i) * vf_field_at(shift, 1, (int64_t)from);
    }
    *tap_sum = sum;
    return VF_OK;
}

/* Step an index through an array of `dims`; false after the last. */
static bool next_index(int32_t n, const int64_t *dims, int64_t *index)
{
    for (int32_t i = n - 1; i >= 0; i--) {
        if (++index[i] < dims[i])
            return true;
        index[i] = 0;
    }
    return false;
}

/* Where tap `tap` at `base` leads: `base` runs over the results of a Conv, which sees the element
 * met if that lies inside the image, or over the elements of a ConvTranspose's image. Offsets of
 * image and result; false outside. */
static bool meet(const VfConvFrame *f, const int64_t *base, const int64_t *tap, size_t *in,
                 size_t *out)
{
    *in = *out = 0;
    for (int32_t i = 0; i < f->n; i++) {
        int64_t met = base[i] * f->stride[i] + tap[i] * f->dilation[i] - f->begin[i];
        if (met < 0 || met >= (f->is_transpose ? f->out[i] : f->in[i]))
            return false;
        *in = *in * (size_t)f->in[i] + (size_t)(f->is_transpose ? base[i] : met);
        *out = *out * (size_t)f->out[i] + (size_t)(f->is_transpose ? met : base[i]);
    }
    return true;
}

static bool is_empty(int32_t n, const int64_t *dims)
{
    for (int32_t i = 0; i < n; i++) {
        if (dims[i] <= 0)
            return true;
    }
    return false;
}

/* What is summed at each meeting of a tap and an element. */
typedef struct Terms {
    size_t n_out, taps, area_in, area_out;
    const double *tap_sum; /* a shift that is the same everywhere, its channels summed; or NULL: */
    const VfTensor *w;     /* the weights, */
    const VfField *shift;  /* the shift, whole, */
    size_t rows, width;    /* rows of the weights in a group, channels on their axis 1 */
    bool is_transpose;
} Terms;

static void add_terms(const Terms *t, size_t tap, size_t in, size_t out, double *map)
{
    for (size_t o = 0; t->tap_sum != NULL && o < t->n_out; o++)
        map[o * t->area_out + out] += t->tap_sum[o * t->taps + tap];
    if (t->tap_sum != NULL)
        return;
    for (size_t i = 0; i < t->w->count / t->taps; i++) {
        size_t row = i / t->width, column = row / t->rows * t->width + i % t->width;
        size_t from = t->is_transpose ? row : column, to = t->is_transpose ? column : row;
        map[to * t->area_out + out] +=
            vf_tensor_get_double(t->w, i * t->taps + tap) * t->shift->data[from * t->area_in + in];
    }
}

static void fill_map(const VfConvFrame *f, const Terms *terms, double *map)
{
    int64_t base[VF_SPATIAL_MAX] = {0};
    const int64_t *extent = f->is_transpose ? f->in : f->out;
    if (is_empty(f->n, extent) || is_empty(f->n, f->kernel))
        return;
    do {
        int64_t tap[VF_SPATIAL_MAX] = {0};
        size_t t = 0, in, out;
        do {
            if (meet(f, base, tap, &in, &out))
                add_terms(terms, t, in, out, map);
            t++;
        } while (next_index(f->n, f->kernel, tap));
    } while (next_index(f->n, extent, base));
}

static bool area_of(int32_t n, const int64_t *dims, size_t *area)
{
    *area = 1;
    for (int32_t i = 0; i < n; i++) {
        if (__builtin_mul_overflow(*area, (size_t)dims[i], area))
            return false;
    }
    return true;
}

static VfStatus shift_map(VfArena *arena, const VfConvFrame *f, Terms *terms, VfField *out,
                          VfErr *err)
{
    VfField whole;
    double *map;
    int64_t dims[VF_FIELD_RANK_MAX] = {1, (int64_t)terms->n_out};
    if (!area_of(f->n, f->in, &terms->area_in) || !area_of(f->n, f->out, &terms->area_out))
        return too_large(err);
    for (int32_t i = 0; i < f->n; i++)
        dims[i + 2] = f->out[i];
    /* The image of a ConvTranspose is what its taps run over. */
    size_t per_out = terms->tap_sum != NULL ? terms->taps : terms->w->count / terms->n_out;
    size_t base = f->is_transpose ? terms->area_in : terms->area_out, work;
    if (__builtin_mul_overflow(base, terms->n_out, &work) ||
        __builtin_mul_overflow(work, per_out, &work) || work > MAP_WORK_MAX)
        return too_large(err);
    VF_TRY(new_map(arena, f->n + 2, dims, 1, &whole, &map, err));
    fill_map(f, terms, map);
    return vf_field_view(arena, &whole, whole.rank, whole.dims, out, err);
}

/* The shift repeated to every channel and place of the image. */
static VfStatus whole_shift(VfArena *arena, const VfConvFrame *f, int64_t channels,
                            const VfField *shift, VfField *whole, VfErr *err)
{
    int64_t dims[VF_FIELD_RANK_MAX] = {1, channels};
    for (int32_t i = 0; i < f->n; i++)
        dims[i + 2] = f->in[i];
    return vf_field_expand(arena, shift, dims, whole, err);
}

VfStatus vf_conv_shift(VfArena *arena, const VfNode *node, const VfTensor *w, const VfField *shift,
                       const VfConvFrame *frame, VfField *out, VfErr *err)
{
    bool is_transpose = node->op == VF_OP_CONV_TRANSPOSE;
    size_t group = (size_t)vf_node_int(node, "group"), taps = vf_weights_count(w, 2, w->rank);
    size_t n_out = (size_t)w->dims[is_transpose ? 1 : 0] * (is_transpose ? group : 1);
    Terms terms = {.n_out = n_out, .taps = taps, .w = w, .is_transpose = is_transpose};
    terms.width = (size_t)w->dims[1];
    terms.rows = (size_t)w->dims[0] / group;
    if (!vf_field_is_on_axis(shift, 1)) {
        VfField whole;
        int64_t channels = is_transpose ? w->dims[0] : w->dims[1] * (int64_t)group;
        VF_TRY(whole_shift(arena, frame, channels, shift, &whole, err));
        terms.shift = &whole;
        return shift_map(arena, frame, &terms, out, err);
    }
    double *tap_sum = NULL;
    VF_TRY(sum_channels(arena, node, w, shift, n_out, taps, &tap_sum, err));
    terms.tap_sum = tap_sum;
    if (frame != NULL)
        return shift_map(arena, frame, &terms, out, err);
    double *sum = VF_NEW_ARRAY(arena, double, n_out);
    VF_TRY_ALLOC(sum, err);
    for (size_t i = 0; i < n_out * taps; i++)
        sum[i / taps] += tap_sum[i];
    return vf_field_on_axis(arena, w->rank, 1, n_out, sum, out, err);
}

VfStatus vf_field_tensor(VfArena *arena, const VfField *field, VfDtype dtype, int32_t rank,
                         const int64_t *dims, const VfTensor **out, VfErr *err)
{
    VfTensor *tensor;
    void *data;
    VfField whole;
    VF_TRY(vf_tensor_new(arena, dtype, rank, dims, &tensor, &data, err));
    VF_TRY(vf_field_expand(arena, field, dims, &whole, err));
    for (size_t i = 0; i < tensor->count; i++) {
        vf_tensor_put_double(data, dtype, i, whole.data[i]);
        if (!isfinite(vf_tensor_get_double(tensor, i)))
            return vf_weights_not_finite(err);
    }
    *out = tensor;
    return VF_OK;
}
