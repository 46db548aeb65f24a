/* Weights times a scale, and summed with a shift, in one read: large matrices take most of the time
 * of a conversion. */
#include <math.h>
#include <string.h>

#include "passes/fold/layer.h"

/* Loops over this many elements are what compilers make vector code of. */
enum { LANES = 8 };

/* --- any type --- */

/* Store one element; false when it is not finite although the old one was. */
static bool put(const VfTensor *w, void *data, size_t i, double factor)
{
    double old = vf_tensor_get_double(w, i);
    vf_tensor_put_double(data, w->dtype, i, old * factor);
    VfTensor seen = *w;
    seen.data = data;
    return isfinite(vf_tensor_get_double(&seen, i)) || !isfinite(old);
}

/* --- floats; the bytes of a file may lie anywhere --- */

static float float_at(const char *from, size_t i)
{
    float x;
    memcpy(&x, from + i * sizeof x, sizeof x);
    return x;
}

/* Elements that became infinite or no number. */
static size_t count_overflow(const char *from, const float *to, size_t n)
{
    size_t n_overflow = 0;
    for (size_t i = 0; i < n; i++)
        n_overflow += !isfinite(to[i]) && isfinite(float_at(from, i));
    return n_overflow;
}

/* to = from times one factor, or each with its own. `rest` stays 0 while all are finite. */
static bool scale_even(const char *from, float *to, size_t n, double by)
{
    float old[LANES], rest[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        memcpy(old, from + i * sizeof old[0], sizeof old);
        for (size_t k = 0; k < LANES; k++) {
            to[i + k] = (float)((double)old[k] * by);
            rest[k] += to[i + k] * 0.0F;
        }
    }
    for (; i < n; i++) {
        to[i] = (float)((double)float_at(from, i) * by);
        rest[0] += to[i] * 0.0F;
    }
    for (size_t k = 1; k < LANES; k++)
        rest[0] += rest[k];
    return !isnan(rest[0]) || count_overflow(from, to, n) == 0;
}

static bool scale_each(const char *from, float *to, size_t n, const double *by)
{
    float old[LANES], rest[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        memcpy(old, from + i * sizeof old[0], sizeof old);
        for (size_t k = 0; k < LANES; k++) {
            to[i + k] = (float)((double)old[k] * by[i + k]);
            rest[k] += to[i + k] * 0.0F;
        }
    }
    for (; i < n; i++) {
        to[i] = (float)((double)float_at(from, i) * by[i]);
        rest[0] += to[i] * 0.0F;
    }
    for (size_t k = 1; k < LANES; k++)
        rest[0] += rest[k];
    return !isnan(rest[0]) || count_overflow(from, to, n) == 0;
}

/* sum[i] += c * from[i] */
static void add_even(const char *from, size_t n, double c, double *sum)
{
    float old[LANES];
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        memcpy(old, from + i * sizeof old[0], sizeof old);
        for (size_t k = 0; k < LANES; k++)
            sum[i + k] += (double)old[k] * c;
    }
    for (; i < n; i++)
        sum[i] += (double)float_at(from, i) * c;
}

static double dot(const char *from, size_t n, const double *c)
{
    float old[LANES];
    double sum[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        memcpy(old, from + i * sizeof old[0], sizeof old);
        for (size_t k = 0; k < LANES; k++)
            sum[k] += (double)old[k] * c[i + k];
    }
    for (; i < n; i++)
        sum[0] += (double)float_at(from, i) * c[i];
    for (size_t k = 1; k < LANES; k++)
        sum[0] += sum[k];
    return sum[0];
}

/* --- along an axis --- */

/* Element i belongs to place i / inner % extent of the axis and to sum[i / inner / extent * inner +
 * i % inner]. */
typedef struct Lines {
    const VfTensor *w;
    size_t extent, inner;
    const double *by, *shift; /* of each place; shift NULL: no sums */
    double *sum;
} Lines;

/* Elements [at, at + n) into `to`. One run is a line's part, or, where a line is one element long,
 * many lines that belong to one sum. */
static bool fold_floats(const Lines *l, size_t at, size_t n, float *to)
{
    bool is_finite = true;
    for (size_t end = at + n, run; at < end; at += run, to += run) {
        const char *from = (const char *)l->w->data + at * sizeof(float);
        size_t place = at / l->inner % l->extent, outer = at / l->inner / l->extent;
        size_t left = l->inner == 1 ? l->extent - place : l->inner - at % l->inner;
        run = left < end - at ? left : end - at;
        if (l->inner == 1) {
            is_finite = scale_each(from, to, run, l->by + place) && is_finite;
            if (l->shift != NULL)
                l->sum[outer] += dot(from, run, l->shift + place);
            continue;
        }
        is_finite = scale_even(from, to, run, l->by[place]) && is_finite;
        if (l->shift != NULL)
            add_even(from, run, l->shift[place], l->sum + outer * l->inner + at % l->inner);
    }
    return is_finite;
}

