/* The walk over the nodes of a graph. */
#include "converter/lower/ops.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "passes/ir/attr.h"
#include "passes/ir/judge.h"
#include "runtime/base/intern.h"
#include "runtime/base/text.h"

enum {
    MAX_DEPTH = 64,          /* function calls and subgraphs inside each other */
    MAX_VISIT = 200 * 1000 /* nodes walked in all, unrolled loops included */
};

static const VfLowRow row_table[] = {
#define VF_LOWER(op, fn, arg, flags, dtypes) {VF_OP_##op, fn, arg, flags, dtypes},
#include "converter/lower/lower.def"
#undef VF_LOWER
};

const VfLowRow *vf_low_row(VfOp op)
{
    for (size_t i = 0; i < sizeof row_table / sizeof *row_table; i++)
        if (row_table[i].op == op)
            return &row_table[i];
    return NULL;
}

/* --- values of the graph --- */

VfStatus vf_low_lookup(VfLower *cx, const VfValue *value, VfLowValue **out, VfErr *err)
{
    *out = NULL;
    if (value == NULL)
        return VF_OK;
    if (value->id < 0 || value->id >= cx->n_env)
        return vf_fail(err, VF_INTERNAL, "value '%s' has no number", vf_value_label(value));
    if (cx->env[value->id] == NULL && value->tensor != NULL && value->kind != VF_VALUE_RESULT) {
        VF_TRY(vf_low_const(cx, value->tensor, &cx->env[value->id], err));
        cx->env[value->id]->name = value->name;
    }
    *out = cx->env[value->id];
    if (*out == NULL && value->kind != VF_VALUE_INPUT)
        return vf_fail(err, VF_INTERNAL, "value '%s' is used before it is made",
                       vf_value_label(value));
    return VF_OK;
}

bool vf_low_is_kept(const VfLower *cx, const VfValue *value)
{
    for (int32_t i = 0; i < cx->options.n_keep; i++)
        if (cx->options.keep[i] == value)
            return true;
    return cx->options.save_all;
}

VfStatus vf_low_note(VfLower *cx, const char *text, bool waits, VfErr *err)
{
    int32_t id;
    if (cx->noted == NULL)
        cx->noted = vf_intern_new(cx->report_arena);
    VF_TRY_ALLOC(cx->noted, err);
    VF_TRY(vf_arena_grow(cx->report_arena, (void **)&cx->unsupported, &cx->cap_unsupported,
                         cx->n_unsupported + 1, sizeof *cx->unsupported, err));
    VF_TRY(vf_intern_add(cx->noted, vf_bytes(text), &id, err));
    if ((size_t)id == cx->n_unsupported)
        cx->unsupported[cx->n_unsupported++] =
            (VfLowNote){vf_intern_get(cx->noted, id).data, waits};
    return VF_OK;
}

/* --- attributes that name those of the enclosing function --- */

static const VfAttr *list_find(const VfAttr *attr, VfBytes name)
{
    while (attr != NULL && !vf_bytes_is_equal(attr->name, name))
        attr = attr->next;
    return attr;
}

static const VfAttr *resolve_attr(const VfLower *cx, const VfAttr *attr)
{
    if (attr->ref.size == 0)
        return attr;
    if (cx->frame == NULL)
        return NULL;
    const VfAttr *given = list_find(cx->frame->call->first_attr, attr->ref);
    return given != NULL ? given : list_find(cx->frame->function->first_attr_default, attr->ref);
}

static bool has_refs(const VfNode *node)
{
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
        if (attr->ref.size > 0)
            return true;
    return false;
}

/* A node like `node` whose attributes all have their values. Those the call does not give are
 * left out, so that defaults hold. */
static VfStatus resolve_node(VfLower *cx, const VfNode **node, VfErr *err)
{
    if (!has_refs(*node))
        return VF_OK;
    VfNode *copy = VF_NEW(cx->arena, VfNode);
    VF_TRY_ALLOC(copy, err);
    *copy = **node;
    VfAttr **tail = &copy->first_attr;
    for (const VfAttr *attr = (*node)->first_attr; attr != NULL; attr = attr->next) {
        const VfAttr *value = resolve_attr(cx, attr);
        if (value == NULL)
            continue;
        *tail = VF_NEW(cx->arena, VfAttr);
        VF_TRY_ALLOC(*tail, err);
        **tail = *value;
        (*tail)->name = attr->name;
        (*tail)->ref = (VfBytes){NULL, 0};
        tail = &(*tail)->next;
    }
    *tail = NULL;
    *node = copy;
    return VF_OK;
}

