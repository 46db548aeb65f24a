/* Which sites take a bias, which belong together, and which layer each is. */
#include <math.h>
#include <string.h>

#include "passes/fuse_site.h"
#include "passes/grid_option.h"
#include "passes/ir/attr.h"
#include "passes/match/depth.h"
#include "passes/match/facts.h"
#include "passes/match/fused.h"
#include "passes/match/pointwise.h"
#include "passes/match/product.h"
#include "passes/spa_insert/spa_insert.h"

enum { SLICE_OPSET = 10 };

/* --- fused operators --- */

int32_t vf_spa_bias_slot(const VfNode *node)
{
    const VfFusedForm *form = vf_fused_form(node->op);
    bool takes_bias = form != NULL && form->why == NULL;
    return takes_bias && vf_fused_past(node) == NULL ? form->added : -1;
}

static const char *why_not_fused(const VfAttention *site)
{
    const VfNode *node = site->norm_node;
    int32_t slot = vf_spa_bias_slot(node);
    const VfValue *old = slot >= 0 ? vf_node_in(node, slot) : NULL;
    if (slot < 0)
        return "the fused operator takes no bias, or reads earlier keys";
    int64_t window[2];
    if (vf_fused_has_sink(node))
        return "the softmax of the fused operator has a term without a key";
    if (vf_fused_window(node, window))
        return "the fused operator sees a window of keys";
    if (vf_fused_softcap(node) > 0.0)
        return "the fused operator bounds its scores";
    VfDim keys = old != NULL ? vf_dim_at(old, -1) : vf_dim_unknown();
    if (vf_dim_is_known(keys) && vf_dim_is_known(site->n_k) && keys.k != 1 &&
        keys.k != site->n_k.k)
        return "the mask of the fused operator is shorter than the keys";
    return NULL;
}

/* --- one site --- */

int32_t vf_spa_query_axis(const VfAttention *site)
{
    VfProduct product;
    if (site->score_node == NULL)
        return site->out->type.rank - 2;
    if (site->probs == NULL || !vf_product_of(site->value_node, &product) || product.n_in != 2)
        return -1;
    int32_t p = product.in[0] == site->probs ? 0 : 1, rank = product.rank[p];
    if (product.in[p] != site->probs || rank < 2 || rank != site->logits->type.rank)
        return -1;
    int8_t query = product.letter[p][rank - 2], key = product.letter[p][rank - 1];
    bool is_batch = vf_product_axis(&product, 1 - p, query) >= 0;
    return is_batch || !vf_product_is_contracted(&product, key)
               ? -1
               : vf_product_out_axis(&product, query);
}

/* Are the logits read by nothing but the nodes that make the weights of them? */
static bool has_own_logits(const VfAttention *site)
{
    VfFuseSite inside;
    const VfValue *weights = vf_node_out(site->norm_node, 0);
    if (vf_value_single_user(site->logits) != NULL)
        return true;
    if (!vf_fuse_collect(site->logits, weights, &inside) || vf_value_is_output(site->logits))
        return false;
    for (const VfUse *use = site->logits->first_use; use != NULL; use = use->next) {
        bool is_inside = false;
        for (int32_t i = 0; i < inside.n; i++)
            is_inside = is_inside || inside.node[i] == use->node;
        if (!is_inside)
            return false;
    }
    return true;
}

/* One number added to all logits last. */
static double shift_of(const VfAttention *site)
{
    const VfNode *node = site->logits->kind == VF_VALUE_RESULT ? site->logits->def : NULL;
    double number;
    for (int32_t i = 0; node != NULL && node->op == VF_OP_ADD && i < 2; i++)
        if (vf_scalar_of(vf_node_in(node, i), &number))
            return number;
    return 0.0;
}

/* A factor 1/L^alpha may have gone into the layers around, and a kernel beside it would be that
 * much too small. */
static const char *why_not_size(const VfSpaPlan *plan, const VfAttention *site)
{
    const VfSpaOptions *options = plan->options;
    bool is_small = options->kernel < VF_SPA_KERNEL_COUNT || fabs(options->alpha) > 0.0 ||
                    (options->kernel == VF_SPA_SHAPED && fabs(options->center) > 0.0);
    bool is_bare = fabs(site->alpha) <= 0.0 && fabs(site->gain - 1.0) <= 0.0 &&
                   (site->norm_node == site->value_node ||
                    site->probs == vf_node_out(site->norm_node, 0));
    return is_small && is_bare && !vf_dim_is(site->n_k, 1)
               ? "its weights have no factor 1/L^alpha: where that lies in the layers around them "
                 "(fold-scale of softmax-to-relu), what is put beside them would be too small"
               : NULL;
}