static bool fold_any(const Lines *l, void *data)
{
    bool is_finite = true;
    for (size_t i = 0; i < l->w->count; i++) {
        size_t place = i / l->inner % l->extent;
        is_finite = put(l->w, data, i, l->by[place]) && is_finite;
        if (l->shift != NULL)
            l->sum[i / l->inner / l->extent * l->inner + i % l->inner] +=
                vf_tensor_get_double(l->w, i) * l->shift[place];
    }
    return is_finite;
}

static VfStatus stream_floats(VfArena *arena, const Lines *l, bool *is_finite,
                              const VfTensor **out, VfErr *err)
{
    VfArenaStream stream;
    VfTensor made = *l->w;
    void *piece;
    if (!vf_arena_stream_begin(&stream, arena, l->w->bytes))
        return vf_no_memory(err);
    for (size_t at = 0, n; (n = vf_arena_stream_next(&stream, &piece) / sizeof(float)) > 0; at += n)
        *is_finite = fold_floats(l, at, n, piece) && *is_finite;
    made.data = vf_arena_stream_end(&stream);
    made.storage = VF_STORAGE_ARENA;
    VF_TRY_ALLOC(made.data, err);
    *out = vf_tensor_view(arena, &made, made.rank, made.dims);
    VF_TRY_ALLOC(*out, err);
    return VF_OK;
}

static VfStatus fold_lines(VfArena *arena, const Lines *l, const VfTensor **out, VfErr *err)
{
    bool is_finite = true;
    if (l->w->dtype == VF_F32 && l->w->count > 0) {
        VF_TRY(stream_floats(arena, l, &is_finite, out, err));
    } else {
        VfTensor *tensor;
        void *data;
        VF_TRY(vf_tensor_new(arena, l->w->dtype, l->w->rank, l->w->dims, &tensor, &data, err));
        is_finite = fold_any(l, data);
        *out = tensor;
    }
    return is_finite ? VF_OK : vf_weights_not_finite(err);
}

/* The field along its axis as an array. */
static const double *spread(VfArena *arena, const VfField *field, int32_t axis, size_t n)
{
    double *each = VF_NEW_ARRAY(arena, double, n);
    for (size_t k = 0; each != NULL && k < n; k++)
        each[k] = vf_field_at(field, axis, (int64_t)k);
    return each;
}

VfStatus vf_weights_fold(VfWeightFold *job, VfErr *err)
{
    const VfTensor *w = job->w;
    if (w->rank > VF_FIELD_RANK_MAX)
        return vf_fail(err, VF_UNSUPPORTED, "weights of rank %d", (int)w->rank);
    Lines l = {.w = w, .extent = (size_t)w->dims[job->axis]};
    l.inner = vf_weights_count(w, job->axis + 1, w->rank);
    size_t n_sum = vf_weights_count(w, 0, job->axis) * l.inner;
    l.by = spread(job->scratch, job->scale, job->field_axis, l.extent);
    VF_TRY_ALLOC(l.by, err);
    if (job->shift != NULL) {
        l.shift = spread(job->scratch, job->shift, job->field_axis, l.extent);
        l.sum = VF_NEW_ARRAY(job->scratch, double, n_sum);
        VF_TRY_ALLOC(l.shift, err);
        VF_TRY_ALLOC(l.sum, err);
    }
    job->sum = (VfField){.rank = w->rank, .count = n_sum, .data = l.sum};
    for (int32_t i = 0; i < w->rank; i++)
        job->sum.dims[i] = i == job->axis ? 1 : w->dims[i];
    return fold_lines(job->keep, &l, &job->scaled, err);
}

/* --- along the channels of a group --- */

VfStatus vf_weights_scale_group(VfArena *arena, const VfTensor *w, int64_t group,
                                const VfField *factor, const VfTensor **out, VfErr *err)
{
    size_t taps = vf_weights_count(w, 2, w->rank), width = (size_t)w->dims[1];
    size_t rows = (size_t)(w->dims[0] / group);
    VfTensor *tensor;
    void *data;
    bool is_finite = true;
    VF_TRY(vf_tensor_new(arena, w->dtype, w->rank, w->dims, &tensor, &data, err));
    for (size_t i = 0; i < w->count; i++) {
        size_t row = i / taps / width, channel = row / rows * width + i / taps % width;
        is_finite = put(w, data, i, vf_field_at(factor, 1, (int64_t)channel)) && is_finite;
    }
    *out = tensor;
    return is_finite ? VF_OK : vf_weights_not_finite(err);
}
