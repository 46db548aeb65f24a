/* The constants of a layer and the nodes around them. */
#include <math.h>
#include <string.h>

#include "passes/fuse_site.h"
#include "passes/match/facts.h"
#include "passes/spa_insert/spa_insert.h"

/* --- stacks --- */

VfStatus vf_spa_build(VfSpaPlan *plan, VfSpaGroup *group, VfErr *err)
{
    const VfSpaOptions *options = plan->options;
    bool is_known = vf_dim_is_known(group->tokens);
    int64_t n = is_known ? group->tokens.k : options->max_tokens;
    VfErr why = {0};
    if (group->is_built)
        return VF_OK;
    group->is_built = true;
    VfSpaSpec spec = vf_spa_spec((VfSpaKernel)options->kernel,
                                 n > INT32_MAX ? INT32_MAX : (int32_t)n, group->depth);
    spec.is_causal = group->is_causal;
    spec.grid_h = group->grid_h;
    spec.grid_w = group->grid_w;
    spec.prefix = group->prefix;
    spec.link = options->link;
    spec.mean_correlation = options->rho_bar;
    spec.is_raw_diagonal = options->unit_diag == 0;
    spec.floor = options->delta;
    spec.target = vf_spa_is_uniform(spec.kernel) ? options->rho : options->gamma;
    VfStatus status = vf_spa_stack(plan->cx->arena, &spec, &group->stack, &why);
    if (status == VF_NO_MEMORY || status == VF_INTERNAL)
        return vf_fail(err, status, "%s", why.text);
    if (status != VF_OK) {
        group->why = vf_arena_printf(plan->cx->arena, "%s", why.text);
        return VF_OK;
    }
    bool is_causal = vf_spa_is_leading(group->stack.spec.kernel);
    if (is_causal != group->is_causal)
        group->why = is_causal ? "a causal kernel needs a causal mask, and the graph has none"
                               : "its mask is causal, and the kernel is not";
    size_t n_bias = (size_t)group->depth + 1;
    group->bias = vf_arena_alloc(plan->cx->arena, n_bias * sizeof *group->bias);
    VF_TRY_ALLOC(group->bias, err);
    memset(group->bias, 0, n_bias * sizeof *group->bias);
    for (int32_t i = 0; i < group->stack.n_layer; i++)
        vf_spa_weaken(&group->stack.layer[i], plan->tau);
    return VF_OK;
}

/* --- constants --- */

static VfValue *numbers(VfRewrite *rw, VfArena *arena, VfDtype dtype, int32_t rank,
                        const int64_t *dims, const double *from, const char *hint)
{
    VfTensor *tensor = NULL;
    void *data = NULL;
    if (vf_tensor_new(arena, dtype, rank, dims, &tensor, &data, NULL) == VF_OK) {
        for (size_t i = 0; i < tensor->count; i++)
            vf_tensor_put_double(data, dtype, i, from[i]);
    }
    return vf_rewrite_const(rw, tensor, hint);
}

typedef struct Build {
    VfSpaPlan *plan;
    VfSpaSite *work;
    const VfAttention *site;
    const VfSpaLayer *layer;
    VfRewrite *rw;
    VfDtype dtype;
} Build;

/* B as 1 x 1 x T x T, stored once for the parallel sites of a layer. */
static VfValue *bias_of(Build *build)
{
    VfSpaGroup *group = build->work->group;
    VfArena *arena = build->plan->cx->model->arena;
    const VfMatrix *B = &build->layer->B;
    VfMatrix pointwise;
    const int64_t dims[4] = {1, 1, B->n_row, B->n_col};
    VfValue **made = &group->bias[build->work->l];
    bool is_pointwise = build->site->kind == VF_ATTENTION_POINTWISE;
    if (!is_pointwise && *made != NULL && (*made)->type.dtype == build->dtype)
        return *made;
    if (is_pointwise) {
        double scale = pow((double)build->site->n_k.k, build->site->alpha);
        if (vf_spa_pointwise_bias(build->plan->cx->arena, build->layer, build->site->act, scale,
                                  &pointwise, NULL) != VF_OK)
            return NULL;
        B = &pointwise;
    }
    int32_t rank = build->site->score_node == NULL ? 4
                   : build->site->logits->type.rank < 4 ? 2 : 4;
    VfValue *bias = numbers(build->rw, arena, build->dtype, rank, rank == 4 ? dims : dims + 2,
                            B->at, "spa_bias");
    if (!is_pointwise && rank == 4)
        *made = bias;
    return bias;
}

