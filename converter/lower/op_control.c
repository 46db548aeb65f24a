/* Control flow and sequences, followed when the plan is made. */
#include "converter/lower/ops.h"

#include <string.h>

#include "passes/ir/attr.h"

enum { MAX_TRIP = 1 << 20 };

const VfGraph *vf_low_body(const VfNode *node, const char *name)
{
    const VfAttr *attr = vf_node_attr(node, name);
    return attr != NULL && attr->type == VF_ATTR_GRAPH ? attr->graph : NULL;
}

/* A condition: -1 when not known. */
static int known_bool(const VfLowValue *value)
{
    if (value == NULL || value->kind != LOW_TENSOR || value->known == NULL || value->count != 1)
        return -1;
    return vf_tensor_get_i64(value->known, 0) != 0;
}

static VfStatus body_result(VfLower *cx, const VfGraph *body, int32_t i, VfLowValue **out,
                            VfErr *err)
{
    return vf_low_lookup(cx, vf_node_in(body->ret, i), out, err);
}

/* Both branches are computed and one is chosen: right because nodes have no effects. */
static VfStatus choose_at_run(VfLower *cx, VfLowCall *call, const VfGraph *const branch[2],
                              VfErr *err)
{
    VfLowValue *condition;
    VF_TRY(vf_low_reshape(cx, call->in[0], 0, NULL, &condition, err));
    VF_TRY(vf_low_walk(cx, branch[0], err));
    VF_TRY(vf_low_walk(cx, branch[1], err));
    for (int32_t i = 0; i < call->n_out; i++) {
        VfLowValue *x, *y;
        if (!vf_low_has_out(call, i))
            continue;
        VF_TRY(body_result(cx, branch[0], i, &x, err));
        VF_TRY(body_result(cx, branch[1], i, &y, err));
        bool is_same = x != NULL && y != NULL && x->kind == LOW_TENSOR && y->kind == LOW_TENSOR &&
                       x->dtype == y->dtype && x->rank == y->rank;
        for (int32_t k = 0; is_same && k < x->rank; k++)
            is_same = x->dims[k] == y->dims[k];
        if (!is_same)
            return vf_low_refuse(err, "the condition is not known when the plan is made and the "
                                 "branches give unlike results");
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
        return vf_low_refuse(err, "the condition is not one bool");
    int is_true = known_bool(condition);
    if (is_true < 0)
        return choose_at_run(cx, call, branch, err);
    const VfGraph *taken = branch[is_true ? 0 : 1];
    VF_TRY(vf_low_walk(cx, taken, err));
    for (int32_t i = 0; i < call->n_out; i++)
        if (vf_low_has_out(call, i))
            VF_TRY(body_result(cx, taken, i, &call->out[i], err));
    return VF_OK;
}

/* --- Loop --- */

typedef struct Unrolled {
    const VfGraph *body;
    int32_t n_state, n_scan;
    VfLowValue **state;
    VfLowValue ***scan; /* of each scan output, the value of each trip */
    int64_t n_trip;
    size_t capacity;
} Unrolled;

static VfStatus init_unrolled(VfLower *cx, Unrolled *u, VfErr *err)
{
    u->state = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)u->n_state + 1);
    u->scan = VF_NEW_ARRAY(cx->arena, VfLowValue **, (size_t)u->n_scan + 1);
    VF_TRY_ALLOC(u->state, err);
    VF_TRY_ALLOC(u->scan, err);
    return VF_OK;
}

/* Take what one trip made: body results from `first` on are the states, then the scans. */
static VfStatus take_trip(VfLower *cx, Unrolled *u, int32_t first, VfErr *err)
{
    size_t capacity = u->capacity;
    for (int32_t i = 0; i < u->n_state; i++)
        VF_TRY(body_result(cx, u->body, first + i, &u->state[i], err));
    for (int32_t i = 0; i < u->n_scan; i++) {
        capacity = u->capacity;
        VF_TRY(vf_arena_grow(cx->arena, (void **)&u->scan[i], &capacity, (size_t)u->n_trip + 1,
                             sizeof **u->scan, err));
        VF_TRY(body_result(cx, u->body, first + u->n_state + i, &u->scan[i][u->n_trip], err));
    }
    u->capacity = capacity;
    u->n_trip++;
    return VF_OK;
}

