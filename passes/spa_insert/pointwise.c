/* Attention without a softmax takes A up in three ways: in its logits, as a factor of its weights,
 * or beside it. All give A at logits of zero.
 *
 * The bias in the logits grows with the number of keys and would let keys in that a mask removes:
 * masks are made so low that it cannot. Source: spec of the conversion passes, section 4.9.
 */
#include <math.h>
#include <string.h>

#include "passes/match/facts.h"
#include "passes/spa_insert/spa_insert.h"

/* A number from `mask_level` down removes a key. `strong_mask` removes it whatever the bias is, up
 * to `bias_max`. */
static const double mask_level = VF_MASK_LEVEL, strong_mask = VF_MASK_FINITE, bias_max = 5e3;

enum { WHERE_OPSET = 9 };

/* --- functions --- */

static double at_relu(double x)
{
    return x > 0 ? x : 0;
}

static double at_relu2(double x)
{
    return x > 0 ? x * x : 0;
}

static double at_relu6(double x)
{
    return x > 6 ? 6 : at_relu(x);
}

static double at_softplus(double x)
{
    return at_relu(x) + log1p(exp(-fabs(x)));
}

static double at_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double at_gelu(double x)
{
    return 0.5 * x * erfc(-x / sqrt(2));
}

static double at_identity(double x)
{
    return x;
}

static const struct {
    const char *act;
    double (*at)(double x);
} act_table[] = {
    {"relu", at_relu},         {"relu2", at_relu2},     {"relu6", at_relu6}, {"gelu", at_gelu},
    {"softplus", at_softplus}, {"sigmoid", at_sigmoid}, {"identity", at_identity},
};

bool vf_spa_act_at(const char *act, double x, double *y)
{
    for (size_t i = 0; i < sizeof act_table / sizeof act_table[0]; i++) {
        if (strcmp(act, act_table[i].act) == 0) {
            *y = act_table[i].at(x);
            return true;
        }
    }
    return false;
}

/* --- masks --- */

/* Without a softmax a factor of zero removes a key, too, until something is added behind it. */
static bool may_remove(const VfLogitTerm *term)
{
    bool is_factor = term->node->op == VF_OP_MUL || term->node->op == VF_OP_DIV;
    return is_factor || vf_term_may_remove(term);
}

static bool is_identity(const VfAttention *site)
{
    return strcmp(site->act, "identity") == 0;
}

/* May keys be removed that a causal mask leaves? Constant masks of causal attention are causal. */
static bool has_other_masks(const VfAttention *site)
{
    for (int32_t i = 0; i < site->n_term; i++)
        if (may_remove(&site->term[i]) &&
            (!site->is_causal || vf_value_const(site->term[i].value) == NULL))
            return true;
    return false;
}

/* Operand of the term's node that holds low numbers: the constant one of a Where, the term of an
 * Add; -1: neither. */
static int32_t low_slot(const VfLogitTerm *term)
{
    const VfNode *node = term->node;
    if (node->op == VF_OP_ADD)
        return vf_node_in(node, 0) == term->value ? 0 : 1;
    return node->op == VF_OP_WHERE ? vf_where_const_slot(node) : -1;
}

static const char *why_not_mask(const VfAttention *site)
{
    for (int32_t i = 0; i < site->n_term; i++) {
        const VfLogitTerm *term = &site->term[i];
        bool is_strong = term->lowest <= strong_mask;
        if (!may_remove(term) || is_strong)
            continue;
        if (low_slot(term) < 0 || vf_graph_opset(site->graph, vf_bytes("")) < WHERE_OPSET)
            return "its mask is not known to be -1e4 or less, and the bias could let removed keys "
                   "in";
        if (vf_value_single_user(vf_node_out(term->node, 0)) == NULL)
            return "its masked scores are read in more than one place";
    }
    return NULL;
}

static double to_strong(double x)
{
    return x <= mask_level ? fmin(x, strong_mask) : x;
}

