/* ScatterND and ScatterElements of strings with reduction "add": an update is put behind what
 * stands at its place. All operands are known.
 */
#include <string.h>

#include "converter/lower/ops.h"
#include "passes/ir/attr.h"

/* The place in operand 0 of each update. */
typedef struct Targets {
    size_t n;
    size_t *place;
} Targets;

/* Index `i` of operand 1, along an axis of `dim`. */
static VfStatus read_index(const VfLowCall *call, size_t i, int64_t dim, size_t *at, VfErr *err)
{
    int64_t given = vf_tensor_get_i64(call->in[1]->known, i);
    if (given < -dim || given >= dim)
        return vf_fail(err, VF_INVALID, "node '%s': index %lld of an axis of %lld",
                       vf_node_label(call->node), (long long)given, (long long)dim);
    *at = (size_t)(given < 0 ? given + dim : given);
    return VF_OK;
}

/* As the index says along the axis, along others where the update stands itself. */
static VfStatus find_elements(const VfLowCall *call, Targets *t, VfErr *err)
{
    const VfLowValue *x = call->in[0], *index = call->in[1];
    int64_t axis;
    VF_TRY(vf_low_axis(call, "axis", x->rank, &axis, err));
    bool fits = index->rank == x->rank && index->count == t->n;
    for (int32_t k = 0; fits && k < x->rank; k++)
        fits = k == axis || index->dims[k] <= x->dims[k];
    if (!fits)
        return vf_fail(err, VF_INVALID, "node '%s': indices that do not fit operands 0 and 2",
                       vf_node_label(call->node));
    for (size_t i = 0; i < t->n; i++) {
        size_t rest = i, stride = 1;
        for (int32_t k = x->rank; k-- > 0; rest /= (size_t)index->dims[k]) {
            size_t at = rest % (size_t)index->dims[k];
            if (k == axis)
                VF_TRY(read_index(call, i, x->dims[k], &at, err));
            t->place[i] += at * stride;
            stride *= (size_t)x->dims[k];
        }
    }
    return VF_OK;
}

/* The last axis of the indices holds the first coordinates of a slice of `inner` elements. */
static VfStatus find_slices(const VfLowCall *call, Targets *t, VfErr *err)
{
    const VfLowValue *x = call->in[0], *index = call->in[1];
    int64_t depth = index->rank > 0 ? index->dims[index->rank - 1] : 0;
    if (depth < 1 || depth > x->rank)
        return vf_low_refuse(err, "indices of %lld coordinates", (long long)depth);
    size_t inner = (size_t)vf_low_product(x->dims, (int32_t)depth, x->rank);
    size_t n_tuple = index->count / (size_t)depth;
    if (n_tuple * inner != t->n)
        return vf_fail(err, VF_INVALID, "node '%s': %zu updates for %zu places",
                       vf_node_label(call->node), t->n, n_tuple * inner);
    for (size_t i = 0; i < t->n; i++) {
        size_t slice = 0;
        for (int32_t k = 0; k < depth; k++) {
            size_t at;
            VF_TRY(read_index(call, i / inner * (size_t)depth + (size_t)k, x->dims[k], &at, err));
            slice = slice * (size_t)x->dims[k] + at;
        }
        t->place[i] = slice * inner + i % inner;
    }
    return VF_OK;
}

/* Each string gets its whole length at once: `end` is where the next update goes. */
static VfStatus join(VfLower *cx, const VfLowCall *call, const Targets *t, VfBytes *out, VfErr *err)
{
    const VfLowValue *x = call->in[0];
    const VfBytes *old = x->known->data, *update = call->in[2]->known->data;
    char **end = VF_NEW_ARRAY(cx->arena, char *, x->count + 1);
    VF_TRY_ALLOC(end, err);
    if (x->count > 0)
        memcpy(out, old, x->count * sizeof *out);
    for (size_t i = 0; i < t->n; i++)
        if (__builtin_add_overflow(out[t->place[i]].size, update[i].size, &out[t->place[i]].size))
            return vf_no_memory(err);
    for (size_t i = 0; i < x->count; i++) {
        if (out[i].size == old[i].size)
            continue;
        end[i] = vf_arena_alloc(cx->arena, out[i].size);
        VF_TRY_ALLOC(end[i], err);
        out[i].data = end[i];
        if (old[i].size > 0)
            memcpy(end[i], old[i].data, old[i].size);
        end[i] += old[i].size;
    }
    for (size_t i = 0; i < t->n; i++) {
        if (update[i].size == 0)
            continue;
        memcpy(end[t->place[i]], update[i].data, update[i].size);
        end[t->place[i]] += update[i].size;
    }
    return VF_OK;
}

VfStatus vf_low_scatter_strings(VfLower *cx, VfLowCall *call, VfErr *err)
{
    const VfLowValue *x = call->in[0], *update = call->in[2];
    VfTensor *tensor;
    void *data;
    if (update->dtype != VF_STRING)
        return vf_low_refuse(err, "updates of %s", vf_dtype_info(update->dtype)->name);
    Targets t = {update->count, VF_NEW_ARRAY(cx->arena, size_t, update->count + 1)};
    VF_TRY_ALLOC(t.place, err);
    VF_TRY(call->node->op == VF_OP_SCATTER_ND ? find_slices(call, &t, err)
                                              : find_elements(call, &t, err));
    VF_TRY(vf_tensor_new(cx->arena, VF_STRING, x->rank, x->dims, &tensor, &data, err));
    VF_TRY(join(cx, call, &t, data, err));
    return vf_low_const(cx, tensor, &call->out[0], err);
}
