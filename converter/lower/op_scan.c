/* Scan, followed when the plan is made: one sequence; in opset 8 a batch of them. */
#include "converter/lower/ops.h"
#include "converter/lower/unroll.h"

#include "passes/ir/attr.h"

typedef struct Scan {
    const VfGraph *body;
    int32_t n_state, n_in, n_out; /* n_in operands are scanned, n_out results gathered */
    const int64_t *in_axis, *out_axis, *in_back, *out_back; /* NULL: all 0 */
} Scan;

static int64_t entry(const int64_t *list, int32_t i)
{
    return list != NULL ? list[i] : 0;
}

static VfStatus read_list(const VfLowCall *call, const char *name, int32_t n, const int64_t **list,
                          VfErr *err)
{
    int32_t n_given;
    *list = vf_node_ints(call->node, name, &n_given);
    return *list == NULL || n_given == n ? VF_OK
                                         : vf_low_refuse(err, "%s of %d entries", name, n_given);
}

/* `n_operand` of the body: without the lengths of opset 8. */
static VfStatus read_scan(const VfLowCall *call, int32_t n_operand, Scan *s, VfErr *err)
{
    int64_t n_in = vf_node_int(call->node, "num_scan_inputs");
    *s = (Scan){.body = vf_low_body(call->node, "body")};
    if (s->body == NULL || n_in < 1 || n_in > n_operand || s->body->n_input != n_operand)
        return vf_low_refuse(err, "the body does not fit the operands");
    s->n_in = (int32_t)n_in;
    s->n_state = n_operand - s->n_in;
    s->n_out = s->body->ret->n_in - s->n_state;
    return s->n_out >= 0 && call->n_out <= s->body->ret->n_in
               ? VF_OK
               : vf_low_refuse(err, "the body does not fit the results");
}

/* Slice `at` of an axis, without the axis. */
static VfStatus take_slice(VfLower *cx, VfLowValue *x, int64_t axis, int64_t at, VfLowValue **out,
                           VfErr *err)
{
    int64_t *dims = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)x->rank);
    VF_TRY_ALLOC(dims, err);
    VF_TRY(vf_low_slice(cx, x, (int32_t)axis, at, 1, out, err));
    for (int32_t i = 0; i + 1 < x->rank; i++)
        dims[i] = x->dims[i < axis ? i : i + 1];
    return vf_low_reshape(cx, *out, x->rank - 1, dims, out, err);
}

/* The number of slices, which all scanned operands share. */
static VfStatus count_slices(const VfLowCall *call, const Scan *s, VfLowValue *const *scanned,
                             int64_t *n, VfErr *err)
{
    for (int32_t i = 0; i < s->n_in; i++) {
        int64_t axis = entry(s->in_axis, i);
        if (scanned[i] == NULL || scanned[i]->kind != LOW_TENSOR)
            return vf_low_refuse(err, "a scanned operand is no tensor");
        VF_TRY(vf_low_norm_axis(call, scanned[i]->rank, &axis, err));
        int64_t length = scanned[i]->dims[axis];
        if (i > 0 && length != *n)
            return vf_fail(err, VF_INVALID, "node '%s': scanned operands of %lld and %lld slices",
                           vf_node_label(call->node), (long long)*n, (long long)length);
        *n = length;
    }
    return *n <= VF_UNROLL_MAX ? VF_OK : vf_low_refuse(err, "%lld trips", (long long)*n);
}

static VfStatus run_trip(VfLower *cx, const Scan *s, VfUnrolled *u, VfLowValue *const *scanned,
                         int64_t n_slice, VfErr *err)
{
    VfValue *const *input = s->body->input;
    for (int32_t i = 0; i < s->n_state; i++)
        cx->env[input[i]->id] = u->state[i];
    for (int32_t i = 0; i < s->n_in; i++) {
        int64_t axis = entry(s->in_axis, i);
        int64_t at = entry(s->in_back, i) != 0 ? n_slice - 1 - u->n_trip : u->n_trip;
        VfLowValue **slice = &cx->env[input[s->n_state + i]->id];
        VF_TRY(take_slice(cx, scanned[i], axis < 0 ? axis + scanned[i]->rank : axis, at, slice,
                          err));
        cx->depth++; /* the slice is one of the body */
        VfStatus status = vf_low_settle(cx, slice, err);
        cx->depth--;
        VF_TRY(status);
    }
    return vf_unroll_trip(cx, u, err);
}

static void reverse(int64_t n, VfLowValue **list)
{
    for (int64_t i = 0; i < n / 2; i++) {
        VfLowValue *swap = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = swap;
    }
}

/* Scan one sequence of `length` slices, or of all of the axis when -1; gathered results have zeros
 * for the others. `in` are states and scanned operands; `out` gets the results of the call. */