/* min(x, -1e4) where x removes a key. */
static VfValue *strong_const(const VfSpaPlan *plan, VfRewrite *rw, const VfTensor *from)
{
    const VfTensor *to = vf_tensor_map(plan->cx->model->arena, from, from->dtype, to_strong);
    return vf_rewrite_const(rw, to, "mask");
}

static VfValue *strong_value(VfRewrite *rw, VfValue *mask)
{
    VfDtype dtype = mask->type.dtype;
    VfValue *level = vf_rewrite_scalar(rw, dtype, mask_level, "mask_level");
    VfValue *in[] = {vf_rewrite_binary(rw, VF_OP_GREATER, mask, level), mask,
                     vf_rewrite_scalar(rw, dtype, strong_mask, "mask")};
    return vf_rewrite_node(rw, VF_OP_WHERE, 3, in);
}

static void strengthen_masks(const VfSpaPlan *plan, VfRewrite *rw, const VfAttention *site)
{
    for (int32_t i = 0; i < site->n_term; i++) {
        const VfLogitTerm *term = &site->term[i];
        if (!may_remove(term) || term->lowest <= strong_mask)
            continue;
        int32_t slot = low_slot(term);
        VfValue *old = vf_node_in(term->node, slot);
        const VfTensor *from = vf_value_const(old);
        vf_rewrite_set_in(rw, term->node, slot,
                          from != NULL ? strong_const(plan, rw, from) : strong_value(rw, old));
    }
}

/* --- the three forms --- */

/* B_h with h(shift + B_h) = A / factor; 0 on pairs that a causal mask removes. */
static VfStatus bias_of(const VfSpaPlan *plan, const VfSpaSite *work, VfMatrix *bias, VfErr *err)
{
    const VfSpaLayer *layer = &work->group->stack.layer[work->l - 1];
    VF_TRY(vf_spa_pointwise_bias(plan->cx->arena, layer, work->site->act, 1.0 / work->factor, bias,
                                 err));
    for (int32_t i = 0; i < bias->n_row; i++)
        for (int32_t j = 0; j < (layer->is_causal ? i + 1 : bias->n_col); j++)
            vf_matrix_row(bias, i)[j] -= work->shift;
    return VF_OK;
}

/* Keeps the bias for what is built. */
static VfStatus why_not_additive(const VfSpaPlan *plan, VfSpaSite *work, const char **why,
                                 VfErr *err)
{
    VfErr reason = {0};
    double most = 0.0;
    VfStatus status = bias_of(plan, work, &work->bias, &reason);
    if (status == VF_NO_MEMORY)
        return vf_fail(err, status, "%s", reason.text);
    if (status != VF_OK) {
        *why = vf_arena_printf(plan->cx->arena, "%s", reason.text);
        return VF_OK;
    }
    for (int64_t i = 0; i < (int64_t)work->bias.n_row * work->bias.n_col; i++)
        most = fmax(most, work->bias.at[i]);
    if (is_identity(work->site) && has_other_masks(work->site))
        *why = "identity gives removed keys weight zero, and the bias would not";
    else if (work->site->mask != VF_MASK_NONE && most > bias_max)
        *why = vf_arena_printf(plan->cx->arena,
                               "its bias reaches %.3g, and removed keys are sure to stay out up to "
                               "%g only",
                               most, bias_max);
    else if (!is_identity(work->site))
        *why = why_not_mask(work->site);
    return VF_OK;
}