/* --- one node --- */

/* The dtype in which a row computes what it gets as `dtype`. All values of one fit the other. */
static VfDtype wide_of(const VfLowRow *row, VfDtype dtype)
{
    if ((row->flags & LOW_HALF) != 0 && (dtype == VF_F16 || dtype == VF_BF16))
        return VF_F32;
    return (row->flags & LOW_PACKED) != 0 ? vf_low_byte_dtype(dtype) : dtype;
}

/* Numbers that a row may have to know when the plan is made stay known. */
static VfStatus widen(VfLower *cx, VfLowValue *value, VfDtype dtype, VfLowValue **out, VfErr *err)
{
    VfTensor *wide;
    void *data;
    if (value->known == NULL || value->count > VF_CONTENT_MAX || value->dtype == dtype)
        return vf_low_convert(cx, value, dtype, 1, out, err);
    VF_TRY(vf_tensor_new(cx->arena, dtype, value->rank, value->dims, &wide, &data, err));
    for (size_t i = 0; i < value->count; i++)
        vf_tensor_put_double(data, dtype, i, vf_tensor_get_double(value->known, i));
    return vf_low_const(cx, wide, out, err);
}

/* Operands become wide, results of the function go back. */
static VfStatus call_wide(VfLower *cx, const VfLowRow *row, VfLowCall *call, VfErr *err)
{
    VfFact *fact = VF_NEW_ARRAY(cx->arena, VfFact, (size_t)call->n_out + 1);
    VfLowValue **in = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)call->n_in + 1);
    if (fact == NULL || in == NULL)
        return vf_no_memory(err);
    VfLowCall wide = *call;
    wide.in = in;
    wide.fact = fact;
    for (int32_t i = 0; i < call->n_in; i++)
        if (call->in[i] != NULL)
            VF_TRY(widen(cx, call->in[i], wide_of(row, call->in[i]->dtype), &in[i], err));
    for (int32_t i = 0; i < call->n_out; i++) {
        fact[i] = call->fact[i];
        fact[i].type.dtype = wide_of(row, fact[i].type.dtype);
    }
    VF_TRY(row->fn(cx, &wide, err));
    for (int32_t i = 0; i < call->n_out; i++)
        if (call->out[i] != NULL && fact[i].type.dtype != call->fact[i].type.dtype)
            VF_TRY(vf_low_convert(cx, call->out[i], call->fact[i].type.dtype, 1, &call->out[i],
                                  err));
    return VF_OK;
}

static bool needs_wide(const VfLowRow *row, const VfLowCall *call)
{
    for (int32_t i = 0; i < call->n_in; i++)
        if (call->in[i] != NULL && wide_of(row, call->in[i]->dtype) != call->in[i]->dtype)
            return true;
    for (int32_t i = 0; i < call->n_out; i++)
        if (wide_of(row, call->fact[i].type.dtype) != call->fact[i].type.dtype)
            return true;
    return false;
}

static bool is_concrete(const VfType *type)
{
    if (type->kind != VF_TYPE_TENSOR || type->dtype == VF_UNDEFINED || type->rank < 0)
        return false;
    for (int32_t i = 0; i < type->rank; i++)
        if (!vf_dim_is_known(type->dims[i]))
            return false;
    return true;
}

/* The verifier saw that every slot is filled; but a function's own operand may be left out by
 * its caller, which is known only here. */
static VfStatus need_operands(const VfLowCall *call, VfErr *err)
{
    for (int32_t i = 0; vf_op_needs(call->node->op, call->opset, i); i++)
        if (vf_low_in(call, i) == NULL)
            return vf_low_refuse(err, "operand %d is omitted", i);
    return VF_OK;
}

bool vf_lower_supports(VfOp op, uint32_t *dtypes)
{
    const VfLowRow *row = vf_low_row(op);
    *dtypes = row != NULL ? row->dtypes : 0;
    return row != NULL;
}

