#include "passes/pointwise/gate.h"

#include <math.h>

#include "passes/attention/unfuse.h"
#include "passes/ir/attr.h"
#include "passes/match/facts.h"

/* b with b / (1 + exp(-b)) = 1 */
static const double silu_one = 1.2784645427610738;

enum { N_TODO_MAX = 64, N_STEP_MAX = 12, N_FACTOR_MAX = 16 };

/* Does the node multiply rows of operand 0 by constant weights? */
static bool is_linear(const VfNode *node)
{
    if (!vf_is_fixed(vf_node_in(node, 1)))
        return false;
    return node->op == VF_OP_MATMUL || (node->op == VF_OP_GEMM && vf_node_int(node, "transA") == 0);
}

static bool is_other_layer(const VfNode *node)
{
    return node->op == VF_OP_CONV || node->op == VF_OP_EINSUM || node->op == VF_OP_MATMUL ||
           node->op == VF_OP_GEMM || node->op == VF_OP_CONV_TRANSPOSE;
}

/* --- the query projection --- */

/* Nodes still to be visited above the queries. */
typedef struct Search {
    const VfNode *seen[N_TODO_MAX];
    int32_t n, at;
} Search;

static bool add_seen(Search *search, const VfNode *node)
{
    for (int32_t i = 0; i < search->n; i++) {
        if (search->seen[i] == node)
            return true;
    }
    if (search->n == N_TODO_MAX)
        return false;
    search->seen[search->n++] = node;
    return true;
}

/* Operands that carry contents: numbers of the same dtype, no shapes or constants. */
static const char *add_operands(Search *search, const VfNode *node, VfDtype dtype)
{
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *x = vf_node_in(node, i);
        if (x == NULL || x->type.dtype != dtype || x->kind == VF_VALUE_CONST || vf_is_fixed(x))
            continue;
        if (x->def == NULL)
            return "gate: queries are not made by a linear layer";
        if (!add_seen(search, x->def))
            return "gate: queries are not followed up to a linear layer";
    }
    return NULL;
}

/* The one linear layer that everything in the queries comes from. */
static const VfNode *find_projection(const VfValue *q, const char **why)
{
    Search search = {.n = 0};
    const VfNode *layer = NULL;
    *why = "gate: queries are not made by a linear layer";
    if (q == NULL || q->def == NULL || !add_seen(&search, q->def))
        return NULL;
    for (search.at = 0; search.at < search.n; search.at++) {
        const VfNode *node = search.seen[search.at];
        if (!is_linear(node)) {
            const char *stop = is_other_layer(node)
                                   ? "gate: queries are made by another layer than MatMul or Gemm"
                                   : add_operands(&search, node, q->type.dtype);
            if (stop != NULL) {
                *why = stop;
                return NULL;
            }
        } else if (layer != NULL && layer != node) {
            *why = "gate: several layers make the queries";
            return NULL;
        } else {
            layer = node;
        }
    }
    *why = layer != NULL ? NULL : *why;
    return layer;
}

/* --- the output projection --- */

static void find_output(const VfAttention *site, VfGate *gate)
{
    VfValue *value = site->out;
    gate->why = "gate: the attention's output is not followed down to a linear layer";
    for (int32_t i = 0; i < N_STEP_MAX && value != NULL; i++) {
        VfNode *user = vf_value_single_user(value);
        if (user == NULL || user->graph != value->graph) {
            gate->why = "gate: the attention's output has other readers than its projection";
            return;
        }
        if (is_linear(user) && vf_node_in(user, 0) == value) {
            gate->layer = user;
            gate->slot = 0;
            gate->why = NULL;
            return;
        }
        if (!vf_is_mover(user) || vf_node_in(user, 0) != value)
            return;
        value = vf_node_out(user, 0);
    }
}

/* What the axes before the width count, outermost first. False: not known. */
static bool list_tokens(const VfAxes *axes, const VfValue *x, VfFactor *list, int32_t *n)
{
    *n = 0;
    for (int32_t i = 0; i < x->type.rank - 1; i++) {
        const VfAxis *axis = vf_axis_get(axes, x, i);
        if (vf_dim_is(vf_dim_at(x, i), 1))
            continue;
        if (axis == NULL || axis->n == 0 || *n + axis->n > N_FACTOR_MAX)
            return false;
        for (int32_t k = 0; k < axis->n; k++)
            list[(*n)++] = axis->factor[k];
    }
    return true;
}

