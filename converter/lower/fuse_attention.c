/* Before          q * c, k * c                           c a power of two
 *                 s = matmul(q, k^T)
 *                 s = s * c, s / c, a s + b, s + bias    any of these, any number, two biases
 *                 p = softmax(s) by rows, relu(s) or sigmoid(s)
 *                 p = p * c, p / c
 *                 out = matmul(p, v)
 * After           out = attention(q, k, v, bias, bias2)
 * Why valid       The kernel computes the same sums. Scores s and weights p are read here alone.
 * Requires        f32; s and p contiguous; constants scalar; scalings before biases; each bias
 *                 broadcast along whole axes; heads of at most VFK_ATTEND_DEPTH columns.
 * Exactness       Rounding: constant factors are multiplied together; a softmax divides the
 *                 weighted sum, not each weight; sums run in blocks of keys.
 *                 A power of two goes from q or k to the scores without a change of bits.
 * Limits          Masks by Where, dropout, softmax over another axis and products of more than
 *                 two biases stay as they are; so does an MLP, a function of each
 *                 score between two constant matrices.
 */
#include "converter/lower/fuse.h"

#include <stdlib.h>

#include "converter/lower/fuse_linear.h"
#include "converter/lower/fuse_scaled.h"

#include "runtime/kernels/attention.h"
#include "runtime/kernels/binary.h"
#include "runtime/kernels/map.h"
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/softmax.h"

enum { Q, K, V, BIAS, BIAS2, OUT, N_OPERAND };
enum { MAX_CHAIN = 12, MAX_AXES = VFK_MAX_RANK + 2, MAX_CUTS = 2 * N_OPERAND * MAX_AXES + 3 };

/* What a core does in a nanosecond, for the grain. */
static const double FLOPS_PER_NS = 100.0;

/* Scores lie in one row of numbers: batches, queries, keys. An operand steps through it by axes:
 * `low` scores apart, `size` of them, `stride` elements of the operand from one to the next. */
typedef struct Axis {
    int64_t low, size, stride;
} Axis;

typedef struct Operand {
    VfLowRef ref;
    int32_t step; /* that reads it */
    int32_t n_axis;
    Axis axis[MAX_AXES];
} Operand;

/* An axis of all operands. */
typedef struct Common {
    int64_t low, size, stride[N_OPERAND];
} Common;

typedef struct Match {
    VfFuse *fuse;
    int32_t n_step, step[MAX_CHAIN + 2]; /* ascending; two may come before the chain */
    Operand operand[N_OPERAND];
    int32_t n_bias;
    int64_t count; /* scores */
    VfkAttentionParams p;
} Match;

static const VfLowStep *step_of(const Match *m, int32_t at)
{
    return &m->fuse->cx->step[at];
}

/* Operand `slot`, at `ref`, of the last step found. */
static Operand *set_operand(Match *m, int32_t slot, VfLowRef ref)
{
    m->operand[slot].ref = ref;
    m->operand[slot].step = m->step[m->n_step - 1];
    return &m->operand[slot];
}

static void insert_step(Match *m, int32_t step)
{
    int32_t at = m->n_step++;
    for (; at > 0 && m->step[at - 1] > step; at--)
        m->step[at] = m->step[at - 1];
    m->step[at] = step;
}

static void add_axis(Operand *x, int64_t low, int64_t size, int64_t stride)
{
    if (size != 1)
        x->axis[x->n_axis++] = (Axis){low, size, stride};
}

/* --- products --- */

/* The batches of a product, each of `size` scores that lie at `stride`; false if scores do not lie
 * as they count. */
static bool count_batches(const VfkMatmulParams *p, int64_t size, const int64_t *stride,
                          int64_t low[VFK_MAX_RANK])
{
    for (int64_t i = p->batch_rank; i-- > 0; size *= p->batch_dim[i]) {
        low[i] = size;
        if (p->batch_dim[i] != 1 && stride[i] != size)
            return false;
    }
    return true;
}

