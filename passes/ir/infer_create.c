/* Operators that make tensors out of numbers. */
#include "passes/ir/infer_op.h"

#include <math.h>

static VfStatus constant_vector(const VfInferCx *cx, VfDtype dtype, int32_t rank, int64_t n)
{
    VfDim *dims = vf_infer_new_dims(cx, 1);
    VF_TRY_ALLOC(dims, cx->err);
    dims[0] = vf_dim(n);
    vf_infer_set(cx, 0, dtype, rank, dims);
    return VF_OK;
}

/* Not its contents: folding would fill a sparse tensor up in the file. */
static VfStatus constant_type(const VfInferCx *cx, const VfTensor *tensor)
{
    VfType type;
    if (!tensor)
        return VF_OK;
    VF_TRY(vf_tensor_type(cx->arena, tensor, &type, cx->err));
    vf_infer_set(cx, 0, type.dtype, type.rank, type.dims);
    return VF_OK;
}

static VfStatus constant_tensor(const VfInferCx *cx, const VfTensor *tensor)
{
    if (!tensor)
        return VF_OK;
    VfDim *dims = vf_infer_new_dims(cx, tensor->rank);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; i < tensor->rank; i++)
        dims[i] = vf_dim(tensor->dims[i]);
    vf_infer_set(cx, 0, tensor->dtype, tensor->rank, dims);
    if (cx->n_out > 0)
        cx->out[0].tensor = tensor;
    return VF_OK;
}

static VfStatus constant_integer(const VfInferCx *cx, int64_t value)
{
    VfDim *content = vf_infer_new_dims(cx, 1);
    VF_TRY_ALLOC(content, cx->err);
    content[0] = vf_dim(value);
    vf_infer_set(cx, 0, VF_I64, 0, NULL);
    vf_infer_set_content(cx, 0, 1, content);
    return VF_OK;
}

VfStatus vf_infer_constant(const VfInferCx *cx)
{
    for (const VfAttr *attr = cx->node->first_attr; attr; attr = attr->next) {
        if (attr->ref.size > 0)
            continue;
        switch (attr->type) {
        case VF_ATTR_TENSOR:
            return constant_tensor(cx, attr->tensor);
        case VF_ATTR_FLOAT:
            return constant_tensor(cx, vf_tensor_scalar(cx->arena, VF_F32, 0, (double)attr->f));
        case VF_ATTR_INT:
            return constant_integer(cx, attr->i);
        case VF_ATTR_STRING:
            return constant_vector(cx, VF_STRING, 0, 1);
        case VF_ATTR_FLOATS:
            return constant_vector(cx, VF_F32, 1, attr->n);
        case VF_ATTR_INTS:
            return constant_tensor(cx, vf_tensor_i64(cx->arena, attr->n, attr->ints));
        case VF_ATTR_STRINGS:
            return constant_vector(cx, VF_STRING, 1, attr->n);
        case VF_ATTR_SPARSE_TENSOR:
            return constant_type(cx, attr->tensor);
        default:
            break;
        }
    }
    return VF_OK;
}

static VfStatus filled_content(const VfInferCx *cx, const VfTensor *value)
{
    const VfType *type = &cx->out[0].type;
    bool is_float = vf_dtype_info(type->dtype)->is_float != 0;
    if (is_float || type->rank > 1 || (type->rank == 1 && !vf_dim_is_known(type->dims[0])))
        return VF_OK;
    int64_t n = type->rank == 0 ? 1 : type->dims[0].k;
    if (n > VF_CONTENT_MAX)
        return VF_OK;
    VfDim *content = vf_infer_new_dims(cx, (int32_t)n);
    VF_TRY_ALLOC(content, cx->err);
    for (int64_t i = 0; i < n; i++)
        content[i] = vf_dim(vf_tensor_get_i64(value, 0));
    vf_infer_set_content(cx, 0, (int32_t)n, content);
    return VF_OK;
}

VfStatus vf_infer_constant_of_shape(const VfInferCx *cx)
{
    const VfAttr *attr = vf_node_attr(cx->node, "value");
    const VfTensor *value = attr ? attr->tensor : NULL;
    VfDtype dtype = value ? value->dtype : VF_F32;
    int32_t rank;
    const VfDim *content = vf_infer_content_of(cx, 0, &rank);
    if (value && value->count != 1)
        return vf_infer_fail(cx, "attribute 'value' has %zu elements", value->count);
    vf_infer_set_dtype(cx, 0, dtype);
    if (!content)
        return VF_OK;
    VfDim *dims = vf_infer_copy_dims(cx, rank, content);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; i < rank; i++) {
        if (vf_dim_is_known(dims[i]) && dims[i].k < 0)
            return vf_infer_fail(cx, "length %d is %lld", (int)i, (long long)dims[i].k);
        dims[i] = dims[i].k < 0 ? vf_dim_unknown() : dims[i];
    }
    vf_infer_set(cx, 0, dtype, rank, dims);
    return value && dtype != VF_STRING ? filled_content(cx, value) : VF_OK;
}

/* --- Range --- */

static VfStatus range_content(const VfInferCx *cx, int64_t n, int64_t start, int64_t step)
{
    if (n > VF_CONTENT_MAX)
        return VF_OK;
    VfDim *content = vf_infer_new_dims(cx, (int32_t)n);
    VF_TRY_ALLOC(content, cx->err);
    for (int64_t i = 0; i < n; i++)
        content[i] = vf_dim(start + i * step);
    vf_infer_set_content(cx, 0, (int32_t)n, content);
    return VF_OK;
}

