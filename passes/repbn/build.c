#include "passes/match/facts.h"
#include "passes/repbn/repbn.h"

/* BatchNormalization has its channels in axis 1: bring `axis` there, and back. */
static VfValue *move_axis(VfRewrite *rw, VfValue *x, int32_t rank, int32_t axis, bool is_back)
{
    int64_t perm[VF_AXIS_MAX], inverse[VF_AXIS_MAX];
    int32_t n = 0;
    if (axis == 1)
        return x;
    for (int32_t i = 0; i < rank; i++) {
        if (n == 1)
            perm[n++] = axis;
        if (i != axis)
            perm[n++] = i;
    }
    if (n < rank)
        perm[n] = axis;
    for (int32_t i = 0; i < rank; i++)
        inverse[perm[i]] = i;
    return vf_rewrite_transpose(rw, x, rank, is_back ? inverse : perm);
}

VfValue *vf_repbn_build(VfRewrite *rw, const VfRepBnSite *site, const VfRepBn *repbn)
{
    const VfLayerNorm *norm = site->norm;
    int32_t rank = norm->x->type.rank, axis = norm->axis[0];
    VfValue *x = move_axis(rw, norm->x, rank, axis, false);
    VfValue *in[] = {x,
                     vf_rewrite_const(rw, repbn->gamma, "repbn_scale"),
                     vf_rewrite_const(rw, repbn->beta, "repbn_shift"),
                     vf_rewrite_const(rw, repbn->mean, "repbn_mean"),
                     vf_rewrite_const(rw, repbn->var, "repbn_var")};
    VfValue *bn = vf_rewrite_node(rw, VF_OP_BATCH_NORMALIZATION, 5, in);
    vf_rewrite_float(rw, "epsilon", repbn->eps);
    VfValue *share = vf_rewrite_binary(rw, VF_OP_MUL, x,
                                       vf_rewrite_const(rw, repbn->eta, "repbn_eta"));
    VfValue *sum = vf_rewrite_binary(rw, VF_OP_ADD, bn, share);
    VfValue *y = move_axis(rw, sum, rank, axis, true);
    return norm->y->type.dtype == norm->x->type.dtype
               ? y : vf_rewrite_cast(rw, y, norm->y->type.dtype);
}
