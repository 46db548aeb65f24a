#include "passes/opset/opset.h"

#include <string.h>

#include "passes/ir/attr.h"
#include "passes/ir/verify.h"
#include "passes/opset/forms.h"
#include "passes/pass.h"

/* One change of a model. */
typedef struct Change {
    int64_t to;
    VfText reasons;
    int32_t n_reason;
    bool is_asking; /* nothing is done yet */
} Change;

static void add_reason(Change *change, const VfNode *node, const char *reason)
{
    if (change->n_reason++ > 0)
        vf_text_string(&change->reasons, "; ");
    vf_text_printf(&change->reasons, "'%s' (%s): %s", vf_node_label(node),
                   vf_op_info(node->op)->name, reason);
}

/* --- one node --- */

static void drop_attr(VfNode *node, const char *name)
{
    for (VfAttr **at = &node->first_attr; *at != NULL; at = &(*at)->next) {
        if (vf_bytes_is_equal((*at)->name, vf_bytes(name))) {
            *at = (*at)->next;
            return;
        }
    }
}

static VfStatus take_steps(VfForm *form, const char **reason)
{
    return form->from < form->to ? vf_form_change(form, reason) : vf_form_keep(form, reason);
}

static VfStatus rewrite(VfPassCx *cx, VfForm *form, const char **reason, VfErr *err)
{
    VfRewriteInfo info = {cx->pass, form->from < form->to ? "newer-form" : "older-form",
                          vf_node_label(form->node), NULL};
    *form = (VfForm){form->node, form->from, form->to, .arena = cx->arena, .err = err};
    form->n_in = form->node->n_in;
    form->rw = vf_rewrite_begin(cx->journal, form->node, info);
    VF_TRY_ALLOC(form->rw, err);
    VF_TRY(take_steps(form, reason));
    VF_TRY(vf_rewrite_commit(form->rw, err));
    for (int32_t i = 0; i < form->n_drop; i++)
        drop_attr(form->node, form->drop[i]);
    return VF_OK;
}

static bool is_of_default_domain(const VfNode *node)
{
    return node->domain.size == 0 && vf_node_function(node) == NULL;
}

static VfStatus visit_node(VfPassCx *cx, VfNode *node, void *self, VfErr *err)
{
    Change *change = self;
    const char *reason = NULL;
    VfForm form = {.node = node,
                   .from = vf_graph_opset(node->graph, vf_bytes("")),
                   .to = change->to,
                   .arena = cx->arena,
                   .err = err};
    if (!is_of_default_domain(node) || form.from == form.to)
        return VF_OK;
    VF_TRY(take_steps(&form, &reason));
    if (change->is_asking && reason != NULL)
        add_reason(change, node, reason);
    if (change->is_asking || !form.is_changed)
        return VF_OK;
    return rewrite(cx, &form, &reason, err);
}

/* Not vf_pass_each_node: edits may not end a sweep, and the list only grows by constants. */
static VfStatus visit_graph(VfPassCx *cx, VfGraph *graph, void *self, VfErr *err)
{
    for (VfNode *node = graph->first_node; node != NULL; node = node->next)
        VF_TRY(visit_node(cx, node, self, err));
    return VF_OK;
}

/* --- the model --- */

static VfStatus set_version(VfModel *model, const VfOpset **list, int32_t n, int64_t version,
                            VfErr *err)
{
    VfOpset *opset = VF_NEW_ARRAY(model->arena, VfOpset, (size_t)n);
    VF_TRY_ALLOC(opset, err);
    for (int32_t i = 0; i < n; i++) {
        opset[i] = (*list)[i];
        if (opset[i].domain.size == 0)
            opset[i].version = version;
    }
    *list = opset;
    return VF_OK;
}

static VfStatus set_versions(VfModel *model, int64_t version, VfErr *err)
{
    VF_TRY(set_version(model, &model->opset, model->n_opset, version, err));
    for (VfFunction *at = model->first_function; at != NULL; at = at->next)
        if (at->n_opset > 0)
            VF_TRY(set_version(model, &at->opset, at->n_opset, version, err));
    return VF_OK;
}

static VfStatus change_all(VfPassCx *cx, int64_t from, int64_t to, VfErr *err)
{
    Change change = {.to = to, .is_asking = true};
    VfBytes reasons;
    vf_text_init(&change.reasons, cx->arena);
    VF_TRY(vf_pass_each_graph(cx, visit_graph, &change, err));
    if (change.n_reason > 0) {
        VF_TRY(vf_text_get(&change.reasons, &reasons, err));
        return vf_fail(err, VF_UNSUPPORTED, "opset %d cannot become %d for %d of the nodes: %s",
                       (int)from, (int)to, (int)change.n_reason, reasons.data);
    }
    change.is_asking = false;
    VF_TRY(vf_pass_each_graph(cx, visit_graph, &change, err));
    return set_versions(cx->model, to, err);
}

VfStatus vf_opset_change(VfModel *model, int64_t version, const VfEvaluator *evaluator,
                         VfJournal *journal, VfErr *err)
{
    int64_t from = vf_graph_opset(model->graph, vf_bytes(""));
    if (version < VF_OPSET_MIN || version > VF_OPSET_MAX)
        return vf_fail(err, VF_USAGE, "opset %lld is not within %d to %d", (long long)version,
                       VF_OPSET_MIN, VF_OPSET_MAX);
    if (from < VF_OPSET_MIN)
        return vf_fail(err, VF_UNSUPPORTED, "opset %lld of the model cannot be changed",
                       (long long)from);
    VfPassCx cx = {.model = model, .journal = journal, .pass = "opset", .n_edit_max = -1};
    cx.arena = vf_arena_new();
    VF_TRY_ALLOC(cx.arena, err);
    /* Attributes of the right type are relied on. */
    VfStatus status = vf_infer_graph(model->graph, evaluator, err);
    if (status == VF_OK)
        status = vf_verify_all(model, err);
    if (status == VF_OK)
        status = change_all(&cx, from, version, err);
    vf_arena_free(cx.arena);
    VF_TRY(status);
    model->clean = VF_CLEAN_NOT;
    VF_TRY(vf_infer_graph(model->graph, evaluator, err));
    return vf_verify_all(model, err);
}
