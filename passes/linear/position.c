/* The table of key positions P, added to K before the feature map: (heads, d, N_k). */
#include "passes/linear/linear.h"
#include "passes/match/axis.h"
#include "passes/match/facts.h"

static bool has_head_axis(const VfLinearSite *work)
{
    VfDim heads = work->site->heads;
    if (vf_dim_is(heads, 1) || work->is_fused)
        return true;
    for (int32_t a = 0; a < work->k.rank; a++) {
        int8_t letter = work->k.letter[a];
        if (letter != work->key && letter != work->width &&
            vf_dim_is_same(vf_dim_at(work->k.value, a), heads))
            return true;
    }
    return false;
}

static bool counts_heads(const VfLinearSite *work, const VfFactor *factor)
{
    return factor->role == VF_ROLE_CHANNEL && vf_dim_is_same(factor->dim, work->site->heads);
}

/* Only with one batch axis, which a Reshape can take apart without knowing the other factors. */
VfHeadsPlace vf_linear_find_heads(const VfLinearSite *work)
{
    VfAxes *axes = NULL;
    VfErr err = {0};
    if (has_head_axis(work))
        return VF_HEADS_AXIS;
    if (work->n_batch != 1 || work->k.rank != 3 ||
        vf_axes_new(work->cx->arena, work->cx->model, &axes, &err) != VF_OK)
        return VF_HEADS_HIDDEN;
    for (int32_t a = 0; a < 3; a++) {
        const VfAxis *axis = vf_axis_get(axes, work->k.value, a);
        if (work->k.letter[a] != work->batch[0] || axis == NULL || axis->n < 2)
            continue;
        if (counts_heads(work, &axis->factor[axis->n - 1]))
            return VF_HEADS_INNER;
        if (counts_heads(work, &axis->factor[0]))
            return VF_HEADS_OUTER;
    }
    return VF_HEADS_HIDDEN;
}

/* --- building --- */

/* Batch axis of K that counts heads, from the end of the batch axes; 0: none. */
static int32_t heads_from_end(const VfLinearSite *work, const VfValue *k)
{
    for (int32_t i = 1; i <= k->type.rank - 2; i++) {
        if (vf_dim_is_same(k->type.dims[k->type.rank - 2 - i], work->site->heads))
            return i;
    }
    return 0;
}

/* In another grouping of the axes heads, d, N_k. */
static VfValue *table(const VfLinearSite *work, int32_t rank, const int64_t *dims)
{
    VfTensor *tensor = NULL;
    void *data = NULL;
    (void)vf_tensor_new(work->cx->model->arena, work->site->out->type.dtype, rank, dims, &tensor,
                        &data, NULL);
    for (size_t i = 0; tensor != NULL && work->position != NULL && i < tensor->count; i++)
        vf_tensor_put_double(data, tensor->dtype, i, vf_tensor_get_double(work->position, i));
    return vf_rewrite_const(work->rw, tensor, "key_position");
}

static VfValue *add_folded(const VfLinearSite *work, VfValue *k)
{
    int64_t heads = work->site->heads.k, d = work->d.k, n = work->n_k.k;
    bool is_inner = work->heads == VF_HEADS_INNER;
    int64_t apart[] = {is_inner ? -1 : heads, is_inner ? heads : -1, d, n}, joined[] = {-1, d, n};
    int64_t inner[] = {heads, d, n}, outer[] = {heads, 1, d, n};
    VfValue *p = is_inner ? table(work, 3, inner) : table(work, 4, outer);
    VfValue *sum =
        vf_rewrite_binary(work->rw, VF_OP_ADD, vf_rewrite_reshape(work->rw, k, 4, apart), p);
    return vf_rewrite_reshape(work->rw, sum, 3, joined);
}

VfValue *vf_linear_add_position(const VfLinearSite *work, VfValue *k)
{
    int64_t dims[VF_AXIS_MAX + 2];
    if (work->heads != VF_HEADS_AXIS)
        return add_folded(work, k);
    int32_t n = k != NULL ? heads_from_end(work, k) : 0;
    for (int32_t i = 0; i < n; i++)
        dims[i] = i == 0 ? work->site->heads.k : 1;
    dims[n] = work->d.k;
    dims[n + 1] = work->n_k.k;
    return vf_rewrite_binary(work->rw, VF_OP_ADD, k, table(work, n + 2, dims));
}
