/* Operators that move elements: mostly views. */
#include "converter/lower/ops.h"

#include <string.h>

#include "passes/ir/attr.h"
#include "passes/ir/infer.h"

/* The inferred dims of a result. */
static VfStatus result_dims(VfLower *cx, const VfLowCall *call, int32_t index, int64_t **dims,
                            VfErr *err)
{
    const VfType *type = &call->fact[index].type;
    *dims = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)type->rank + 1);
    VF_TRY_ALLOC(*dims, err);
    for (int32_t i = 0; i < type->rank; i++)
        (*dims)[i] = type->dims[i].k;
    return VF_OK;
}

/* Operand 1 says what the dims are. Inference may find them without its contents, from what else is
 * known, which does not make the contents right. */
static VfStatus need_target(const VfLowCall *call, VfErr *err)
{
    const VfLowValue *target = vf_low_in(call, 1);
    return target == NULL ? VF_OK : vf_low_need_known(call, target, err);
}

VfStatus vf_lower_view(VfLower *cx, VfLowCall *call, VfErr *err)
{
    int64_t *dims;
    VF_TRY(need_target(call, err));
    VF_TRY(result_dims(cx, call, 0, &dims, err));
    int32_t rank = call->fact[0].type.rank;
    if (vf_low_product(dims, 0, rank) != (int64_t)call->in[0]->count)
        return vf_fail(err, VF_INVALID, "node '%s': %zu elements do not fit the new shape",
                       vf_node_label(call->node), call->in[0]->count);
    return vf_low_reshape(cx, call->in[0], rank, dims, &call->out[0], err);
}

VfStatus vf_lower_identity(VfLower *cx, VfLowCall *call, VfErr *err)
{
    (void)cx;
    if (vf_low_in(call, 0) == NULL)
        return vf_low_refuse(err, "no operand");
    call->out[0] = call->in[0];
    return VF_OK;
}

VfStatus vf_lower_transpose(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0];
    int32_t n;
    const int64_t *perm = vf_node_ints(call->node, "perm", &n);
    int64_t *back = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)x->rank + 1);
    VF_TRY_ALLOC(back, err);
    for (int32_t i = 0; i < x->rank; i++)
        back[i] = x->rank - 1 - i;
    if (perm != NULL && n != x->rank)
        return vf_fail(err, VF_INVALID, "node '%s': perm has %d entries for %d axes",
                       vf_node_label(call->node), n, x->rank);
    uint64_t seen = 0;
    for (int32_t i = 0; perm != NULL && i < n; i++) {
        if (perm[i] < 0 || perm[i] >= n || n > 64 || ((seen >> perm[i]) & 1) != 0)
            return vf_fail(err, VF_INVALID, "node '%s': perm is no permutation",
                           vf_node_label(call->node));
        seen |= UINT64_C(1) << perm[i];
    }
    return vf_low_permute(cx, x, perm != NULL ? perm : back, &call->out[0], err);
}

/* --- Slice --- */

typedef struct SliceSpec {
    const int64_t *start, *end, *axis, *step;
    int32_t n_start, n_end, n_axis, n_step;
} SliceSpec;

static VfStatus read_slice(VfLower *cx, const VfLowCall *call, SliceSpec *s, VfErr *err)
{
    bool is_old = call->opset < 10;
    VF_TRY(vf_low_ints(cx, call, is_old ? "starts" : NULL, 1, &s->start, &s->n_start, err));
    VF_TRY(vf_low_ints(cx, call, is_old ? "ends" : NULL, 2, &s->end, &s->n_end, err));
    VF_TRY(vf_low_ints(cx, call, is_old ? "axes" : NULL, 3, &s->axis, &s->n_axis, err));
    VF_TRY(vf_low_ints(cx, call, NULL, is_old ? -1 : 4, &s->step, &s->n_step, err));
    bool is_fine = s->start != NULL && s->end != NULL && s->n_start == s->n_end &&
                   (s->axis == NULL || s->n_axis == s->n_start) &&
                   (s->step == NULL || s->n_step == s->n_start) &&
                   (s->axis != NULL || s->n_start <= call->in[0]->rank);
    return is_fine ? VF_OK
                   : vf_fail(err, VF_INVALID,
                             "node '%s': starts, ends, axes and steps do not "
                             "agree",
                             vf_node_label(call->node));
}

