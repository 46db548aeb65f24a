/* Which axis of Q, K, V and the result is which, whatever products the exporter wrote. */
#include <string.h>

#include "passes/linear/linear.h"
#include "passes/match/facts.h"

/* The letter of d_v; no product uses it. */
enum { VALUE_WIDTH = 127, WALK_MAX = 24, VISIT_MAX = 2048 };

/* --- from the weights up to the scores --- */

/* Depth first through the operands, never through another product. */
static bool find_way(VfValue *from, const VfValue *to, VfLinearPath *path, int32_t *budget)
{
    VfProduct product;
    if (from == to)
        return true;
    VfNode *node = from != NULL && from->kind == VF_VALUE_RESULT ? from->def : NULL;
    if (node == NULL || path->n == VF_LINEAR_PATH_MAX || --*budget < 0 ||
        vf_product_of(node, &product))
        return false;
    int32_t n = path->n;
    path->node[path->n++] = node;
    for (int32_t i = 0; i < node->n_in; i++) {
        if (find_way(vf_node_in(node, i), to, path, budget))
            return true;
    }
    path->n = n;
    return false;
}

static bool find_path(VfLinearSite *work)
{
    const VfAttention *site = work->site;
    int32_t budget = VISIT_MAX;
    VfValue *norm = vf_node_out(site->norm_node, 0);
    if (find_way(site->probs, norm, &work->path, &budget) &&
        find_way(site->logits, site->raw_scores, &work->path, &budget))
        return true;
    work->path.n = 0; /* under the identity nothing divides weights from scores */
    return find_way(site->probs, site->raw_scores, &work->path, &budget);
}

/* `map[i]`: the axis of the scores that is axis i of the weights. */
static const char *map_axes(VfLinearSite *work, int32_t *map)
{
    const VfType *scores = &work->score.out->type, *weights = &work->site->probs->type;
    if (weights->rank != scores->rank)
        return "the weights group their batch axes in another way than the scores";
    for (int32_t i = 0; i < weights->rank; i++)
        map[i] = i;
    for (int32_t i = 0; i < work->path.n; i++) {
        const VfNode *node = work->path.node[i];
        int32_t perm[VF_AXIS_MAX];
        if (node->op != VF_OP_TRANSPOSE)
            continue;
        if (vf_transpose_perm(node, perm) != weights->rank)
            return "the scores are transposed among regrouped axes";
        for (int32_t a = 0; a < weights->rank; a++)
            map[a] = perm[map[a]];
    }
    for (int32_t i = 0; i < weights->rank; i++) {
        VfDim a = weights->dims[i], b = scores->dims[map[i]];
        if (vf_dim_is_known(a) && vf_dim_is_known(b) && a.k != b.k)
            return "the weights group their axes in another way than the scores";
    }
    return NULL;
}

/* --- letters --- */

/* Letters of an operand of a product carried up to `bare`, which the matcher found above it through
 * scales, Casts and swaps of the last two axes. */
static bool carry_up(VfValue *value, VfValue *bare, VfLettered *operand)
{
    for (int32_t i = 0; value != bare && i < WALK_MAX; i++) {
        int32_t slot = 0;
        double factor;
        VfNode *node = value != NULL && value->kind == VF_VALUE_RESULT ? value->def : NULL;
        if (node == NULL)
            return false;
        if (vf_is_swap_last_two(node)) {
            int8_t *last = &operand->letter[operand->rank - 2], first = last[0];
            last[0] = last[1];
            last[1] = first;
        } else if (!vf_is_scale(node, &slot, &factor, NULL) && !vf_is_carrier(node)) {
            return false;
        }
        value = vf_node_in(node, slot);
    }
    operand->value = bare;
    return value == bare && bare->type.rank == operand->rank;
}

