/* Sums and products: with a constant, or of two branches.
 *
 * With v ↦ s⊙v + m in the way, s⊙(a⊙u + c) + m = a⊙(s⊙u + m) + (s⊙c + m - a⊙m): the scale
 * goes on as it is and the shift changes; nothing is divided by the norm's scale.
 */
#include "passes/fold/walk.h"

/* Both fields under the rank of the node's result. */
static VfStatus to_result_rank(VfFoldWalk *walk, const VfNode *node, const VfAffine *in,
                               VfAffine *out, bool *fits, VfErr *err)
{
    int32_t rank = node->out[0]->type.rank;
    *fits =
        rank >= in->a.rank && rank <= VF_FIELD_RANK_MAX && vf_affine_fits(in, &node->out[0]->type);
    if (!*fits)
        return vf_fold_stop(walk, node, err, "the shape of '%s' is not known",
                            vf_value_label(node->out[0]));
    return vf_affine_to_rank(walk->arena, in, rank, out, err);
}

/* The constant operand other than `slot` as a field of the result's rank. */
static VfStatus other_const(VfFoldWalk *walk, const VfNode *node, int32_t slot, VfField *k,
                            bool *fits, VfErr *err)
{
    const VfValue *other = vf_node_in(node, 1 - slot);
    const VfTensor *tensor = vf_value_const(other);
    *fits = false;
    if (tensor == NULL)
        return vf_fold_stop(walk, node, err,
                            "'%s' (%.*s) reads it together with '%s', which is no constant",
                            vf_node_label(node), (int)node->op_type.size, node->op_type.data,
                            other != NULL ? vf_value_label(other) : "");
    VF_TRY(vf_field_of_tensor(walk->arena, tensor, node->out[0]->type.rank, k, fits, err));
    *fits = *fits && vf_field_is_finite(k);
    return *fits ? VF_OK
                 : vf_fold_stop(walk, node, err, "the constant of '%s' cannot be used",
                                vf_node_label(node));
}

/* out = s⊙c + m - a⊙m */
static VfStatus pass_shift(VfArena *arena, const VfAffine *in, const VfField *s, const VfField *m,
                           VfField *out, bool *fits, VfErr *err)
{
    VfField sc, am, sum;
    VF_TRY(vf_field_combine(arena, '*', s, &in->c, &sc, fits, err));
    if (*fits)
        VF_TRY(vf_field_combine(arena, '*', &in->a, m, &am, fits, err));
    if (*fits)
        VF_TRY(vf_field_combine(arena, '+', &sc, m, &sum, fits, err));
    if (*fits)
        VF_TRY(vf_field_combine(arena, '-', &sum, &am, out, fits, err));
    return VF_OK;
}

static VfStatus pass_on(VfFoldWalk *walk, VfNode *node, const VfAffine *in, const VfField *s,
                        const VfField *m, VfErr *err)
{
    VfAffine out = {.a = in->a};
    bool fits;
    VF_TRY(pass_shift(walk->arena, in, s, m, &out.c, &fits, err));
    if (!fits)
        return vf_fold_stop(walk, node, err, "the constant of '%s' has another shape",
                            vf_node_label(node));
    return vf_fold_carry(walk, node->out[0], &out, err);
}

/* --- Add, Sub --- */

/* Two branches that carry the same scale: it stays, and the shifts add up. */
static VfStatus join(VfFoldWalk *walk, VfNode *node, const VfAffine *x, const VfAffine *y,
                     VfErr *err)
{
    VfAffine left, right, out;
    bool fits;
    VF_TRY(to_result_rank(walk, node, x, &left, &fits, err));
    if (fits)
        VF_TRY(to_result_rank(walk, node, y, &right, &fits, err));
    if (!fits)
        return VF_OK;
    if (!vf_field_is_equal(&left.a, &right.a))
        return vf_fold_stop(walk, node, err, "'%s' joins branches of different scale",
                            vf_node_label(node));
    out.a = left.a;
    char op = node->op == VF_OP_ADD ? '+' : '-';
    VF_TRY(vf_field_combine(walk->arena, op, &left.c, &right.c, &out.c, &fits, err));
    return fits ? vf_fold_carry(walk, node->out[0], &out, err)
                : vf_fold_stop(walk, node, err, "'%s' joins values of different shape",
                               vf_node_label(node));
}

