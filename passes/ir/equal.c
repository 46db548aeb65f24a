#include "passes/ir/equal.h"

#include "passes/ir/equal_private.h"

/* Return VF_DIFFERS with a sentence unless `same`. */
#define SAME(same, ...)                                              \
    do {                                                             \
        if (!(same))                                                 \
            return vf_fail(eq->why, VF_DIFFERS, __VA_ARGS__);        \
    } while (0)

/* --- values --- */

static bool is_output(const VfValue *value)
{
    return value->first_use != NULL && vf_value_is_output(value);
}

/* A Constant node, which keeps beside its value how the file spelled it. */
static VfStatus compare_constant(const VfEqual *eq, const VfNode *a, const VfNode *b,
                                 const char *name)
{
    SAME((a == NULL) == (b == NULL), "constant '%s' is a node on one side only", name);
    if (a == NULL)
        return VF_OK;
    SAME(vf_bytes_is_equal(a->name, b->name) && vf_bytes_is_equal(a->doc, b->doc) &&
             vf_equal_meta(a->meta, b->meta) && vf_equal_raw(a->raw, b->raw),
         "the Constant nodes of '%s' differ", name);
    return vf_equal_attrs(eq, a->first_attr, b->first_attr, name);
}

/* The list of outputs declares a value as well, so one of them may be declared there alone. */
static VfStatus compare_value(const VfEqual *eq, const VfValue *a, const VfValue *b)
{
    const char *name = vf_value_label(a);
    eq->twin[a->id] = b;
    SAME(vf_bytes_is_equal(a->name, b->name), "value '%s' is named '%s' on the other side", name,
         vf_value_label(b));
    SAME(a->kind == b->kind && a->index == b->index, "value '%s' is of another kind", name);
    SAME(a->is_declared == b->is_declared || is_output(a),
         "value '%s' is declared on one side only", name);
    SAME((a->tensor == NULL) == (b->tensor == NULL), "value '%s' has data on one side only", name);
    SAME(a->tensor == NULL || vf_tensor_is_equal(a->tensor, b->tensor), "data of '%s' differs",
         name);
    SAME(vf_bytes_is_equal(a->doc, b->doc), "documentation of '%s' differs", name);
    SAME(vf_equal_meta(a->meta, b->meta), "metadata of '%s' differs", name);
    SAME(vf_equal_raw(a->raw_info, b->raw_info) && vf_equal_raw(a->raw_tensor, b->raw_tensor),
         "carried fields of '%s' differ", name);
    VF_TRY(compare_constant(eq, a->constant, b->constant, name));
    return a->is_declared && b->is_declared ? vf_equal_type(eq, &a->type, &b->type, name) : VF_OK;
}

static VfStatus compare_inputs(const VfEqual *eq, const VfGraph *a, const VfGraph *b)
{
    SAME(a->n_input == b->n_input, "graph '%.*s' has %d inputs against %d", (int)a->name.size,
         a->name.data, (int)a->n_input, (int)b->n_input);
    for (int32_t i = 0; i < a->n_input; i++)
        VF_TRY(compare_value(eq, a->input[i], b->input[i]));
    return VF_OK;
}

static const VfValue *next_constant(const VfValue *value)
{
    while (value != NULL && value->kind != VF_VALUE_CONST)
        value = value->next;
    return value;
}

static VfStatus compare_constants(const VfEqual *eq, const VfGraph *a, const VfGraph *b)
{
    const VfValue *x = next_constant(a->first_value), *y = next_constant(b->first_value);
    while (x != NULL && y != NULL) {
        VF_TRY(compare_value(eq, x, y));
        x = next_constant(x->next);
        y = next_constant(y->next);
    }
    SAME(x == NULL && y == NULL, "constant '%s' is on one side only",
         vf_value_label(x != NULL ? x : y));
    return VF_OK;
}

/* --- nodes --- */

