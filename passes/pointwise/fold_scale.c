#include "passes/pointwise/fold_scale.h"

#include <math.h>

#include "passes/attention/unfuse.h"
#include "passes/match/facts.h"
#include "passes/match/fused.h"

/* Moving a factor out of h leaves masks that are added as they are: they must stay far from any
 * score. */
static const double sure_mask = -9999.0;

enum { N_STEP_MAX = 16 };

static bool is_one(double x)
{
    return fabs(x - 1.0) <= 1e-12;
}

/* --- facts --- */

/* c h(S) = h(c^(1/p) S): the power p, 0 when it does not hold. */
static double homogeneity(const VfReluFoldCx *cx)
{
    const VfAttention *site = cx->site;
    bool is_bounded = vf_is_fused(site) && vf_fused_softcap(site->norm_node) > 0.0;
    if (fabs(cx->scale->shift) > 0.0 || is_bounded)
        return 0.0;
    for (int32_t i = 0; i < site->n_term; i++) {
        const VfLogitTerm *term = &site->term[i];
        VfDtype dtype = term->value != NULL ? term->value->type.dtype : VF_UNDEFINED;
        bool is_flags = vf_is_fused(site) && !vf_dtype_info(dtype)->is_float;
        if (!is_flags && (!term->is_mask || !(term->lowest <= sure_mask)))
            return 0.0;
        if (!is_flags && term->node->op == VF_OP_ADD && site->has_bias)
            return 0.0;
    }
    return cx->act->power;
}

/* Walks from a scale node on the scores up to the product, through nodes that only this path
 * reads and that add nothing. */
static bool is_plain_path(const VfAttention *site, const VfValue *value)
{
    for (int32_t i = 0; i < N_STEP_MAX && value != NULL; i++) {
        int32_t slot = 0;
        double factor;
        if (vf_value_single_user(value) == NULL)
            return false;
        if (value == site->raw_scores)
            return true;
        const VfNode *node = value->def;
        if (node == NULL || (!vf_is_mover(node) && !vf_is_scale(node, &slot, &factor, NULL)))
            return false;
        value = vf_node_in(node, slot);
    }
    return false;
}

/* Is the node one of those between queries or keys and the product? They are told by
 * vf_relu_owns_operands; what is left stands behind the product. */
static bool is_before_product(const VfAttention *site, const VfNode *node)
{
    const VfValue *value = vf_node_out(node, 0);
    for (int32_t i = 0; i < N_STEP_MAX && value != NULL; i++) {
        const VfNode *user = vf_value_single_user(value);
        if (user == site->score_node)
            return true;
        if (user == NULL)
            return false;
        value = vf_node_out(user, 0);
    }
    return false;
}

/* Does nothing but the way to `end` read what comes after `value`? */
static bool is_read_only_by(const VfValue *value, const VfNode *end)
{
    for (int32_t i = 0; i < N_STEP_MAX && value != NULL; i++) {
        const VfNode *user = vf_value_single_user(value);
        if (user == NULL || user == end)
            return user != NULL;
        value = vf_node_out(user, 0);
    }
    return false;
}

/* Weights that someone else reads (a graph output) keep their factor. */
static bool owns_weights(const VfAttention *site)
{
    return vf_is_fused(site) || is_read_only_by(vf_node_out(site->norm_node, 0), site->value_node);
}

/* So do logits, where their factor would change. */
static bool owns_logits(const VfAttention *site)
{
    return vf_is_fused(site) || is_read_only_by(site->raw_scores, site->norm_node);
}

static const char *why_not_removable(const VfAttention *site)
{
    if (vf_is_fused(site))
        return NULL;
    if (site->scale_value != NULL)
        return "the scores have a factor that is known at run time";
    if (site->n_scale_node == VF_ATTENTION_TERM_MAX)
        return "too many nodes apply the factor of the scores";
    if (!vf_relu_owns_operands(site))
        return "queries or keys are read elsewhere too, or are not followed to the product";
    for (int32_t i = 0; i < site->n_scale_node; i++) {
        const VfNode *node = site->scale_node[i];
        int32_t slot = 0;
        double factor;
        if (!vf_is_scale(node, &slot, &factor, NULL) || isnan(factor))
            return "the factor of the scores is not a number";
        if (!is_before_product(site, node) && !is_plain_path(site, vf_node_in(node, slot)))
            return "something stands between the product and the factor of the scores";
    }
    return NULL;
}

