/* Attention without a softmax: two run-time products in a row.
 *
 *     (Q Kᵀ) V with a point-wise function or only scaling between   POINTWISE
 *     (φ(Q) φ(K)ᵀ) V, nothing between                               LINEAR
 *     φ(Q) (φ(K)ᵀ V)                                                LINEAR
 */
#include "passes/match/attention_parts.h"

#include <math.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"

enum { STEP_MAX = 24, FACTOR_MAX = 4 };

/* Between an operand of the second product and the first: what was found walking up. */
typedef struct Between {
    const char *act; /* NULL: nothing */
    VfNode *act_node;
    VfValue *logits;           /* what the function is applied to, or where the walk ended */
    int32_t axis;              /* of logits: the summed axis of the second product */
    double factor[FACTOR_MAX]; /* constant factors after the function */
    int32_t n_factor;
    double alpha; /* exponent of a run-time 1/L, NaN if none */
} Between;

/* Exponent alpha of a run-time factor L^-alpha: Pow(L, -alpha), 1/L. */
static double runtime_alpha(const VfNode *scale, const VfValue *by)
{
    double exponent;
    const VfNode *pow = vf_def_if(by, VF_OP_POW);
    double sign = scale->op == VF_OP_DIV ? 1.0 : -1.0;
    if (pow != NULL)
        return vf_scalar_of(vf_node_in(pow, 1), &exponent) ? sign * exponent : (double)NAN;
    if (vf_def_if(by, VF_OP_SQRT) != NULL)
        return 0.5 * sign;
    return vf_def_if(by, VF_OP_RECIPROCAL) != NULL ? -sign : sign;
}

static bool step_up(const VfScan *scan, Between *b)
{
    VfNode *node = b->logits->kind == VF_VALUE_RESULT ? b->logits->def : NULL;
    int32_t slot = 0;
    double factor;
    VfValue *by, *of;
    if (node == NULL)
        return false;
    const char *act = b->act == NULL ? vf_pointwise_of(b->logits, &of) : NULL;
    if (act != NULL) {
        b->act = act;
        b->act_node = node;
        b->logits = of;
        return true;
    }
    bool is_scale = vf_is_scale(node, &slot, &factor, &by);
    bool is_guard = vf_is_nan_guard(node);
    if (b->act != NULL || (!is_scale && !is_guard && !vf_is_mover(node)))
        return false;
    if (is_guard)
        slot = 2;
    if (is_scale && isnan(factor))
        b->alpha = runtime_alpha(node, by);
    else if (is_scale && b->n_factor < FACTOR_MAX)
        b->factor[b->n_factor++] = factor;
    b->axis = vf_axis_up(scan->axes, node, slot, b->axis);
    b->logits = vf_node_in(node, slot);
    return b->axis >= 0;
}

/* A function met on the way from the logits to the product: unary element-wise, not scaling or
 * adding. */
static const VfNode *function_on_path(const VfPath *path)
{
    for (int32_t i = 0; i < path->n; i++) {
        VfNode *node = path->node[i];
        VfValue *of;
        if (vf_pointwise_of(vf_node_out(node, 0), &of) != NULL)
            return node;
        if (node->n_in == 1 && !vf_is_mover(node))
            return node;
    }
    return NULL;
}

/* φ(Q) may have been folded into one constant. */
static bool have_feature_maps(const VfScores *s)
{
    VfValue *query = s->product.in[s->query_in];
    return (vf_is_fixed(query) || vf_has_feature_map(query)) &&
           vf_has_feature_map(s->product.in[s->key_in]);
}

/* --- sites --- */

/* Exponent alpha of the factors L^-alpha after the function; of an identity only a factor 1/L
 * counts, the rest is scale. *share: the factor it took. */
static double alpha_of(const Between *b, VfDim n_k, double *share)
{
    *share = 1.0;
    if (!isnan(b->alpha))
        return b->alpha;
    double log_l = vf_dim_is_known(n_k) && n_k.k > 1 ? log((double)n_k.k) : (double)NAN;
    for (int32_t i = 0; i < b->n_factor; i++) {
        double inverse = fabs(b->factor[i] * (double)n_k.k - 1.0);
        if (b->act != NULL)
            *share *= b->factor[i];
        else if (inverse < 1e-4 && *share == 1.0)
            *share = b->factor[i];
    }
    if (*share == 1.0)
        return 0.0;
    double alpha = *share > 0.0 ? -log(*share) / log_l : (double)NAN;
    return fabs(alpha - round(alpha)) < 1e-4 ? round(alpha) : alpha;
}

