/* The constants of a layer and the nodes around them. */
#include <math.h>

#include "passes/fold/apply.h"
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
    group->bias = VF_NEW_ARRAY(plan->cx->arena, VfValue *, (size_t)group->depth + 1);
    VF_TRY_ALLOC(group->bias, err);
    for (int32_t i = 0; i < group->stack.n_layer; i++)
        vf_spa_weaken(&group->stack.layer[i], plan->tau);
    return VF_OK;
}

/* --- constants --- */

VfValue *vf_spa_const(const VfSpaPlan *plan, VfRewrite *rw, const VfSpaShape *shape,
                      const double *from, const char *hint)
{
    const VfTensor *tensor = vf_tensor_doubles(plan->cx->model->arena, shape->dtype, shape->rank,
                                               shape->dims, from);
    return vf_rewrite_const(rw, tensor, hint); /* NULL is noted as a failure of the rewrite */
}

VfValue *vf_spa_matrix(const VfSpaPlan *plan, VfRewrite *rw, VfDtype dtype, const VfMatrix *matrix,
                       const char *hint)
{
    VfSpaShape shape = {dtype, 2, {matrix->n_row, matrix->n_col}};
    return vf_spa_const(plan, rw, &shape, matrix->at, hint);
}

VfRewrite *vf_spa_begin(const VfSpaPlan *plan, const VfAttention *site, const char *rule)
{
    return vf_rewrite_begin(plan->cx->journal, site->norm_node,
                            (VfRewriteInfo){plan->cx->pass, rule, site->label, NULL});
}

/* An error in rounding's size is none. */
static double seen_error(double error)
{
    return error < 1e-12 ? 0.0 : error;
}

void vf_spa_note(const VfSpaPlan *plan, const VfSpaSite *work, VfRewrite *rw, const char *more)
{
    const VfSpaStack *stack = &work->group->stack;
    const VfSpaSpec *spec = &stack->spec;
    const char *why = stack->fallback != NULL ? stack->fallback : "";
    const char *text = vf_arena_printf(
        plan->cx->arena,
        "kernel %s, %d tokens, grid %dx%d, prefix %d, layer %d of %d, target %.6g, tau %g%s; "
        "smallest entry %.1e, row error %.0e, product error %.0e%s%s",
        vf_spa_kernel_name(spec->kernel), (int)spec->tokens, (int)spec->grid_h, (int)spec->grid_w,
        (int)spec->prefix, (int)work->l, (int)spec->depth, spec->target, plan->tau, more,
        stack->check.smallest, seen_error(stack->check.row_error),
        seen_error(stack->check.product_error), why[0] != '\0' ? "; " : "", why);
    if (text == NULL)
        return;
    vf_rewrite_note(rw, "%s", text);
    vf_rewrite_number(rw, "smallest_entry", stack->check.smallest);
    vf_rewrite_number(rw, "row_error", stack->check.row_error);
    vf_rewrite_number(rw, "product_error", stack->check.product_error);
}

/* --- around a softmax --- */

typedef struct Build {
    VfSpaPlan *plan;
    VfSpaSite *work;
    const VfAttention *site;
    const VfSpaLayer *layer;
    VfRewrite *rw;
    VfDtype dtype;
    const char *more; /* for the note */
} Build;

/* B, stored once for the parallel sites of a layer. Fused operators want the axes of batch and
 * heads too. */
static VfValue *bias_of(Build *build)
{
    const VfMatrix *B = &build->layer->B;
    VfSpaShape shape = {build->dtype, 2, {B->n_row, B->n_col}};
    VfValue **made = &build->work->group->bias[build->work->l];
    if (build->site->score_node == NULL)
        shape = (VfSpaShape){build->dtype, 4, {1, 1, B->n_row, B->n_col}};
    if (*made == NULL || (*made)->type.dtype != shape.dtype || (*made)->type.rank != shape.rank)
        *made = vf_spa_const(build->plan, build->rw, &shape, B->at, "spa_bias");
    return *made;
}

/* The first T elements of a constant for the largest T, along each of its axes from `axis` on, T
 * being the length of the logits' last axes. */