/* Is the dtype that the row speaks of one of its own? */
static VfStatus check_dtype(const VfLowRow *row, const VfLowCall *call, VfErr *err)
{
    const VfLowValue *x = vf_low_in(call, row->op == VF_OP_WHERE ? 1 : 0);
    VfDtype dtype = x != NULL ? x->dtype : call->fact[0].type.dtype;
    return (row->dtypes >> dtype & 1) != 0
               ? VF_OK
               : vf_low_refuse(err, "elements of %s", vf_dtype_info(dtype)->name);
}

/* No contents make the shape that these operators are given. */
static const struct {
    VfOp op;
    int32_t n_given; /* operands, from 1 on */
    const char *fault;
} no_shape_table[] = {
    {VF_OP_TILE, 1, "an axis of the result is too long to be counted"},
    {VF_OP_PAD, 1, "an axis of the result is too long to be counted"},
    {VF_OP_RESHAPE, 1, "no size in place of -1 fits beside one of 0"},
    {VF_OP_COL2IM, 2, "the elements of a block do not divide the channels"},
};

/* The shape is not known: it depends on data, or there is none for what is given. */
static VfStatus refuse_shape(const VfLowCall *call, int32_t result, VfErr *err)
{
    for (size_t i = 0; i < sizeof no_shape_table / sizeof *no_shape_table; i++) {
        bool is_given = no_shape_table[i].op == call->node->op;
        for (int32_t k = 1; is_given && k <= no_shape_table[i].n_given; k++) {
            const VfLowValue *given = vf_low_in(call, k);
            is_given = given != NULL && given->known != NULL && given->count <= VF_CONTENT_MAX;
        }
        if (is_given)
            return vf_fail(err, VF_INVALID, "node '%s': %s", vf_node_label(call->node),
                           no_shape_table[i].fault);
    }
    return vf_low_await(call, err, "the shape of result %d depends on data", result);
}

/* Sizes that are given, too. */
static VfStatus check_dims(const VfLowCall *call, VfErr *err)
{
    for (int32_t i = 0; i < call->n_out; i++) {
        const VfType *type = &call->fact[i].type;
        for (int32_t k = 0; type->kind == VF_TYPE_TENSOR && k < type->rank; k++)
            if (vf_dim_is_known(type->dims[k]) && type->dims[k].k < 0)
                return vf_fail(err, VF_INVALID, "node '%s': dimension %d of result %d is %lld",
                               vf_node_label(call->node), k, i, (long long)type->dims[k].k);
    }
    return VF_OK;
}

static VfStatus call_row(VfLower *cx, const VfLowRow *row, VfLowCall *call, VfErr *err)
{
    call->arg = row->arg;
    if ((row->flags & LOW_RAW) != 0)
        return row->fn(cx, call, err);
    VF_TRY(need_operands(call, err));
    VF_TRY(vf_low_infer(cx, call, err));
    VF_TRY(check_dims(call, err));
    bool is_done = false;
    VF_TRY(vf_low_take_known(cx, call, &is_done, err));
    if (!is_done && (row->flags & LOW_MOVES) != 0 && vf_low_has_strings(call))
        return vf_low_move_strings(cx, call, err);
    if (!is_done)
        VF_TRY(vf_low_fold(cx, call, &is_done, err));
    if (is_done)
        return VF_OK;
    for (int32_t i = 0; i < call->n_in; i++)
        if (call->in[i] != NULL && call->in[i]->kind != LOW_TENSOR)
            return vf_low_refuse(err, "operand %d is no tensor", i);
    for (int32_t i = 0; i < call->n_out && (row->flags & LOW_LOOSE) == 0; i++)
        if (vf_low_has_out(call, i) && !is_concrete(&call->fact[i].type))
            return refuse_shape(call, i, err);
    VF_TRY(check_dtype(row, call, err));
    if ((row->flags & LOW_PARTS) != 0 && vf_low_has_complex(call))
        return vf_low_call_parts(cx, row->fn, call, err);
    if (needs_wide(row, call))
        return call_wide(cx, row, call, err);
    return row->fn(cx, call, err);
}

