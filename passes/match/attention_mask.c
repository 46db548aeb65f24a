/* Which kind of mask the terms of a site make. */
#include "passes/match/attention_parts.h"

#include <math.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"

static const double mask_level = VF_MASK_LEVEL;

enum { ANCESTOR_MAX = 64 };

bool vf_term_may_remove(const VfLogitTerm *term)
{
    VfOp op = term->node->op;
    bool is_sum = op == VF_OP_ADD || op == VF_OP_SUB || op == VF_OP_MS_BIAS_SOFTMAX;
    return op != VF_OP_MAX && (term->is_mask || (is_sum && isnan(term->lowest) && !term->is_bias));
}

bool vf_term_is_taken(const VfLogitTerm *term)
{
    return term->node->op == VF_OP_SUB && term->slot == 0;
}

/* Constant mask over the last two axes: is element [i, j] removed? For a Where the condition
 * decides. */
typedef struct ConstMask {
    const VfTensor *tensor;
    bool is_condition;
    bool kept_when; /* condition that keeps the score */
    bool is_taken;  /* taken from the scores */
} ConstMask;

static bool is_removed(const ConstMask *mask, size_t at)
{
    double x = vf_tensor_get_double(mask->tensor, at);
    if (mask->is_condition)
        return (x != 0.0) != mask->kept_when;
    return (mask->is_taken ? -x : x) <= mask_level;
}

/* Exactly the keys after the query removed, in every matrix of the tensor. */
static bool is_triangle(const ConstMask *mask)
{
    const VfTensor *t = mask->tensor;
    if (t->rank < 2 || t->count == 0)
        return false;
    size_t n_k = (size_t)t->dims[t->rank - 1], n_q = (size_t)t->dims[t->rank - 2];
    if (n_k < 2 || n_q < 2 || n_k < n_q)
        return false;
    for (size_t at = 0; at < t->count; at++) {
        size_t i = at / n_k % n_q, j = at % n_k;
        if (is_removed(mask, at) != (j > i + (n_k - n_q)))
            return false;
    }
    return true;
}

/* Flags of what a run-time term is made of, within a bounded neighbourhood. */
enum { MADE_TRIANGLE = 1, MADE_RANGE_COMPARE = 2, MADE_INPUT = 4 };

static uint32_t made_of(const VfValue *value, int32_t *budget)
{
    if (value == NULL || --*budget < 0)
        return 0;
    if (value->kind == VF_VALUE_INPUT)
        return MADE_INPUT;
    const VfNode *node = value->kind == VF_VALUE_RESULT ? value->def : NULL;
    VfProduct p;
    if (node == NULL || node->op == VF_OP_SHAPE || vf_product_of((VfNode *)node, &p))
        return 0;
    uint32_t found = 0;
    if (node->op == VF_OP_TRILU || node->op == VF_OP_MS_TRILU)
        found |= MADE_TRIANGLE;
    bool is_order = node->op == VF_OP_LESS || node->op == VF_OP_GREATER ||
                    node->op == VF_OP_LESS_OR_EQUAL || node->op == VF_OP_GREATER_OR_EQUAL;
    if (is_order && vf_value_const(vf_node_in(node, 0)) == NULL &&
        vf_value_const(vf_node_in(node, 1)) == NULL)
        found |= MADE_RANGE_COMPARE;
    for (int32_t i = 0; i < node->n_in; i++)
        found |= made_of(vf_node_in(node, i), budget);
    return found;
}

/* A constant condition or mask cut by Slice to the run-time length is as causal as the whole. */
static const VfTensor *const_behind_slices(VfValue *value)
{
    for (int32_t i = 0; i < 16 && value != NULL; i++) {
        if (vf_value_const(value) != NULL)
            return vf_value_const(value);
        VfNode *node = value->kind == VF_VALUE_RESULT ? value->def : NULL;
        bool is_step = node != NULL &&
                       (vf_is_mover(node) || node->op == VF_OP_SLICE || node->op == VF_OP_CAST ||
                        node->op == VF_OP_NOT || node->op == VF_OP_EQUAL);
        if (!is_step)
            return NULL;
        value = vf_node_in(node, 0);
    }
    return NULL;
}

