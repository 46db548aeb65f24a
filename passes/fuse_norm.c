/* Before     y = scale (x - mean x) / sqrt(var x + epsilon) + shift, or scale x / sqrt(mean x² +
 *            epsilon), written out in any spelling (passes/match/norm.h), over the last axes
 * After      y = LayerNormalization(x, scale, shift), or RMSNormalization(x, scale)
 * Why valid  the operators are defined by these formulas; a scale that is absent is one
 * Requires   constant scale and shift, known lengths of the axes, an opset with the operator
 * Exactness  rounding: the operator sums in another order
 * Source     ONNX LayerNormalization (opset 17), RMSNormalization (opset 23)
 * Limits     a Euclidean norm with a floor is another function near zero and stays
 */
#include "passes/fuse_site.h"
#include "passes/match/facts.h"
#include "passes/match/norm.h"
#include "passes/pass.h"
#include "passes/rewrite/rewrite.h"

enum { N_SWEEP_MAX = 64, LAYER_OPSET = 17, RMS_OPSET = 23 };

/* --- facts --- */

static bool is_over_last(const VfLayerNorm *norm)
{
    for (int32_t i = 0; i < norm->n_axis; i++) {
        if (norm->axis[i] != norm->x->type.rank - norm->n_axis + i)
            return false;
    }
    return norm->n_axis > 0;
}

/* A constant that the operator can hold: of x's dtype, each dim one or that of the axis. */
static bool is_part(const VfLayerNorm *norm, const VfValue *value)
{
    const VfTensor *t = vf_value_const(value);
    if (value == NULL)
        return true;
    if (t == NULL || t->dtype != norm->x->type.dtype || t->rank > norm->x->type.rank)
        return false;
    for (int32_t i = 0; i < t->rank; i++) {
        VfDim dim = vf_dim_at(norm->x, norm->x->type.rank - t->rank + i);
        if (t->dims[i] != 1 && !vf_dim_is(dim, t->dims[i]))
            return false;
    }
    return true;
}

/* The norm as the operator has it. Half numbers cast to floats, normalised, cast back and scaled
 * are what it does by itself: its stash_type is float. */
static VfLayerNorm before_cast(const VfLayerNorm *norm)
{
    VfLayerNorm at = *norm;
    const VfNode *cast = vf_def_if(norm->x, VF_OP_CAST);
    const VfValue *half = cast != NULL ? vf_node_in(cast, 0) : NULL;
    bool is_half = half != NULL && (half->type.dtype == VF_F16 || half->type.dtype == VF_BF16);
    if (is_half && norm->x->type.dtype == VF_F32 && norm->y->type.dtype == half->type.dtype)
        at.x = vf_node_in(cast, 0);
    return at;
}

/* Why the norm stays written out, or NULL. */
static const char *why_not(VfPassCx *cx, const VfLayerNorm *norm)
{
    VfFuseSite site;
    if (!is_over_last(norm))
        return "it normalises over axes that are not the last ones";
    if (!vf_fuse_collect(norm->x, norm->y, &site))
        return "it has too many nodes";
    if (norm->differs != NULL)
        return norm->differs;
    const VfValue *shared = vf_fuse_shared(&site);
    if (shared != NULL)
        return vf_arena_printf(cx->arena, "'%s' inside the norm is also used outside of it",
                               vf_value_label(shared));
    if (!vf_dim_is_known(norm->width))
        return "the number of elements normalised over is not known";
    VfLayerNorm at = before_cast(norm);
    if (!is_part(&at, at.scale) || !is_part(&at, at.shift) || !vf_fuse_same_type(at.x, at.y))
        return "its result has another type than what it normalises";
    return NULL;
}

static int32_t opset_of_operator(const VfLayerNorm *norm)
{
    return norm->is_rms ? RMS_OPSET : LAYER_OPSET;
}

static bool opset_has_it(const VfLayerNorm *norm)
{
    return vf_graph_opset(norm->last->graph, vf_bytes("")) >= opset_of_operator(norm);
}

static VfStatus tell_opset(VfPassCx *cx, const VfLayerNorm *norm, VfErr *err)
{
    return vf_pass_no_site(cx, norm->label, norm->last, err,
                           "opset %d has no %s, which came with %d: convert with --opset %d",
                           (int)vf_graph_opset(norm->last->graph, vf_bytes("")),
                           norm->is_rms ? "RMSNormalization" : "LayerNormalization",
                           opset_of_operator(norm), opset_of_operator(norm));
}

/* --- building --- */

/* Element of a constant, broadcast along the last axes, that belongs to position `at` of them. */
static size_t source_index(const VfTensor *t, int32_t n, const int64_t *dims, size_t at)
{
    size_t index = 0, step = 1;
    for (int32_t k = 1; k <= n; k++) {
        size_t length = (size_t)dims[n - k], digit = at % length;
        at /= length;
        if (k <= t->rank && t->dims[t->rank - k] != 1) {
            index += digit * step;
            step *= length;
        }
    }
    return index;
}