VfStatus vf_lower_slice(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0];
    SliceSpec s;
    VF_TRY(read_slice(cx, call, &s, err));
    int64_t *dims = VF_NEW_ARRAY(cx->arena, int64_t, 2 * (size_t)x->rank + 1);
    VF_TRY_ALLOC(dims, err);
    int64_t *stride = dims + x->rank, offset = 0;
    if (x->rank > 0) {
        memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
        memcpy(stride, x->stride, (size_t)x->rank * sizeof *dims);
    }
    for (int32_t i = 0; i < s.n_start; i++) {
        int64_t axis = s.axis != NULL ? s.axis[i] : i, first;
        int64_t step = s.step != NULL ? s.step[i] : 1;
        VF_TRY(vf_low_norm_axis(call, x->rank, &axis, err));
        if (step == 0)
            return vf_fail(err, VF_INVALID, "node '%s': a step of 0", vf_node_label(call->node));
        dims[axis] = vf_slice_count(x->dims[axis], s.start[i], s.end[i], step, &first);
        if (dims[axis] > 0)
            offset += first * x->stride[axis];
        stride[axis] = dims[axis] > 1 ? x->stride[axis] * step : x->stride[axis];
    }
    return vf_low_view(cx, x, x->rank, dims, stride, offset, &call->out[0], err);
}

/* --- Split, Concat --- */

VfStatus vf_lower_split(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0];
    int64_t axis, begin = 0;
    VF_TRY(vf_low_axis(call, "axis", x->rank, &axis, err));
    for (int32_t i = 0; i < call->n_out; i++) {
        const VfType *type = &call->fact[i].type;
        /* An omitted result still takes its share; inference gives it a shape too. */
        if (type->rank != x->rank || !vf_dim_is_known(type->dims[axis]))
            return vf_low_await(call, err, "the size of result %d is not known", i);
        int64_t size = type->dims[axis].k;
        VfLowValue *part;
        VF_TRY(vf_low_slice(cx, x, (int32_t)axis, begin, size, &part, err));
        if (vf_low_has_out(call, i))
            call->out[i] = part;
        begin += size;
    }
    return VF_OK;
}

/* Small operands that are all known are joined now, as their result may decide shapes; strings must
 * be. */
static VfStatus concat_known(VfLower *cx, int32_t n, VfLowValue *const *in, int32_t axis,
                             const int64_t *dims, VfLowValue **out, VfErr *err)
{
    bool is_string = in[0]->dtype == VF_STRING;
    size_t width = is_string ? sizeof(VfBytes) : vf_low_width(in[0]->dtype), at = 0, total = 0;
    size_t most = vf_low_fold_max(cx) > 4096 ? vf_low_fold_max(cx) : 4096;
    VfTensor *tensor;
    void *data;
    for (int32_t i = 0; i < n; i++) {
        total += in[i]->count;
        if (in[i]->known == NULL || (total > most && !is_string))
            return is_string ? vf_low_refuse(err, "strings that are not known") : VF_OK;
    }
    if (!vf_low_may_compute(cx, total * width) && !is_string)
        return VF_OK;
    VF_TRY(vf_tensor_new(cx->arena, in[0]->dtype, in[0]->rank, dims, &tensor, &data, err));
    int64_t outer = vf_low_product(dims, 0, axis);
    for (int64_t o = 0; o < outer; o++)
        for (int32_t i = 0; i < n; i++) {
            size_t bytes = in[i]->count / (size_t)outer * width;
            if (bytes > 0)
                memcpy((char *)data + at, (const char *)in[i]->known->data + (size_t)o * bytes,
                       bytes);
            at += bytes;
        }
    return vf_low_const(cx, tensor, out, err);
}

