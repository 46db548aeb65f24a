/* Heads, windows and the token grid of a site, from the provenance of the scores' axes. */
#include "passes/match/attention_parts.h"

#include "passes/match/facts.h"

/* Is result axis `letter` a batch axis: in both operands, or in neither alone? */
static bool is_batch(const VfScores *scores, int8_t letter)
{
    const VfProduct *p = &scores->product;
    bool in_query = vf_product_axis(p, scores->query_in, letter) >= 0;
    bool in_key = vf_product_axis(p, scores->key_in, letter) >= 0;
    bool is_key = p->out_letter[scores->key_axis] == letter;
    return !is_key && (in_key || !in_query);
}

/* MatMul's batch letters may be absent from an operand of lower rank; they are still batch. */
static bool is_query(const VfScores *scores, int8_t letter)
{
    const VfProduct *p = &scores->product;
    bool is_matmul_batch = letter >= 8 && letter < 'A';
    return !is_matmul_batch && vf_product_axis(p, scores->query_in, letter) >= 0 &&
           vf_product_axis(p, scores->key_in, letter) < 0;
}

static bool has_unknown_role(const VfAxis *axis)
{
    for (int32_t i = 0; axis != NULL && i < axis->n; i++) {
        if (axis->factor[i].role == 0)
            return true;
    }
    return axis == NULL;
}

static void describe_batch_axis(const VfScan *scan, const VfAxis *axis, VfAttention *site,
                                bool *unknown)
{
    VfSymbols *symbols = scan->model->symbols;
    *unknown = *unknown || has_unknown_role(axis);
    VfDim heads = vf_axis_product(scan->axes, axis, VF_ROLE_CHANNEL);
    VfDim windows = vf_axis_product(scan->axes, axis, VF_ROLE_TOKEN);
    site->heads = vf_dim_mul(symbols, site->heads, heads);
    site->windows = vf_dim_mul(symbols, site->windows, windows);
}

bool vf_set_grid(VfAttention *site, const VfAxis *axis)
{
    if (axis == NULL || axis->n != 1 || axis->factor[0].grid_h.sym == VF_SYM_UNKNOWN)
        return false;
    site->grid_h = axis->factor[0].grid_h;
    site->grid_w = axis->factor[0].grid_w;
    site->prefix = axis->factor[0].prefix;
    return true;
}

/* The key's axis that the product sums over, or NULL. */
static const VfAxis *summed_axis(const VfScan *scan, const VfScores *scores)
{
    const VfProduct *p = &scores->product;
    for (int32_t a = 0; a < p->rank[scores->key_in]; a++) {
        if (vf_product_is_contracted(p, p->letter[scores->key_in][a]))
            return vf_axis_get(scan->axes, p->in[scores->key_in], a);
    }
    return NULL;
}

/* Space in the batch makes windows only if the tokens are space as well (not where a sequence comes
 * first). */
static bool runs_over_space(const VfScan *scan, const VfScores *scores)
{
    const VfAxis *summed = summed_axis(scan, scores);
    uint32_t role = vf_axis_role(scan->axes, scores->product.out, scores->key_axis);
    for (int32_t i = 0; summed != NULL && i < summed->n; i++)
        role |= summed->factor[i].role;
    return (role & VF_ROLE_TOKEN) != 0;
}

void vf_describe_axes(const VfScan *scan, const VfScores *scores, VfAttention *site)
{
    const VfProduct *p = &scores->product;
    const VfAxis *query = NULL;
    bool unknown = false;
    site->heads = site->windows = vf_dim(1);
    for (int32_t a = 0; a < p->out_rank; a++) {
        int8_t letter = p->out_letter[a];
        const VfAxis *axis = vf_axis_get(scan->axes, p->out, a);
        if (is_query(scores, letter)) {
            site->n_q = vf_dim_at(p->out, a);
            query = axis;
        } else if (is_batch(scores, letter) || (letter >= 8 && letter < 'A')) {
            describe_batch_axis(scan, axis, site, &unknown);
        }
    }
    const VfAxis *key = vf_axis_get(scan->axes, p->out, scores->key_axis);
    site->n_k = vf_dim_at(p->out, scores->key_axis);
    site->d = vf_dim(1);
    for (int32_t a = 0; a < p->rank[scores->key_in]; a++) {
        if (vf_product_is_contracted(p, p->letter[scores->key_in][a]))
            site->d =
                vf_dim_mul(scan->model->symbols, site->d, vf_dim_at(p->in[scores->key_in], a));
    }
    if (!runs_over_space(scan, scores))
        site->windows = vf_dim(1);
    site->is_window = !vf_dim_is(site->windows, 1);
    if (unknown && vf_dim_is(site->heads, 1))
        site->heads = vf_dim_unknown();
    if (!vf_set_grid(site, query) && !vf_set_grid(site, key))
        vf_set_grid(site, summed_axis(scan, scores));
}