static bool has_dims(const VfTensor *t, int32_t n, const int64_t *dims)
{
    bool is_same = t->rank == n;
    for (int32_t i = 0; is_same && i < n; i++)
        is_same = t->dims[i] == dims[i];
    return is_same;
}

/* The constant with exactly the dims of the axes; `from` NULL: ones. */
static VfValue *part(VfPassCx *cx, VfRewrite *rw, const VfLayerNorm *norm, VfValue *from,
                     const char *hint)
{
    int64_t dims[VF_AXIS_MAX];
    const VfTensor *old = vf_value_const(from);
    VfTensor *tensor = NULL;
    void *data = NULL;
    for (int32_t i = 0; i < norm->n_axis; i++)
        dims[i] = vf_dim_at(norm->x, norm->axis[i]).k;
    if (old != NULL && has_dims(old, norm->n_axis, dims))
        return from;
    VfDtype dtype = norm->x->type.dtype;
    if (vf_tensor_new(cx->model->arena, dtype, norm->n_axis, dims, &tensor, &data, NULL) == VF_OK) {
        for (size_t i = 0; i < tensor->count; i++) {
            size_t at = old != NULL ? source_index(old, norm->n_axis, dims, i) : 0;
            vf_tensor_put_double(data, dtype, i,
                                 old != NULL ? vf_tensor_get_double(old, at) : 1.0);
        }
    }
    VfValue *value = vf_rewrite_const(rw, tensor, hint);
    if (from != NULL)
        vf_rewrite_weight(rw, from, value);
    return value;
}

static VfStatus fuse(VfPassCx *cx, const VfLayerNorm *norm, VfErr *err)
{
    VfRewriteInfo info = {cx->pass, norm->is_rms ? "rms-norm" : "layer-norm", norm->label, NULL};
    VfRewrite *rw = vf_rewrite_begin(cx->journal, norm->last, info);
    VF_TRY_ALLOC(rw, err);
    VfValue *in[3] = {norm->x, part(cx, rw, norm, norm->scale, "scale"), NULL};
    int32_t n_in = 2;
    if (norm->shift != NULL)
        in[n_in++] = part(cx, rw, norm, norm->shift, "shift");
    VfOp op = norm->is_rms ? VF_OP_RMS_NORMALIZATION : VF_OP_LAYER_NORMALIZATION;
    VfValue *y = vf_rewrite_node(rw, op, n_in, in);
    vf_rewrite_int(rw, "axis", -norm->n_axis);
    vf_rewrite_float(rw, "epsilon", (float)norm->epsilon);
    vf_rewrite_replace(rw, norm->y, y);
    vf_rewrite_note(rw, "over %lld elements, epsilon %g", (long long)norm->width.k, norm->epsilon);
    return vf_rewrite_commit(rw, err);
}

/* --- sites --- */

static bool is_alive(const VfLayerNorm *norm)
{
    const VfNode *def = norm->x->def;
    return norm->last->is_linked && norm->root->is_linked && (def == NULL || def->is_linked);
}

/* A site whose x an edit of this sweep replaced waits for the next. Refusals are recorded once, in
 * the sweep that changes nothing. */
static VfStatus sweep(VfPassCx *cx, bool is_last, VfErr *err)
{
    VfNorms found;
    VF_TRY(vf_find_norms(cx->arena, cx->model, &found, err));
    for (int32_t i = 0; i < found.n_layer && (is_last || vf_pass_may_edit(cx)); i++) {
        const VfLayerNorm *norm = &found.layer[i];
        /* numbered among all norms of the model, so that a rewritten site keeps its number */
        VfSiteFacts facts = {.index = i, .label = norm->label};
        bool selected = false;
        VF_TRY(vf_sites_select(&cx->sites, &facts, &selected, err));
        if (!selected || !norm->is_decomposed || !is_alive(norm))
            continue;
        const char *why = why_not(cx, norm);
        if (why != NULL && is_last)
            VF_TRY(vf_pass_refuse(cx, norm->label, norm->last, err, "%s", why));
        if (why == NULL && is_last && !opset_has_it(norm))
            VF_TRY(tell_opset(cx, norm, err));
        VfLayerNorm at = before_cast(norm);
        if (why == NULL && !is_last && opset_has_it(norm))
            VF_TRY(fuse(cx, &at, err));
    }
    return VF_OK;
}

static VfStatus run(VfPassCx *cx, VfErr *err)
{
    return vf_pass_sweep(cx, sweep, N_SWEEP_MAX, err);
}

const VfPass vf_pass_fuse_norm = {
    .name = "fuse-norm",
    .summary = "a LayerNorm or RMSNorm written out to the operator",
    .source = "ONNX LayerNormalization (opset 17), RMSNormalization (opset 23)",
    .exactness = VF_ROUNDING,
    .is_default = true,
    .run = run,
};