/* --- walks --- */

/* New weights lie in the graph of the site: a layer around it has none of them. */
static const char *why_not_there(const VfAttention *site, const VfFoldWalk *walk)
{
    for (size_t i = 0; walk->why == NULL && i < walk->n_step; i++)
        if (walk->step[i].node->graph != site->graph)
            return "the layer that would take it lies in another graph";
    return walk->why;
}

/* Can `x`, read by `by` alone, be multiplied where it is made? `*why` says what is in the way. */
static VfStatus try_backward(const VfReluFoldCx *cx, VfValue *x, double factor, VfFoldWalk *walk,
                             const char **why, VfErr *err)
{
    VfAffine affine;
    *why = "the rank of queries, keys or values is not known";
    if (x == NULL || x->type.rank < 1)
        return VF_OK;
    *why = "queries, keys or values are read elsewhere too";
    if (x->kind == VF_VALUE_RESULT && vf_value_single_user(x) == NULL)
        return VF_OK;
    VF_TRY(vf_affine_uniform(cx->arena, x->type.rank, factor, &affine, err));
    VF_TRY(vf_fold_walk_backward(walk, cx->arena, cx->model, x, &affine, err));
    *why = why_not_there(cx->site, walk);
    return VF_OK;
}

static VfStatus try_forward(const VfReluFoldCx *cx, double factor, VfFoldWalk *walk,
                            const char **why, VfErr *err)
{
    VfValue *y = cx->site->out;
    VfAffine affine;
    *why = "the rank of the attention's output is not known";
    if (y == NULL || y->type.rank < 1)
        return VF_OK;
    VF_TRY(vf_affine_uniform(cx->arena, y->type.rank, factor, &affine, err));
    VF_TRY(vf_fold_walk_forward(walk, cx->arena, cx->model, y, &affine, err));
    *why = why_not_there(cx->site, walk);
    if (walk->n_step == 0 && *why == NULL)
        *why = "nothing reads the attention's output";
    return VF_OK;
}

/* Are queries, keys and values just what the operands of the fused operator hold? */
static bool has_own_operands(const VfAttention *site)
{
    return site->norm_node->op == VF_OP_ATTENTION && vf_unfuse_why_not_alone(site) == NULL;
}

/* The operand of the product of weights and values that holds the values. */
static VfValue *values_of(const VfAttention *site)
{
    if (vf_is_fused(site))
        return has_own_operands(site) ? site->v : NULL;
    const VfNode *node = site->value_node;
    bool is_product =
        node != NULL && node->n_in == 2 && (node->op == VF_OP_MATMUL || node->op == VF_OP_EINSUM);
    if (!is_product)
        return NULL;
    return vf_node_in(node, 0) == site->probs ? vf_node_in(node, 1) : vf_node_in(node, 0);
}

/* --- where the factors go --- */

/* Queries or keys take `factor`. */
static VfStatus fold_before(const VfReluFoldCx *cx, double factor, VfReluFold *fold,
                            const char **into, const char **why, VfErr *err)
{
    const VfAttention *site = cx->site;
    VfFoldWalk *walk = &fold->walk[fold->n_walk];
    if (vf_is_fused(site) && !has_own_operands(site)) {
        *why = site->norm_node->op == VF_OP_ATTENTION
                   ? vf_unfuse_why_not_alone(site)
                   : "the projections lie inside the fused operator";
        return VF_OK;
    }
    VF_TRY(try_backward(cx, site->q, factor, walk, why, err));
    *into = "queries";
    if (*why != NULL) {
        const char *first = *why;
        VF_TRY(try_backward(cx, site->k, factor, walk, why, err));
        *into = "keys";
        if (*why != NULL)
            *why = first;
    }
    fold->n_walk += *why == NULL ? 1 : 0;
    return VF_OK;
}

