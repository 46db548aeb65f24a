/* BatchNormalization, and BN(x) + η x around it. */
#include "passes/match/norm_parts.h"

#include <math.h>

#include "passes/ir/attr.h"
#include "passes/match/axis.h"
#include "passes/match/facts.h"

/* --- parameters --- */

/* A constant vector of `channels` numbers (any length when < 0), else the reason in `why`. */
static const VfTensor *parameter(VfArena *arena, VfNode *node, int32_t slot, int64_t channels,
                                 const char **why)
{
    static const char *const name[] = {"x", "scale", "shift", "mean", "variance"};
    const VfTensor *t = vf_value_const(vf_node_in(node, slot));
    bool is_vector = t != NULL && t->rank == 1 && vf_dtype_info(t->dtype)->is_float;
    if (is_vector && (channels < 0 || t->dims[0] == channels))
        return t;
    const VfValue *value = vf_node_in(node, slot);
    bool is_input = t == NULL && value != NULL && value->kind == VF_VALUE_INPUT;
    if (*why == NULL && is_input)
        *why = vf_arena_printf(arena, "the %s of '%s' is not constant but the input '%s'",
                               name[slot], vf_node_label(node), vf_value_label(value));
    else if (*why == NULL)
        *why = vf_arena_printf(arena, "the %s of '%s' is %s", name[slot], vf_node_label(node),
                               t == NULL ? "not constant" : "no vector of one number per channel");
    return NULL;
}

static void set_parameters(VfArena *arena, VfBatchNorm *norm)
{
    VfNode *node = norm->bn;
    norm->gamma = parameter(arena, node, 1, -1, &norm->why);
    norm->channels = norm->gamma ? norm->gamma->dims[0] : -1;
    norm->beta = parameter(arena, node, 2, norm->channels, &norm->why);
    norm->mean = parameter(arena, node, 3, norm->channels, &norm->why);
    norm->var = parameter(arena, node, 4, norm->channels, &norm->why);
    norm->epsilon = vf_node_float(node, "epsilon");
    bool is_training =
        vf_node_attr(node, "training_mode") != NULL && vf_node_int(node, "training_mode") != 0;
    bool is_spatial = vf_node_attr(node, "spatial") == NULL || vf_node_int(node, "spatial") != 0;
    if (norm->why == NULL && (is_training || !is_spatial))
        norm->why = vf_arena_printf(arena, "'%s' %s", vf_node_label(node),
                                    is_training ? "is in training mode"
                                                : "normalises every position for itself");
    for (size_t i = 0; norm->why == NULL && i < norm->var->count; i++) {
        if (!(vf_tensor_get_double(norm->var, i) + norm->epsilon > 0.0))
            norm->why =
                vf_arena_printf(arena, "the variance of '%s' is not positive in channel %zu",
                                vf_node_label(node), i);
    }
}

/* --- RepBN --- */

/* Does constant `eta` have one number, or one per channel along `axis` of a value of `rank` axes?
 */
static bool is_eta(const VfTensor *eta, int64_t channels, int32_t rank, int32_t axis)
{
    if (eta == NULL || eta->count == 0 || !vf_dtype_info(eta->dtype)->is_float)
        return false;
    if (eta->count == 1)
        return true;
    for (int32_t i = 0; i < eta->rank; i++) {
        int32_t at = rank - eta->rank + i;
        if (eta->dims[i] != 1 && (at != axis || eta->dims[i] != channels))
            return false;
    }
    return eta->rank <= rank;
}

/* Same operator, same way to move: what one does to a value the other does too. */
static bool moves_alike(const VfNode *a, const VfNode *b)
{
    int32_t p[VF_AXIS_MAX], q[VF_AXIS_MAX];
    if (a == b)
        return true;
    int32_t n = vf_transpose_perm(a, p);
    if (n < 0 || vf_transpose_perm(b, q) != n)
        return false;
    for (int32_t i = 0; i < n; i++) {
        if (p[i] != q[i])
            return false;
    }
    return true;
}

/* Does `back` undo `forth`? */
static bool undoes(VfSymbols *symbols, const VfNode *back, const VfNode *forth)
{
    int32_t p[VF_AXIS_MAX], q[VF_AXIS_MAX];
    int32_t n = vf_transpose_perm(forth, p);
    if (n >= 0) {
        if (vf_transpose_perm(back, q) != n)
            return false;
        for (int32_t i = 0; i < n; i++) {
            if (p[q[i]] != i)
                return false;
        }
        return true;
    }
    const VfValue *from = vf_node_in(forth, 0), *to = vf_node_out(back, 0);
    bool are_views = vf_op_has(forth->op, VF_OPF_VIEW) && vf_op_has(back->op, VF_OPF_VIEW);
    if (!are_views || from->type.rank < 0 || from->type.rank != to->type.rank)
        return false;
    for (int32_t i = 0; i < from->type.rank; i++) {
        if (!vf_dim_is_same(from->type.dims[i], to->type.dims[i]))
            return false;
    }
    return vf_dim_is_same(vf_value_count(symbols, from), vf_value_count(symbols, to));
}

/* Take `value` apart as η·base; η NULL when there is no factor. False if its factor is no η along
 * `axis`. */
static bool split_eta(const VfBatchNorm *norm, VfValue *value, int32_t axis, VfValue **eta,
                      VfNode **mul, VfValue **base)
{
    VfNode *node = vf_def_if(value, VF_OP_MUL);
    *eta = NULL;
    *mul = NULL;
    *base = value;
    for (int32_t i = 0; node != NULL && i < 2; i++) {
        const VfTensor *t = vf_value_const(vf_node_in(node, i));
        if (t == NULL)
            continue;
        *eta = vf_node_in(node, i);
        *mul = node;
        *base = vf_node_in(node, 1 - i);
        return is_eta(t, norm->channels, value->type.rank, axis);
    }
    return true;
}

