#include "passes/fold/apply.h"

#include <string.h>

#include "passes/fold/layer.h"
#include "passes/ir/attr.h"

/* What every step works with. */
typedef struct Cx {
    VfRewrite *rw;
    VfArena *scratch; /* fields */
    VfArena *keep;    /* tensors of the graph: the model's */
    VfErr *err;
} Cx;

/* Operand `slot` of `node` becomes the constant `tensor`; `old` may be NULL. */
static void set_const(const Cx *cx, VfNode *node, int32_t slot, const VfTensor *tensor,
                      const char *hint)
{
    VfValue *old = vf_node_in(node, slot);
    VfValue *new = vf_rewrite_const(cx->rw, tensor, hint);
    vf_rewrite_set_in(cx->rw, node, slot, new);
    vf_rewrite_weight(cx->rw, old, new);
}

/* --- adding a shift to a value --- */

/* Extents of x + y, each under `rank` axes; tensors are aligned at the end. */
static void joint_dims(int32_t rank, const VfTensor *x, const VfField *y, int64_t *dims)
{
    for (int32_t i = 0; i < rank; i++) {
        int32_t from = i - (rank - x->rank);
        int64_t have = from < 0 ? 1 : x->dims[from];
        dims[i] = have == 1 ? y->dims[i] : have;
    }
}

/* The field under more axes, the new ones leading. */
static VfField with_rank(const VfField *x, int32_t rank)
{
    VfField out = *x;
    out.rank = rank;
    for (int32_t i = 0; i < rank; i++)
        out.dims[i] = i < rank - x->rank ? 1 : x->dims[i - (rank - x->rank)];
    return out;
}

/* Write `sum`, under its rank, as a tensor without leading ones beyond `least` axes. */
static VfStatus trimmed_tensor(const Cx *cx, const VfField *sum, const int64_t *dims, int32_t least,
                               VfDtype dtype, const VfTensor **out)
{
    int32_t skip = 0, rank = sum->rank;
    while (rank - skip > least && dims[skip] == 1)
        skip++;
    const VfTensor *whole;
    VF_TRY(vf_field_tensor(cx->keep, sum, dtype, rank, dims, &whole, cx->err));
    *out = skip == 0 ? whole : vf_tensor_view(cx->keep, whole, rank - skip, dims + skip);
    VF_TRY_ALLOC(*out, cx->err);
    return VF_OK;
}

/* The constant operand of an Add that is the only reader of `value`: it can take the shift. -1:
 * there is none. */
static int32_t bias_slot(const VfValue *value, const VfNode *user)
{
    if (user == NULL || user->op != VF_OP_ADD || user->graph != value->graph)
        return -1;
    int32_t slot = vf_node_in(user, 0) == value ? 1 : 0;
    const VfTensor *bias = vf_value_const(vf_node_in(user, slot));
    bool can = bias != NULL && bias->dtype == value->type.dtype && bias->rank <= value->type.rank &&
               bias->count > 0 && user->out[0]->type.rank == value->type.rank;
    return can ? slot : -1;
}

/* value + shift, the shift having at most the value's rank: into the Add that follows, or by a new
 * one. */
static VfStatus add_after(const Cx *cx, VfValue *value, const VfField *shift, VfDtype dtype)
{
    VfNode *user = vf_value_single_user(value);
    int32_t slot = bias_slot(value, user), rank = shift->rank;
    const VfTensor *tensor;
    int64_t dims[VF_FIELD_RANK_MAX];
    if (slot < 0) {
        VF_TRY(trimmed_tensor(cx, shift, shift->dims, 1, dtype, &tensor));
        VfValue *sum = vf_rewrite_binary(cx->rw, VF_OP_ADD, value,
                                         vf_rewrite_const(cx->rw, tensor, "bias_folded"));
        vf_rewrite_replace(cx->rw, value, sum);
        return VF_OK;
    }
    const VfTensor *bias = vf_value_const(vf_node_in(user, slot));
    VfField old, sum, more = with_rank(shift, bias->rank > rank ? bias->rank : rank);
    bool fits;
    VF_TRY(vf_field_of_tensor(cx->scratch, bias, more.rank, &old, &fits, cx->err));
    VF_TRY(vf_field_combine(cx->scratch, '+', &old, &more, &sum, &fits, cx->err));
    if (!fits)
        return vf_fail(cx->err, VF_INTERNAL, "the bias after '%s' has another shape",
                       vf_value_label(value));
    joint_dims(more.rank, bias, &more, dims);
    VF_TRY(trimmed_tensor(cx, &sum, dims, bias->rank, dtype, &tensor));
    set_const(cx, user, slot, tensor, "bias_folded");
    return VF_OK;
}

