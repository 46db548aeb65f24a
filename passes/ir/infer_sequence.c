/* Sequences and optionals. The type of a sequence is what is true of all its elements. */
#include "passes/ir/infer_op.h"

static const VfType *sequence_of(const VfInferCx *cx, int32_t slot)
{
    const VfFact *fact = vf_infer_in(cx, slot);
    return fact && fact->type.kind == VF_TYPE_SEQUENCE ? &fact->type : NULL;
}

static void set_type(const VfInferCx *cx, int32_t index, VfTypeKind kind, const VfType *element)
{
    if (index >= cx->n_out)
        return;
    cx->out[index].type = *element;
    cx->out[index].type.kind = kind;
}

VfStatus vf_infer_sequence_empty(const VfInferCx *cx)
{
    int64_t dtype = vf_node_attr(cx->node, "dtype") ? vf_node_int(cx->node, "dtype") : VF_F32;
    if (dtype <= 0 || dtype >= VF_DTYPE_COUNT)
        return vf_infer_fail(cx, "attribute 'dtype' is %lld, no dtype", (long long)dtype);
    set_type(cx, 0, VF_TYPE_SEQUENCE,
             &(VfType){VF_TYPE_SEQUENCE, (VfDtype)dtype, VF_RANK_UNKNOWN, NULL});
    return VF_OK;
}

VfStatus vf_infer_sequence_construct(const VfInferCx *cx)
{
    VfType all = {VF_TYPE_TENSOR, VF_UNDEFINED, VF_RANK_UNKNOWN, NULL};
    for (int32_t i = 0; i < cx->n_in; i++) {
        const VfFact *fact = vf_infer_in(cx, i);
        if (!fact || fact->type.kind != VF_TYPE_TENSOR)
            return VF_OK;
        if (i == 0)
            all = fact->type;
        else
            VF_TRY(vf_infer_join(cx->arena, &all, &fact->type, &all, cx->err));
    }
    set_type(cx, 0, VF_TYPE_SEQUENCE, &all);
    return VF_OK;
}

VfStatus vf_infer_sequence_insert(const VfInferCx *cx)
{
    const VfType *sequence = sequence_of(cx, 0);
    const VfFact *item = vf_infer_in(cx, 1);
    if (!sequence || !item || item->type.kind != VF_TYPE_TENSOR)
        return VF_OK;
    VfType element = *sequence, all;
    element.kind = VF_TYPE_TENSOR;
    VF_TRY(vf_infer_join(cx->arena, &element, &item->type, &all, cx->err));
    set_type(cx, 0, VF_TYPE_SEQUENCE, &all);
    return VF_OK;
}

/* SequenceErase. */
VfStatus vf_infer_sequence_same(const VfInferCx *cx)
{
    const VfType *sequence = sequence_of(cx, 0);
    if (sequence)
        set_type(cx, 0, VF_TYPE_SEQUENCE, sequence);
    return VF_OK;
}

VfStatus vf_infer_sequence_at(const VfInferCx *cx)
{
    const VfType *sequence = sequence_of(cx, 0);
    if (sequence)
        set_type(cx, 0, VF_TYPE_TENSOR, sequence);
    return VF_OK;
}

VfStatus vf_infer_sequence_length(const VfInferCx *cx)
{
    vf_infer_set(cx, 0, VF_I64, 0, NULL);
    return VF_OK;
}

/* Length of the parts along the axis, if all parts have the same. */
static VfStatus part_length(const VfInferCx *cx, VfDim dim, VfDim *out)
{
    VfIntList sizes;
    const VfType *type = vf_infer_shape_of(cx, 1);
    *out = vf_dim_unknown();
    VF_TRY(vf_infer_ints(cx, NULL, 1, &sizes));
    if (!sizes.is_there)
        *out = vf_dim(1);
    if (!sizes.is_known || sizes.n < 1 || !type)
        return VF_OK;
    for (int32_t i = 0; i < sizes.n; i++)
        if (sizes.value[i] < 0 || (type->rank == 0 && sizes.value[i] == 0))
            return vf_infer_fail(cx, "size %d is %lld", (int)i, (long long)sizes.value[i]);
    bool is_even = type->rank == 1 || (dim.k % sizes.value[0] == 0 && dim.sym != VF_SYM_UNKNOWN);
    for (int32_t i = 1; i < sizes.n; i++)
        is_even = is_even && sizes.value[i] == sizes.value[0];
    if (is_even)
        *out = vf_dim(sizes.value[0]);
    return VF_OK;
}

/* The operator document ignores keepdims where sizes are given; runtimes do not for a size of 1,
 * and exporters rely on it. */
