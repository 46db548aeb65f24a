/* Products that know what the next product reads first.
 *
 * Before    linear_f32, steps of other kinds or none, linear_f32 of a packed matrix b
 * After     the first product has the beginning of b as an operand, which it asks the caches for
 *           while its last columns are worked on
 * Why valid the operand is not read; b is a weight, and a step of its own needs it
 * Requires  all threads begin with the first columns of b (vfk_linear_first_bytes)
 * Exactness bits equal
 * Limits    a convolution or a product of another kernel in between is not told
 */
#include "converter/lower/fuse.h"
#include "converter/lower/fuse_linear.h"

static bool is_product(const VfLowStep *step)
{
    return step->kernel != NULL && vf_fuse_is(step, "linear");
}

static const VfLowStep *next_product(const VfFuse *fuse, int32_t at)
{
    const VfLower *cx = fuse->cx;
    for (size_t i = (size_t)at + 1; i < cx->n_step; i++)
        if (is_product(&cx->step[i]))
            return &cx->step[i];
    return NULL;
}

VfStatus vf_fuse_fetch(VfFuse *fuse, int32_t at, VfErr *err)
{
    VfLowStep *step = &fuse->cx->step[at];
    const VfLowStep *next = is_product(step) ? next_product(fuse, at) : NULL;
    int64_t bytes = next != NULL ? vfk_linear_first_bytes(next->params) : 0;
    if (bytes == 0)
        return VF_OK;
    VfkLinearParams *params = VF_NEW(fuse->cx->arena, VfkLinearParams);
    VF_TRY_ALLOC(params, err);
    *params = *(const VfkLinearParams *)step->params;
    params->fetch = bytes;
    step->params = params;
    step->in[LINEAR_FETCH] = next->in[LINEAR_B];
    return VF_OK;
}
