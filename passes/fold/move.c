/* Operators that rename, merge, split or repeat axes. */
#include <string.h>

#include "passes/fold/walk.h"
#include "passes/ir/attr.h"

/* --- views --- */

static VfStatus reshape(VfFoldWalk *walk, const VfNode *node, const VfAffine *x, const VfType *from,
                        const VfType *to, VfAffine *out, bool *fits, VfErr *err)
{
    VfSymbols *symbols = walk->model->symbols;
    bool fits_a, fits_c;
    VF_TRY(vf_field_reshape(walk->arena, symbols, &x->a, from, to, &out->a, &fits_a, err));
    VF_TRY(vf_field_reshape(walk->arena, symbols, &x->c, from, to, &out->c, &fits_c, err));
    *fits = fits_a && fits_c;
    if (*fits)
        return VF_OK;
    const char *before = vf_type_text(walk->arena, symbols, from);
    const char *after = vf_type_text(walk->arena, symbols, to);
    return vf_fold_stop(walk, node, err, "'%s' mixes the channels with other axes (%s and %s)",
                        vf_node_label(node), before != NULL ? before : "?",
                        after != NULL ? after : "?");
}

VfStatus vf_fold_view_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                              VfErr *err)
{
    VfAffine out;
    bool fits;
    VF_TRY(reshape(walk, node, in, &vf_node_in(node, slot)->type, &node->out[0]->type, &out, &fits,
                   err));
    return fits ? vf_fold_carry(walk, node->out[0], &out, err) : VF_OK;
}

VfStatus vf_fold_view_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                               VfErr *err)
{
    VfAffine in;
    bool fits;
    VF_TRY(reshape(walk, node, out, &node->out[index]->type, &vf_node_in(node, 0)->type, &in, &fits,
                   err));
    return fits ? vf_fold_demand(walk, node, 0, &in, err) : VF_OK;
}

/* Dropout is a view unless it trains. */
static bool is_training(const VfNode *node)
{
    const VfValue *mode = vf_node_in(node, 2);
    const VfTensor *tensor = vf_value_const(mode);
    return mode != NULL && (tensor == NULL || !vf_tensor_is_all(tensor, 0.0));
}

VfStatus vf_fold_dropout_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                                 VfErr *err)
{
    if (is_training(node))
        return vf_fold_stop(walk, node, err, "'%s' may be a Dropout that trains",
                            vf_node_label(node));
    return vf_fold_view_forward(walk, node, slot, in, err);
}

VfStatus vf_fold_dropout_backward(VfFoldWalk *walk, VfNode *node, int32_t index,
                                  const VfAffine *out, VfErr *err)
{
    if (is_training(node) || index != 0)
        return vf_fold_stop(walk, node, err, "'%s' may be a Dropout that trains",
                            vf_node_label(node));
    return vf_fold_view_backward(walk, node, index, out, err);
}

/* --- transpose --- */

/* perm of a Transpose of `rank`; by default the axes are reversed. */
static bool read_perm(const VfNode *node, int32_t rank, int64_t *perm)
{
    int32_t n;
    const int64_t *given = vf_node_ints(node, "perm", &n);
    bool seen[VF_FIELD_RANK_MAX] = {false};
    if (rank > VF_FIELD_RANK_MAX || (given != NULL && n != rank))
        return false;
    for (int32_t i = 0; i < rank; i++) {
        perm[i] = given != NULL ? given[i] : rank - 1 - i;
        if (perm[i] < 0 || perm[i] >= rank || seen[perm[i]])
            return false;
        seen[perm[i]] = true;
    }
    return true;
}

static VfStatus transpose(VfFoldWalk *walk, const VfAffine *x, const int64_t *perm, VfAffine *out,
                          VfErr *err)
{
    VF_TRY(vf_field_transpose(walk->arena, &x->a, perm, &out->a, err));
    return vf_field_transpose(walk->arena, &x->c, perm, &out->c, err);
}

