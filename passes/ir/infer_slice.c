/* Operators that cut, join and pad along axes. */
#include "passes/ir/infer_op.h"

#include "runtime/base/size.h"

/* --- Slice --- */

typedef struct Cut {
    VfDim start, end, step;
} Cut;

int64_t vf_slice_count(int64_t dim, int64_t start, int64_t end, int64_t step, int64_t *first)
{
    start = start < 0 ? (start < -dim ? -1 : start + dim) : start;
    end = end < 0 ? (end < -dim ? -1 : end + dim) : end;
    if (step > 0) {
        start = vf_clamp(start, 0, dim);
        end = vf_clamp(end, 0, dim);
        *first = start;
        return end <= start ? 0 : (end - start - 1) / step + 1;
    }
    start = dim > 0 ? vf_clamp(start, 0, dim - 1) : -1;
    end = vf_clamp(end, -1, dim - 1);
    *first = start;
    return end >= start ? 0 : (start - end - 1) / (step == INT64_MIN ? INT64_MAX : -step) + 1;
}

/* Exporters write "to the end" as some very large number. */
static bool is_huge(VfDim d)
{
    return vf_dim_is_known(d) && d.k >= INT32_MAX;
}

static VfDim cut_dim(const VfInferCx *cx, VfDim dim, Cut cut)
{
    bool is_start_known = vf_dim_is_known(cut.start) && cut.start.sym != VF_SYM_UNKNOWN;
    if (vf_dim_is_known(dim) && is_start_known && vf_dim_is_known(cut.end) &&
        vf_dim_is_known(cut.step)) {
        int64_t first;
        return vf_dim(vf_slice_count(dim.k, cut.start.k, cut.end.k, cut.step.k, &first));
    }
    if (vf_dim_is(cut.step, -1) && vf_dim_is(cut.start, -1) && vf_dim_is_known(cut.end) &&
        cut.end.k <= -INT32_MAX)
        return dim;
    if (!vf_dim_is(cut.step, 1) || !is_start_known || cut.start.k < 0)
        return vf_dim_unknown();
    if (is_huge(cut.end) || vf_dim_is_same(cut.end, dim))
        return vf_infer_plus(cx, dim, -cut.start.k);
    if (cut.start.k == 0 && vf_dim_is_known(cut.end) && cut.end.k < 0 && cut.end.k > INT32_MIN)
        return vf_infer_plus(cx, dim, cut.end.k);
    return vf_dim_unknown();
}

/* Starts, ends or steps as symbolic numbers, from attribute or operand; `n` is -1 when absent or
 * unknown. */
static VfStatus read_bounds(const VfInferCx *cx, const char *name, int32_t slot,
                            const VfDim **bounds, int32_t *n)
{
    VfIntList list;
    *bounds = vf_infer_content_of(cx, slot, n);
    if (*bounds)
        return VF_OK;
    VF_TRY(vf_infer_ints(cx, name, slot, &list));
    *n = list.is_known ? list.n : -1;
    if (!list.is_known)
        return VF_OK;
    VfDim *dims = vf_infer_new_dims(cx, list.n);
    VF_TRY_ALLOC(dims, cx->err);
    for (int32_t i = 0; i < list.n; i++)
        dims[i] = vf_dim(list.value[i]);
    *bounds = dims;
    return VF_OK;
}

static VfStatus slice_content(const VfInferCx *cx, Cut cut)
{
    int32_t n;
    int64_t first;
    const VfDim *content = vf_infer_content_of(cx, 0, &n);
    const VfType *type = vf_infer_shape_of(cx, 0);
    if (!content || !type || type->rank != 1 || !vf_dim_is_known(cut.start) ||
        !vf_dim_is_known(cut.end) || !vf_dim_is_known(cut.step))
        return VF_OK;
    int64_t count = vf_slice_count(n, cut.start.k, cut.end.k, cut.step.k, &first);
    VfDim *result = vf_infer_new_dims(cx, (int32_t)count);
    VF_TRY_ALLOC(result, cx->err);
    for (int64_t i = 0; i < count; i++)
        result[i] = content[first + i * cut.step.k];
    vf_infer_set_content(cx, 0, (int32_t)count, result);
    return VF_OK;
}

