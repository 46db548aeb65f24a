/* Contents of small integer tensors as symbolic numbers, and arithmetic on them. */
#include "passes/ir/infer_op.h"
#include "passes/ir/symbols.h"

static bool is_integer(VfDtype dtype)
{
    switch (dtype) {
    case VF_BOOL:
    case VF_U8:
    case VF_I8:
    case VF_U16:
    case VF_I16:
    case VF_I32:
    case VF_I64:
    case VF_U32:
    case VF_U64:
        return true;
    default:
        return false;
    }
}

bool vf_infer_has_content(const VfTensor *tensor)
{
    return tensor->rank <= 1 && tensor->count <= VF_CONTENT_MAX && is_integer(tensor->dtype);
}

const VfDim *vf_infer_content_of_tensor(VfArena *arena, const VfTensor *tensor, int32_t *n)
{
    VfDim *content = VF_NEW_ARRAY(arena, VfDim, tensor->count + 1);
    if (!content)
        return NULL;
    for (size_t i = 0; i < tensor->count; i++) {
        int64_t value = vf_tensor_get_i64(tensor, i);
        bool is_clamped = tensor->dtype == VF_U64 && value == INT64_MAX;
        content[i] = is_clamped ? vf_dim_unknown() : vf_dim(value);
    }
    *n = (int32_t)tensor->count;
    return content;
}

static const VfDim *from_tensor(const VfInferCx *cx, const VfTensor *tensor, int32_t *n)
{
    return vf_infer_has_content(tensor) ? vf_infer_content_of_tensor(cx->arena, tensor, n) : NULL;
}

/* Unknown elements, as many as the type says. */
static const VfDim *from_type(const VfInferCx *cx, const VfType *type, int32_t *n)
{
    if (type->kind != VF_TYPE_TENSOR || (type->rank != 0 && type->rank != 1))
        return NULL;
    if (type->dtype != VF_UNDEFINED && !is_integer(type->dtype))
        return NULL;
    VfDim length = type->rank == 0 ? vf_dim(1) : type->dims[0];
    if (!vf_dim_is_known(length) || length.k > VF_CONTENT_MAX)
        return NULL;
    *n = (int32_t)length.k;
    return vf_infer_new_dims(cx, *n);
}

const VfDim *vf_infer_content_of(const VfInferCx *cx, int32_t slot, int32_t *n)
{
    const VfFact *fact = vf_infer_in(cx, slot);
    *n = -1;
    if (!fact)
        return NULL;
    if (fact->content) {
        *n = fact->n_content;
        return fact->content;
    }
    return fact->tensor ? from_tensor(cx, fact->tensor, n) : from_type(cx, &fact->type, n);
}

static VfStatus ints_from_tensor(const VfInferCx *cx, const VfTensor *tensor, VfIntList *list)
{
    if (tensor->rank > 1 || !is_integer(tensor->dtype))
        return vf_infer_fail(cx, "a list of integers has rank %d and dtype %s", (int)tensor->rank,
                             vf_dtype_info(tensor->dtype)->name);
    if (tensor->count > INT32_MAX)
        return vf_infer_fail(cx, "a list of integers is too long");
    int64_t *value = VF_NEW_ARRAY(cx->arena, int64_t, tensor->count);
    VF_TRY_ALLOC(value, cx->err);
    for (size_t i = 0; i < tensor->count; i++)
        value[i] = vf_tensor_get_i64(tensor, i);
    list->is_known = true;
    list->n = (int32_t)tensor->count;
    list->value = value;
    return VF_OK;
}

static VfStatus ints_from_content(const VfInferCx *cx, int32_t slot, VfIntList *list)
{
    const VfDim *content = vf_infer_content_of(cx, slot, &list->n);
    if (!content)
        return VF_OK;
    int64_t *value = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)list->n);
    VF_TRY_ALLOC(value, cx->err);
    for (int32_t i = 0; i < list->n; i++) {
        if (!vf_dim_is_known(content[i]))
            return VF_OK;
        value[i] = content[i].k;
    }
    list->is_known = true;
    list->value = value;
    return VF_OK;
}