/* The values of all trips along a new axis. */
static VfStatus stack(VfLower *cx, int64_t n, VfLowValue **list, int32_t axis, VfLowValue **out,
                      VfErr *err)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t dims[64];
        VfLowValue *x = list[i];
        if (x == NULL || x->kind != LOW_TENSOR || x->rank > 62 || axis > x->rank)
            return vf_low_refuse(err, "a trip gives no tensor to stack");
        for (int32_t k = 0; k <= x->rank; k++)
            dims[k] = k < axis ? x->dims[k] : k == axis ? 1 : x->dims[k - 1];
        VF_TRY(vf_low_reshape(cx, x, x->rank + 1, dims, &list[i], err));
    }
    return vf_low_concat(cx, (int32_t)n, list, axis, out, err);
}

static VfStatus finish_loop(VfLower *cx, VfLowCall *call, Unrolled *u, VfErr *err)
{
    for (int32_t i = 0; i < call->n_out; i++) {
        if (!vf_low_has_out(call, i))
            continue;
        if (i < u->n_state) {
            call->out[i] = u->state[i];
            continue;
        }
        if (u->n_trip == 0)
            return vf_low_refuse(err, "no trip: the shape of result %d is not known", i);
        VF_TRY(stack(cx, u->n_trip, u->scan[i - u->n_state], 0, &call->out[i], err));
    }
    return VF_OK;
}

static VfStatus run_trip(VfLower *cx, Unrolled *u, VfLowValue *condition, VfErr *err)
{
    VfLowValue *trip;
    VF_TRY(vf_low_scalar(cx, VF_I64, (double)u->n_trip, &trip, err));
    cx->env[u->body->input[0]->id] = trip;
    cx->env[u->body->input[1]->id] = condition;
    for (int32_t i = 0; i < u->n_state; i++)
        cx->env[u->body->input[2 + i]->id] = u->state[i];
    return vf_low_walk(cx, u->body, err);
}

static VfStatus trip_limit(const VfLowCall *call, int64_t *limit, VfErr *err)
{
    const VfLowValue *given = vf_low_in(call, 0);
    *limit = INT64_MAX;
    if (given == NULL)
        return VF_OK;
    if (given->known == NULL || given->count != 1)
        return vf_low_refuse(err, "the trip count is not known when the plan is made");
    *limit = vf_tensor_get_i64(given->known, 0);
    return VF_OK;
}

VfStatus vf_lower_loop(VfLower *cx, VfLowCall *call, VfErr *err)
{
    Unrolled u = {.body = vf_low_body(call->node, "body"), .n_state = call->n_in - 2};
    VfLowValue *condition = vf_low_in(call, 1);
    int64_t limit;
    if (u.body == NULL || u.n_state < 0 || u.body->n_input != call->n_in ||
        u.body->ret->n_in < 1 + u.n_state || call->n_out > u.body->ret->n_in - 1)
        return vf_low_refuse(err, "the body does not fit the operands");
    u.n_scan = u.body->ret->n_in - 1 - u.n_state;
    VF_TRY(trip_limit(call, &limit, err));
    VF_TRY(init_unrolled(cx, &u, err));
    memcpy(u.state, call->in + 2, (size_t)u.n_state * sizeof *u.state);
    if (condition == NULL)
        VF_TRY(vf_low_scalar(cx, VF_BOOL, 1, &condition, err));
    while (u.n_trip < limit) {
        int goes_on = known_bool(condition);
        if (goes_on < 0)
            return vf_low_refuse(err,
                                 "the condition of trip %lld is not known when the plan is made",
                                 (long long)u.n_trip);
        if (goes_on == 0)
            break;
        if (u.n_trip >= MAX_TRIP)
            return vf_low_refuse(err, "more than %d trips", MAX_TRIP);
        VF_TRY(run_trip(cx, &u, condition, err));
        VF_TRY(take_trip(cx, &u, 1, err));
        VF_TRY(body_result(cx, u.body, 0, &condition, err));
    }
    return finish_loop(cx, call, &u, err);
}

/* --- Scan (opset 9 on) --- */

typedef struct ScanSpec {
    int32_t n_in, n_out; /* scanned operands and results */
    const int64_t *in_axis, *out_axis, *in_back, *out_back;
} ScanSpec;

static VfStatus scan_list(const VfLowCall *call, const char *name, int32_t n, const int64_t **list,
                          VfErr *err)
{
    int32_t n_given;
    *list = vf_node_ints(call->node, name, &n_given);
    return *list == NULL || n_given == n ? VF_OK
                                         : vf_low_refuse(err, "%s of %d entries", name, n_given);
}