/* Letters of V and the result in those of the scores. */
static bool translate(const VfLinearSite *work, const int8_t *from, int32_t rank,
                      const int32_t *map, int32_t probs_in, VfLettered *to)
{
    int32_t n_width = 0;
    to->rank = rank;
    for (int32_t a = 0; a < rank; a++) {
        int32_t axis = vf_product_axis(&work->product, probs_in, from[a]);
        to->letter[a] = axis < 0 ? VALUE_WIDTH : work->score.out_letter[map[axis]];
        n_width += axis < 0;
    }
    return n_width == 1;
}

static int32_t axis_of(const VfLettered *operand, int8_t letter)
{
    for (int32_t a = 0; a < operand->rank; a++) {
        if (operand->letter[a] == letter)
            return a;
    }
    return -1;
}

static VfDim dim_of(const VfLettered *operand, int8_t letter)
{
    int32_t axis = axis_of(operand, letter);
    return axis < 0 ? vf_dim_unknown() : vf_dim_at(operand->value, axis);
}

/* MatMul lines up batch axes by position: an operand of lower rank does without their letters. */
static bool is_batch(int8_t letter)
{
    return letter >= 8 && letter < 'A';
}

/* Roles of the letters of P V and Q Kᵀ: exactly one for N_k, N_q and d, the others batch. */
static const char *name_letters(VfLinearSite *work, int32_t probs_in, const int32_t *map)
{
    const VfProduct *score = &work->score, *product = &work->product;
    int32_t n_key = 0, n_query = 0, n_width = 0;
    for (int32_t a = 0; a < product->rank[probs_in]; a++) {
        int8_t letter = product->letter[probs_in][a], own = score->out_letter[map[a]];
        if (vf_product_is_contracted(product, letter)) {
            work->key = own;
            n_key++;
        } else if (vf_product_axis(product, 1 - probs_in, letter) < 0 && !is_batch(letter)) {
            work->query = own;
            n_query++;
        }
    }
    for (int32_t a = 0; a < score->rank[0]; a++) {
        if (vf_product_is_contracted(score, score->letter[0][a])) {
            work->width = score->letter[0][a];
            n_width++;
        }
    }
    work->value_width = VALUE_WIDTH;
    for (int32_t a = 0; a < score->out_rank; a++) {
        int8_t letter = score->out_letter[a];
        if (letter != work->key && letter != work->query)
            work->batch[work->n_batch++] = letter;
    }
    return n_key != 1 || n_query != 1 || n_width != 1 ? "its products sum over several axes" : NULL;
}

static const char *name_operands(VfLinearSite *work, int32_t probs_in, const int32_t *map)
{
    const VfAttention *site = work->site;
    const VfProduct *score = &work->score, *product = &work->product;
    int32_t key_in = vf_product_axis(score, 0, work->key) >= 0 ? 0 : 1;
    VfLettered *operand[] = {&work->q, &work->k};
    for (int32_t i = 0; i < 2; i++) {
        int32_t in = i == 0 ? 1 - key_in : key_in;
        operand[i]->rank = score->rank[in];
        memcpy(operand[i]->letter, score->letter[in], sizeof operand[i]->letter);
        if (!carry_up(score->in[in], i == 0 ? site->q : site->k, operand[i]))
            return "what lies between its queries or keys and their product is not understood";
    }
    int32_t value_in = 1 - probs_in;
    if (!translate(work, product->letter[value_in], product->rank[value_in], map, probs_in,
                   &work->v) ||
        !translate(work, product->out_letter, product->out_rank, map, probs_in, &work->out))
        return "its values have a batch axis that the weights do not have";
    if (!carry_up(product->in[value_in], site->v, &work->v))
        return "what lies between its values and their product is not understood";
    work->out.value = site->out;
    if (work->out.rank != work->n_batch + 2)
        return "its result has other axes than its weights";
    return NULL;
}

static void describe(VfLinearSite *work, const int32_t *map)
{
    const VfProduct *score = &work->score;
    int32_t rank = score->out_rank;
    work->n_q = dim_of(&work->q, work->query);
    work->n_k = dim_of(&work->k, work->key);
    work->d = dim_of(&work->k, work->width);
    work->d_v = dim_of(&work->v, work->value_width);
    work->is_straight =
        score->out_letter[rank - 1] == work->key && score->out_letter[rank - 2] == work->query;
    for (int32_t a = 0; a < rank; a++)
        work->is_straight = work->is_straight && map[a] == a;
}