static VfStatus compare_operands(const VfEqual *eq, const VfNode *a, const VfNode *b,
                                 const char *label)
{
    SAME(a->n_in == b->n_in, "'%s' has %d operands against %d", label, (int)a->n_in, (int)b->n_in);
    for (int32_t i = 0; i < a->n_in; i++) {
        const VfValue *value = a->in[i].value;
        const VfValue *twin = value != NULL ? eq->twin[value->id] : NULL;
        SAME(twin == b->in[i].value, "operand %d of '%s' differs", (int)i, label);
    }
    return VF_OK;
}

static VfStatus compare_results(const VfEqual *eq, const VfNode *a, const VfNode *b,
                                const char *label)
{
    SAME(a->n_out == b->n_out, "'%s' has %d results against %d", label, (int)a->n_out,
         (int)b->n_out);
    for (int32_t i = 0; i < a->n_out; i++) {
        SAME((a->out[i] == NULL) == (b->out[i] == NULL),
             "result %d of '%s' is omitted on one side only", (int)i, label);
        if (a->out[i] != NULL)
            VF_TRY(compare_value(eq, a->out[i], b->out[i]));
    }
    return VF_OK;
}

static VfStatus compare_node(const VfEqual *eq, const VfNode *a, const VfNode *b)
{
    const char *label = vf_node_label(a);
    SAME(vf_bytes_is_equal(a->name, b->name), "node '%s' is named '%s' on the other side", label,
         vf_node_label(b));
    SAME(vf_bytes_is_equal(a->domain, b->domain) && vf_bytes_is_equal(a->op_type, b->op_type) &&
             vf_bytes_is_equal(a->overload, b->overload) && a->op == b->op,
         "the operator of node '%s' differs", label);
    SAME(vf_bytes_is_equal(a->doc, b->doc), "documentation of node '%s' differs", label);
    SAME(vf_equal_meta(a->meta, b->meta), "metadata of node '%s' differs", label);
    SAME(vf_equal_raw(a->raw, b->raw), "carried fields of node '%s' differ", label);
    SAME(a->is_sparse_initializer == b->is_sparse_initializer,
         "'%s' is a sparse initializer on one side only", label);
    VF_TRY(compare_operands(eq, a, b, label));
    VF_TRY(vf_equal_attrs(eq, a->first_attr, b->first_attr, label));
    return compare_results(eq, a, b, label);
}

/* --- graphs --- */

static VfOutputInfo output_info(const VfGraph *graph, int32_t i)
{
    return graph->output_info != NULL ? graph->output_info[i] : (VfOutputInfo){.doc = {"", 0}};
}

static bool is_info_equal(VfOutputInfo a, VfOutputInfo b)
{
    return vf_bytes_is_equal(a.doc, b.doc) && vf_equal_meta(a.meta, b.meta) &&
           vf_equal_raw(a.raw_info, b.raw_info);
}

static VfStatus compare_outputs(const VfEqual *eq, const VfGraph *a, const VfGraph *b)
{
    VF_TRY(compare_operands(eq, a->ret, b->ret, "outputs"));
    for (int32_t i = 0; i < a->ret->n_in; i++) {
        SAME(vf_bytes_is_equal(a->output_name[i], b->output_name[i]),
             "output %d is named otherwise", (int)i);
        VF_TRY(vf_equal_type(eq, &a->output_type[i], &b->output_type[i], "outputs"));
        SAME(is_info_equal(output_info(a, i), output_info(b, i)),
             "documentation, metadata or carried fields of output %d differ", (int)i);
    }
    return VF_OK;
}

VfStatus vf_equal_graph(const VfEqual *eq, const VfGraph *a, const VfGraph *b)
{
    SAME(vf_bytes_is_equal(a->name, b->name), "names of graphs differ: '%.*s' and '%.*s'",
         (int)a->name.size, a->name.data, (int)b->name.size, b->name.data);
    SAME(vf_bytes_is_equal(a->doc, b->doc) && vf_equal_meta(a->meta, b->meta) &&
             vf_equal_raw(a->raw, b->raw),
         "documentation, metadata or carried fields of graph '%.*s' differ", (int)a->name.size,
         a->name.data);
    VF_TRY(compare_inputs(eq, a, b));
    VF_TRY(compare_constants(eq, a, b));
    SAME(a->n_node == b->n_node, "graph '%.*s' has %d nodes against %d", (int)a->name.size,
         a->name.data, (int)a->n_node, (int)b->n_node);
    const VfNode *y = b->first_node;
    for (const VfNode *x = a->first_node; x != NULL; x = x->next, y = y->next)
        VF_TRY(compare_node(eq, x, y));
    return compare_outputs(eq, a, b);
}

