/* What the linear form costs, and the nodes it is made of. */
#include <math.h>

#include "passes/linear/linear.h"
#include "passes/match/facts.h"
#include "runtime/base/text.h"

static const double half_eps = 1e-4;

/* --- cost, in multiply-adds of one head (spec of the conversion passes, 3.1) --- */

bool vf_linear_has_sizes(const VfLinearSite *work)
{
    return vf_dim_is_known(work->n_q) && vf_dim_is_known(work->n_k) && vf_dim_is_known(work->d) &&
           vf_dim_is_known(work->d_v);
}

static double conv_taps(const VfLinearSite *work)
{
    double n = (double)work->options->kernel;
    return work->options->dwc == VF_DWC_OFF ? 0.0 : n * n;
}

bool vf_linear_pays(const VfLinearSite *work)
{
    double n_q = (double)work->n_q.k, n_k = (double)work->n_k.k;
    double d = (double)work->d.k, d_v = (double)work->d_v.k;
    double old = n_q * n_k * (d + d_v);
    return d * (d_v + 1.0) * (n_q + n_k) + conv_taps(work) * n_q * d_v < old;
}

/* Tokens from which on the linear form costs less than softmax, queries and keys alike. */
double vf_linear_break_even(const VfLinearSite *work)
{
    double d = (double)work->d.k, d_v = (double)work->d_v.k;
    return floor((2.0 * d * (d_v + 1.0) + conv_taps(work) * d_v) / (d + d_v));
}

/* Unknown numbers of tokens are taken to be large. */
static bool is_linear_order(const VfLinearSite *work)
{
    if (work->options->order != VF_ORDER_AUTO || work->mask == VF_LINEAR_MASK_PAIRS)
        return work->options->order == VF_ORDER_LINEAR;
    if (!vf_linear_has_sizes(work))
        return true;
    double n_q = (double)work->n_q.k, n_k = (double)work->n_k.k;
    double d = (double)work->d.k, d_v = (double)work->d_v.k;
    return n_q * n_k * (d + d_v) > d * d_v * (n_q + n_k);
}

/* --- building --- */

static VfDtype dtype_of(const VfLinearSite *work)
{
    return work->site->out->type.dtype;
}

static bool is_half(const VfLinearSite *work)
{
    return dtype_of(work) == VF_F16;
}

/* 1 / sqrt(N_k), rounded down to a power of two so that it costs no digits. */
static double share_of_known(const VfLinearSite *work)
{
    return exp2(-ceil(log2(fmax((double)work->n_k.k, 1.0)) / 2.0));
}

/* What stands in the graph: is added to the sums, in half precision to the means. */
static double built_epsilon(const VfLinearSite *work)
{
    bool is_short = is_half(work) || dtype_of(work) == VF_BF16;
    return is_short ? fmax(work->options->eps, half_eps) : work->options->eps;
}

double vf_linear_epsilon(const VfLinearSite *work)
{
    double share = is_half(work) ? share_of_known(work) : 1.0;
    return built_epsilon(work) / (share * share);
}

double vf_linear_gain(const VfLinearSite *work)
{
    return work->site->kind == VF_ATTENTION_SOFTMAX ? work->site->gain : 1.0;
}

/* Half precision ends at 65504, which sums over many keys pass. φ(Q) and φ(K) times this factor
 * turn them into means; the ratio stays. */
static VfValue *share_of_keys(const VfLinearSite *work, VfValue *k)
{
    VfRewrite *rw = work->rw;
    if (vf_dim_is_known(work->n_k))
        return vf_rewrite_scalar(rw, VF_F16, share_of_known(work), "share");
    double axis = k != NULL ? k->type.rank - 1 : 0;
    VfValue *index = vf_rewrite_scalar(rw, VF_I64, axis, "key_axis");
    VfValue *n = vf_rewrite_binary(rw, VF_OP_GATHER, vf_rewrite_unary(rw, VF_OP_SHAPE, k), index);
    VfValue *root = vf_rewrite_unary(rw, VF_OP_SQRT, vf_rewrite_cast(rw, n, VF_F32));
    return vf_rewrite_cast(rw, vf_rewrite_unary(rw, VF_OP_RECIPROCAL, root), VF_F16);
}

/* above / (below + ε) */
static VfValue *divide(const VfLinearSite *work, VfValue *above, VfValue *below)
{
    VfRewrite *rw = work->rw;
    VfValue *eps = vf_rewrite_scalar(rw, dtype_of(work), built_epsilon(work), "eps");
    return vf_rewrite_binary(rw, VF_OP_DIV, above, vf_rewrite_binary(rw, VF_OP_ADD, below, eps));
}

static VfValue *sum_last(const VfLinearSite *work, VfValue *x)
{
    int64_t axis = x != NULL ? x->type.rank - 1 : 0;
    return vf_rewrite_reduce(work->rw, VF_OP_REDUCE_SUM, x, 1, &axis, true);
}

/* `q` (batch, N_q, d), `k` (batch, d, N_k), `v` (batch, N_k, d_v). */
static VfValue *build_linear(const VfLinearSite *work, VfValue *q, VfValue *k, VfValue *v)
{
    VfRewrite *rw = work->rw;
    VfValue *sums = vf_rewrite_binary(rw, VF_OP_MATMUL, k, v);
    VfValue *above = vf_rewrite_binary(rw, VF_OP_MATMUL, q, sums);
    return divide(work, above, vf_rewrite_binary(rw, VF_OP_MATMUL, q, sum_last(work, k)));
}

