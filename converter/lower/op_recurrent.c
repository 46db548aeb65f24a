/* RNN, GRU and LSTM: the steps of a sequence one after the other, composed of products, sums and
 * activations. What each gate takes from the tokens is one product for all of them.
 *
 * Letters: T steps, B batch, D directions, H hidden size, G gates.
 */
#include "converter/lower/ops.h"

#include <string.h>

#include "passes/ir/attr.h"

enum { MAX_ACTIVATION = 3, MAX_STEPS = 1 << 15 };

/* One direction. */
typedef struct Cell {
    VfOp op;
    int64_t steps, batch, hidden, gates;
    const char *activation[MAX_ACTIVATION]; /* kernels */
    VfLowValue *token;   /* T B GH: products with the tokens, and the biases */
    VfLowValue *recur;   /* H GH */
    VfLowValue *bias;    /* GH: of the recurrence, kept apart for GRU; or NULL */
    VfLowValue *peep;    /* 3H: LSTM's view of the cell state; or NULL */
    VfLowValue *lengths; /* B 1, i64; or NULL */
    VfLowValue *h, *c;   /* B H */
    bool resets_late;    /* GRU: linear_before_reset */
} Cell;

/* Gate i of a value whose last axis holds them all. */
static VfStatus gate(VfLower *cx, const Cell *cell, VfLowValue *all, int64_t i, VfLowValue **out,
                     VfErr *err)
{
    return vf_low_slice(cx, all, all->rank - 1, i * cell->hidden, cell->hidden, out, err);
}

static VfStatus activate(VfLower *cx, const Cell *cell, int i, VfLowValue **x, VfErr *err)
{
    return vf_low_map(cx, cell->activation[i], *x, 0, 0, x, err);
}

static VfStatus add(VfLower *cx, VfLowValue **sum, VfLowValue *more, VfErr *err)
{
    return vf_low_binary(cx, "add", *sum, more, sum, err);
}

static VfStatus mul(VfLower *cx, VfLowValue *a, VfLowValue *b, VfLowValue **out, VfErr *err)
{
    return vf_low_binary(cx, "mul", a, b, out, err);
}

/* h times gates [begin, end) of the recurrence. */
static VfStatus recurrence(VfLower *cx, const Cell *cell, VfLowValue *h, int64_t begin,
                           int64_t end, VfLowValue **out, VfErr *err)
{
    VfLowMatmul m = {.a = h, .alpha = 1};
    VF_TRY(vf_low_slice(cx, cell->recur, 1, begin * cell->hidden, (end - begin) * cell->hidden,
                        &m.b, err));
    return vf_low_matmul(cx, &m, out, err);
}

static VfStatus rnn_step(VfLower *cx, Cell *cell, VfLowValue *x, VfLowValue **h, VfErr *err)
{
    VF_TRY(recurrence(cx, cell, cell->h, 0, 1, h, err));
    VF_TRY(add(cx, h, x, err));
    return activate(cx, cell, 0, h, err);
}

/* Gates z, r, h: h' = (1 - z) g + z h, written as g + z (h - g). */
static VfStatus gru_step(VfLower *cx, Cell *cell, VfLowValue *x, VfLowValue **h, VfErr *err)
{
    VfLowValue *zr, *z, *r, *g, *part, *bias = NULL;
    VF_TRY(recurrence(cx, cell, cell->h, 0, 2, &zr, err));
    VF_TRY(vf_low_slice(cx, x, 1, 0, 2 * cell->hidden, &part, err));
    VF_TRY(add(cx, &zr, part, err));
    if (cell->bias != NULL) {
        VF_TRY(vf_low_slice(cx, cell->bias, 0, 0, 2 * cell->hidden, &part, err));
        VF_TRY(add(cx, &zr, part, err));
        VF_TRY(gate(cx, cell, cell->bias, 2, &bias, err));
    }
    VF_TRY(activate(cx, cell, 0, &zr, err));
    VF_TRY(gate(cx, cell, zr, 0, &z, err));
    VF_TRY(gate(cx, cell, zr, 1, &r, err));
    if (cell->resets_late) {
        VF_TRY(recurrence(cx, cell, cell->h, 2, 3, &g, err));
        if (bias != NULL)
            VF_TRY(add(cx, &g, bias, err));
        VF_TRY(mul(cx, g, r, &g, err));
    } else {
        VF_TRY(mul(cx, cell->h, r, &part, err));
        VF_TRY(recurrence(cx, cell, part, 2, 3, &g, err));
        if (bias != NULL)
            VF_TRY(add(cx, &g, bias, err));
    }
    VF_TRY(gate(cx, cell, x, 2, &part, err));
    VF_TRY(add(cx, &g, part, err));
    VF_TRY(activate(cx, cell, 1, &g, err));
    VF_TRY(vf_low_binary(cx, "sub", cell->h, g, &part, err));
    VF_TRY(mul(cx, part, z, &part, err));
    *h = g;
    return add(cx, h, part, err);
}