VfStatus vf_spa_why_not_form(const VfSpaPlan *plan, VfSpaSite *work, const char **why, VfErr *err)
{
    const VfAttention *site = work->site;
    double at_one = 0.0;
    *why = NULL;
    if (plan->tau < 1.0)
        *why = "without softmax only tau=1 is defined";
    else if (plan->options->form == VF_SPA_ADDITIVE)
        return why_not_additive(plan, work, why, err);
    else if (plan->options->form == VF_SPA_SPLIT)
        *why = has_other_masks(site) ? "form=split would let removed keys in"
                                     : vf_spa_why_not_values(site);
    else if (fabs(work->shift) > 0.0 || !vf_spa_act_at(site->act, 1.0, &at_one) ||
             fabs(at_one - 1.0) > 0.0)
        *why = "form=multiplicative needs a function that is 1 at 1, and no shift";
    else if (is_identity(site))
        *why = "form=multiplicative is for functions that remove keys: relu, relu2, relu6";
    return VF_OK;
}

static void add_bias(const VfSpaPlan *plan, const VfSpaSite *work, VfRewrite *rw)
{
    VfValue *logits = work->site->logits;
    if (!is_identity(work->site))
        strengthen_masks(plan, rw, work->site);
    VfValue *by = vf_spa_matrix(plan, rw, logits->type.dtype, &work->bias, "spa_bias");
    vf_rewrite_replace(rw, logits, vf_rewrite_binary(rw, VF_OP_ADD, logits, by));
}

/* A takes the place of the factor where that is one Mul or Div. */
static void multiply(const VfSpaPlan *plan, const VfSpaSite *work, VfRewrite *rw)
{
    const VfAttention *site = work->site;
    const VfSpaLayer *layer = &work->group->stack.layer[work->l - 1];
    VfValue *weights = vf_node_out(site->norm_node, 0), *last = weights;
    VfDtype dtype = weights->type.dtype;
    VfMatrix by;
    int32_t slot;
    double factor;
    if (site->probs != weights && vf_is_scale(site->probs->def, &slot, &factor, NULL) &&
        vf_node_in(site->probs->def, slot) == weights)
        last = site->probs;
    if (vf_matrix_new(plan->cx->arena, layer->A.n_row, layer->A.n_col, &by, NULL) != VF_OK)
        by = (VfMatrix){0};
    for (int64_t i = 0; i < (int64_t)by.n_row * by.n_col; i++)
        by.at[i] = layer->A.at[i] / (last == weights ? work->factor : 1.0);
    VfValue *one = vf_rewrite_scalar(rw, site->logits->type.dtype, 1.0, "one");
    vf_rewrite_replace(rw, site->logits, vf_rewrite_binary(rw, VF_OP_ADD, site->logits, one));
    vf_rewrite_replace(rw, last,
                       vf_rewrite_binary(rw, VF_OP_MUL, weights,
                                         vf_spa_matrix(plan, rw, dtype, &by, "spa_weights")));
}

static void split(const VfSpaPlan *plan, const VfSpaSite *work, VfRewrite *rw)
{
    const VfAttention *site = work->site;
    const VfSpaLayer *layer = &work->group->stack.layer[work->l - 1];
    VfValue *A = vf_spa_matrix(plan, rw, site->out->type.dtype, &layer->A, "spa_weights");
    VfValue *beside = vf_rewrite_binary(rw, VF_OP_MATMUL, A, vf_spa_values(rw, site));
    vf_rewrite_replace(rw, site->out, vf_rewrite_binary(rw, VF_OP_ADD, site->out, beside));
}

VfStatus vf_spa_insert_pointwise(VfSpaPlan *plan, VfSpaSite *work, VfErr *err)
{
    static const char *const form_name[] = {", form additive", ", form multiplicative",
                                            ", form split"};
    VfRewrite *rw = vf_spa_begin(plan, work->site, "insert-spa");
    VF_TRY_ALLOC(rw, err);
    if (plan->options->form == VF_SPA_ADDITIVE)
        add_bias(plan, work, rw);
    else if (plan->options->form == VF_SPA_MULTIPLICATIVE)
        multiply(plan, work, rw);
    else
        split(plan, work, rw);
    vf_spa_note(plan, work, rw, form_name[plan->options->form]);
    return vf_rewrite_commit(rw, err);
}
