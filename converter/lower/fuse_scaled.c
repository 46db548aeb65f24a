#include "converter/lower/fuse_scaled.h"

#include "runtime/kernels/attention.h"

bool vf_fuse_is_scalar(const VfkBinaryParams *p, const int64_t *stride)
{
    for (int64_t i = 0; i < p->rank; i++)
        if (p->dim[i] != 1 && stride[i] != 0)
            return false;
    return true;
}

/* Takes operand `slot` of the product as the number. */
static bool take_number(const VfFuse *fuse, const VfLowStep *product, int32_t slot,
                        VfFuseScaled *scaled)
{
    const VfkBinaryParams *p = product->params;
    const int64_t *stride[2] = {p->stride_a, p->stride_b};
    int64_t size = 1;
    if (!vf_fuse_is_scalar(p, stride[slot]) ||
        !vf_fuse_number(fuse, product->in[slot], VF_F32, &scaled->number) ||
        !(scaled->number > 0 && vfk_is_power_of_two(scaled->number)))
        return false;
    for (int64_t i = p->rank; i-- > 0; size *= p->dim[i])
        scaled->at[i] = size;
    scaled->ref = product->in[1 - slot];
    scaled->map = (VfFuseMap){(int32_t)p->rank, p->dim, scaled->at, stride[1 - slot]};
    return true;
}

bool vf_fuse_find_scaled(const VfFuse *fuse, VfLowRef ref, int32_t reader, VfFuseScaled *scaled)
{
    scaled->step = vf_fuse_source(fuse, ref);
    if (scaled->step == FUSE_NO_STEP || vf_fuse_reader(fuse, ref.buffer) != reader)
        return false;
    const VfLowStep *product = &fuse->cx->step[scaled->step];
    return vf_fuse_is(product, "mul") && vf_fuse_dtype(product) == VF_F32 &&
           (take_number(fuse, product, 0, scaled) || take_number(fuse, product, 1, scaled));
}