VfStatus vf_infer_ints(const VfInferCx *cx, const char *name, int32_t slot, VfIntList *list)
{
    *list = (VfIntList){.n = -1};
    const VfAttr *attr = name ? vf_node_attr(cx->node, name) : NULL;
    if (attr && attr->ref.size > 0) {
        list->is_there = true;
        return VF_OK;
    }
    if (attr && attr->type == VF_ATTR_INTS) {
        *list = (VfIntList){true, true, attr->n, attr->ints};
        return VF_OK;
    }
    const VfFact *fact = vf_infer_in(cx, slot);
    if (!fact)
        return VF_OK;
    list->is_there = true;
    return fact->tensor ? ints_from_tensor(cx, fact->tensor, list)
                        : ints_from_content(cx, slot, list);
}

bool vf_infer_int_of(const VfInferCx *cx, int32_t slot, int64_t *value)
{
    int32_t n;
    const VfDim *content = vf_infer_content_of(cx, slot, &n);
    if (!content || n != 1 || !vf_dim_is_known(content[0]))
        return false;
    *value = content[0].k;
    return true;
}

/* --- elementwise arithmetic --- */

typedef VfDim Combine(VfSymbols *symbols, VfDim a, VfDim b);

static bool are_known(VfDim a, VfDim b)
{
    return vf_dim_is_known(a) && vf_dim_is_known(b);
}

static VfDim divide(VfSymbols *symbols, VfDim a, VfDim b)
{
    if (vf_dim_is(b, 0))
        return vf_dim_unknown();
    if (are_known(a, b)) /* ONNX divides integers as C does, towards zero */
        return a.k == INT64_MIN && b.k == -1 ? vf_dim_unknown() : vf_dim(a.k / b.k);
    return a.k < 0 || b.k < 0 ? vf_dim_unknown() : vf_dim_div(symbols, a, b);
}

static VfDim modulo(VfSymbols *symbols, VfDim a, VfDim b)
{
    if (vf_dim_is(b, 0) || vf_dim_is(b, -1))
        return vf_dim_is(b, -1) ? vf_dim(0) : vf_dim_unknown();
    if (are_known(a, b)) {
        int64_t rest = a.k % b.k;
        return vf_dim(rest != 0 && (rest < 0) != (b.k < 0) ? rest + b.k : rest);
    }
    if (vf_dim_is_known(b) && a.k % b.k == 0)
        return a.sym == VF_SYM_UNKNOWN ? a : vf_dim(0);
    if (a.k < 0 || b.k < 0)
        return vf_dim_unknown();
    return vf_dim_sub(symbols, a, vf_dim_mul(symbols, b, vf_dim_div(symbols, a, b)));
}

static VfDim truth(bool known, bool value)
{
    return known ? vf_dim(value) : vf_dim_unknown();
}

/* Names of files stand for lengths; a sum may have negative terms. */
static bool is_never_negative(const VfSymbols *symbols, VfDim d)
{
    if (d.k < 0 || d.sym == VF_SYM_UNKNOWN)
        return false;
    const VfSymbol *symbol = vf_symbol_get(symbols, d.sym);
    for (int32_t i = 0; i < symbol->n; i++)
        if (symbol->kind == VF_SYMBOL_SUM && symbol->term[i].k < 0)
            return false;
    return symbol->kind == VF_SYMBOL_NAME || symbol->kind == VF_SYMBOL_SUM ||
           is_never_negative(symbols, symbol->term[0]);
}

static VfDim equal(VfSymbols *symbols, VfDim a, VfDim b)
{
    if (are_known(a, b))
        return vf_dim(a.k == b.k);
    if (vf_dim_is_same(a, b))
        return vf_dim(1);
    VfDim number = vf_dim_is_known(a) ? a : b, other = vf_dim_is_known(a) ? b : a;
    bool differ = vf_dim_is_known(number) && number.k < 0 && is_never_negative(symbols, other);
    return truth(differ, false);
}

static VfDim less(VfSymbols *symbols, VfDim a, VfDim b)
{
    (void)symbols;
    return truth(are_known(a, b) || vf_dim_is_same(a, b), are_known(a, b) && a.k < b.k);
}

static VfDim less_equal(VfSymbols *symbols, VfDim a, VfDim b)
{
    (void)symbols;
    return truth(are_known(a, b) || vf_dim_is_same(a, b), !are_known(a, b) || a.k <= b.k);
}

static VfDim greater(VfSymbols *symbols, VfDim a, VfDim b)
{
    return less(symbols, b, a);
}

static VfDim greater_equal(VfSymbols *symbols, VfDim a, VfDim b)
{
    return less_equal(symbols, b, a);
}