/* --- constants --- */

/* k becomes a⊙k + c. */
static VfStatus apply_const(const Cx *cx, const VfFoldStep *step)
{
    const VfTensor *k = vf_value_const(vf_node_in(step->node, step->slot)), *tensor;
    const VfAffine *f = &step->affine;
    VfField old, scaled, sum;
    int64_t dims[VF_FIELD_RANK_MAX];
    bool fits;
    VF_TRY(vf_field_of_tensor(cx->scratch, k, f->a.rank, &old, &fits, cx->err));
    if (fits)
        VF_TRY(vf_field_combine(cx->scratch, '*', &f->a, &old, &scaled, &fits, cx->err));
    if (fits)
        VF_TRY(vf_field_combine(cx->scratch, '+', &scaled, &f->c, &sum, &fits, cx->err));
    if (!fits)
        return vf_fail(cx->err, VF_DIFFERS, "the constant of '%s' has another shape",
                       vf_node_label(step->node));
    joint_dims(f->a.rank, k, &sum, dims);
    VF_TRY(trimmed_tensor(cx, &sum, dims, k->rank, k->dtype, &tensor));
    set_const(cx, step->node, step->slot, tensor, "constant_folded");
    return VF_OK;
}

/* --- weights --- */

/* The weights in `slot` take up the scale on `w_axis`, which varies along `axis`. What the shift
 * then adds goes to `sum` (NULL: not wanted). */
static VfStatus scale_weights(const Cx *cx, const VfFoldStep *step, int32_t slot, int32_t w_axis,
                              int32_t axis, VfField *sum)
{
    VfWeightFold job = {.keep = cx->keep,
                        .scratch = cx->scratch,
                        .w = vf_value_const(vf_node_in(step->node, slot)),
                        .axis = w_axis,
                        .field_axis = axis,
                        .scale = &step->affine.a,
                        .shift = sum != NULL ? &step->affine.c : NULL};
    VF_TRY(vf_weights_fold(&job, cx->err));
    if (sum != NULL)
        *sum = job.sum;
    set_const(cx, step->node, slot, job.scaled, "weight_folded");
    return VF_OK;
}

/* --- MatMul --- */

/* The contracted axis goes, except where rows of the other operand keep its place. */
static VfField drop_axis(const VfField *x, int32_t axis)
{
    VfField less = *x;
    less.rank = x->rank - 1;
    for (int32_t i = axis; i < less.rank; i++)
        less.dims[i] = x->dims[i + 1];
    return less;
}

static VfStatus matmul_next(const Cx *cx, const VfFoldStep *step)
{
    VfNode *node = step->node;
    const VfTensor *w = vf_value_const(vf_node_in(node, 1 - step->slot));
    const VfAffine *f = &step->affine;
    int32_t rank = f->a.rank;
    int32_t axis = step->slot == 0 || rank == 1 ? rank - 1 : rank - 2;
    int32_t w_axis = step->slot == 1 || w->rank == 1 ? w->rank - 1 : w->rank - 2;
    bool has_shift = !vf_field_is_all(&f->c, 0.0), is_even = vf_field_is_on_axis(&f->c, axis);
    VfField shift;
    VF_TRY(scale_weights(cx, step, 1 - step->slot, w_axis, axis,
                         has_shift && is_even ? &shift : NULL));
    if (!has_shift)
        return VF_OK;
    if (!is_even) {
        VF_TRY(vf_weights_contract_map(cx->scratch, w, w_axis, &f->c, axis, &shift, cx->err));
        return add_after(cx, node->out[0], &shift, w->dtype);
    }
    bool keeps_axis = rank > 1 && w->rank > 1 && (step->slot == 1 || w->rank > 2);
    if (!keeps_axis)
        shift = drop_axis(&shift, w_axis);
    return add_after(cx, node->out[0], &shift, w->dtype);
}

