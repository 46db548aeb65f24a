#include "passes/ir/infer.h"

#include "passes/ir/infer_op.h"
#include "runtime/kernels/number.h"

static VfInferFn *const table[VF_OP_COUNT] = {
#define VF_INFER(op, function) [VF_OP_##op] = function,
#include "passes/ir/infer_table.def"
#undef VF_INFER
};

/* NULL for operators without a function. */
static VfInferFn *find_function(VfOp op)
{
    return op >= 0 && op < VF_OP_COUNT ? table[op] : NULL;
}

VfFact vf_value_fact(const VfValue *value)
{
    return (VfFact){value->type, vf_value_const(value), value->content, value->n_content};
}

VfStatus vf_infer_number_tensor(VfArena *arena, const VfFact *fact, const VfTensor **out,
                                VfErr *err)
{
    const VfType *type = &fact->type;
    *out = NULL;
    if (!fact->content || type->kind != VF_TYPE_TENSOR || (type->rank != 0 && type->rank != 1) ||
        type->dtype == VF_UNDEFINED)
        return VF_OK;
    for (int32_t i = 0; i < fact->n_content; i++)
        if (!vf_dim_is_known(fact->content[i]))
            return VF_OK;
    VfTensor *tensor;
    void *data;
    const int64_t dims[1] = {fact->n_content};
    VF_TRY(vf_tensor_new(arena, type->dtype, type->rank, dims, &tensor, &data, err));
    for (int32_t i = 0; i < fact->n_content; i++)
        vf_number_put_bits(data, type->dtype, (size_t)i, (uint64_t)fact->content[i].k);
    *out = tensor;
    return VF_OK;
}

/* Contents are integers of 64 bits: one that the dtype cannot hold would wrap, or be clamped, or is
 * of an operand that the operator does not take; that is left to the kernels. So is what depends on
 * a symbol where the dtype is narrower than the sizes of tensors. */
static bool is_held(VfDtype dtype, VfDim element)
{
    static const struct {
        VfDtype dtype;
        int64_t least, most;
    } range[] = {{VF_I64, INT64_MIN, INT64_MAX}, {VF_I32, INT32_MIN, INT32_MAX},
                 {VF_U64, 0, INT64_MAX - 1},     {VF_U32, 0, UINT32_MAX},
                 {VF_I16, INT16_MIN, INT16_MAX}, {VF_U16, 0, UINT16_MAX},
                 {VF_I8, INT8_MIN, INT8_MAX},    {VF_U8, 0, UINT8_MAX},
                 {VF_BOOL, 0, 1}};
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++)
        if (range[i].dtype == dtype)
            return vf_dim_is_known(element)
                       ? element.k >= range[i].least && element.k <= range[i].most
                       : dtype == VF_I64 || dtype == VF_I32;
    return dtype == VF_UNDEFINED;
}

static VfStatus drop_what_is_not_held(const VfInferCx *cx, VfFact *fact)
{
    int32_t n_held = 0;
    while (n_held < fact->n_content && is_held(fact->type.dtype, fact->content[n_held]))
        n_held++;
    if (n_held == fact->n_content)
        return VF_OK;
    VfDim *content = vf_infer_copy_dims(cx, fact->n_content, fact->content);
    VF_TRY_ALLOC(content, cx->err);
    for (int32_t i = n_held; i < fact->n_content; i++)
        if (!is_held(fact->type.dtype, content[i]))
            content[i] = vf_dim_unknown();
    fact->content = content;
    return VF_OK;
}

/* A view of a constant is a constant. */
static VfStatus view_tensor(const VfInferCx *cx, VfFact *fact)
{
    const VfFact *from = vf_infer_in(cx, 0);
    if (!vf_op_has(cx->node->op, VF_OPF_VIEW) || !from || !from->tensor ||
        from->tensor->dtype == VF_STRING || fact->type.kind != VF_TYPE_TENSOR ||
        !vf_type_is_static(&fact->type))
        return VF_OK;
    int64_t *dims = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)fact->type.rank);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; i < fact->type.rank; i++)
        dims[i] = fact->type.dims[i].k;
    fact->tensor = vf_tensor_view(cx->arena, from->tensor, fact->type.rank, dims);
    return VF_OK;
}

static VfStatus finish(const VfInferCx *cx)
{
    for (int32_t i = 0; i < cx->n_out; i++) {
        VfFact *fact = &cx->out[i];
        if (fact->content)
            VF_TRY(drop_what_is_not_held(cx, fact));
        /* a tensor too, so that callers with static shapes need only look at that */
        if (!fact->tensor)
            VF_TRY(vf_infer_number_tensor(cx->arena, fact, &fact->tensor, cx->err));
        if (!fact->tensor && i == 0)
            VF_TRY(view_tensor(cx, fact));
    }
    return VF_OK;
}

/* A sequence where the operator takes tensors. */
static VfStatus check_kinds(const VfInferCx *cx)
{
    if (vf_op_has(cx->node->op, VF_OPF_ANY_KIND))
        return VF_OK;
    for (int32_t i = 0; i < cx->n_in; i++) {
        const VfFact *fact = cx->in[i];
        bool is_tensor = fact == NULL || fact->type.kind == VF_TYPE_TENSOR ||
                         fact->type.kind == VF_TYPE_OTHER;
        if (!is_tensor)
            return vf_infer_fail(cx, "operand %d is %s, no tensor", (int)i,
                                 fact->type.kind == VF_TYPE_SEQUENCE ? "a sequence"
                                                                     : "an optional");
    }
    return VF_OK;
}

VfStatus vf_infer_node(VfArena *arena, VfSymbols *symbols, const VfNode *node,
                       const VfFact *const *in, VfFact *out, VfErr *err)
{
    VfInferFn *function = find_function(node->op);
    VfInferCx cx = {.arena = arena,
                    .symbols = symbols,
                    .node = node,
                    .n_in = node->n_in,
                    .n_out = node->n_out,
                    .in = in,
                    .out = out,
                    .err = err};
    for (int32_t i = 0; i < node->n_out; i++)
        out[i] = (VfFact){.type = {VF_TYPE_TENSOR, VF_UNDEFINED, VF_RANK_UNKNOWN, NULL}};
    cx.opset = vf_graph_opset(node->graph, node->domain);
    if (function)
        VF_TRY(check_kinds(&cx));
    VF_TRY(vf_infer_check_dtypes(&cx));
    if (!function)
        return VF_OK;
    VF_TRY(function(&cx));
    return finish(&cx);
}