VfStatus vf_fold_add_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                             VfErr *err)
{
    const VfAffine *second = slot == 0 ? vf_fold_carried(walk, vf_node_in(node, 1)) : NULL;
    VfAffine x;
    VfField k, s, m;
    bool fits, is_sub = node->op == VF_OP_SUB;
    if (second != NULL)
        return join(walk, node, in, second, err);
    VF_TRY(to_result_rank(walk, node, in, &x, &fits, err));
    if (fits)
        VF_TRY(other_const(walk, node, slot, &k, &fits, err));
    if (!fits)
        return VF_OK;
    /* v + k, v - k = v + (-k), k - v = (-1) v + k */
    VF_TRY(vf_field_uniform(walk->arena, x.a.rank, is_sub && slot == 1 ? -1.0 : 1.0, &s, err));
    VfField sign;
    VF_TRY(vf_field_uniform(walk->arena, x.a.rank, is_sub && slot == 0 ? -1.0 : 1.0, &sign, err));
    VF_TRY(vf_field_combine(walk->arena, '*', &k, &sign, &m, &fits, err));
    return pass_on(walk, node, &x, &s, &m, err);
}

/* The operand's part of a demand on the sum, which must have the sum's extents where the map
 * varies. */
static VfStatus demand_part(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *out,
                            VfErr *err)
{
    const VfType *type = &vf_node_in(node, slot)->type;
    VfAffine in;
    if (!vf_affine_fits(out, type) || type->rank > out->a.rank)
        return vf_fold_stop(walk, node, err, "'%s' repeats an operand along the channels",
                            vf_node_label(node));
    VF_TRY(vf_affine_to_rank(walk->arena, out, type->rank, &in, err));
    return vf_fold_demand(walk, node, slot, &in, err);
}

/* a⊙(p ± q) + c = (a⊙p + c) ± a⊙q: the shift goes to a constant if there is one, else to the first
 * operand. */
VfStatus vf_fold_add_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                              VfErr *err)
{
    bool is_const[2] = {vf_value_const(vf_node_in(node, 0)) != NULL,
                        vf_value_const(vf_node_in(node, 1)) != NULL};
    int32_t shifted = is_const[1] ? 1 : 0;
    VfField zero;
    (void)index;
    VF_TRY(vf_field_uniform(walk->arena, out->c.rank, 0.0, &zero, err));
    for (int32_t slot = 0; slot < 2 && walk->why == NULL; slot++) {
        VfAffine part = {out->a, slot == shifted ? out->c : zero};
        if (slot == shifted && slot == 1 && node->op == VF_OP_SUB)
            VF_TRY(
                vf_field_combine(walk->arena, '-', &zero, &out->c, &part.c, &(bool){false}, err));
        if (is_const[slot])
            VF_TRY(vf_fold_add_step(walk, VF_FOLD_INTO_CONST, node, slot, &part, err));
        else
            VF_TRY(demand_part(walk, node, slot, &part, err));
    }
    return VF_OK;
}

/* --- Mul, Div --- */

/* 1/k, element by element; false where k is 0. */
static VfStatus reciprocal(VfFoldWalk *walk, const VfField *k, VfField *out, bool *fits, VfErr *err)
{
    double *data = VF_NEW_ARRAY(walk->arena, double, k->count);
    VF_TRY_ALLOC(data, err);
    for (size_t i = 0; i < k->count; i++)
        data[i] = 1.0 / k->data[i];
    *out = *k;
    out->data = data;
    *fits = vf_field_is_finite(out);
    return VF_OK;
}

/* The factor that a Mul or Div by a constant applies to operand `slot`. */
static VfStatus factor(VfFoldWalk *walk, const VfNode *node, int32_t slot, VfField *s, bool *fits,
                       VfErr *err)
{
    VfField k;
    VF_TRY(other_const(walk, node, slot, &k, fits, err));
    if (!*fits)
        return VF_OK;
    *s = k;
    if (node->op == VF_OP_DIV)
        VF_TRY(reciprocal(walk, &k, s, fits, err));
    *fits = *fits && (node->op == VF_OP_MUL || slot == 0);
    return *fits ? VF_OK
                 : vf_fold_stop(walk, node, err, "'%s' divides by it or by zero",
                                vf_node_label(node));
}

VfStatus vf_fold_scale_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                               VfErr *err)
{
    VfAffine x;
    VfField s, zero;
    bool fits;
    VF_TRY(to_result_rank(walk, node, in, &x, &fits, err));
    if (fits)
        VF_TRY(factor(walk, node, slot, &s, &fits, err));
    if (!fits)
        return VF_OK;
    VF_TRY(vf_field_uniform(walk->arena, x.a.rank, 0.0, &zero, err));
    return pass_on(walk, node, &x, &s, &zero, err);
}

VfStatus vf_fold_scale_backward(VfFoldWalk *walk, VfNode *node, int32_t index, const VfAffine *out,
                                VfErr *err)
{
    int32_t slot = vf_value_const(vf_node_in(node, 1)) != NULL ? 0 : 1;
    VfField s;
    bool fits;
    (void)index;
    VF_TRY(factor(walk, node, slot, &s, &fits, err));
    if (!fits)
        return VF_OK;
    if (!vf_field_is_all(&out->c, 0.0))
        return vf_fold_stop(walk, node, err, "'%s' scales what the norm would have to shift",
                            vf_node_label(node));
    return demand_part(walk, node, slot, out, err);
}
