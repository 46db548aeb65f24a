/* normalize-skip: residual adds that keep the scale of what they add.
 *
 * Before     Z = X + F(X)
 * After      Z = alpha X + beta F(X), alpha² + beta² = 1; alpha 0: Z = F(X)
 * Why valid  it is another function: the network has to be trained again. Kernels of independent
 *            orthogonal layers keep diagonal 1
 * Requires   a sum one operand of which the others are computed from (match/residual). Parallel
 *            branches are one F
 * Exactness  VF_RETRAINED
 * Source     He et al., ICLR 2023 (arXiv 2302.10322), normalised skips; spec of the conversion
 *            passes, section 4.7
 * Limits     shortcuts with weights of their own are no skips; subgraphs are left alone. Fused
 *            skip-and-norm operators are taken apart first
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/apart.h"
#include "passes/fuse_site.h"
#include "passes/match/residual.h"
#include "passes/pass.h"
#include "passes/rewrite/rewrite.h"

typedef struct SkipOptions {
    const char *alpha;
} SkipOptions;

static const VfOption option[] = {
    {.name = "alpha",
     .help = "factor of the skip, from 0 (none) to below 1; or depth: sqrt(L / (L + 1)) with L "
             "residual adds on a path; or equal: sqrt(l / (l + 1)) at the l-th, all branches alike",
     .type = VF_OPTION_STRING,
     .offset = offsetof(SkipOptions, alpha),
     .def = "depth"},
    {0},
};

static VfStatus read_alpha(const char *text, double *number, VfErr *err)
{
    char *end;
    *number = strtod(text, &end);
    bool is_rule = strcmp(text, "depth") == 0 || strcmp(text, "equal") == 0;
    if (is_rule || (end != text && *end == '\0' && *number >= 0.0 && *number < 1.0))
        return VF_OK;
    return vf_fail(err, VF_USAGE,
                   "option 'alpha': '%s' is neither depth, equal nor a number from 0 to below 1",
                   text);
}

static double alpha_of(const char *text, double number, const VfResidual *site, int32_t depth)
{
    if (strcmp(text, "depth") == 0)
        return sqrt((double)depth / (double)(depth + 1));
    return strcmp(text, "equal") == 0 ? sqrt((double)site->depth / (double)(site->depth + 1))
                                      : number;
}

static VfValue *leaf_value(const VfResidualLeaf *leaf)
{
    return vf_node_in(leaf->node, leaf->slot);
}

static void scale(VfRewrite *rw, const VfResidualLeaf *leaf, double factor, const char *hint)
{
    VfValue *x = leaf_value(leaf);
    VfValue *by = vf_rewrite_scalar(rw, x->type.dtype, factor, hint);
    vf_rewrite_set_in(rw, leaf->node, leaf->slot, vf_rewrite_binary(rw, VF_OP_MUL, x, by));
}

static void remove_skip(VfRewrite *rw, const VfResidual *site)
{
    VfValue *sum = leaf_value(&site->branch[0]);
    for (int32_t i = 1; i < site->n_branch; i++)
        sum = vf_rewrite_binary(rw, VF_OP_ADD, sum, leaf_value(&site->branch[i]));
    vf_rewrite_replace(rw, vf_node_out(site->add, 0), sum);
}

static bool is_float(const VfValue *value)
{
    return value != NULL && vf_dtype_info(value->type.dtype)->is_float;
}

/* All terms are scaled in their own dtype: behind an operator that is not known it is not either,
 * also where that of the sum follows from the other terms. */
static const char *why_not(const VfResidual *site, double alpha)
{
    const VfValue *out = vf_node_out(site->add, 0);
    if (!is_float(out))
        return "the dtype of the sum is not known";
    bool are_known = is_float(leaf_value(&site->skip));
    for (int32_t i = 0; i < site->n_branch; i++)
        are_known = are_known && is_float(leaf_value(&site->branch[i]));
    if (!are_known)
        return "the dtype of a term of the sum is not known";
    if (alpha <= 0.0 && !vf_fuse_same_type(leaf_value(&site->branch[0]), out))
        return "the branch alone is not known to have the shape of the sum";
    return NULL;
}

static VfStatus rewrite(VfPassCx *cx, const VfResidual *site, double alpha, int32_t depth,
                        VfErr *err)
{
    double beta = sqrt(1.0 - alpha * alpha);
    const char *label = vf_node_label(site->add);
    VfRewrite *rw = vf_rewrite_begin(cx->journal, site->branch[0].node,
                                     (VfRewriteInfo){cx->pass, "normalize-skip", label, NULL});
    VF_TRY_ALLOC(rw, err);
    if (alpha > 0.0) {
        scale(rw, &site->skip, alpha, "alpha");
        for (int32_t i = 0; i < site->n_branch; i++)
            scale(rw, &site->branch[i], beta, "beta");
    } else {
        remove_skip(rw, site);
    }
    vf_rewrite_note(rw, "%s, depth %d of %d, alpha %.6g, beta %.6g",
                    site->is_attention ? "attention" : "layers", (int)site->depth, (int)depth,
                    alpha, beta);
    return vf_rewrite_commit(rw, err);
}

static VfStatus visit(VfPassCx *cx, const VfResiduals *found, int32_t index, double number,
                      VfErr *err)
{
    const SkipOptions *options = cx->options;
    const VfResidual *site = &found->site[index];
    const char *label = vf_node_label(site->add);
    VfSiteFacts facts = {.index = index, .label = label};
    bool selected = false;
    VF_TRY(vf_sites_select(&cx->sites, &facts, &selected, err));
    if (!selected || vf_residual_is_normal(site))
        return VF_OK;
    double alpha = alpha_of(options->alpha, number, site, found->depth);
    const char *why = why_not(site, alpha);
    if (why != NULL)
        return vf_pass_refuse(cx, label, site->add, err, "%s", why);
    return rewrite(cx, site, alpha, found->depth, err);
}

static VfStatus run(VfPassCx *cx, VfErr *err)
{
    const SkipOptions *options = cx->options;
    VfResiduals found;
    double number = 0.0;
    VF_TRY(read_alpha(options->alpha, &number, err));
    VF_TRY(vf_take_apart(cx, VF_APART_NORM, err));
    VF_TRY(vf_find_residuals(cx->arena, cx->model->graph, &found, err));
    for (int32_t i = 0; i < found.n_site && vf_pass_may_edit(cx); i++)
        VF_TRY(visit(cx, &found, i, number, err));
    return VF_OK;
}

const VfPass vf_pass_normalize_skip = {
    .name = "normalize-skip",
    .summary = "residual adds alpha x + beta f(x) with alpha^2 + beta^2 = 1",
    .source = "He et al., ICLR 2023 (arXiv 2302.10322), normalised skips",
    .exactness = VF_RETRAINED,
    .option = option,
    .n_option = 1,
    .options_bytes = sizeof(SkipOptions),
    .run = run,
};