/* The leading T rows (and columns) of a constant for the largest T. */
static VfValue *leading(Build *build, VfValue *value, int32_t n_axis)
{
    VfRewrite *rw = build->rw;
    if (vf_dim_is_known(build->site->n_q) || value == NULL)
        return value;
    int32_t rank = build->site->logits->type.rank, last = value->type.rank - n_axis;
    const int64_t zero[2] = {0, 0}, both[2] = {last, last + 1};
    VfValue *shape = vf_rewrite_unary(rw, VF_OP_SHAPE, build->site->logits);
    VfValue *ends = vf_rewrite_slice(rw, shape, 0, rank - 2, rank - 2 + n_axis);
    VfValue *in[4] = {value, vf_rewrite_const_i64(rw, n_axis, zero, "from"), ends,
                      vf_rewrite_const_i64(rw, n_axis, both, "axes")};
    return vf_rewrite_node(rw, VF_OP_SLICE, 4, in);
}

/* D (P V), rows along the query axis. */
static void scale_rows(Build *build)
{
    const VfSpaLayer *layer = build->layer;
    VfValue *out = build->site->out, *by;
    VfArena *arena = build->plan->cx->model->arena;
    int32_t after = out->type.rank - 1 - vf_spa_query_axis(build->site);
    int64_t dims[VF_AXIS_MAX];
    for (int32_t i = 0; i <= after && i < VF_AXIS_MAX; i++)
        dims[i] = i == 0 ? layer->A.n_row : 1;
    if (layer->is_scalar) {
        by = vf_rewrite_scalar(build->rw, out->type.dtype, layer->D[0], "spa_rows");
    } else {
        by = numbers(build->rw, arena, out->type.dtype, after + 1, dims, layer->D, "spa_rows");
        if (!vf_dim_is_known(build->site->n_q)) {
            /* the query axis is the first of the constant */
            int32_t rank = build->site->logits->type.rank;
            const int64_t zero = 0;
            VfValue *shape = vf_rewrite_unary(build->rw, VF_OP_SHAPE, build->site->logits);
            VfValue *in[4] = {by, vf_rewrite_const_i64(build->rw, 1, &zero, "from"),
                              vf_rewrite_slice(build->rw, shape, 0, rank - 2, rank - 1),
                              vf_rewrite_const_i64(build->rw, 1, &zero, "axes")};
            by = vf_rewrite_node(build->rw, VF_OP_SLICE, 4, in);
        }
    }
    vf_rewrite_replace(build->rw, out, vf_rewrite_binary(build->rw, VF_OP_MUL, out, by));
}

/* The bias goes to the operand that the operator adds to its logits. */
static void add_to_fused(Build *build, VfValue *bias)
{
    VfNode *node = build->site->norm_node;
    int32_t slot = vf_spa_bias_slot(node);
    VfValue *old = vf_node_in(node, slot);
    if (old != NULL && old->type.dtype == VF_BOOL) {
        VfValue *in[] = {old, bias,
                         vf_rewrite_scalar(build->rw, build->dtype, -(double)INFINITY, "removed")};
        bias = vf_rewrite_node(build->rw, VF_OP_WHERE, 3, in);
    } else if (old != NULL) {
        bias = vf_rewrite_binary(build->rw, VF_OP_ADD, old, bias);
    }
    for (int32_t i = node->n_in; i < slot; i++)
        vf_rewrite_set_in(build->rw, node, i, VF_NO_OPERAND);
    vf_rewrite_set_in(build->rw, node, slot, bias);
}

static void note(Build *build)
{
    const VfSpaStack *stack = &build->work->group->stack;
    const VfSpaSpec *spec = &stack->spec;
    vf_rewrite_note(build->rw,
                    "kernel %s, %d tokens, grid %dx%d, prefix %d, layer %d of %d, target %.6g, tau "
                    "%g; smallest entry %.1e, row error %.0e, product error %.0e%s%s",
                    vf_spa_kernel_name(spec->kernel), (int)spec->tokens, (int)spec->grid_h,
                    (int)spec->grid_w, (int)spec->prefix, (int)build->work->l, (int)spec->depth,
                    spec->target, build->plan->tau, stack->check.smallest,
                    stack->check.row_error < 1e-12 ? 0.0 : stack->check.row_error,
                    stack->check.product_error < 1e-12 ? 0.0 : stack->check.product_error,
                    stack->fallback != NULL ? "; " : "",
                    stack->fallback != NULL ? stack->fallback : "");
}

