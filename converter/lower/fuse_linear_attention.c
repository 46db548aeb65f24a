/* Before          kv = matmul(k^T, v), ks = reduce_sum(k) over keys
 *                 o = matmul(q, kv), z = matmul(q, ks) [+ c]
 *                 out = o / z, or o * reciprocal(z) [* c]
 *                 where q and k are often results of relu, and these of copies in another order
 * After           out = linear_attention(q, k, v)
 * Why valid       The kernel computes the same sums; kv, ks, o and z are read here alone.
 * Requires        f32; the same batches in all products; o and z contiguous; c constant and scalar;
 *                 at most VFK_LINEAR_DEPTH columns of q and k. A relu goes in if nobody else reads
 *                 its result, and then a copy before it, if its axes do not cross those of the
 *                 products.
 * Exactness       Rounding: sums run in another order; a reciprocal and a product become a
 *                 quotient.
 * Limits          Other features of q and k than relu stay steps of their own before it.
 */
#include "converter/lower/fuse.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/kernels/binary.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/linear_attention.h"
#include "runtime/kernels/map.h"
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/reduce.h"

enum { MAX_STEPS = 16 };

/* What a core does in a nanosecond, for the grain. */
static const double FLOPS_PER_NS = 100.0;

typedef struct Match {
    VfFuse *fuse;
    int32_t n_step, step[MAX_STEPS];
    VfLowRef q, k, v, out;
    int32_t scores, keys, sums; /* the steps of o, kv and ks */
    int32_t divisor;            /* that of z */
    int32_t q_read, k_read;     /* the first step that reads q, and k */
    VfkLinearAttentionParams p;
} Match;

static const VfLowStep *step_of(const Match *m, int32_t at)
{
    return &m->fuse->cx->step[at];
}

static void take(Match *m, int32_t at)
{
    m->step[m->n_step++] = at;
}

/* The step `op` that wrote what lies at `ref` for step `reader` alone; or FUSE_NO_STEP. */
static int32_t source_of(const Match *m, VfLowRef ref, const char *op, int32_t reader)
{
    int32_t at = vf_fuse_source(m->fuse, ref);
    if (at == FUSE_NO_STEP || !vf_fuse_is(step_of(m, at), op) ||
        vf_fuse_dtype(step_of(m, at)) != VF_F32 ||
        vf_fuse_reader(m->fuse, ref.buffer) != reader)
        return FUSE_NO_STEP;
    return at;
}

/* --- products --- */

/* Whether `stride` of the batches is that of matrices of `size` elements, one behind the other. */
static bool is_dense(const VfkMatmulParams *p, const int64_t *stride, int64_t size)
{
    for (int64_t i = p->batch_rank; i-- > 0; size *= p->batch_dim[i])
        if (p->batch_dim[i] != 1 && stride[i] != size)
            return false;
    return true;
}

static bool has_same_batches(const VfkMatmulParams *a, const VfkMatmulParams *b)
{
    if (a->batch_rank != b->batch_rank)
        return false;
    for (int64_t i = 0; i < a->batch_rank; i++)
        if (a->batch_dim[i] != b->batch_dim[i])
            return false;
    return true;
}

static bool has_same_rows(const VfkMatmulParams *a, const VfkMatmulParams *b)
{
    if (!has_same_batches(a, b) || a->m != b->m || a->k != b->k || a->lda != b->lda ||
        a->trans_a != b->trans_a)
        return false;
    for (int64_t i = 0; i < a->batch_rank; i++)
        if (a->batch_dim[i] != 1 && a->a_batch[i] != b->a_batch[i])
            return false;
    return true;
}

/* A product as it is, with a result that is contiguous. */
static bool is_plain(const VfkMatmulParams *p)
{
    return p->alpha == 1 && (p->m == 1 || p->ldc == p->n) && is_dense(p, p->c_batch, p->m * p->n);
}

