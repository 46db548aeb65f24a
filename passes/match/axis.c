#include "passes/match/axis_rules.h"

#include <string.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"

enum { SUBGRAPH_DEPTH_MAX = 16 };

const VfAxis *vf_axis_get(const VfAxes *axes, const VfValue *value, int32_t axis)
{
    if (value == NULL || value->id >= axes->n_value || axes->of_value[value->id] == NULL)
        return NULL;
    if (axis < 0 || axis >= value->type.rank)
        return NULL;
    return &axes->of_value[value->id][axis];
}

uint32_t vf_axis_role(const VfAxes *axes, const VfValue *value, int32_t axis)
{
    const VfAxis *found = vf_axis_get(axes, value, axis);
    uint32_t role = 0;
    for (int32_t i = 0; found != NULL && i < found->n; i++)
        role |= found->factor[i].role;
    return role;
}

VfDim vf_axis_product(const VfAxes *axes, const VfAxis *axis, uint32_t role)
{
    VfDim product = vf_dim(1);
    for (int32_t i = 0; axis != NULL && i < axis->n; i++) {
        uint32_t r = axis->factor[i].role;
        if ((r & role) == 0)
            continue;
        if ((r & ~role) != 0)
            return vf_dim_unknown();
        product = vf_dim_mul(axes->model->symbols, product, axis->factor[i].dim);
    }
    return product;
}

/* --- one node --- */

/* What a rule sees: the operands' axes by slot, and room for the result's. */
typedef struct Rule {
    VfAxes *axes;
    const VfNode *node;
    const VfValue *out_value;
    VfAxis *out;
    int32_t rank;
} Rule;

static const VfAxis *operand(const Rule *rule, int32_t slot, int32_t axis)
{
    return vf_axis_get(rule->axes, vf_node_in(rule->node, slot), axis);
}

static void set_dim(const Rule *rule, int32_t axis, uint32_t role)
{
    VfFactor factor = vf_factor_make(rule->out_value->type.dims[axis], role);
    rule->out[axis] = (VfAxis){0};
    vf_axis_append(&rule->out[axis], &factor);
}

/* Axis of the result like the operand's: as it is if the length is the same, else only its roles.
 */
static void set_like(const Rule *rule, int32_t axis, const VfValue *value, int32_t from)
{
    const VfAxis *source = vf_axis_get(rule->axes, value, from);
    if (source == NULL)
        set_dim(rule, axis, 0);
    else if (vf_dim_is_same(value->type.dims[from], rule->out_value->type.dims[axis]))
        rule->out[axis] = *source;
    else
        set_dim(rule, axis, vf_axis_role(rule->axes, value, from));
}

static bool is_informed(const Rule *rule, const VfValue *value, int32_t axis)
{
    return vf_axis_role(rule->axes, value, axis) != 0 && !vf_dim_is(value->type.dims[axis], 1);
}

/* Broadcasting: each axis from the first of `n_in` operands that knows it and is not 1 long there.
 */
static void broadcast(const Rule *rule, int32_t n_in)
{
    for (int32_t a = 0; a < rule->rank; a++) {
        set_dim(rule, a, 0);
        for (int32_t i = 0; i < n_in; i++) {
            const VfValue *value = vf_node_in(rule->node, i);
            if (value == NULL || value->type.rank < 0)
                continue;
            int32_t from = a - rule->rank + value->type.rank;
            if (from >= 0 && is_informed(rule, value, from)) {
                set_like(rule, a, value, from);
                break;
            }
        }
    }
}

static void by_broadcast(const Rule *rule)
{
    broadcast(rule, rule->node->n_in);
}

static void by_expand(const Rule *rule)
{
    broadcast(rule, 1);
}

/* The role of an axis made by constant weights is that of what they sum over. */
static uint32_t made_role(const Rule *rule, const VfProduct *p, int32_t constant)
{
    uint32_t role = 0;
    for (int32_t i = 0; i < p->n_in; i++) {
        for (int32_t a = 0; i != constant && a < p->rank[i]; a++) {
            if (vf_product_axis(p, constant, p->letter[i][a]) >= 0 &&
                vf_product_out_axis(p, p->letter[i][a]) < 0)
                role |= vf_axis_role(rule->axes, p->in[i], a);
        }
    }
    return role == 0 || (role & VF_ROLE_CHANNEL) != 0 ? VF_ROLE_CHANNEL : role;
}