static const char *why_not_pointwise(const VfSpaPlan *plan, VfSpaSite *work)
{
    const VfAttention *site = work->site;
    VfValue *function = vf_node_out(site->norm_node, 0), *of = NULL;
    if (site->act == NULL || site->logits == NULL || site->probs == NULL)
        return "what its function is applied to was not told";
    bool is_identity = strcmp(site->act, "identity") == 0 && site->norm_node == site->value_node;
    work->factor = site->gain;
    work->shift = shift_of(site);
    if (!is_identity) {
        const char *act = vf_pointwise_of(function, &of);
        if (act == NULL || of != site->logits)
            return "what its function is applied to was not told";
    }
    if (!(work->factor > 0.0) || isinf(work->factor) || !vf_dim_is_known(site->n_k))
        return "the factor of its weights, 1/L^alpha, could not be read";
    return why_not_size(plan, site);
}

static const char *why_not_plain(const VfAttention *site)
{
    const VfValue *logits = site->logits;
    if (logits == NULL || logits->type.rank < 2 || site->key_axis != logits->type.rank - 1)
        return "its keys are not the last axis of the logits";
    if (!vf_dtype_info(logits->type.dtype)->is_float)
        return "the dtype of its logits is not known";
    if (vf_spa_query_axis(site) < 0)
        return "queries are not the axis before the keys, or not found in its result";
    return has_own_logits(site) ? NULL : "its logits are read in more than one place";
}

static const char *why_not_tokens(const VfSpaPlan *plan, const VfAttention *site)
{
    bool is_known = vf_dim_is_known(site->n_q) && vf_dim_is_known(site->n_k);
    if (site->is_cross || (is_known && site->n_q.k != site->n_k.k))
        return "queries and keys are different tokens, and a kernel between two sets is not "
               "defined";
    /* values of a product are added only where they have the type of its result */
    bool is_checked = plan->options->kernel >= VF_SPA_KERNEL_COUNT && site->score_node != NULL;
    if (!is_known && !is_checked && !vf_dim_is_same(site->n_q, site->n_k))
        return "its numbers of queries and keys depend on the input and may differ";
    if (is_known || plan->options->kernel >= VF_SPA_KERNEL_COUNT)
        return NULL;
    if (!site->is_causal)
        return "its number of tokens depends on the input, and only causal kernels can be cut";
    if (site->kind == VF_ATTENTION_POINTWISE || site->score_node == NULL)
        return "its number of tokens depends on the input";
    if (vf_graph_opset(site->graph, vf_bytes("")) < SLICE_OPSET)
        return "its number of tokens depends on the input, and the opset cannot slice by it";
    return plan->options->max_tokens <= 0
               ? "its number of tokens depends on the input: give max-tokens"
               : NULL;
}

/* Is something put on the result of the value product, besides what is put on its weights? */
static bool changes_result(const VfSpaPlan *plan, const VfAttention *site)
{
    bool is_kernel = plan->options->kernel < VF_SPA_KERNEL_COUNT;
    return !is_kernel || site->kind != VF_ATTENTION_POINTWISE ||
           plan->options->form == VF_SPA_SPLIT;
}

static const char *why_not(const VfSpaPlan *plan, VfSpaSite *work)
{
    const VfAttention *site = work->site;
    bool is_kernel = plan->options->kernel < VF_SPA_KERNEL_COUNT;
    if (site->kind == VF_ATTENTION_OTHER)
        return site->why;
    if (site->kind == VF_ATTENTION_LINEAR)
        return "linear attention has no attention matrix that a bias could shape";
    if (site->out == NULL || site->out->type.rank < 2)
        return "the rank of its result is not known";
    if (!vf_dtype_info(site->out->type.dtype)->is_float)
        return "the dtype of its result is not known";
    if (vf_spa_is_own(plan->cx->model, site))
        return "it is signal-preserving already";
    const char *why = site->score_node == NULL && is_kernel ? why_not_fused(site) : NULL;
    if (why == NULL)
        why = why_not_tokens(plan, site);
    if (why != NULL || site->score_node == NULL)
        return why;
    if (is_kernel && (why = why_not_plain(site)) != NULL)
        return why;
    if (changes_result(plan, site) && vf_attention_shares_weights(site, VF_OTHER_VALUES))
        return "its weights meet other values, too: what is put on one result would miss the other";
    return site->kind == VF_ATTENTION_POINTWISE ? why_not_pointwise(plan, work) : NULL;
}

