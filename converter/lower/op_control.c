/* If and Loop, followed when the plan is made. */
#include "converter/lower/choice.h"
#include "converter/lower/ops.h"
#include "converter/lower/unroll.h"

#include "passes/ir/attr.h"

const VfGraph *vf_low_body(const VfNode *node, const char *name)
{
    const VfAttr *attr = vf_node_attr(node, name);
    return attr != NULL && attr->type == VF_ATTR_GRAPH ? attr->graph : NULL;
}

VfStatus vf_low_body_result(VfLower *cx, const VfGraph *body, int32_t i, VfLowValue **out,
                            VfErr *err)
{
    return vf_low_lookup(cx, vf_node_in(body->ret, i), out, err);
}

/* A condition: -1 when not known. */
static int known_bool(const VfLowValue *value)
{
    if (value == NULL || value->kind != LOW_TENSOR || value->known == NULL || value->count != 1)
        return -1;
    return vf_tensor_get_i64(value->known, 0) != 0;
}

VfStatus vf_low_is_taken(VfLower *cx, VfLowValue **out, VfErr *err)
{
    VfLowChoice *choice = cx->choice;
    VfLowValue *outer, *taken = choice->condition;
    *out = choice->taken;
    if (*out != NULL)
        return VF_OK;
    if (choice->is_else)
        VF_TRY(vf_low_map(cx, "not", taken, 0, 0, &taken, err));
    if (choice->outer != NULL) {
        cx->choice = choice->outer;
        VF_TRY(vf_low_is_taken(cx, &outer, err));
        cx->choice = choice;
        VF_TRY(vf_low_binary(cx, "and", outer, taken, &taken, err));
    }
    *out = choice->taken = taken;
    return VF_OK;
}

static VfStatus refuse_unlike(const VfLowCall *call, int32_t i, VfDtype yes, VfDtype no, VfErr *err)
{
    return vf_fail(err, VF_INVALID,
                   "node '%s': result %d is %s in 'then_branch' but %s in 'else_branch'",
                   vf_node_label(call->node), (int)i, vf_dtype_info(yes)->name,
                   vf_dtype_info(no)->name);
}

/* The branch that is not taken is not followed: what it declares must do. */
static VfStatus check_other(const VfLowCall *call, const VfGraph *other, bool is_then, VfErr *err)
{
    for (int32_t i = 0; i < call->n_out; i++) {
        const VfLowValue *out = call->out[i];
        const VfType *type = &other->output_type[i];
        if (out == NULL || out->kind != LOW_TENSOR || type->kind != VF_TYPE_TENSOR ||
            type->dtype == VF_UNDEFINED || type->dtype == out->dtype)
            continue;
        return is_then ? refuse_unlike(call, i, type->dtype, out->dtype, err)
                       : refuse_unlike(call, i, out->dtype, type->dtype, err);
    }
    return VF_OK;
}

/* Both branches are computed and one is chosen: right because nodes have no effects, but that an
 * index in the branch that is taken may end the run. */
static VfStatus choose_at_run(VfLower *cx, VfLowCall *call, const VfGraph *const branch[2],
                              VfErr *err)
{
    VfLowValue *condition;
    VF_TRY(vf_low_reshape(cx, call->in[0], 0, NULL, &condition, err));
    for (int32_t i = 0; i < 2; i++) {
        VfLowChoice choice = {cx->choice, condition, i == 1, NULL};
        cx->choice = &choice;
        VF_TRY(vf_low_walk(cx, branch[i], err));
        cx->choice = choice.outer;
    }
    for (int32_t i = 0; i < call->n_out; i++) {
        VfLowValue *x, *y;
        if (!vf_low_has_out(call, i))
            continue;
        VF_TRY(vf_low_body_result(cx, branch[0], i, &x, err));
        VF_TRY(vf_low_body_result(cx, branch[1], i, &y, err));
        if (x != NULL && y != NULL && x->kind == LOW_TENSOR && y->kind == LOW_TENSOR &&
            x->dtype != y->dtype)
            return refuse_unlike(call, i, x->dtype, y->dtype, err);
        bool is_same = x != NULL && y != NULL && x->kind == LOW_TENSOR && y->kind == LOW_TENSOR &&
                       x->dtype == y->dtype && x->rank == y->rank;
        for (int32_t k = 0; is_same && k < x->rank; k++)
            is_same = x->dims[k] == y->dims[k];
        if (!is_same)
            return vf_low_await(call, err, "the condition is not known when the plan is made and "
                                "the branches give unlike results");
        VF_TRY(vf_low_where(cx, condition, x, y, &call->out[i], err));
    }
    return VF_OK;
}

