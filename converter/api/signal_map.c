/* Attention matrices at zero logits: what stands between the scores and the probabilities is
 * computed by the same kernels that run the model, on scores of zero. So every spelling of masks,
 * biases and point-wise functions is read for what it does. */
#include "converter/api/signal.h"

#include <math.h>
#include <string.h>

#include "converter/lower/lower.h"

enum { DEPTH_MAX = 96, KNOWN_MAX = 256 };

typedef struct Evaluation {
    VfArena *arena;
    const VfAttention *site;
    const VfTensor *scores; /* zeros */
    int32_t n_known;
    struct {
        const VfValue *value;
        const VfTensor *tensor;
    } known[KNOWN_MAX];
} Evaluation;

static const VfTensor *find_known(const Evaluation *e, const VfValue *value)
{
    if (value == e->site->raw_scores)
        return e->scores;
    for (int32_t i = 0; i < e->n_known; i++)
        if (e->known[i].value == value)
            return e->known[i].tensor;
    return vf_value_const(value);
}

static VfStatus compute(Evaluation *e, const VfValue *value, int32_t depth,
                        const VfTensor **tensor, VfErr *err);

static VfStatus compute_node(Evaluation *e, const VfNode *node, int32_t depth, VfErr *err)
{
    const VfTensor **in = VF_NEW_ARRAY(e->arena, const VfTensor *, (size_t)node->n_in + 1);
    const VfTensor **out = VF_NEW_ARRAY(e->arena, const VfTensor *, (size_t)node->n_out + 1);
    VF_TRY_ALLOC(in, err);
    VF_TRY_ALLOC(out, err);
    for (int32_t i = 0; i < node->n_in; i++)
        if (vf_node_in(node, i) != NULL)
            VF_TRY(compute(e, vf_node_in(node, i), depth + 1, &in[i], err));
    const VfEvaluator *evaluator = vf_evaluator();
    VF_TRY(evaluator->evaluate(evaluator, e->arena, node, in, out, err));
    for (int32_t i = 0; i < node->n_out; i++) {
        if (vf_node_out(node, i) == NULL || e->n_known == KNOWN_MAX)
            continue;
        e->known[e->n_known].value = vf_node_out(node, i);
        e->known[e->n_known++].tensor = out[i];
    }
    return VF_OK;
}

static VfStatus compute(Evaluation *e, const VfValue *value, int32_t depth,
                        const VfTensor **tensor, VfErr *err)
{
    *tensor = find_known(e, value);
    if (*tensor != NULL)
        return VF_OK;
    if (value->kind == VF_VALUE_INPUT)
        return vf_fail(err, VF_UNSUPPORTED, "the logits take a term from input '%s'",
                       vf_show(e->arena, value->name));
    if (value->kind == VF_VALUE_RESULT && value->def->op == VF_OP_DROPOUT && value->index == 0 &&
        depth <= DEPTH_MAX)
        return compute(e, vf_node_in(value->def, 0), depth + 1, tensor, err);
    if (depth > DEPTH_MAX || value->kind != VF_VALUE_RESULT)
        return vf_fail(err, VF_UNSUPPORTED, "a term of the logits cannot be computed");
    VF_TRY(compute_node(e, value->def, depth, err));
    *tensor = find_known(e, value);
    if (*tensor == NULL)
        return vf_fail(err, VF_UNSUPPORTED, "a term of the logits cannot be computed");
    return VF_OK;
}

static VfStatus zero_scores(Evaluation *e, VfErr *err)
{
    const VfType *type = &e->site->raw_scores->type;
    int64_t dims[8];
    VfTensor *zeros;
    void *data;
    if (type->rank < 2 || type->rank > 8)
        return vf_fail(err, VF_UNSUPPORTED, "the shape of the scores is not known");
    for (int32_t i = 0; i < type->rank; i++) {
        if (!vf_dim_is_known(type->dims[i]))
            return vf_fail(err, VF_UNSUPPORTED, "the shape of the scores is not known");
        dims[i] = type->dims[i].k;
    }
    VF_TRY(vf_tensor_new(e->arena, type->dtype, type->rank, dims, &zeros, &data, err));
    e->scores = zeros;
    return VF_OK;
}

static bool is_same(const VfTensor *t, size_t a, size_t b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (vf_tensor_get_double(t, a * n + i) != vf_tensor_get_double(t, b * n + i))
            return false;
    return true;
}