/* Cuts axis by axis. `axes` not known: nothing is known of any dim. */
static VfStatus cut_axes(const VfInferCx *cx, VfDim *dims, int32_t n, const VfDim *const bounds[3],
                         const VfIntList *axes)
{
    int32_t rank = vf_infer_shape_of(cx, 0)->rank;
    for (int32_t i = 0; i < n; i++) {
        int32_t axis;
        VF_TRY(vf_infer_axis(cx, axes->is_there ? axes->value[i] : i, rank, &axis));
        Cut cut = {bounds[0] ? bounds[0][i] : vf_dim_unknown(),
                   bounds[1] ? bounds[1][i] : vf_dim_unknown(),
                   bounds[2] ? bounds[2][i] : vf_dim(1)};
        if (vf_dim_is(cut.step, 0))
            return vf_infer_fail(cx, "the step of axis %d is 0", (int)axis);
        dims[axis] = cut_dim(cx, dims[axis], cut);
        VF_TRY(slice_content(cx, cut));
    }
    return VF_OK;
}

VfStatus vf_infer_slice(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    const VfDim *bounds[3];
    int32_t n[3];
    VfIntList axes;
    vf_infer_set_dtype(cx, 0, vf_infer_dtype_of(cx, 0));
    bool is_old = cx->opset < 10; /* attributes, which are operands since */
    VF_TRY(read_bounds(cx, is_old ? "starts" : NULL, 1, &bounds[0], &n[0]));
    VF_TRY(read_bounds(cx, is_old ? "ends" : NULL, 2, &bounds[1], &n[1]));
    VF_TRY(read_bounds(cx, NULL, 4, &bounds[2], &n[2]));
    VF_TRY(vf_infer_ints(cx, is_old ? "axes" : NULL, 3, &axes));
    if (!type)
        return VF_OK;
    VfDim *dims = vf_infer_new_dims(cx, type->rank);
    VF_TRY_ALLOC(dims, cx->err);
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), type->rank, dims);
    int32_t count = n[0] >= 0 ? n[0] : n[1] >= 0 ? n[1] : axes.n;
    bool is_axis_known = (!axes.is_there || axes.is_known) && count >= 0;
    if (!is_axis_known || (vf_infer_in(cx, 4) && !bounds[2]))
        return VF_OK;
    if ((n[0] >= 0 && n[0] != count) || (n[1] >= 0 && n[1] != count) ||
        (n[2] >= 0 && n[2] != count) || (axes.is_there && axes.n != count) || count > type->rank)
        return vf_infer_fail(cx,
                             "starts, ends, axes and steps differ in length or name too many axes");
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = type->dims[i];
    return cut_axes(cx, dims, count, bounds, &axes);
}

/* --- Concat --- */

static VfStatus concat_content(const VfInferCx *cx)
{
    int32_t total = 0, n;
    VfDim *result = vf_infer_new_dims(cx, VF_CONTENT_MAX);
    VF_TRY_ALLOC(result, cx->err);
    for (int32_t slot = 0; slot < cx->n_in; slot++) {
        const VfDim *content = vf_infer_content_of(cx, slot, &n);
        if (!content || n > VF_CONTENT_MAX - total)
            return VF_OK;
        for (int32_t i = 0; i < n; i++)
            result[total++] = content[i];
    }
    vf_infer_set_content(cx, 0, total, result);
    return VF_OK;
}

