/* A BatchNormalization and a multiple of its operand added to it (RepBN) become one.
 *
 * Before    batch_norm(x) + alpha * x, both perhaps read through copies that transpose alike
 * After     one batch_norm of x with other constants, and one copy if there were some
 * Why valid (x - mean) f + bias + alpha x = x (f + alpha) + (bias - mean f), f = scale /
 *           sqrt(var + eps): the kernel gets f + alpha as scale, mean 0, variance 1, epsilon 0
 * Requires  f32; constant scale, bias, mean and variance; alpha one constant number; nobody else
 *           reads the values in between
 * Exactness rounding: the two constants of a channel are each rounded once; an infinite x gives an
 *           infinity where the two terms of opposite signs gave NaN
 * Limits    x and the result are contiguous in the same order
 */
#include "converter/lower/fuse.h"

#include <math.h>
#include <string.h>

#include "runtime/kernels/binary.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/norm.h"

enum { N_STATISTIC = 4 }; /* scale, bias, mean, variance */

typedef struct RepNorm {
    VfFuse *fuse;
    int32_t norm, scaled, added;  /* the steps of batch_norm, mul and add */
    int32_t copy_norm, copy_x;    /* copies of their operands, or FUSE_NO_STEP */
    int64_t n;
    double alpha;
} RepNorm;

static const VfLowStep *step_of(const RepNorm *x, int32_t at)
{
    return &x->fuse->cx->step[at];
}

/* Whether the step is `op` of all elements in order with a second operand `stride` apart, either
 * way round: *slot is the first one. */
static bool is_binary(const RepNorm *x, const VfLowStep *step, const char *op, int64_t stride,
                      int32_t *slot)
{
    const VfkBinaryParams *p = step->params;
    if (strcmp(step->kernel->params, "VfkBinaryParams") != 0 || !vf_fuse_is(step, op) ||
        vf_fuse_dtype(step) != VF_F32 || p->rank != 1 || p->dim[0] != x->n)
        return false;
    *slot = p->stride_a[0] == 1 ? 0 : 1;
    int64_t other = *slot == 0 ? p->stride_b[0] : p->stride_a[0];
    return (*slot == 0 || p->stride_b[0] == 1) && other == stride;
}

/* The copy whose only reader reads `ref`, and what it copies; else FUSE_NO_STEP and `ref`. */
static int32_t find_copy(const RepNorm *x, VfLowRef *ref)
{
    int32_t at = vf_fuse_source(x->fuse, *ref);
    if (at == FUSE_NO_STEP || strcmp(step_of(x, at)->kernel->name, "copy_b4") != 0 ||
        vf_fuse_reader(x->fuse, ref->buffer) == FUSE_NO_STEP)
        return FUSE_NO_STEP;
    *ref = step_of(x, at)->in[0];
    return at;
}

/* Copies alike of all elements, or none. */
static bool is_alike(const RepNorm *x)
{
    if (x->copy_norm == FUSE_NO_STEP || x->copy_x == FUSE_NO_STEP)
        return x->copy_norm == x->copy_x;
    const VfkCopyParams *p = step_of(x, x->copy_norm)->params;
    int64_t n = 1;
    for (int64_t i = 0; i < p->rank; i++)
        n *= p->dim[i];
    return n == x->n && p->src_offset == 0 && p->dst_offset == 0 &&
           memcmp(p, step_of(x, x->copy_x)->params, sizeof *p) == 0;
}

/* The multiple of x that operand `slot` of the sum is. */
static bool find_scaled(RepNorm *x, int32_t slot)
{
    const VfLowStep *added = step_of(x, x->added);
    int32_t first;
    x->scaled = vf_fuse_source(x->fuse, added->in[slot]);
    if (x->scaled == FUSE_NO_STEP ||
        vf_fuse_reader(x->fuse, added->in[slot].buffer) != x->added ||
        !is_binary(x, step_of(x, x->scaled), "mul", 0, &first))
        return false;
    const VfLowStep *scaled = step_of(x, x->scaled);
    VfLowRef operand = scaled->in[first];
    x->copy_x = find_copy(x, &operand);
    return vf_fuse_is_same(operand, step_of(x, x->norm)->in[0]) &&
           vf_fuse_number(x->fuse, scaled->in[1 - first], VF_F32, &x->alpha) && isfinite(x->alpha);
}

/* The sum that reads the norm alone, perhaps through a copy. */
static bool find_sum(RepNorm *x)
{
    VfLowRef normed = step_of(x, x->norm)->out[0];
    int32_t slot;
    x->copy_norm = FUSE_NO_STEP;
    x->added = vf_fuse_reader(x->fuse, normed.buffer);
    if (x->added != FUSE_NO_STEP && strcmp(step_of(x, x->added)->kernel->name, "copy_b4") == 0) {
        x->copy_norm = x->added;
        if (!vf_fuse_is_same(step_of(x, x->copy_norm)->in[0], normed))
            return false;
        normed = step_of(x, x->copy_norm)->out[0];
        x->added = vf_fuse_reader(x->fuse, normed.buffer);
    }
    if (x->added == FUSE_NO_STEP || !is_binary(x, step_of(x, x->added), "add", 1, &slot))
        return false;
    const VfLowStep *added = step_of(x, x->added);
    slot = vf_fuse_is_same(added->in[0], normed) ? 1 : 0;
    return vf_fuse_is_same(added->in[1 - slot], normed) && find_scaled(x, slot) && is_alike(x);
}