VfStatus vf_spa_insert(VfSpaPlan *plan, VfSpaSite *work, VfErr *err)
{
    const VfAttention *site = work->site;
    Build build = {plan, work, site, &work->group->stack.layer[work->l - 1], NULL,
                   site->score_node != NULL ? site->logits->type.dtype : site->out->type.dtype};
    build.rw = vf_rewrite_begin(plan->cx->journal, site->norm_node,
                                (VfRewriteInfo){plan->cx->pass, "insert-spa", site->label, NULL});
    VF_TRY_ALLOC(build.rw, err);
    VfValue *bias = leading(&build, bias_of(&build), 2);
    if (site->score_node == NULL)
        add_to_fused(&build, bias);
    else if (site->kind == VF_ATTENTION_POINTWISE)
        vf_rewrite_replace(build.rw, site->logits,
                           vf_rewrite_binary(build.rw, VF_OP_ADD, site->logits, bias));
    else
        vf_rewrite_set_in(build.rw, site->norm_node, 0,
                          vf_rewrite_binary(build.rw, VF_OP_ADD, site->logits, bias));
    if (site->kind == VF_ATTENTION_SOFTMAX)
        scale_rows(&build);
    note(&build);
    return vf_rewrite_commit(build.rw, err);
}

/* --- Value-SkipInit and shaped attention: alpha V + beta (A V) - center mean(V) --- */

static VfValue *times(VfRewrite *rw, VfValue *x, double factor, const char *hint)
{
    return vf_rewrite_binary(rw, VF_OP_MUL, x,
                             vf_rewrite_scalar(rw, x->type.dtype, factor, hint));
}

static const char *why_not_values(const VfSpaPlan *plan, const VfAttention *site,
                                  const VfValue *value)
{
    if (site->score_node != NULL &&
        (site->value_node->op != VF_OP_MATMUL || vf_node_in(site->value_node, 0) != site->probs))
        return "its value product is no MatMul of weights and values";
    if (value == NULL || !vf_fuse_same_type(value, site->out))
        return "its values do not have the shape of its result";
    bool is_masked = site->mask != VF_MASK_NONE || site->is_causal;
    return plan->options->kernel == VF_SPA_SHAPED && is_masked
               ? "under a mask, attention at zero logits is not the mean of all values"
               : NULL;
}

VfStatus vf_spa_insert_values(VfSpaPlan *plan, VfSpaSite *work, VfErr *err)
{
    const VfAttention *site = work->site;
    const VfSpaOptions *options = plan->options;
    bool is_shaped = options->kernel == VF_SPA_SHAPED;
    VfValue *value = site->score_node == NULL ? site->v : vf_node_in(site->value_node, 1);
    const char *why = why_not_values(plan, site, value);
    if (why != NULL)
        return vf_pass_refuse(plan->cx, site->label, site->norm_node, err, "%s", why);
    VfRewrite *rw =
        vf_rewrite_begin(plan->cx->journal, site->value_node,
                         (VfRewriteInfo){plan->cx->pass, is_shaped ? "shaped" : "value-skipinit",
                                         site->label, NULL});
    VF_TRY_ALLOC(rw, err);
    VfValue *sum =
        vf_rewrite_binary(rw, VF_OP_ADD, times(rw, value, options->alpha, "spa_alpha"),
                          times(rw, site->out, options->beta, "spa_beta"));
    if (is_shaped) {
        /* the mean of attention that has a point-wise function is what that is at zero: none */
        const int64_t axis = value->type.rank - 2;
        VfValue *mean = vf_rewrite_reduce(rw, VF_OP_REDUCE_MEAN, value, 1, &axis, true);
        if (mean != NULL)
            sum = vf_rewrite_binary(rw, VF_OP_SUB, sum,
                                    times(rw, mean, options->center, "spa_center"));
    }
    vf_rewrite_replace(rw, site->out, sum);
    vf_rewrite_note(rw, "alpha %g, beta %g, center %g", options->alpha, options->beta,
                    is_shaped ? options->center : 0.0);
    return vf_rewrite_commit(rw, err);
}