static VfStatus matmul_previous(const Cx *cx, const VfFoldStep *step)
{
    VfNode *node = step->node;
    const VfTensor *w = vf_value_const(vf_node_in(node, step->slot));
    const VfAffine *f = &step->affine;
    int32_t axis = step->slot == 1 ? f->a.rank - 1 : f->a.rank - 2;
    int32_t w_axis = step->slot == 1 ? w->rank - 1 : w->rank - 2;
    VF_TRY(scale_weights(cx, step, step->slot, w_axis, axis, NULL));
    if (vf_field_is_all(&f->c, 0.0))
        return VF_OK;
    VfField shift;
    int64_t dims[VF_FIELD_RANK_MAX];
    for (int32_t i = 0; i < f->c.rank; i++)
        dims[i] = i == axis ? w->dims[w_axis] : 1;
    VF_TRY(vf_field_expand(cx->scratch, &f->c, dims, &shift, cx->err));
    return add_after(cx, node->out[0], &shift, w->dtype);
}

/* --- Einsum --- */

/* A field under the axes of the weights, under those of the result; what the weights lack is 1
 * long. */
static VfStatus to_result(const Cx *cx, const VfProduct *p, int32_t w, const VfField *x,
                          VfField *out)
{
    int64_t perm[VF_FIELD_RANK_MAX], dims[VF_FIELD_RANK_MAX];
    int32_t n = 0;
    for (int32_t a = 0; a < p->out_rank; a++) {
        int32_t from = vf_product_axis(p, w, p->out_letter[a]);
        dims[a] = from < 0 ? 1 : x->dims[from];
        if (from >= 0)
            perm[n++] = from;
    }
    for (int32_t a = 0; a < p->rank[w]; a++)
        if (vf_product_out_axis(p, p->letter[w][a]) < 0)
            perm[n++] = a;
    VF_TRY(vf_field_transpose(cx->scratch, x, perm, out, cx->err));
    out->rank = p->out_rank;
    memcpy(out->dims, dims, sizeof *dims * (size_t)out->rank);
    return VF_OK;
}

static VfStatus einsum_next(const Cx *cx, const VfFoldStep *step)
{
    VfProduct p;
    int32_t axis = 0, w_axis = 0, w = 1 - step->slot;
    VfField sum, shift;
    if (!vf_einsum_sum_axes(step->node, step->slot, &p, &axis, &w_axis))
        return vf_fail(cx->err, VF_INTERNAL, "'%s' has no weights", vf_node_label(step->node));
    VfDtype dtype = vf_value_const(p.in[w])->dtype;
    bool has_shift = !vf_field_is_all(&step->affine.c, 0.0);
    VF_TRY(scale_weights(cx, step, w, w_axis, axis, has_shift ? &sum : NULL));
    if (!has_shift)
        return VF_OK;
    VF_TRY(to_result(cx, &p, w, &sum, &shift));
    return add_after(cx, step->node->out[0], &shift, dtype);
}

static VfStatus einsum_previous(const Cx *cx, const VfFoldStep *step)
{
    VfProduct p;
    const VfAffine *f = &step->affine;
    int32_t w = vf_einsum_weights(step->node, &p), w_axis = 0, axis = -1;
    for (int32_t a = 0; w >= 0 && a < p.rank[w]; a++) {
        int32_t at = vf_product_out_axis(&p, p.letter[w][a]);
        if (axis >= 0 || at < 0 || !vf_affine_is_on_axis(f, at))
            continue;
        axis = at;
        w_axis = a;
    }
    if (axis < 0)
        return vf_fail(cx->err, VF_INTERNAL, "'%s' has no weights", vf_node_label(step->node));
    VfDtype dtype = vf_value_const(p.in[w])->dtype;
    int64_t dims[VF_FIELD_RANK_MAX];
    for (int32_t i = 0; i < f->c.rank; i++)
        dims[i] = i == axis ? vf_value_const(p.in[w])->dims[w_axis] : 1;
    VF_TRY(scale_weights(cx, step, w, w_axis, axis, NULL));
    if (vf_field_is_all(&f->c, 0.0))
        return VF_OK;
    VfField shift;
    VF_TRY(vf_field_expand(cx->scratch, &f->c, dims, &shift, cx->err));
    return add_after(cx, step->node->out[0], &shift, dtype);
}

