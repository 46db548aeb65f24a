/* Emission of steps, and moving and converting elements. */
#include "converter/lower/emit.h"

#include <stdio.h>
#include <string.h>

#include "converter/lower/choice.h"
#include "runtime/kernels/cast.h"
#include "runtime/kernels/copy.h"

/* A share of a step should take a worker longer than it takes to wake it. */
static const double LEAST_SHARE_NS = 10000.0;

enum { LOW_MAX_OPERAND = 4, KERNEL_NAME_BYTES = 64 };

static const VfkKernel *find_kernel(int choice, const char *op, VfDtype dtype)
{
    char name[KERNEL_NAME_BYTES];
    if (dtype == VF_UNDEFINED)
        return vfk_kernel_find(op, choice);
    int n = snprintf(name, sizeof name, "%s_%s", op, vf_dtype_info(dtype)->name);
    if (n < 0 || (size_t)n >= sizeof name)
        return NULL;
    return vfk_kernel_find(name, choice);
}

static int choice_of(const VfLower *cx)
{
    return cx->options.reference ? VFK_REFERENCE : VFK_BEST;
}

bool vf_low_has_kernel(const VfLower *cx, const char *op, VfDtype dtype)
{
    return find_kernel(choice_of(cx), op, dtype) != NULL;
}

static int64_t grain_of(const VfLowEmit *emit)
{
    double grain = emit->unit_cost > 0 ? LEAST_SHARE_NS / emit->unit_cost : 1;
    if (grain < 1)
        return 1;
    /* A multiple of 64 elements keeps the shares of two workers on different cache lines. */
    if (grain > 64)
        grain = 64.0 * (double)(int64_t)(grain / 64.0);
    return grain < (double)emit->units ? (int64_t)grain : emit->units;
}

/* `more`, which may be NULL, goes behind the list. */
static VfStatus refs_of(VfLower *cx, int32_t n, VfLowValue **list, VfLowValue *more,
                        VfLowRef **refs, VfErr *err)
{
    *refs = VF_NEW_ARRAY(cx->arena, VfLowRef, (size_t)n + 1);
    VF_TRY_ALLOC(*refs, err);
    for (int32_t i = 0; i <= n; i++) {
        VfLowValue *value = i < n ? list[i] : more;
        (*refs)[i] = (VfLowRef){LOW_NO_BUFFER, 0};
        if (value == NULL)
            continue;
        VF_TRY(vf_low_place(cx, value, err));
        (*refs)[i] = (VfLowRef){value->buffer, value->offset};
    }
    return VF_OK;
}

/* Bytes of the distinct elements of a value: those along broadcast axes are the same ones. */
static double value_bytes(const VfLowValue *value)
{
    double count = value->count == 0 ? 0 : 1;
    for (int32_t i = 0; i < value->rank; i++)
        count *= value->stride[i] == 0 ? 1 : (double)value->dims[i];
    return count * vf_dtype_info(value->dtype)->bits / 8;
}

static bool is_same_place(const VfLowValue *a, const VfLowValue *b)
{
    return a != NULL && a->buffer == b->buffer && a->offset == b->offset && a->count == b->count;
}

static double bytes_of(int32_t n, VfLowValue *const *list)
{
    double bytes = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t first = 0;
        while (first < i && list[i] != NULL && !is_same_place(list[first], list[i]))
            first++;
        if (list[i] != NULL && first == i)
            bytes += value_bytes(list[i]);
    }
    return bytes;
}

