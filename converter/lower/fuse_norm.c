/* A sum and the layer norm of it become one step, worked on while rows are in the first cache.
 *
 * Before    s = add(a, b), as large as both; layer_norm(s)
 * After     layer_norm(a) that adds b, and writes s where it is read elsewhere, too
 * Why valid the norm goes by rows, and a row of s is complete before its norm is taken
 * Requires  f32; nobody reads s before the norm; a and b are not written in between
 * Exactness bits equal: the sum is rounded as before
 * Source    ONNX Runtime's SkipLayerNormalization has the same result
 * Limits    a sum that a product takes with it is a part of the product (fuse_linear.c)
 */
#include "converter/lower/fuse.h"
#include "runtime/kernels/binary.h"
#include "runtime/kernels/norm.h"

enum { SUM = 3 /* operand and result in norm.h */, N_REF = 4 };

/* What a core adds in a nanosecond, for the grain. */
static const double SUMS_PER_NS = 4.0;

static bool is_plain_sum(const VfLowStep *step)
{
    const VfkBinaryParams *p = step->params;
    return vf_fuse_is(step, "add") && p->rank == 1 && p->stride_a[0] == 1 && p->stride_b[0] == 1;
}

/* Nobody but the norm at `at` reads the sum before it is there. */
static bool is_first_reader(const VfFuse *fuse, int32_t buffer, int32_t at)
{
    for (const VfFuseUse *use = fuse->reader[buffer]; use != NULL; use = use->next)
        if (use->step < at)
            return false;
    return true;
}

static bool is_sum_of(const VfFuse *fuse, const VfLowStep *norm, int32_t from, int32_t at)
{
    const VfLowStep *sum = &fuse->cx->step[from];
    const VfkBinaryParams *b = sum->params;
    const VfkRowNormParams *p = norm->params;
    return is_plain_sum(sum) && vf_fuse_dtype(sum) == VF_F32 &&
           b->dim[0] == p->rows * p->n && sum->in[0].buffer != sum->out[0].buffer &&
           sum->in[1].buffer != sum->out[0].buffer &&
           is_first_reader(fuse, sum->out[0].buffer, at) &&
           vf_fuse_is_stable(fuse, sum->in[0].buffer, from, at) &&
           vf_fuse_is_stable(fuse, sum->in[1].buffer, from, at);
}

static VfStatus replace(VfFuse *fuse, int32_t from, int32_t at, VfErr *err)
{
    const VfLowStep *norm = &fuse->cx->step[at], *sum = &fuse->cx->step[from];
    VfkRowNormParams p = *(const VfkRowNormParams *)norm->params;
    VfLowRef in[N_REF] = {sum->in[0], norm->in[1], norm->in[2], sum->in[1]};
    VfLowRef out[N_REF] = {norm->out[0], norm->out[1], norm->out[2], sum->out[0]};
    VfLowValue *operand[N_REF], *result[N_REF];
    int64_t in_count[N_REF] = {p.rows * p.n, p.n, p.n, p.rows * p.n};
    int64_t out_count[N_REF] = {p.rows * p.n, p.rows, p.rows, p.rows * p.n};
    if (vf_fuse_reader(fuse, sum->out[0].buffer) == at)
        out[SUM].buffer = LOW_NO_BUFFER;
    for (int i = 0; i < N_REF; i++) {
        VF_TRY(vf_fuse_row(fuse, in[i], in_count[i], &operand[i], err));
        VF_TRY(vf_fuse_row(fuse, out[i], out_count[i], &result[i], err));
    }
    p.adds = 1;
    VfLowEmit emit = {.op = "layer_norm", .dtype = VF_F32, .params = &p,
                      .n_in = N_REF, .n_out = N_REF, .in = operand, .out = result,
                      .units = p.rows, .unit_cost = 10 + (1 + 1 / SUMS_PER_NS) * (double)p.n,
                      .flops = norm->flops + sum->flops, .may_overwrite = true};
    return vf_fuse_replace(fuse, 2, (int32_t[]){from, at}, &emit, err);
}

VfStatus vf_fuse_norm(VfFuse *fuse, int32_t at, VfErr *err)
{
    const VfLowStep *norm = &fuse->cx->step[at];
    const VfkRowNormParams *p = norm->params;
    if (!vf_fuse_is(norm, "layer_norm") || vf_fuse_dtype(norm) != VF_F32 || p->adds)
        return VF_OK;
    int32_t from = vf_fuse_source(fuse, norm->in[0]);
    if (from == FUSE_NO_STEP || !is_sum_of(fuse, norm, from, at))
        return VF_OK;
    return replace(fuse, from, at, err);
}
