/* Before     y = LayerNorm(x) or RMSNorm(x), an operator or written out (passes/match/norm.h)
 * After      y = λ LayerNorm(x) + (1-λ) RepBN(x), λ a graph input whose default is 1
 * Why valid  λ = 1 is the model as it was, bit for bit but for the sign of a zero. Training takes
 *            λ to 0 (`passes progressive-norm --schedule`) and finds RepBN's parameters, which are
 *            initializers called after the norm: /repbn_scale, _shift, _mean, _var, _eta
 * Requires   one axis of channels of known length, IR version 4
 * Exactness  VF_RETRAINED
 * Source     SLAB (arXiv 2405.11582), equation PRepBN; spec 2.2
 * Limits     norms of subgraphs stay
 *
 * The way back, finish=repbn or finish=ln: the mix gives way to that side of it, and λ goes when
 * nothing reads it any more. fold-repbn and fold-bn then leave no norm of the first.
 */
#include "passes/match/facts.h"
#include "passes/repbn/repbn.h"

typedef struct Options {
    int init, lambda, finish;
    double eta, eps;
} Options;

enum { N_OPTION = 5, LAMBDA_IR_VERSION = 4 };
enum { INIT_AUTO, INIT_LSQ, INIT_STATS, INIT_DEFAULT };
enum { FINISH_NO, FINISH_REPBN, FINISH_LN };

static const VfOption option[] = {
    {.name = "init",
     .help = "what RepBN starts from, as in ln-to-repbn; auto: lsq if there is calibration data, "
             "else default",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(Options, init),
     .def = "auto",
     .choices = "auto|lsq|stats|default"},
    {.name = "lambda",
     .help = "one graph input, norm_lambda, for all norms, or one for each",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(Options, lambda),
     .def = "shared",
     .choices = "shared|per-site"},
    {.name = "finish",
     .help = "the way back instead: put RepBN alone, or LayerNorm alone, where they are mixed",
     .type = VF_OPTION_CHOICE,
     .offset = offsetof(Options, finish),
     .def = "no",
     .choices = "no|repbn|ln"},
    {.name = "eta",
     .help = "share of x that RepBN adds",
     .type = VF_OPTION_DOUBLE,
     .offset = offsetof(Options, eta),
     .def = "1"},
    VF_REPBN_EPS(Options, eps),
    {0},
};

/* --- there --- */

static bool is_mixed(const VfLayerNorm *norm)
{
    VfRepBnMix mix;
    return vf_repbn_find_mix(norm, &mix);
}

static const char *why_not(const VfRepBnPass *pass, const VfLayerNorm *norm)
{
    if (norm->last->graph != pass->cx->model->graph)
        return "it lies in a subgraph, lambda is an input of the main graph";
    if (pass->cx->model->ir_version < LAMBDA_IR_VERSION)
        return "the default of a graph input is a constant before IR version 4";
    return NULL;
}

static const VfType lambda_type = {.kind = VF_TYPE_TENSOR, .dtype = VF_F32, .rank = 0};

/* A new graph input whose default is 1, or one that an earlier run of the pass made. */
static VfStatus get_lambda(VfPassCx *cx, const char *wanted, VfValue **lambda, VfErr *err)
{
    VfGraph *graph = cx->model->graph;
    VfBytes name;
    for (int32_t i = 0; i < graph->n_input; i++) {
        VfValue *input = graph->input[i];
        *lambda = input;
        if (vf_bytes_is_equal(input->name, vf_bytes(wanted)) && input->tensor != NULL &&
            input->type.dtype == VF_F32 && input->type.rank == 0)
            return VF_OK;
    }
    VF_TRY(vf_journal_name(cx->journal, wanted, &name, err));
    const VfTensor *one = vf_tensor_scalar(cx->model->arena, VF_F32, 0, 1.0);
    VF_TRY_ALLOC(one, err);
    *lambda = vf_graph_add_input(graph, name, lambda_type);
    VF_TRY_ALLOC(*lambda, err);
    (*lambda)->tensor = one;
    (*lambda)->is_declared = true;
    return VF_OK;
}

