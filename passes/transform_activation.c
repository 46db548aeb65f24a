/* transform-activation: leaky ReLUs whose slope keeps a deep stack from collapsing.
 *
 * Before     y = act(x) between two layers, act = relu, gelu, silu, ...
 * After      y = sqrt(2 / (1 + s²)) LeakyRelu_s(x)
 * Why valid  it is another function: the network has to be trained again. s is solved so that the
 *            n-fold composition of C(c) = c + (1-s)² / (π (1+s²)) (sqrt(1-c²) - c arccos c) from
 *            0 is the target
 * Requires   x from a layer with weights and y to such layers, through biases, norms and moves
 * Exactness  VF_RETRAINED
 * Source     tailored activation transformation as used with SPA (arXiv 2302.10322); spec of the
 *            conversion passes, section 4.7
 * Limits     n counts the selected activations on the longest path of the main graph; gated units
 *            (act(x) times another value) and unreachable targets are refused
 */
#include <math.h>
#include <string.h>

#include "passes/apart.h"
#include "passes/fuse_site.h"
#include "passes/ir/attr.h"
#include "passes/match/depth.h"
#include "passes/match/facts.h"
#include "passes/match/pointwise.h"
#include "passes/match/residual.h"
#include "passes/pass.h"
#include "passes/rewrite/rewrite.h"
#include "passes/spa/schedule.h"

typedef struct TatOptions {
    int64_t n; /* 0: counted */
    double target;
} TatOptions;

static const VfOption option[] = {
    {.name = "n",
     .help = "number of non-linear layers; 0: the selected ones on the longest path",
     .type = VF_OPTION_INT,
     .offset = offsetof(TatOptions, n),
     .def = "0",
     .min = 0,
     .max = VF_TAT_MAX_LAYERS},
    {.name = "target",
     .help = "correlation that the stack maps 0 to",
     .type = VF_OPTION_DOUBLE,
     .offset = offsetof(TatOptions, target),
     .def = "0.9",
     .min = 0.001,
     .max = 0.999},
    {0},
};

enum { STEP_MAX = 24 };

typedef struct Activation {
    VfValue *x, *y;
    const char *name;
    bool is_done, is_gated, is_selected;
} Activation;

typedef struct Activations {
    Activation *site;
    int32_t n;
    size_t capacity;
} Activations;

/* --- recognition --- */

static bool is_mlp_function(const char *name)
{
    static const char *const known[] = {"relu",       "relu2", "relu6", "gelu", "quick_gelu",
                                        "silu",       "elu",   "celu",  "selu", "hard_swish",
                                        "leaky_relu", "mish",  "prelu"};
    for (size_t i = 0; name != NULL && i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i]) == 0)
            return true;
    }
    return false;
}

/* x sigmoid(c x) */
static bool is_quick_gelu(const VfNode *node, VfValue **x)
{
    for (int32_t i = 0; node->op == VF_OP_MUL && i < 2; i++) {
        const VfNode *gate = vf_def_if(vf_node_in(node, i), VF_OP_SIGMOID);
        const VfNode *scale = gate != NULL ? vf_def_if(vf_node_in(gate, 0), VF_OP_MUL) : NULL;
        int32_t slot;
        double factor;
        *x = vf_other_in(node, i);
        if (scale != NULL && vf_is_scale(scale, &slot, &factor, NULL) &&
            vf_node_in(scale, slot) == *x)
            return true;
    }
    return false;
}

/* x hardsigmoid(x) */
static bool is_hard_swish(const VfNode *node, VfValue **x)
{
    for (int32_t i = 0; node->op == VF_OP_MUL && i < 2; i++) {
        const VfNode *gate = vf_def_if(vf_node_in(node, i), VF_OP_HARD_SIGMOID);
        *x = vf_other_in(node, i);
        if (gate != NULL && vf_node_in(gate, 0) == *x)
            return true;
    }
    return false;
}

/* The leaky ReLU that this pass makes. */
static bool is_transformed(const VfNode *node, VfValue **x)
{
    int32_t slot;
    double factor;
    if (!vf_is_scale(node, &slot, &factor, NULL))
        return false;
    const VfNode *leaky = vf_def_if(vf_node_in(node, slot), VF_OP_LEAKY_RELU);
    if (leaky == NULL)
        return false;
    *x = vf_node_in(leaky, 0);
    return fabs(factor - vf_tat_scale((double)vf_node_float(leaky, "alpha"))) < 1e-5;
}