/* Does the way from the constant flip its truth (Equal to 0, Not)? */
static bool is_flipped(VfValue *value)
{
    bool flipped = false;
    while (value != NULL && vf_value_const(value) == NULL && value->kind == VF_VALUE_RESULT) {
        double number;
        VfNode *node = value->def;
        bool is_zero =
            node->op == VF_OP_EQUAL && vf_scalar_of(vf_node_in(node, 1), &number) && number == 0.0;
        if (node->op == VF_OP_NOT || is_zero)
            flipped = !flipped;
        value = vf_node_in(node, 0);
    }
    return flipped;
}

/* Flags of a fused operator tell which keys are seen. */
static bool is_condition(const VfLogitTerm *term)
{
    bool is_flags = term->slot < 0 && !vf_dtype_info(term->value->type.dtype)->is_float;
    return is_flags || term->node->op == VF_OP_WHERE;
}

/* Can the term differ by query? Flags of two axes are those of keys, but for ONNX Attention. */
static bool has_queries(const VfLogitTerm *term)
{
    const VfType *type = &term->value->type;
    bool is_flags = term->slot < 0 && !vf_dtype_info(type->dtype)->is_float;
    if (type->rank < 0)
        return true;
    if (is_flags && type->rank < 3 && term->node->op != VF_OP_ATTENTION)
        return false;
    return type->rank >= 2 && !vf_dim_is(type->dims[type->rank - 2], 1);
}

static bool is_causal_term(const VfLogitTerm *term)
{
    const VfTensor *tensor = const_behind_slices(term->value);
    if (!has_queries(term))
        return false;
    if (tensor != NULL && tensor->dtype != VF_STRING) {
        bool is_kept_true = term->slot == 1 || term->slot < 0;
        ConstMask mask = {tensor, is_condition(term), is_kept_true, vf_term_is_taken(term)};
        if (mask.is_condition && is_flipped(term->value))
            mask.kept_when = !mask.kept_when;
        return is_triangle(&mask);
    }
    int32_t budget = ANCESTOR_MAX;
    uint32_t made = made_of(term->value, &budget);
    return (made & (MADE_TRIANGLE | MADE_RANGE_COMPARE)) != 0;
}

static bool has_window_axis(const VfLogitTerm *term, VfDim windows)
{
    for (int32_t a = 0; a < term->value->type.rank; a++) {
        if (vf_dim_is_same(term->value->type.dims[a], windows))
            return true;
    }
    return false;
}

static VfMaskKind kind_of(const VfAttention *site, const VfLogitTerm *term)
{
    int32_t budget = ANCESTOR_MAX;
    if (is_causal_term(term))
        return VF_MASK_CAUSAL;
    bool is_const = vf_value_const(vf_skip_movers(term->value)) != NULL;
    uint32_t made = is_const ? 0 : made_of(term->value, &budget);
    if (site->is_window && (made & MADE_INPUT) == 0 && has_window_axis(term, site->windows))
        return VF_MASK_WINDOW;
    return is_const ? VF_MASK_CONST : VF_MASK_RUNTIME;
}

/* A clamp from below (Max with one low number) removes no key. */
static bool is_clamp(const VfLogitTerm *term)
{
    double number;
    return term->node->op == VF_OP_MAX && vf_scalar_of(term->value, &number);
}

void vf_describe_mask(const VfScan *scan, VfAttention *site)
{
    (void)scan;
    for (int32_t i = 0; i < site->n_term; i++) {
        const VfLogitTerm *term = &site->term[i];
        if (!term->is_mask || is_clamp(term))
            continue;
        VfMaskKind kind = kind_of(site, term);
        bool is_stronger = site->mask == VF_MASK_NONE || kind == VF_MASK_CAUSAL ||
                           (kind == VF_MASK_RUNTIME && site->mask != VF_MASK_CAUSAL);
        if (is_stronger)
            site->mask = kind;
        site->is_causal = site->is_causal || kind == VF_MASK_CAUSAL;
    }
}