VfStatus vf_lower_if(VfLower *cx, VfLowCall *call, VfErr *err)
{
    const VfGraph *branch[2] = {vf_low_body(call->node, "then_branch"),
                                vf_low_body(call->node, "else_branch")};
    VfLowValue *condition = vf_low_in(call, 0);
    if (condition == NULL || condition->kind != LOW_TENSOR || branch[0] == NULL ||
        branch[1] == NULL || branch[0]->ret->n_in < call->n_out ||
        branch[1]->ret->n_in < call->n_out)
        return vf_low_refuse(err, "a condition or branch is missing");
    if (condition->count != 1 || condition->dtype != VF_BOOL)
        return vf_fail(err, VF_INVALID, "node '%s': the condition is not one bool",
                       vf_node_label(call->node));
    int is_true = known_bool(condition);
    if (is_true < 0)
        return choose_at_run(cx, call, branch, err);
    const VfGraph *taken = branch[is_true ? 0 : 1];
    VF_TRY(vf_low_walk(cx, taken, err));
    for (int32_t i = 0; i < call->n_out; i++)
        if (vf_low_has_out(call, i))
            VF_TRY(vf_low_body_result(cx, taken, i, &call->out[i], err));
    return check_other(call, branch[is_true ? 1 : 0], !is_true, err);
}

/* --- Loop --- */

static VfStatus check_carried(const VfLowCall *call, const VfUnrolled *u, VfErr *err)
{
    for (int32_t i = 0; i < u->n_state; i++) {
        const VfLowValue *before = vf_low_in(call, 2 + i), *after = u->state[i];
        if (before == NULL || after == NULL || before->kind != LOW_TENSOR ||
            after->kind != LOW_TENSOR || before->dtype == after->dtype)
            continue;
        return vf_fail(err, VF_INVALID,
                       "node '%s': the body takes carried value %d as %s but gives %s",
                       vf_node_label(call->node), (int)i, vf_dtype_info(before->dtype)->name,
                       vf_dtype_info(after->dtype)->name);
    }
    return VF_OK;
}

static VfStatus finish_loop(VfLower *cx, VfLowCall *call, const VfUnrolled *u, VfErr *err)
{
    for (int32_t i = 0; i < call->n_out; i++) {
        if (!vf_low_has_out(call, i))
            continue;
        if (i < u->n_state)
            call->out[i] = u->state[i];
        else
            VF_TRY(vf_unroll_stack(cx, call, u, i - u->n_state, 0, &call->out[i], err));
    }
    return VF_OK;
}

static VfStatus run_trip(VfLower *cx, VfUnrolled *u, VfLowValue *condition, VfErr *err)
{
    VfLowValue *trip;
    VF_TRY(vf_low_scalar(cx, VF_I64, (double)u->n_trip, &trip, err));
    cx->env[u->body->input[0]->id] = trip;
    cx->env[u->body->input[1]->id] = condition;
    for (int32_t i = 0; i < u->n_state; i++)
        cx->env[u->body->input[2 + i]->id] = u->state[i];
    return vf_unroll_trip(cx, u, err);
}

static VfStatus trip_limit(const VfLowCall *call, int64_t *limit, VfErr *err)
{
    const VfLowValue *given = vf_low_in(call, 0);
    *limit = INT64_MAX;
    if (given == NULL)
        return VF_OK;
    if (given->known == NULL || given->count != 1)
        return vf_low_await(call, err, "the trip count is not known when the plan is made");
    *limit = vf_tensor_get_i64(given->known, 0);
    return VF_OK;
}

VfStatus vf_lower_loop(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfUnrolled u = {
        .body = vf_low_body(call->node, "body"), .first = 1, .n_state = call->n_in - 2};
    VfLowValue *condition = vf_low_in(call, 1);
    int64_t limit;
    if (u.body == NULL || u.n_state < 0 || u.body->n_input != call->n_in ||
        u.body->ret->n_in < 1 + u.n_state || call->n_out > u.body->ret->n_in - 1)
        return vf_low_refuse(err, "the body does not fit the operands");
    u.n_scan = u.body->ret->n_in - 1 - u.n_state;
    VF_TRY(trip_limit(call, &limit, err));
    VF_TRY(vf_unroll_start(cx, &u, call->in + 2, err));
    if (condition == NULL)
        VF_TRY(vf_low_scalar(cx, VF_BOOL, 1, &condition, err));
    while (u.n_trip < limit) {
        int goes_on = known_bool(condition);
        if (goes_on < 0)
            return vf_low_await(call, err,
                                "the condition of trip %lld is not known when the plan is made",
                                (long long)u.n_trip);
        if (goes_on == 0)
            break;
        if (u.n_trip >= VF_UNROLL_MAX)
            return vf_low_refuse(err, "more than %d trips", VF_UNROLL_MAX);
        VF_TRY(run_trip(cx, &u, condition, err));
        VF_TRY(check_carried(call, &u, err));
        VF_TRY(vf_low_body_result(cx, u.body, 0, &condition, err));
    }
    return finish_loop(cx, call, &u, err);
}