static bool recognise(VfNode *node, Activation *site)
{
    VfValue *out = vf_node_out(node, 0);
    *site = (Activation){.y = out};
    if (out == NULL)
        return false;
    if (node->op == VF_OP_ERF || node->op == VF_OP_TANH) {
        site->name = "gelu";
        return vf_gelu_find(node, &site->x, &site->y);
    }
    if (is_transformed(node, &site->x)) {
        site->name = "leaky_relu";
        site->is_done = true;
        return true;
    }
    site->name = "quick_gelu";
    if (is_quick_gelu(node, &site->x))
        return true;
    site->name = "hard_swish";
    if (is_hard_swish(node, &site->x))
        return true;
    site->name = vf_pointwise_of(out, &site->x);
    bool is_written_gelu = site->name != NULL && strcmp(site->name, "gelu") == 0 &&
                           node->op == VF_OP_MUL; /* found at its Erf */
    return is_mlp_function(site->name) && !is_written_gelu;
}

/* --- between layers --- */

static bool is_norm(VfOp op)
{
    return op == VF_OP_LAYER_NORMALIZATION || op == VF_OP_BATCH_NORMALIZATION ||
           op == VF_OP_GROUP_NORMALIZATION || op == VF_OP_INSTANCE_NORMALIZATION ||
           op == VF_OP_RMS_NORMALIZATION || op == VF_OP_SIMPLIFIED_LAYER_NORMALIZATION;
}

/* Does it pass on a part of its first operand? */
static bool is_part(VfOp op)
{
    return op == VF_OP_SLICE || op == VF_OP_GATHER || op == VF_OP_SPLIT;
}

/* Operand through which a bias, norm, move or constant factor passes a value on; -1 otherwise. */
static int32_t slot_through(const VfNode *node)
{
    if (vf_is_mover(node) || is_norm(node->op) || is_part(node->op) ||
        node->op == VF_OP_AVERAGE_POOL || node->op == VF_OP_MAX_POOL ||
        node->op == VF_OP_GLOBAL_AVERAGE_POOL || node->op == VF_OP_REDUCE_MEAN)
        return 0;
    bool is_binary = node->op == VF_OP_ADD || node->op == VF_OP_SUB || node->op == VF_OP_MUL ||
                     node->op == VF_OP_DIV;
    for (int32_t i = 0; is_binary && i < 2; i++) {
        if (vf_other_in(node, i) != NULL && vf_is_fixed(vf_other_in(node, i)))
            return i;
    }
    return -1;
}

static bool is_from_layer(const VfValue *x)
{
    for (int32_t i = 0; i < STEP_MAX && x != NULL && x->kind == VF_VALUE_RESULT; i++) {
        if (vf_is_layer(x->def))
            return true;
        int32_t slot = slot_through(x->def);
        x = slot >= 0 ? vf_node_in(x->def, slot) : NULL;
    }
    return false;
}

/* Do all readers of `y` that compute with its numbers lead to layers, in `budget` nodes? A gate,
 * the factor of another value, ends the way too. */
static bool is_to_layers(const VfValue *y, int32_t *budget, bool *is_gated)
{
    int32_t n_reader = 0;
    for (const VfUse *use = y != NULL ? y->first_use : NULL; use != NULL; use = use->next) {
        const VfNode *reader = use->node;
        if (reader->op == VF_OP_SHAPE || reader->op == VF_OP_SIZE)
            continue;
        n_reader++;
        if (vf_is_layer(reader))
            continue;
        int32_t slot = reader->op == VF_OP_CONCAT ? use->slot : slot_through(reader);
        bool is_square = reader->op == VF_OP_MUL && vf_node_in(reader, 0) == vf_node_in(reader, 1);
        if (reader->op == VF_OP_MUL && slot < 0 && !is_square)
            *is_gated = true;
        else if (slot != use->slot || (*budget)-- <= 0 ||
                 !is_to_layers(vf_node_out(reader, 0), budget, is_gated))
            return false;
    }
    return n_reader > 0;
}

static VfStatus list_site(VfPassCx *cx, Activations *all, const Activation *site, VfErr *err)
{
    for (int32_t i = 0; i < all->n; i++) {
        if (all->site[i].y == site->y || (site->is_done && all->site[i].x == site->x &&
                                          vf_def_if(all->site[i].y, VF_OP_LEAKY_RELU) != NULL)) {
            all->site[i] = *site;
            return VF_OK;
        }
    }
    VF_TRY(vf_arena_grow(cx->arena, (void **)&all->site, &all->capacity, (size_t)all->n + 1,
                         sizeof *all->site, err));
    all->site[all->n++] = *site;
    return VF_OK;
}

