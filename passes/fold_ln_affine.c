/* Before     LayerNorm or RMSNorm with a scale or shift, operator or written out; readers end in
 *            MatMul, Gemm, Einsum, Conv or ConvTranspose with constant weights, perhaps through
 *            operators that commute with a scale and shift per channel
 * After      the same norm without scale and shift, the layers with other weights and biases
 * Why valid  the norm's result is f(n) = a⊙n + c of the normalised n; W(a⊙n + c) + b =
 *            (W diag a) n + (b + W c)
 * Requires   every reader of the norm's result ends in such a layer; scale and shift constant
 * Exactness  rounding: computed in double, rounded once
 * Source     spec of the conversion passes, sections 2.2 and 2.3; ONNX LayerNormalization (17),
 *            RMSNormalization (23)
 * Limits     a reader that is a residual sum or a graph output keeps the affine part; the
 *            operators need a scale: it becomes ones
 */
#include <math.h>

#include "passes/apart.h"
#include "passes/fold/apply.h"
#include "passes/ir/attr.h"
#include "passes/match/norm.h"
#include "passes/pass.h"
#include "passes/rewrite/rewrite.h"

/* A scale of ones that an earlier site made: norms of one width share it. */
typedef struct Ones {
    VfValue *value;
    const VfTensor *like;
} Ones;

enum { N_ONES_MAX = 16 };

typedef struct Run {
    VfPassCx *cx;
    VfArena *arena; /* of one site */
    Ones ones[N_ONES_MAX];
    int32_t n_ones;
} Run;

/* What one norm becomes. */
typedef struct Site {
    const VfLayerNorm *norm;
    const VfTensor *scale, *shift; /* NULL: none */
    VfValue *plain;                /* written out: the value before scale and shift */
    VfAffine affine;
    VfFoldWalk walk;
} Site;

static bool is_operator(const VfLayerNorm *norm)
{
    return !norm->is_decomposed;
}

/* The other operand of a node of `op` that reads `term`. */
static VfValue *other_operand(const VfValue *result, VfOp op, const VfValue *term)
{
    VfNode *node = result->kind == VF_VALUE_RESULT ? result->def : NULL;
    if (node == NULL || node->op != op || node->n_in != 2)
        return NULL;
    if (vf_node_in(node, 1) == term)
        return vf_node_in(node, 0);
    return vf_node_in(node, 0) == term ? vf_node_in(node, 1) : NULL;
}

/* Written out, the scale and then the shift come last. */
static const char *find_plain(Site *site)
{
    VfValue *value = site->norm->y;
    if (site->norm->shift != NULL)
        value = other_operand(value, VF_OP_ADD, site->norm->shift);
    if (value != NULL && site->norm->scale != NULL)
        value = other_operand(value, VF_OP_MUL, site->norm->scale);
    site->plain = value;
    return value != NULL ? NULL : "its scale and shift do not come last";
}

/* A field for `tensor`, or `rest` where there is none. */
static VfStatus field_of(const Run *run, const VfTensor *tensor, double rest, int32_t rank,
                         VfField *field, bool *fits, VfErr *err)
{
    *fits = true;
    if (tensor == NULL)
        return vf_field_uniform(run->arena, rank, rest, field, err);
    return vf_field_of_tensor(run->arena, tensor, rank, field, fits, err);
}

/* Why the scale or shift `value` cannot be read, or NULL. */
static const char *why_open(const Run *run, const char *name, const VfValue *value)
{
    if (value == NULL || vf_value_const(value) != NULL)
        return NULL;
    if (value->kind != VF_VALUE_INPUT)
        return "its scale or shift is not constant";
    return vf_arena_printf(run->cx->arena, "its %s is not constant but the input '%s'", name,
                           vf_value_label(value));
}

/* Scale and shift as a map of the result; `why` when they cannot be read as one. */
static VfStatus read_affine(const Run *run, Site *site, const char **why, VfErr *err)
{
    const VfLayerNorm *norm = site->norm;
    int32_t rank = norm->y->type.rank;
    bool fits_scale = false, fits_shift = false;
    site->scale = norm->scale != NULL ? vf_value_const(norm->scale) : NULL;
    site->shift = norm->shift != NULL ? vf_value_const(norm->shift) : NULL;
    *why = why_open(run, "scale", norm->scale);
    if (*why == NULL)
        *why = why_open(run, "shift", norm->shift);
    if (*why != NULL)
        return VF_OK;
    if (rank < 1 || rank > VF_FIELD_RANK_MAX)
        *why = "the rank of its result is not known";
    else if (!is_operator(norm))
        *why = find_plain(site);
    if (*why != NULL)
        return VF_OK;
    VfStatus status = field_of(run, site->scale, 1.0, rank, &site->affine.a, &fits_scale, err);
    if (status == VF_OK)
        status = field_of(run, site->shift, 0.0, rank, &site->affine.c, &fits_shift, err);
    if (status == VF_UNSUPPORTED || (status == VF_OK && !(fits_scale && fits_shift)))
        *why = "its scale and shift have another shape than its result";
    else if (status == VF_OK &&
             !(vf_field_is_finite(&site->affine.a) && vf_field_is_finite(&site->affine.c)))
        *why = "its scale and shift are not finite";
    return status == VF_UNSUPPORTED ? VF_OK : status;
}

/* --- rewriting --- */

