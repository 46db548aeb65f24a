/* Fused attention operators as the linear form needs them: Q, K and V apart, heads on an axis, as
 * passes/attention/unfuse.h gives them.
 */
#include "passes/linear/linear.h"
#include "passes/match/facts.h"

/* Letters of the axes; no product is there to name them. */
enum { BATCH = 'a', HEAD, QUERY, KEY, WIDTH, VALUE_WIDTH };

static VfLettered letters_of(VfValue *value, int8_t token, int8_t width)
{
    return (VfLettered){.value = value, .rank = 4, .letter = {BATCH, HEAD, token, width}};
}

const char *vf_linear_read_fused(VfLinearSite *work)
{
    const VfAttention *site = work->site;
    const char *why = vf_unfuse_why_not(site);
    if (why == NULL)
        why = vf_unfuse_why_not_alone(site);
    if (why != NULL)
        return why;
    if (!vf_dim_is_known(site->d) || !vf_dim_is_known(site->d_v))
        return "the head width of the fused operator is not known";
    work->is_fused = true;
    work->d = site->d;
    work->d_v = site->d_v;
    work->n_q = site->n_q;
    work->n_k = site->n_k;
    work->batch[0] = BATCH;
    work->batch[1] = HEAD;
    work->n_batch = 2;
    work->query = QUERY;
    work->key = KEY;
    work->width = WIDTH;
    work->value_width = VALUE_WIDTH;
    work->q = letters_of(site->q, QUERY, WIDTH);
    work->k = letters_of(site->k, KEY, WIDTH);
    work->v = letters_of(site->v, KEY, VALUE_WIDTH);
    work->out = letters_of(site->out, QUERY, VALUE_WIDTH);
    return NULL;
}

void vf_linear_split_fused(VfLinearSite *work)
{
    vf_unfuse(work->rw, work->site, &work->unfused);
    work->q.value = work->unfused.q;
    work->k.value = work->unfused.k;
    work->v.value = work->unfused.v;
}