static bool has_same_dims(const VfValue *x, const VfValue *o)
{
    bool is_same = x->type.rank == o->type.rank && x->type.rank >= 2;
    for (int32_t i = 0; is_same && i < x->type.rank - 1; i++)
        is_same = vf_dim_is_same(vf_dim_at(x, i), vf_dim_at(o, i));
    return is_same;
}

/* Do the rows of both stand in the same order? Flattening them does not change it. */
static bool has_same_tokens(const VfAxes *axes, const VfValue *x, const VfValue *o)
{
    VfFactor of_x[N_FACTOR_MAX], of_o[N_FACTOR_MAX];
    int32_t n_x = 0, n_o = 0;
    if (has_same_dims(x, o))
        return true;
    if (x->type.rank < 2 || o->type.rank < 2 || !list_tokens(axes, x, of_x, &n_x) ||
        !list_tokens(axes, o, of_o, &n_o) || n_x != n_o)
        return false;
    for (int32_t i = 0; i < n_x; i++) {
        if (of_x[i].role != of_o[i].role || !vf_dim_is_same(of_x[i].dim, of_o[i].dim))
            return false;
    }
    return true;
}

void vf_gate_find(const VfAxes *axes, const VfAttention *site, VfGate *gate)
{
    *gate = (VfGate){0};
    const VfNode *node = site->norm_node;
    if (node->op == VF_OP_MS_ATTENTION) {
        gate->x = vf_node_in(node, 0);
    } else {
        const VfNode *layer = find_projection(site->q, &gate->why);
        gate->x = layer != NULL ? vf_node_in(layer, 0) : NULL;
    }
    if (gate->why != NULL)
        return;
    find_output(site, gate);
    if (gate->why != NULL)
        return;
    const VfValue *o = vf_node_in(gate->layer, gate->slot);
    VfDim in = vf_dim_at(gate->x, -1), out = vf_dim_at(o, -1);
    if (gate->x->graph != site->graph || gate->layer->graph != site->graph)
        gate->why = "gate: the projections lie in another graph";
    else if (!has_same_tokens(axes, gate->x, o))
        gate->why = "gate: the tokens that make the queries do not stand as those of the output";
    else if (!vf_dim_is_known(in) || !vf_dim_is_known(out) || in.k < 1 || out.k < 1)
        gate->why = "gate: the widths of the projections are not known";
    else if (!vf_dtype_info(o->type.dtype)->is_float)
        gate->why = "gate: the dtype of the output is not known";
    gate->in = in.k;
    gate->out = out.k;
}

/* --- building --- */

static VfValue *filled(VfRewrite *rw, VfArena *arena, VfDtype dtype, int32_t rank,
                       const int64_t *dims, double number, const char *hint)
{
    return vf_rewrite_const(rw, vf_tensor_filled(arena, dtype, rank, dims, number), hint);
}

void vf_gate_insert(VfRewrite *rw, VfArena *arena, const VfAttention *site, const VfGate *gate,
                    VfGateKind kind, VfValue *new_out)
{
    const int64_t dims[2] = {gate->in, gate->out};
    VfValue *o = vf_node_in(gate->layer, gate->slot);
    VfDtype dtype = o->type.dtype;
    VfValue *old = o == site->out ? new_out : o;
    VfValue *w = filled(rw, arena, dtype, 2, dims, 0.0, "gate_w");
    VfValue *b =
        filled(rw, arena, dtype, 1, &gate->out, kind == VF_GATE_SILU ? silu_one : 1.0, "gate_b");
    VfValue *g =
        vf_rewrite_binary(rw, VF_OP_ADD, vf_rewrite_binary(rw, VF_OP_MATMUL, gate->x, w), b);
    if (kind == VF_GATE_SILU)
        g = vf_rewrite_binary(rw, VF_OP_MUL, g, vf_rewrite_unary(rw, VF_OP_SIGMOID, g));
    if (!has_same_dims(gate->x, o))
        g = vf_rewrite_binary(rw, VF_OP_RESHAPE, g, vf_rewrite_unary(rw, VF_OP_SHAPE, old));
    vf_rewrite_set_in(rw, gate->layer, gate->slot, vf_rewrite_binary(rw, VF_OP_MUL, old, g));
}