static void by_product(const Rule *rule)
{
    VfProduct p;
    for (int32_t a = 0; a < rule->rank; a++)
        set_dim(rule, a, 0);
    if (!vf_product_of((VfNode *)rule->node, &p) || p.out_rank != rule->rank)
        return;
    for (int32_t a = 0; a < rule->rank; a++) {
        int32_t owner = vf_product_owner(&p, p.out_letter[a]);
        if (owner < 0)
            continue;
        if (vf_is_fixed(p.in[owner]))
            set_dim(rule, a, made_role(rule, &p, owner));
        else
            set_like(rule, a, p.in[owner], vf_product_axis(&p, owner, p.out_letter[a]));
    }
}

static void by_conv(const Rule *rule)
{
    const VfValue *x = vf_node_in(rule->node, 0);
    for (int32_t a = 0; a < rule->rank; a++) {
        uint32_t role = vf_axis_role(rule->axes, x, a);
        if (a == 0)
            set_like(rule, a, x, a);
        else if (a == 1)
            set_dim(rule, a, VF_ROLE_CHANNEL);
        else
            set_dim(rule, a, role == 0 ? VF_ROLE_TOKEN : role);
    }
}

static void by_transpose(const Rule *rule)
{
    int32_t perm[VF_AXIS_MAX];
    const VfValue *x = vf_node_in(rule->node, 0);
    for (int32_t a = 0; a < rule->rank; a++) {
        if (vf_transpose_perm(rule->node, perm) == rule->rank)
            set_like(rule, a, x, perm[a]);
        else
            set_dim(rule, a, 0);
    }
}

static void by_view(const Rule *rule)
{
    const VfValue *x = vf_node_in(rule->node, 0);
    VfAxis *in = x ? rule->axes->of_value[x->id] : NULL;
    if (in != NULL)
        vf_axes_reshape(rule->axes->model->symbols, &x->type, in, &rule->out_value->type,
                        rule->out);
    for (int32_t a = 0; a < rule->rank; a++) {
        if (rule->out[a].n == 0)
            set_dim(rule, a, 0);
    }
}

/* Reduce without keepdims, Squeeze by dims, ArgMax: the axes reduced disappear. */
static void by_reduce(const Rule *rule)
{
    const VfValue *x = vf_node_in(rule->node, 0);
    int64_t axis[VF_AXIS_MAX];
    int32_t n = vf_reduce_axes(rule->node, axis), to = 0;
    bool keep = vf_node_int(rule->node, "keepdims") != 0;
    for (int32_t a = 0; a < rule->rank; a++)
        set_dim(rule, a, 0);
    for (int32_t from = 0; n >= 0 && x != NULL && from < x->type.rank; from++) {
        bool is_reduced = false;
        for (int32_t i = 0; i < n; i++)
            is_reduced = is_reduced || axis[i] == from;
        if (!is_reduced && to < rule->rank)
            set_like(rule, to, x, from);
        to += !is_reduced || keep;
    }
}

static int32_t concat_axis(const Rule *rule)
{
    int64_t axis = vf_node_int(rule->node, "axis");
    return (int32_t)(axis < 0 ? axis + rule->rank : axis);
}

/* The concatenated axis: roles of all parts; one part with a grid after parts of known length
 * keeps it, with their number as prefix. */
static void concat_factor(const Rule *rule, int32_t axis)
{
    VfSymbols *symbols = rule->axes->model->symbols;
    VfFactor joined = vf_factor_make(rule->out_value->type.dims[axis], 0);
    VfDim before = vf_dim(0);
    int32_t n_grid = 0;
    bool is_stack = true;
    for (int32_t i = 0; i < rule->node->n_in; i++) {
        const VfValue *value = vf_node_in(rule->node, i);
        const VfAxis *part = operand(rule, i, axis);
        joined.role |= vf_axis_role(rule->axes, value, axis);
        if (part != NULL && part->n == 1 && part->factor[0].grid_h.sym != VF_SYM_UNKNOWN) {
            n_grid++;
            joined.grid_h = part->factor[0].grid_h;
            joined.grid_w = part->factor[0].grid_w;
            joined.prefix = vf_dim_add(symbols, before, part->factor[0].prefix);
        }
        VfDim length = value && axis < value->type.rank ? value->type.dims[axis] : vf_dim_unknown();
        is_stack = is_stack && vf_dim_is(length, 1);
        before = vf_dim_add(symbols, before, length);
    }
    if (n_grid != 1)
        joined.grid_h = joined.grid_w = joined.prefix = vf_dim_unknown();
    if (is_stack && joined.role == 0)
        joined.role = VF_ROLE_STACK;
    rule->out[axis] = (VfAxis){0};
    vf_axis_append(&rule->out[axis], &joined);
}

