/* Chains of the same kind that become one node. */
#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/normalize/rule.h"

/* The node that makes operand 0, if nothing else reads its result and it is of the same graph. */
static VfNode *only_before(const VfNode *node)
{
    VfValue *x = vf_node_in(node, 0);
    if (x == NULL || x->kind != VF_VALUE_RESULT || x->graph != node->graph)
        return NULL;
    return vf_value_single_user(x) == node ? x->def : NULL;
}

/* --- Transpose --- */

VfStatus vf_normalize_merge_transposes(VfPassCx *cx, VfNode *node, const char *rule, VfErr *err)
{
    int32_t last[VF_AXIS_MAX], first[VF_AXIS_MAX];
    int64_t perm[VF_AXIS_MAX];
    const VfNode *before = only_before(node);
    if (before == NULL || before->op != VF_OP_TRANSPOSE)
        return VF_OK;
    int32_t rank = vf_transpose_perm(node, last);
    if (rank < 0 || vf_transpose_perm(before, first) != rank)
        return VF_OK;
    for (int32_t i = 0; i < rank; i++)
        perm[i] = first[last[i]];
    VfRewrite *rw = vf_normalize_begin(cx, node, rule);
    VF_TRY_ALLOC(rw, err);
    VfValue *y = vf_rewrite_transpose(rw, vf_node_in(before, 0), rank, perm);
    vf_rewrite_replace(rw, node->out[0], y);
    return vf_rewrite_commit(rw, err);
}

/* --- Reshape --- */

/* The shape of `to` as a target of Reshape from `from`: numbers, 0 where an axis keeps its length,
 * and -1 once. False when that cannot say it. A length of 0 would be read as "keep". */
static bool plain_target(const VfType *from, const VfType *to, int64_t *target)
{
    bool has_open = false;
    if (to->kind != VF_TYPE_TENSOR || to->rank < 0 || to->rank > VF_AXIS_MAX)
        return false;
    for (int32_t i = 0; i < to->rank; i++) {
        VfDim d = to->dims[i];
        bool is_kept = from->rank > i && vf_dim_is_same(from->dims[i], d);
        if (vf_dim_is(d, 0))
            return false;
        if (!vf_dim_is_known(d) && !is_kept && has_open)
            return false;
        target[i] = vf_dim_is_known(d) ? d.k : is_kept ? 0 : -1;
        has_open = has_open || target[i] == -1;
    }
    return true;
}

static VfStatus reshape_from(VfPassCx *cx, VfNode *node, VfValue *x, const char *rule, VfErr *err)
{
    int64_t target[VF_AXIS_MAX];
    const VfType *to = &node->out[0]->type;
    if (!plain_target(&x->type, to, target))
        return VF_OK;
    VfRewrite *rw = vf_normalize_begin(cx, node, rule);
    VF_TRY_ALLOC(rw, err);
    VfValue *y = vf_rewrite_reshape(rw, x, to->rank, target);
    vf_rewrite_replace(rw, node->out[0], y);
    return vf_rewrite_commit(rw, err);
}

/* A target computed at run time although the shapes are known. */
VfStatus vf_normalize_reshape_target(VfPassCx *cx, VfNode *node, const char *rule, VfErr *err)
{
    VfValue *x = vf_node_in(node, 0);
    const VfValue *target = vf_node_in(node, 1);
    if (x == NULL || target == NULL || target->kind == VF_VALUE_CONST)
        return VF_OK;
    return reshape_from(cx, node, x, rule, err);
}

VfStatus vf_normalize_merge_reshapes(VfPassCx *cx, VfNode *node, const char *rule, VfErr *err)
{
    const VfNode *before = only_before(node);
    bool is_view = before != NULL && (before->op == VF_OP_RESHAPE || before->op == VF_OP_FLATTEN ||
                                      before->op == VF_OP_SQUEEZE || before->op == VF_OP_UNSQUEEZE);
    return is_view ? reshape_from(cx, node, vf_node_in(before, 0), rule, err) : VF_OK;
}

/* --- Cast --- */