static VfStatus apply(VfRepBnPass *pass, const VfRepBnSite *site, const VfRepBn *repbn, VfErr *err)
{
    VfPassCx *cx = pass->cx;
    const Options *o = cx->options;
    const VfLayerNorm *norm = site->norm;
    const char *wanted = o->lambda == 0 ? "norm_lambda"
                                        : vf_arena_printf(cx->arena, "%s/lambda", norm->label);
    VfDtype dtype = norm->y->type.dtype;
    VfValue *lambda = NULL;
    VF_TRY_ALLOC(wanted, err);
    VF_TRY(get_lambda(cx, wanted, &lambda, err));
    VfRewriteInfo info = {cx->pass, "mix-with-repbn", norm->label, NULL};
    VfRewrite *rw = vf_rewrite_begin(cx->journal, norm->last, info);
    VF_TRY_ALLOC(rw, err);
    VfValue *share = dtype == VF_F32 ? lambda : vf_rewrite_cast(rw, lambda, dtype);
    VfValue *rest = vf_rewrite_binary(rw, VF_OP_SUB, vf_rewrite_scalar(rw, dtype, 1.0, "one"),
                                      share);
    VfValue *ln = vf_rewrite_binary(rw, VF_OP_MUL, share, norm->y);
    VfValue *other = vf_rewrite_binary(rw, VF_OP_MUL, rest, vf_repbn_build(rw, site, repbn));
    vf_rewrite_replace(rw, norm->y, vf_rewrite_binary(rw, VF_OP_ADD, ln, other));
    vf_rewrite_note(rw, "lambda %s, %s", vf_value_label(lambda), repbn->note);
    return vf_rewrite_commit(rw, err);
}

/* --- and back --- */

static VfStatus finish_one(VfPassCx *cx, const VfLayerNorm *norm, const VfRepBnMix *mix, VfErr *err)
{
    const Options *o = cx->options;
    bool is_ln = o->finish == FINISH_LN;
    VfRewriteInfo info = {cx->pass, is_ln ? "finish-as-norm" : "finish-as-repbn", norm->label,
                          NULL};
    VfRewrite *rw = vf_rewrite_begin(cx->journal, mix->y->def, info);
    VF_TRY_ALLOC(rw, err);
    vf_rewrite_replace(rw, mix->y, is_ln ? mix->ln : mix->repbn);
    vf_rewrite_note(rw, "lambda %s = %d", vf_value_label(mix->lambda), is_ln);
    VF_TRY(vf_rewrite_commit(rw, err));
    if (mix->lambda->kind == VF_VALUE_INPUT && mix->lambda->n_use == 0)
        vf_graph_drop_input(mix->lambda);
    return VF_OK;
}

static VfStatus finish(VfPassCx *cx, VfErr *err)
{
    VfNorms found;
    VF_TRY(vf_find_norms(cx->arena, cx->model, &found, err));
    for (int32_t i = 0; i < found.n_layer && vf_pass_may_edit(cx); i++) {
        const VfLayerNorm *norm = &found.layer[i];
        VfSiteFacts facts = {.index = i, .label = norm->label};
        VfRepBnMix mix;
        bool selected = false;
        VF_TRY(vf_sites_select(&cx->sites, &facts, &selected, err));
        if (selected && norm->last->is_linked && vf_repbn_find_mix(norm, &mix))
            VF_TRY(finish_one(cx, norm, &mix, err));
    }
    return VF_OK;
}

static VfRepBnInit choose_init(const VfPassCx *cx)
{
    const Options *o = cx->options;
    if (o->init == INIT_AUTO)
        return cx->calibration != NULL ? VF_REPBN_LSQ : VF_REPBN_DEFAULT;
    return o->init == INIT_LSQ ? VF_REPBN_LSQ
                               : o->init == INIT_STATS ? VF_REPBN_STATS : VF_REPBN_DEFAULT;
}

static VfStatus run(VfPassCx *cx, VfErr *err)
{
    const Options *o = cx->options;
    if (o->finish != FINISH_NO)
        return finish(cx, err);
    VfRepBnPass pass = {.cx = cx, .options = {choose_init(cx), false, o->eta, o->eps},
                        .is_done = is_mixed, .why_not = why_not, .apply = apply};
    return vf_repbn_run(&pass, err);
}

const VfPass vf_pass_progressive_norm = {
    .name = "progressive-norm",
    .summary = "LayerNorm and RMSNorm mixed with RepBN by a graph input, lambda; and the way back",
    .source = "SLAB (arXiv 2405.11582), equation PRepBN",
    .exactness = VF_RETRAINED,
    .option = option,
    .n_option = N_OPTION,
    .options_bytes = sizeof(Options),
    .run = run,
};