static VfStatus run_sequence(VfLower *cx, const VfLowCall *call, const Scan *s, int64_t length,
                             VfLowValue *const *in, VfLowValue **out, VfErr *err)
{
    VfUnrolled u = {.body = s->body, .n_state = s->n_state, .n_scan = s->n_out};
    int64_t n_axis = 0;
    VF_TRY(count_slices(call, s, in + s->n_state, &n_axis, err));
    const int64_t n_slice = length < 0 ? n_axis : length;
    VF_TRY(vf_unroll_start(cx, &u, in, err));
    while (u.n_trip < n_slice)
        VF_TRY(run_trip(cx, s, &u, in + s->n_state, n_slice, err));
    VF_TRY(vf_unroll_pad(cx, &u, n_axis, err));
    for (int32_t i = 0; i < call->n_out; i++) {
        int32_t k = i - s->n_state;
        if (!vf_low_has_out(call, i))
            continue;
        if (k >= 0 && entry(s->out_back, k) != 0)
            reverse(n_slice, u.scan[k]);
        if (k < 0)
            out[i] = u.state[i];
        else
            VF_TRY(vf_unroll_stack(cx, call, &u, k, entry(s->out_axis, k), &out[i], err));
    }
    return VF_OK;
}

/* --- opset 8 --- */

/* All operands have as many sequences, along their first axis. */
static VfStatus count_sequences(const VfLowCall *call, int64_t *n, VfErr *err)
{
    for (int32_t i = 1; i < call->n_in; i++) {
        const VfLowValue *x = call->in[i];
        if (x == NULL || x->kind != LOW_TENSOR || x->rank < 1)
            return vf_low_refuse(err, "operand %d is no batch of tensors", i);
        if (i > 1 && x->dims[0] != *n)
            return vf_fail(err, VF_INVALID, "node '%s': operands of %lld and %lld sequences",
                           vf_node_label(call->node), (long long)*n, (long long)x->dims[0]);
        *n = x->dims[0];
    }
    return *n > 0 && *n <= VF_UNROLL_MAX
               ? VF_OK
               : vf_low_refuse(err, "a batch of %lld sequences", (long long)*n);
}

/* How long each sequence is; NULL when all are as long as the axis. */
static VfStatus read_lengths(const VfLowCall *call, int64_t n_batch, int32_t n_state,
                             const VfTensor **lengths, VfErr *err)
{
    const VfLowValue *given = vf_low_in(call, 0), *scanned = call->in[1 + n_state];
    *lengths = NULL;
    if (given == NULL)
        return VF_OK;
    VF_TRY(vf_low_need_known(call, given, err));
    if (given->count != (size_t)n_batch || scanned->rank < 2)
        return vf_low_refuse(err, "lengths of %zu sequences of %lld", given->count,
                             (long long)n_batch);
    for (size_t b = 0; b < given->count; b++) {
        int64_t length = vf_tensor_get_i64(given->known, b);
        if (length < 1 || length > scanned->dims[1])
            return vf_fail(err, VF_INVALID, "node '%s': a sequence of %lld slices of %lld",
                           vf_node_label(call->node), (long long)length,
                           (long long)scanned->dims[1]);
    }
    *lengths = given->known;
    return VF_OK;
}

/* `part[b]` holds the results of sequence `b`. */
static VfStatus stack_batch(VfLower *cx, VfLowCall *call, int64_t n_batch, VfLowValue ***part,
                            VfErr *err)
{
    VfLowValue **list = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)n_batch);
    VF_TRY_ALLOC(list, err);
    for (int32_t i = 0; i < call->n_out; i++) {
        if (!vf_low_has_out(call, i))
            continue;
        for (int64_t b = 0; b < n_batch; b++)
            list[b] = part[b][i];
        VF_TRY(vf_unroll_stack_list(cx, n_batch, list, 0, &call->out[i], err));
    }
    return VF_OK;
}

static VfStatus run_batch(VfLower *cx, VfLowCall *call, const Scan *s, VfErr *err)
{
    int32_t n_operand = call->n_in - 1;
    int64_t n_batch = 0;
    const VfTensor *lengths;
    VF_TRY(count_sequences(call, &n_batch, err));
    VF_TRY(read_lengths(call, n_batch, s->n_state, &lengths, err));
    VfLowValue ***part = VF_NEW_ARRAY(cx->arena, VfLowValue **, (size_t)n_batch);
    VfLowValue **in = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)n_operand);
    VF_TRY_ALLOC(part, err);
    VF_TRY_ALLOC(in, err);
    for (int64_t b = 0; b < n_batch; b++) {
        part[b] = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)call->n_out);
        VF_TRY_ALLOC(part[b], err);
        for (int32_t i = 0; i < n_operand; i++)
            VF_TRY(take_slice(cx, call->in[1 + i], 0, b, &in[i], err));
        VF_TRY(run_sequence(cx, call, s,
                            lengths != NULL ? vf_tensor_get_i64(lengths, (size_t)b) : -1, in,
                            part[b], err));
    }
    return stack_batch(cx, call, n_batch, part, err);
}

VfStatus vf_lower_scan(VfLower *cx, VfLowCall *call, VfErr *err)
{
    Scan s;
    VF_TRY(read_scan(call, call->opset < 9 ? call->n_in - 1 : call->n_in, &s, err));
    if (call->opset < 9) {
        VF_TRY(read_list(call, "directions", s.n_in, &s.in_back, err));
        return run_batch(cx, call, &s, err);
    }
    VF_TRY(read_list(call, "scan_input_axes", s.n_in, &s.in_axis, err));
    VF_TRY(read_list(call, "scan_output_axes", s.n_out, &s.out_axis, err));
    VF_TRY(read_list(call, "scan_input_directions", s.n_in, &s.in_back, err));
    VF_TRY(read_list(call, "scan_output_directions", s.n_out, &s.out_back, err));
    return run_sequence(cx, call, &s, -1, call->in, call->out, err);
}
