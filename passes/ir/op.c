#include "passes/ir/op.h"

#include <string.h>

/* In the order of the enum, which is that of ops.def: byte order of (domain, name) from FIRST on.
 */
static const VfOpInfo table[VF_OP_COUNT] = {
    {VF_OP_OTHER, "", "", 0, -1, 0, -1, 0, 0},
    {VF_OP_RETURN, "", "", 0, -1, 0, 0, 0, 0},
#define VF_OP(id, name, domain, min_in, max_in, min_out, max_out, flags, since) \
    {VF_OP_##id, name, domain, min_in, max_in, min_out, max_out, flags, since},
#include "passes/ir/ops.def"
#undef VF_OP
};

enum { FIRST = VF_OP_RETURN + 1 };

const VfOpInfo *vf_op_info(VfOp op)
{
    unsigned index = (unsigned)op;
    return &table[index < VF_OP_COUNT ? index : VF_OP_OTHER];
}

static const struct {
    VfOp op;
    int32_t since;
    VfArity arity;
} arity_row[] = {
#define VF_ARITY(op, since, min_in, max_in, min_out, max_out) \
    {VF_OP_##op, since, {min_in, max_in, min_out, max_out}},
#include "passes/ir/arity.def"
#undef VF_ARITY
};

VfArity vf_op_arity(VfOp op, int64_t opset)
{
    const VfOpInfo *info = vf_op_info(op);
    VfArity arity = {info->min_in, info->max_in, info->min_out, info->max_out};
    for (size_t i = 0; i < sizeof arity_row / sizeof arity_row[0] && arity_row[i].op <= op; i++)
        if (arity_row[i].op == op && arity_row[i].since <= opset)
            arity = arity_row[i].arity;
    return arity;
}

bool vf_op_needs(VfOp op, int64_t opset, int32_t slot)
{
    switch (op) {
    case VF_OP_LOOP: /* number of turns and condition */
    case VF_OP_SCAN: /* lengths, in opset 8 */
        return false;
    case VF_OP_RESIZE: /* the region of opset 11, which is not used in most modes */
        return slot < 1;
    default:
        return slot < vf_op_arity(op, opset).min_in;
    }
}

static int compare(VfBytes a, const char *b)
{
    size_t n = strlen(b);
    int order = a.size == 0 || n == 0 ? 0 : memcmp(a.data, b, a.size < n ? a.size : n);
    return order != 0 ? order : (a.size > n) - (a.size < n);
}

VfOp vf_op_find(VfBytes domain, VfBytes name)
{
    int low = FIRST, high = VF_OP_COUNT;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = compare(domain, table[middle].domain);
        if (order == 0)
            order = compare(name, table[middle].name);
        if (order == 0)
            return table[middle].op;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return VF_OP_OTHER;
}