/* o, its operand q, and kv, with k and v. */
static bool take_products(Match *m, VfLowRef ref, int32_t reader)
{
    m->scores = source_of(m, ref, "matmul", reader);
    if (m->scores == FUSE_NO_STEP)
        return false;
    const VfLowStep *scores = step_of(m, m->scores);
    const VfkMatmulParams *o = scores->params;
    m->keys = source_of(m, scores->in[1], "matmul", m->scores);
    if (m->keys == FUSE_NO_STEP)
        return false;
    const VfLowStep *keys = step_of(m, m->keys);
    const VfkMatmulParams *kv = keys->params;
    m->q = scores->in[0];
    m->k = keys->in[0];
    m->v = keys->in[1];
    take(m, m->keys);
    take(m, m->scores);
    return scores->in[2].buffer == LOW_NO_BUFFER && keys->in[2].buffer == LOW_NO_BUFFER &&
           is_plain(o) && is_plain(kv) && has_same_batches(o, kv) && kv->k >= 1 &&
           kv->m == o->k && kv->n == o->n && kv->m >= 1 && kv->m <= VFK_LINEAR_DEPTH &&
           !o->trans_b && (o->k == 1 || o->ldb == o->n) && is_dense(o, o->b_batch, o->k * o->n);
}

/* --- the divisor --- */

/* Where element `index` of the sums comes from. */
static int64_t first_of_sum(const VfkReduceParams *r, int64_t index)
{
    int64_t at = 0;
    for (int64_t i = r->keep_rank; i-- > 0; index /= r->keep_dim[i])
        at += index % r->keep_dim[i] * r->keep_stride[i];
    return at;
}

/* Where column `index`, counted through the batches, of the keys of a product lies. */
static int64_t column_of_keys(const VfkMatmulParams *kv, int64_t index)
{
    int64_t at = index % kv->m * (kv->trans_a ? 1 : kv->lda);
    index /= kv->m;
    for (int64_t i = kv->batch_rank; i-- > 0; index /= kv->batch_dim[i])
        at += index % kv->batch_dim[i] * kv->a_batch[i];
    return at;
}

static bool sums_keys(const VfkReduceParams *r, const VfkMatmulParams *kv)
{
    int64_t count = kv->m * (int64_t)vfk_matmul_batches(kv->batch_rank, kv->batch_dim), kept = 1;
    for (int64_t i = 0; i < r->keep_rank; i++)
        kept *= r->keep_dim[i];
    if (kept != count || r->red_rank != 1 || r->red_dim[0] != kv->k ||
        r->red_stride[0] != (kv->trans_a ? kv->lda : 1))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (first_of_sum(r, i) != column_of_keys(kv, i))
            return false;
    return true;
}

/* z = matmul(q, ks), and ks. */
static bool take_sums(Match *m, VfLowRef ref, int32_t reader)
{
    const VfkMatmulParams *o = step_of(m, m->scores)->params, *kv = step_of(m, m->keys)->params;
    m->divisor = source_of(m, ref, "matmul", reader);
    if (m->divisor == FUSE_NO_STEP)
        return false;
    const VfLowStep *step = step_of(m, m->divisor);
    const VfkMatmulParams *z = step->params;
    double shift = 0;
    take(m, m->divisor);
    if (step->in[2].buffer != LOW_NO_BUFFER &&
        (z->beta != 1 || z->bias_row != 0 ||
         m->fuse->cx->buffer[step->in[2].buffer].bytes != sizeof(float) ||
         !vf_fuse_number(m->fuse, step->in[2], VF_F32, &shift)))
        return false;
    m->p.shift += shift;
    m->sums = source_of(m, step->in[1], "reduce_sum", m->divisor);
    if (m->sums == FUSE_NO_STEP || z->n != 1 || !is_plain(z) || !has_same_rows(z, o) ||
        !vf_fuse_is_same(step->in[0], m->q) || !(z->trans_b || z->k == 1 || z->ldb == 1) ||
        !is_dense(z, z->b_batch, z->k))
        return false;
    take(m, m->sums);
    return vf_fuse_is_same(step_of(m, m->sums)->in[0], m->k) &&
           sums_keys(step_of(m, m->sums)->params, kv);
}

