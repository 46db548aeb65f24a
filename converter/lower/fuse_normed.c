/* A product takes the layer norm of its rows with it, while it copies them for its tiles.
 *
 * Before    n = layer_norm(x); linear_f32(n, b)
 * After     linear_f32(x, b) of normalised rows: one step and one pass over memory less
 * Why valid a row is copied as a whole before it is read, and nobody else reads n
 * Requires  f32; n without statistics or sum (fuse_norm.c), read once in all, by rows that are
 *           those of the norm and fit the copy; x and the operands of the norm are not written in
 *           between
 * Exactness bits equal: the norm is the code of layer_norm_f32
 * Limits    a large matrix is shared by its columns (linear.h): each thread would take all norms
 */
#include "converter/lower/fuse.h"
#include "converter/lower/fuse_linear.h"
#include "runtime/kernels/norm.h"

static bool has_only_norm(const VfLowStep *step)
{
    for (int32_t i = 1; i < step->n_out; i++)
        if (step->out[i].buffer != LOW_NO_BUFFER)
            return false;
    return vf_fuse_is(step, "layer_norm") && vf_fuse_dtype(step) == VF_F32 &&
           !((const VfkRowNormParams *)step->params)->adds;
}

/* Whether the product reads each row of the norm once, as a whole. */
static bool is_by_rows(const VfkLinearParams *p, const VfkRowNormParams *norm)
{
    for (int64_t i = 0; i < p->rank; i++)
        if (p->dim[i] > 1 && (p->a_step[i] == 0 || p->a_step[i] % norm->n != 0))
            return false;
    return p->a_col == 1 && p->k == norm->n && vfk_linear_rows(p) == norm->rows;
}

static bool is_shared_by_rows(const VfkLinearParams *p)
{
    return p->k <= GEMM_KC && p->n * p->k <= VFK_LINEAR_SMALL;
}

/* The norm whose result is operand a of the product at `at`, or FUSE_NO_STEP. */
static int32_t norm_of(const VfFuse *fuse, int32_t at)
{
    const VfLowStep *step = &fuse->cx->step[at];
    const VfLowRef a = step->in[LINEAR_A];
    if (vf_fuse_reader(fuse, a.buffer) != at || !is_shared_by_rows(step->params) ||
        vf_fuse_count(step->in, step->n_in, a.buffer) != 1)
        return FUSE_NO_STEP;
    const int32_t from = vf_fuse_writer(fuse, a.buffer);
    const VfLowStep *norm = &fuse->cx->step[from];
    if (!has_only_norm(norm) || !vf_fuse_is_same(norm->out[0], a) || a.offset != 0 ||
        !is_by_rows(step->params, norm->params))
        return FUSE_NO_STEP;
    for (int32_t i = 0; i < norm->n_in; i++)
        if (!vf_fuse_is_stable(fuse, norm->in[i].buffer, from, at))
            return FUSE_NO_STEP;
    return from;
}

static VfStatus replace(VfFuse *fuse, int32_t from, int32_t at, VfErr *err)
{
    const VfLowStep *norm = &fuse->cx->step[from], *step = &fuse->cx->step[at];
    VfkLinearParams p = *(const VfkLinearParams *)step->params;
    VfLowValue *in[LINEAR_N_IN], *out;
    for (int32_t i = 0; i < LINEAR_N_IN; i++)
        VF_TRY(vf_fuse_value(fuse, step->in[i], &in[i], err));
    VF_TRY(vf_fuse_value(fuse, norm->in[0], &in[LINEAR_A], err));
    VF_TRY(vf_fuse_value(fuse, norm->in[1], &in[LINEAR_NORM_SCALE], err));
    VF_TRY(vf_fuse_value(fuse, norm->in[2], &in[LINEAR_NORM_BIAS], err));
    VF_TRY(vf_fuse_value(fuse, step->out[0], &out, err));
    p.norms = 1;
    p.norm_eps = ((const VfkRowNormParams *)norm->params)->eps;
    VfLowEmit emit = vf_fuse_linear_emit(&p);
    emit.in = in;
    emit.out = &out;
    emit.flops = norm->flops + step->flops;
    return vf_fuse_replace(fuse, 2, (int32_t[]){from, at}, &emit, err);
}

VfStatus vf_fuse_normed(VfFuse *fuse, int32_t at, VfErr *err)
{
    const VfLowStep *step = &fuse->cx->step[at];
    if (!vf_fuse_is(step, "linear"))
        return VF_OK;
    const int32_t from = norm_of(fuse, at);
    return from == FUSE_NO_STEP ? VF_OK : replace(fuse, from, at, err);
}