static VfStatus join_dims(const VfInferCx *cx, int32_t slot, int32_t axis, VfDim *dims)
{
    const VfType *type = vf_infer_shape_of(cx, slot);
    for (int32_t i = 0; i < type->rank; i++) {
        if (i == axis)
            dims[i] = vf_dim_add(cx->symbols, dims[i], type->dims[i]);
        else
            VF_TRY(vf_infer_unify(cx, dims[i], type->dims[i], "operands differ off the axis",
                                  &dims[i]));
    }
    return VF_OK;
}

VfStatus vf_infer_concat(const VfInferCx *cx)
{
    const VfType *first = NULL;
    bool is_complete = true;
    for (int32_t slot = cx->n_in - 1; slot >= 0; slot--) {
        const VfType *type = vf_infer_shape_of(cx, slot);
        is_complete = is_complete && type;
        first = type ? type : first;
    }
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    vf_infer_set_dtype(cx, 0, dtype);
    /* Before opset 4 it could be left out. */
    bool has_axis = vf_node_attr(cx->node, "axis") != NULL;
    int32_t axis;
    if (!first || (!has_axis && cx->opset >= 4))
        return VF_OK;
    VF_TRY(vf_infer_axis(cx, has_axis ? vf_node_int(cx->node, "axis") : 1, first->rank, &axis));
    VfDim *dims = vf_infer_new_dims(cx, first->rank);
    VF_TRY_ALLOC(dims, cx->err);
    dims[axis] = is_complete ? vf_dim(0) : vf_dim_unknown();
    for (int32_t slot = 0; slot < cx->n_in; slot++) {
        const VfType *type = vf_infer_shape_of(cx, slot);
        if (type && type->rank != first->rank)
            return vf_infer_fail(cx, "operands differ in rank");
        if (type)
            VF_TRY(join_dims(cx, slot, axis, dims));
    }
    vf_infer_set(cx, 0, dtype, first->rank, dims);
    return first->rank == 1 ? concat_content(cx) : VF_OK;
}

/* --- Split --- */

/* Length of part `i` when no sizes are given: equal, the last one smaller. */
static VfStatus equal_part(const VfInferCx *cx, VfDim dim, int32_t i, VfDim *out)
{
    int64_t n = cx->node->n_out;
    *out = vf_infer_over(cx, dim, n);
    if (!vf_dim_is_known(dim)) {
        /* a symbol that does not divide evenly has parts of different length */
        *out = dim.k % n == 0 ? *out : vf_dim_unknown();
        return VF_OK;
    }
    if (dim.k % n != 0 && cx->opset < 18)
        return vf_infer_fail(cx, "length %lld does not split into %lld equal parts",
                             (long long)dim.k, (long long)n);
    int64_t chunk = (dim.k + n - 1) / n, rest = dim.k - chunk * i;
    *out = vf_dim(vf_clamp(rest, 0, chunk));
    return VF_OK;
}

static VfStatus check_sizes(const VfInferCx *cx, const VfIntList *sizes, VfDim dim)
{
    int64_t total = 0;
    for (int32_t i = 0; i < sizes->n; i++)
        if (sizes->value[i] < 0 || __builtin_add_overflow(total, sizes->value[i], &total))
            return vf_infer_fail(cx, "size %d is %lld", (int)i, (long long)sizes->value[i]);
    if (sizes->n != cx->node->n_out)
        return vf_infer_fail(cx, "%d sizes for %d results", (int)sizes->n, (int)cx->node->n_out);
    if (vf_dim_is_known(dim) && dim.k != total)
        return vf_infer_fail(cx, "sizes sum to %lld, not %lld", (long long)total, (long long)dim.k);
    return VF_OK;
}

static VfStatus split_content(const VfInferCx *cx, int32_t index, int64_t *at)
{
    int32_t n;
    const VfDim *content = vf_infer_content_of(cx, 0, &n);
    VfDim length = cx->out[index].type.dims[0];
    if (!content || *at < 0 || !vf_dim_is_known(length) || length.k > n - *at) {
        *at = -1;
        return VF_OK;
    }
    vf_infer_set_content(cx, index, (int32_t)length.k, content + *at);
    *at += length.k;
    return VF_OK;
}