static bool is_row(const VfkBinaryParams *p, const int64_t *stride, int64_t step)
{
    return p->rank == 0 || (p->rank == 1 && stride[0] == step);
}

/* If what lies at `ref` is a row and a constant, by `op`: the constant, and the row as `ref`. */
static bool take_constant(Match *m, const char *op, VfLowRef *ref, int32_t *reader, double *number)
{
    const int32_t at = source_of(m, *ref, op, *reader);
    if (at == FUSE_NO_STEP)
        return false;
    const VfLowStep *step = step_of(m, at);
    const VfkBinaryParams *p = step->params;
    const int64_t *stride[2] = {p->stride_a, p->stride_b};
    const int32_t slot = is_row(p, stride[0], 1) && is_row(p, stride[1], 0) ? 1 : 0;
    if (!is_row(p, stride[1 - slot], 1) || !is_row(p, stride[slot], 0) ||
        !vf_fuse_number(m->fuse, step->in[slot], VF_F32, number))
        return false;
    take(m, at);
    *ref = step->in[1 - slot];
    *reader = at;
    return true;
}

/* The same of a map that adds. */
static bool take_added(Match *m, VfLowRef *ref, int32_t *reader, double *number)
{
    const int32_t at = source_of(m, *ref, "affine", *reader);
    if (at == FUSE_NO_STEP || ((const VfkMapParams *)step_of(m, at)->params)->alpha != 1)
        return false;
    *number = ((const VfkMapParams *)step_of(m, at)->params)->beta;
    take(m, at);
    *ref = step_of(m, at)->in[0];
    *reader = at;
    return true;
}

/* o * 1/z [* c]: `ref` becomes that of z. */
static bool take_reciprocal(Match *m, VfLowRef *ref, int32_t *reader)
{
    double number = 1;
    if (take_constant(m, "mul", ref, reader, &number))
        m->p.factor *= number;
    const int32_t at = source_of(m, *ref, "reciprocal", *reader);
    if (at == FUSE_NO_STEP)
        return false;
    take(m, at);
    *ref = step_of(m, at)->in[0];
    *reader = at;
    return true;
}

/* The step `at` is o / z or o * 1/z; `slot` is that of o. */
static bool take_quotient(Match *m, int32_t at, int32_t slot)
{
    const VfLowStep *step = step_of(m, at);
    const VfkBinaryParams *p = step->params;
    const int64_t *whole = slot == 0 ? p->stride_a : p->stride_b;
    const int64_t *each = slot == 0 ? p->stride_b : p->stride_a;
    int32_t reader = at;
    VfLowRef z = step->in[1 - slot];
    if (p->rank != 2 || whole[1] != 1 || whole[0] != p->dim[1] || each[0] != 1 || each[1] != 0 ||
        !take_products(m, step->in[slot], at))
        return false;
    const VfkMatmulParams *o = step_of(m, m->scores)->params;
    if (o->n != p->dim[1] || (double)p->dim[0] != (double)o->m * vfk_matmul_batches(
                                                                     o->batch_rank, o->batch_dim))
        return false;
    double shift = 0;
    if (vf_fuse_is(step, "mul") && !take_reciprocal(m, &z, &reader))
        return false;
    if (take_constant(m, "add", &z, &reader, &shift) || take_added(m, &z, &reader, &shift))
        m->p.shift = shift;
    return take_sums(m, z, reader);
}

/* --- strides --- */

