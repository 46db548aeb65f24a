/* If, Loop and Scan: types of results from the types of the bodies' outputs.
 *
 * What a loop carries changes from turn to turn, so its type is what stays true: the body is
 * visited with the type at the start, and again with what start and end of a turn have in
 * common, until nothing changes; at the latest with the dtype alone.
 */
#include "passes/ir/attr.h"
#include "passes/ir/infer_graph.h"
#include "passes/ir/infer_op.h"

enum { TURNS_MAX = 3, DEPTH_MAX = 32 };

static const VfFact unknown_fact = {.type = {VF_TYPE_TENSOR, VF_UNDEFINED, VF_RANK_UNKNOWN, NULL}};

static const VfGraph *body_of(const VfNode *node, const char *name)
{
    const VfAttr *attr = vf_node_attr(node, name);
    return attr && attr->type == VF_ATTR_GRAPH ? attr->graph : NULL;
}

static VfStatus visit(VfInferRun *run, const VfNode *node, const VfGraph *body)
{
    run->depth++;
    VfStatus status = vf_infer_run_graph(run, body);
    run->depth--;
    return status == VF_OK ? VF_OK
                           : vf_context(run->err, "in a body of node '%s'", vf_node_label(node));
}

/* Fact of output `i` of a body; unknown when there is none. */
static const VfFact *output_fact(VfInferRun *run, const VfGraph *body, int32_t i)
{
    const VfValue *value = i < body->ret->n_in ? body->ret->in[i].value : NULL;
    return value ? vf_infer_run_fact(run, value) : &unknown_fact;
}

static const VfFact *operand_fact(VfInferRun *run, const VfNode *node, int32_t slot)
{
    const VfValue *value = vf_node_in(node, slot);
    return value ? vf_infer_run_fact(run, value) : &unknown_fact;
}

static bool are_unlike(const VfType *a, const VfType *b)
{
    return a->kind == VF_TYPE_TENSOR && b->kind == VF_TYPE_TENSOR && a->dtype != VF_UNDEFINED &&
           b->dtype != VF_UNDEFINED && a->dtype != b->dtype;
}

/* --- If --- */

/* Any shape of one element will do. */
static VfStatus check_condition(VfInferRun *run, const VfNode *node, const VfType *type)
{
    bool is_one = type->kind == VF_TYPE_TENSOR &&
                  (type->dtype == VF_UNDEFINED || type->dtype == VF_BOOL);
    for (int32_t i = 0; is_one && i < type->rank; i++)
        is_one = !vf_dim_is_known(type->dims[i]) || type->dims[i].k == 1;
    return is_one ? VF_OK
                  : vf_fail(run->err, VF_INVALID, "node '%s': the condition is %s, not one bool",
                            vf_node_label(node),
                            vf_type_text(run->scratch, run->model->symbols, type));
}

static VfStatus join_branches(VfInferRun *run, const VfNode *node, int32_t i, const VfType *yes,
                              const VfType *no, VfType *out)
{
    if (are_unlike(yes, no))
        return vf_fail(run->err, VF_INVALID,
                       "node '%s': result %d is %s in 'then_branch' but %s in 'else_branch'",
                       vf_node_label(node), (int)i, vf_dtype_info(yes->dtype)->name,
                       vf_dtype_info(no->dtype)->name);
    return vf_infer_join(run->scratch, yes, no, out, run->err);
}

static VfStatus run_if(VfInferRun *run, const VfNode *node, VfFact *out)
{
    const VfGraph *body[2] = {body_of(node, "else_branch"), body_of(node, "then_branch")};
    if (!body[0] || !body[1])
        return vf_infer_run_bodies(run, node);
    VF_TRY(visit(run, node, body[0]));
    VF_TRY(visit(run, node, body[1]));
    const VfFact *condition = operand_fact(run, node, 0);
    VF_TRY(check_condition(run, node, &condition->type));
    const VfTensor *known =
        condition->tensor && condition->tensor->count == 1 ? condition->tensor : NULL;
    for (int32_t i = 0; i < node->n_out; i++) {
        const VfFact *no = output_fact(run, body[0], i), *yes = output_fact(run, body[1], i);
        VF_TRY(join_branches(run, node, i, &yes->type, &no->type, &out[i].type));
        if (known)
            out[i] = vf_tensor_get_i64(known, 0) != 0 ? *yes : *no;
    }
    return VF_OK;
}

/* --- what loops carry --- */

