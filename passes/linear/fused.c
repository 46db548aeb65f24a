/* Fused attention operators as the linear form needs them: Q, K and V apart, heads on an axis.
 *
 * Source: ONNX Attention (23), com.microsoft MultiHeadAttention. 3-D operands hold the heads side
 * by side in the last axis; heads of K and V are repeated for groups of heads of Q.
 */
#include "passes/ir/attr.h"
#include "passes/linear/linear.h"
#include "passes/match/facts.h"

/* Letters of the axes; no product is there to name them. */
enum { BATCH = 'a', HEAD, QUERY, KEY, WIDTH, VALUE_WIDTH };

/* Columns: operator, attributes with the heads of Q and of K, operands: bias of the projections
 * (-1 none), first and last of earlier keys and counts. */
typedef struct FusedForm {
    VfOp op;
    const char *heads, *groups;
    int32_t bias, first_past, last_past;
} FusedForm;

static const FusedForm form_row[] = {
    {VF_OP_ATTENTION, "q_num_heads", "kv_num_heads", -1, 4, 6},
    {VF_OP_MS_MULTI_HEAD_ATTENTION, "num_heads", "num_heads", 3, 6, 9},
};

static const FusedForm *find_form(VfOp op)
{
    for (size_t i = 0; i < sizeof form_row / sizeof form_row[0]; i++) {
        if (form_row[i].op == op)
            return &form_row[i];
    }
    return NULL;
}

static int64_t int_or(const VfNode *node, const char *name, int64_t def)
{
    return vf_node_attr(node, name) != NULL ? vf_node_int(node, name) : def;
}

static int64_t count_heads(const VfNode *node, const VfValue *x, const char *attr)
{
    if (x->type.rank == 3)
        return int_or(node, attr, 0);
    return vf_dim_is_known(vf_dim_at(x, 1)) ? vf_dim_at(x, 1).k : 0;
}

/* Head width of one operand, unknown where it cannot be told. */
static VfDim width_of(const VfValue *x, int64_t heads)
{
    VfDim width = vf_dim_at(x, -1);
    if (x->type.rank == 4 || !vf_dim_is_known(width))
        return width;
    return width.k % heads == 0 ? vf_dim(width.k / heads) : vf_dim_unknown();
}

static const char *why_not_operands(const VfAttention *site, const FusedForm *form)
{
    const VfNode *node = site->norm_node;
    for (int32_t i = form->first_past; i <= form->last_past; i++) {
        if (i < node->n_in && vf_node_in(node, i) != NULL)
            return "the fused operator reads earlier keys or counts of keys";
    }
    for (int32_t i = 1; i < node->n_out; i++) {
        if (vf_node_out(node, i) != NULL && vf_node_out(node, i)->n_use > 0)
            return "more than the attention's output is read from the fused operator";
    }
    for (int32_t i = 0; i < 3; i++) {
        const VfValue *x = vf_node_in(node, i);
        if (x == NULL || x->type.rank != site->q->type.rank ||
            (x->type.rank != 3 && x->type.rank != 4))
            return "the ranks of the fused operator's operands are not known, or differ";
    }
    if (int_or(node, "left_window_size", -1) >= 0 || int_or(node, "right_window_size", -1) >= 0)
        return "the fused operator sees a window of keys";
    return NULL;
}

static VfLettered letters_of(VfValue *value, int8_t token, int8_t width)
{
    return (VfLettered){.value = value, .rank = 4, .letter = {BATCH, HEAD, token, width}};
}

const char *vf_linear_read_fused(VfLinearSite *work)
{
    const VfAttention *site = work->site;
    const VfNode *node = site->norm_node;
    const FusedForm *form = find_form(node->op);
    if (form == NULL)
        return "the attention lies inside a fused operator";
    const char *why = why_not_operands(site, form);
    if (why != NULL)
        return why;
    int64_t heads = count_heads(node, site->q, form->heads);
    int64_t groups = count_heads(node, site->k, form->groups);
    if (groups < 1 || heads % groups != 0)
        return "the heads of the fused operator are not known";
    work->d = width_of(site->k, groups);
    work->d_v = width_of(site->v, groups);
    if (!vf_dim_is_known(work->d) || !vf_dim_is_known(work->d_v))
        return "the head width of the fused operator is not known";
    if (site->mask != VF_MASK_NONE && !site->is_causal && site->mask != VF_MASK_RUNTIME)
        return "the mask of the fused operator is not multiplied";
    work->fused = (VfFusedHeads){heads, groups, form->bias};
    work->n_q = vf_dim_at(site->q, -2);
    work->n_k = vf_dim_at(site->k, -2);
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

/* --- building --- */

/* B L (H d) as B H L d. */
static VfValue *split_heads(VfRewrite *rw, VfValue *x, int64_t heads)
{
    static const int64_t perm[4] = {0, 2, 1, 3};
    const int64_t dims[4] = {0, 0, heads, -1};
    return x == NULL || x->type.rank == 4
               ? x
               : vf_rewrite_transpose(rw, vf_rewrite_reshape(rw, x, 4, dims), 4, perm);
}

/* B G L d as B H L d, each head H / G times in a row. */
static VfValue *repeat_heads(const VfLinearSite *work, VfValue *x, VfDim width)
{
    static const int64_t axis[1] = {2};
    const VfFusedHeads *fused = &work->fused;
    const int64_t times[5] = {1, 1, fused->heads / fused->groups, 1, 1};
    const int64_t dims[4] = {0, fused->heads, -1, width.k};
    if (fused->heads == fused->groups)
        return x;
    VfValue *shape = vf_rewrite_const_i64(work->rw, 5, times, "repeats");
    VfValue *apart = vf_rewrite_unsqueeze(work->rw, x, 1, axis);
    return vf_rewrite_reshape(work->rw, vf_rewrite_binary(work->rw, VF_OP_EXPAND, apart, shape), 4,
                              dims);
}

/* `x` with its part of the bias that the operator adds to the three projections side by side. */
static VfValue *add_bias(const VfLinearSite *work, VfValue *x, int64_t start, int64_t n)
{
    const VfNode *node = work->site->norm_node;
    int32_t slot = work->fused.bias;
    VfValue *bias = slot >= 0 && slot < node->n_in ? vf_node_in(node, slot) : NULL;
    if (bias == NULL)
        return x;
    return vf_rewrite_binary(work->rw, VF_OP_ADD, x,
                             vf_rewrite_slice(work->rw, bias, 0, start, start + n));
}

void vf_linear_split_fused(VfLinearSite *work)
{
    const VfFusedHeads *fused = &work->fused;
    int64_t n = fused->heads * work->d.k, n_v = fused->heads * work->d_v.k;
    VfValue *q = add_bias(work, work->q.value, 0, n);
    VfValue *k = add_bias(work, work->k.value, n, n);
    VfValue *v = add_bias(work, work->v.value, 2 * n, n_v);
    work->q.value = split_heads(work->rw, q, fused->heads);
    work->k.value = repeat_heads(work, split_heads(work->rw, k, fused->groups), work->d);
    work->v.value = repeat_heads(work, split_heads(work->rw, v, fused->groups), work->d_v);
}

VfValue *vf_linear_join_fused(const VfLinearSite *work, VfValue *out)
{
    static const int64_t perm[4] = {0, 2, 1, 3}, dims[3] = {0, 0, -1};
    if (work->site->out->type.rank != 3)
        return out;
    return vf_rewrite_reshape(work->rw, vf_rewrite_transpose(work->rw, out, 4, perm), 3, dims);
}