static VfStatus scan_slice(VfLower *cx, const VfLowCall *call, VfLowValue *x, int64_t axis,
                           int64_t at, VfLowValue **out, VfErr *err)
{
    int64_t dims[64];
    if (x == NULL || x->kind != LOW_TENSOR || x->rank > 64)
        return vf_low_refuse(err, "a scanned operand is no tensor");
    VF_TRY(vf_low_norm_axis(call, x->rank, &axis, err));
    VF_TRY(vf_low_slice(cx, x, (int32_t)axis, at, 1, out, err));
    for (int32_t i = 0; i + 1 < x->rank; i++)
        dims[i] = x->dims[i < axis ? i : i + 1];
    return vf_low_reshape(cx, *out, x->rank - 1, dims, out, err);
}

static VfStatus scan_trips(VfLower *cx, VfLowCall *call, const ScanSpec *s, Unrolled *u, VfErr *err)
{
    const VfLowValue *first = call->in[u->n_state];
    int64_t axis = s->in_axis != NULL ? s->in_axis[0] : 0;
    if (first == NULL || first->kind != LOW_TENSOR)
        return vf_low_refuse(err, "a scanned operand is no tensor");
    VF_TRY(vf_low_norm_axis(call, first->rank, &axis, err));
    int64_t n = first->dims[axis];
    if (n > MAX_TRIP || n == 0)
        return vf_low_refuse(err, "%lld trips", (long long)n);
    for (int64_t trip = 0; trip < n; trip++) {
        for (int32_t i = 0; i < u->n_state; i++)
            cx->env[u->body->input[i]->id] = u->state[i];
        for (int32_t i = 0; i < s->n_in; i++) {
            bool is_back = s->in_back != NULL && s->in_back[i] != 0;
            VF_TRY(scan_slice(cx, call, call->in[u->n_state + i],
                              s->in_axis != NULL ? s->in_axis[i] : 0, is_back ? n - 1 - trip : trip,
                              &cx->env[u->body->input[u->n_state + i]->id], err));
        }
        VF_TRY(vf_low_walk(cx, u->body, err));
        VF_TRY(take_trip(cx, u, 0, err));
    }
    return VF_OK;
}

VfStatus vf_lower_scan(VfLower *cx, VfLowCall *call, VfErr *err)
{
    Unrolled u = {.body = vf_low_body(call->node, "body")};
    ScanSpec s = {.n_in = (int32_t)vf_node_int(call->node, "num_scan_inputs")};
    u.n_state = call->n_in - s.n_in;
    if (call->opset < 9 || u.body == NULL || s.n_in < 1 || u.n_state < 0 ||
        u.body->n_input != call->n_in || u.body->ret->n_in < u.n_state ||
        call->n_out > u.body->ret->n_in)
        return vf_low_refuse(err, "the body does not fit the operands");
    s.n_out = u.n_scan = u.body->ret->n_in - u.n_state;
    VF_TRY(scan_list(call, "scan_input_axes", s.n_in, &s.in_axis, err));
    VF_TRY(scan_list(call, "scan_output_axes", s.n_out, &s.out_axis, err));
    VF_TRY(scan_list(call, "scan_input_directions", s.n_in, &s.in_back, err));
    VF_TRY(scan_list(call, "scan_output_directions", s.n_out, &s.out_back, err));
    VF_TRY(init_unrolled(cx, &u, err));
    memcpy(u.state, call->in, (size_t)u.n_state * sizeof *u.state);
    VF_TRY(scan_trips(cx, call, &s, &u, err));
    for (int32_t i = 0; i < call->n_out; i++) {
        int32_t k = i - u.n_state;
        if (!vf_low_has_out(call, i))
            continue;
        if (k < 0) {
            call->out[i] = u.state[i];
            continue;
        }
        for (int64_t t = 0; s.out_back != NULL && s.out_back[k] != 0 && t < u.n_trip / 2; t++) {
            VfLowValue *swap = u.scan[k][t];
            u.scan[k][t] = u.scan[k][u.n_trip - 1 - t];
            u.scan[k][u.n_trip - 1 - t] = swap;
        }
        int64_t axis = s.out_axis != NULL ? s.out_axis[k] : 0;
        if (u.scan[k][0] == NULL || u.scan[k][0]->kind != LOW_TENSOR)
            return vf_low_refuse(err, "a scanned result is no tensor");
        VF_TRY(vf_low_norm_axis(call, u.scan[k][0]->rank + 1, &axis, err));
        VF_TRY(stack(cx, u.n_trip, u.scan[k], (int32_t)axis, &call->out[i], err));
    }
    return VF_OK;
}