/* Gate i of the sums, with what it sees of cell state c. Peepholes are in the gates' order. */
static VfStatus lstm_gate(VfLower *cx, const Cell *cell, VfLowValue *sums, int64_t i,
                          VfLowValue *c, VfLowValue **out, VfErr *err)
{
    VfLowValue *peep;
    VF_TRY(gate(cx, cell, sums, i, out, err));
    if (cell->peep != NULL) {
        VF_TRY(gate(cx, cell, cell->peep, i, &peep, err));
        VF_TRY(mul(cx, c, peep, &peep, err));
        VF_TRY(add(cx, out, peep, err));
    }
    return activate(cx, cell, 0, out, err);
}

/* Gates i, o, f, c: c' = f c + i g, h' = o h(c'). */
static VfStatus lstm_step(VfLower *cx, Cell *cell, VfLowValue *x, VfLowValue **h, VfLowValue **c,
                          VfErr *err)
{
    VfLowValue *sums, *i, *f, *g, *o;
    VF_TRY(recurrence(cx, cell, cell->h, 0, 4, &sums, err));
    VF_TRY(add(cx, &sums, x, err));
    VF_TRY(lstm_gate(cx, cell, sums, 0, cell->c, &i, err));
    VF_TRY(lstm_gate(cx, cell, sums, 2, cell->c, &f, err));
    VF_TRY(gate(cx, cell, sums, 3, &g, err));
    VF_TRY(activate(cx, cell, 1, &g, err));
    VF_TRY(mul(cx, f, cell->c, c, err));
    VF_TRY(mul(cx, i, g, &g, err));
    VF_TRY(add(cx, c, g, err));
    VF_TRY(lstm_gate(cx, cell, sums, 1, *c, &o, err));
    *h = *c;
    VF_TRY(activate(cx, cell, 2, h, err));
    return mul(cx, o, *h, h, err);
}

/* Step t: the states move, but for sequences that have ended; *y is the result of the step. */
static VfStatus take_step(VfLower *cx, Cell *cell, int64_t t, VfLowValue **y, VfErr *err)
{
    VfLowValue *x, *h = NULL, *c = cell->c, *goes_on, *zero;
    VF_TRY(vf_low_slice(cx, cell->token, 0, t, 1, &x, err));
    VF_TRY(vf_low_reshape(cx, x, 2, (int64_t[2]){cell->batch, cell->gates * cell->hidden}, &x,
                          err));
    if (cell->op == VF_OP_RNN)
        VF_TRY(rnn_step(cx, cell, x, &h, err));
    else if (cell->op == VF_OP_GRU)
        VF_TRY(gru_step(cx, cell, x, &h, err));
    else
        VF_TRY(lstm_step(cx, cell, x, &h, &c, err));
    *y = h;
    if (cell->lengths != NULL) {
        VF_TRY(vf_low_int(cx, t, &x, err));
        VF_TRY(vf_low_binary(cx, "less", x, cell->lengths, &goes_on, err));
        VF_TRY(vf_low_scalar(cx, h->dtype, 0, &zero, err));
        VF_TRY(vf_low_where(cx, goes_on, h, zero, y, err));
        VF_TRY(vf_low_where(cx, goes_on, h, cell->h, &h, err));
        if (c != NULL)
            VF_TRY(vf_low_where(cx, goes_on, c, cell->c, &c, err));
    }
    cell->h = h;
    cell->c = c;
    return vf_low_reshape(cx, *y, 4, (int64_t[4]){1, 1, cell->batch, cell->hidden}, y, err);
}

/* --- operands --- */

/* Direction d of a value, without that axis. */
static VfStatus direction(VfLower *cx, VfLowValue *of, int64_t d, VfLowValue **out, VfErr *err)
{
    *out = NULL;
    if (of == NULL)
        return VF_OK;
    VF_TRY(vf_low_slice(cx, of, 0, d, 1, out, err));
    return vf_low_reshape(cx, *out, of->rank - 1, of->dims + 1, out, err);
}

static const struct {
    const char *word, *kernel;
} activation_table[] = {{"Tanh", "tanh"}, {"Sigmoid", "sigmoid"}, {"Relu", "relu"},
                        {"Softsign", "softsign"}, {"Softplus", "softplus"}};