static VfValue *build_quadratic(VfLinearSite *work, VfValue *q, VfValue *k, VfValue *v)
{
    VfRewrite *rw = work->rw;
    VfValue *weights = vf_rewrite_binary(rw, VF_OP_MATMUL, q, k);
    weights = vf_linear_mask(work, VF_LINEAR_MASK_PAIRS, weights);
    VfValue *above = vf_rewrite_binary(rw, VF_OP_MATMUL, weights, v);
    return divide(work, above, sum_last(work, weights));
}

static VfValue *build(VfLinearSite *work, bool is_linear)
{
    VfRewrite *rw = work->rw;
    if (work->is_fused)
        vf_linear_split_fused(work);
    VfValue *q = vf_linear_arrange(work, &work->q, work->query, work->width);
    VfValue *k = vf_linear_arrange(work, &work->k, work->width, work->key);
    VfValue *v = vf_linear_arrange(work, &work->v, work->key, work->value_width);
    if (work->options->key_position != VF_POSITION_OFF)
        k = vf_linear_add_position(work, k);
    q = vf_rewrite_unary(rw, VF_OP_RELU, q);
    k = vf_linear_mask(work, VF_LINEAR_MASK_KEYS, vf_rewrite_unary(rw, VF_OP_RELU, k));
    if (is_half(work)) {
        VfValue *share = share_of_keys(work, k);
        q = vf_rewrite_binary(rw, VF_OP_MUL, q, share);
        k = vf_rewrite_binary(rw, VF_OP_MUL, k, share);
    }
    VfValue *out = is_linear ? build_linear(work, q, k, v) : build_quadratic(work, q, k, v);
    double gain = vf_linear_gain(work);
    if (fabs(gain - 1.0) > 0.0)
        out = vf_rewrite_binary(rw, VF_OP_MUL, out,
                                vf_rewrite_scalar(rw, dtype_of(work), gain, "gain"));
    if (work->options->dwc != VF_DWC_OFF)
        out = vf_rewrite_binary(rw, VF_OP_ADD, out, vf_linear_convolve(work));
    return work->is_fused ? vf_unfuse_join(&work->unfused, out) : vf_linear_restore(work, out);
}

/* Are numbers known at run time only taken for a mask? They may be a bias. */
static bool is_mask_guessed(const VfAttention *site)
{
    for (int32_t i = 0; i < site->n_term; i++) {
        const VfLogitTerm *term = &site->term[i];
        bool is_added = term->slot < 0 && isnan(term->lowest) && !term->is_bias;
        if (!term->is_mask && (is_added || vf_term_may_remove(term)))
            return true;
    }
    return false;
}

static VfStatus note(const VfLinearSite *work, bool is_linear, VfErr *err)
{
    static const char *const dwc_name[] = {"off", "zero", "identity", "npz", "lsq"};
    const VfTokenGrid *grid = &work->grid;
    VfText text;
    VfBytes out;
    vf_text_init(&text, work->cx->arena);
    vf_text_printf(&text, "%s, %s keys", is_linear ? "linear" : "quadratic",
                   vf_dim_text(work->cx->arena, work->cx->model->symbols, work->n_k));
    if (work->mask != VF_LINEAR_MASK_NONE)
        vf_text_printf(&text, ", %s multiplied",
                       work->mask == VF_LINEAR_MASK_KEYS ? "mask of keys" : "mask");
    if (work->mask != VF_LINEAR_MASK_NONE && is_mask_guessed(work->site))
        vf_text_printf(&text, " (run-time numbers of -100 and lower taken for one)");
    if (work->options->key_position != VF_POSITION_OFF)
        vf_text_printf(&text, ", key position%s", work->position != NULL ? " given" : "");
    vf_text_printf(&text, ", dwc %s", dwc_name[work->options->dwc]);
    if (work->options->dwc == VF_DWC_LSQ)
        vf_text_printf(&text, " (R2 %.4f)", work->dwc.r2);
    if (work->options->dwc != VF_DWC_OFF)
        vf_text_printf(&text, ", grid %lldx%lld, prefix %lld", (long long)grid->h,
                       (long long)grid->w, (long long)grid->prefix);
    if (work->options->upsample == VF_UPSAMPLE_LINEAR_1D && grid->stride > 1)
        vf_text_printf(&text, ", upsampled along the sequence");
    bool is_square = !vf_dim_is_known(work->n_q) || vf_dim_is_same(work->n_q, work->n_k);
    if (is_square && vf_dim_is_known(work->d) && vf_dim_is_known(work->d_v))
        vf_text_printf(&text, ", pays above %.0f tokens", vf_linear_break_even(work));
    VF_TRY(vf_text_get(&text, &out, err));
    vf_rewrite_note(work->rw, "%s", out.data);
    return VF_OK;
}

VfStatus vf_linear_rewrite(VfLinearSite *work, VfErr *err)
{
    const VfAttention *site = work->site;
    bool is_linear = is_linear_order(work);
    work->rw =
        vf_rewrite_begin(work->cx->journal, site->value_node,
                         (VfRewriteInfo){work->cx->pass, "softmax-to-sla", site->label, NULL});
    VF_TRY_ALLOC(work->rw, err);
    vf_rewrite_replace(work->rw, site->out, build(work, is_linear));
    VF_TRY(note(work, is_linear, err));
    return vf_rewrite_commit(work->rw, err);
}
