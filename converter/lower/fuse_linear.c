/* Products with a constant matrix and what is done to their result become one step.
 *
 * Before    c = matmul(a, b) with one constant matrix b; then, in this order and each at most once:
 *           a factor for all, a bias along the columns, an activation, a factor for each column,
 *           another tensor added (a residual; broadcast along rows or not); with copies that
 *           rearrange rows (windows, heads, pieces of a Concat) before and between
 * After     linear_f32: b is packed once into the plan, rows are read and written by strides
 * Why valid what follows is element by element and nobody else reads the values in between; a copy
 *           moves rows as a whole
 * Requires  f32; b is a weight; values in between have one reader; operands that come later are
 *           not written in between
 * Exactness bits equal with reference kernels: sums have the order of matmul_f32, the rest is
 *           rounded as by the kernels of its own (linear.h). BLAS sums otherwise.
 * Limits    columns must be contiguous in a, c and what is added; at most VFK_MAX_RANK axes of rows
 */
#include <math.h>
#include <string.h>

#include "converter/lower/fuse_linear.h"
#include "converter/lower/fuse_pack.h"
#include "runtime/kernels/binary.h"
#include "runtime/kernels/copy.h"
#include "runtime/kernels/map.h"
#include "runtime/kernels/matmul.h"

enum {
    MAX_PIECES = 16,
    MIN_COLUMNS = 8 /* packing fills up to VFK_PANEL columns with zeros */
};

/* What a core does, and reads of weights, in a nanosecond, for the grain. */
static const double FLOPS_PER_NS = 100.0, BYTES_PER_NS = 40.0;

/* How far the formula of linear.h is filled. */
typedef enum Stage { AFTER_SUM, AFTER_ALPHA, AFTER_BIAS, AFTER_ACT, AFTER_SCALE, AFTER_ADD } Stage;

typedef struct Linear {
    VfFuse *fuse;
    VfFuseRows rows;
    VfkLinearParams p; /* without the rows */
    VfFusePack pack;
    VfLowRef a, bias, scale, add, c;
    Stage stage;
    int32_t n_step, step[MAX_PIECES];
    double flops;
} Linear;

static const VfLowRef nowhere = {LOW_NO_BUFFER, 0};

/* --- the product --- */

/* One matrix for all batches. */
static bool is_one_matrix(const VfkMatmulParams *m)
{
    for (int64_t i = 0; i < m->batch_rank; i++)
        if (m->batch_dim[i] != 1 && m->b_batch[i] != 0)
            return false;
    return m->n >= MIN_COLUMNS && m->k > 0 && m->batch_rank < VFK_MAX_RANK;
}

bool vf_fuse_is_linear(const VfFuse *fuse, const VfLowStep *step)
{
    return strcmp(step->kernel->name, "matmul_f32") == 0 &&
           vf_fuse_data(fuse, step->in[1]) != NULL && is_one_matrix(step->params) &&
           vf_low_has_kernel(fuse->cx, "linear", VF_F32);
}

/* What matmul adds to the product: a vector along the columns is the bias, a matrix what is added
 * last. */
static bool take_matmul_bias(Linear *x, const VfkMatmulParams *m, VfLowRef bias)
{
    if (bias.buffer == LOW_NO_BUFFER)
        return true;
    bool is_vector = m->bias_row == 0 || m->m == 1;
    for (int64_t i = 0; i < m->batch_rank; i++)
        is_vector = is_vector && (m->bias_batch[i] == 0 || m->batch_dim[i] == 1);
    if (m->beta != 1 || m->bias_col != 1)
        return false;
    *(is_vector ? &x->bias : &x->add) = bias;
    x->stage = is_vector ? AFTER_BIAS : AFTER_ADD;
    return true;
}