static VfStatus call_function(VfLower *cx, VfLowCall *call, VfFunction *function, VfErr *err)
{
    const VfGraph *body = function->body;
    VfLowFrame frame = {cx->frame, call->node, function,
                        cx->frame == NULL ? 1 : cx->frame->depth + 1};
    if (frame.depth > MAX_DEPTH)
        return vf_low_refuse(err, "functions call each other %d deep", frame.depth);
    for (int32_t i = 0; i < body->n_input; i++)
        cx->env[body->input[i]->id] = vf_low_in(call, i);
    cx->frame = &frame;
    VfStatus status = vf_low_walk(cx, body, err);
    cx->frame = frame.parent;
    VF_TRY(status);
    for (int32_t i = 0; i < call->n_out && i < body->ret->n_in; i++)
        VF_TRY(vf_low_lookup(cx, vf_node_in(body->ret, i), &call->out[i], err));
    return VF_OK;
}

static bool is_poisoned(const VfLowCall *call)
{
    for (int32_t i = 0; i < call->n_in; i++)
        if (call->in[i] != NULL && call->in[i]->kind == LOW_UNKNOWN)
            return true;
    return false;
}

/* A node that means nothing would run as if it said something else. */
typedef struct JudgeNote {
    const VfNode *node;
    VfErr *err;
} JudgeNote;

static VfStatus refuse_judged(void *cx, const char *fault)
{
    const JudgeNote *note = cx;
    return vf_fail(note->err, VF_INVALID, "node '%s': %s", vf_node_label(note->node), fault);
}

static VfStatus judge(const VfLowCall *call, VfErr *err)
{
    JudgeNote note = {call->node, err};
    VF_TRY(vf_judge_ended(call->node, call->opset, refuse_judged, &note));
    return vf_judge_form(call->node, call->opset, refuse_judged, &note);
}

static VfStatus lower_call(VfLower *cx, VfLowCall *call, VfErr *err)
{
    const VfNode *node = call->node;
    VfFunction *function = vf_node_function(node);
    const VfLowRow *row = vf_low_row(node->op);
    if (function == NULL && node->domain.size == 0 && call->opset > VF_OPSET_NEWEST)
        return vf_low_refuse(err, "newer than opset %d, up to which operators are known",
                             (int)VF_OPSET_NEWEST);
    VF_TRY(judge(call, err));
    if (function != NULL)
        return call_function(cx, call, function, err);
    if (row == NULL)
        return vf_low_refuse(err, "the operator is not implemented");
    if (is_poisoned(call))
        return VF_OK;
    return call_row(cx, row, call, err);
}

/* Results for what could not be lowered, so that the walk goes on and finds the rest. */
static VfStatus fill_missing(VfLower *cx, VfLowCall *call, VfErr *err)
{
    for (int32_t i = 0; i < call->n_out; i++) {
        if (call->out[i] != NULL || call->node->out[i] == NULL)
            continue;
        call->out[i] = VF_NEW(cx->arena, VfLowValue);
        VF_TRY_ALLOC(call->out[i], err);
        call->out[i]->kind = LOW_UNKNOWN;
        call->out[i]->buffer = LOW_NO_BUFFER;
    }
    return VF_OK;
}

/* Name the node where the sentence names none. What memory lacks is no matter of a node. */
static VfStatus fail_at(const VfNode *node, VfStatus status, const char *text, VfErr *err)
{
    VfErr plain;
    vf_no_memory(&plain);
    if (strstr(text, "node '") != NULL || strcmp(text, plain.text) == 0)
        return vf_fail(err, status, "%s", text);
    return vf_fail(err, status, "node '%s': %s", vf_node_label(node), text);
}