static VfStatus add_scores_first(VfScan *scan, const VfProduct *p, int32_t operand,
                                 int32_t value_in, const Between *b, const VfScores *s, VfErr *err)
{
    bool is_linear = b->act == NULL && have_feature_maps(s);
    VfNode *norm = b->act_node ? b->act_node : p->node;
    VfAttention *site =
        vf_scan_add(scan, is_linear ? VF_ATTENTION_LINEAR : VF_ATTENTION_POINTWISE, norm);
    VF_TRY_ALLOC(site, err);
    VfValues values = {.node = p->node,
                       .product = *p,
                       .probs_in = operand,
                       .value_in = value_in,
                       .probs = p->in[operand],
                       .v = p->in[value_in]};
    site->logits = b->logits;
    site->key_axis = b->axis;
    VF_TRY(vf_describe_scores(scan, s, &values, site, err));
    if (!is_linear) {
        site->act = b->act ? b->act : "identity";
        double share;
        site->alpha = alpha_of(b, site->n_k, &share);
        if (b->act == NULL)
            site->scale /= share;
        if (b->act == NULL && !isnan(b->alpha))
            site->scale_value = NULL;
    }
    return VF_OK;
}

static VfStatus add_values_first(VfScan *scan, const VfProduct *p, int32_t operand,
                                 const VfScores *s, VfErr *err)
{
    VfAttention *site = vf_scan_add(scan, VF_ATTENTION_LINEAR, p->node);
    VF_TRY_ALLOC(site, err);
    int32_t other = operand == 0 ? 1 : 0;
    site->q = p->in[other];
    site->k = s->product.in[s->key_in];
    site->v = s->product.in[s->query_in];
    site->value_node = p->node;
    site->out = p->out;
    VfAttention axes = *site;
    vf_describe_axes(scan, s, &axes);
    site->heads = axes.heads;
    site->windows = axes.windows;
    site->is_window = axes.is_window;
    site->grid_h = axes.grid_h;
    site->grid_w = axes.grid_w;
    site->prefix = axes.prefix;
    site->d = vf_dim_at(s->product.out, s->key_axis);
    site->n_k = axes.d;
    site->d_v = axes.n_q;
    for (int32_t a = 0; a < p->rank[other]; a++) {
        int8_t letter = p->letter[other][a];
        if (vf_product_out_axis(p, letter) < 0 || vf_product_axis(p, operand, letter) >= 0)
            continue;
        site->n_q = vf_dim_at(p->in[other], a);
        vf_set_grid(site, vf_axis_get(scan->axes, p->in[other], a));
    }
    return VF_OK;
}

/* Do the values count channels along the axis they add? Where nothing stands between the products,
 * only that tells attention from other chains of products. */
static bool are_values(const VfScan *scan, const VfProduct *p, int32_t operand, int32_t other)
{
    for (int32_t a = 0; a < p->rank[other]; a++) {
        int8_t letter = p->letter[other][a];
        if (vf_product_out_axis(p, letter) < 0 || vf_product_axis(p, operand, letter) >= 0)
            continue;
        uint32_t role = vf_axis_role(scan->axes, p->in[other], a);
        if (role != 0 && (role & VF_ROLE_CHANNEL) == 0)
            return false;
    }
    return true;
}

/* Feature maps tell linear attention even where the axes are not understood. */
static VfScoreAxes choose_axes(const VfScan *scan, const VfProduct *p, int32_t operand,
                               int32_t other, const Between *b, const VfScores *s)
{
    VfScoreAxes axes = vf_score_axes(scan, s);
    bool is_bare = b->act == NULL, is_const = vf_is_fixed(p->in[other]);
    if (is_bare && axes == VF_SCORES_TOKENS && !are_values(scan, p, operand, other))
        axes = VF_SCORES_NEITHER;
    if (axes == VF_SCORES_UNKNOWN)
        axes = operand == 0 && !is_const ? VF_SCORES_TOKENS : VF_SCORES_CHANNELS;
    if (axes == VF_SCORES_NEITHER && is_bare && !is_const && have_feature_maps(s))
        axes = VF_SCORES_TOKENS;
    bool is_mapped = is_bare && (is_const || vf_has_feature_map(p->in[other])) &&
                     vf_has_feature_map(s->product.in[s->key_in]);
    return axes == VF_SCORES_NEITHER && is_mapped ? VF_SCORES_CHANNELS : axes;
}