static void add_batches(Operand *x, const VfkMatmulParams *p, const int64_t *low,
                        const int64_t *stride)
{
    for (int64_t i = 0; i < p->batch_rank; i++)
        add_axis(x, low[i], p->batch_dim[i], stride[i]);
}

/* Scores from queries and keys. */
static bool take_scores(Match *m, const VfLowStep *step)
{
    const VfkMatmulParams *p = step->params;
    int64_t low[VFK_MAX_RANK];
    if (p->k < 1 || p->k > VFK_ATTEND_DEPTH || (p->m > 1 && p->ldc != p->n) ||
        !count_batches(p, p->m * p->n, p->c_batch, low))
        return false;
    m->count = p->m * p->n * (int64_t)vfk_matmul_batches(p->batch_rank, p->batch_dim);
    m->p = (VfkAttentionParams){.n = p->n, .d = p->k, .scale = p->alpha, .factor = 1,
                                .q_col = p->trans_a ? p->lda : 1,
                                .k_col = p->trans_b ? 1 : p->ldb};
    Operand *q = set_operand(m, Q, step->in[0]), *k = set_operand(m, K, step->in[1]);
    add_axis(k, 1, p->n, p->trans_b ? p->ldb : 1);
    add_axis(q, p->n, p->m, p->trans_a ? 1 : p->lda);
    add_batches(q, p, low, p->a_batch);
    add_batches(k, p, low, p->b_batch);
    if (step->in[2].buffer == LOW_NO_BUFFER)
        return true;
    Operand *bias = set_operand(m, BIAS, step->in[2]);
    add_axis(bias, 1, p->n, p->bias_col);
    add_axis(bias, p->n, p->m, p->bias_row);
    add_batches(bias, p, low, p->bias_batch);
    m->n_bias = 1;
    return p->beta == 1;
}

/* The product of weights and values. */
static bool take_values(Match *m, const VfLowStep *step)
{
    const VfkMatmulParams *p = step->params;
    int64_t low[VFK_MAX_RANK];
    if (p->k != m->p.n || p->trans_a || (p->m > 1 && p->lda != p->k) ||
        step->in[1].buffer == step->in[0].buffer || step->in[2].buffer != LOW_NO_BUFFER ||
        !count_batches(p, p->m * p->k, p->a_batch, low) ||
        p->m * p->k * (int64_t)vfk_matmul_batches(p->batch_rank, p->batch_dim) != m->count)
        return false;
    Operand *v = set_operand(m, V, step->in[1]), *out = set_operand(m, OUT, step->out[0]);
    add_axis(v, 1, p->k, p->trans_b ? 1 : p->ldb);
    add_axis(out, p->k, p->m, p->ldc);
    add_batches(v, p, low, p->b_batch);
    add_batches(out, p, low, p->c_batch);
    m->p.v_col = p->trans_b ? p->ldb : 1;
    m->p.dv = p->n;
    m->p.factor *= p->alpha;
    return true;
}

/* --- between them --- */

/* Whether operand `slot` of a step over `m->count` elements is all of `ref` as it lies. */
static bool is_whole(const Match *m, const VfkBinaryParams *p, const int64_t *stride)
{
    int64_t size = 1;
    for (int64_t i = p->rank; i-- > 0; size *= p->dim[i])
        if (p->dim[i] != 1 && stride[i] != size)
            return false;
    return size == m->count;
}

static bool take_bias(Match *m, const VfkBinaryParams *p, VfLowRef ref, const int64_t *stride)
{
    if (m->n_bias == 2)
        return false;
    Operand *bias = set_operand(m, BIAS + m->n_bias++, ref);
    int64_t low = 1;
    for (int64_t i = p->rank; i-- > 0; low *= p->dim[i])
        add_axis(bias, low, p->dim[i], stride[i]);
    return true;
}

/* A factor: of scores, or of weights. */
static bool take_factor(Match *m, double factor, bool is_weight)
{
    if (is_weight) {
        m->p.factor *= factor;
        return true;
    }
    m->p.scale *= factor;
    m->p.shift *= factor;
    return m->n_bias == 0 || factor == 1;
}