/* --- models --- */

static VfStatus compare_opsets(const VfEqual *eq, const VfOpset *a, int32_t n_a, const VfOpset *b,
                               int32_t n_b)
{
    SAME(n_a == n_b, "numbers of imported opsets differ");
    for (int32_t i = 0; i < n_a; i++)
        SAME(vf_bytes_is_equal(a[i].domain, b[i].domain) && a[i].version == b[i].version,
             "imported opsets differ");
    return VF_OK;
}

static VfStatus compare_function(const VfEqual *eq, const VfFunction *a, const VfFunction *b)
{
    const char *name = a->name.data;
    SAME(vf_bytes_is_equal(a->domain, b->domain) && vf_bytes_is_equal(a->name, b->name) &&
             vf_bytes_is_equal(a->overload, b->overload),
         "function '%s' is named otherwise", name);
    SAME(vf_bytes_is_equal(a->doc, b->doc) && vf_equal_meta(a->meta, b->meta) &&
             vf_equal_raw(a->raw, b->raw),
         "documentation, metadata or carried fields of function '%s' differ", name);
    SAME(a->n_attr_name == b->n_attr_name, "attributes of function '%s' differ", name);
    for (int32_t i = 0; i < a->n_attr_name; i++)
        SAME(vf_bytes_is_equal(a->attr_name[i], b->attr_name[i]),
             "attributes of function '%s' differ", name);
    VF_TRY(vf_equal_attrs(eq, a->first_attr_default, b->first_attr_default, name));
    VF_TRY(compare_opsets(eq, a->opset, a->n_opset, b->opset, b->n_opset));
    return vf_equal_graph(eq, a->body, b->body);
}

static VfStatus compare_models(const VfEqual *eq)
{
    const VfModel *a = eq->a, *b = eq->b;
    SAME(a->ir_version == b->ir_version, "IR versions differ");
    SAME(a->model_version == b->model_version, "model versions differ");
    SAME(vf_bytes_is_equal(a->producer_name, b->producer_name) &&
             vf_bytes_is_equal(a->producer_version, b->producer_version),
         "producers differ");
    SAME(vf_bytes_is_equal(a->domain, b->domain) && vf_bytes_is_equal(a->doc, b->doc),
         "domain or documentation of the models differ");
    SAME(vf_equal_meta(a->meta, b->meta), "metadata of the models differs");
    SAME(vf_equal_raw(a->raw, b->raw), "carried fields of the models differ");
    VF_TRY(compare_opsets(eq, a->opset, a->n_opset, b->opset, b->n_opset));
    const VfFunction *y = b->first_function;
    SAME(a->n_function == b->n_function, "numbers of functions differ");
    for (const VfFunction *x = a->first_function; x != NULL; x = x->next, y = y->next)
        VF_TRY(compare_function(eq, x, y));
    return vf_equal_graph(eq, a->graph, b->graph);
}

static VfStatus compare_in(VfArena *arena, VfEqual *eq)
{
    VF_TRY_ALLOC(arena, eq->why);
    eq->twin = VF_NEW_ARRAY(arena, const VfValue *, (size_t)eq->a->n_value_id);
    VF_TRY_ALLOC(eq->twin, eq->why);
    return compare_models(eq);
}

bool vf_model_is_equal(const VfModel *a, const VfModel *b, VfErr *why)
{
    VfEqual eq = {a, b, NULL, why};
    VfArena *arena = vf_arena_new();
    VfStatus status = compare_in(arena, &eq);
    vf_arena_free(arena);
    return status == VF_OK;
}