const char *vf_linear_read(VfLinearSite *work)
{
    const VfAttention *site = work->site;
    int32_t map[VF_AXIS_MAX] = {0};
    if (site->q == NULL || site->k == NULL || site->v == NULL || site->out == NULL)
        return "its queries, keys or values were not identified";
    if (site->score_node == NULL || !vf_product_of(site->score_node, &work->score) ||
        work->score.n_in != 2)
        return "its scores are not one product";
    if (site->value_node == NULL || !vf_product_of(site->value_node, &work->product) ||
        work->product.n_in != 2)
        return "its value product is not one MatMul or Einsum";
    if (site->value_node->op == VF_OP_GEMM && vf_node_in(site->value_node, 2) != NULL)
        return "its value product adds something to its result";
    if (!find_path(work))
        return "what lies between its scores and its weights is not understood";
    int32_t probs_in = work->product.in[0] == site->probs ? 0 : 1;
    const char *why = work->product.in[probs_in] == site->probs
                          ? map_axes(work, map)
                          : "its weights are not an operand of the value product";
    if (why == NULL)
        why = name_letters(work, probs_in, map);
    if (why == NULL)
        why = name_operands(work, probs_in, map);
    if (why == NULL)
        describe(work, map);
    return why;
}

/* --- moving axes --- */

static VfValue *permute(const VfLinearSite *work, VfValue *value, int32_t n, const int64_t *perm)
{
    for (int32_t i = 0; i < n; i++) {
        if (perm[i] != i)
            return vf_rewrite_transpose(work->rw, value, n, perm);
    }
    return value;
}

VfValue *vf_linear_arrange(const VfLinearSite *work, const VfLettered *operand, int8_t a, int8_t b)
{
    int8_t want[VF_AXIS_MAX + 2];
    int64_t perm[VF_AXIS_MAX + 2], missing[VF_AXIS_MAX + 2];
    int32_t n = 0, n_missing = 0;
    memcpy(want, work->batch, (size_t)work->n_batch);
    want[work->n_batch] = a;
    want[work->n_batch + 1] = b;
    for (int32_t i = 0; i < work->n_batch + 2; i++) {
        int32_t axis = axis_of(operand, want[i]);
        if (axis >= 0) {
            perm[n++] = axis;
        } else if (n > 0) {
            missing[n_missing] = n + n_missing;
            n_missing++;
        }
    }
    VfValue *value = permute(work, operand->value, n, perm);
    if (value != NULL && value->type.dtype != work->site->out->type.dtype)
        value = vf_rewrite_cast(work->rw, value, work->site->out->type.dtype);
    return n_missing > 0 ? vf_rewrite_unsqueeze(work->rw, value, n_missing, missing) : value;
}

VfValue *vf_linear_restore(const VfLinearSite *work, VfValue *value)
{
    int64_t perm[VF_AXIS_MAX + 2] = {0};
    for (int32_t i = 0; i < work->out.rank; i++) {
        int8_t letter = work->out.letter[i];
        perm[i] = letter == work->query ? work->n_batch : work->n_batch + 1;
        for (int32_t b = 0; b < work->n_batch; b++) {
            if (work->batch[b] == letter)
                perm[i] = b;
        }
    }
    return permute(work, value, work->out.rank, perm);
}

VfValue *vf_linear_swap(const VfLinearSite *work, VfValue *value)
{
    int64_t perm[VF_AXIS_MAX + 2];
    int32_t n = value != NULL ? value->type.rank : 0;
    for (int32_t i = 0; i < n; i++)
        perm[i] = i;
    if (n < 2)
        return NULL;
    perm[n - 2] = n - 1;
    perm[n - 1] = n - 2;
    return vf_rewrite_transpose(work->rw, value, n, perm);
}