static VfDim smaller(VfSymbols *symbols, VfDim a, VfDim b)
{
    (void)symbols;
    if (are_known(a, b))
        return a.k < b.k ? a : b;
    return vf_dim_is_same(a, b) ? a : vf_dim_unknown();
}

static VfDim larger(VfSymbols *symbols, VfDim a, VfDim b)
{
    (void)symbols;
    if (are_known(a, b))
        return a.k > b.k ? a : b;
    return vf_dim_is_same(a, b) ? a : vf_dim_unknown();
}

static VfDim both(VfSymbols *symbols, VfDim a, VfDim b)
{
    (void)symbols;
    bool is_false = vf_dim_is(a, 0) || vf_dim_is(b, 0);
    return truth(is_false || are_known(a, b), !is_false);
}

static VfDim either(VfSymbols *symbols, VfDim a, VfDim b)
{
    (void)symbols;
    bool is_true = vf_dim_is(a, 1) || vf_dim_is(b, 1);
    return truth(is_true || are_known(a, b), is_true);
}

static VfDim power(VfSymbols *symbols, VfDim a, VfDim b)
{
    VfDim result = vf_dim(1);
    if (!vf_dim_is_known(b) || b.k < 0 || b.k > 16)
        return vf_dim_unknown();
    for (int64_t i = 0; i < b.k; i++)
        result = vf_dim_mul(symbols, result, a);
    return result;
}

static const struct {
    VfOp op;
    Combine *combine;
} binary[] = {
    {VF_OP_ADD, vf_dim_add},  {VF_OP_SUB, vf_dim_sub},
    {VF_OP_MUL, vf_dim_mul},  {VF_OP_DIV, divide},
    {VF_OP_MOD, modulo},      {VF_OP_MIN, smaller},
    {VF_OP_MAX, larger},      {VF_OP_EQUAL, equal},
    {VF_OP_LESS, less},       {VF_OP_LESS_OR_EQUAL, less_equal},
    {VF_OP_GREATER, greater}, {VF_OP_GREATER_OR_EQUAL, greater_equal},
    {VF_OP_AND, both},        {VF_OP_OR, either},
    {VF_OP_POW, power},       {VF_OP_SUM, vf_dim_add},
};

static Combine *find_binary(VfOp op)
{
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++)
        if (binary[i].op == op)
            return binary[i].combine;
    return NULL;
}

/* Number of elements of result 0, or -1 if it can hold no content. */
static int32_t result_length(const VfInferCx *cx)
{
    const VfType *type = &cx->out[0].type;
    if (!is_integer(type->dtype) || (type->rank != 0 && type->rank != 1))
        return -1;
    VfDim length = type->rank == 0 ? vf_dim(1) : type->dims[0];
    return vf_dim_is_known(length) && length.k <= VF_CONTENT_MAX ? (int32_t)length.k : -1;
}

static VfDim element(const VfDim *content, int32_t n, int32_t i)
{
    return n == 1 ? content[0] : i < n ? content[i] : vf_dim_unknown();
}

static VfStatus combine_all(const VfInferCx *cx, Combine *combine, int32_t length)
{
    VfDim *result = vf_infer_new_dims(cx, length);
    VF_TRY_ALLOC(result, cx->err);
    for (int32_t slot = 0; slot < cx->n_in; slot++) {
        int32_t n;
        const VfDim *content = vf_infer_content_of(cx, slot, &n);
        if (!content)
            return VF_OK;
        for (int32_t i = 0; i < length; i++) {
            VfDim e = element(content, n, i);
            result[i] = slot == 0 ? e : combine(cx->symbols, result[i], e);
        }
    }
    vf_infer_set_content(cx, 0, length, result);
    return VF_OK;
}

static VfStatus select_content(const VfInferCx *cx, int32_t length)
{
    int32_t n[3];
    const VfDim *content[3];
    for (int32_t slot = 0; slot < 3; slot++) {
        content[slot] = vf_infer_content_of(cx, slot, &n[slot]);
        if (!content[slot])
            return VF_OK;
    }
    VfDim *result = vf_infer_new_dims(cx, length);
    VF_TRY_ALLOC(result, cx->err);
    for (int32_t i = 0; i < length; i++) {
        VfDim condition = element(content[0], n[0], i);
        VfDim yes = element(content[1], n[1], i), no = element(content[2], n[2], i);
        if (vf_dim_is_known(condition))
            result[i] = condition.k != 0 ? yes : no;
        else if (vf_dim_is_same(yes, no))
            result[i] = yes;
    }
    vf_infer_set_content(cx, 0, length, result);
    return VF_OK;
}

