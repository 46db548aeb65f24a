#include "passes/rewrite/rewrite.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "passes/ir/infer.h"
#include "passes/rewrite/rewrite_state.h"

static VfValue no_operand;
VfValue *const VF_NO_OPERAND = &no_operand;

VfRewrite *vf_rewrite_begin(VfJournal *journal, VfNode *anchor, VfRewriteInfo info)
{
    VfRewrite *rw = VF_NEW(journal->model->arena, VfRewrite);
    if (rw == NULL)
        return NULL;
    rw->journal = journal;
    rw->arena = journal->model->arena;
    rw->graph = anchor->graph;
    rw->anchor = anchor;
    rw->info = info;
    return rw;
}

VfStatus vf_rewrite_status(const VfRewrite *rewrite)
{
    return rewrite->status;
}

void vf_rewrite_fail(VfRewrite *rw, VfStatus status, const char *why)
{
    if (rw->status != VF_OK || status == VF_OK)
        return;
    rw->status = status;
    rw->why = vf_arena_string(rw->arena, why);
    if (rw->why == NULL)
        rw->why = "out of memory";
}

bool vf_rewrite_is_pending(const VfValue *value)
{
    if (value->kind == VF_VALUE_CONST)
        return value->prev == NULL && value->graph->first_value != value;
    return value->kind == VF_VALUE_RESULT && !value->def->is_linked && !value->def->is_removed;
}

/* --- nodes --- */

static VfStatus infer_results(VfRewrite *rw, VfNode *node, VfFact *in, const VfFact **in_ref,
                              VfErr *err)
{
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = vf_node_in(node, i);
        if (value == NULL)
            continue;
        in[i] = vf_value_fact(value);
        in_ref[i] = &in[i];
    }
    VfFact *out = VF_NEW_ARRAY(rw->arena, VfFact, (size_t)node->n_out);
    VF_TRY_ALLOC(out, err);
    for (int32_t i = 0; i < node->n_out; i++)
        out[i].type.rank = VF_RANK_UNKNOWN;
    VfStatus status = vf_infer_node(rw->arena, rw->journal->model->symbols, node, in_ref, out, err);
    for (int32_t i = 0; i < node->n_out; i++) {
        VfValue *value = node->out[i];
        if (value == NULL)
            continue;
        bool is_known = status == VF_OK;
        value->type = is_known ? out[i].type : (VfType){.rank = VF_RANK_UNKNOWN};
        value->content = is_known ? out[i].content : NULL;
        value->n_content = is_known ? out[i].n_content : 0;
    }
    return status;
}

VfStatus vf_rewrite_infer(VfRewrite *rw, VfNode *node, VfErr *err)
{
    size_t n = (size_t)node->n_in;
    VfFact *in = VF_NEW_ARRAY(rw->arena, VfFact, n);
    VF_TRY_ALLOC(in, err);
    const VfFact **in_ref = VF_NEW_ARRAY(rw->arena, const VfFact *, n);
    VF_TRY_ALLOC(in_ref, err);
    return infer_results(rw, node, in, in_ref, err);
}

/* Inference while the node is being built: a missing attribute is no failure yet. */
static void infer_draft(VfRewrite *rw, VfNode *node)
{
    if (vf_rewrite_infer(rw, node, NULL) == VF_NO_MEMORY)
        vf_rewrite_fail(rw, VF_NO_MEMORY, "out of memory");
}

/* The operand array with omitted operands as NULL; NULL when an operand comes from a failed
 * builder. */
static VfValue **take_operands(VfRewrite *rw, int32_t n_in, VfValue *const *in)
{
    VfValue **operand = VF_NEW_ARRAY(rw->arena, VfValue *, (size_t)n_in);
    if (operand == NULL) {
        vf_rewrite_fail(rw, VF_NO_MEMORY, "out of memory");
        return NULL;
    }
    for (int32_t i = 0; i < n_in; i++) {
        if (in[i] == NULL) {
            vf_rewrite_fail(rw, VF_INTERNAL, "a new node has no value for an operand");
            return NULL;
        }
        operand[i] = in[i] == VF_NO_OPERAND ? NULL : in[i];
    }
    return operand;
}

