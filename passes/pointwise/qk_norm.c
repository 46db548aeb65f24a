/* LayerNorm of queries and keys over the head width, between head split and product.
 *
 * Source: arXiv 2309.08586, section 4; spec of the conversion passes, section 1.4.
 */
#include "passes/match/facts.h"
#include "passes/pointwise/fold_scale.h"
#include "passes/pointwise/scale.h"

enum { N_STEP_MAX = 8, LAYER_NORM_OPSET = 17 };

static const float norm_epsilon = 1e-6F;

/* Where queries or keys are read on the way to the product. */
typedef struct Operand {
    VfNode *reader;
    int32_t slot;
    bool is_last; /* the head width is the last axis, else the one before it */
} Operand;

/* The operand of the next node up on the way from the product, or -1: not a scale, carrier or swap
 * that only this product reads. */
static int32_t slot_up(const VfNode *node, Operand *operand)
{
    int32_t slot = 0;
    double factor;
    if (node == NULL || vf_value_single_user(vf_node_out(node, 0)) == NULL)
        return -1;
    if (vf_is_swap_last_two(node)) {
        operand->is_last = !operand->is_last;
        return 0;
    }
    if (vf_is_carrier(node))
        return 0;
    return vf_is_scale(node, &slot, &factor, NULL) ? slot : -1;
}

/* Walk up from operand `from` of the product to `target`. */
static bool find_operand(VfNode *product, int32_t from, const VfValue *target, Operand *operand)
{
    *operand = (Operand){product, from, from == 0};
    for (int32_t i = 0; i < N_STEP_MAX; i++) {
        VfValue *value = vf_node_in(operand->reader, operand->slot);
        if (value == target)
            return true;
        VfNode *node = value != NULL ? value->def : NULL;
        int32_t slot = slot_up(node, operand);
        if (slot < 0)
            return false;
        operand->reader = node;
        operand->slot = slot;
    }
    return false;
}

static bool find_operands(const VfAttention *site, Operand *q, Operand *k)
{
    if (site->score_node == NULL || site->q == NULL || site->k == NULL ||
        site->score_node->op != VF_OP_MATMUL)
        return false;
    for (int32_t i = 0; i < 2; i++) {
        if (find_operand(site->score_node, i, site->q, q) &&
            find_operand(site->score_node, 1 - i, site->k, k))
            return true;
    }
    return false;
}

bool vf_relu_owns_operands(const VfAttention *site)
{
    Operand q, k;
    return find_operands(site, &q, &k) && vf_value_single_user(site->q) != NULL &&
           vf_value_single_user(site->k) != NULL;
}

static bool has_width(const VfValue *x, const Operand *operand, VfDim width)
{
    return x->type.rank >= 2 && vf_dtype_info(x->type.dtype)->is_float &&
           vf_dim_is(vf_dim_at(x, operand->is_last ? -1 : -2), width.k);
}

const char *vf_qk_norm_why_not(const VfAttention *site)
{
    Operand q, k;
    if (vf_graph_opset(site->graph, vf_bytes("")) < LAYER_NORM_OPSET)
        return "qk-norm: the opset has no LayerNormalization";
    if (vf_is_fused(site))
        return vf_dim_is_known(site->d) ? NULL : "qk-norm: the head width is not known";
    if (!find_operands(site, &q, &k))
        return "qk-norm: queries and keys are not followed to a MatMul of their own";
    if (q.reader->graph != site->graph || k.reader->graph != site->graph)
        return "qk-norm: queries or keys reach their product through another graph";
    if (!vf_dim_is_known(site->d) || !has_width(site->q, &q, site->d) ||
        !has_width(site->k, &k, site->d))
        return "qk-norm: the head width is not known";
    return NULL;
}

static VfValue *swap_last_two(VfRewrite *rw, VfValue *x)
{
    int64_t perm[VF_AXIS_MAX];
    int32_t rank = x != NULL && x->type.rank <= VF_AXIS_MAX ? x->type.rank : 0;
    for (int32_t i = 0; i < rank; i++)
        perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return vf_rewrite_transpose(rw, x, rank, perm);
}

VfValue *vf_qk_norm_of(VfRewrite *rw, VfArena *arena, VfValue *x, int64_t width)
{
    if (x == NULL)
        return NULL;
    const VfTensor *ones = vf_tensor_filled(arena, x->type.dtype, 1, &width, 1.0);
    VfValue *in[2] = {x, vf_rewrite_const(rw, ones, "norm_scale")};
    VfValue *y = vf_rewrite_node(rw, VF_OP_LAYER_NORMALIZATION, 2, in);
    vf_rewrite_int(rw, "axis", -1);
    vf_rewrite_float(rw, "epsilon", norm_epsilon);
    return y;
}

static void insert(VfRewrite *rw, VfArena *arena, const Operand *operand, int64_t width)
{
    VfValue *x = vf_node_in(operand->reader, operand->slot);
    VfValue *y = vf_qk_norm_of(rw, arena, operand->is_last ? x : swap_last_two(rw, x), width);
    vf_rewrite_set_in(rw, operand->reader, operand->slot,
                      operand->is_last ? y : swap_last_two(rw, y));
}

void vf_qk_norm_insert(VfRewrite *rw, VfArena *arena, const VfAttention *site)
{
    Operand q, k;
    if (!find_operands(site, &q, &k))
        return;
    insert(rw, arena, &q, site->d.k);
    insert(rw, arena, &k, site->d.k);
}