static VfValue *ones_like(Run *run, VfRewrite *rw, const VfTensor *like)
{
    for (int32_t i = 0; i < run->n_ones; i++) {
        const Ones *o = &run->ones[i];
        bool is_same = o->like->dtype == like->dtype && o->like->rank == like->rank &&
                       o->value->graph == run->cx->model->graph;
        for (int32_t d = 0; is_same && d < like->rank; d++)
            is_same = o->like->dims[d] == like->dims[d];
        if (is_same)
            return o->value;
    }
    const VfTensor *tensor =
        vf_tensor_filled(run->cx->model->arena, like->dtype, like->rank, like->dims, 1.0);
    VfValue *value = vf_rewrite_const(rw, tensor, "ones");
    if (value != NULL && run->n_ones < N_ONES_MAX)
        run->ones[run->n_ones++] = (Ones){value, tensor};
    return value;
}

/* The operator again, its scale ones and without a shift. */
static VfValue *plain_operator(Run *run, VfRewrite *rw, const Site *site)
{
    const VfNode *node = site->norm->last;
    VfValue *in[2] = {site->norm->x, ones_like(run, rw, site->scale)};
    if (in[1] == NULL)
        return NULL;
    VfValue *out = vf_rewrite_node(rw, node->op, 2, in);
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
        vf_rewrite_attr(rw, attr);
    return out;
}

static VfStatus rewrite(Run *run, Site *site, VfErr *err)
{
    const VfLayerNorm *norm = site->norm;
    VfRewriteInfo info = {run->cx->pass, "norm-affine-into-next", norm->label, NULL};
    VfRewrite *rw = vf_rewrite_begin(run->cx->journal, norm->last, info);
    VF_TRY_ALLOC(rw, err);
    int32_t n_ones = run->n_ones;
    VfValue *plain = is_operator(norm) ? plain_operator(run, rw, site) : site->plain;
    VF_TRY_ALLOC(plain, err);
    /* First, so that what a step puts behind the result reaches its readers. */
    vf_rewrite_replace(rw, norm->y, plain);
    VfErr why = {0};
    VfStatus status = vf_fold_apply(rw, &site->walk, &why);
    if (status == VF_OK) {
        bool is_one = site->walk.n_step == 1;
        vf_rewrite_note(rw, "%d layer%s up the %s", (int)site->walk.n_step,
                        is_one ? " takes" : "s take",
                        site->shift == NULL   ? "scale"
                        : site->scale == NULL ? "shift"
                                              : "scale and shift");
        return vf_rewrite_commit(rw, err);
    }
    run->n_ones = n_ones; /* those of this rewrite are gone with it */
    if (status != VF_DIFFERS && status != VF_UNSUPPORTED)
        return vf_fail(err, status, "%s", why.text);
    return vf_pass_refuse(run->cx, norm->label, norm->last, err, "%s", why.text);
}

/* --- sites --- */

static bool is_nothing(const VfValue *value, double neutral)
{
    const VfTensor *tensor = value != NULL ? vf_value_const(value) : NULL;
    return value == NULL || (tensor != NULL && vf_tensor_is_all(tensor, neutral));
}

static bool has_other_results(const VfNode *node)
{
    for (int32_t i = 1; i < node->n_out; i++) {
        if (node->out[i] != NULL)
            return true;
    }
    return false;
}

static VfStatus visit_site(Run *run, const VfLayerNorm *norm, VfErr *err)
{
    Site *site = VF_NEW(run->arena, Site);
    const char *why = NULL;
    VF_TRY_ALLOC(site, err);
    site->norm = norm;
    if (is_operator(norm) && has_other_results(norm->last))
        why = "it also gives its mean or deviation";
    if (why == NULL)
        VF_TRY(read_affine(run, site, &why, err));
    if (why != NULL)
        return vf_pass_refuse(run->cx, norm->label, norm->last, err, "%s", why);
    VF_TRY(vf_fold_walk_forward(&site->walk, run->arena, run->cx->model, norm->y, &site->affine,
                                err));
    if (site->walk.why != NULL)
        return vf_pass_refuse(run->cx, norm->label,
                              site->walk.where != NULL ? site->walk.where : norm->last, err, "%s",
                              site->walk.why);
    return rewrite(run, site, err);
}

static bool is_current(const VfLayerNorm *norm)
{
    return norm->last->is_linked && norm->y->first_use != NULL;
}

/* The last norm first, as what follows is then settled. */
static VfStatus visit_sites(Run *run, VfErr *err)
{
    VfNorms norms;
    VF_TRY(vf_find_norms(run->cx->arena, run->cx->model, &norms, err));
    for (int32_t i = norms.n_layer - 1; i >= 0 && vf_pass_may_edit(run->cx); i--) {
        const VfLayerNorm *norm = &norms.layer[i];
        VfSiteFacts facts = {.index = i, .label = norm->label};
        bool selected;
        VF_TRY(vf_sites_select(&run->cx->sites, &facts, &selected, err));
        bool has_affine = !is_nothing(norm->scale, 1.0) || !is_nothing(norm->shift, 0.0);
        if (!selected || !has_affine || !is_current(norm))
            continue;
        VF_TRY(visit_site(run, norm, err));
        vf_arena_reset(run->arena);
    }
    return VF_OK;
}

static VfStatus run_pass(VfPassCx *cx, VfErr *err)
{
    Run run = {.cx = cx, .arena = vf_arena_new()};
    VF_TRY_ALLOC(run.arena, err);
    VfStatus status = vf_take_apart(cx, VF_APART_NORM, err);
    if (status == VF_OK)
        status = visit_sites(&run, err);
    vf_arena_free(run.arena);
    return status != VF_OK ? status : vf_pass_refuse_in_functions(cx, vf_layer_norm_op, err);
}

const VfPass vf_pass_fold_ln_affine = {
    .name = "fold-ln-affine",
    .summary = "move scale and shift of a LayerNorm or RMSNorm into the layers that read it",
    .source = "spec section 2.2; ONNX LayerNormalization, RMSNormalization",
    .exactness = VF_ROUNDING,
    .is_default = true,
    .run = run_pass,
};