static bool take_product(Linear *x, int32_t at)
{
    const VfLowStep *step = &x->fuse->cx->step[at];
    const VfkMatmulParams *m = step->params;
    x->rows.rank = (int32_t)m->batch_rank + 1;
    for (int64_t i = 0; i < m->batch_rank; i++) {
        x->rows.dim[i] = m->batch_dim[i];
        x->rows.step[FUSE_A][i] = m->a_batch[i];
        x->rows.step[FUSE_C][i] = m->c_batch[i];
        x->rows.step[FUSE_ADD][i] = m->bias_batch[i];
    }
    int64_t last = m->batch_rank;
    x->rows.dim[last] = m->m;
    x->rows.step[FUSE_A][last] = m->trans_a ? 1 : m->lda;
    x->rows.step[FUSE_C][last] = m->ldc;
    x->rows.step[FUSE_ADD][last] = m->bias_row;
    x->p = (VfkLinearParams){.n = m->n, .k = m->k, .a_col = m->trans_a ? m->lda : 1,
                             .alpha = m->alpha};
    x->pack = (VfFusePack){.b = step->in[1],
                           .p = {.k = m->k, .n = m->n, .row = m->trans_b ? 1 : m->ldb,
                                 .col = m->trans_b ? m->ldb : 1}};
    x->a = step->in[0];
    x->c = step->out[0];
    x->bias = x->scale = x->add = nowhere;
    x->stage = m->alpha != 1 ? AFTER_ALPHA : AFTER_SUM;
    x->step[x->n_step++] = at;
    x->flops = step->flops;
    return take_matmul_bias(x, m, step->in[2]);
}

/* --- rows --- */

static int64_t n_elements(const Linear *x)
{
    int64_t n = x->p.n;
    for (int32_t i = 0; i < x->rows.rank; i++)
        n *= x->rows.dim[i];
    return n;
}

/* Rows of a or c rearranged by a copy: strides on one side become those on the other. Columns are
 * `column` elements apart on the side of the product, contiguous on the other. */
static bool take_copy(Linear *x, const VfkCopyParams *copy, bool is_before, int64_t column)
{
    const int64_t *from = is_before ? copy->dst_stride : copy->src_stride,
                  *into = is_before ? copy->src_stride : copy->dst_stride;
    VfFuseMap map = {(int32_t)copy->rank, copy->dim, from, into};
    int operand = is_before ? FUSE_A : FUSE_C;
    int64_t columns = is_before ? x->p.k : x->p.n, count = columns, to;
    for (int32_t i = 0; i < x->rows.rank; i++)
        count *= x->rows.dim[i];
    return vf_fuse_is_cover(&map, count) && vf_fuse_carry(&map, column, columns, &to) &&
           (to == 1 || columns == 1) && vf_fuse_carry_rows(&map, operand, operand, &x->rows);
}

static bool is_copy(const VfLowStep *step)
{
    return strcmp(step->kernel->name, "copy_b4") == 0;
}

static VfLowRef moved(VfLowRef ref, int64_t elements)
{
    return (VfLowRef){ref.buffer, ref.offset + (size_t)elements * sizeof(float)};
}

/* A copy that only arranges the rows of a, which nothing else of the step reads. */
static void take_copy_before(Linear *x)
{
    const VfFuse *fuse = x->fuse;
    int32_t at = vf_fuse_source(fuse, x->a);
    if (at == FUSE_NO_STEP || !is_copy(&fuse->cx->step[at]) ||
        x->a.buffer == x->bias.buffer || x->a.buffer == x->add.buffer ||
        vf_fuse_reader(fuse, x->a.buffer) != x->step[0])
        return;
    const VfLowStep *step = &fuse->cx->step[at];
    const VfkCopyParams *copy = step->params;
    if (copy->dst_offset != 0 || !vf_fuse_is_stable(fuse, step->in[0].buffer, at, x->step[0]) ||
        !take_copy(x, copy, true, x->p.a_col))
        return;
    x->p.a_col = 1;
    x->a = moved(step->in[0], copy->src_offset);
    x->step[1] = x->step[0];
    x->step[0] = at;
    x->n_step++;
}

static bool take_copy_after(Linear *x, const VfLowStep *step)
{
    const VfkCopyParams *copy = step->params;
    if (!is_copy(step) || copy->src_offset != 0 || !take_copy(x, copy, false, 1))
        return false;
    x->c = moved(step->out[0], copy->dst_offset);
    return true;
}