static void set_params(Match *m)
{
    const VfkMatmulParams *o = step_of(m, m->scores)->params, *kv = step_of(m, m->keys)->params;
    VfkLinearAttentionParams *p = &m->p;
    int64_t size = o->m * o->n;
    p->m = o->m;
    p->n = kv->k;
    p->d = o->k;
    p->dv = p->out_row = o->n;
    p->q_row = o->trans_a ? 1 : o->lda;
    p->q_col = o->trans_a ? o->lda : 1;
    p->k_row = kv->trans_a ? kv->lda : 1;
    p->k_col = kv->trans_a ? 1 : kv->lda;
    p->v_row = kv->trans_b ? 1 : kv->ldb;
    p->v_col = kv->trans_b ? kv->ldb : 1;
    p->batch_rank = o->batch_rank;
    for (int64_t i = o->batch_rank; i-- > 0; size *= o->batch_dim[i]) {
        p->batch_dim[i] = o->batch_dim[i];
        p->q_batch[i] = o->a_batch[i];
        p->k_batch[i] = kv->a_batch[i];
        p->v_batch[i] = kv->b_batch[i];
        p->out_batch[i] = size;
    }
}

/* The strides of an operand: rows, columns, batches. */
typedef struct Strides {
    int64_t n, size[VFK_MAX_RANK + 2], *stride[VFK_MAX_RANK + 2];
} Strides;

static Strides strides_of(VfkLinearAttentionParams *p, bool is_query)
{
    Strides x = {.size = {is_query ? p->m : p->n, p->d},
                 .stride = {is_query ? &p->q_row : &p->k_row, is_query ? &p->q_col : &p->k_col}};
    for (x.n = 2; x.n < p->batch_rank + 2; x.n++) {
        x.size[x.n] = p->batch_dim[x.n - 2];
        x.stride[x.n] = is_query ? &p->q_batch[x.n - 2] : &p->k_batch[x.n - 2];
    }
    return x;
}

/* The axis of the copy's result that steps of `stride` run along; -1: none. */
static int64_t axis_of(const VfkCopyParams *copy, int64_t stride, int64_t size)
{
    for (int64_t i = 0; i < copy->rank; i++) {
        const int64_t step = copy->dst_stride[i];
        if (step > 0 && stride >= step && stride % step == 0 &&
            stride / step * (size - 1) < copy->dim[i])
            return i;
    }
    return -1;
}

/* Read the source of the copy in place of its result, if every axis lies within one of the copy. */
static bool read_source(const VfkCopyParams *copy, Strides *x)
{
    int64_t last[VFK_MAX_RANK] = {0}, stride[VFK_MAX_RANK + 2];
    if (copy->dst_offset != 0)
        return false;
    for (int64_t k = 0; k < x->n; k++) {
        stride[k] = *x->stride[k];
        if (x->size[k] == 1 || stride[k] == 0)
            continue;
        const int64_t i = axis_of(copy, stride[k], x->size[k]);
        if (i < 0)
            return false;
        stride[k] /= copy->dst_stride[i];
        last[i] += stride[k] * (x->size[k] - 1);
        stride[k] *= copy->src_stride[i];
    }
    for (int64_t i = 0; i < copy->rank; i++)
        if (last[i] >= copy->dim[i])
            return false;
    for (int64_t k = 0; k < x->n; k++)
        *x->stride[k] = stride[k];
    return true;
}

/* Take in a relu that only the steps `user` read, none of them as the values, and a copy that only
 * the relu reads. */