static VfStatus find_activation(VfBytes word, const char **kernel, VfErr *err)
{
    for (size_t i = 0; i < sizeof activation_table / sizeof activation_table[0]; i++)
        if (vf_bytes_is_equal(word, vf_bytes(activation_table[i].word))) {
            *kernel = activation_table[i].kernel;
            return VF_OK;
        }
    return vf_low_refuse_word("activation", word, err);
}

static VfStatus read_activations(const VfLowCall *call, int64_t d, Cell *cell, VfErr *err)
{
    int32_t n = cell->op == VF_OP_RNN ? 1 : cell->op == VF_OP_GRU ? 2 : 3;
    const VfAttr *given = vf_node_attr(call->node, "activations");
    for (int32_t i = 0; i < n; i++)
        cell->activation[i] = i == 0 && n > 1 ? "sigmoid" : "tanh";
    if (given == NULL)
        return VF_OK;
    for (int32_t i = 0; i < n; i++) {
        if (given->type != VF_ATTR_STRINGS || d * n + i >= given->n)
            return vf_low_refuse(err, "%d activations", given->n);
        VF_TRY(find_activation(given->strings[d * n + i], &cell->activation[i], err));
    }
    return VF_OK;
}

/* Products of all tokens with the gates' weights, and the biases that can be added at once. */
static VfStatus read_tokens(VfLower *cx, const VfLowCall *call, VfLowValue *x, int64_t d,
                            Cell *cell, VfErr *err)
{
    static const int64_t flip[3] = {0, 2, 1}, turn[2] = {1, 0};
    VfLowValue *bias, *part;
    int64_t n = cell->gates * cell->hidden;
    VfLowMatmul m = {.a = x, .alpha = 1};
    VF_TRY(vf_low_slice(cx, call->in[1], 0, d, 1, &m.b, err));
    VF_TRY(vf_low_permute(cx, m.b, flip, &m.b, err));
    VF_TRY(vf_low_matmul(cx, &m, &cell->token, err));
    VF_TRY(direction(cx, call->in[2], d, &cell->recur, err));
    VF_TRY(vf_low_permute(cx, cell->recur, turn, &cell->recur, err));
    VF_TRY(direction(cx, vf_low_in(call, 3), d, &bias, err));
    cell->bias = NULL;
    if (bias == NULL)
        return VF_OK;
    VF_TRY(vf_low_slice(cx, bias, 0, 0, n, &part, err));
    VF_TRY(add(cx, &cell->token, part, err));
    VF_TRY(vf_low_slice(cx, bias, 0, n, n, &part, err));
    if (cell->op == VF_OP_GRU)
        cell->bias = part;
    else
        VF_TRY(add(cx, &cell->token, part, err));
    return VF_OK;
}

/* A given state of direction d (with the batch first in layout 1), or zeros. */
static VfStatus first_state(VfLower *cx, const VfLowCall *call, int32_t slot, bool is_batch_first,
                            int64_t d, const Cell *cell, VfLowValue **out, VfErr *err)
{
    static const int64_t perm[3] = {1, 0, 2};
    VfLowValue *given = vf_low_in(call, slot);
    const int64_t dims[2] = {cell->batch, cell->hidden};
    if (given != NULL && given->rank != 3)
        return vf_low_refuse(err, "a state of %d axes", given->rank);
    if (given != NULL && is_batch_first)
        VF_TRY(vf_low_permute(cx, given, perm, &given, err));
    if (given != NULL)
        return direction(cx, given, d, out, err);
    VF_TRY(vf_low_scalar(cx, call->in[0]->dtype, 0, out, err));
    VF_TRY(vf_low_expand(cx, *out, 2, dims, out, err));
    return vf_low_dense(cx, *out, out, err);
}

static VfStatus read_cell(VfLower *cx, const VfLowCall *call, VfLowValue *x, bool is_batch_first,
                          int64_t d, Cell *cell, VfErr *err)
{
    bool is_lstm = cell->op == VF_OP_LSTM;
    VF_TRY(read_activations(call, d, cell, err));
    VF_TRY(read_tokens(cx, call, x, d, cell, err));
    VF_TRY(first_state(cx, call, 5, is_batch_first, d, cell, &cell->h, err));
    if (is_lstm)
        VF_TRY(first_state(cx, call, 6, is_batch_first, d, cell, &cell->c, err));
    VF_TRY(direction(cx, is_lstm ? vf_low_in(call, 7) : NULL, d, &cell->peep, err));
    cell->lengths = vf_low_in(call, 4);
    if (cell->lengths == NULL)
        return VF_OK;
    VF_TRY(vf_low_cast(cx, cell->lengths, VF_I64, &cell->lengths, err));
    return vf_low_along(cx, cell->lengths, 2, 0, &cell->lengths, err);
}

/* --- the operator --- */

