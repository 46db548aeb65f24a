/* Which operators hand a scale and shift on, and how. */
#include "passes/fold/walk.h"

/* The result tells nothing of the contents. */
static VfStatus shape_forward(VfFoldWalk *walk, VfNode *node, int32_t slot, const VfAffine *in,
                              VfErr *err)
{
    (void)walk, (void)node, (void)slot, (void)in, (void)err;
    return VF_OK;
}

#define ROW(op, any_slot, name)                                                                    \
    {VF_OP_##op, any_slot, vf_fold_##name##_forward, vf_fold_##name##_backward}

/* Operator, whether any operand may carry the map, rule. */
static const VfFoldRule table[] = {
    ROW(IDENTITY, false, view),
    ROW(RESHAPE, false, view),
    ROW(FLATTEN, false, view),
    ROW(SQUEEZE, false, view),
    ROW(UNSQUEEZE, false, view),
    ROW(DROPOUT, false, dropout),
    ROW(TRANSPOSE, false, transpose),
    ROW(EXPAND, false, expand),
    ROW(TILE, false, tile),
    ROW(SLICE, false, slice),
    ROW(GATHER, false, gather),
    ROW(SPLIT, false, split),
    ROW(CONCAT, true, concat),
    ROW(PAD, false, pad),
    ROW(REDUCE_MEAN, false, reduce),
    ROW(REDUCE_SUM, false, reduce),
    ROW(REDUCE_MAX, false, reduce),
    ROW(REDUCE_MIN, false, reduce),
    ROW(AVERAGE_POOL, false, pool),
    ROW(MAX_POOL, false, pool),
    ROW(GLOBAL_AVERAGE_POOL, false, pool),
    ROW(GLOBAL_MAX_POOL, false, pool),
    ROW(RESIZE, false, resize),
    ROW(ADD, true, add),
    ROW(SUB, true, add),
    ROW(MUL, true, scale),
    ROW(DIV, true, scale),
    ROW(MATMUL, true, matmul),
    ROW(GEMM, true, gemm),
    ROW(EINSUM, true, einsum),
    ROW(CONV, false, conv),
    ROW(CONV_TRANSPOSE, false, conv),
    {VF_OP_SHAPE, false, shape_forward, NULL},
    {VF_OP_SIZE, false, shape_forward, NULL},
};

const VfFoldRule *vf_fold_rule(VfOp op)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].op == op)
            return &table[i];
    }
    return NULL;
}