/* --- Gemm --- */

/* New C = scale⊙C + shift/beta, or an Add behind where C does not count or is no constant. `shift`
 * has two axes and at least the extents `least`. */
static VfStatus gemm_bias(const Cx *cx, VfNode *node, const VfField *scale, const VfField *shift,
                          const int64_t *least, VfDtype dtype)
{
    const VfValue *c = vf_node_in(node, 2);
    const VfTensor *old = vf_value_const(c), *tensor;
    double beta = vf_node_float(node, "beta");
    bool is_counted = beta < 0.0 || beta > 0.0;
    VfField bias, scaled, part, sum, inverse;
    bool fits = true;
    if (!is_counted || (c != NULL && old == NULL))
        return vf_field_is_all(shift, 0.0) ? VF_OK : add_after(cx, node->out[0], shift, dtype);
    VF_TRY(vf_field_uniform(cx->scratch, 2, 0.0, &bias, cx->err));
    if (old != NULL)
        VF_TRY(vf_field_of_tensor(cx->scratch, old, 2, &bias, &fits, cx->err));
    VF_TRY(vf_field_uniform(cx->scratch, 2, 1.0 / beta, &inverse, cx->err));
    if (fits)
        VF_TRY(vf_field_combine(cx->scratch, '*', scale, &bias, &scaled, &fits, cx->err));
    if (fits)
        VF_TRY(vf_field_combine(cx->scratch, '*', shift, &inverse, &part, &fits, cx->err));
    if (fits)
        VF_TRY(vf_field_combine(cx->scratch, '+', &scaled, &part, &sum, &fits, cx->err));
    if (!fits)
        return vf_fail(cx->err, VF_DIFFERS, "the bias of '%s' has another shape",
                       vf_node_label(node));
    int64_t dims[2];
    for (int32_t i = 0; i < 2; i++)
        dims[i] = least[i] > sum.dims[i] ? least[i] : sum.dims[i];
    VF_TRY(trimmed_tensor(cx, &sum, dims, 1, dtype, &tensor));
    set_const(cx, node, 2, tensor, "bias_folded");
    return VF_OK;
}

static VfStatus gemm_next(const Cx *cx, const VfFoldStep *step)
{
    VfNode *node = step->node;
    bool is_left = step->slot == 0;
    const VfTensor *w = vf_value_const(vf_node_in(node, 1 - step->slot));
    const VfAffine *f = &step->affine;
    bool is_trans_x = vf_node_int(node, is_left ? "transA" : "transB") != 0;
    bool is_trans_w = vf_node_int(node, is_left ? "transB" : "transA") != 0;
    int32_t axis = is_left != is_trans_x ? 1 : 0, w_axis = is_left != is_trans_w ? 0 : 1;
    bool has_shift = !vf_field_is_all(&f->c, 0.0), is_even = vf_field_is_on_axis(&f->c, axis);
    VfField sum, shift, one, alpha;
    bool fits;
    VF_TRY(scale_weights(cx, step, 1 - step->slot, w_axis, axis,
                         has_shift && is_even ? &sum : NULL));
    if (!has_shift)
        return VF_OK;
    if (is_even)
        VF_TRY(vf_field_on_axis(cx->scratch, 2, axis, sum.count, sum.data, &sum, cx->err));
    else
        VF_TRY(vf_weights_contract_map(cx->scratch, w, w_axis, &f->c, axis, &sum, cx->err));
    if (is_trans_x) {
        const int64_t perm[] = {1, 0};
        VfField turned;
        VF_TRY(vf_field_transpose(cx->scratch, &sum, perm, &turned, cx->err));
        sum = turned;
    }
    VF_TRY(vf_field_uniform(cx->scratch, 2, vf_node_float(node, "alpha"), &alpha, cx->err));
    VF_TRY(vf_field_combine(cx->scratch, '*', &sum, &alpha, &shift, &fits, cx->err));
    VF_TRY(vf_field_uniform(cx->scratch, 2, 1.0, &one, cx->err));
    return gemm_bias(cx, node, &one, &shift, sum.dims, w->dtype);
}

