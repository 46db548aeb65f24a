/* The sites of a pass that puts RepBN beside or in place of norms. */
#include "passes/apart.h"
#include "passes/ir/attr.h"
#include "passes/match/facts.h"
#include "passes/repbn/repbn.h"

/* In turn there is one norm to a sweep. */
enum { N_SWEEP_MAX = 100 * 1000, BATCH_NORM_OPSET = 7 };

/* --- facts --- */

/* Why its parameters cannot start as asked for, or NULL. */
static const char *why_not_start(const VfRepBnPass *pass, const VfLayerNorm *norm)
{
    bool is_bound = (norm->scale == NULL || vf_value_const(norm->scale) != NULL) &&
                    (norm->shift == NULL || vf_value_const(norm->shift) != NULL);
    if (pass->options.init == VF_REPBN_DEFAULT)
        return NULL;
    if (norm->x->graph != pass->cx->model->graph || norm->y->graph != pass->cx->model->graph)
        return "it lies in a subgraph, where nothing is measured";
    if (pass->options.init == VF_REPBN_STATS && !is_bound)
        return "init=stats takes over its scale and shift, which are not constant";
    if (pass->options.init == VF_REPBN_STATS && norm->root->op == VF_OP_REDUCE_L2)
        return "init=stats takes over its scale, which holds the root of the width";
    return NULL;
}

static const char *why_not(const VfRepBnPass *pass, const VfLayerNorm *norm)
{
    const VfValue *x = norm->x;
    if (x->type.rank < 2)
        return x->type.rank < 0 ? "the rank of what it normalises is not known"
                                : "there are no channels beside other axes";
    if (norm->n_axis != 1)
        return vf_arena_printf(pass->cx->arena,
                               "it normalises over %d axes, RepBN has one axis of channels",
                               norm->n_axis);
    if (!vf_dim_is_known(norm->width) || norm->width.k < 1)
        return "the number of channels is not known";
    if (!vf_dtype_info(x->type.dtype)->is_float || !vf_dtype_info(norm->y->type.dtype)->is_float)
        return "its dtype is no float";
    if (!vf_type_has_same_dims(&x->type, &norm->y->type))
        return "its result has other sizes than what it normalises";
    if (vf_graph_opset(norm->last->graph, vf_bytes("")) < BATCH_NORM_OPSET)
        return "the opset is too old for BatchNormalization";
    const char *why = pass->why_not != NULL ? pass->why_not(pass, norm) : NULL;
    return why != NULL ? why : why_not_start(pass, norm);
}

bool vf_repbn_is_alive(const VfLayerNorm *norm)
{
    bool is_read = false;
    for (int32_t i = 0; i < norm->root->n_in; i++)
        is_read = is_read || vf_node_in(norm->root, i) == norm->x;
    return norm->last->is_linked && norm->root->is_linked && is_read;
}

/* --- selection --- */

/* Sites are numbered once: those of the second sweep are others when norms went away. */
static VfStatus select_sites(VfRepBnPass *pass, const VfNorms *found, VfErr *err)
{
    VfPassCx *cx = pass->cx;
    pass->n_selected = cx->model->n_node_id;
    pass->is_selected = VF_NEW_ARRAY(cx->arena, bool, (size_t)pass->n_selected + 1);
    VF_TRY_ALLOC(pass->is_selected, err);
    for (int32_t i = 0; i < found->n_layer; i++) {
        const VfLayerNorm *norm = &found->layer[i];
        VfSiteFacts facts = {.index = i, .label = norm->label};
        VF_TRY(vf_sites_select(&cx->sites, &facts, &pass->is_selected[norm->last->id], err));
    }
    return VF_OK;
}

static bool is_selected(const VfRepBnPass *pass, const VfLayerNorm *norm)
{
    return norm->last->id < pass->n_selected && pass->is_selected[norm->last->id] &&
           !(pass->is_done != NULL && pass->is_done(norm));
}

/* --- sweeps --- */

static VfStatus apply_one(VfRepBnPass *pass, const VfRepBnSite *site, VfErr *err)
{
    VfRepBn repbn;
    VF_TRY(vf_repbn_parameters(pass->cx, &pass->options, site, &repbn, err));
    if (repbn.why == NULL)
        return pass->apply(pass, site, &repbn, err);
    /* It would be the same in the next sweep. */
    pass->is_selected[site->norm->last->id] = false;
    return vf_pass_refuse(pass->cx, site->norm->label, site->norm->last, err, "%s", repbn.why);
}