static void by_concat(const Rule *rule)
{
    int32_t axis = concat_axis(rule);
    by_broadcast(rule);
    if (axis >= 0 && axis < rule->rank)
        concat_factor(rule, axis);
}

/* Slice and Split: a prefix cut off leaves the grid. */
static void by_same_rank(const Rule *rule)
{
    const VfValue *x = vf_node_in(rule->node, 0);
    bool is_same = x != NULL && x->type.rank == rule->rank;
    for (int32_t a = 0; a < rule->rank; a++) {
        if (!is_same) {
            set_dim(rule, a, 0);
            continue;
        }
        set_like(rule, a, x, a);
        const VfAxis *from = vf_axis_get(rule->axes, x, a);
        VfAxis *to = &rule->out[a];
        if (from == NULL || from->n != 1 || to->n != 1 ||
            vf_dim_is_same(x->type.dims[a], to->factor[0].dim))
            continue;
        VfDim grid =
            vf_dim_mul(rule->axes->model->symbols, from->factor[0].grid_h, from->factor[0].grid_w);
        if (rule->node->op == VF_OP_SLICE && vf_dim_is_same(grid, to->factor[0].dim)) {
            to->factor[0] = from->factor[0];
            to->factor[0].dim = grid;
            to->factor[0].prefix = vf_dim(0);
        }
    }
}

/* Gather: the index's axes take the place of the one gathered; a table's other axes are channels.
 */
static void by_gather(const Rule *rule)
{
    const VfValue *data = vf_node_in(rule->node, 0), *index = vf_node_in(rule->node, 1);
    for (int32_t a = 0; a < rule->rank; a++)
        set_dim(rule, a, 0);
    if (data == NULL || index == NULL || data->type.rank < 0 || index->type.rank < 0)
        return;
    int64_t axis = vf_node_int(rule->node, "axis");
    axis += axis < 0 ? data->type.rank : 0;
    int32_t n_index = index->type.rank;
    for (int32_t a = 0; a < rule->rank; a++) {
        bool is_index = a >= axis && a < axis + n_index;
        int32_t from = a < axis ? a : a - n_index + 1;
        if (is_index && !vf_is_fixed(index))
            set_like(rule, a, index, (int32_t)(a - axis));
        else if (is_index)
            set_dim(rule, a, vf_axis_role(rule->axes, data, (int32_t)axis));
        else if (vf_is_fixed(data))
            set_dim(rule, a, vf_is_fixed(index) ? 0 : VF_ROLE_CHANNEL);
        else
            set_like(rule, a, data, from);
    }
}

typedef struct OpRule {
    VfOp op;
    void (*run)(const Rule *rule);
} OpRule;

static const OpRule op_rule[] = {
    {VF_OP_MATMUL, by_product},
    {VF_OP_GEMM, by_product},
    {VF_OP_EINSUM, by_product},
    {VF_OP_MS_FUSED_MATMUL, by_product},
    {VF_OP_MS_TRANSPOSE_MATMUL, by_product},
    {VF_OP_CONV, by_conv},
    {VF_OP_CONV_TRANSPOSE, by_conv},
    {VF_OP_MS_FUSED_CONV, by_conv},
    {VF_OP_TRANSPOSE, by_transpose},
    {VF_OP_CONCAT, by_concat},
    {VF_OP_GATHER, by_gather},
    {VF_OP_EXPAND, by_expand},
    {VF_OP_REDUCE_L1, by_reduce},
    {VF_OP_REDUCE_L2, by_reduce},
    {VF_OP_REDUCE_MAX, by_reduce},
    {VF_OP_REDUCE_MEAN, by_reduce},
    {VF_OP_REDUCE_MIN, by_reduce},
    {VF_OP_REDUCE_SUM, by_reduce},
    {VF_OP_REDUCE_SUM_SQUARE, by_reduce},
};