static VfStatus find_sites(VfPassCx *cx, Activations *all, VfErr *err)
{
    for (VfNode *node = cx->model->graph->first_node; node != NULL; node = node->next) {
        Activation site;
        int32_t budget = STEP_MAX;
        if (recognise(node, &site) && is_from_layer(site.x) &&
            is_to_layers(site.y, &budget, &site.is_gated))
            VF_TRY(list_site(cx, all, &site, err));
    }
    for (int32_t i = 0; i < all->n; i++) {
        VfSiteFacts facts = {.index = i, .label = vf_node_label(all->site[i].y->def)};
        VF_TRY(vf_sites_select(&cx->sites, &facts, &all->site[i].is_selected, err));
    }
    return VF_OK;
}

/* --- number of layers --- */

/* Selected sites on the longest path. */
static VfStatus count_layers(VfPassCx *cx, const Activations *all, int32_t *n, VfErr *err)
{
    bool *counts = VF_NEW_ARRAY(cx->arena, bool, (size_t)cx->model->n_node_id + 1);
    const int32_t *depth;
    VF_TRY_ALLOC(counts, err);
    for (int32_t i = 0; i < all->n; i++)
        counts[all->site[i].y->def->id] = all->site[i].is_selected && !all->site[i].is_gated;
    return vf_count_depth(cx->arena, cx->model->graph, counts, &depth, n, err);
}

/* --- rewriting --- */

static VfStatus rewrite(VfPassCx *cx, const Activation *site, int32_t n, double slope, VfErr *err)
{
    const char *label = vf_node_label(site->y->def);
    VfRewrite *rw =
        vf_rewrite_begin(cx->journal, site->y->def,
                         (VfRewriteInfo){cx->pass, "transform-activation", label, NULL});
    VF_TRY_ALLOC(rw, err);
    VfValue *leaky = vf_rewrite_unary(rw, VF_OP_LEAKY_RELU, site->x);
    vf_rewrite_float(rw, "alpha", (float)slope);
    VfValue *by = vf_rewrite_scalar(rw, site->x->type.dtype, vf_tat_scale(slope), "tat_scale");
    vf_rewrite_replace(rw, site->y, vf_rewrite_binary(rw, VF_OP_MUL, leaky, by));
    vf_rewrite_note(rw, "%s, n %d, slope %.6g, scale %.6g", site->name, (int)n, slope,
                    vf_tat_scale(slope));
    return vf_rewrite_commit(rw, err);
}

static VfStatus visit(VfPassCx *cx, const Activation *site, int32_t n, VfErr *err)
{
    const TatOptions *options = cx->options;
    const char *label = vf_node_label(site->y->def);
    double slope = 0.0;
    VfErr why = {0};
    if (!site->is_selected || site->is_done)
        return VF_OK;
    if (site->is_gated)
        return vf_pass_refuse(cx, label, site->y->def, err,
                              "%s is the gate of another value, and the correlation map holds for "
                              "point-wise functions only",
                              site->name);
    if (!vf_dtype_info(site->x->type.dtype)->is_float)
        return vf_pass_refuse(cx, label, site->y->def, err, "its dtype is not known");
    VfStatus status = vf_tat_solve(n, options->target, &slope, &why);
    if (status == VF_UNSUPPORTED)
        return vf_pass_refuse(cx, label, site->y->def, err, "%s", why.text);
    if (status != VF_OK)
        return vf_fail(err, status, "%s", why.text);
    return rewrite(cx, site, n, slope, err);
}

static VfStatus run(VfPassCx *cx, VfErr *err)
{
    const TatOptions *options = cx->options;
    Activations all = {0};
    int32_t n = 0;
    VF_TRY(vf_take_apart(cx, VF_APART_ACTIVATION, err));
    VF_TRY(find_sites(cx, &all, err));
    VF_TRY(count_layers(cx, &all, &n, err));
    if (options->n > 0)
        n = (int32_t)options->n;
    for (int32_t i = 0; i < all.n && vf_pass_may_edit(cx); i++)
        VF_TRY(visit(cx, &all.site[i], n, err));
    return VF_OK;
}

const VfPass vf_pass_transform_activation = {
    .name = "transform-activation",
    .summary = "leaky ReLU with the slope that keeps a deep stack apart, in place of activations",
    .source = "tailored activation transformation, as used in arXiv 2302.10322",
    .exactness = VF_RETRAINED,
    .option = option,
    .n_option = 2,
    .options_bytes = sizeof(TatOptions),
    .run = run,
};
