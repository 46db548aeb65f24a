/* Masks of the scores as factors 0 and 1 of φ(Q)φ(K)ᵀ, or of φ(K) where all queries see the same
 * keys: a negative number added to features that are never negative would remove nothing. */
#include <math.h>

#include "passes/linear/linear.h"
#include "passes/match/facts.h"

/* An added number from here down removes a key. */
static const double mask_level = VF_MASK_LEVEL;

enum { WHERE_OPSET = 9 };

static const char *why_not_term(const VfLogitTerm *term)
{
    VfOp op = term->node->op;
    if (op == VF_OP_MS_BIAS_SOFTMAX)
        return "its mask lies inside BiasSoftmax";
    if (op == VF_OP_SUB && !vf_term_is_taken(term))
        return "its scores are taken from a mask";
    if (op != VF_OP_ADD && op != VF_OP_SUB && op != VF_OP_WHERE)
        return "its mask is neither added nor chosen by Where";
    if (op == VF_OP_WHERE && !(term->lowest <= mask_level))
        return "its Where puts in numbers that do not remove keys";
    return NULL;
}

/* One row for all queries. */
static bool is_row(const VfValue *mask)
{
    int32_t rank = mask->type.rank;
    return rank == 0 || rank == 1 || (rank > 1 && vf_dim_is(vf_dim_at(mask, -2), 1));
}

static bool has_views(const VfLinearSite *work)
{
    for (int32_t i = 0; i < work->path.n; i++) {
        const VfNode *node = work->path.node[i];
        if (vf_is_mover(node) && !vf_is_carrier(node))
            return true;
    }
    return false;
}

static VfLinearMask form_of_terms(const VfLinearSite *work)
{
    const VfAttention *site = work->site;
    VfLinearMask form = VF_LINEAR_MASK_NONE;
    for (int32_t i = 0; i < site->n_term; i++) {
        if (!vf_term_may_remove(&site->term[i]))
            continue;
        if (!is_row(site->term[i].value) || has_views(work))
            return VF_LINEAR_MASK_PAIRS;
        form = VF_LINEAR_MASK_KEYS;
    }
    return form;
}

static VfLinearMask form_of(const VfLinearSite *work)
{
    if (!work->is_fused)
        return form_of_terms(work);
    if (!vf_unfuse_may_remove(work->site))
        return VF_LINEAR_MASK_NONE;
    return vf_unfuse_removes_by_key(work->site) ? VF_LINEAR_MASK_KEYS : VF_LINEAR_MASK_PAIRS;
}

static const char *why_not_terms(const VfLinearSite *work)
{
    const VfAttention *site = work->site;
    if (!work->is_straight)
        return "its masked scores are transposed";
    if (vf_graph_opset(site->graph, vf_bytes("")) < WHERE_OPSET)
        return "the opset cannot compare masks";
    for (int32_t i = 0; i < site->n_term; i++) {
        const char *why = vf_term_may_remove(&site->term[i]) ? why_not_term(&site->term[i]) : NULL;
        if (why != NULL)
            return why;
    }
    return NULL;
}

/* A mask from its bias cannot be told where one sum is made of both at run time. */
static const char *why_not_sum(const VfAttention *site)
{
    for (int32_t i = 0; i < site->n_term; i++)
        if (site->term[i].is_bias && vf_term_may_remove(&site->term[i]))
            return "its mask and a bias known at run time are one sum: what removes a key is not "
                   "told";
    return NULL;
}

/* Two products cannot leave out later keys; where the scores are made a mask can. */
static const char *why_not_causal(const VfLinearSite *work)
{
    if (!work->site->is_causal && work->site->mask != VF_MASK_CAUSAL)
        return NULL;
    if (work->options->order != VF_ORDER_QUADRATIC)
        return "a causal mask needs running sums over the tokens, not two products: only "
               "order=quadratic multiplies it";
    return work->options->dwc != VF_DWC_OFF
               ? "its mask is causal, but the convolution of V sees later tokens: use dwc=off"
               : NULL;
}

