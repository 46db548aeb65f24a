#include <math.h>

#include "passes/match/facts.h"
#include "passes/repbn/repbn.h"

/* Of 1 - λ in halves. */
static const double FIXED_ROUNDING = 1e-3;

/* RepBN is an Add between a few moves. */
enum { DEPTH_MAX = 6 };

/* λ behind a Cast, or NULL: not one number that is given from outside. */
static VfValue *source_of(VfValue *value)
{
    if (value != NULL && value->kind == VF_VALUE_RESULT && value->def->op == VF_OP_CAST)
        value = vf_node_in(value->def, 0);
    bool is_given =
        value != NULL && (value->kind == VF_VALUE_INPUT || value->kind == VF_VALUE_CONST);
    return is_given && vf_dim_is(vf_value_count(value->graph->model->symbols, value), 1) ? value
                                                                                       : NULL;
}

/* Is `value` 1 - λ? A λ that was fixed may have been folded into it. */
static bool is_rest_of(const VfValue *value, const VfValue *lambda)
{
    double one, rest, share;
    const VfNode *sub = vf_def_if(value, VF_OP_SUB);
    if (lambda->kind == VF_VALUE_CONST && vf_scalar_of(value, &rest) &&
        vf_scalar_of(lambda, &share))
        return fabs(share + rest - 1.0) < FIXED_ROUNDING;
    return sub != NULL && vf_scalar_of(vf_node_in(sub, 0), &one) && !(one < 1.0 || one > 1.0) &&
           source_of(vf_node_in(sub, 1)) == lambda;
}

/* The other side of the sum, whose one factor is 1 - λ. */
static VfValue *other_side(VfValue *term, const VfValue *lambda)
{
    const VfNode *mul = vf_def_if(term, VF_OP_MUL);
    for (int32_t i = 0; mul != NULL && i < 2; i++)
        if (is_rest_of(vf_node_in(mul, i), lambda))
            return vf_node_in(mul, 1 - i);
    return NULL;
}

/* Is a BatchNormalization on the way up through sums and moves? Any sum of two shares that make one
 * is no mix. */
static bool has_batch_norm(const VfValue *value, int32_t depth)
{
    const VfNode *node = value != NULL && value->kind == VF_VALUE_RESULT ? value->def : NULL;
    if (node == NULL || depth == 0)
        return false;
    if (node->op == VF_OP_ADD)
        return has_batch_norm(vf_node_in(node, 0), depth - 1) ||
               has_batch_norm(vf_node_in(node, 1), depth - 1);
    return node->op == VF_OP_BATCH_NORMALIZATION ||
           (vf_is_mover(node) && has_batch_norm(vf_node_in(node, 0), depth - 1));
}

static bool is_mix_of(VfNode *mul, VfValue *ln, VfRepBnMix *mix)
{
    if (mul->op != VF_OP_MUL || mul->n_in != 2)
        return false;
    VfValue *lambda = source_of(vf_node_in(mul, vf_node_in(mul, 0) == ln ? 1 : 0));
    VfNode *add = vf_value_single_user(vf_node_out(mul, 0));
    if (lambda == NULL || add == NULL || add->op != VF_OP_ADD)
        return false;
    int32_t slot = vf_node_in(add, 0) == vf_node_out(mul, 0) ? 1 : 0;
    *mix = (VfRepBnMix){lambda, ln, other_side(vf_node_in(add, slot), lambda),
                        vf_node_out(add, 0)};
    return has_batch_norm(mix->repbn, DEPTH_MAX);
}

bool vf_repbn_find_mix(const VfLayerNorm *norm, VfRepBnMix *mix)
{
    for (const VfUse *use = norm->y->first_use; use != NULL; use = use->next)
        if (is_mix_of(use->node, norm->y, mix))
            return true;
    return false;
}

/* λ, when `mul` is (1-λ) `value` and stands in a sum with λ times something, and λ is an input. */
static const VfValue *lambda_of(const VfNode *mul, const VfValue *value)
{
    const VfNode *add = vf_value_single_user(vf_node_out(mul, 0));
    const VfNode *rest = vf_def_if(vf_node_in(mul, vf_node_in(mul, 0) == value ? 1 : 0), VF_OP_SUB);
    if (add == NULL || add->op != VF_OP_ADD || rest == NULL)
        return NULL;
    const VfValue *lambda = source_of(vf_node_in(rest, 1));
    int32_t slot = vf_node_in(add, 0) == vf_node_out(mul, 0) ? 1 : 0;
    const VfNode *other = vf_def_if(vf_node_in(add, slot), VF_OP_MUL);
    if (lambda == NULL || lambda->kind != VF_VALUE_INPUT || other == NULL ||
        !is_rest_of(vf_node_out(rest, 0), lambda))
        return NULL;
    bool is_mix = source_of(vf_node_in(other, 0)) == lambda ||
                  source_of(vf_node_in(other, 1)) == lambda;
    return is_mix ? lambda : NULL;
}

/* The way down of has_batch_norm. */
static const VfValue *lambda_behind(const VfValue *value, int32_t depth)
{
    const VfValue *lambda = NULL;
    for (const VfUse *use = value->first_use; use != NULL && lambda == NULL; use = use->next) {
        const VfNode *node = use->node;
        if (node->op == VF_OP_MUL && node->n_in == 2)
            lambda = lambda_of(node, value);
        else if (depth > 0 && node->n_out > 0 && node->out[0] != NULL &&
                 (node->op == VF_OP_ADD || vf_is_mover(node)))
            lambda = lambda_behind(node->out[0], depth - 1);
    }
    return lambda;
}

VfStatus vf_repbn_refuse_training(VfPassCx *cx, const VfBatchNorm *bn, bool is_last,
                                  bool *is_training, VfErr *err)
{
    const VfValue *lambda = lambda_behind(vf_node_out(bn->bn, 0), DEPTH_MAX);
    *is_training = lambda != NULL;
    if (lambda == NULL || !is_last)
        return VF_OK;
    return vf_pass_refuse(cx, bn->label, bn->bn, err,
                          "input '%s' mixes it with another norm, as in training: keep one of them "
                          "first, by progressive-norm:finish=repbn|ln",
                          vf_value_label(lambda));
}
