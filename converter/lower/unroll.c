#include "converter/lower/unroll.h"

#include <string.h>

enum { STACK_RANK_MAX = 64 };

VfStatus vf_unroll_start(VfLower *cx, VfUnrolled *u, VfLowValue *const *state, VfErr *err)
{
    u->state = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)u->n_state + 1);
    u->scan = VF_NEW_ARRAY(cx->arena, VfLowValue **, (size_t)u->n_scan + 1);
    VF_TRY_ALLOC(u->state, err);
    VF_TRY_ALLOC(u->scan, err);
    memcpy(u->state, state, (size_t)u->n_state * sizeof *state);
    return VF_OK;
}

/* Room for one more trip in every list. */
static VfStatus grow(VfLower *cx, VfUnrolled *u, VfErr *err)
{
    size_t capacity = u->capacity;
    for (int32_t k = 0; k < u->n_scan; k++) {
        capacity = u->capacity;
        VF_TRY(vf_arena_grow(cx->arena, (void **)&u->scan[k], &capacity, (size_t)u->n_trip + 1,
                             sizeof **u->scan, err));
    }
    u->capacity = capacity;
    return VF_OK;
}

VfStatus vf_unroll_trip(VfLower *cx, VfUnrolled *u, VfErr *err)
{
    VF_TRY(vf_low_walk(cx, u->body, err));
    VF_TRY(grow(cx, u, err));
    for (int32_t i = 0; i < u->n_state; i++)
        VF_TRY(vf_low_body_result(cx, u->body, u->first + i, &u->state[i], err));
    for (int32_t k = 0; k < u->n_scan; k++)
        VF_TRY(vf_low_body_result(cx, u->body, u->first + u->n_state + k, &u->scan[k][u->n_trip],
                                  err));
    u->n_trip++;
    return VF_OK;
}

/* Zeros like `of`. */
static VfStatus zeros(VfLower *cx, const VfLowValue *of, VfLowValue **out, VfErr *err)
{
    if (of == NULL || of->kind != LOW_TENSOR || of->dtype == VF_STRING)
        return vf_low_refuse(err, "a trip gives no tensor of numbers to stack");
    VF_TRY(vf_low_scalar(cx, of->dtype, 0, out, err));
    return vf_low_expand(cx, *out, of->rank, of->dims, out, err);
}

VfStatus vf_unroll_pad(VfLower *cx, VfUnrolled *u, int64_t n_trip, VfErr *err)
{
    while (u->n_trip > 0 && u->n_trip < n_trip) {
        VF_TRY(grow(cx, u, err));
        for (int32_t k = 0; k < u->n_scan; k++)
            VF_TRY(zeros(cx, u->scan[k][0], &u->scan[k][u->n_trip], err));
        u->n_trip++;
    }
    return VF_OK;
}

static bool has_dims(const VfLowValue *x, const VfLowValue *of)
{
    return x->rank == of->rank &&
           (x->rank == 0 || memcmp(x->dims, of->dims, (size_t)x->rank * sizeof *x->dims) == 0);
}

/* `x` with a new axis of length 1. */
static VfStatus add_axis(VfLower *cx, VfLowValue *x, int32_t axis, VfLowValue **out, VfErr *err)
{
    int64_t dims[STACK_RANK_MAX];
    for (int32_t i = 0; i <= x->rank; i++)
        dims[i] = i < axis ? x->dims[i] : i == axis ? 1 : x->dims[i - 1];
    return vf_low_reshape(cx, x, x->rank + 1, dims, out, err);
}

VfStatus vf_unroll_stack_list(VfLower *cx, int64_t n, VfLowValue **list, int32_t axis,
                              VfLowValue **out, VfErr *err)
{
    VfLowValue **part = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)n);
    VF_TRY_ALLOC(part, err);
    for (int64_t i = 0; i < n; i++) {
        if (list[i] == NULL || list[i]->kind != LOW_TENSOR || list[i]->rank >= STACK_RANK_MAX)
            return vf_low_refuse(err, "a trip gives no tensor to stack");
        if (!has_dims(list[i], list[0]))
            return vf_low_refuse(err, "trips give tensors of unlike dims");
        VF_TRY(add_axis(cx, list[i], axis, &part[i], err));
    }
    return vf_low_concat(cx, (int32_t)n, part, axis, out, err);
}

/* No trip was made: what is known of the body's result tells the dims. */
static VfStatus stack_none(VfLower *cx, const VfType *type, int32_t axis, VfLowValue **out,
                           VfErr *err)
{
    int64_t dims[STACK_RANK_MAX];
    VfTensor *tensor;
    void *data;
    for (int32_t i = 0, from = 0; i <= type->rank; i++) {
        if (i != axis && !vf_dim_is_known(type->dims[from]))
            return vf_low_refuse(err, "no trip, and axis %d of what one would give is not known",
                                 from);
        dims[i] = i == axis ? 0 : type->dims[from++].k;
    }
    VF_TRY(vf_tensor_new(cx->arena, type->dtype, type->rank + 1, dims, &tensor, &data, err));
    return vf_low_const(cx, tensor, out, err);
}

VfStatus vf_unroll_stack(VfLower *cx, const VfLowCall *call, const VfUnrolled *u, int32_t k,
                         int64_t axis, VfLowValue **out, VfErr *err)
{
    const VfValue *value = vf_node_in(u->body->ret, u->first + u->n_state + k);
    const VfLowValue *first = u->n_trip > 0 ? u->scan[k][0] : NULL;
    bool is_tensor = first != NULL && first->kind == LOW_TENSOR;
    if (first != NULL && first->kind == LOW_UNKNOWN)
        return VF_OK; /* its node is noted already */
    if (u->n_trip == 0)
        is_tensor = value != NULL && value->type.kind == VF_TYPE_TENSOR &&
                    value->type.dtype != VF_UNDEFINED && value->type.rank >= 0;
    if (!is_tensor)
        return vf_low_refuse(err, u->n_trip > 0 ? "a trip gives no tensor to stack"
                                                : "no trip, and the body does not declare what "
                                                  "one would give");
    int64_t rank = 1 + (int64_t)(first != NULL ? first->rank : value->type.rank);
    VF_TRY(vf_low_norm_axis(call, rank, &axis, err));
    if (rank > STACK_RANK_MAX)
        return vf_low_refuse(err, "results of more than %d axes", STACK_RANK_MAX);
    return first != NULL
               ? vf_unroll_stack_list(cx, u->n_trip, u->scan[k], (int32_t)axis, out, err)
               : stack_none(cx, &value->type, (int32_t)axis, out, err);
}