static void (*find_rule(const VfNode *node))(const Rule *)
{
    for (size_t i = 0; i < sizeof(op_rule) / sizeof(op_rule[0]); i++) {
        if (op_rule[i].op == node->op)
            return op_rule[i].run;
    }
    if (vf_op_has(node->op, VF_OPF_ELEMENTWISE) && node->n_in > 1)
        return by_broadcast;
    return vf_op_has(node->op, VF_OPF_VIEW) ? by_view : by_same_rank;
}

/* --- the model --- */

static VfStatus add_value(VfAxes *axes, const VfValue *value, VfAxis **out, VfErr *err)
{
    *out = NULL;
    if (value->type.rank < 0 || value->type.rank > VF_AXIS_MAX || value->id >= axes->n_value)
        return VF_OK;
    *out = VF_NEW_ARRAY(axes->arena, VfAxis, (size_t)value->type.rank + 1);
    VF_TRY_ALLOC(*out, err);
    axes->of_value[value->id] = *out;
    return VF_OK;
}

/* `channels`: the axis of an image input. */
static uint32_t input_role(const VfType *type, int32_t channels, int32_t axis)
{
    if (axis == 0)
        return VF_ROLE_BATCH;
    if (type->rank >= 4)
        return axis == channels ? VF_ROLE_CHANNEL : VF_ROLE_TOKEN;
    bool is_float = vf_dtype_info(type->dtype)->is_float != 0;
    return is_float && axis == type->rank - 1 ? VF_ROLE_CHANNEL : VF_ROLE_TOKEN;
}

static VfStatus add_inputs(VfAxes *axes, const VfGraph *graph, VfErr *err)
{
    for (int32_t i = 0; i < graph->n_input; i++) {
        const VfValue *value = graph->input[i];
        VfAxis *out;
        if (value->tensor != NULL)
            continue; /* a weight that may be overridden, not data */
        VF_TRY(add_value(axes, value, &out, err));
        bool is_image = graph->owner == NULL && value->type.rank >= 4;
        int32_t channels = is_image ? vf_axis_of_channels(axes, value) : 1;
        for (int32_t a = 0; out != NULL && a < value->type.rank; a++) {
            uint32_t role = graph->owner == NULL ? input_role(&value->type, channels, a) : 0;
            VfFactor factor = vf_factor_make(value->type.dims[a], role);
            vf_axis_append(&out[a], &factor);
        }
    }
    return VF_OK;
}

static VfStatus add_graph(VfAxes *axes, const VfGraph *graph, int32_t depth, VfErr *err);

static VfStatus add_node(VfAxes *axes, const VfNode *node, int32_t depth, VfErr *err)
{
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->type == VF_ATTR_GRAPH && attr->graph != NULL && depth < SUBGRAPH_DEPTH_MAX)
            VF_TRY(add_graph(axes, attr->graph, depth + 1, err));
    }
    void (*run)(const Rule *) = find_rule(node);
    for (int32_t r = 0; r < node->n_out; r++) {
        VfAxis *out;
        if (node->out[r] == NULL)
            continue;
        VF_TRY(add_value(axes, node->out[r], &out, err));
        Rule rule = {axes, node, node->out[r], out, node->out[r]->type.rank};
        if (out != NULL)
            run(&rule);
    }
    return VF_OK;
}

static VfStatus add_graph(VfAxes *axes, const VfGraph *graph, int32_t depth, VfErr *err)
{
    VF_TRY(add_inputs(axes, graph, err));
    for (const VfNode *node = graph->first_node; node != NULL; node = node->next)
        VF_TRY(add_node(axes, node, depth, err));
    return VF_OK;
}

VfStatus vf_axes_new(VfArena *arena, VfModel *model, VfAxes **axes, VfErr *err)
{
    VfAxes *a = VF_NEW(arena, VfAxes);
    VF_TRY_ALLOC(a, err);
    a->model = model;
    a->arena = arena;
    a->n_value = model->n_value_id;
    a->of_value = VF_NEW_ARRAY(arena, VfAxis *, (size_t)model->n_value_id + 1);
    VF_TRY_ALLOC(a->of_value, err);
    *axes = a;
    return add_graph(a, model->graph, 0, err);
}