VfStatus vf_low_emit(VfLower *cx, const VfLowEmit *emit, VfErr *err)
{
    const VfkKernel *kernel = find_kernel(choice_of(cx), emit->op, emit->dtype);
    if (kernel != NULL && choice_of(cx) == VFK_BEST && !vfk_fits_int(kernel, emit->params))
        kernel = find_kernel(VFK_WIDE, emit->op, emit->dtype);
    if (kernel == NULL)
        return vf_fail(err, VF_UNSUPPORTED, "there is no kernel '%s' for %s", emit->op,
                       vf_dtype_info(emit->dtype)->name);
    if (emit->units <= 0)
        return VF_OK;
    if (emit->scratch_bytes == SIZE_MAX)
        return vf_no_memory(err);
    bool may_fail = (kernel->flags & VFK_INDEXED) != 0;
    VfLowValue *guard = NULL;
    if (may_fail && cx->choice != NULL)
        VF_TRY(vf_low_is_taken(cx, &guard, err));
    VF_TRY(vf_arena_grow(cx->arena, (void **)&cx->step, &cx->cap_step, cx->n_step + 1,
                         sizeof *cx->step, err));
    VfLowStep step = {.kernel = kernel, .n_in = emit->n_in, .n_out = emit->n_out,
                      .scratch_bytes = emit->scratch_bytes, .units = emit->units,
                      .grain = grain_of(emit), .node = cx->current_node, .flops = emit->flops,
                      .may_fail = may_fail, .has_guard = guard != NULL};
    step.params = vf_arena_copy(cx->arena, emit->params, kernel->params_bytes);
    VF_TRY_ALLOC(step.params, err);
    VF_TRY(refs_of(cx, emit->n_in, emit->in, guard, &step.in, err));
    step.n_in += guard != NULL;
    VF_TRY(refs_of(cx, emit->n_out, emit->out, NULL, &step.out, err));
    step.bytes = bytes_of(emit->n_in, emit->in) + bytes_of(emit->n_out, emit->out);
    step.may_overwrite = emit->may_overwrite && (kernel->flags & VFK_IN_PLACE) != 0;
    cx->step[cx->n_step++] = step;
    return VF_OK;
}

static bool can_join(const VfLowAxes *axes, const int64_t *inner, int64_t dim)
{
    for (int32_t k = 0; k < axes->n_operand; k++)
        if (axes->stride[k][axes->rank - 1] != inner[k] * dim)
            return false;
    return true;
}

/* Axes come outermost first; a new axis joins the one before where every operand steps evenly. */
static bool add_axis(VfLowAxes *axes, int64_t dim, const int64_t *stride)
{
    bool joins = axes->rank > 0 && can_join(axes, stride, dim);
    if (!joins && axes->rank == VFK_MAX_RANK)
        return false;
    if (!joins)
        axes->dim[axes->rank++] = 1;
    axes->dim[axes->rank - 1] *= dim;
    for (int32_t k = 0; k < axes->n_operand; k++)
        axes->stride[k][axes->rank - 1] = stride[k];
    return true;
}

VfStatus vf_low_merge(int32_t n_operand, int32_t rank, const int64_t *dims,
                      const int64_t *const *stride, VfLowAxes *axes, VfErr *err)
{
    memset(axes, 0, sizeof *axes);
    axes->n_operand = n_operand;
    /* An empty tensor is one empty axis: the sizes beside it may be too large to multiply. */
    for (int32_t i = 0; i < rank; i++)
        if (dims[i] == 0) {
            axes->rank = 1;
            return VF_OK;
        }
    for (int32_t i = 0; i < rank; i++) {
        int64_t of_axis[LOW_MAX_OPERAND] = {0};
        for (int32_t k = 0; k < n_operand; k++)
            of_axis[k] = stride[k][i];
        if (dims[i] != 1 && !add_axis(axes, dims[i], of_axis))
            return vf_fail(err, VF_UNSUPPORTED, "more than %d axes that cannot be merged",
                           VFK_MAX_RANK);
    }
    return VF_OK;
}

static void swap_axes(VfLowAxes *axes, int32_t i, int32_t j)
{
    int64_t dim = axes->dim[i];
    axes->dim[i] = axes->dim[j];
    axes->dim[j] = dim;
    for (int32_t k = 0; k < axes->n_operand; k++) {
        int64_t stride = axes->stride[k][i];
        axes->stride[k][i] = axes->stride[k][j];
        axes->stride[k][j] = stride;
    }
}

/* As copy.h asks: last the axis along which the result is contiguous, before it the one along
 * which the source is. */