/* The axis that becomes `axis` behind the Transpose or view `forth`; -1 when it is lost. */
static int32_t axis_before(VfSymbols *symbols, const VfNode *forth, int32_t axis)
{
    int32_t perm[VF_AXIS_MAX];
    int32_t n = vf_transpose_perm(forth, perm);
    const VfValue *from = vf_node_out(forth, 0), *to = vf_node_in(forth, 0);
    if (n >= 0 || axis < 0)
        return axis >= 0 && axis < n ? perm[axis] : -1;
    return from->type.rank < 0 || to->type.rank < 0
               ? -1
               : vf_axis_through_view(symbols, &from->type, &to->type, axis);
}

static VfNode *mover_of(const VfValue *value)
{
    bool is_moved = value->kind == VF_VALUE_RESULT && vf_is_mover(value->def);
    return is_moved && vf_node_in(value->def, 0) != NULL ? value->def : NULL;
}

/* Is `other` η x in the layout that the nodes of norm->back lead to, which undo those in front of
 * bn one by one? */
static bool is_share_before(VfSymbols *symbols, VfBatchNorm *norm, VfValue *other)
{
    VfValue *base, *before = norm->x;
    int32_t axis = 1;
    for (int32_t i = 0; i < norm->n_back; i++) {
        VfNode *forth = mover_of(before);
        if (forth == NULL || !undoes(symbols, norm->back[i], forth))
            return false;
        axis = axis_before(symbols, forth, axis);
        before = vf_node_in(forth, 0);
    }
    return split_eta(norm, other, axis, &norm->eta, &norm->mul, &base) && base == before;
}

/* Is `other` η x? x in the layout of bn, or in the one before. */
static bool is_share_of_x(VfSymbols *symbols, VfBatchNorm *norm, VfValue *other)
{
    VfNode *forth = mover_of(norm->x);
    VfValue *base, *inner, *before = forth ? vf_node_in(forth, 0) : NULL;
    if (norm->n_back > 0)
        return is_share_before(symbols, norm, other);
    if (!split_eta(norm, other, 1, &norm->eta, &norm->mul, &base))
        return false;
    if (base == norm->x)
        return true;
    if (forth == NULL || base->kind != VF_VALUE_RESULT || !moves_alike(base->def, forth))
        return false;
    if (norm->eta != NULL)
        return vf_node_in(base->def, 0) == before;
    return split_eta(norm, vf_node_in(base->def, 0), axis_before(symbols, forth, 1), &norm->eta,
                     &norm->mul, &inner) &&
           inner == before;
}

static bool take_sum(VfSymbols *symbols, VfBatchNorm *norm, VfValue *value)
{
    VfNode *add = vf_value_single_user(value);
    if (add == NULL || add->op != VF_OP_ADD || vf_node_out(add, 0) == NULL)
        return false;
    VfValue *other = vf_other_in(add, value->first_use->slot);
    if (other == NULL || other == value || !is_share_of_x(symbols, norm, other))
        return false;
    norm->is_rep = true;
    norm->add = norm->last = add;
    norm->y = vf_node_out(add, 0);
    return true;
}

static void set_rep(VfSymbols *symbols, VfBatchNorm *norm)
{
    for (VfValue *value = norm->y; !take_sum(symbols, norm, value);) {
        VfNode *back = vf_value_single_user(value);
        bool is_move =
            back != NULL && (back->op == VF_OP_TRANSPOSE || vf_op_has(back->op, VF_OPF_VIEW));
        if (!is_move || vf_node_out(back, 0) == NULL || norm->n_back == VF_NORM_BACK_MAX) {
            norm->eta = NULL;
            norm->mul = NULL;
            norm->n_back = 0;
            return;
        }
        norm->back[norm->n_back++] = back;
        value = vf_node_out(back, 0);
    }
}

VfStatus vf_batch_norm_of(VfArena *arena, VfNode *node, VfBatchNorm *norm, VfErr *err)
{
    *norm = (VfBatchNorm){
        .bn = node, .last = node, .label = vf_node_label(node), .channels = -1};
    norm->x = vf_node_in(node, 0);
    norm->y = vf_node_out(node, 0);
    if (norm->x == NULL || norm->y == NULL)
        return vf_fail(err, VF_INVALID, "node '%s' lacks its operand or result",
                       vf_node_label(node));
    set_parameters(arena, norm);
    set_rep(node->graph->model->symbols, norm);
    return VF_OK;
}

VfStatus vf_batch_norm_affine(VfArena *arena, const VfBatchNorm *bn, double **a, double **c,
                              VfErr *err)
{
    if (bn->why != NULL)
        return vf_fail(err, VF_UNSUPPORTED, "%s", bn->why);
    const VfTensor *eta = bn->is_rep ? vf_value_const(bn->eta) : NULL;
    size_t n = (size_t)bn->channels;
    *a = VF_NEW_ARRAY(arena, double, n);
    *c = VF_NEW_ARRAY(arena, double, n);
    VF_TRY_ALLOC(*a, err);
    VF_TRY_ALLOC(*c, err);
    for (size_t i = 0; i < n; i++) {
        double sigma = sqrt(vf_tensor_get_double(bn->var, i) + bn->epsilon);
        double share = bn->is_rep ? 1.0 : 0.0;
        if (eta != NULL)
            share = vf_tensor_get_double(eta, eta->count == 1 ? 0 : i);
        double scale = vf_tensor_get_double(bn->gamma, i) / sigma;
        (*a)[i] = scale + share;
        (*c)[i] = vf_tensor_get_double(bn->beta, i) - scale * vf_tensor_get_double(bn->mean, i);
    }
    return VF_OK;
}
