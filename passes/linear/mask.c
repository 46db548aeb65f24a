/* Masks of the scores as factors 0 and 1 of φ(Q)φ(K)ᵀ: a negative number added to features that are
 * never negative would remove nothing. */
#include <math.h>

#include "passes/linear/linear.h"
#include "passes/match/facts.h"

/* An added number from here down removes a key. */
static const double mask_level = VF_MASK_LEVEL;

enum { WHERE_OPSET = 9 };

/* Max with one low number bounds the scores from below; it removes nothing. */
static bool is_mask(const VfLogitTerm *term)
{
    return term->is_mask && term->node->op != VF_OP_MAX;
}

/* Operand of the Where that carries the scores: the one that is not the number put in. */
static int32_t kept_slot(const VfNode *where)
{
    return vf_is_fixed(vf_node_in(where, 1)) ? 2 : 1;
}

static const char *why_not_term(const VfLogitTerm *term)
{
    VfOp op = term->node->op;
    if (op == VF_OP_SUB && vf_node_in(term->node, 1) == term->value)
        return "its mask is subtracted";
    if (op != VF_OP_ADD && op != VF_OP_SUB && op != VF_OP_WHERE)
        return "its mask is neither added nor chosen by Where";
    if (op == VF_OP_WHERE && !(term->lowest <= mask_level))
        return "its Where puts in numbers that do not remove keys";
    return NULL;
}

const char *vf_linear_why_not_masked(const VfLinearSite *work)
{
    const VfAttention *site = work->site;
    if (site->is_causal || site->mask == VF_MASK_CAUSAL)
        return "a causal mask needs running sums over the tokens, not two products";
    if (site->mask == VF_MASK_RUNTIME)
        return "its mask is computed at run time, so which keys to leave out is not known";
    if (site->n_term == VF_ATTENTION_TERM_MAX)
        return "too many terms are added to the scores to keep masks apart";
    if (site->mask == VF_MASK_NONE)
        return NULL;
    if (!work->is_straight)
        return "its masked scores are transposed";
    if (work->options->order == VF_ORDER_LINEAR)
        return "a mask can only be multiplied in the quadratic form";
    if (vf_graph_opset(site->graph, vf_bytes("")) < WHERE_OPSET)
        return "the opset cannot compare masks";
    for (int32_t i = 0; i < site->n_term; i++) {
        const char *why = is_mask(&site->term[i]) ? why_not_term(&site->term[i]) : NULL;
        if (why != NULL)
            return why;
    }
    return NULL;
}

/* --- building --- */

/* 1 for kept and 0 for removed keys, from a constant. `when` is the truth that keeps, for a Where.
 */
static VfValue *const_factor(const VfLinearSite *work, const VfTensor *from, bool is_condition,
                             bool when)
{
    VfDtype dtype = work->site->out->type.dtype;
    VfTensor *tensor = NULL;
    void *data = NULL;
    if (vf_tensor_new(work->cx->model->arena, dtype, from->rank, from->dims, &tensor, &data,
                      NULL) == VF_OK) {
        for (size_t i = 0; i < from->count; i++) {
            double x = vf_tensor_get_double(from, i);
            bool is_kept = is_condition ? (x != 0.0) == when : x > mask_level;
            vf_tensor_put_double(data, dtype, i, is_kept ? 1.0 : 0.0);
        }
    }
    return vf_rewrite_const(work->rw, tensor, "region");
}

static VfValue *factor_of(const VfLinearSite *work, const VfLogitTerm *term)
{
    VfRewrite *rw = work->rw;
    VfValue *value = term->value;
    bool is_condition = term->node->op == VF_OP_WHERE;
    bool when = is_condition && kept_slot(term->node) == 1;
    if (vf_value_const(value) != NULL)
        return const_factor(work, vf_value_const(value), is_condition, when);
    if (!is_condition)
        value =
            vf_rewrite_binary(rw, VF_OP_GREATER, value,
                              vf_rewrite_scalar(rw, value->type.dtype, mask_level, "mask_level"));
    else if (!when)
        value = vf_rewrite_unary(rw, VF_OP_NOT, value);
    return vf_rewrite_cast(rw, value, work->site->out->type.dtype);
}

static const VfLogitTerm *term_at(const VfAttention *site, const VfNode *node)
{
    for (int32_t i = 0; i < site->n_term; i++) {
        if (site->term[i].node == node)
            return &site->term[i];
    }
    return NULL;
}

/* The same view of other scores. */
static VfValue *repeat_view(const VfLinearSite *work, const VfNode *node, VfValue *scores)
{
    VfValue *in[2] = {scores, vf_node_in(node, 1)};
    VfValue *view = vf_rewrite_node(work->rw, node->op, in[1] != NULL ? 2 : 1, in);
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
        vf_rewrite_attr(work->rw, attr);
    return view;
}

/* Views between the old scores and weights are kept, for the masks were made for them. */
VfValue *vf_linear_mask(const VfLinearSite *work, VfValue *scores)
{
    if (work->site->mask == VF_MASK_NONE)
        return scores;
    for (int32_t i = work->path.n - 1; i >= 0; i--) {
        const VfNode *node = work->path.node[i];
        const VfLogitTerm *term = term_at(work->site, node);
        if (term != NULL && is_mask(term))
            scores = vf_rewrite_binary(work->rw, VF_OP_MUL, scores, factor_of(work, term));
        else if (vf_is_mover(node) && !vf_is_carrier(node))
            scores = repeat_view(work, node, scores);
    }
    return scores;
}