static void order_for_copy(VfLowAxes *axes)
{
    int32_t last = axes->rank - 1;
    for (int32_t i = 0; i < last; i++)
        if (axes->stride[1][i] == 1) {
            swap_axes(axes, i, last);
            break;
        }
    if (last < 1 || axes->stride[0][last] == 1)
        return;
    for (int32_t i = 0; i < last - 1; i++)
        if (axes->stride[0][i] == 1) {
            swap_axes(axes, i, last - 1);
            return;
        }
}

VfStatus vf_low_copy(VfLower *cx, VfLowValue *of, VfLowValue *to, VfErr *err)
{
    size_t width = vf_low_width(of->dtype);
    if (width == 0)
        return vf_fail(err, VF_UNSUPPORTED, "elements of %s cannot be moved one by one",
                       vf_dtype_info(of->dtype)->name);
    VfLowAxes axes;
    const int64_t *strides[] = {of->stride, to->stride};
    VF_TRY(vf_low_merge(2, of->rank, of->dims, strides, &axes, err));
    order_for_copy(&axes);
    VfkCopyParams p = {.rank = axes.rank};
    int64_t rows = to->count == 0 ? 0 : 1;
    for (int32_t i = 0; i < axes.rank; i++) {
        p.dim[i] = axes.dim[i];
        p.src_stride[i] = axes.stride[0][i];
        p.dst_stride[i] = axes.stride[1][i];
        rows *= i + 1 < axes.rank ? axes.dim[i] : 1;
    }
    char name[KERNEL_NAME_BYTES];
    snprintf(name, sizeof name, "copy_b%zu", width);
    double length = axes.rank > 0 ? (double)axes.dim[axes.rank - 1] : 1;
    VfLowEmit emit = {.op = name, .params = &p, .n_in = 1, .n_out = 1, .in = &of, .out = &to,
                      .units = rows, .unit_cost = 3 + 0.1 * (double)width * length};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_low_copy_any(VfLower *cx, VfLowValue *of, VfLowValue *to, VfErr *err)
{
    size_t width = vf_low_width(of->dtype);
    if (width != 0)
        return vf_low_copy(cx, of, to, err);
    VF_TRY(vf_low_dense(cx, of, &of, err));
    VfkCopyParams p = {.rank = 1, .dim = {(int64_t)vf_dtype_bytes(of->dtype, of->count)},
                       .src_stride = {1}, .dst_stride = {1}};
    VfLowEmit emit = {.op = "copy_b1", .params = &p, .n_in = 1, .n_out = 1, .in = &of, .out = &to,
                      .units = p.dim[0] > 0 ? 1 : 0, .unit_cost = 0.1 * (double)p.dim[0]};
    return vf_low_emit(cx, &emit, err);
}

static VfStatus cast_step(VfLower *cx, VfLowValue *value, VfLowValue *out, VfErr *err)
{
    char name[KERNEL_NAME_BYTES];
    snprintf(name, sizeof name, "cast_%s_%s", vf_dtype_info(value->dtype)->name,
             vf_dtype_info(out->dtype)->name);
    VfDtype packed = vf_low_width(value->dtype) == 0 ? value->dtype : out->dtype;
    size_t bytes = vf_dtype_bytes(packed, value->count);
    VfkCastParams p = {.n = (int64_t)value->count, .saturate = 1};
    VfLowEmit emit = {.op = name, .params = &p, .n_in = 1, .n_out = 1, .in = &value, .out = &out,
                      .units = vf_low_width(packed) == 0 ? (int64_t)bytes : p.n, .unit_cost = 0.7};
    return vf_low_emit(cx, &emit, err);
}

VfStatus vf_low_cast(VfLower *cx, VfLowValue *value, VfDtype dtype, VfLowValue **out, VfErr *err)
{
    *out = value;
    if (value->dtype == dtype)
        return VF_OK;
    VF_TRY(vf_low_dense(cx, value, &value, err));
    VF_TRY(vf_low_new(cx, dtype, value->rank, value->dims, out, err));
    return cast_step(cx, value, *out, err);
}

VfStatus vf_low_round_to(VfLower *cx, VfLowValue **x, VfDtype dtype, VfErr *err)
{
    VfDtype own = (*x)->dtype;
    VF_TRY(vf_low_cast(cx, *x, dtype, x, err));
    return vf_low_cast(cx, *x, own, x, err);
}