/* Narrow dtypes wrap; that is left to the kernels. */
static VfDim cast_result(VfDtype to, VfDim a)
{
    if (to == VF_BOOL)
        return vf_dim_is_known(a) ? vf_dim(a.k != 0) : vf_dim_unknown();
    uint8_t bits = vf_dtype_info(to)->bits;
    bool fits = bits == 64 || !vf_dim_is_known(a) ||
                (bits == 32 && a.k >= 0 ? a.k <= INT32_MAX : bits == 32 && a.k >= INT32_MIN);
    return fits || (a.k >= 0 && a.k < 128) ? a : vf_dim_unknown();
}

static VfDim unary_result(const VfInferCx *cx, VfDim a)
{
    switch (cx->node->op) {
    case VF_OP_NEG:
        return a.sym == VF_SYM_UNKNOWN || a.k == INT64_MIN ? vf_dim_unknown()
                                                           : (VfDim){-a.k, a.sym};
    case VF_OP_NOT:
        return vf_dim_is_known(a) ? vf_dim(a.k == 0) : a;
    case VF_OP_ABS:
        return vf_dim_is_known(a) && a.k < 0 && a.k != INT64_MIN ? vf_dim(-a.k) : a;
    case VF_OP_CAST:
        return cast_result(cx->out[0].type.dtype, a);
    default:
        return a;
    }
}

/* What a float constant becomes as an integer: truncated. */
static const VfDim *truncated(const VfInferCx *cx, int32_t *n)
{
    const VfFact *fact = vf_infer_in(cx, 0);
    const VfTensor *tensor = fact ? fact->tensor : NULL;
    if (!tensor || tensor->rank > 1 || tensor->count > VF_CONTENT_MAX ||
        !vf_dtype_info(tensor->dtype)->is_float || cx->out[0].type.dtype == VF_BOOL)
        return NULL;
    VfDim *content = vf_infer_new_dims(cx, (int32_t)tensor->count);
    for (size_t i = 0; content && i < tensor->count; i++)
        content[i] = vf_dim(vf_tensor_get_i64(tensor, i));
    *n = (int32_t)tensor->count;
    return content;
}

static VfStatus unary_content(const VfInferCx *cx, int32_t length)
{
    int32_t n;
    const VfDim *content = vf_infer_content_of(cx, 0, &n);
    if (!content && cx->node->op == VF_OP_CAST)
        content = truncated(cx, &n);
    if (!content || n != length)
        return VF_OK;
    VfDim *result = vf_infer_new_dims(cx, length);
    VF_TRY_ALLOC(result, cx->err);
    for (int32_t i = 0; i < length; i++)
        result[i] = unary_result(cx, content[i]);
    vf_infer_set_content(cx, 0, length, result);
    return VF_OK;
}

/* Truth values are not reckoned with; lowering refuses them. */
static bool takes_operand(const VfInferCx *cx)
{
    static const VfOp logic[] = {VF_OP_AND,   VF_OP_OR,       VF_OP_NOT, VF_OP_EQUAL,
                                 VF_OP_WHERE, VF_OP_IDENTITY, VF_OP_CAST};
    for (size_t i = 0; i < sizeof logic / sizeof logic[0]; i++)
        if (logic[i] == cx->node->op)
            return true;
    return vf_infer_dtype_of(cx, 0) != VF_BOOL;
}

VfStatus vf_infer_elementwise_content(const VfInferCx *cx)
{
    int32_t length = result_length(cx);
    if (length < 0 || !takes_operand(cx))
        return VF_OK;
    VfOp op = cx->node->op;
    if (op == VF_OP_MOD && vf_node_int(cx->node, "fmod") != 0)
        return VF_OK;
    Combine *combine = find_binary(op);
    if (combine)
        return combine_all(cx, combine, length);
    if (op == VF_OP_WHERE)
        return select_content(cx, length);
    if (op == VF_OP_NEG || op == VF_OP_NOT || op == VF_OP_ABS || op == VF_OP_IDENTITY ||
        op == VF_OP_CAST)
        return unary_content(cx, length);
    return VF_OK;
}