void vf_spa_look_at(const VfSpaPlan *plan, VfSpaSite *work)
{
    work->why = why_not(plan, work);
}

/* --- groups --- */

static void find_grid(const VfSpaOptions *options, VfSpaGroup *group, const VfAttention *site)
{
    int64_t h = site->grid_h.k, w = site->grid_w.k, prefix = 0, n = group->tokens.k;
    bool is_found = vf_dim_is_known(site->grid_h) && vf_dim_is_known(site->grid_w);
    if (is_found)
        prefix = vf_dim_is_known(site->prefix) ? site->prefix.k : n - h * w;
    if (vf_grid_option(options->grid, &h, &w)) {
        is_found = true;
        prefix = n - h * w;
    }
    (void)vf_prefix_option(options->prefix, &prefix);
    bool fits = is_found && h > 0 && w > 0 && prefix >= 0 && prefix + h * w == n;
    if (!fits && group->is_window) {
        h = w = (int64_t)llround(sqrt((double)n));
        prefix = 0;
        fits = h * w == n;
    }
    if (fits && n <= VF_MATRIX_MAX && vf_dim_is_known(group->tokens)) {
        group->grid_h = (int32_t)h;
        group->grid_w = (int32_t)w;
        group->prefix = (int32_t)prefix;
    }
}

static bool is_same_group(const VfSpaGroup *a, const VfSpaGroup *b)
{
    return vf_dim_is_same(a->tokens, b->tokens) && a->is_causal == b->is_causal &&
           a->is_window == b->is_window && a->grid_h == b->grid_h && a->grid_w == b->grid_w &&
           a->prefix == b->prefix && (!a->is_window || vf_dim_is_same(a->windows, b->windows));
}

static VfStatus join_group(VfSpaPlan *plan, VfSpaSite *work, VfErr *err)
{
    const VfAttention *site = work->site;
    VfSpaGroup group = {.tokens = site->n_q,
                        .windows = site->windows,
                        .is_causal = site->is_causal,
                        .is_window = site->is_window};
    find_grid(plan->options, &group, site);
    for (int32_t i = 0; i < plan->n_group; i++) {
        if (is_same_group(plan->group[i], &group)) {
            work->group = plan->group[i];
            return VF_OK;
        }
    }
    work->group = vf_arena_alloc(plan->cx->arena, sizeof group);
    VF_TRY_ALLOC(work->group, err);
    *work->group = group;
    plan->group[plan->n_group++] = work->group;
    return VF_OK;
}

/* Layers of a group on the longest path; parallel branches share one. */
static VfStatus number_layers(VfSpaPlan *plan, VfSpaGroup *group, VfErr *err)
{
    const VfModel *model = plan->cx->model;
    bool *counts = VF_NEW_ARRAY(plan->cx->arena, bool, (size_t)model->n_node_id + 1);
    const int32_t *depth;
    VF_TRY_ALLOC(counts, err);
    for (int32_t i = 0; i < plan->n_site; i++)
        if (plan->site[i].group == group)
            counts[plan->site[i].site->value_node->id] = true;
    VF_TRY(vf_count_depth(plan->cx->arena, model->graph, counts, &depth, &group->depth, err));
    for (int32_t i = 0; i < plan->n_site; i++)
        if (plan->site[i].group == group)
            plan->site[i].l = depth[plan->site[i].site->value_node->id];
    return VF_OK;
}

VfStatus vf_spa_group_sites(VfSpaPlan *plan, VfErr *err)
{
    plan->group =
        vf_arena_alloc(plan->cx->arena, ((size_t)plan->n_site + 1) * sizeof *plan->group);
    VF_TRY_ALLOC(plan->group, err);
    for (int32_t i = 0; i < plan->n_site; i++) {
        VfSpaSite *work = &plan->site[i];
        const VfGraph *main = plan->cx->model->graph;
        if (work->why == NULL &&
            (work->site->graph != main || work->site->value_node->graph != main))
            work->why = "it lies in a subgraph, whose depth is not told";
        if (work->why == NULL)
            VF_TRY(join_group(plan, work, err));
    }
    for (int32_t i = 0; i < plan->n_group; i++)
        VF_TRY(number_layers(plan, plan->group[i], err));
    return VF_OK;
}
