/* What is put on the scores: a mask or a bias. */
#include "passes/match/attention_parts.h"

#include <math.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"

/* From here down an added constant removes a key rather than weighs it. */
static const double mask_level = VF_MASK_LEVEL;

enum { VISIT_MAX = 48 };

static const VfNode *def_of(const VfValue *value)
{
    return value != NULL && value->kind == VF_VALUE_RESULT ? value->def : NULL;
}

/* Numbers from mask_level down in every place, or in some: a constant, or one number repeated. */
static bool is_low(const VfValue *value)
{
    double low, high;
    const VfNode *fill = def_of(vf_skip_movers((VfValue *)value));
    const VfAttr *number =
        fill != NULL && fill->op == VF_OP_CONSTANT_OF_SHAPE ? vf_node_attr(fill, "value") : NULL;
    if (number != NULL && number->tensor != NULL && number->tensor->count == 1)
        return vf_tensor_get_double(number->tensor, 0) <= mask_level;
    return vf_const_range(vf_skip_movers((VfValue *)value), &low, &high) && low <= mask_level;
}

/* Does the node pick elements of its first operand? */
static bool is_pick(const VfNode *node)
{
    return node->op == VF_OP_GATHER || node->op == VF_OP_GATHER_ND ||
           node->op == VF_OP_GATHER_ELEMENTS || node->op == VF_OP_SLICE;
}

/* Does the node put low numbers in some places, or take others by one? */
static bool is_weight(const VfNode *node)
{
    bool is_choice = node->op == VF_OP_WHERE || node->op == VF_OP_MUL ||
                     node->op == VF_OP_SCATTER_ND || node->op == VF_OP_TRILU ||
                     node->op == VF_OP_MS_TRILU;
    for (int32_t i = 0; is_choice && i < node->n_in; i++)
        if (is_low(vf_node_in(node, i)))
            return true;
    return is_pick(node) && is_low(vf_node_in(node, 0));
}

/* Is a run-time term built like a mask: Where with a low constant, or Mul by a low number? */
static bool is_mask_made(const VfValue *value, int32_t *budget)
{
    const VfNode *node = def_of(value);
    VfProduct p;
    if (node == NULL || --*budget < 0)
        return false;
    if (is_weight(node))
        return true;
    if (vf_product_of((VfNode *)node, &p))
        return false;
    for (int32_t i = 0; i < node->n_in; i++) {
        if (is_mask_made(vf_node_in(node, i), budget))
            return true;
    }
    return false;
}

/* Numbers picked from a constant that has none so low. */
static bool is_from_table(const VfNode *node)
{
    double low, high;
    return is_pick(node) && vf_const_range(vf_skip_movers(vf_node_in(node, 0)), &low, &high) &&
           low > mask_level;
}

/* Does a product, or a table of other numbers than a mask's, contribute to the numbers of a
 * run-time term? Conditions and what is multiplied by a low number do not count. */
static bool is_bias_made(const VfValue *value, int32_t *budget)
{
    const VfNode *node = def_of(value);
    VfProduct p;
    if (node == NULL || --*budget < 0 || value->type.dtype == VF_BOOL || node->op == VF_OP_SHAPE)
        return false;
    if (is_from_table(node) || node->op == VF_OP_CONV)
        return true;
    if (vf_product_of((VfNode *)node, &p))
        return vf_product_n_runtime(&p) > 0;
    if (node->op == VF_OP_MUL && is_weight(node))
        return false;
    for (int32_t i = node->op == VF_OP_WHERE ? 1 : 0; i < node->n_in; i++) {
        if (is_bias_made(vf_node_in(node, i), budget))
            return true;
    }
    return false;
}

VfLogitTerm vf_make_term(VfNode *node, int32_t slot, VfValue *value, bool is_mask, double lowest)
{
    int32_t budget = VISIT_MAX, left = VISIT_MAX;
    bool is_open = isnan(lowest) && value->type.dtype != VF_BOOL;
    is_mask = is_mask || lowest <= mask_level || (is_open && is_mask_made(value, &budget));
    return (VfLogitTerm){.node = node,
                         .slot = slot,
                         .value = value,
                         .is_mask = is_mask,
                         .is_bias = is_open && is_bias_made(value, &left),
                         .lowest = lowest};
}