static VfStatus add_pair(VfScan *scan, const VfProduct *p, int32_t operand, int32_t other,
                         const Between *b, const VfScores *s, VfErr *err)
{
    VfScoreAxes axes = choose_axes(scan, p, operand, other, b, s);
    if (axes == VF_SCORES_NEITHER || (axes == VF_SCORES_CHANNELS && b->act != NULL))
        return vf_scan_miss(scan, p->node, "product-pair", err,
                            "'%s' multiplies the result of '%s', but what they sum over is not "
                            "channels, then tokens (or tokens, then channels)",
                            vf_node_label(p->node), vf_node_label(s->product.node));
    scan->is_taken[p->node->id] = true;
    scan->is_taken[s->product.node->id] = true;
    if (axes == VF_SCORES_CHANNELS)
        return add_values_first(scan, p, operand, s, err);
    return add_scores_first(scan, p, operand, other, b, s, err);
}

/* Another operand with the summed `letter`, one of run time if there is any; -1 if none. */
static int32_t find_other(const VfProduct *p, int32_t operand, int8_t letter)
{
    int32_t other = -1;
    for (int32_t i = 0; i < p->n_in; i++) {
        if (i == operand || vf_product_axis(p, i, letter) < 0)
            continue;
        if (!vf_is_fixed(p->in[i]))
            return i;
        other = i;
    }
    return other;
}

/* Look for a first product behind axis `axis` of operand `operand`. */
static bool find_first(const VfScan *scan, const VfProduct *p, int32_t operand, int32_t axis,
                       Between *b, VfScores *s)
{
    *b = (Between){.logits = p->in[operand], .axis = axis, .alpha = (double)NAN};
    int32_t n = 0;
    while (n < STEP_MAX && step_up(scan, b))
        n++;
    if (b->axis < 0 || n == STEP_MAX)
        return false;
    if (b->act == NULL) {
        b->logits = p->in[operand];
        b->axis = axis;
    }
    vf_find_scores(scan, b->logits, b->axis, s);
    if (s->rank != VF_SCORE_PLAIN || scan->is_taken[s->product.node->id])
        return false;
    const VfNode *function = function_on_path(&s->path);
    if (function != NULL && b->act == NULL) {
        VfValue *of;
        const char *name = vf_pointwise_of(vf_node_out(function, 0), &of);
        b->act = name ? name : "other";
        b->act_node = (VfNode *)function;
    }
    return true;
}

/* Constant queries, as folding leaves learned ones, look like weights of a layer. The sums that
 * the result is divided by tell them. Also where they read φ(K)ᵀV. */
static bool find_const_query(const VfScan *scan, const VfProduct *p, int32_t operand, int32_t axis,
                             int32_t other, Between *b, VfScores *s)
{
    bool is_values_first = vf_is_fixed(p->in[other]);
    *b = (Between){.logits = p->in[operand], .axis = axis, .alpha = (double)NAN};
    vf_find_nearest_scores(scan, b->logits, axis, s);
    if (s->rank != (is_values_first ? VF_SCORE_PLAIN : VF_SCORE_CONST_QUERY) ||
        scan->is_taken[s->product.node->id] || function_on_path(&s->path) != NULL ||
        !vf_has_feature_map(s->product.in[s->key_in]))
        return false;
    VfValue *query = is_values_first ? p->in[other] : s->product.in[s->query_in];
    return vf_is_divided_by_sums(p, operand, other, s, query);
}

static bool find_pair(const VfScan *scan, const VfProduct *p, int32_t operand, int32_t axis,
                      int32_t other, Between *b, VfScores *s)
{
    if (!vf_is_fixed(p->in[other]) && find_first(scan, p, operand, axis, b, s))
        return true;
    return find_const_query(scan, p, operand, axis, other, b, s);
}

VfStatus vf_match_product_pair(VfScan *scan, VfNode *node, VfErr *err)
{
    VfProduct p;
    if (scan->is_taken[node->id] || !vf_product_of(node, &p))
        return VF_OK;
    for (int32_t i = 0; i < p.n_in; i++) {
        for (int32_t a = 0; a < p.rank[i]; a++) {
            Between between;
            VfScores scores;
            int32_t other = find_other(&p, i, p.letter[i][a]);
            if (!vf_product_is_contracted(&p, p.letter[i][a]) || other < 0 || vf_is_fixed(p.in[i]))
                continue;
            if (find_pair(scan, &p, i, a, other, &between, &scores))
                return add_pair(scan, &p, i, other, &between, &scores, err);
        }
    }
    return VF_OK;
}