static bool take_binary(Match *m, const VfLowStep *step, VfLowRef score, bool is_weight)
{
    const VfkBinaryParams *p = step->params;
    int32_t mine = vf_fuse_is_same(step->in[0], score) ? 0 : 1, other = 1 - mine;
    const int64_t *stride[2] = {p->stride_a, p->stride_b};
    double number = 0;
    if (!vf_fuse_is_same(step->in[mine], score) || step->in[other].buffer == score.buffer ||
        !is_whole(m, p, stride[mine]))
        return false;
    if (vf_fuse_is(step, "add"))
        return !is_weight && take_bias(m, p, step->in[other], stride[other]);
    if (!vf_fuse_is_scalar(p, stride[other]) ||
        !vf_fuse_number(m->fuse, step->in[other], VF_F32, &number))
        return false;
    if (vf_fuse_is(step, "mul"))
        return take_factor(m, number, is_weight);
    return vf_fuse_is(step, "div") && mine == 0 && take_factor(m, 1 / number, is_weight);
}

static bool take_affine(Match *m, const VfLowStep *step, bool is_weight)
{
    const VfkMapParams *p = step->params;
    if (p->n != m->count || (is_weight && p->beta != 0) || !take_factor(m, p->alpha, is_weight))
        return false;
    m->p.shift += is_weight ? 0 : p->beta;
    return true;
}