/* --- what is done to the sums --- */

static bool take_act(Linear *x, const VfLowStep *step)
{
    static const char *const name[VFK_ACT_COUNT] = {
        [VFK_ACT_RELU] = "relu", [VFK_ACT_GELU] = "gelu", [VFK_ACT_GELU_TANH] = "gelu_tanh",
        [VFK_ACT_SILU] = "silu", [VFK_ACT_SIGMOID] = "sigmoid", [VFK_ACT_TANH] = "tanh",
        [VFK_ACT_HARD_SWISH] = "hard_swish", [VFK_ACT_MISH] = "mish"};
    if (x->stage >= AFTER_ACT || strcmp(step->kernel->params, "VfkMapParams") != 0 ||
        step->units != n_elements(x))
        return false;
    for (int i = VFK_ACT_NONE + 1; i < VFK_ACT_COUNT; i++)
        if (vf_fuse_is(step, name[i])) {
            x->p.act = i;
            x->p.act_alpha = ((const VfkMapParams *)step->params)->alpha;
            x->c = step->out[0];
            x->stage = AFTER_ACT;
            return true;
        }
    return false;
}

/* A place in the formula for an operand that is the same in all rows. */
static bool take_vector(Linear *x, VfLowRef other, bool is_mul)
{
    Stage stage = is_mul ? AFTER_SCALE : AFTER_BIAS;
    if (x->stage >= stage)
        return false;
    *(is_mul ? &x->scale : &x->bias) = other;
    x->stage = stage;
    return true;
}

static bool take_factor(Linear *x, VfLowRef other)
{
    double number;
    if (x->stage >= AFTER_ALPHA || !vf_fuse_number(x->fuse, other, VF_F32, &number))
        return false;
    x->p.alpha = number;
    x->stage = AFTER_ALPHA;
    return true;
}

static bool take_added(Linear *x, VfLowRef other)
{
    if (x->stage >= AFTER_ADD)
        return false;
    x->add = other;
    x->stage = AFTER_ADD;
    return true;
}

/* `other` lies along the rows as step[FUSE_ADD] says and `column` apart along the columns. */
static bool take_operand(Linear *x, VfLowRef other, const VfFuseRows *rows, int64_t column,
                         bool is_mul)
{
    bool is_vector = true;
    for (int32_t i = 0; i < rows->rank; i++)
        is_vector = is_vector && (rows->dim[i] == 1 || rows->step[FUSE_ADD][i] == 0);
    if (column == 0 && is_vector && is_mul)
        return take_factor(x, other);
    if (column != 1)
        return false;
    if (is_vector && take_vector(x, other, is_mul))
        return true;
    if (is_mul || !take_added(x, other))
        return false;
    x->rows = *rows;
    return true;
}

/* A step of the sums and another operand. */
static bool take_binary(Linear *x, const VfLowStep *step)
{
    const VfkBinaryParams *p = step->params;
    bool is_mul = vf_fuse_is(step, "mul"), is_first = vf_fuse_is_same(step->in[0], x->c);
    VfLowRef other = step->in[is_first ? 1 : 0], mine = step->in[is_first ? 0 : 1];
    if ((!is_mul && !vf_fuse_is(step, "add")) || other.buffer == x->c.buffer ||
        !vf_fuse_is_same(mine, x->c))
        return false;
    VfFuseMap map = {(int32_t)p->rank, p->dim, is_first ? p->stride_a : p->stride_b,
                     is_first ? p->stride_b : p->stride_a};
    /* The result is contiguous in the order of dim: so must be the sums. */
    int64_t inner = 1, column;
    for (int64_t i = p->rank; i-- > 0; inner *= p->dim[i])
        if (p->dim[i] != 1 && map.at[i] != inner)
            return false;
    VfFuseRows rows = x->rows;
    if (!vf_fuse_is_cover(&map, n_elements(x)) || !vf_fuse_carry(&map, 1, x->p.n, &column) ||
        !vf_fuse_carry_rows(&map, FUSE_C, FUSE_ADD, &rows) ||
        !take_operand(x, other, &rows, column, is_mul))
        return false;
    x->c = step->out[0];
    return true;
}

