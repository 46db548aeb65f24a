#include "passes/ir/judge.h"
#include "passes/ir/verify_private.h"

#define LABEL(node) vf_node_label(node), (int)(node)->id

bool vf_tensor_is_consistent(const VfTensor *tensor)
{
    size_t count;
    return tensor->dtype > VF_UNDEFINED && tensor->dtype < VF_DTYPE_COUNT &&
           vf_dims_count(tensor->rank, tensor->dims, &count, NULL) == VF_OK &&
           count == tensor->count && vf_dtype_bytes(tensor->dtype, count) == tensor->bytes &&
           (count == 0 || tensor->data != NULL);
}

VfStatus vf_verify_tensor(VfVerify *v, const VfTensor *tensor, const char *what)
{
    size_t count;
    if (tensor->dtype <= VF_UNDEFINED || tensor->dtype >= VF_DTYPE_COUNT)
        return vf_verify_fault(v, "data of '%s' is of unknown dtype %d", what, (int)tensor->dtype);
    if (vf_dims_count(tensor->rank, tensor->dims, &count, NULL) != VF_OK || count != tensor->count)
        return vf_verify_fault(v, "data of '%s' counts %zu elements, which its shape does not",
                               what, tensor->count);
    if (vf_dtype_bytes(tensor->dtype, count) != tensor->bytes)
        return vf_verify_fault(v, "data of '%s' has %zu bytes, which its shape does not need", what,
                               tensor->bytes);
    if (count > 0 && tensor->data == NULL)
        return vf_verify_fault(v, "data of '%s' is missing", what);
    return VF_OK;
}

/* --- operator --- */

static VfStatus check_row(VfVerify *v, const VfNode *node, int64_t opset)
{
    const VfOpInfo *info = vf_op_info(node->op);
    if (!vf_bytes_is_equal(node->op_type, vf_bytes(info->name)) ||
        !vf_bytes_is_equal(node->domain, vf_bytes(info->domain)))
        return vf_verify_fault(v, "node '%s' (#%d): operator %.*s is recorded as another",
                               LABEL(node), (int)node->op_type.size, node->op_type.data);
    if (opset > 0 && opset < info->since && !vf_op_has(node->op, VF_OPF_EARLY))
        return vf_verify_fault(v, "node '%s' (#%d): %s needs opset %d, the model imports %lld",
                               LABEL(node), info->name, (int)info->since, (long long)opset);
    return VF_OK;
}

static VfStatus check_operator(VfVerify *v, const VfNode *node)
{
    int64_t opset = vf_graph_opset(node->graph, node->domain);
    const VfFunction *function = vf_node_function(node);
    if (opset == 0 && function == NULL && !v->nodes_only)
        VF_TRY(vf_verify_fault(v, "node '%s' (#%d): domain '%.*s' of %.*s is not imported",
                               LABEL(node), (int)node->domain.size, node->domain.data,
                               (int)node->op_type.size, node->op_type.data));
    return node->op == VF_OP_OTHER ? VF_OK : check_row(v, node, opset);
}

/* --- attributes --- */

static VfStatus check_attr_name(VfVerify *v, const VfNode *node, const VfAttr *attr)
{
    int32_t id;
    VF_TRY(vf_intern_add(v->attr_name, attr->name, &id, v->err));
    VF_TRY(vf_arena_grow(v->arena, (void **)&v->attr_owner, &v->attr_capacity, (size_t)id + 1,
                         sizeof *v->attr_owner, v->err));
    bool is_twice = v->attr_owner[id] == node->id + 1;
    v->attr_owner[id] = node->id + 1;
    if (is_twice)
        return vf_verify_fault(v, "node '%s' (#%d): attribute '%s' is given twice", LABEL(node),
                               vf_intern_get(v->attr_name, id).data);
    return VF_OK;
}

static bool has_payload(const VfAttr *attr)
{
    switch (attr->type) {
    case VF_ATTR_TENSOR:
        return attr->tensor != NULL;
    case VF_ATTR_GRAPH:
        return attr->graph != NULL;
    case VF_ATTR_FLOATS:
        return attr->n == 0 || (attr->n > 0 && attr->floats != NULL);
    case VF_ATTR_INTS:
        return attr->n == 0 || (attr->n > 0 && attr->ints != NULL);
    case VF_ATTR_STRINGS:
        return attr->n == 0 || (attr->n > 0 && attr->strings != NULL);
    case VF_ATTR_TENSORS:
        return attr->n == 0 || (attr->n > 0 && attr->tensors != NULL);
    case VF_ATTR_GRAPHS:
        return attr->n == 0 || (attr->n > 0 && attr->graphs != NULL);
    default:
        return true;
    }
}

static VfStatus check_attr_tensors(VfVerify *v, const VfAttr *attr)
{
    if (attr->type != VF_ATTR_TENSOR && attr->type != VF_ATTR_TENSORS)
        return VF_OK;
    const char *name = vf_arena_copy(v->arena, attr->name.data, attr->name.size);
    VF_TRY_ALLOC(name, v->err);
    if (attr->type == VF_ATTR_TENSOR)
        return vf_verify_tensor(v, attr->tensor, name);
    for (int32_t i = 0; attr->type == VF_ATTR_TENSORS && i < attr->n; i++)
        VF_TRY(vf_verify_tensor(v, attr->tensors[i], name));
    return VF_OK;
}

/* The type is judged with the node. */
static VfStatus check_attr(VfVerify *v, const VfNode *node, const VfAttr *attr)
{
    if (!v->nodes_only)
        VF_TRY(check_attr_name(v, node, attr));
    if (attr->ref.size != 0)
        return VF_OK;
    if (!has_payload(attr))
        return vf_verify_fault(v, "node '%s' (#%d): attribute '%.*s' has no value", LABEL(node),
                               (int)attr->name.size, attr->name.data);
    return check_attr_tensors(v, attr);
}

VfStatus vf_verify_node(VfVerify *v, const VfNode *node)
{
    int64_t opset = vf_graph_opset(node->graph, node->domain);
    VF_TRY(check_operator(v, node));
    VF_TRY(vf_judge_form(node, opset, vf_verify_note, &(VfVerifyAt){v, node}));
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
        VF_TRY(check_attr(v, node, attr));
    return VF_OK;
}
