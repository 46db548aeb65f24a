/* What a node must be by the operator documents, and need not be to be carried through: found by
 * `check` alone. */
#include "passes/ir/attr.h"
#include "passes/ir/attr_default.h"
#include "passes/ir/judge.h"
#include "passes/ir/verify_private.h"

#define LABEL(node) vf_node_label(node), (int)(node)->id

static bool begins_with(VfBytes text, const char *start)
{
    VfBytes s = vf_bytes(start);
    return text.size >= s.size && vf_bytes_is_equal((VfBytes){text.data, s.size}, s);
}

/* Exporters leave `consumed_inputs` of opset 1; names with two underscores are private. */
static VfStatus check_attr(VfVerify *v, const VfNode *node, const VfAttr *attr, int64_t opset)
{
    const VfAttrDefault *row = vf_attr_default_find(node->op, attr->name, opset);
    const char *op = vf_op_info(node->op)->name;
    if (attr->name.size == 0)
        return VF_OK; /* the reader says so */
    if (begins_with(attr->name, "__") || vf_bytes_is_equal(attr->name, vf_bytes("consumed_inputs")))
        return VF_OK;
    if (row == NULL)
        return vf_verify_fault(v, "node '%s' (#%d): %s has no attribute '%.*s'", LABEL(node), op,
                               (int)attr->name.size, attr->name.data);
    if (row->since > opset)
        return vf_verify_fault(v, "node '%s' (#%d): attribute '%s' of %s came with opset %d, the "
                               "model imports %lld",
                               LABEL(node), row->name, op, (int)row->since, (long long)opset);
    return VF_OK;
}

/* --- numbers of values --- */

static VfStatus check_constant(VfVerify *v, const VfNode *node)
{
    int n = 0;
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
        n++;
    return n == 1 ? VF_OK
                  : vf_verify_fault(v, "node '%s' (#%d): Constant has %d values, needs one",
                                    LABEL(node), n);
}

/* Those without a name stand for operands that the reader did not find. */
static int32_t count_inputs(const VfGraph *graph)
{
    int32_t n = 0;
    for (int32_t i = 0; i < graph->n_input; i++)
        n += graph->input[i]->name.size > 0;
    return n;
}

static VfStatus check_body(VfVerify *v, const VfNode *node, const char *name, int32_t n_in,
                           int32_t n_out)
{
    const VfAttr *attr = vf_node_attr(node, name);
    if (attr == NULL || attr->type != VF_ATTR_GRAPH || attr->graph == NULL)
        return VF_OK;
    int32_t has_in = count_inputs(attr->graph), has_out = attr->graph->ret->n_in;
    if (has_in != n_in)
        VF_TRY(vf_verify_fault(v, "node '%s' (#%d): graph '%s' has %d inputs, needs %d",
                               LABEL(node), name, (int)has_in, (int)n_in));
    if (has_out != n_out)
        VF_TRY(vf_verify_fault(v, "node '%s' (#%d): graph '%s' has %d outputs, needs %d",
                               LABEL(node), name, (int)has_out, (int)n_out));
    return VF_OK;
}

/* Scan had one more operand before opset 9. */
static VfStatus check_bodies(VfVerify *v, const VfNode *node, int64_t opset)
{
    switch (node->op) {
    case VF_OP_IF:
        VF_TRY(check_body(v, node, "then_branch", 0, node->n_out));
        return check_body(v, node, "else_branch", 0, node->n_out);
    case VF_OP_LOOP:
        return check_body(v, node, "body", node->n_in > 2 ? node->n_in : 2, 1 + node->n_out);
    case VF_OP_SCAN:
        return check_body(v, node, "body", node->n_in - (opset < 9), node->n_out);
    default:
        return VF_OK;
    }
}

/* --- all nodes --- */

static VfStatus check_node(VfVerify *v, const VfNode *node)
{
    int64_t opset = vf_graph_opset(node->graph, node->domain);
    if (node->domain.size > 0 || opset < 1 || opset > VF_OPSET_NEWEST ||
        vf_node_function(node) != NULL)
        return VF_OK;
    if (node->op_type.size == 0)
        return VF_OK; /* the reader says so */
    if (node->op == VF_OP_OTHER)
        return vf_verify_fault(v, "node '%s' (#%d): there is no operator %.*s", LABEL(node),
                               (int)node->op_type.size, node->op_type.data);
    VfVerifyAt at = {v, node};
    VF_TRY(vf_judge_ended(node, opset, vf_verify_note, &at));
    VF_TRY(vf_judge_words(node, opset, vf_verify_note, &at));
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
        VF_TRY(check_attr(v, node, attr, opset));
    if (node->op == VF_OP_CONSTANT)
        VF_TRY(check_constant(v, node));
    return check_bodies(v, node, opset);
}

VfStatus vf_verify_standard(VfArena *arena, const VfModel *model, VfFaults *faults, VfErr *err)
{
    VfVerify v = {.arena = arena, .model = model, .faults = faults, .err = err};
    *faults = (VfFaults){0, NULL};
    return vf_verify_each(&v, check_node);
}