/* Results get their names at commit: for now each is there and has none. */
static VfNode *make_node(VfRewrite *rw, VfBytes domain, VfBytes op_type, int32_t n_in,
                         VfValue *const *in, int32_t n_out)
{
    VfValue **operand = take_operands(rw, n_in, in);
    VfBytes *name = VF_NEW_ARRAY(rw->arena, VfBytes, (size_t)n_out);
    if (operand == NULL || name == NULL)
        return NULL;
    for (int32_t i = 0; i < n_out; i++)
        name[i] = vf_bytes("");
    return vf_node_new(rw->graph, domain, op_type, n_in, operand, n_out, name);
}

VfNode *vf_rewrite_node_n(VfRewrite *rw, VfBytes domain, VfBytes op_type, int32_t n_in,
                          VfValue *const *in, int32_t n_out, VfValue **out)
{
    for (int32_t i = 0; i < n_out; i++)
        out[i] = NULL;
    if (rw->status != VF_OK)
        return NULL;
    VfNode *node = make_node(rw, domain, op_type, n_in, in, n_out);
    if (node == NULL || vf_arena_grow(rw->arena, (void **)&rw->node, &rw->node_capacity,
                                      rw->n_node + 1, sizeof *rw->node, NULL) != VF_OK) {
        vf_rewrite_fail(rw, VF_NO_MEMORY, "out of memory");
        return NULL;
    }
    rw->node[rw->n_node++] = (VfPending){node, NULL};
    node->order = -(int64_t)rw->n_node; /* the number of a pending node, from -1 down */
    infer_draft(rw, node);
    for (int32_t i = 0; i < n_out; i++)
        out[i] = node->out[i];
    return node;
}

VfValue *vf_rewrite_node(VfRewrite *rw, VfOp op, int32_t n_in, VfValue *const *in)
{
    const VfOpInfo *info = vf_op_info(op);
    VfValue *out = NULL;
    vf_rewrite_node_n(rw, vf_bytes(info->domain), vf_bytes(info->name), n_in, in, 1, &out);
    return out;
}

VfValue *vf_rewrite_unary(VfRewrite *rw, VfOp op, VfValue *a)
{
    return vf_rewrite_node(rw, op, 1, &a);
}

VfValue *vf_rewrite_binary(VfRewrite *rw, VfOp op, VfValue *a, VfValue *b)
{
    VfValue *in[] = {a, b};
    return vf_rewrite_node(rw, op, 2, in);
}

/* --- attributes --- */

static VfNode *last_node(VfRewrite *rw)
{
    return rw->status == VF_OK && rw->n_node > 0 ? rw->node[rw->n_node - 1].node : NULL;
}

static void attr_done(VfRewrite *rw, VfNode *node, VfStatus status)
{
    vf_rewrite_fail(rw, status, "cannot set an attribute of a new node");
    if (rw->status == VF_OK)
        infer_draft(rw, node);
}

void vf_rewrite_int(VfRewrite *rw, const char *name, int64_t value)
{
    VfNode *node = last_node(rw);
    if (node != NULL)
        attr_done(rw, node, vf_node_set_int(node, name, value, NULL));
}

void vf_rewrite_float(VfRewrite *rw, const char *name, float value)
{
    VfNode *node = last_node(rw);
    if (node != NULL)
        attr_done(rw, node, vf_node_set_float(node, name, value, NULL));
}

void vf_rewrite_string(VfRewrite *rw, const char *name, const char *value)
{
    VfNode *node = last_node(rw);
    if (node != NULL)
        attr_done(rw, node, vf_node_set_string(node, name, value, NULL));
}

void vf_rewrite_ints(VfRewrite *rw, const char *name, int32_t n, const int64_t *values)
{
    VfNode *node = last_node(rw);
    if (node != NULL)
        attr_done(rw, node, vf_node_set_ints(node, name, n, values, NULL));
}

void vf_rewrite_attr(VfRewrite *rw, const VfAttr *attr)
{
    VfNode *node = last_node(rw);
    if (node != NULL)
        attr_done(rw, node, vf_node_add_attr(node, attr, NULL));
}

/* --- constants --- */