static VfValue *leading(Build *build, VfValue *value, int32_t axis, int32_t n_axis)
{
    VfRewrite *rw = build->rw;
    if (vf_dim_is_known(build->site->n_q) || value == NULL)
        return value;
    int32_t rank = build->site->logits->type.rank;
    const int64_t zero[2] = {0, 0}, both[2] = {axis, axis + 1};
    VfValue *shape = vf_rewrite_unary(rw, VF_OP_SHAPE, build->site->logits);
    VfValue *ends = vf_rewrite_slice(rw, shape, 0, rank - 2, rank - 2 + n_axis);
    VfValue *in[4] = {value, vf_rewrite_const_i64(rw, n_axis, zero, "from"), ends,
                      vf_rewrite_const_i64(rw, n_axis, both, "axes")};
    return vf_rewrite_node(rw, VF_OP_SLICE, 4, in);
}

/* One factor goes into the weights of the layers behind. `*is_done` is false where something else
 * reads the result. */
static VfStatus fold_factor(Build *build, bool *is_done, VfErr *err)
{
    VfPassCx *cx = build->plan->cx;
    VfValue *out = build->site->out;
    VfFoldWalk walk;
    VfAffine affine;
    *is_done = false;
    VF_TRY(vf_affine_uniform(cx->arena, out->type.rank, build->layer->D[0], &affine, err));
    VF_TRY(vf_fold_walk_forward(&walk, cx->arena, cx->model, out, &affine, err));
    if (walk.why != NULL)
        return VF_OK;
    VF_TRY(vf_fold_apply(build->rw, &walk, err));
    build->more = ", row factor folded";
    *is_done = true;
    return VF_OK;
}

/* D (P V), rows along the query axis. */
static void scale_rows(Build *build)
{
    const VfSpaLayer *layer = build->layer;
    VfValue *out = build->site->out, *by;
    VfSpaShape shape = {out->type.dtype, out->type.rank - vf_spa_query_axis(build->site),
                        {layer->A.n_row}};
    for (int32_t i = 1; i < shape.rank; i++)
        shape.dims[i] = 1;
    by = layer->is_scalar
             ? vf_rewrite_scalar(build->rw, shape.dtype, layer->D[0], "spa_rows")
             : leading(build, vf_spa_const(build->plan, build->rw, &shape, layer->D, "spa_rows"), 0,
                       1);
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

static VfStatus build_site(Build *build, bool may_fold, VfErr *err)
{
    const VfAttention *site = build->site;
    bool is_folded = false;
    build->more = "";
    build->rw = vf_spa_begin(build->plan, site, "insert-spa");
    VF_TRY_ALLOC(build->rw, err);
    VfValue *bias = leading(build, bias_of(build), 0, 2);
    if (site->score_node == NULL)
        add_to_fused(build, bias);
    else
        vf_rewrite_replace(build->rw, site->logits,
                           vf_rewrite_binary(build->rw, VF_OP_ADD, site->logits, bias));
    if (may_fold)
        VF_TRY(fold_factor(build, &is_folded, err));
    if (!is_folded)
        scale_rows(build);
    vf_spa_note(build->plan, build->work, build->rw, build->more);
    return vf_rewrite_commit(build->rw, err);
}

VfStatus vf_spa_insert(VfSpaPlan *plan, VfSpaSite *work, VfErr *err)
{
    const VfAttention *site = work->site;
    bool is_fused = site->score_node == NULL;
    Build build = {plan, work, site, &work->group->stack.layer[work->l - 1], NULL,
                   is_fused ? site->out->type.dtype : site->logits->type.dtype, ""};
    VfErr why = {0};
    VfStatus status = VF_DIFFERS;
    /* A fused operator shows what was done to it by the Mul behind it only. */
    if (plan->options->fold != 0 && build.layer->is_scalar && !is_fused)
        status = build_site(&build, true, &why);
    if (status == VF_OK)
        return VF_OK;
    if (status != VF_DIFFERS && status != VF_UNSUPPORTED)
        return vf_fail(err, status, "%s", why.text);
    work->group->bias[work->l] = NULL; /* of the rewrite that was abandoned */
    return build_site(&build, false, err);
}