/* The last two axes are queries and keys; all others count heads, windows and samples. */
static VfStatus split_heads(VfArena *arena, const VfTensor *probs, VfSignalMap *map, VfErr *err)
{
    enum { MOST_MAPS = 4096 };
    int64_t n_q = probs->dims[probs->rank - 2], n_k = probs->dims[probs->rank - 1];
    if (n_q < 1 || n_k < 1 || n_q > VF_MATRIX_MAX || n_k > VF_MATRIX_MAX)
        return vf_fail(err, VF_UNSUPPORTED, "%lld queries and %lld keys are not between 1 and %d",
                       (long long)n_q, (long long)n_k, VF_MATRIX_MAX);
    size_t one = (size_t)(n_q * n_k), n = probs->count / one;
    bool is_one = true;
    for (size_t i = 1; i < n && is_one; i++)
        is_one = is_same(probs, 0, i, one);
    if (is_one && n > 0)
        n = 1;
    if (n < 1 || n > MOST_MAPS)
        return vf_fail(err, VF_UNSUPPORTED, "%zu attention matrices in one site", n);
    map->matrix = VF_NEW_ARRAY(arena, VfMatrix, n);
    VF_TRY_ALLOC(map->matrix, err);
    for (map->n = 0; (size_t)map->n < n; map->n++) {
        VfMatrix *m = &map->matrix[map->n];
        VF_TRY(vf_matrix_new(arena, (int32_t)n_q, (int32_t)n_k, m, err));
        for (size_t i = 0; i < one; i++) {
            m->at[i] = vf_tensor_get_double(probs, (size_t)map->n * one + i);
            if (!isfinite(m->at[i]))
                return vf_fail(err, VF_UNSUPPORTED, "at zero logits a weight is not finite");
        }
    }
    return VF_OK;
}

/* Uniform over the keys that a causal mask leaves. */
static VfStatus plain_map(VfArena *arena, const VfAttention *site, VfSignalMap *map, VfErr *err)
{
    if (!vf_dim_is_known(site->n_q) || !vf_dim_is_known(site->n_k) ||
        site->n_q.k > VF_MATRIX_MAX || site->n_k.k > VF_MATRIX_MAX)
        return vf_fail(err, VF_UNSUPPORTED, "the number of tokens is not known");
    map->matrix = VF_NEW(arena, VfMatrix);
    VF_TRY_ALLOC(map->matrix, err);
    VF_TRY(vf_matrix_new(arena, (int32_t)site->n_q.k, (int32_t)site->n_k.k, map->matrix, err));
    map->n = 1;
    for (int32_t i = 0; i < map->matrix->n_row; i++) {
        int32_t n = site->is_causal && i < map->matrix->n_col ? i + 1 : map->matrix->n_col;
        for (int32_t j = 0; j < n; j++)
            vf_matrix_row(map->matrix, i)[j] = 1.0 / n;
    }
    return VF_OK;
}

/* Fused operators hold their scores inside. */
static VfStatus fused_map(VfArena *arena, const VfAttention *site, VfSignalMap *map, VfErr *err)
{
    VF_TRY(plain_map(arena, site, map, err));
    if (site->has_bias || (site->mask != VF_MASK_NONE && site->mask != VF_MASK_CAUSAL))
        map->note = "bias and mask of the fused operator are left out";
    return VF_OK;
}

/* `scratch` holds the tensors on the way: all heads of all layers would be too much to keep. */
static VfStatus scores_map(VfArena *arena, VfArena *scratch, const VfAttention *site,
                           VfSignalMap *map, VfErr *err)
{
    const VfTensor *probs;
    Evaluation *e = VF_NEW(scratch, Evaluation);
    VF_TRY_ALLOC(e, err);
    e->arena = scratch;
    e->site = site;
    VF_TRY(zero_scores(e, err));
    VF_TRY(compute(e, site->probs, 0, &probs, err));
    if (probs->rank < 2 || site->key_axis != probs->rank - 1)
        return vf_fail(err, VF_UNSUPPORTED, "the keys are not the last axis of the scores");
    return split_heads(arena, probs, map, err);
}

static VfStatus unfused_map(VfArena *arena, const VfAttention *site, VfSignalMap *map, VfErr *err)
{
    VfErr why = {0};
    VfArena *scratch = vf_arena_new();
    VF_TRY_ALLOC(scratch, err);
    VfStatus status = scores_map(arena, scratch, site, map, &why);
    vf_arena_free(scratch);
    if (status == VF_OK)
        return VF_OK;
    if (status != VF_UNSUPPORTED || site->kind != VF_ATTENTION_SOFTMAX)
        return vf_fail(err, status, "%s", why.text);
    VF_TRY(plain_map(arena, site, map, err));
    map->note = vf_arena_printf(arena, "%s: taken for a softmax without it", why.text);
    return map->note == NULL ? vf_no_memory(err) : VF_OK;
}

VfStatus vf_signal_map(VfArena *arena, const VfAttention *site, VfSignalMap *map, VfErr *err)
{
    *map = (VfSignalMap){0};
    if (site->kind == VF_ATTENTION_LINEAR)
        return vf_fail(err, VF_UNSUPPORTED, "linear attention has no matrix at zero logits");
    if (site->kind == VF_ATTENTION_OTHER)
        return vf_fail(err, VF_UNSUPPORTED, "%s", site->why == NULL ? "not understood" : site->why);
    if (site->raw_scores == NULL || site->probs == NULL)
        return fused_map(arena, site, map, err);
    return unfused_map(arena, site, map, err);
}
