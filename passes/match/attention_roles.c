/* Tokens or channels: what the axes of a product of queries and keys count. */
#include "passes/match/attention_parts.h"

static uint32_t summed_role(const VfScan *scan, const VfProduct *p)
{
    uint32_t role = 0;
    for (int32_t i = 0; i < p->n_in; i++) {
        for (int32_t a = 0; a < p->rank[i]; a++) {
            if (vf_product_is_contracted(p, p->letter[i][a]))
                role |= vf_axis_role(scan->axes, p->in[i], a);
        }
    }
    return role;
}

static uint32_t key_role(const VfScan *scan, const VfScores *s)
{
    const VfProduct *p = &s->product;
    int8_t letter = p->out_letter[s->key_axis];
    return vf_axis_role(scan->axes, p->in[s->key_in], vf_product_axis(p, s->key_in, letter));
}

/* Role of the result's axis that is the query's own. */
static uint32_t query_role(const VfScan *scan, const VfScores *s)
{
    const VfProduct *p = &s->product;
    for (int32_t a = 0; a < p->rank[s->query_in]; a++) {
        int8_t letter = p->letter[s->query_in][a];
        if (vf_product_out_axis(p, letter) >= 0 && vf_product_axis(p, s->key_in, letter) < 0)
            return vf_axis_role(scan->axes, p->in[s->query_in], a);
    }
    return 0;
}

/* An axis of length 1 has no role: unknown agrees with anything, as long as the other side is
 * known. */
VfScoreAxes vf_score_axes(const VfScan *scan, const VfScores *scores)
{
    uint32_t summed = summed_role(scan, &scores->product);
    uint32_t key = key_role(scan, scores), query = query_role(scan, scores);
    bool sums_channels = (summed & VF_ROLE_CHANNEL) != 0;
    bool sums_tokens = !sums_channels && (summed & (VF_ROLE_TOKEN | VF_ROLE_BATCH)) != 0;
    bool counts_channels = key == VF_ROLE_CHANNEL && (query == VF_ROLE_CHANNEL || query == 0);
    bool counts_tokens = (key & VF_ROLE_CHANNEL) == 0;
    if (summed == 0 && key == 0)
        return VF_SCORES_UNKNOWN;
    if (sums_tokens &&
        (counts_channels || (key == 0 && (query & (VF_ROLE_TOKEN | VF_ROLE_BATCH)) == 0)))
        return VF_SCORES_CHANNELS;
    if (counts_channels && !sums_channels)
        return VF_SCORES_CHANNELS;
    if (counts_tokens && (sums_channels || summed == 0))
        return VF_SCORES_TOKENS;
    return VF_SCORES_NEITHER;
}