/* Values that a body takes at its inputs from `input` on and gives at its outputs from `output` on.
 */
typedef struct Carried {
    const VfGraph *body;
    int32_t n, input, output;
    VfType *type;
} Carried;

static VfStatus set_inputs(VfInferRun *run, const Carried *carried)
{
    for (int32_t i = 0; i < carried->n; i++) {
        VfFact fact = {.type = carried->type[i]};
        int32_t at = carried->input + i;
        if (at < carried->body->n_input)
            VF_TRY(vf_infer_run_set(run, carried->body->input[at], &fact));
    }
    return VF_OK;
}

/* Joins what came out into `type`; *stable when nothing changed. */
static VfStatus join_outputs(VfInferRun *run, const VfNode *node, Carried *carried, bool is_last,
                             bool *stable)
{
    *stable = true;
    for (int32_t i = 0; i < carried->n; i++) {
        VfType *type = &carried->type[i], joined;
        const VfFact *end = output_fact(run, carried->body, carried->output + i);
        if (are_unlike(type, &end->type))
            return vf_fail(run->err, VF_INVALID,
                           "node '%s': the body takes carried value %d as %s but gives %s",
                           vf_node_label(node), (int)i, vf_dtype_info(type->dtype)->name,
                           vf_dtype_info(end->type.dtype)->name);
        VF_TRY(vf_infer_join(run->scratch, type, &end->type, &joined, run->err));
        if (vf_type_is_equal(type, &joined))
            continue;
        *stable = false;
        *type = joined;
        if (is_last)
            *type = (VfType){joined.kind, joined.dtype, VF_RANK_UNKNOWN, NULL};
    }
    return VF_OK;
}

static VfStatus settle(VfInferRun *run, const VfNode *node, Carried *carried)
{
    bool stable = false;
    for (int32_t turn = 0; turn < TURNS_MAX && !stable; turn++) {
        VF_TRY(set_inputs(run, carried));
        VF_TRY(visit(run, node, carried->body));
        VF_TRY(join_outputs(run, node, carried, turn >= TURNS_MAX - 2, &stable));
    }
    if (stable)
        return VF_OK;
    VF_TRY(set_inputs(run, carried));
    return visit(run, node, carried->body);
}

static VfStatus start_carried(VfInferRun *run, const VfNode *node, int32_t first_slot,
                              Carried *carried)
{
    carried->type = VF_NEW_ARRAY(run->scratch, VfType, (size_t)carried->n);
    VF_TRY_ALLOC(carried->type, run->err);
    for (int32_t i = 0; i < carried->n; i++)
        carried->type[i] = operand_fact(run, node, first_slot + i)->type;
    return VF_OK;
}

/* A result gathered turn by turn: the body's output with one more axis. */
static VfStatus stack(VfInferRun *run, const VfFact *slice, int64_t axis, VfDim length, VfType *out)
{
    const VfType *type = &slice->type;
    *out = (VfType){VF_TYPE_TENSOR, type->dtype, VF_RANK_UNKNOWN, NULL};
    if (type->kind != VF_TYPE_TENSOR || type->rank == VF_RANK_UNKNOWN)
        return VF_OK;
    int64_t rank = (int64_t)type->rank + 1;
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis >= rank)
        return VF_OK;
    VfDim *dims = VF_NEW_ARRAY(run->scratch, VfDim, (size_t)rank);
    VF_TRY_ALLOC(dims, run->err);
    for (int32_t i = 0, from = 0; i < rank; i++)
        dims[i] = i == axis ? length : type->dims[from++];
    out->rank = (int32_t)rank;
    out->dims = dims;
    return VF_OK;
}

/* --- Loop --- */

static VfStatus run_loop(VfInferRun *run, const VfNode *node, VfFact *out)
{
    Carried carried = {body_of(node, "body"), node->n_in - 2, 2, 1, NULL};
    if (!carried.body || carried.n < 0 || carried.body->n_input < 2 + carried.n ||
        carried.body->ret->n_in < 1 + carried.n)
        return vf_infer_run_bodies(run, node);
    VfFact turn = {.type = {VF_TYPE_TENSOR, VF_I64, 0, NULL}},
           go = {.type = {VF_TYPE_TENSOR, VF_BOOL, 0, NULL}};
    VfFact *first[2] = {&turn, &go};
    for (int32_t i = 0; i < 2; i++) {
        const VfType *declared = &carried.body->input[i]->type;
        if (declared->rank != 0) /* exporters also declare one element of rank 1 */
            first[i]->type.rank = VF_RANK_UNKNOWN;
        VF_TRY(vf_infer_run_set(run, carried.body->input[i], first[i]));
    }
    VF_TRY(start_carried(run, node, 2, &carried));
    VF_TRY(settle(run, node, &carried));
    for (int32_t i = 0; i < node->n_out; i++) {
        if (i < carried.n)
            out[i].type = carried.type[i];
        else
            VF_TRY(stack(run, output_fact(run, carried.body, i + 1), 0, vf_dim_unknown(),
                         &out[i].type));
    }
    return VF_OK;
}