static VfStatus gemm_previous(const Cx *cx, const VfFoldStep *step)
{
    VfNode *node = step->node;
    const VfTensor *w = vf_value_const(vf_node_in(node, step->slot));
    const VfAffine *f = &step->affine;
    bool is_trans = vf_node_int(node, step->slot == 1 ? "transB" : "transA") != 0;
    int32_t axis = step->slot, w_axis = (step->slot == 1) != is_trans ? 1 : 0;
    VF_TRY(scale_weights(cx, step, step->slot, w_axis, axis, NULL));
    VfField shift;
    int64_t n = w->dims[w_axis], dims[2] = {axis == 0 ? n : 1, axis == 0 ? 1 : n};
    VF_TRY(vf_field_expand(cx->scratch, &f->c, dims, &shift, cx->err));
    if (vf_node_in(node, 2) == NULL && vf_field_is_all(&shift, 0.0))
        return VF_OK;
    return gemm_bias(cx, node, &f->a, &shift, dims, w->dtype);
}

/* --- Conv, ConvTranspose --- */

static VfStatus scale_group(const Cx *cx, const VfFoldStep *step, int64_t group)
{
    const VfTensor *w = vf_value_const(vf_node_in(step->node, 1)), *scaled;
    VF_TRY(vf_weights_scale_group(cx->keep, w, group, &step->affine.a, &scaled, cx->err));
    set_const(cx, step->node, 1, scaled, "weight_folded");
    return VF_OK;
}

/* The bias [O] = scale⊙b + shift; fields of the weights' rank on axis 1. */
static VfStatus conv_bias(const Cx *cx, VfNode *node, const VfField *scale, const VfField *shift,
                          int64_t n_out, VfDtype dtype)
{
    const VfTensor *old = vf_value_const(vf_node_in(node, 2)), *tensor;
    double *bias = VF_NEW_ARRAY(cx->scratch, double, (size_t)n_out);
    VF_TRY_ALLOC(bias, cx->err);
    if (old != NULL && old->count != (size_t)n_out)
        return vf_fail(cx->err, VF_DIFFERS, "the bias of '%s' has another shape",
                       vf_node_label(node));
    for (int64_t i = 0; i < n_out; i++) {
        double b = old != NULL ? vf_tensor_get_double(old, (size_t)i) : 0.0;
        bias[i] = vf_field_at(scale, 1, i) * b + vf_field_at(shift, 1, i);
    }
    VfField field = {.rank = 1, .dims = {n_out}, .count = (size_t)n_out, .data = bias};
    VF_TRY(vf_field_tensor(cx->keep, &field, dtype, 1, &n_out, &tensor, cx->err));
    set_const(cx, node, 2, tensor, "bias_folded");
    return VF_OK;
}

/* A shift that differs at the border: y = conv(x) + map, the map holding the constant bias too. */
static VfStatus conv_map(const Cx *cx, VfNode *node, const VfField *shift, int64_t n_out,
                         VfDtype dtype)
{
    const VfTensor *old = vf_value_const(vf_node_in(node, 2));
    VfField map = *shift, bias;
    bool fits = true;
    if (old != NULL) {
        double *b = VF_NEW_ARRAY(cx->scratch, double, (size_t)n_out);
        VF_TRY_ALLOC(b, cx->err);
        for (size_t i = 0; i < (size_t)n_out && i < old->count; i++)
            b[i] = vf_tensor_get_double(old, i);
        VF_TRY(vf_field_on_axis(cx->scratch, shift->rank, 1, (size_t)n_out, b, &bias, cx->err));
        VF_TRY(vf_field_combine(cx->scratch, '+', shift, &bias, &map, &fits, cx->err));
        vf_rewrite_set_in(cx->rw, node, 2, VF_NO_OPERAND);
    }
    return add_after(cx, node->out[0], &map, dtype);
}

