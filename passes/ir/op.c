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

/* Rows of operand_since.def. */
static const struct {
    VfOp op;
    int32_t slot, since;
} operand_row[] = {
#define VF_OPERAND_SINCE(op, slot, since) {VF_OP_##op, slot, since},
#include "passes/ir/operand_since.def"
#undef VF_OPERAND_SINCE
};

int32_t vf_op_max_in(VfOp op, int64_t opset)
{
    for (size_t i = 0; i < sizeof operand_row / sizeof operand_row[0]; i++)
        if (operand_row[i].op == op && opset < operand_row[i].since)
            return operand_row[i].slot;
    return vf_op_info(op)->max_in;
}

bool vf_op_needs(VfOp op, int32_t slot)
{
    /* number of turns and condition of Loop, lengths of the Scan of opset 8 may be omitted */
    return op != VF_OP_LOOP && op != VF_OP_SCAN && slot < vf_op_info(op)->min_in;
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