static bool drops_axis(const VfInferCx *cx)
{
    const VfType *sizes = vf_infer_shape_of(cx, 1);
    int64_t size;
    bool is_one = sizes && sizes->rank == 0 && vf_infer_int_of(cx, 1, &size) && size == 1;
    return vf_node_int(cx->node, "keepdims") == 0 && (!vf_infer_in(cx, 1) || is_one);
}

VfStatus vf_infer_split_to_sequence(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfType element = {VF_TYPE_SEQUENCE, vf_infer_dtype_of(cx, 0), VF_RANK_UNKNOWN, NULL};
    bool drops = drops_axis(cx);
    int32_t axis;
    set_type(cx, 0, VF_TYPE_SEQUENCE, &element);
    if (!type)
        return VF_OK;
    VF_TRY(vf_infer_axis(cx, vf_node_int(cx->node, "axis"), type->rank, &axis));
    VfDim *dims = vf_infer_copy_dims(cx, type->rank, type->dims);
    VF_TRY_ALLOC(dims, cx->err);
    VF_TRY(part_length(cx, type->dims[axis], &dims[axis]));
    for (int32_t i = axis; drops && i + 1 < type->rank; i++)
        dims[i] = dims[i + 1];
    element.rank = type->rank - (drops ? 1 : 0);
    element.dims = element.rank > 0 ? dims : NULL;
    set_type(cx, 0, VF_TYPE_SEQUENCE, &element);
    return VF_OK;
}

VfStatus vf_infer_concat_from_sequence(const VfInferCx *cx)
{
    const VfType *sequence = sequence_of(cx, 0);
    bool is_new = vf_node_int(cx->node, "new_axis") != 0;
    int32_t axis;
    if (!sequence)
        return VF_OK;
    vf_infer_set_dtype(cx, 0, sequence->dtype);
    if (sequence->rank == VF_RANK_UNKNOWN)
        return VF_OK;
    int32_t rank = sequence->rank + (is_new ? 1 : 0);
    VF_TRY(vf_infer_axis(cx, vf_node_int(cx->node, "axis"), rank, &axis));
    VfDim *dims = vf_infer_new_dims(cx, rank);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; i < rank; i++)
        if (i != axis)
            dims[i] = sequence->dims[is_new && i > axis ? i - 1 : i];
    vf_infer_set(cx, 0, sequence->dtype, rank, dims);
    return VF_OK;
}

VfStatus vf_infer_optional(const VfInferCx *cx)
{
    const VfFact *fact = vf_infer_in(cx, 0);
    if (cx->n_out > 0)
        cx->out[0].type.kind = VF_TYPE_OTHER;
    if (fact && fact->type.kind == VF_TYPE_TENSOR)
        set_type(cx, 0, VF_TYPE_OPTIONAL, &fact->type);
    return VF_OK;
}

VfStatus vf_infer_optional_get_element(const VfInferCx *cx)
{
    const VfFact *fact = vf_infer_in(cx, 0);
    if (!fact)
        return VF_OK;
    if (fact->type.kind == VF_TYPE_OPTIONAL || fact->type.kind == VF_TYPE_TENSOR)
        set_type(cx, 0, VF_TYPE_TENSOR, &fact->type);
    else if (fact->type.kind == VF_TYPE_SEQUENCE) /* since opset 18 also what is no optional */
        set_type(cx, 0, VF_TYPE_SEQUENCE, &fact->type);
    else if (cx->n_out > 0)
        cx->out[0].type.kind = VF_TYPE_OTHER;
    return VF_OK;
}

VfStatus vf_infer_optional_has_element(const VfInferCx *cx)
{
    vf_infer_set(cx, 0, VF_BOOL, 0, NULL);
    return VF_OK;
}

/* --- strings --- */

VfStatus vf_infer_string_normalizer(const VfInferCx *cx)
{
    vf_infer_set_dtype(cx, 0, VF_STRING);
    return VF_OK;
}

VfStatus vf_infer_string_split(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    vf_infer_set_dtype(cx, 0, VF_STRING);
    vf_infer_set_like_dtype(cx, 1, 0, VF_I64);
    if (!type)
        return VF_OK;
    VfDim *dims = vf_infer_new_dims(cx, type->rank + 1);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = type->dims[i];
    vf_infer_set(cx, 0, VF_STRING, type->rank + 1, dims);
    return VF_OK;
}

/* Decoded images are height by width by channels. */
VfStatus vf_infer_image_decoder(const VfInferCx *cx)
{
    VfDim *dims = vf_infer_new_dims(cx, 3);
    VF_TRY_ALLOC(dims, cx->err);
    VfBytes format = vf_node_string(cx->node, "pixel_format");
    dims[2] = vf_dim(vf_bytes_is_equal(format, vf_bytes("Grayscale")) ? 1 : 3);
    vf_infer_set(cx, 0, VF_U8, 3, dims);
    return VF_OK;
}
