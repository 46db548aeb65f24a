#include "passes/match/facts.h"

#include <math.h>

#include "passes/ir/attr.h"

/* Chains longer than this are no exporter's plumbing. */
enum { WALK_MAX = 64 };

bool vf_scalar_of(const VfValue *value, double *number)
{
    for (int32_t i = 0; i < WALK_MAX && value != NULL; i++) {
        const VfTensor *tensor = vf_value_const(value);
        if (tensor != NULL) {
            if (tensor->count == 0 || tensor->dtype == VF_STRING)
                return false;
            *number = vf_tensor_get_double(tensor, 0);
            return tensor->count == 1 || vf_tensor_is_all(tensor, *number);
        }
        const VfNode *def = value->kind == VF_VALUE_RESULT ? value->def : NULL;
        if (def == NULL || (def->op != VF_OP_CAST && !vf_is_mover(def)))
            return false;
        value = vf_node_in(def, 0);
    }
    return false;
}

bool vf_is_fixed(const VfValue *value)
{
    for (int32_t i = 0; i < WALK_MAX && value != NULL && value->kind == VF_VALUE_RESULT; i++) {
        const VfNode *def = value->def;
        if (def == NULL || (def->op != VF_OP_CAST && !vf_is_mover(def)))
            return false;
        value = vf_node_in(def, 0);
    }
    bool is_default = value != NULL && value->kind == VF_VALUE_INPUT && value->tensor != NULL;
    return is_default || vf_value_const(value) != NULL;
}

bool vf_const_range(const VfValue *value, double *lowest, double *highest)
{
    const VfTensor *tensor = vf_value_const(value);
    if (tensor == NULL || tensor->count == 0 || tensor->dtype == VF_STRING)
        return false;
    *lowest = (double)INFINITY;
    *highest = -(double)INFINITY;
    for (size_t i = 0; i < tensor->count; i++) {
        double x = vf_tensor_get_double(tensor, i);
        *lowest = x < *lowest ? x : *lowest;
        *highest = x > *highest ? x : *highest;
    }
    return *lowest <= *highest;
}

/* Does the value hold one element, constant or not? */
static bool is_single_element(const VfValue *value)
{
    if (value == NULL || value->type.kind != VF_TYPE_TENSOR || value->type.rank < 0)
        return false;
    for (int32_t i = 0; i < value->type.rank; i++) {
        if (!vf_dim_is(value->type.dims[i], 1))
            return false;
    }
    return true;
}

int32_t vf_axis_of(int64_t axis, int32_t rank)
{
    if (axis < 0)
        axis += rank;
    return rank < 0 || axis < 0 || axis >= rank ? -1 : (int32_t)axis;
}

int32_t vf_transpose_perm(const VfNode *node, int32_t *perm)
{
    const VfValue *x = vf_node_in(node, 0);
    int32_t n, rank = x ? x->type.rank : VF_RANK_UNKNOWN;
    const int64_t *list = vf_node_ints(node, "perm", &n);
    if (node->op != VF_OP_TRANSPOSE)
        return -1;
    if (list == NULL)
        n = rank;
    if (n < 0 || n > VF_AXIS_MAX || (rank >= 0 && n != rank))
        return -1;
    for (int32_t i = 0; i < n; i++) {
        int64_t from = list ? list[i] : n - 1 - i;
        if (from < 0 || from >= n)
            return -1;
        perm[i] = (int32_t)from;
    }
    return n;
}

bool vf_is_swap_last_two(const VfNode *node)
{
    int32_t perm[VF_AXIS_MAX];
    int32_t n = vf_transpose_perm(node, perm);
    for (int32_t i = 0; i < n - 2; i++) {
        if (perm[i] != i)
            return false;
    }
    return n >= 2 && perm[n - 2] == n - 1 && perm[n - 1] == n - 2;
}