/* Several elements a byte: one by one, in bytes. */
static VfStatus concat_bytes(VfLower *cx, int32_t n, VfLowValue *const *in, int32_t axis,
                             VfLowValue **out, VfErr *err)
{
    VfDtype dtype = in[0]->dtype;
    VfLowValue **wide = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)n);
    VF_TRY_ALLOC(wide, err);
    for (int32_t i = 0; i < n; i++)
        VF_TRY(vf_low_convert(cx, in[i], vf_low_byte_dtype(dtype), 1, &wide[i], err));
    VF_TRY(vf_low_concat(cx, n, wide, axis, out, err));
    return vf_low_convert(cx, *out, dtype, 1, out, err);
}

VfStatus vf_low_concat(VfLower *cx, int32_t n, VfLowValue *const *in, int32_t axis,
                       VfLowValue **out, VfErr *err)
{
    int64_t *dims = VF_NEW_ARRAY(cx->arena, int64_t, (size_t)in[0]->rank + 1);
    VF_TRY_ALLOC(dims, err);
    memcpy(dims, in[0]->dims, (size_t)in[0]->rank * sizeof *dims);
    dims[axis] = 0;
    for (int32_t i = 0; i < n; i++) {
        bool fits = in[i]->rank == in[0]->rank && in[i]->dtype == in[0]->dtype;
        for (int32_t k = 0; fits && k < in[0]->rank; k++)
            fits = k == axis || in[i]->dims[k] == dims[k];
        if (!fits)
            return vf_fail(err, VF_INVALID, "operand %d does not fit the others of a Concat", i);
        dims[axis] += in[i]->dims[axis];
    }
    *out = NULL;
    if (vf_low_byte_dtype(in[0]->dtype) != in[0]->dtype)
        return concat_bytes(cx, n, in, axis, out, err);
    VF_TRY(concat_known(cx, n, in, axis, dims, out, err));
    if (*out != NULL)
        return VF_OK;
    VF_TRY(vf_low_new(cx, in[0]->dtype, in[0]->rank, dims, out, err));
    int64_t begin = 0;
    for (int32_t i = 0; i < n; i++) {
        VfLowValue *part;
        VF_TRY(vf_low_slice(cx, *out, axis, begin, in[i]->dims[axis], &part, err));
        VF_TRY(vf_low_copy(cx, in[i], part, err));
        begin += in[i]->dims[axis];
    }
    return VF_OK;
}

VfStatus vf_lower_concat(VfLower *cx, VfLowCall *call, VfErr *err)
{
    int64_t axis = 1; /* the default before opset 4, where it became mandatory */
    for (int32_t i = 0; i < call->n_in; i++)
        if (call->in[i] == NULL)
            return vf_low_refuse(err, "operand %d is omitted", i);
    if (call->n_in == 0)
        return vf_low_refuse(err, "no operand");
    if (vf_node_attr(call->node, "axis") != NULL)
        axis = vf_node_int(call->node, "axis");
    VF_TRY(vf_low_norm_axis(call, call->in[0]->rank, &axis, err));
    return vf_low_concat(cx, call->n_in, call->in, (int32_t)axis, &call->out[0], err);
}

/* --- Expand, Tile --- */

VfStatus vf_lower_expand(VfLower *cx, VfLowCall *call, VfErr *err)
{
    int64_t *dims;
    VF_TRY(need_target(call, err));
    VF_TRY(result_dims(cx, call, 0, &dims, err));
    return vf_low_expand(cx, call->in[0], call->fact[0].type.rank, dims, &call->out[0], err);
}

