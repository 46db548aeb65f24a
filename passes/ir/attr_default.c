#include "passes/ir/attr_default.h"

#include <string.h>

static const VfAttrDefault row[] = {
#define VF_DEF_INT(op, name, since, value) \
    {VF_OP_##op, name, VF_ATTR_INT, since, true, false, value, 0, NULL},
#define VF_DEF_FLOAT(op, name, since, value) \
    {VF_OP_##op, name, VF_ATTR_FLOAT, since, true, false, 0, value, NULL},
#define VF_DEF_STRING(op, name, since, value) \
    {VF_OP_##op, name, VF_ATTR_STRING, since, true, false, 0, 0, value},
#define VF_DEF_NONE(op, name, since, type) \
    {VF_OP_##op, name, VF_ATTR_##type, since, false, false, 0, 0, NULL},
#define VF_DEF_NEED(op, name, since, type) \
    {VF_OP_##op, name, VF_ATTR_##type, since, false, true, 0, 0, NULL},
#include "passes/ir/attr_defaults.def"
#undef VF_DEF_INT
#undef VF_DEF_FLOAT
#undef VF_DEF_STRING
#undef VF_DEF_NONE
#undef VF_DEF_NEED
};

enum { N_ROW = sizeof row / sizeof row[0] };

/* The first row of `op` or of a later operator: rows are in the order of VfOp. */
static int first_of(VfOp op)
{
    int low = 0, high = N_ROW;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (row[middle].op < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const VfAttrDefault *vf_attr_default_find(VfOp op, VfBytes name, int64_t opset)
{
    const VfAttrDefault *found = NULL;
    for (int i = first_of(op); i < N_ROW && row[i].op == op; i++) {
        if (!vf_bytes_is_equal(name, vf_bytes(row[i].name)))
            continue;
        if (found == NULL || row[i].since <= opset)
            found = &row[i];
    }
    return found;
}

static bool has_attr(const VfNode *node, const char *name)
{
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
        if (vf_bytes_is_equal(attr->name, vf_bytes(name)))
            return true;
    return false;
}

const char *vf_attr_lacking(const VfNode *node, int64_t opset)
{
    for (int i = first_of(node->op); i < N_ROW && row[i].op == node->op; i++) {
        bool is_newest = i + 1 == N_ROW || row[i + 1].op != node->op ||
                         strcmp(row[i + 1].name, row[i].name) != 0 || row[i + 1].since > opset;
        if (row[i].is_needed && row[i].since <= opset && is_newest && !has_attr(node, row[i].name))
            return row[i].name;
    }
    return NULL;
}

bool vf_attr_says_default(const VfAttr *attr, const VfAttrDefault *held)
{
    if (!held->has_value || attr->ref.size > 0 || attr->type != held->type)
        return false;
    if (attr->type == VF_ATTR_INT)
        return attr->i == held->i;
    if (attr->type == VF_ATTR_FLOAT)
        return memcmp(&attr->f, &held->f, sizeof held->f) == 0;
    return attr->type == VF_ATTR_STRING && held->s != NULL &&
           vf_bytes_is_equal(attr->s, vf_bytes(held->s));
}