int32_t vf_reduce_axes(const VfNode *node, int64_t *axis)
{
    const VfValue *x = vf_node_in(node, 0);
    int32_t n, rank = x ? x->type.rank : VF_RANK_UNKNOWN;
    const int64_t *list = vf_node_ints_or_operand(node, "axes", 1, &n);
    if (rank < 0 || rank > VF_AXIS_MAX || n < 0 || n > VF_AXIS_MAX)
        return -1;
    bool is_reduced[VF_AXIS_MAX] = {false};
    for (int32_t i = 0; i < n; i++) {
        int32_t a = vf_axis_of(list[i], rank);
        if (a < 0)
            return -1;
        is_reduced[a] = true;
    }
    bool is_all = n == 0 && vf_node_int(node, "noop_with_empty_axes") == 0;
    int32_t count = 0;
    for (int32_t a = 0; a < rank; a++) {
        if (is_all || is_reduced[a])
            axis[count++] = a;
    }
    return count;
}

VfDim vf_dim_at(const VfValue *value, int32_t axis)
{
    if (value == NULL || value->type.rank < 0)
        return vf_dim_unknown();
    int32_t a = vf_axis_of(axis, value->type.rank);
    return a < 0 ? vf_dim_unknown() : value->type.dims[a];
}

VfDim vf_value_count(VfSymbols *symbols, const VfValue *value)
{
    if (value == NULL || value->type.rank < 0)
        return vf_dim_unknown();
    VfDim count = vf_dim(1);
    for (int32_t i = 0; i < value->type.rank; i++)
        count = vf_dim_mul(symbols, count, value->type.dims[i]);
    return count;
}

bool vf_is_carrier(const VfNode *node)
{
    if (node->op == VF_OP_CAST) {
        const VfValue *in = vf_node_in(node, 0);
        bool from_float =
            in == NULL || in->type.dtype == VF_UNDEFINED || vf_dtype_info(in->type.dtype)->is_float;
        return from_float && vf_dtype_info((VfDtype)vf_node_int(node, "to"))->is_float;
    }
    return node->op == VF_OP_IDENTITY || node->op == VF_OP_DROPOUT;
}

bool vf_is_mover(const VfNode *node)
{
    return vf_is_carrier(node) || vf_op_has(node->op, VF_OPF_VIEW) || node->op == VF_OP_TRANSPOSE ||
           node->op == VF_OP_EXPAND;
}

bool vf_is_nan_guard(const VfNode *node)
{
    bool is_where = node->op == VF_OP_WHERE;
    const VfNode *test = is_where ? vf_def_if(vf_node_in(node, 0), VF_OP_IS_NAN) : NULL;
    return test != NULL && vf_node_in(test, 0) == vf_node_in(node, 2) &&
           vf_is_fixed(vf_node_in(node, 1));
}

VfValue *vf_skip_movers(VfValue *value)
{
    for (int32_t i = 0; i < WALK_MAX && value != NULL; i++) {
        VfNode *def = value->kind == VF_VALUE_RESULT ? value->def : NULL;
        if (def == NULL || !vf_is_mover(def) || vf_node_in(def, 0) == NULL)
            break;
        value = vf_node_in(def, 0);
    }
    return value;
}

VfNode *vf_def_if(const VfValue *value, VfOp op)
{
    bool is_result = value != NULL && value->kind == VF_VALUE_RESULT && value->def != NULL;
    return is_result && value->def->op == op ? value->def : NULL;
}

VfValue *vf_other_in(const VfNode *node, int32_t slot)
{
    return vf_node_in(node, slot == 0 ? 1 : 0);
}

bool vf_is_scale(const VfNode *node, int32_t *slot, double *factor, VfValue **by)
{
    if (node->op != VF_OP_MUL && node->op != VF_OP_DIV)
        return false;
    for (int32_t i = 0; i < (node->op == VF_OP_MUL ? 2 : 1); i++) {
        VfValue *x = vf_node_in(node, i), *scalar = vf_other_in(node, i);
        double number;
        bool is_const = vf_scalar_of(scalar, &number);
        bool is_single = is_single_element(scalar) && !is_single_element(x);
        if (x == NULL || scalar == NULL || vf_value_const(x) != NULL || (!is_const && !is_single))
            continue;
        *slot = i;
        *factor = !is_const ? (double)NAN : node->op == VF_OP_MUL ? number : 1.0 / number;
        if (by != NULL)
            *by = scalar;
        return true;
    }
    return false;
}

int32_t vf_where_const_slot(const VfNode *where)
{
    bool first = vf_value_const(vf_node_in(where, 1)) != NULL;
    bool second = vf_value_const(vf_node_in(where, 2)) != NULL;
    return first == second ? -1 : first ? 1 : 2;
}