VfStatus vf_lower_tile(VfLower *cx, VfLowCall *call, VfErr *err)
{
    VfLowValue *x = call->in[0], *out, *from, *to;
    int64_t *dims;
    VF_TRY(result_dims(cx, call, 0, &dims, err));
    int32_t rank = x->rank;
    int64_t *list = VF_NEW_ARRAY(cx->arena, int64_t, 8 * (size_t)rank + 1);
    VF_TRY_ALLOC(list, err);
    int64_t *thin = list + 2 * rank, *wide = list + 4 * rank;
    for (int32_t i = 0; i < rank; i++) {
        if (x->dims[i] == 0 && dims[i] != 0)
            return vf_low_refuse(err, "an empty axis cannot be repeated");
        thin[2 * i] = 1;
        thin[2 * i + 1] = wide[2 * i + 1] = x->dims[i];
        wide[2 * i] = x->dims[i] == 0 ? 1 : dims[i] / x->dims[i];
    }
    VF_TRY(vf_low_reshape(cx, x, 2 * rank, thin, &from, err));
    VF_TRY(vf_low_expand(cx, from, 2 * rank, wide, &from, err));
    VF_TRY(vf_low_result(cx, call, 0, &out, err));
    VF_TRY(vf_low_reshape(cx, out, 2 * rank, wide, &to, err));
    return vf_low_copy(cx, from, to, err);
}

/* --- DepthToSpace, SpaceToDepth --- */

static VfStatus block_view(VfLower *cx, VfLowCall *call, const int64_t dims[6],
                           const int64_t perm[6], VfErr *err)
{
    VfLowValue *x;
    int64_t *result;
    VF_TRY(result_dims(cx, call, 0, &result, err));
    VF_TRY(vf_low_reshape(cx, call->in[0], 6, dims, &x, err));
    VF_TRY(vf_low_permute(cx, x, perm, &x, err));
    return vf_low_reshape(cx, x, 4, result, &call->out[0], err);
}

static VfStatus block_mode(const VfLowCall *call, bool *is_crd, VfErr *err)
{
    VfBytes mode = vf_node_string(call->node, "mode");
    *is_crd = vf_bytes_is_equal(mode, vf_bytes("CRD"));
    if (!*is_crd && mode.size > 0 && !vf_bytes_is_equal(mode, vf_bytes("DCR")))
        return vf_low_refuse_word("mode", mode, err);
    return VF_OK;
}

VfStatus vf_lower_depth_to_space(VfLower *cx, VfLowCall *call, VfErr *err)
{
    const int64_t *d = call->in[0]->dims;
    int64_t b = vf_node_int(call->node, "blocksize");
    bool is_crd;
    VF_TRY(block_mode(call, &is_crd, err));
    if (call->in[0]->rank != 4 || b < 1 || b > 65536 || d[1] % (b * b) != 0)
        return vf_low_refuse(err, "blocksize %lld", (long long)b);
    if (is_crd)
        return block_view(cx, call, (int64_t[6]){d[0], d[1] / (b * b), b, b, d[2], d[3]},
                          (int64_t[6]){0, 1, 4, 2, 5, 3}, err);
    return block_view(cx, call, (int64_t[6]){d[0], b, b, d[1] / (b * b), d[2], d[3]},
                      (int64_t[6]){0, 3, 4, 1, 5, 2}, err);
}

VfStatus vf_lower_space_to_depth(VfLower *cx, VfLowCall *call, VfErr *err)
{
    const int64_t *d = call->in[0]->dims;
    int64_t b = vf_node_int(call->node, "blocksize");
    bool is_crd;
    VF_TRY(block_mode(call, &is_crd, err));
    if (call->in[0]->rank != 4 || b < 1 || d[2] % b != 0 || d[3] % b != 0)
        return vf_low_refuse(err, "blocksize %lld", (long long)b);
    const int64_t dims[6] = {d[0], d[1], d[2] / b, b, d[3] / b, b};
    static const int64_t dcr[6] = {0, 3, 5, 1, 2, 4}, crd[6] = {0, 1, 3, 5, 2, 4};
    return block_view(cx, call, dims, is_crd ? crd : dcr, err);
}