/* Element `c` of a statistic, which need not be aligned. */
static double statistic(const VfFuse *fuse, VfLowRef ref, size_t c)
{
    float number;
    memcpy(&number, (const char *)vf_fuse_data(fuse, ref) + c * sizeof number, sizeof number);
    return (double)number;
}

/* The constants of the one norm, as a weight: a row of each statistic. */
static VfStatus add_constants(const RepNorm *x, const VfkChannelNormParams *p, VfLowRef *first,
                              VfErr *err)
{
    VfLower *cx = x->fuse->cx;
    const VfLowStep *norm = step_of(x, x->norm);
    size_t n = (size_t)p->channels;
    float *row = VF_NEW_ARRAY(cx->arena, float, N_STATISTIC * n);
    int64_t *dims = VF_NEW_ARRAY(cx->arena, int64_t, 2);
    VF_TRY_ALLOC(row, err);
    VF_TRY_ALLOC(dims, err);
    for (size_t c = 0; c < n; c++) {
        double from[N_STATISTIC];
        for (int32_t i = 0; i < N_STATISTIC; i++)
            from[i] = statistic(x->fuse, norm->in[i + 1], c);
        double factor = from[0] / sqrt(from[3] + p->eps);
        row[c] = (float)(factor + x->alpha);
        row[n + c] = (float)(from[1] - from[2] * factor);
        row[3 * n + c] = 1;
    }
    dims[0] = N_STATISTIC;
    dims[1] = p->channels;
    const VfPlanTensor *scale = &cx->weight[cx->buffer[norm->in[1].buffer].index];
    VfPlanTensor weight = {.name = scale->name, .dtype = VF_F32, .rank = 2, .dims = dims,
                           .bytes = N_STATISTIC * n * sizeof *row, .data = row, .is_made = true};
    first->offset = 0;
    return vf_low_add_weight(cx, &weight, &first->buffer, err);
}

/* The norm with its new constants into `out`, in place of some steps. */
static VfStatus put_norm(const RepNorm *x, VfLowRef out, int32_t n, const int32_t *step, VfErr *err)
{
    const VfLowStep *norm = step_of(x, x->norm);
    VfkChannelNormParams p = *(const VfkChannelNormParams *)norm->params;
    VfLowRef ref = {LOW_NO_BUFFER, 0};
    VfLowValue *in[1 + N_STATISTIC], *to;
    VF_TRY(add_constants(x, &p, &ref, err));
    VF_TRY(vf_fuse_value(x->fuse, norm->in[0], &in[0], err));
    for (int32_t i = 0; i < N_STATISTIC; i++, ref.offset += (size_t)p.channels * sizeof(float))
        VF_TRY(vf_fuse_value(x->fuse, ref, &in[i + 1], err));
    VF_TRY(vf_fuse_value(x->fuse, out, &to, err));
    p.eps = 0;
    VfLowEmit emit = {.op = "batch_norm", .dtype = VF_F32, .params = &p, .n_in = 1 + N_STATISTIC,
                      .n_out = 1, .in = in, .out = &to, .units = norm->units,
                      .unit_cost = 5 + 0.5 * (double)p.inner, .flops = norm->flops,
                      .may_overwrite = true};
    return vf_fuse_replace(x->fuse, n, step, &emit, err);
}

/* The copy of the norm into the result, in place of all but the norm. */
static VfStatus put_copy(const RepNorm *x, VfErr *err)
{
    const VfLowStep *copy = step_of(x, x->copy_norm);
    int32_t step[4] = {x->copy_x, x->scaled, x->copy_norm, x->added};
    for (int32_t i = 2; i > 0 && step[i - 1] > step[i]; i--) {
        step[i] = step[i - 1];
        step[i - 1] = x->copy_norm;
    }
    VfLowValue *in, *out;
    VF_TRY(vf_fuse_value(x->fuse, copy->in[0], &in, err));
    VF_TRY(vf_fuse_value(x->fuse, step_of(x, x->added)->out[0], &out, err));
    VfLowEmit emit = {.op = "copy_b4", .params = copy->params, .n_in = 1, .n_out = 1, .in = &in,
                      .out = &out, .units = copy->units,
                      .unit_cost = 3 + 0.4 * (double)x->n / (double)copy->units};
    return vf_fuse_replace(x->fuse, 4, step, &emit, err);
}

VfStatus vf_fuse_rep_norm(VfFuse *fuse, int32_t at, VfErr *err)
{
    const VfLowStep *step = &fuse->cx->step[at];
    const VfkChannelNormParams *p = step->params;
    RepNorm x = {.fuse = fuse, .norm = at};
    if (strcmp(step->kernel->name, "batch_norm_f32") != 0)
        return VF_OK;
    x.n = p->batch * p->channels * p->inner;
    for (int32_t i = 1; i <= N_STATISTIC; i++)
        if (vf_fuse_data(fuse, step->in[i]) == NULL)
            return VF_OK;
    if (!find_sum(&x) || !vf_fuse_is_stable(fuse, step->in[0].buffer, at, x.added))
        return VF_OK;
    if (x.copy_norm == FUSE_NO_STEP) {
        int32_t merged[3] = {at < x.scaled ? at : x.scaled, at < x.scaled ? x.scaled : at, x.added};
        return put_norm(&x, fuse->cx->step[x.added].out[0], 3, merged, err);
    }
    VF_TRY(put_copy(&x, err));
    return put_norm(&x, fuse->cx->step[at].out[0], 1, &at, err);
}