static VfStatus conv_next(const Cx *cx, const VfFoldStep *step)
{
    VfNode *node = step->node;
    const VfTensor *w = vf_value_const(vf_node_in(node, 1));
    const VfAffine *f = &step->affine;
    bool is_conv = node->op == VF_OP_CONV;
    int64_t group = vf_node_int(node, "group"), n_out = is_conv ? w->dims[0] : w->dims[1] * group;
    VF_TRY(is_conv ? scale_group(cx, step, group) : scale_weights(cx, step, 1, 0, 1, NULL));
    if (vf_field_is_all(&f->c, 0.0))
        return VF_OK;
    VfConvFrame frame;
    VfField shift, one;
    bool is_even = !vf_conv_has_border(node) && vf_field_is_on_axis(&f->c, 1);
    bool has_frame = !is_even && vf_conv_frame(node, &frame);
    VF_TRY(vf_conv_shift(cx->scratch, node, w, &f->c, has_frame ? &frame : NULL, &shift, cx->err));
    bool is_open = vf_node_in(node, 2) != NULL && vf_value_const(vf_node_in(node, 2)) == NULL;
    if (is_open || !vf_field_is_on_axis(&shift, 1))
        return conv_map(cx, node, &shift, n_out, w->dtype);
    VF_TRY(vf_field_uniform(cx->scratch, w->rank, 1.0, &one, cx->err));
    return conv_bias(cx, node, &one, &shift, n_out, w->dtype);
}

static VfStatus conv_previous(const Cx *cx, const VfFoldStep *step)
{
    VfNode *node = step->node;
    const VfTensor *w = vf_value_const(vf_node_in(node, 1));
    const VfAffine *f = &step->affine;
    bool is_conv = node->op == VF_OP_CONV;
    int64_t group = vf_node_int(node, "group"), n_out = is_conv ? w->dims[0] : w->dims[1] * group;
    VF_TRY(is_conv ? scale_weights(cx, step, 1, 0, 1, NULL) : scale_group(cx, step, group));
    if (vf_node_in(node, 2) == NULL && vf_field_is_all(&f->c, 0.0))
        return VF_OK;
    return conv_bias(cx, node, &f->a, &f->c, n_out, w->dtype);
}

/* --- */

typedef VfStatus StepFn(const Cx *cx, const VfFoldStep *step);

/* Layer, what to do when it reads the norm, what to do when the norm reads it. */
static const struct Layer {
    VfOp op;
    StepFn *next, *previous;
} layer[] = {
    {VF_OP_MATMUL, matmul_next, matmul_previous},
    {VF_OP_GEMM, gemm_next, gemm_previous},
    {VF_OP_EINSUM, einsum_next, einsum_previous},
    {VF_OP_CONV, conv_next, conv_previous},
    {VF_OP_CONV_TRANSPOSE, conv_next, conv_previous},
};

static VfStatus apply_step(const Cx *cx, const VfFoldStep *step)
{
    if (step->kind == VF_FOLD_INTO_CONST)
        return apply_const(cx, step);
    for (size_t i = 0; i < sizeof layer / sizeof layer[0]; i++) {
        if (layer[i].op == step->node->op)
            return step->kind == VF_FOLD_INTO_NEXT ? layer[i].next(cx, step)
                                                   : layer[i].previous(cx, step);
    }
    return vf_fail(cx->err, VF_INTERNAL, "no way to fold into '%s'", vf_node_label(step->node));
}

VfStatus vf_fold_apply(VfRewrite *rw, const VfFoldWalk *walk, VfErr *err)
{
    Cx cx = {.rw = rw, .scratch = walk->arena, .keep = walk->model->arena, .err = err};
    for (size_t i = 0; i < walk->n_step; i++)
        VF_TRY(apply_step(&cx, &walk->step[i]));
    return VF_OK;
}