/* Operands that were there when the product was made may not change until `at`. */
static bool is_stable(const Linear *x, int32_t at)
{
    int32_t first = x->step[0];
    return vf_fuse_is_stable(x->fuse, x->a.buffer, first, at) &&
           vf_fuse_is_stable(x->fuse, x->bias.buffer, first, at) &&
           vf_fuse_is_stable(x->fuse, x->scale.buffer, first, at) &&
           (x->stage < AFTER_ADD || vf_fuse_is_stable(x->fuse, x->add.buffer, first, at));
}

/* The only reader of what is computed so far, as part of the step. */
static bool take_next(Linear *x)
{
    int32_t at = vf_fuse_reader(x->fuse, x->c.buffer);
    if (at == FUSE_NO_STEP || x->n_step == MAX_PIECES || !is_stable(x, at))
        return false;
    const VfLowStep *step = &x->fuse->cx->step[at];
    bool is_binary = strcmp(step->kernel->params, "VfkBinaryParams") == 0;
    bool is_taken = is_binary ? take_binary(x, step)
                              : vf_fuse_is_same(step->in[0], x->c) &&
                                    (take_act(x, step) || take_copy_after(x, step));
    if (!is_taken)
        return false;
    x->flops += step->flops;
    x->step[x->n_step++] = at;
    return true;
}

/* --- the step --- */

static void set_rows(Linear *x)
{
    x->p.rank = x->rows.rank;
    for (int32_t i = 0; i < x->rows.rank; i++) {
        x->p.dim[i] = x->rows.dim[i];
        x->p.a_step[i] = x->rows.step[FUSE_A][i];
        x->p.c_step[i] = x->rows.step[FUSE_C][i];
        x->p.add_step[i] = x->add.buffer != LOW_NO_BUFFER ? x->rows.step[FUSE_ADD][i] : 0;
    }
}

VfLowEmit vf_fuse_linear_emit(const VfkLinearParams *params)
{
    const double rows = (double)vfk_linear_block_rows(params);
    const double column = (double)params->k * VFK_GROUP;
    const double flops = 2 * rows * column, bytes = sizeof(float) * column;
    return (VfLowEmit){.op = "linear", .dtype = VF_F32, .params = params, .n_in = LINEAR_N_IN,
                       .n_out = 1, .units = vfk_linear_units(params),
                       .unit_cost = fmax(flops / FLOPS_PER_NS, bytes / BYTES_PER_NS),
                       .scratch_bytes = vfk_linear_scratch_bytes(params)};
}

static VfStatus replace(Linear *x, VfErr *err)
{
    VfLowValue *in[LINEAR_N_IN] = {NULL}, *out;
    VfLowRef packed;
    VF_TRY(vf_fuse_pack(x->fuse, &x->pack, &packed, err));
    const VfLowRef ref[] = {x->a, packed, x->bias, x->scale, x->add};
    for (size_t i = 0; i < sizeof ref / sizeof *ref; i++)
        VF_TRY(vf_fuse_value(x->fuse, ref[i], &in[i], err));
    VF_TRY(vf_fuse_value(x->fuse, x->c, &out, err));
    set_rows(x);
    VfLowEmit emit = vf_fuse_linear_emit(&x->p);
    emit.in = in;
    emit.out = &out;
    emit.flops = x->flops;
    return vf_fuse_replace(x->fuse, x->n_step, x->step, &emit, err);
}

VfStatus vf_fuse_linear(VfFuse *fuse, int32_t at, VfErr *err)
{
    Linear x = {.fuse = fuse};
    if (!vf_fuse_is_linear(fuse, &fuse->cx->step[at]) || !take_product(&x, at))
        return VF_OK;
    take_copy_before(&x);
    while (take_next(&x))
        ;
    return replace(&x, err);
}