static VfStatus run_direction(VfLower *cx, Cell *cell, bool is_back, VfLowValue **y, VfErr *err)
{
    VfLowValue **list = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)cell->steps);
    VF_TRY_ALLOC(list, err);
    for (int64_t i = 0; i < cell->steps; i++) {
        int64_t t = is_back ? cell->steps - 1 - i : i;
        VF_TRY(take_step(cx, cell, t, &list[t], err));
    }
    return vf_low_concat(cx, (int32_t)cell->steps, list, 0, y, err);
}

/* Results of all directions: `n` values side by side along `axis`. */
static VfStatus deliver(VfLower *cx, VfLowCall *call, int32_t index, int32_t n,
                        VfLowValue *const *list, int32_t axis, const int64_t *perm, VfErr *err)
{
    VfLowValue *all;
    if (!vf_low_has_out(call, index))
        return VF_OK;
    VF_TRY(vf_low_concat(cx, n, list, axis, &all, err));
    if (perm != NULL)
        VF_TRY(vf_low_permute(cx, all, perm, &all, err));
    return vf_low_reshape_to(cx, call, index, all, err);
}

static VfStatus start(VfLower *cx, VfLowCall *call, bool is_batch_first, Cell *cell,
                      VfLowValue **x, VfErr *err)
{
    static const int64_t perm[3] = {1, 0, 2};
    const VfLowValue *w = call->in[1], *r = call->in[2];
    *x = call->in[0];
    if ((*x)->rank != 3 || w->rank != 3 || r->rank != 3)
        return vf_low_refuse(err, "%d axes", (*x)->rank);
    if (is_batch_first)
        VF_TRY(vf_low_permute(cx, *x, perm, x, err));
    cell->op = call->node->op;
    cell->gates = cell->op == VF_OP_RNN ? 1 : cell->op == VF_OP_GRU ? 3 : 4;
    cell->steps = (*x)->dims[0];
    cell->batch = (*x)->dims[1];
    cell->hidden = r->dims[2];
    if (cell->op == VF_OP_GRU)
        cell->resets_late = vf_node_int(call->node, "linear_before_reset") != 0;
    bool is_coupled = cell->op == VF_OP_LSTM && vf_node_int(call->node, "input_forget") != 0;
    if (vf_node_attr(call->node, "clip") != NULL || is_coupled)
        return vf_low_refuse(err, "clip or input_forget");
    if (cell->steps < 1 || cell->steps > MAX_STEPS || cell->hidden < 1 ||
        w->dims[1] != cell->gates * cell->hidden || r->dims[1] != w->dims[1])
        return vf_low_refuse(err, "weights that do not fit");
    return VF_OK;
}

VfStatus vf_lower_recurrent(VfLower *cx, VfLowCall *call, VfErr *err)
{
    static const int64_t perm_all[4] = {2, 0, 1, 3}, perm_last[3] = {1, 0, 2};
    VfBytes word = vf_node_string(call->node, "direction");
    bool is_back = vf_bytes_is_equal(word, vf_bytes("reverse"));
    bool is_both = vf_bytes_is_equal(word, vf_bytes("bidirectional"));
    bool is_batch_first = call->opset >= 14 && vf_node_int(call->node, "layout") != 0;
    VfLowValue *x, *y[2], *h[2], *c[2];
    int32_t n = is_both ? 2 : 1;
    Cell first = {0};
    if (!is_back && !is_both && !vf_bytes_is_equal(word, vf_bytes("forward")))
        return vf_low_refuse_word("direction", word, err);
    VF_TRY(start(cx, call, is_batch_first, &first, &x, err));
    if (call->in[1]->dims[0] != n || call->in[2]->dims[0] != n)
        return vf_low_refuse(err, "weights for %lld directions", (long long)call->in[1]->dims[0]);
    for (int32_t d = 0; d < n; d++) {
        Cell cell = first;
        const int64_t dims[3] = {1, cell.batch, cell.hidden};
        VF_TRY(read_cell(cx, call, x, is_batch_first, d, &cell, err));
        VF_TRY(run_direction(cx, &cell, is_back || d == 1, &y[d], err));
        VF_TRY(vf_low_reshape(cx, cell.h, 3, dims, &h[d], err));
        if (cell.c != NULL)
            VF_TRY(vf_low_reshape(cx, cell.c, 3, dims, &c[d], err));
    }
    VF_TRY(deliver(cx, call, 0, n, y, 1, is_batch_first ? perm_all : NULL, err));
    VF_TRY(deliver(cx, call, 1, n, h, 0, is_batch_first ? perm_last : NULL, err));
    return first.op != VF_OP_LSTM
               ? VF_OK
               : deliver(cx, call, 2, n, c, 0, is_batch_first ? perm_last : NULL, err);
}