/* Digits of precision and largest exponent of a dtype, enough to say which holds which. */
typedef struct Range {
    VfDtype dtype;
    int16_t digits;   /* bits of the significand, or of the magnitude of an integer */
    int16_t exponent; /* numbers below 2^exponent */
    int16_t lowest;   /* smallest power of two held, also as a subnormal */
    bool is_signed;
} Range;

static const Range range[] = {
    {VF_F32, 24, 128, -149, true}, {VF_F64, 53, 1024, -1074, true}, {VF_F16, 11, 16, -24, true},
    {VF_BF16, 8, 128, -133, true}, {VF_BOOL, 1, 1, 0, false},       {VF_U8, 8, 8, 0, false},
    {VF_I8, 7, 7, 0, true},        {VF_U16, 16, 16, 0, false},      {VF_I16, 15, 15, 0, true},
    {VF_U32, 32, 32, 0, false},    {VF_I32, 31, 31, 0, true},       {VF_U64, 64, 64, 0, false},
    {VF_I64, 63, 63, 0, true},
};

static const Range *find_range(VfDtype dtype)
{
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++)
        if (range[i].dtype == dtype)
            return &range[i];
    return NULL;
}

static bool is_float(VfDtype dtype)
{
    return vf_dtype_info(dtype)->is_float != 0;
}

/* Does every number of `a` exist in `b`? Floats have infinities and NaN too, which integers have
 * not; the lowest number of a signed integer is a power of two, so digits and exponent settle it.
 */
static bool holds_all(VfDtype a, VfDtype b)
{
    const Range *x = find_range(a), *y = find_range(b);
    if (x == NULL || y == NULL || (is_float(a) && !is_float(b)) || (x->is_signed && !y->is_signed))
        return false;
    bool is_exponent_in = x->exponent <= y->exponent && (is_float(b) || x->digits <= y->digits);
    return is_exponent_in && x->digits <= y->digits && x->lowest >= y->lowest;
}

/* Integers that do not fit another integer lose their upper bits; on the detour through a float
 * they do not: ONNX leaves open what becomes of them. */
static bool wraps_only_directly(VfDtype x, VfDtype middle, VfDtype to)
{
    return !is_float(x) && is_float(middle) && !is_float(to) && to != VF_BOOL && !holds_all(x, to);
}

/* A detour through a wider dtype changes nothing. */
VfStatus vf_normalize_merge_casts(VfPassCx *cx, VfNode *node, const char *rule, VfErr *err)
{
    VfValue *middle = vf_node_in(node, 0);
    const VfNode *before = vf_def_if(middle, VF_OP_CAST);
    VfValue *x = before != NULL ? vf_node_in(before, 0) : NULL;
    int64_t to = vf_node_int(node, "to");
    if (x == NULL || to <= 0 || to >= VF_DTYPE_COUNT || find_range((VfDtype)to) == NULL ||
        !holds_all(x->type.dtype, middle->type.dtype) ||
        wraps_only_directly(x->type.dtype, middle->type.dtype, (VfDtype)to))
        return VF_OK;
    VfRewrite *rw = vf_normalize_begin(cx, node, rule);
    VF_TRY_ALLOC(rw, err);
    VfValue *y = (int64_t)x->type.dtype == to ? x : vf_rewrite_cast(rw, x, (VfDtype)to);
    vf_rewrite_replace(rw, node->out[0], y);
    return vf_rewrite_commit(rw, err);
}

VfStatus vf_normalize_cast_like(VfPassCx *cx, VfNode *node, const char *rule, VfErr *err)
{
    VfValue *x = vf_node_in(node, 0);
    const VfValue *like = vf_node_in(node, 1);
    bool is_plain = like != NULL && find_range(like->type.dtype) != NULL;
    if (x == NULL || !is_plain)
        return VF_OK;
    VfRewrite *rw = vf_normalize_begin(cx, node, rule);
    VF_TRY_ALLOC(rw, err);
    VfValue *y = vf_rewrite_cast(rw, x, like->type.dtype);
    vf_rewrite_replace(rw, node->out[0], y);
    return vf_rewrite_commit(rw, err);
}
