/* Shifts of the scores that softmax does not see. */
#include "passes/match/attention_parts.h"

#include <math.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"

/* Bounds beyond this meet no score, shifted or not: they guard against overflow. */
static const double endless = -VF_MASK_FINITE;

enum { VISIT_MAX = 48 };

bool vf_is_same_along(const VfValue *value, const VfNode *node, int32_t axis)
{
    const VfValue *out = vf_node_out(node, 0);
    if (axis < 0 || out->type.rank < 0 || value->type.rank < 0)
        return false;
    int32_t own = axis - out->type.rank + value->type.rank;
    return own < 0 || vf_dim_is(value->type.dims[own], 1);
}

/* Is `value` the scores on some place of the way to step `at`? */
static bool is_on_way(const VfPath *path, int32_t at, const VfAttention *site,
                      const VfValue *value)
{
    bool is_found = value == site->raw_scores;
    for (int32_t i = at + 1; i < path->n && !is_found; i++)
        is_found = value == vf_node_out(path->node[i], 0);
    return is_found;
}

typedef struct Search {
    const VfPath *path;
    int32_t at, budget;
    const VfAttention *site;
    bool is_met; /* the scores were met */
} Search;

/* Are the scores, and nothing else that is known at run time only, what `value` is made of? */
static bool is_made_of_scores(Search *search, const VfValue *value)
{
    if (value == NULL || vf_is_fixed(value))
        return true;
    if (is_on_way(search->path, search->at, search->site, value)) {
        search->is_met = true;
        return true;
    }
    const VfNode *node = value->kind == VF_VALUE_RESULT ? value->def : NULL;
    if (node == NULL || --search->budget < 0)
        return false;
    for (int32_t i = 0; i < node->n_in && node->op != VF_OP_SHAPE; i++)
        if (!is_made_of_scores(search, vf_node_in(node, i)))
            return false;
    return node->n_in > 0;
}

/* Does the node leave the shape of the scores as it is? */
static bool keeps_shape(const VfNode *node, int32_t slot)
{
    const VfType *from = &vf_node_in(node, slot)->type, *to = &vf_node_out(node, 0)->type;
    bool is_same = from->rank == to->rank;
    for (int32_t a = 0; is_same && a < to->rank; a++)
        is_same = !vf_dim_is_known(from->dims[a]) || !vf_dim_is_known(to->dims[a]) ||
                  from->dims[a].k == to->dims[a].k;
    return is_same;
}

static bool is_shift(const VfPath *path, int32_t at, const VfAttention *site)
{
    const VfNode *node = path->node[at];
    int32_t slot = path->slot[at];
    const VfValue *other = vf_other_in(node, slot);
    bool is_sum = node->op == VF_OP_ADD || (node->op == VF_OP_SUB && slot == 0);
    Search search = {path, at, VISIT_MAX, site, false};
    return is_sum && other != NULL && keeps_shape(node, slot) &&
           vf_is_same_along(other, node, path->axis[at]) && is_made_of_scores(&search, other) &&
           search.is_met;
}

/* A bound of Clip: an operand or, before opset 11, an attribute. `open` where it has none. */
static double bound_of(const VfNode *clip, int32_t slot, const char *name, double open)
{
    const VfValue *in = vf_node_in(clip, slot);
    double number;
    if (in != NULL)
        return vf_scalar_of(in, &number) ? number : (double)NAN;
    return vf_node_attr(clip, name) != NULL ? vf_node_float(clip, name) : open;
}

static bool is_wide(const VfNode *node, int32_t slot)
{
    double number;
    if (node->op == VF_OP_CLIP)
        return bound_of(node, 1, "min", -(double)INFINITY) <= -endless &&
               bound_of(node, 2, "max", (double)INFINITY) >= endless;
    if (node->n_in != 2 || !vf_scalar_of(vf_other_in(node, slot), &number))
        return false;
    return node->op == VF_OP_MAX ? number <= -endless : number >= endless;
}

/* Does softmax still not see a shift of what the step reads? */
static bool keeps_shifts(const VfPath *path, int32_t at)
{
    const VfNode *node = path->node[at];
    int32_t slot = path->slot[at], filled;
    double low, high;
    switch (node->op) {
    case VF_OP_ADD:
    case VF_OP_SUB:
        return true;
    case VF_OP_MUL:
    case VF_OP_DIV:
        return (slot == 0 || node->op == VF_OP_MUL) &&
               vf_is_same_along(vf_other_in(node, slot), node, path->axis[at]);
    case VF_OP_WHERE:
        filled = slot == 1 ? 2 : 1;
        return slot > 0 && vf_const_range(vf_skip_movers(vf_node_in(node, filled)), &low, &high) &&
               high <= VF_MASK_LEVEL;
    case VF_OP_CLIP:
    case VF_OP_MAX:
    case VF_OP_MIN:
        return is_wide(node, slot);
    default:
        return vf_is_mover(node);
    }
}

bool vf_describe_shift(const VfPath *path, int32_t at, VfAttention *site)
{
    bool is_softmax = site->kind == VF_ATTENTION_SOFTMAX || site->kind == VF_ATTENTION_OTHER;
    if (is_softmax && site->n_shift < VF_ATTENTION_TERM_MAX && is_shift(path, at, site)) {
        site->shift[site->n_shift++] = (VfLogitShift){path->node[at], path->slot[at]};
        return true;
    }
    if (site->n_shift > 0 && site->why_shift == NULL && !keeps_shifts(path, at))
        site->why_shift = "what its scores are shifted by, such as their maximum, cannot be taken "
                          "away: they are bounded or bent behind";
    return false;
}