VfStatus vf_fold_transpose_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                                   VfErr *err)
{
    int64_t perm[VF_FIELD_RANK_MAX];
    VfAffine out;
    (void)slot;
    if (!read_perm(node, in->a.rank, perm))
        return vf_fold_stop(walk, node, err, "'%s' has no valid perm", vf_node_label(node));
    VF_TRY(transpose(walk, in, perm, &out, err));
    return vf_fold_carry(walk, node->out[0], &out, err);
}

VfStatus vf_fold_transpose_backward(VfFoldWalk *walk, VfNode *node, int32_t index,
                                    const VfAffine *out, VfErr *err)
{
    int64_t perm[VF_FIELD_RANK_MAX], inverse[VF_FIELD_RANK_MAX];
    VfAffine in;
    (void)index;
    if (!read_perm(node, out->a.rank, perm))
        return vf_fold_stop(walk, node, err, "'%s' has no valid perm", vf_node_label(node));
    for (int32_t i = 0; i < out->a.rank; i++)
        inverse[perm[i]] = i;
    VF_TRY(transpose(walk, out, inverse, &in, err));
    return vf_fold_demand(walk, node, 0, &in, err);
}

/* --- repetition --- */

VfStatus vf_fold_expand_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                                VfErr *err)
{
    int32_t rank = node->out[0]->type.rank, extra = rank - in->a.rank;
    VfAffine out;
    (void)slot;
    if (rank == VF_RANK_UNKNOWN || rank > VF_FIELD_RANK_MAX || extra < 0)
        return vf_fold_stop(walk, node, err, "the rank of '%s' is not known",
                            vf_value_label(node->out[0]));
    VF_TRY(vf_affine_to_rank(walk->arena, in, rank, &out, err));
    return vf_fold_carry(walk, node->out[0], &out, err);
}

/* Copies may differ in the result only if their originals can: not along axes that were repeated.
 */
VfStatus vf_fold_expand_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                                 VfErr *err)
{
    const VfValue *x = vf_node_in(node, 0);
    const VfType *type = &x->type;
    VfAffine in;
    (void)index;
    if (!vf_affine_fits(out, type))
        return vf_fold_stop(walk, node, err, "'%s' repeats the channels", vf_node_label(node));
    VF_TRY(vf_affine_to_rank(walk->arena, out, type->rank, &in, err));
    return vf_fold_demand(walk, node, 0, &in, err);
}

VfStatus vf_fold_tile_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                              VfErr *err)
{
    const VfType *from = &vf_node_in(node, slot)->type, *to = &node->out[0]->type;
    VfAffine out = *in;
    for (int32_t axis = 0; axis < in->a.rank; axis++) {
        if (!vf_affine_varies(in, axis))
            continue;
        bool is_known = to->rank == in->a.rank && vf_dim_is_known(from->dims[axis]) &&
                        vf_dim_is_known(to->dims[axis]) && from->dims[axis].k > 0;
        if (!is_known)
            return vf_fold_stop(walk, node, err,
                                "'%s' repeats the channels, how often is not known",
                                vf_node_label(node));
        size_t n = (size_t)to->dims[axis].k;
        int64_t *at = VF_NEW_ARRAY(walk->arena, int64_t, n);
        VF_TRY_ALLOC(at, err);
        for (size_t i = 0; i < n; i++)
            at[i] = (int64_t)i % from->dims[axis].k;
        VF_TRY(vf_affine_take(walk->arena, &out, axis, n, at, &out, err));
    }
    return vf_fold_carry(walk, node->out[0], &out, err);
}

VfStatus vf_fold_tile_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                               VfErr *err)
{
    (void)index;
    if (!vf_affine_fits(out, &vf_node_in(node, 0)->type))
        return vf_fold_stop(walk, node, err, "'%s' repeats the channels", vf_node_label(node));
    return vf_fold_demand(walk, node, 0, out, err);
}