static VfStatus check_parts(const VfInferCx *cx)
{
    if (cx->opset < 18 || !vf_node_attr(cx->node, "num_outputs"))
        return VF_OK;
    int64_t n = vf_node_int(cx->node, "num_outputs");
    return n == cx->node->n_out
               ? VF_OK
               : vf_infer_fail(cx, "attribute 'num_outputs' is %lld for %d results", (long long)n,
                               (int)cx->node->n_out);
}

VfStatus vf_infer_split(const VfInferCx *cx)
{
    VfDtype dtype = vf_infer_dtype_of(cx, 0);
    const VfType *type = vf_infer_shape_of(cx, 0);
    VfIntList sizes;
    int32_t axis;
    int64_t at = 0;
    VF_TRY(check_parts(cx));
    VF_TRY(vf_infer_ints(cx, "split", 1, &sizes));
    for (int32_t i = 0; i < cx->n_out; i++)
        vf_infer_set_dtype(cx, i, dtype);
    if (!type)
        return VF_OK;
    VF_TRY(vf_infer_axis(cx, vf_node_int(cx->node, "axis"), type->rank, &axis));
    if (sizes.is_known)
        VF_TRY(check_sizes(cx, &sizes, type->dims[axis]));
    for (int32_t i = 0; i < cx->n_out; i++) {
        VfDim *dims = vf_infer_copy_dims(cx, type->rank, type->dims);
        VF_TRY_ALLOC(dims, cx->err);
        dims[axis] = vf_dim_unknown();
        if (sizes.is_known)
            dims[axis] = vf_dim(sizes.value[i]);
        else if (!sizes.is_there)
            VF_TRY(equal_part(cx, type->dims[axis], i, &dims[axis]));
        vf_infer_set(cx, i, dtype, type->rank, dims);
        if (type->rank == 1)
            VF_TRY(split_content(cx, i, &at));
    }
    return VF_OK;
}

/* --- Pad --- */

static VfStatus pad_axis(const VfInferCx *cx, VfDim *dim, VfDim before, VfDim after)
{
    VfDim sum = vf_dim_add(cx->symbols, before, after);
    *dim =
        vf_dim_is_known(sum) ? vf_infer_plus(cx, *dim, sum.k) : vf_dim_add(cx->symbols, *dim, sum);
    if (vf_dim_is_known(*dim) && dim->k < 0)
        return vf_infer_fail(cx, "more is cut off than is there");
    return VF_OK;
}

VfStatus vf_infer_pad(const VfInferCx *cx)
{
    const VfType *type = vf_infer_shape_of(cx, 0);
    const VfDim *pads;
    int32_t n;
    VfIntList axes;
    vf_infer_set_dtype(cx, 0, vf_infer_dtype_of(cx, 0));
    VF_TRY(read_bounds(cx, cx->opset < 11 ? "pads" : NULL, 1, &pads, &n));
    VF_TRY(vf_infer_ints(cx, NULL, cx->opset >= 18 ? 3 : -1, &axes));
    if (!type)
        return VF_OK;
    VfDim *dims = vf_infer_new_dims(cx, type->rank);
    VF_TRY_ALLOC(dims, cx->err);
    vf_infer_set(cx, 0, vf_infer_dtype_of(cx, 0), type->rank, dims);
    if (!pads || (axes.is_there && !axes.is_known))
        return VF_OK;
    int32_t count = axes.is_there ? axes.n : type->rank;
    if (n != 2 * (int64_t)count)
        return vf_infer_fail(cx, "%d pads for %d axes", (int)n, (int)count);
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = type->dims[i];
    for (int32_t i = 0; i < count; i++) {
        int32_t axis;
        VF_TRY(vf_infer_axis(cx, axes.is_there ? axes.value[i] : i, type->rank, &axis));
        VF_TRY(pad_axis(cx, &dims[axis], pads[i], pads[count + i]));
    }
    return VF_OK;
}
