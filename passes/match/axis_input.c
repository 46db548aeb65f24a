/* Which axis of an image input counts channels. */
#include "passes/match/axis_rules.h"

#include "passes/match/facts.h"
#include "passes/match/fused.h"

enum { NODES_MAX = 64, NEVER = NODES_MAX + 1 };

/* How many nodes away an axis becomes the channels of a convolution, or is summed over by a layer
 * with constant weights; and whether it meets attention as an axis of its own, as heads do. */
typedef struct Arrival {
    int32_t at_conv, at_product, n_left;
    bool is_at_attention;
} Arrival;

static bool is_conv(VfOp op)
{
    return op == VF_OP_CONV || op == VF_OP_CONV_TRANSPOSE || op == VF_OP_MS_FUSED_CONV;
}

static bool is_summed(const VfNode *node, int32_t slot, int32_t axis)
{
    VfProduct p;
    return vf_product_of((VfNode *)node, &p) && slot < p.n_in && p.n_in == 2 &&
           vf_is_fixed(p.in[1 - slot]) && vf_product_is_contracted(&p, p.letter[slot][axis]);
}

static bool is_attention(const VfNode *node)
{
    VfProduct p;
    return vf_fused_form(node->op) != NULL ||
           (vf_product_of((VfNode *)node, &p) && vf_product_n_runtime(&p) > 1);
}

static void note(int32_t *nearest, int32_t depth)
{
    *nearest = depth < *nearest ? depth : *nearest;
}

static void follow(const VfAxes *axes, const VfValue *value, int32_t axis, int32_t depth,
                   Arrival *arrival)
{
    for (const VfUse *use = value->first_use; use != NULL; use = use->next) {
        const VfNode *node = use->node;
        if (arrival->n_left-- <= 0)
            return;
        if (is_conv(node->op) && use->slot == 0) {
            if (axis == 1)
                note(&arrival->at_conv, depth);
            continue;
        }
        if (is_summed(node, use->slot, axis)) {
            note(&arrival->at_product, depth);
            continue;
        }
        arrival->is_at_attention = arrival->is_at_attention || is_attention(node);
        int32_t next = node->n_out > 0 ? vf_axis_down(axes, node, use->slot, axis) : -1;
        if (next >= 0)
            follow(axes, vf_node_out(node, 0), next, depth + 1, arrival);
    }
}

static Arrival arrival_of(const VfAxes *axes, const VfValue *input, int32_t axis)
{
    Arrival arrival = {NEVER, NEVER, NODES_MAX, false};
    follow(axes, input, axis, 0, &arrival);
    return arrival;
}

/* As many as pixels have channels. */
static bool is_of_pixels(VfDim dim)
{
    return vf_dim_is(dim, 1) || vf_dim_is(dim, 3) || vf_dim_is(dim, 4);
}

/* Three colours behind two longer axes; also one or four where these are equal. */
static bool looks_last(const VfType *type)
{
    VfDim h = type->dims[1], w = type->dims[2], c = type->dims[3];
    if (type->rank != 4 || !is_of_pixels(c) || is_of_pixels(h) || is_of_pixels(w))
        return false;
    return vf_dim_is(c, 3) || vf_dim_is_same(h, w);
}

int32_t vf_axis_of_channels(const VfAxes *axes, const VfValue *input)
{
    int32_t last = input->type.rank - 1;
    Arrival first = arrival_of(axes, input, 1), other = arrival_of(axes, input, last);
    if (first.at_conv != NEVER || other.at_conv != NEVER)
        return first.at_conv != NEVER ? 1 : last;
    if (first.is_at_attention)
        return 1;
    if (first.at_product != NEVER || other.at_product != NEVER)
        return first.at_product <= other.at_product ? 1 : last;
    return looks_last(&input->type) ? last : 1;
}