/* A constant outside the graph's values: it joins them at commit. */
static VfValue *make_const(VfRewrite *rw, const VfTensor *tensor)
{
    VfValue *value = vf_graph_add_const(rw->graph, vf_bytes(""), tensor);
    if (value != NULL)
        vf_value_drop(value);
    return value;
}

static VfStatus keep_const(VfRewrite *rw, VfValue *value, const char *hint)
{
    VF_TRY(vf_arena_grow(rw->arena, (void **)&rw->constant, &rw->constant_capacity,
                         rw->n_constant + 1, sizeof *rw->constant, NULL));
    rw->constant[rw->n_constant++] = (VfPendingConst){value, hint};
    return VF_OK;
}

VfValue *vf_rewrite_const(VfRewrite *rw, const VfTensor *tensor, const char *hint)
{
    if (rw->status != VF_OK)
        return NULL;
    VfValue *value = tensor == NULL ? NULL : make_const(rw, tensor);
    if (value == NULL || keep_const(rw, value, hint) != VF_OK) {
        vf_rewrite_fail(rw, VF_NO_MEMORY, "out of memory");
        return NULL;
    }
    return value;
}

VfValue *vf_rewrite_scalar(VfRewrite *rw, VfDtype dtype, double number, const char *hint)
{
    if (vf_dtype_info(dtype)->bits == 0) {
        if (rw->status == VF_OK)
            vf_rewrite_fail(rw, VF_INTERNAL, "a constant of unknown dtype");
        return NULL;
    }
    return vf_rewrite_const(rw, vf_tensor_scalar(rw->arena, dtype, 0, number), hint);
}

VfValue *vf_rewrite_const_i64(VfRewrite *rw, int32_t n, const int64_t *values, const char *hint)
{
    return vf_rewrite_const(rw, vf_tensor_i64(rw->arena, n, values), hint);
}

/* --- what commit shall do --- */

#define PUSH(rw, list, ...)                                                                        \
    do {                                                                                           \
        if (vf_arena_grow((rw)->arena, (void **)&(rw)->list, &(rw)->list##_capacity,               \
                          (rw)->n_##list + 1, sizeof *(rw)->list, NULL) == VF_OK)                  \
            (rw)->list[(rw)->n_##list++] = __VA_ARGS__;                                            \
        else                                                                                       \
            vf_rewrite_fail(rw, VF_NO_MEMORY, "out of memory");                                    \
    } while (0)

void vf_rewrite_replace(VfRewrite *rw, VfValue *from, VfValue *to)
{
    if (rw->status != VF_OK)
        return;
    if (from == NULL || to == NULL || to == VF_NO_OPERAND)
        vf_rewrite_fail(rw, VF_INTERNAL, "a value is replaced by none");
    else
        PUSH(rw, replace, (VfReplace){from, to});
}

void vf_rewrite_set_in(VfRewrite *rw, VfNode *node, int32_t slot, VfValue *to)
{
    if (rw->status != VF_OK)
        return;
    if (to == NULL || slot < 0 || slot > node->n_in + (int32_t)rw->n_set_in)
        vf_rewrite_fail(rw, VF_INTERNAL, "an operand is set to none or past the end");
    else
        PUSH(rw, set_in, (VfSetIn){node, slot, to == VF_NO_OPERAND ? NULL : to});
}

void vf_rewrite_remove(VfRewrite *rw, VfValue *value)
{
    if (rw->status == VF_OK && value != NULL)
        PUSH(rw, dead, value);
}

void vf_rewrite_weight(VfRewrite *rw, const VfValue *from, const VfValue *to)
{
    if (rw->status == VF_OK && from != NULL && to != NULL)
        PUSH(rw, weight, (VfSwap){from, to});
}

void vf_rewrite_note(VfRewrite *rw, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    rw->info.note = vf_arena_string(rw->arena, text);
    if (rw->info.note == NULL)
        vf_rewrite_fail(rw, VF_NO_MEMORY, "out of memory");
}

void vf_rewrite_number(VfRewrite *rw, const char *name, double value)
{
    if (rw->status == VF_OK)
        PUSH(rw, number, (VfEditNumber){name, value});
}