/* max(0, ceil((limit - start) / step)); false when it does not fit. */
static bool count_range(int64_t start, int64_t limit, int64_t step, int64_t *n)
{
    int64_t span;
    if (__builtin_sub_overflow(limit, start, &span) || step == INT64_MIN)
        return false;
    if (span == 0 || (span > 0) != (step > 0)) {
        *n = 0;
        return true;
    }
    *n = step > 0 ? (span - 1) / step + 1 : (span + 1) / step + 1;
    return true;
}

static VfStatus integer_range(const VfInferCx *cx, VfDim *dims)
{
    int32_t n[3];
    const VfDim *content[3];
    for (int32_t i = 0; i < 3; i++) {
        content[i] = vf_infer_content_of(cx, i, &n[i]);
        if (!content[i] || n[i] != 1)
            return VF_OK;
    }
    VfDim start = content[0][0], limit = content[1][0], step = content[2][0];
    if (vf_dim_is(step, 0))
        return vf_infer_fail(cx, "the step is 0");
    if (vf_dim_is_known(start) && vf_dim_is_known(limit) && vf_dim_is_known(step)) {
        int64_t count;
        if (!count_range(start.k, limit.k, step.k, &count))
            return vf_infer_fail(cx, "the range is too long");
        dims[0] = vf_dim(count);
        return range_content(cx, count, start.k, step.k);
    }
    if (vf_dim_is(step, 1))
        dims[0] = vf_dim_is(start, 0) ? limit : vf_dim_sub(cx->symbols, limit, start);
    return VF_OK;
}

static void float_range(const VfInferCx *cx, VfDim *dims)
{
    double value[3];
    for (int32_t i = 0; i < 3; i++) {
        const VfFact *fact = vf_infer_in(cx, i);
        if (!fact || !fact->tensor || fact->tensor->count != 1)
            return;
        value[i] = vf_tensor_get_double(fact->tensor, 0);
    }
    double n = ceil((value[1] - value[0]) / value[2]);
    if (n >= 0x1p53 || isnan(n))
        return;
    dims[0] = vf_dim(n > 0 ? (int64_t)n : 0);
}

VfStatus vf_infer_range(const VfInferCx *cx)
{
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    VfDim *dims = vf_infer_new_dims(cx, 1);
    VF_TRY_ALLOC(dims, cx->err);
    vf_infer_set(cx, 0, dtype, 1, dims);
    if (vf_dtype_info(dtype)->is_float)
        float_range(cx, dims);
    else
        VF_TRY(integer_range(cx, dims));
    return VF_OK;
}

/* --- others --- */

VfStatus vf_infer_eye_like(const VfInferCx *cx)
{
    VF_TRY(vf_infer_need_rank(cx, 0, 2, 2));
    int64_t dtype = vf_node_int(cx->node, "dtype");
    if (dtype < 0 || dtype >= VF_DTYPE_COUNT)
        return vf_infer_fail(cx, "attribute 'dtype' is %lld, no dtype", (long long)dtype);
    vf_infer_set_like_dtype(cx, 0, 0, dtype > 0 ? (VfDtype)dtype : vf_infer_dtype_of(cx, 0));
    return VF_OK;
}

/* RandomNormal, RandomUniform: shape and dtype are attributes. */
VfStatus vf_infer_random(const VfInferCx *cx)
{
    VfIntList shape;
    int64_t dtype = vf_node_int(cx->node, "dtype");
    VF_TRY(vf_infer_ints(cx, "shape", -1, &shape));
    if (dtype <= 0 || dtype >= VF_DTYPE_COUNT || !shape.is_there)
        return vf_infer_fail(cx, "attributes 'shape' and 'dtype' make no type");
    VfDim *dims = vf_infer_new_dims(cx, shape.n);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; i < shape.n; i++) {
        if (shape.value[i] < 0)
            return vf_infer_fail(cx, "length %d is %lld", (int)i, (long long)shape.value[i]);
        dims[i] = vf_dim(shape.value[i]);
    }
    vf_infer_set(cx, 0, (VfDtype)dtype, shape.n, dims);
    return VF_OK;
}

VfStatus vf_infer_multinomial(const VfInferCx *cx)
{
    int64_t dtype = vf_node_int(cx->node, "dtype"), n = vf_node_int(cx->node, "sample_size");
    if (dtype <= 0 || dtype >= VF_DTYPE_COUNT || n < 0)
        return vf_infer_fail(cx, "attributes 'sample_size' and 'dtype' make no type");
    VfDim *dims = vf_infer_new_dims(cx, 2);
    VF_TRY_ALLOC(dims, cx->err);
    dims[0] = vf_infer_dim_of(cx, 0, 0);
    dims[1] = vf_dim(n);
    vf_infer_set(cx, 0, (VfDtype)dtype, 2, dims);
    return VF_OK;
}

/* HannWindow, HammingWindow, BlackmanWindow. */
VfStatus vf_infer_window(const VfInferCx *cx)
{
    int64_t dtype = vf_node_int(cx->node, "output_datatype"), n;
    VfDim *dims = vf_infer_new_dims(cx, 1);
    VF_TRY_ALLOC(dims, cx->err);
    if (dtype <= 0 || dtype >= VF_DTYPE_COUNT)
        return vf_infer_fail(cx, "attribute 'output_datatype' is %lld, no dtype", (long long)dtype);
    if (vf_infer_int_of(cx, 0, &n) && n < 0)
        return vf_infer_fail(cx, "the length is %lld", (long long)n);
    if (vf_infer_int_of(cx, 0, &n))
        dims[0] = vf_dim(n);
    vf_infer_set(cx, 0, (VfDtype)dtype, 1, dims);
    return VF_OK;
}