VfStatus vf_low_node(VfLower *cx, const VfNode *node, VfLowValue **in, VfLowValue **out, VfErr *err)
{
    /* Of two branches the one that is not taken need not be lowered. */
    bool waits = cx->choice != NULL;
    VfLowCall call = {.node = node, .n_in = node->n_in, .n_out = node->n_out, .in = in, .out = out,
                      .waits = &waits};
    VF_TRY(resolve_node(cx, &call.node, err));
    call.opset = vf_graph_opset(node->graph, node->domain);
    int32_t outer = cx->current_node;
    size_t n_step = cx->n_step;
    VF_TRY(vf_low_open_node(cx, node, err));
    VfErr why = {0};
    VfStatus status = lower_call(cx, &call, &why);
    if (status == VF_UNSUPPORTED && cx->n_visit > MAX_VISIT)
        return vf_fail(err, status, "%s", why.text); /* once, not for all that calls it */
    if (status == VF_UNSUPPORTED) {
        vf_low_blame(&call, err, why.text);
        if (cx->is_inner)
            return status;
        VF_TRY(vf_low_note(cx, err->text, waits, err));
    } else if (status == VF_INVALID && cx->choice != NULL) {
        fail_at(node, status, why.text, err); /* no matter if the branch is not taken */
        VF_TRY(vf_low_note(cx, err->text, true, err));
    } else if (status != VF_OK) {
        return fail_at(node, status, why.text, err);
    }
    for (int32_t i = 0; i < call.n_out; i++)
        VF_TRY(vf_low_settle(cx, &call.out[i], err));
    VF_TRY(fill_missing(cx, &call, err));
    return vf_low_close_node(cx, &call, outer, n_step, err);
}

/* Keep the results of a node of the main graph for the caller. */
static VfStatus save_results(VfLower *cx, const VfNode *node, VfErr *err)
{
    for (int32_t i = 0; i < node->n_out; i++) {
        const VfValue *value = node->out[i];
        VfLowValue *low = value != NULL ? cx->env[value->id] : NULL;
        if (low == NULL || low->kind != LOW_TENSOR || low->dtype == VF_STRING)
            continue;
        VF_TRY(vf_low_dense(cx, low, &low, err));
        cx->env[value->id] = low;
        VF_TRY(vf_low_place(cx, low, err));
        cx->buffer[low->buffer].is_kept = true;
        VF_TRY(vf_arena_grow(cx->arena, (void **)&cx->saved, &cx->cap_saved, cx->n_saved + 1,
                             sizeof *cx->saved, err));
        cx->saved[cx->n_saved++] =
            (VfPlanTensor){.name = value->name, .dtype = low->dtype, .rank = low->rank,
                           .dims = low->dims, .bytes = vf_dtype_bytes(low->dtype, low->count),
                           .ref = {VF_SPACE_NONE, low->buffer, low->offset}};
    }
    return VF_OK;
}

static VfStatus walk_node(VfLower *cx, const VfNode *node, VfErr *err)
{
    VfLowValue **list =
        VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)node->n_in + (size_t)node->n_out + 1);
    VF_TRY_ALLOC(list, err);
    VfLowValue **out = list + node->n_in;
    if (++cx->n_visit > MAX_VISIT)
        return vf_fail(err, VF_UNSUPPORTED,
                       "node '%s': more than %d nodes to execute: loops or functions that multiply",
                       vf_node_label(node), MAX_VISIT);
    if (cx->is_done[node->id]) {
        cx->is_done[node->id] = false;
        return VF_OK;
    }
    for (int32_t i = 0; i < node->n_in; i++)
        VF_TRY(vf_low_lookup(cx, vf_node_in(node, i), &list[i], err));
    VF_TRY(vf_low_node(cx, node, list, out, err));
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL)
            cx->env[node->out[i]->id] = out[i];
    if (cx->options.save_all && cx->depth == 1 && cx->frame == NULL)
        return save_results(cx, node, err);
    return VF_OK;
}

static VfStatus walk_range(VfLower *cx, const VfNode *begin, const VfNode *end, VfErr *err)
{
    if (++cx->depth > MAX_DEPTH)
        return vf_fail(err, VF_UNSUPPORTED, "graphs inside each other %d deep", cx->depth);
    for (const VfNode *node = begin; node != end; node = node->next) {
        VfStatus status = walk_node(cx, node, err);
        if (cx->depth == 1 && cx->frame == NULL && cx->first_unsupported == NULL &&
            cx->n_unsupported > 0)
            cx->first_unsupported = node;
        if (status != VF_OK)
            return status;
    }
    cx->depth--;
    return VF_OK;
}

VfStatus vf_low_walk(VfLower *cx, const VfGraph *graph, VfErr *err)
{
    return walk_range(cx, graph->first_node, NULL, err);
}

VfStatus vf_low_walk_main(VfLower *cx, VfErr *err)
{
    const VfNode *begin = cx->options.begin;
    return walk_range(cx, begin != NULL ? begin : cx->model->graph->first_node, cx->options.end,
                      err);
}