/* --- Scan --- */

static int64_t axis_at(const VfNode *node, const char *name, int32_t i)
{
    int32_t n;
    const int64_t *axes = vf_node_ints(node, name, &n);
    return axes && i < n ? axes[i] : 0;
}

/* One slice of a scanned operand, and the number of slices. */
static VfStatus slice_type(VfInferRun *run, const VfType *type, int64_t axis, VfType *out,
                           VfDim *length)
{
    *out = (VfType){VF_TYPE_TENSOR, type->dtype, VF_RANK_UNKNOWN, NULL};
    if (type->kind != VF_TYPE_TENSOR || type->rank < 1)
        return VF_OK;
    axis = axis < 0 ? axis + type->rank : axis;
    if (axis < 0 || axis >= type->rank)
        return VF_OK;
    VfDim *dims = VF_NEW_ARRAY(run->scratch, VfDim, (size_t)type->rank);
    VF_TRY_ALLOC(dims, run->err);
    int32_t rank = 0;
    for (int32_t i = 0; i < type->rank; i++)
        if (i != axis)
            dims[rank++] = type->dims[i];
    *length = vf_infer_better_dim(*length, type->dims[axis]);
    *out = (VfType){VF_TYPE_TENSOR, type->dtype, rank, rank > 0 ? dims : NULL};
    return VF_OK;
}

static VfStatus run_scan(VfInferRun *run, const VfNode *node, VfFact *out)
{
    int64_t n_scan = vf_node_int(node, "num_scan_inputs");
    Carried carried = {body_of(node, "body"), 0, 0, 0, NULL};
    VfDim length = vf_dim_unknown();
    /* opset 8 has a batch axis and lengths as its first operand: its body's types are its own */
    if (!carried.body || n_scan < 0 || n_scan > node->n_in ||
        vf_graph_opset(node->graph, node->domain) < 9)
        return vf_infer_run_bodies(run, node);
    carried.n = node->n_in - (int32_t)n_scan;
    for (int32_t i = carried.n; i < node->n_in && i < carried.body->n_input; i++) {
        VfFact slice = unknown_fact;
        int64_t axis = axis_at(node, "scan_input_axes", i - carried.n);
        VF_TRY(slice_type(run, &operand_fact(run, node, i)->type, axis, &slice.type, &length));
        VF_TRY(vf_infer_run_set(run, carried.body->input[i], &slice));
    }
    VF_TRY(start_carried(run, node, 0, &carried));
    VF_TRY(settle(run, node, &carried));
    for (int32_t i = 0; i < node->n_out; i++) {
        int64_t axis = axis_at(node, "scan_output_axes", i - carried.n);
        if (i < carried.n)
            out[i].type = carried.type[i];
        else
            VF_TRY(stack(run, output_fact(run, carried.body, i), axis, length, &out[i].type));
    }
    return VF_OK;
}

/* --- bodies of whom nothing is known --- */

VfStatus vf_infer_run_bodies(VfInferRun *run, const VfNode *node)
{
    if (run->depth >= DEPTH_MAX)
        return VF_OK;
    for (const VfAttr *attr = node->first_attr; attr; attr = attr->next)
        if (attr->type == VF_ATTR_GRAPH && attr->graph && run->budget > 0)
            VF_TRY(visit(run, node, attr->graph));
    return VF_OK;
}

VfStatus vf_infer_run_control(VfInferRun *run, const VfNode *node, VfFact *out)
{
    if (run->depth >= DEPTH_MAX || run->budget <= 0)
        return VF_OK;
    switch (node->op) {
    case VF_OP_IF:
        return run_if(run, node, out);
    case VF_OP_LOOP:
        return run_loop(run, node, out);
    case VF_OP_SCAN:
        return run_scan(run, node, out);
    default:
        return vf_infer_run_bodies(run, node);
    }
}
