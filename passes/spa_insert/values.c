/* Value-SkipInit and shaped attention: alpha V + beta O - center C V, C being the weights at logits
 * of zero. Source: spec of the conversion passes, section 4.4. */
#include <math.h>

#include "passes/attention/unfuse.h"
#include "passes/fuse_site.h"
#include "passes/match/facts.h"
#include "passes/match/product.h"
#include "passes/spa_insert/spa_insert.h"

/* Are the values an operand of the fused operator, to which it does nothing more? */
static bool are_values_plain(const VfAttention *site)
{
    const VfNode *node = site->norm_node;
    bool is_operand = node->op == VF_OP_ATTENTION ||
                      (node->op == VF_OP_MS_MULTI_HEAD_ATTENTION && vf_node_in(node, 3) == NULL);
    return is_operand && vf_fuse_same_type(site->v, site->out);
}

/* Operand of the value product that holds the values, if each of its axes is the same axis of the
 * result, keys in the place of queries; -1 otherwise. */
static int32_t value_slot(const VfAttention *site)
{
    VfProduct product;
    if (site->logits == NULL || !vf_product_of(site->value_node, &product) || product.n_in != 2)
        return -1;
    int32_t p = product.in[0] == site->probs ? 0 : 1, v = 1 - p, rank = product.rank[p];
    if (product.in[p] != site->probs || rank != site->logits->type.rank || rank < 2 ||
        product.rank[v] < 2 || !vf_fuse_same_type(product.in[v], site->out))
        return -1;
    int8_t query = product.letter[p][rank - 2], key = product.letter[p][rank - 1];
    for (int32_t axis = 0; axis < product.rank[v]; axis++) {
        int8_t letter = product.letter[v][axis];
        if (vf_product_out_axis(&product, letter == key ? query : letter) != axis)
            return -1;
    }
    return product.letter[v][product.rank[v] - 2] == key ? v : -1;
}

const char *vf_spa_why_not_values(const VfAttention *site)
{
    if (site->score_node == NULL)
        return are_values_plain(site) ? NULL : vf_unfuse_why_not(site);
    return value_slot(site) >= 0
               ? NULL
               : "its values are not laid out as its result, or their number differs";
}

VfValue *vf_spa_values(VfRewrite *rw, const VfAttention *site)
{
    VfUnfused x;
    if (site->score_node != NULL)
        return vf_node_in(site->value_node, value_slot(site));
    if (are_values_plain(site))
        return site->v;
    vf_unfuse(rw, site, &x);
    return vf_unfuse_join(&x, x.v);
}

/* What a key weighs at logits of zero, times the number of keys. False: not known. */
static bool mass_at_zero(const VfSpaSite *work, double *mass)
{
    const VfAttention *site = work->site;
    *mass = 1.0;
    if (site->kind != VF_ATTENTION_POINTWISE)
        return true;
    if (!vf_spa_act_at(site->act, work->shift, mass))
        return false;
    *mass *= work->factor * (double)site->n_k.k;
    return true;
}

static const char *why_not_center(const VfSpaSite *work)
{
    const VfAttention *site = work->site;
    double mass;
    bool is_masked = site->mask != VF_MASK_NONE && site->mask != VF_MASK_CAUSAL;
    if (!mass_at_zero(work, &mass))
        return "the value of its function at zero is not known";
    if (is_masked || (site->is_causal && !vf_dim_is_known(site->n_q)))
        return "under a mask that is not causal, or for an unknown number of tokens, attention at "
               "zero logits is not known";
    return NULL;
}

/* Weights at logits of zero under a causal mask: softmax shares 1 among the keys seen. */
static VfValue *causal_mean(const VfSpaPlan *plan, const VfSpaSite *work, VfRewrite *rw,
                            double mass)
{
    bool is_softmax = work->site->kind != VF_ATTENTION_POINTWISE;
    VfMatrix C;
    int32_t n = (int32_t)work->site->n_q.k;
    if (vf_matrix_new(plan->cx->arena, n, n, &C, NULL) != VF_OK)
        return NULL;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++)
            vf_matrix_row(&C, i)[j] = mass / (is_softmax ? i + 1 : n);
    return vf_spa_matrix(plan, rw, work->site->out->type.dtype, &C, "spa_mean");
}

static VfValue *times(VfRewrite *rw, VfValue *x, double factor, const char *hint)
{
    if (x == NULL)
        return NULL;
    return vf_rewrite_binary(rw, VF_OP_MUL, x,
                             vf_rewrite_scalar(rw, x->type.dtype, factor, hint));
}

/* center C V; NULL where C is zero. */
static VfValue *center_of(const VfSpaPlan *plan, const VfSpaSite *work, VfRewrite *rw,
                          VfValue *value)
{
    const int64_t axis = value != NULL ? value->type.rank - 2 : 0;
    double mass = 0.0, center = plan->options->center;
    if (value == NULL || !mass_at_zero(work, &mass) || !(fabs(mass) > 0.0))
        return NULL;
    if (work->site->is_causal)
        return times(rw, vf_rewrite_binary(rw, VF_OP_MATMUL, causal_mean(plan, work, rw, mass),
                                           value),
                     center, "spa_center");
    return times(rw, vf_rewrite_reduce(rw, VF_OP_REDUCE_MEAN, value, 1, &axis, true),
                 mass * center, "spa_center");
}

VfStatus vf_spa_insert_values(VfSpaPlan *plan, VfSpaSite *work, VfErr *err)
{
    const VfAttention *site = work->site;
    const VfSpaOptions *options = plan->options;
    bool is_shaped = options->kernel == VF_SPA_SHAPED;
    const char *why = vf_spa_why_not_values(site);
    if (why == NULL && is_shaped)
        why = why_not_center(work);
    if (why == NULL && is_shaped && site->is_causal && site->n_q.k > VF_MATRIX_MAX)
        why = "it has too many tokens";
    if (why != NULL)
        return vf_pass_refuse(plan->cx, site->label, site->norm_node, err, "%s", why);
    VfRewrite *rw = vf_spa_begin(plan, site, is_shaped ? "shaped" : "value-skipinit");
    VF_TRY_ALLOC(rw, err);
    VfValue *value = vf_spa_values(rw, site);
    VfValue *skip = times(rw, value, options->alpha, "spa_alpha");
    VfValue *sum = vf_rewrite_binary(rw, VF_OP_ADD, skip,
                                     times(rw, site->out, options->beta, "spa_beta"));
    VfValue *center = is_shaped ? center_of(plan, work, rw, value) : NULL;
    if (center != NULL)
        sum = vf_rewrite_binary(rw, VF_OP_SUB, sum, center);
    vf_rewrite_replace(rw, site->out, sum);
    vf_rewrite_note(rw, "alpha %g, beta %g, center %g", options->alpha, options->beta,
                    is_shaped ? options->center : 0.0);
    return vf_rewrite_commit(rw, err);
}
