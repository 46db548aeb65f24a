/* A depthwise convolution and the sum of its result with another tensor become one step.
 *
 * Before    y = depthwise_f32(x, weight, bias) with channels last; add(y, other) once, and copies
 *           that rearrange pixels as a whole (heads side by side), in any order
 * After     depthwise_f32 with an operand that it adds, which writes where the last one did
 * Why valid the sum is element by element and nobody else reads the values in between
 * Requires  f32; values in between have one reader; operands are not written in between
 * Exactness bits equal: the kernel adds after its own sum
 * Limits    images, rows and columns keep one stride each; channels stay contiguous
 */
#include <string.h>

#include "converter/lower/fuse.h"
#include "converter/lower/fuse_axes.h"
#include "runtime/kernels/binary.h"
#include "runtime/kernels/conv.h"
#include "runtime/kernels/copy.h"

enum { MAX_STEPS = 6 };

/* What a core does in a nanosecond, for the grain. */
static const double FLOPS_PER_NS = 100.0;

typedef struct Depthwise {
    VfFuse *fuse;
    VfkConvParams p;
    VfLowRef in[4], out; /* in[3] is what is added */
    int32_t n_step, step[MAX_STEPS];
    double flops;
} Depthwise;

/* Strides of images, rows and columns elsewhere, from those of the result; in the order of y_step.
 * Channels must be contiguous there. */
static bool carry_pixels(const Depthwise *x, const VfFuseMap *map, int64_t to[5])
{
    const int64_t dim[5] = {x->p.batch, x->p.groups, x->p.out_dim[0], x->p.out_dim[1],
                            x->p.out_dim[2]};
    int64_t count = 1;
    for (int i = 0; i < 5; i++) {
        count *= dim[i];
        to[i] = 0;
    }
    if (!vf_fuse_is_cover(map, count))
        return false;
    for (int i = 0; i < 5; i++)
        if (dim[i] != 1 && !vf_fuse_carry(map, x->p.y_step[i], dim[i], &to[i]))
            return false;
    return dim[1] == 1 || to[1] == 1;
}

static bool take_copy(Depthwise *x, const VfLowStep *step)
{
    const VfkCopyParams *copy = step->params;
    int64_t to[5];
    if (strcmp(step->kernel->name, "copy_b4") != 0 || copy->src_offset != 0 ||
        !vf_fuse_is_same(step->in[0], x->out))
        return false;
    VfFuseMap map = {(int32_t)copy->rank, copy->dim, copy->src_stride, copy->dst_stride};
    if (!carry_pixels(x, &map, to))
        return false;
    memcpy(x->p.y_step, to, sizeof to);
    x->out = step->out[0];
    x->out.offset += (size_t)copy->dst_offset * sizeof(float);
    return true;
}

/* Whether the result, contiguous in the order of dim, lies as this operand does. */
static bool is_in_place(const VfkBinaryParams *p, const int64_t *stride)
{
    int64_t inner = 1;
    for (int64_t i = p->rank; i-- > 0; inner *= p->dim[i])
        if (p->dim[i] != 1 && stride[i] != inner)
            return false;
    return true;
}

static bool take_add(Depthwise *x, const VfLowStep *step)
{
    const VfkBinaryParams *p = step->params;
    if (strcmp(step->kernel->name, "add_f32") != 0 || x->in[3].buffer != LOW_NO_BUFFER)
        return false;
    bool is_first = vf_fuse_is_same(step->in[0], x->out);
    VfLowRef other = step->in[is_first ? 1 : 0], mine = step->in[is_first ? 0 : 1];
    VfFuseMap map = {(int32_t)p->rank, p->dim, is_first ? p->stride_a : p->stride_b,
                     is_first ? p->stride_b : p->stride_a};
    if (other.buffer == x->out.buffer || !vf_fuse_is_same(mine, x->out) ||
        !is_in_place(p, map.at) || !carry_pixels(x, &map, x->p.add_step))
        return false;
    x->in[3] = other;
    x->out = step->out[0];
    return true;
}

static bool is_stable(const Depthwise *x, int32_t at)
{
    for (int i = 0; i < 4; i++)
        if (x->in[i].buffer != LOW_NO_BUFFER &&
            !vf_fuse_is_stable(x->fuse, x->in[i].buffer, x->step[0], at))
            return false;
    return true;
}

/* The only reader of the result so far, as part of the step. */
static bool take_next(Depthwise *x)
{
    int32_t at = vf_fuse_reader(x->fuse, x->out.buffer);
    if (at == FUSE_NO_STEP || x->n_step == MAX_STEPS || !is_stable(x, at))
        return false;
    const VfLowStep *step = &x->fuse->cx->step[at];
    if (!take_copy(x, step) && !take_add(x, step))
        return false;
    x->flops += step->flops;
    x->step[x->n_step++] = at;
    return true;
}

static VfStatus replace(Depthwise *x, VfErr *err)
{
    VfFuse *fuse = x->fuse;
    const VfkConvParams *p = &x->p;
    VfLowValue *in[4], *out;
    int64_t size = p->batch * p->groups * p->out_dim[0] * p->out_dim[1] * p->out_dim[2],
            from = p->batch * p->groups * p->in_dim[0] * p->in_dim[1] * p->in_dim[2],
            taps = p->groups * p->kernel[0] * p->kernel[1] * p->kernel[2];
    VF_TRY(vf_fuse_row(fuse, x->in[0], from, &in[0], err));
    VF_TRY(vf_fuse_row(fuse, x->in[1], taps, &in[1], err));
    VF_TRY(vf_fuse_row(fuse, x->in[2], p->groups, &in[2], err));
    VF_TRY(vf_fuse_row(fuse, x->in[3], size, &in[3], err));
    VF_TRY(vf_fuse_row(fuse, x->out, size, &out, err));
    VfLowEmit emit = {.op = "depthwise", .dtype = VF_F32, .params = p, .n_in = 4, .n_out = 1,
                      .in = in, .out = &out, .units = vfk_depthwise_units(p), .flops = x->flops};
    emit.unit_cost = x->flops / FLOPS_PER_NS / (double)emit.units;
    return vf_fuse_replace(fuse, x->n_step, x->step, &emit, err);
}

VfStatus vf_fuse_depthwise(VfFuse *fuse, int32_t at, VfErr *err)
{
    const VfLowStep *step = &fuse->cx->step[at];
    if (strcmp(step->kernel->name, "depthwise_f32") != 0)
        return VF_OK;
    Depthwise x = {.fuse = fuse, .p = *(const VfkConvParams *)step->params, .out = step->out[0],
                   .n_step = 1, .step = {at}, .flops = step->flops};
    memcpy(x.in, step->in, sizeof x.in);
    while (x.p.channels_last && take_next(&x))
        ;
    return x.n_step == 1 ? VF_OK : replace(&x, err);
}
