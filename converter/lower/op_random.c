/* Random numbers. A result is a function of the node's seed and of the place of the element alone,
 * so runs repeat; a node without a seed takes its own number, so that two nodes differ. */
#include "converter/lower/ops.h"

#include <stdio.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "runtime/kernels/random.h"

static int64_t seed_of(const VfNode *node)
{
    const VfAttr *attr = vf_node_attr(node, "seed");
    if (attr == NULL)
        return node->id;
    if (attr->type == VF_ATTR_INT)
        return vf_node_int(node, "seed");
    double number = vf_node_float(node, "seed");
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static VfStatus emit_random(VfLower *cx, VfkRandomParams p, VfLowValue *out, VfErr *err)
{
    p.n = (int64_t)out->count;
    VfLowEmit emit = {.op = "random", .dtype = out->dtype, .params = &p, .n_out = 1, .out = &out,
                      .units = p.n, .unit_cost = p.is_normal != 0 ? 30 : 2};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_low_random_like(VfLower *cx, const VfLowCall *call, const VfLowValue *like,
                            VfLowValue **out, VfErr *err)
{
    VfkRandomParams p = {.seed = seed_of(call->node), .scale = 1};
    VF_TRY(vf_low_new(cx, like->dtype, like->rank, like->dims, out, err));
    return emit_random(cx, p, *out, err);
}

/* RandomUniform and RandomNormal, with a shape or like an operand. arg: the two attributes. */
VfStatus vf_lower_random(VfLower *cx, VfLowCall *call, VfErr *err)
{
    char first[8] = "", second[8] = "";
    VfLowValue *out;
    sscanf(call->arg, "%7s %7s", first, second);
    VfkRandomParams p = {.seed = seed_of(call->node), .is_normal = strcmp(first, "mean") == 0,
                         .offset = vf_node_float(call->node, first),
                         .scale = vf_node_float(call->node, second)};
    if (p.is_normal == 0)
        p.scale -= p.offset;
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    return emit_random(cx, p, out, err);
}

/* 1 with the probability that the operand says. */
VfStatus vf_lower_bernoulli(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *u, *y;
    VF_TRY(vf_low_random_like(cx, call, call->in[0], &u, err));
    VF_TRY(vf_low_binary(cx, "less", u, call->in[0], &y, err));
    return vf_low_convert(cx, y, call->fact[0].type.dtype, 1, &call->out[0], err);
}