/* Rows in which every key is removed come out as zero. */
static const char *why_not_guard(const VfLinearSite *work)
{
    double number;
    for (int32_t i = 0; i < work->path.n; i++) {
        const VfNode *node = work->path.node[i];
        if (vf_is_nan_guard(node) &&
            !(vf_scalar_of(vf_node_in(node, 1), &number) && fabs(number) <= 0.0))
            return "rows without keys are given weights, and this form has none";
    }
    return NULL;
}

const char *vf_linear_find_mask(VfLinearSite *work)
{
    const VfAttention *site = work->site;
    const char *why = why_not_causal(work);
    if (why == NULL)
        why = why_not_guard(work);
    if (why != NULL)
        return why;
    if (site->n_term == VF_ATTENTION_TERM_MAX)
        return "too many terms are added to the scores to keep masks apart";
    why = why_not_sum(site);
    if (why != NULL)
        return why;
    work->mask = form_of(work);
    if (work->mask == VF_LINEAR_MASK_PAIRS && work->options->order == VF_ORDER_LINEAR)
        return "a mask of queries and keys can only be multiplied in the quadratic form";
    return work->mask == VF_LINEAR_MASK_NONE || work->is_fused ? NULL : why_not_terms(work);
}

/* --- building --- */

/* Is the element kept: by the truth of a condition, or by the number that is put on the scores? */
static bool is_kept(const VfLogitTerm *term, double x)
{
    if (term->node->op == VF_OP_WHERE)
        return (x != 0.0) == (term->slot == 1);
    return (vf_term_is_taken(term) ? -x : x) > mask_level;
}

/* 1 for kept and 0 for removed keys, from a constant. */
static VfValue *const_factor(const VfLinearSite *work, const VfLogitTerm *term)
{
    const VfTensor *from = vf_value_const(term->value);
    VfDtype dtype = work->site->out->type.dtype;
    VfTensor *tensor = NULL;
    void *data = NULL;
    if (vf_tensor_new(work->cx->model->arena, dtype, from->rank, from->dims, &tensor, &data,
                      NULL) == VF_OK) {
        for (size_t i = 0; i < from->count; i++) {
            double x = vf_tensor_get_double(from, i);
            vf_tensor_put_double(data, dtype, i, is_kept(term, x) ? 1.0 : 0.0);
        }
    }
    return vf_rewrite_const(work->rw, tensor, "region");
}

/* The same at run time, as a bool. */
static VfValue *kept_of(VfRewrite *rw, const VfLogitTerm *term)
{
    VfValue *value = term->value;
    bool is_away = vf_term_is_taken(term);
    if (term->node->op == VF_OP_WHERE)
        return term->slot == 1 ? value : vf_rewrite_unary(rw, VF_OP_NOT, value);
    VfValue *level = vf_rewrite_scalar(rw, value->type.dtype, is_away ? -mask_level : mask_level,
                                       "mask_level");
    return vf_rewrite_binary(rw, is_away ? VF_OP_LESS : VF_OP_GREATER, value, level);
}

static VfValue *multiply(const VfLinearSite *work, VfValue *x, VfValue *kept)
{
    VfValue *factor = vf_rewrite_cast(work->rw, kept, work->site->out->type.dtype);
    return vf_rewrite_binary(work->rw, VF_OP_MUL, x, factor);
}

static VfValue *multiply_term(const VfLinearSite *work, VfValue *x, const VfLogitTerm *term)
{
    if (vf_value_const(term->value) == NULL)
        return multiply(work, x, kept_of(work->rw, term));
    return vf_rewrite_binary(work->rw, VF_OP_MUL, x, const_factor(work, term));
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
static VfValue *multiply_terms(const VfLinearSite *work, VfValue *x)
{
    for (int32_t i = work->path.n - 1; i >= 0; i--) {
        const VfNode *node = work->path.node[i];
        const VfLogitTerm *term = term_at(work->site, node);
        if (term != NULL && vf_term_may_remove(term))
            x = multiply_term(work, x, term);
        else if (vf_is_mover(node) && !vf_is_carrier(node))
            x = repeat_view(work, node, x);
    }
    return x;
}

VfValue *vf_linear_mask(VfLinearSite *work, VfLinearMask where, VfValue *x)
{
    if (work->mask != where)
        return x;
    return work->is_fused ? multiply(work, x, vf_unfuse_kept(&work->unfused, x))
                          : multiply_terms(work, x);
}
