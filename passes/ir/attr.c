#include "passes/ir/attr.h"

#include <string.h>

#include "passes/ir/attr_default.h"
#include "passes/ir/graph_private.h"

const VfAttr *vf_node_attr(const VfNode *node, const char *name)
{
    VfBytes wanted = vf_bytes(name);
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (vf_bytes_is_equal(attr->name, wanted))
            return attr;
    }
    return NULL;
}

/* The attribute if the node has it with this type and a value of its own. */
static const VfAttr *find_typed(const VfNode *node, const char *name, VfAttrType type)
{
    const VfAttr *attr = vf_node_attr(node, name);
    return attr != NULL && attr->type == type && attr->ref.size == 0 ? attr : NULL;
}

static const VfAttrDefault *find_default(const VfNode *node, const char *name, VfAttrType type)
{
    int64_t opset = vf_graph_opset(node->graph, node->domain);
    const VfAttrDefault *row = vf_attr_default_find(node->op, vf_bytes(name), opset);
    return row != NULL && row->has_value && row->type == type ? row : NULL;
}

int64_t vf_node_int(const VfNode *node, const char *name)
{
    const VfAttr *attr = find_typed(node, name, VF_ATTR_INT);
    if (attr != NULL)
        return attr->i;
    const VfAttrDefault *row = find_default(node, name, VF_ATTR_INT);
    return row != NULL ? row->i : 0;
}

double vf_node_float(const VfNode *node, const char *name)
{
    const VfAttr *attr = find_typed(node, name, VF_ATTR_FLOAT);
    if (attr != NULL)
        return (double)attr->f;
    const VfAttrDefault *row = find_default(node, name, VF_ATTR_FLOAT);
    return row != NULL ? (double)row->f : 0.0;
}

VfBytes vf_node_string(const VfNode *node, const char *name)
{
    const VfAttr *attr = find_typed(node, name, VF_ATTR_STRING);
    if (attr != NULL)
        return attr->s;
    const VfAttrDefault *row = find_default(node, name, VF_ATTR_STRING);
    return row != NULL ? vf_bytes(row->s) : (VfBytes){"", 0};
}

const int64_t *vf_node_ints(const VfNode *node, const char *name, int32_t *n)
{
    static const int64_t none[1] = {0};
    const VfAttr *attr = find_typed(node, name, VF_ATTR_INTS);
    *n = attr != NULL ? attr->n : 0;
    if (attr == NULL)
        return NULL;
    return attr->ints != NULL ? attr->ints : none;
}

const float *vf_node_floats(const VfNode *node, const char *name, int32_t *n)
{
    static const float none[1] = {0};
    const VfAttr *attr = find_typed(node, name, VF_ATTR_FLOATS);
    *n = attr != NULL ? attr->n : 0;
    if (attr == NULL)
        return NULL;
    return attr->floats != NULL ? attr->floats : none;
}

static bool is_index_tensor(const VfTensor *tensor)
{
    return (tensor->dtype == VF_I64 || tensor->dtype == VF_I32) && tensor->rank <= 1 &&
           tensor->count <= INT32_MAX;
}

static const int64_t *read_operand(const VfNode *node, const VfTensor *tensor, int32_t *n)
{
    int64_t *values = VF_NEW_ARRAY(node->graph->model->arena, int64_t, tensor->count);
    if (values == NULL)
        return NULL;
    for (size_t i = 0; i < tensor->count; i++)
        values[i] = vf_tensor_get_i64(tensor, i);
    *n = (int32_t)tensor->count;
    return values;
}

const int64_t *vf_node_ints_or_operand(const VfNode *node, const char *name, int32_t slot,
                                       int32_t *n)
{
    const int64_t *values = vf_node_ints(node, name, n);
    const VfAttr *single = find_typed(node, name, VF_ATTR_INT);
    const VfValue *operand = vf_node_in(node, slot);
    if (values != NULL)
        return values;
    if (single != NULL) {
        *n = 1;
        return &single->i;
    }
    if (operand == NULL)
        return NULL;
    *n = VF_RANK_UNKNOWN;
    const VfTensor *tensor = vf_value_const(operand);
    return tensor != NULL && is_index_tensor(tensor) ? read_operand(node, tensor, n) : NULL;
}

/* --- construction --- */

static void append(VfNode *node, VfAttr *attr)
{
    VfAttr **end = &node->first_attr;
    while (*end != NULL)
        end = &(*end)->next;
    *end = attr;
}

/* The attribute `name`, emptied and of type `type`, made at the end if the node has none. */
static VfAttr *prepare(VfNode *node, const char *name, VfAttrType type)
{
    VfModel *model = node->graph->model;
    VfAttr *attr = node->first_attr;
    VfBytes wanted = vf_bytes(name);
    while (attr != NULL && !vf_bytes_is_equal(attr->name, wanted))
        attr = attr->next;
    if (attr == NULL) {
        attr = VF_NEW(model->arena, VfAttr);
        if (attr == NULL || vf_model_copy_bytes(model, wanted, &wanted, NULL) != VF_OK)
            return NULL;
        attr->name = wanted;
        append(node, attr);
    }
    *attr = (VfAttr){.name = attr->name, .type = type, .next = attr->next};
    return attr;
}

VfStatus vf_node_set_int(VfNode *node, const char *name, int64_t value, VfErr *err)
{
    VfAttr *attr = prepare(node, name, VF_ATTR_INT);
    VF_TRY_ALLOC(attr, err);
    attr->i = value;
    return VF_OK;
}

VfStatus vf_node_set_float(VfNode *node, const char *name, float value, VfErr *err)
{
    VfAttr *attr = prepare(node, name, VF_ATTR_FLOAT);
    VF_TRY_ALLOC(attr, err);
    attr->f = value;
    return VF_OK;
}

VfStatus vf_node_set_string(VfNode *node, const char *name, const char *value, VfErr *err)
{
    VfBytes copy;
    VF_TRY(vf_model_copy_bytes(node->graph->model, vf_bytes(value), &copy, err));
    VfAttr *attr = prepare(node, name, VF_ATTR_STRING);
    VF_TRY_ALLOC(attr, err);
    attr->s = copy;
    return VF_OK;
}

VfStatus vf_node_set_ints(VfNode *node, const char *name, int32_t n, const int64_t *values,
                          VfErr *err)
{
    int64_t *copy = VF_NEW_ARRAY(node->graph->model->arena, int64_t, (size_t)n);
    VF_TRY_ALLOC(copy, err);
    if (n > 0)
        memcpy(copy, values, (size_t)n * sizeof *copy);
    VfAttr *attr = prepare(node, name, VF_ATTR_INTS);
    VF_TRY_ALLOC(attr, err);
    attr->n = n;
    attr->ints = copy;
    return VF_OK;
}

VfStatus vf_node_set_tensor(VfNode *node, const char *name, const VfTensor *value, VfErr *err)
{
    VfAttr *attr = prepare(node, name, VF_ATTR_TENSOR);
    VF_TRY_ALLOC(attr, err);
    attr->tensor = value;
    return VF_OK;
}

VfStatus vf_node_add_attr(VfNode *node, const VfAttr *attr, VfErr *err)
{
    VfAttr *copy = VF_NEW(node->graph->model->arena, VfAttr);
    VF_TRY_ALLOC(copy, err);
    *copy = *attr;
    copy->next = NULL;
    append(node, copy);
    if (node->has_uses)
        vf_node_link_uses(node); /* those in a subgraph that came with it */
    return VF_OK;
}