/* Values, or the layers that read the output, take `factor`. */
static VfStatus fold_behind(const VfReluFoldCx *cx, double factor, VfReluFold *fold,
                            const char **into, const char **why, VfErr *err)
{
    VfFoldWalk *walk = &fold->walk[fold->n_walk];
    if (!owns_weights(cx->site)) {
        *why = "the weights are read elsewhere too";
        return VF_OK;
    }
    VF_TRY(try_backward(cx, values_of(cx->site), factor, walk, why, err));
    *into = "values";
    if (*why != NULL) {
        VF_TRY(try_forward(cx, factor, walk, why, err));
        *into = "output";
    }
    fold->n_walk += *why == NULL ? 1 : 0;
    return VF_OK;
}

/* gain L^-alpha; NaN when it is not one number. */
static double factor_of_weights(const VfReluFoldCx *cx)
{
    if (cx->is_by_row || isnan(cx->scale->gain))
        return (double)NAN;
    if (fabs(cx->scale->alpha) <= 0.0)
        return cx->scale->gain;
    return vf_dim_is_known(cx->keys) ? cx->scale->gain * pow((double)cx->keys.k, -cx->scale->alpha)
                                     : (double)NAN;
}

/* Both factors behind h: only where it is homogeneous. */
static VfStatus fold_both_behind(const VfReluFoldCx *cx, double power, VfReluFold *fold, VfErr *err)
{
    double s = pow(cx->site->scale, power), t = factor_of_weights(cx);
    const char *why = NULL, *into = NULL;
    bool is_static = !isnan(t);
    VF_TRY(fold_behind(cx, is_static ? s * t : s, fold, &into, &why, err));
    if (why != NULL)
        return VF_OK;
    fold->folds_scores = true;
    fold->scores_into = into;
    fold->why_not_scores = NULL;
    fold->folds_weights = is_static && !is_one(t);
    fold->weights_into = fold->folds_weights ? into : NULL;
    return VF_OK;
}

/* The factor of the weights: behind h, else before it where h is homogeneous. */
static VfStatus fold_weights(const VfReluFoldCx *cx, double power, VfReluFold *fold, VfErr *err)
{
    double t = factor_of_weights(cx);
    const char *why = NULL, *into = NULL, *ignored = NULL;
    if (isnan(t)) {
        fold->why_not_weights = cx->is_by_row ? "the number of keys differs by row"
                                              : "the number of keys is known at run time";
        return VF_OK;
    }
    if (is_one(t))
        return VF_OK;
    VF_TRY(fold_behind(cx, t, fold, &into, &why, err));
    /* queries that take one factor already are not walked twice */
    if (why != NULL && power > 0.0 && t > 0.0 && !fold->folds_scores && !cx->has_qk_norm &&
        !vf_is_fused(cx->site) && vf_relu_owns_operands(cx->site)) {
        VF_TRY(fold_before(cx, pow(t, 1.0 / power), fold, &into, &ignored, err));
        why = ignored == NULL ? NULL : why;
    }
    fold->folds_weights = why == NULL;
    fold->weights_into = why == NULL ? into : NULL;
    fold->why_not_weights = why;
    return VF_OK;
}

VfStatus vf_relu_fold_plan(const VfReluFoldCx *cx, VfReluFold *fold, VfErr *err)
{
    double s = cx->site->scale, power = homogeneity(cx);
    *fold = (VfReluFold){0};
    if (!is_one(s) && !isnan(s) && s > 0.0) {
        const char *fixed = cx->has_qk_norm ? "the norms of queries and keys undo a factor"
                                            : why_not_removable(cx->site),
                   *into = NULL;
        fold->why_not_scores = fixed;
        if (fixed == NULL)
            VF_TRY(fold_before(cx, s, fold, &into, &fold->why_not_scores, err));
        fold->folds_scores = fixed == NULL && fold->why_not_scores == NULL;
        fold->scores_into = fold->folds_scores ? into : NULL;
        if (fixed == NULL && !fold->folds_scores && power > 0.0 && owns_logits(cx->site))
            VF_TRY(fold_both_behind(cx, power, fold, err));
    }
    return fold->folds_weights ? VF_OK : fold_weights(cx, power, fold, err);
}