/* The function of scores; false if the step is none. */
static bool take_function(Match *m, const VfLowStep *step)
{
    static const struct {
        const char *op;
        VfkAttend function;
    } table[] = {{"relu", VFK_ATTEND_RELU}, {"sigmoid", VFK_ATTEND_SIGMOID}};
    if (vf_fuse_is(step, "softmax")) {
        const VfkSoftmaxParams *p = step->params;
        m->p.function = VFK_ATTEND_SOFTMAX;
        return p->inner == 1 && p->n == m->p.n && p->outer * p->n == m->count;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (vf_fuse_is(step, table[i].op)) {
            m->p.function = table[i].function;
            return ((const VfkMapParams *)step->params)->n == m->count;
        }
    return false;
}

/* Follow the scores from reader to reader up to the product with the values. */
static bool follow(Match *m, int32_t at)
{
    bool has_function = false;
    while (m->n_step < MAX_CHAIN) {
        VfLowRef score = step_of(m, at)->out[0];
        at = vf_fuse_reader(m->fuse, score.buffer);
        if (at == FUSE_NO_STEP || vf_fuse_dtype(step_of(m, at)) != VF_F32)
            return false;
        const VfLowStep *step = step_of(m, at);
        m->step[m->n_step++] = at;
        if (vf_fuse_is(step, "matmul"))
            return has_function && vf_fuse_is_same(step->in[0], score) && take_values(m, step);
        if (step->n_out != 1)
            return false;
        bool is_binary = vf_fuse_is(step, "add") || vf_fuse_is(step, "mul") ||
                         vf_fuse_is(step, "div");
        if (is_binary ? !take_binary(m, step, score, has_function)
                      : !vf_fuse_is_same(step->in[0], score))
            return false;
        if (is_binary)
            continue;
        if (vf_fuse_is(step, "affine")) {
            if (!take_affine(m, step, has_function))
                return false;
            continue;
        }
        if (has_function || !take_function(m, step))
            return false;
        has_function = true;
    }
    return false;
}

/* --- before them --- */

static bool is_other_operand(const Match *m, int32_t slot)
{
    for (int32_t i = 0; i < N_OPERAND; i++)
        if (i != slot && m->operand[i].ref.buffer == m->operand[slot].ref.buffer)
            return true;
    return false;
}

/* Queries or keys that are times a power of two: the scores are, then. */
static void take_scaled(Match *m, int32_t slot, int64_t *column)
{
    Operand x = m->operand[slot];
    VfFuseScaled scaled;
    int64_t step;
    if (is_other_operand(m, slot) || !vf_fuse_find_scaled(m->fuse, x.ref, x.step, &scaled) ||
        !vf_fuse_carry(&scaled.map, *column, m->p.d, &step))
        return;
    for (int32_t i = 0; i < x.n_axis; i++)
        if (x.axis[i].stride != 0 &&
            !vf_fuse_carry(&scaled.map, x.axis[i].stride, x.axis[i].size, &x.axis[i].stride))
            return;
    x.ref = scaled.ref;
    x.step = scaled.step;
    m->operand[slot] = x;
    *column = step;
    m->p.scale *= scaled.number;
    insert_step(m, scaled.step);
}

/* --- common axes --- */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Where an axis of any operand begins or ends; each divides the next, or the answer is 0. */
static int32_t find_cuts(const Match *m, int64_t cut[MAX_CUTS])
{
    int32_t n = 0, kept = 1;
    cut[n++] = 1;
    cut[n++] = m->p.n;
    cut[n++] = m->count;
    for (int32_t i = 0; i < N_OPERAND; i++)
        for (int32_t k = 0; k < m->operand[i].n_axis; k++) {
            cut[n++] = m->operand[i].axis[k].low;
            cut[n++] = m->operand[i].axis[k].low * m->operand[i].axis[k].size;
        }
    qsort(cut, (size_t)n, sizeof *cut, by_size);
    for (int32_t i = 1; i < n; i++) {
        if (cut[i] % cut[kept - 1] != 0)
            return 0;
        if (cut[i] != cut[kept - 1])
            cut[kept++] = cut[i];
    }
    return kept;
}

/* Elements of the operand from one score to the one `low` behind. */
static int64_t stride_at(const Operand *x, int64_t low)
{
    for (int32_t i = 0; i < x->n_axis; i++) {
        const Axis *axis = &x->axis[i];
        if (low >= axis->low && low < axis->low * axis->size)
            return axis->stride * (low / axis->low);
    }
    return 0;
}

static bool can_join(const Common *inner, const Common *outer)
{
    for (int32_t i = 0; i < N_OPERAND; i++)
        if (outer->stride[i] != inner->stride[i] * inner->size)
            return false;
    return true;
}

/* Axes from the innermost on, as few as there can be; none crosses from keys to queries. */
static int32_t common_axes(const Match *m, Common axis[MAX_CUTS])
{
    int64_t cut[MAX_CUTS];
    int32_t n_cut = find_cuts(m, cut), n = 0;
    for (int32_t i = 0; i + 1 < n_cut; i++) {
        Common one = {.low = cut[i], .size = cut[i + 1] / cut[i]};
        for (int32_t k = 0; k < N_OPERAND; k++)
            one.stride[k] = stride_at(&m->operand[k], cut[i]);
        if (n > 0 && cut[i] != m->p.n && can_join(&axis[n - 1], &one))
            axis[n - 1].size *= one.size;
        else
            axis[n++] = one;
    }
    return n;
}

/* --- the step --- */

static void set_keys(VfkAttentionParams *p, const Common *axis)
{
    p->k_row = axis->stride[K];
    p->v_row = axis->stride[V];
    p->bias_col = axis->stride[BIAS];
    p->bias2_col = axis->stride[BIAS2];
}

static void set_queries(VfkAttentionParams *p, const Common *axis)
{
    p->m = axis->size;
    p->q_row = axis->stride[Q];
    p->out_row = axis->stride[OUT];
    p->bias_row = axis->stride[BIAS];
    p->bias2_row = axis->stride[BIAS2];
}

static void set_batch(VfkAttentionParams *p, int64_t at, const Common *axis)
{
    p->batch_dim[at] = axis->size;
    p->q_batch[at] = axis->stride[Q];
    p->k_batch[at] = axis->stride[K];
    p->v_batch[at] = axis->stride[V];
    p->bias_batch[at] = axis->stride[BIAS];
    p->bias2_batch[at] = axis->stride[BIAS2];
    p->out_batch[at] = axis->stride[OUT];
}

/* Strides of the kernel from those of the operands. */
static bool set_strides(Match *m)
{
    Common axis[MAX_CUTS];
    VfkAttentionParams *p = &m->p;
    int32_t n = common_axes(m, axis), at = 0;
    if (p->n > 1) {
        if (n == 0 || axis[0].size != p->n)
            return false;
        set_keys(p, &axis[at++]);
    }
    p->m = 1;
    if (at < n && axis[at].stride[K] == 0 && axis[at].stride[V] == 0)
        set_queries(p, &axis[at++]);
    p->batch_rank = n - at;
    if (p->batch_rank > VFK_MAX_RANK)
        return false;
    for (int64_t i = 0; i < p->batch_rank; i++)
        set_batch(p, p->batch_rank - 1 - i, &axis[at + i]);
    p->block_rows = vfk_attention_block_rows(p);
    return true;
}

/* Operands must hold at the last step what they held when they were read. */
static bool is_stable(const Match *m)
{
    for (int32_t i = 0; i < OUT; i++)
        if (m->operand[i].ref.buffer != LOW_NO_BUFFER &&
            !vf_fuse_is_stable(m->fuse, m->operand[i].ref.buffer, m->operand[i].step,
                               m->step[m->n_step - 1]))
            return false;
    return true;
}

/* Elements of an operand, each counted once. */
static int64_t count_of(const Match *m, int32_t slot)
{
    const int64_t column[N_OPERAND] = {m->p.d, m->p.d, m->p.dv, 1, 1, m->p.dv};
    const Operand *x = &m->operand[slot];
    int64_t count = column[slot];
    for (int32_t i = 0; i < x->n_axis; i++)
        count *= x->axis[i].stride != 0 ? x->axis[i].size : 1;
    return count;
}

static VfStatus emit_attention(Match *m, VfErr *err)
{
    const VfkAttentionParams *p = &m->p;
    VfLowValue *value[N_OPERAND];
    for (int32_t i = 0; i < N_OPERAND; i++)
        VF_TRY(vf_fuse_row(m->fuse, m->operand[i].ref, count_of(m, i), &value[i], err));
    double rows = (double)(p->block_rows < p->m ? p->block_rows : p->m);
    double scores = rows * (double)p->n, flops = 0;
    for (int32_t i = 0; i < m->n_step; i++)
        flops += step_of(m, m->step[i])->flops;
    VfLowEmit emit = {.op = "attention", .dtype = VF_F32, .params = p, .n_in = OUT, .n_out = 1,
                      .in = value, .out = &value[OUT], .units = vfk_attention_units(p),
                      .unit_cost = 2 * scores * (double)(p->d + p->dv) / FLOPS_PER_NS,
                      .flops = flops, .scratch_bytes = vfk_attention_scratch_bytes(p)};
    return vf_fuse_replace(m->fuse, m->n_step, m->step, &emit, err);
}

/* Two products with constant matrices, each of which is packed once and takes what follows with it
 * (fuse_linear.c): faster, unless the scores are normalised in between. */
static bool is_mlp(const Match *m)
{
    return m->p.function != VFK_ATTEND_SOFTMAX &&
           vf_fuse_is_linear(m->fuse, step_of(m, m->step[0])) &&
           vf_fuse_is_linear(m->fuse, step_of(m, m->step[m->n_step - 1]));
}

VfStatus vf_fuse_attention(VfFuse *fuse, int32_t step, VfErr *err)
{
    const VfLowStep *first = &fuse->cx->step[step];
    if (!vf_fuse_is(first, "matmul") || vf_fuse_dtype(first) != VF_F32)
        return VF_OK;
    Match m = {.fuse = fuse, .n_step = 1, .step = {step}};
    for (int32_t i = 0; i < N_OPERAND; i++)
        m.operand[i].ref.buffer = LOW_NO_BUFFER;
    if (!take_scores(&m, first) || !follow(&m, step) || is_mlp(&m))
        return VF_OK;
    take_scaled(&m, Q, &m.p.q_col);
    take_scaled(&m, K, &m.p.k_col);
    if (!set_strides(&m) || !is_stable(&m))
        return VF_OK;
    return emit_attention(&m, err);
}
