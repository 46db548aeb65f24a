/* A node looked at closely: what it reads and gives, and what the matcher sees in it. */
#include <fnmatch.h>

#include "converter/api/explanation.h"
#include "converter/report/node_line.h"
#include "passes/ir/walk.h"

typedef struct Looker {
    VfExplanation *to;
    const VfModel *model;
    const char *glob;
    const VfAttentions *attention; /* NULL: the model is as the file has it */
    const VfNorms *norms;
} Looker;

/* --- roles --- */

static VfStatus add_role(const Looker *cx, VfNodeDetail *detail, const char *site,
                         const char *role, VfErr *err)
{
    VfSaid said = {.site = site, .rule = role};
    return vf_said_add(cx->to->arena, &detail->role, &said, err);
}

static const char *role_in_attention(const VfAttention *site, const VfNode *node)
{
    if (node == site->norm_node)
        return "weights of attention";
    if (node == site->score_node)
        return "scores of attention";
    if (node == site->value_node)
        return "product with the values of attention";
    for (int32_t i = 0; i < site->n_scale_node; i++)
        if (node == site->scale_node[i])
            return "scale of attention";
    for (int32_t i = 0; i < site->n_term; i++)
        if (node == site->term[i].node)
            return site->term[i].is_mask ? "mask of attention" : "bias of attention";
    return NULL;
}

static VfStatus add_norm_roles(const Looker *cx, const VfNode *node, VfNodeDetail *detail,
                               VfErr *err)
{
    for (int32_t i = 0; i < cx->norms->n_layer; i++) {
        const VfLayerNorm *norm = &cx->norms->layer[i];
        if (node == norm->root || node == norm->last)
            VF_TRY(add_role(cx, detail, norm->label,
                            norm->is_rms ? "part of RMSNorm" : "part of LayerNorm", err));
    }
    for (int32_t i = 0; i < cx->norms->n_batch; i++) {
        const VfBatchNorm *norm = &cx->norms->batch[i];
        if (node == norm->bn || node == norm->add || node == norm->mul)
            VF_TRY(add_role(cx, detail, norm->label,
                            norm->is_rep ? "part of RepBN" : "part of BatchNorm", err));
    }
    return VF_OK;
}

static VfStatus add_roles(const Looker *cx, const VfNode *node, VfNodeDetail *detail, VfErr *err)
{
    if (cx->attention == NULL)
        return add_role(cx, detail, NULL,
                        "folded, merged or inlined by clean-up before passes look", err);
    for (int32_t i = 0; i < cx->attention->n_site; i++) {
        const VfAttention *site = &cx->attention->site[i];
        const char *role = role_in_attention(site, node);
        if (role != NULL)
            VF_TRY(add_role(cx, detail, site->label, role, err));
    }
    return add_norm_roles(cx, node, detail, err);
}

/* --- ends --- */

static VfStatus copy_bytes(const Looker *cx, VfBytes bytes, const char **text, VfErr *err)
{
    *text = vf_arena_copy(cx->to->arena, bytes.data, bytes.size);
    VF_TRY_ALLOC(*text, err);
    return VF_OK;
}

static VfStatus name_end(const Looker *cx, const VfValue *value, VfNodeEnd *end, VfErr *err)
{
    end->type = vf_type_text(cx->to->arena, cx->model->symbols, &value->type);
    VF_TRY_ALLOC(end->type, err);
    return copy_bytes(cx, vf_bytes(vf_value_label(value)), &end->name, err);
}

static VfStatus look_at_operand(const Looker *cx, const VfValue *value, VfNodeEnd *end, VfErr *err)
{
    if (value == NULL) {
        *end = (VfNodeEnd){.name = "", .type = "", .op = "left out"};
        return VF_OK;
    }
    VF_TRY(name_end(cx, value, end, err));
    if (value->def == NULL) {
        end->op = value->kind == VF_VALUE_CONST ? "constant" : "input";
        return VF_OK;
    }
    VF_TRY(copy_bytes(cx, value->def->op_type, &end->op, err));
    return copy_bytes(cx, vf_bytes(vf_node_label(value->def)), &end->from, err);
}

static VfStatus look_at_result(const Looker *cx, const VfValue *value, VfNodeEnd *end, VfErr *err)
{
    if (value == NULL) {
        *end = (VfNodeEnd){.name = "", .type = "", .op = "left out"};
        return VF_OK;
    }
    VF_TRY(name_end(cx, value, end, err));
    end->n_use = value->n_use;
    const VfNode *reader = value->first_use == NULL ? NULL : value->first_use->node;
    end->op = reader == NULL ? "unread" : "output";
    if (reader == NULL || reader == reader->graph->ret)
        return VF_OK;
    VF_TRY(copy_bytes(cx, reader->op_type, &end->op, err));
    return copy_bytes(cx, vf_bytes(vf_node_label(reader)), &end->from, err);
}

static VfStatus look_at_ends(const Looker *cx, const VfNode *node, VfNodeDetail *detail,
                             VfErr *err)
{
    detail->n_in = (size_t)node->n_in;
    detail->n_out = (size_t)node->n_out;
    detail->in = VF_NEW_ARRAY(cx->to->arena, VfNodeEnd, detail->n_in + 1);
    detail->out = VF_NEW_ARRAY(cx->to->arena, VfNodeEnd, detail->n_out + 1);
    VF_TRY_ALLOC(detail->in, err);
    VF_TRY_ALLOC(detail->out, err);
    for (int32_t i = 0; i < node->n_in; i++)
        VF_TRY(look_at_operand(cx, node->in[i].value, &detail->in[i], err));
    for (int32_t i = 0; i < node->n_out; i++)
        VF_TRY(look_at_result(cx, node->out[i], &detail->out[i], err));
    return VF_OK;
}

static VfStatus look_at(const Looker *cx, const VfNode *node, VfErr *err)
{
    VfExplanation *to = cx->to;
    VfBytes line;
    void *items = to->detail;
    VF_TRY(vf_arena_grow(to->arena, &items, &to->detail_capacity, to->n_detail + 1,
                         sizeof *to->detail, err));
    to->detail = items;
    VfNodeDetail *detail = &to->detail[to->n_detail];
    *detail = (VfNodeDetail){0};
    VF_TRY(copy_bytes(cx, vf_bytes(vf_node_label(node)), &detail->name, err));
    VF_TRY(copy_bytes(cx, node->op_type, &detail->op, err));
    VF_TRY(vf_report_node_line(to->arena, node, &line, err));
    detail->line = line.data;
    VF_TRY(look_at_ends(cx, node, detail, err));
    VF_TRY(add_roles(cx, node, detail, err));
    to->n_detail++;
    return VF_OK;
}

static VfStatus look_if_asked(void *self, const VfNode *node, VfErr *err)
{
    const Looker *cx = self;
    return fnmatch(cx->glob, vf_node_label(node), 0) == 0 ? look_at(cx, node, err) : VF_OK;
}

VfStatus vf_explain_nodes(VfExplanation *to, const VfModel *model, const char *glob,
                          const VfAttentions *attention, const VfNorms *norms, VfErr *err)
{
    Looker cx = {to, model, glob, attention, norms};
    return vf_graph_each_node(model->graph, look_if_asked, &cx, err);
}