static void take_relu(Match *m, VfLowRef *ref, int32_t user, int32_t user2, bool is_query)
{
    int32_t *read = is_query ? &m->q_read : &m->k_read;
    *read = user < user2 ? user : user2;
    const int32_t relu = vf_fuse_source(m->fuse, *ref), group[3] = {relu, user, user2};
    if (relu == FUSE_NO_STEP || ref->buffer == m->v.buffer ||
        strcmp(step_of(m, relu)->kernel->name, "relu_f32") != 0 ||
        !vf_fuse_is_private(m->fuse, ref->buffer, 3, group))
        return;
    take(m, relu);
    *read = relu;
    *(is_query ? &m->p.relu_q : &m->p.relu_k) = 1;
    *ref = step_of(m, relu)->in[0];
    const int32_t copy = vf_fuse_source(m->fuse, *ref), pair[2] = {copy, relu};
    Strides x = strides_of(&m->p, is_query);
    if (copy == FUSE_NO_STEP || strcmp(step_of(m, copy)->kernel->name, "copy_b4") != 0 ||
        !vf_fuse_is_private(m->fuse, ref->buffer, 2, pair) ||
        !read_source(step_of(m, copy)->params, &x))
        return;
    const VfkCopyParams *p = step_of(m, copy)->params;
    take(m, copy);
    *read = copy;
    *ref = step_of(m, copy)->in[0];
    ref->offset += (size_t)p->src_offset * sizeof(float);
}

/* --- the step --- */

static int by_number(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

static int64_t count_of(const VfkLinearAttentionParams *p, const int64_t *stride, int64_t size)
{
    for (int64_t i = 0; i < p->batch_rank; i++)
        size *= stride[i] != 0 ? p->batch_dim[i] : 1;
    return size;
}

static VfStatus emit_attention(Match *m, VfErr *err)
{
    const VfkLinearAttentionParams *p = &m->p;
    VfLowValue *in[3], *out;
    double flops = 0;
    VF_TRY(vf_fuse_row(m->fuse, m->q, count_of(p, p->q_batch, p->m * p->d), &in[0], err));
    VF_TRY(vf_fuse_row(m->fuse, m->k, count_of(p, p->k_batch, p->n * p->d), &in[1], err));
    VF_TRY(vf_fuse_row(m->fuse, m->v, count_of(p, p->v_batch, p->n * p->dv), &in[2], err));
    VF_TRY(vf_fuse_row(m->fuse, m->out, count_of(p, p->out_batch, p->m * p->dv), &out, err));
    for (int32_t i = 0; i < m->n_step; i++)
        flops += step_of(m, m->step[i])->flops;
    double cost = 2 * (double)(p->m + p->n) * (double)p->d * VFK_LINEAR_COLUMNS / FLOPS_PER_NS;
    VfLowEmit emit = {.op = "linear_attention", .dtype = VF_F32, .params = p, .n_in = 3,
                      .n_out = 1, .in = in, .out = &out, .unit_cost = cost, .flops = flops,
                      .units = vfk_linear_attention_units(p),
                      .scratch_bytes = vfk_linear_attention_scratch_bytes(p)};
    return vf_fuse_replace(m->fuse, m->n_step, m->step, &emit, err);
}

VfStatus vf_fuse_linear_attention(VfFuse *fuse, int32_t step, VfErr *err)
{
    const VfLowStep *last = &fuse->cx->step[step];
    const bool is_product = vf_fuse_is(last, "mul");
    if (!(is_product || vf_fuse_is(last, "div")) || vf_fuse_dtype(last) != VF_F32)
        return VF_OK;
    for (int32_t slot = 0; slot < (is_product ? 2 : 1); slot++) {
        Match m = {.fuse = fuse, .out = last->out[0], .p = {.factor = 1}};
        if (!take_quotient(&m, step, slot))
            continue;
        set_params(&m);
        take_relu(&m, &m.q, m.scores, m.divisor, true);
        take_relu(&m, &m.k, m.keys, m.sums, false);
        take(&m, step);
        qsort(m.step, (size_t)m.n_step, sizeof *m.step, by_number);
        if (vf_fuse_is_stable(fuse, m.q.buffer, m.q_read, step) &&
            vf_fuse_is_stable(fuse, m.k.buffer, m.k_read, step) &&
            vf_fuse_is_stable(fuse, m.v.buffer, m.keys, step))
            return emit_attention(&m, err);
    }
    return VF_OK;
}