/* A norm right behind another is changed in a later sweep: what was measured is kept for it. */
static VfStatus measure(VfRepBnPass *pass, int32_t n, VfRepBnSite *site, VfErr *err)
{
    VfPassCx *cx = pass->cx;
    bool is_first = pass->measured == NULL;
    if (pass->options.is_in_turn)
        return vf_repbn_measure(cx, n, site, err);
    if (is_first) {
        pass->measured = VF_NEW_ARRAY(cx->arena, VfRepBnMoments, (size_t)pass->n_selected + 1);
        VF_TRY_ALLOC(pass->measured, err);
        VF_TRY(vf_repbn_measure(cx, n, site, err));
    }
    for (int32_t i = 0; i < n; i++) {
        VfRepBnMoments *kept = &pass->measured[site[i].norm->last->id];
        if (is_first)
            *kept = site[i].moments;
        else if (kept->n > 0)
            site[i].moments = *kept;
        else
            VF_TRY(vf_repbn_measure(cx, 1, &site[i], err));
    }
    return VF_OK;
}

static VfStatus collect(VfRepBnPass *pass, const VfNorms *found, bool is_last, VfRepBnSite *site,
                        int32_t *n, VfErr *err)
{
    *n = 0;
    for (int32_t i = 0; i < found->n_layer; i++) {
        const VfLayerNorm *norm = &found->layer[i];
        if (!is_selected(pass, norm) || !vf_repbn_is_alive(norm))
            continue;
        const char *why = why_not(pass, norm);
        if (why == NULL)
            site[(*n)++] = (VfRepBnSite){.norm = norm, .channels = norm->width.k};
        else if (is_last)
            VF_TRY(vf_pass_refuse(pass->cx, norm->label, norm->last, err, "%s", why));
    }
    return VF_OK;
}

static VfStatus sweep(VfRepBnPass *pass, bool is_last, VfErr *err)
{
    VfPassCx *cx = pass->cx;
    VfNorms found;
    int32_t n;
    VF_TRY(vf_find_norms(cx->arena, cx->model, &found, err));
    if (pass->is_selected == NULL)
        VF_TRY(select_sites(pass, &found, err));
    VfRepBnSite *site = VF_NEW_ARRAY(cx->arena, VfRepBnSite, (size_t)found.n_layer + 1);
    VF_TRY_ALLOC(site, err);
    VF_TRY(collect(pass, &found, is_last, site, &n, err));
    if (is_last || n == 0 || !vf_pass_may_edit(cx))
        return VF_OK;
    if (pass->options.is_in_turn)
        n = 1;
    if (pass->options.init != VF_REPBN_DEFAULT &&
        measure(pass, n, site, err) != VF_OK)
        return vf_context(err, "the model on its calibration data");
    for (int32_t i = 0; i < n && vf_pass_may_edit(cx); i++)
        if (vf_repbn_is_alive(site[i].norm))
            VF_TRY(apply_one(pass, &site[i], err));
    return VF_OK;
}

VfStatus vf_repbn_run(VfRepBnPass *pass, VfErr *err)
{
    VfPassCx *cx = pass->cx;
    if (pass->options.init != VF_REPBN_DEFAULT && cx->calibration == NULL)
        return vf_fail(err, VF_USAGE,
                       "init is measured on calibration data, and none is given; init=default "
                       "needs none");
    VF_TRY(vf_take_apart(cx, VF_APART_NORM, err));
    pass->options.eps = (double)(float)pass->options.eps; /* as the attribute holds it */
    for (int32_t i = 0; i < N_SWEEP_MAX; i++) {
        int32_t n_edit = cx->journal->n_edit, n_refusal = cx->journal->n_refusal;
        VF_TRY(sweep(pass, false, err));
        if (cx->journal->n_edit > n_edit || cx->journal->n_refusal > n_refusal)
            continue;
        VF_TRY(sweep(pass, true, err));
        return vf_pass_refuse_in_functions(cx, vf_layer_norm_op, err);
    }
    return vf_fail(err, VF_INTERNAL, "pass '%s' does not come to an end", cx->pass);
}
