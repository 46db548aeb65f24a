/* Graph to plan: bindings of the inputs, the walk, the outputs. */
#include "converter/lower/lower.h"

#include <stdlib.h>
#include <string.h>

#include "converter/lower/emit.h"
#include "converter/lower/finish.h"
#include "runtime/base/intern.h"
#include "runtime/base/text.h"

/* --- inputs --- */

static VfStatus intern_inputs(VfArena *arena, const VfGraph *graph, VfIntern **names, VfErr *err)
{
    *names = vf_intern_new(arena);
    VF_TRY_ALLOC(*names, err);
    for (int32_t i = 0; i < graph->n_input; i++)
        VF_TRY(vf_intern_add(*names, graph->input[i]->name, NULL, err));
    return VF_OK;
}

/* `given` gets the name of each binding, with its number. */
static VfStatus check_names(VfArena *arena, const VfGraph *graph, int32_t n,
                            const VfBinding *binding, VfIntern *given, VfErr *err)
{
    VfIntern *names;
    VF_TRY(intern_inputs(arena, graph, &names, err));
    for (int32_t i = 0; i < n; i++) {
        int32_t id;
        if (vf_intern_find(names, binding[i].name) < 0)
            return vf_fail(err, VF_USAGE, "the model has no input '%.*s'",
                           (int)binding[i].name.size, binding[i].name.data);
        VF_TRY(vf_intern_add(given, binding[i].name, &id, err));
        if (id != i)
            return vf_fail(err, VF_USAGE, "input '%.*s' is given twice",
                           (int)binding[i].name.size, binding[i].name.data);
    }
    return VF_OK;
}

static VfStatus check_binding(const VfModel *model, const VfValue *input, const VfBinding *b,
                              VfArena *arena, VfErr *err)
{
    const VfType *type = &input->type;
    bool fits = (type->dtype == VF_UNDEFINED || type->dtype == b->dtype) &&
                (type->rank < 0 || type->rank == b->rank);
    for (int32_t i = 0; i < b->rank; i++) {
        if (b->dims[i] < 0)
            return vf_fail(err, VF_USAGE, "input '%s' has a negative dim", vf_value_label(input));
        bool is_fixed = fits && type->rank >= 0 && vf_dim_is_known(type->dims[i]);
        fits = fits && (!is_fixed || type->dims[i].k == b->dims[i]);
    }
    if (fits)
        return VF_OK;
    VfText text;
    vf_text_init(&text, arena);
    vf_text_printf(&text, "input '%s' is %s[", vf_value_label(input),
                   vf_dtype_info(b->dtype)->name);
    for (int32_t i = 0; i < b->rank; i++)
        vf_text_printf(&text, i == 0 ? "%lld" : ", %lld", (long long)b->dims[i]);
    const char *want = vf_type_text(arena, model->symbols, type);
    VF_TRY_ALLOC(want, err);
    vf_text_printf(&text, "], the model takes %s", want);
    VfBytes bytes;
    VF_TRY(vf_text_get(&text, &bytes, err));
    return vf_fail(err, VF_USAGE, "%s", bytes.data);
}

/* The plan's next input is `value`. */
static VfStatus add_input(VfLower *cx, VfBytes name, VfLowValue *value, VfErr *err)
{
    value->name = name;
    VF_TRY(vf_arena_grow(cx->arena, (void **)&cx->input, &cx->cap_input, cx->n_input + 1,
                         sizeof *cx->input, err));
    cx->input[cx->n_input] =
        (VfPlanTensor){.name = name, .dtype = value->dtype, .rank = value->rank,
                       .dims = value->dims, .bytes = vf_dtype_bytes(value->dtype, value->count),
                       .ref = {VF_SPACE_INPUT, (int32_t)cx->n_input, 0}};
    cx->n_input++;
    return VF_OK;
}

/* There is one tensor without elements of a shape: a plan for it depends on no contents. */
static VfStatus know_nothing(VfLower *cx, VfLowValue *value, VfErr *err)
{
    VfTensor *tensor;
    void *data;
    VF_TRY(vf_tensor_new(cx->arena, value->dtype, value->rank, value->dims, &tensor, &data, err));
    value->known = tensor;
    return VF_OK;
}

/* Contents are known to the walk if `is_known`; those of strings, and of nothing, always. */
static VfStatus bind_tensor(VfLower *cx, VfBytes name, const VfBinding *b, bool is_known,
                            VfLowValue **value, VfErr *err)
{
    if (b->dtype == VF_STRING && b->value == NULL)
        return vf_fail(err, VF_UNSUPPORTED, "input '%.*s' holds strings", (int)name.size,
                       name.data);
    if (b->dtype == VF_STRING) {
        cx->took_strings = true;
        return vf_low_const(cx, b->value, value, err);
    }
    VF_TRY(vf_low_input(cx, b->dtype, b->rank, b->dims, value, err));
    if (is_known && b->value != NULL) {
        (*value)->known = b->value;
        cx->buffer[(*value)->buffer].known = b->value->data;
    }
    if ((*value)->count == 0)
        VF_TRY(know_nothing(cx, *value, err));
    return add_input(cx, name, *value, err);
}

static VfStatus bind_value(VfLower *cx, VfBytes name, const VfBinding *b, bool is_known,
                           VfLowValue **value, VfErr *err)
{
    if (b->kind == VF_BINDING_TENSOR)
        return bind_tensor(cx, name, b, is_known, value, err);
    VfLowValue **item = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)b->n_item + 1);
    *value = VF_NEW(cx->arena, VfLowValue);
    VF_TRY_ALLOC(item, err);
    VF_TRY_ALLOC(*value, err);
    for (int32_t i = 0; i < b->n_item; i++)
        VF_TRY(bind_value(cx, name, &b->item[i], is_known, &item[i], err));
    **value = (VfLowValue){.kind = b->kind == VF_BINDING_ABSENT ? LOW_ABSENT : LOW_SEQUENCE,
                           .dtype = b->n_item > 0 ? item[0]->dtype : VF_UNDEFINED,
                           .buffer = LOW_NO_BUFFER, .n_item = b->n_item, .item = item};
    return VF_OK;
}

/* Types that we model; what is inside others is seen by the nodes that read it. */
static VfStatus check_kind(const VfModel *model, const VfValue *input, const VfBinding *b,
                           VfArena *arena, VfErr *err)
{
    static const char *const word[] = {"a tensor", "a sequence", "an optional without a value"};
    VfTypeKind kind = input->type.kind;
    bool is_tensor = b->kind == VF_BINDING_TENSOR;
    if (kind == VF_TYPE_TENSOR && is_tensor)
        return check_binding(model, input, b, arena, err);
    bool is_sequence = b->kind == VF_BINDING_SEQUENCE;
    if (kind == VF_TYPE_OTHER || (kind == VF_TYPE_SEQUENCE && is_sequence) ||
        (kind == VF_TYPE_OPTIONAL && !is_sequence))
        return VF_OK;
    const char *want = vf_type_text(arena, model->symbols, &input->type);
    VF_TRY_ALLOC(want, err);
    return vf_fail(err, VF_USAGE, "input '%s' is %s, the model takes %s", vf_value_label(input),
                   word[b->kind], want);
}

static VfStatus bind_input(VfLower *cx, const VfValue *input, const VfBinding *b, VfErr *err)
{
    VF_TRY(check_kind(cx->model, input, b, cx->report_arena, err));
    return bind_value(cx, input->name, b, cx->use_values, &cx->env[input->id], err);
}

static VfStatus bind_inputs(VfLower *cx, int32_t n, const VfBinding *binding, VfErr *err)
{
    const VfGraph *graph = cx->model->graph;
    VfIntern *given = vf_intern_new(cx->arena);
    VF_TRY_ALLOC(given, err);
    VF_TRY(check_names(cx->arena, graph, n, binding, given, err));
    for (int32_t i = 0; i < graph->n_input; i++) {
        int32_t id = vf_intern_find(given, graph->input[i]->name);
        if (id >= 0)
            VF_TRY(bind_input(cx, graph->input[i], &binding[id], err));
        else if (graph->input[i]->tensor == NULL)
            return vf_fail(err, VF_USAGE, "input '%s' is missing and has no default",
                           vf_value_label(graph->input[i]));
    }
    return VF_OK;
}

static VfStatus bind_given(VfLower *cx, const VfGiven *given, VfErr *err)
{
    return bind_value(cx, given->value->name, &given->binding, given->is_known,
                      &cx->env[given->value->id], err);
}

/* --- outputs --- */

/* The whole of a buffer that no other output has: the caller's memory can take its place. */
static bool can_be_output(const VfLower *cx, const VfLowValue *value)
{
    if (value->buffer == LOW_NO_BUFFER || value->offset != 0 || !vf_low_is_dense(value))
        return false;
    const VfLowBuffer *b = &cx->buffer[value->buffer];
    return b->space == VF_SPACE_ARENA && b->bytes == vf_dtype_bytes(value->dtype, value->count);
}

/* How many outputs of the graph the plan has: all or none. */
static int32_t own_outputs(const VfLower *cx)
{
    return cx->options.end != NULL ? 0 : cx->model->graph->ret->n_in;
}

/* One of the outputs: those of the graph, then those kept. */
static const VfValue *output_value(const VfLower *cx, int32_t index, VfBytes *name)
{
    const VfGraph *graph = cx->model->graph;
    int32_t n_own = own_outputs(cx);
    bool is_own = index < n_own;
    const VfValue *value = is_own ? vf_node_in(graph->ret, index) : cx->options.keep[index - n_own];
    *name = is_own ? graph->output_name[index] : value->name;
    return value;
}

static VfStatus find_output(VfLower *cx, int32_t index, VfBytes *name, VfLowValue **value,
                            VfErr *err)
{
    const VfValue *wanted = output_value(cx, index, name);
    if (wanted != NULL && wanted->graph != cx->model->graph)
        return vf_fail(err, VF_UNSUPPORTED, "value '%s' is not one of the main graph",
                       vf_value_label(wanted));
    return vf_low_lookup(cx, wanted, value, err);
}

/* Output `index` of the plan is `value`. The plan itself holds strings. */
static VfStatus bind_tensor_output(VfLower *cx, VfPlan *plan, int32_t index, VfBytes name,
                                   VfLowValue *value, VfErr *err)
{
    plan->output[index] = (VfPlanTensor){.name = name, .dtype = value->dtype, .rank = value->rank,
                                         .dims = value->dims,
                                         .bytes = vf_dtype_bytes(value->dtype, value->count),
                                         .ref = {VF_SPACE_OUTPUT, index, 0}};
    if (value->dtype == VF_STRING) {
        plan->output[index].data = value->known->data;
        return VF_OK;
    }
    VfLowValue *to = value;
    if (!can_be_output(cx, value)) {
        VF_TRY(vf_low_new(cx, value->dtype, value->rank, value->dims, &to, err));
        VF_TRY(vf_low_copy_any(cx, value, to, err));
    }
    cx->buffer[to->buffer].space = VF_SPACE_OUTPUT;
    cx->buffer[to->buffer].index = index;
    return VF_OK;
}

static bool is_numbers(const VfLowValue *value)
{
    return value != NULL && value->kind == LOW_TENSOR && value->dtype != VF_STRING;
}

/* Numbers, or strings that are known. */
static bool is_tensor(const VfLowValue *value)
{
    return is_numbers(value) ||
           (value != NULL && value->kind == LOW_TENSOR && value->known != NULL);
}

/* Can the value be an output? A sequence may if its items can. */
static bool is_result(const VfLower *cx, const VfLowValue *value)
{
    if (!cx->options.lists || value == NULL)
        return is_numbers(value);
    for (int32_t i = 0; i < value->n_item; i++)
        if (!is_tensor(value->item[i]))
            return false;
    return value->kind != LOW_TENSOR || is_tensor(value);
}

static VfStatus bind_output(VfLower *cx, VfPlan *plan, int32_t index, VfErr *err)
{
    VfBytes name;
    VfLowValue *value;
    static const VfPlanKind kind[] = {[LOW_TENSOR] = VF_PLAN_TENSOR,
                                      [LOW_SEQUENCE] = VF_PLAN_SEQUENCE,
                                      [LOW_ABSENT] = VF_PLAN_ABSENT};
    VF_TRY(find_output(cx, index, &name, &value, err));
    if (value != NULL && value->kind == LOW_UNKNOWN)
        return VF_OK; /* its node is noted already */
    if (!is_result(cx, value))
        return vf_fail(err, VF_UNSUPPORTED, "output %d, '%.*s', is no tensor of numbers", index,
                       (int)name.size, name.data);
    bool is_list = value->kind != LOW_TENSOR;
    int32_t n = is_list ? value->n_item : 1, first = plan->n_output;
    plan->result[index] = (VfPlanResult){name, kind[value->kind], first, n};
    VF_TRY(vf_arena_grow(cx->arena, (void **)&plan->output, &cx->cap_output,
                         (size_t)first + (size_t)n + 1, sizeof *plan->output, err));
    plan->n_output += n;
    for (int32_t i = 0; i < n; i++)
        VF_TRY(bind_tensor_output(cx, plan, first + i, name, is_list ? value->item[i] : value,
                                  err));
    return VF_OK;
}

static VfStatus bind_outputs(VfLower *cx, VfPlan *plan, VfErr *err)
{
    if (__builtin_add_overflow(own_outputs(cx), cx->options.n_keep, &plan->n_result))
        return vf_fail(err, VF_UNSUPPORTED, "too many outputs");
    plan->result = VF_NEW_ARRAY(cx->arena, VfPlanResult, (size_t)plan->n_result + 1);
    VF_TRY_ALLOC(plan->result, err);
    VF_TRY(vf_arena_grow(cx->arena, (void **)&cx->node, &cx->cap_node, cx->n_node + 1,
                         sizeof *cx->node, err));
    cx->current_node = (int32_t)cx->n_node;
    size_t n_step = cx->n_step;
    cx->node[cx->n_node++] = (VfPlanNode){vf_bytes("(outputs)"), "Copy", NULL, ""};
    for (int32_t i = 0; i < plan->n_result; i++) {
        VfErr why = {0};
        VfStatus status = bind_output(cx, plan, i, &why);
        if (status == VF_UNSUPPORTED)
            VF_TRY(vf_low_note(cx, why.text, false, err));
        else if (status != VF_OK)
            return vf_fail(err, status, "%s", why.text);
    }
    if (cx->n_step == n_step)
        cx->n_node--;
    return VF_OK;
}

/* --- the whole --- */

static VfStatus lower(VfLower *cx, int32_t n_binding, const VfBinding *binding, VfPlan *plan,
                      VfErr *err)
{
    cx->symbols = vf_symbols_new(cx->arena);
    cx->n_env = cx->model->n_value_id;
    cx->env = VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)cx->n_env + 1);
    cx->is_done = VF_NEW_ARRAY(cx->arena, bool, (size_t)cx->model->n_node_id + 1);
    if (cx->symbols == NULL || cx->env == NULL || cx->is_done == NULL)
        return vf_no_memory(err);
    VF_TRY(bind_inputs(cx, n_binding, binding, err));
    for (int32_t i = 0; i < cx->options.n_given; i++)
        VF_TRY(bind_given(cx, &cx->options.given[i], err));
    VfStatus status = vf_low_walk_main(cx, err);
    if (status == VF_UNSUPPORTED)
        VF_TRY(vf_low_note(cx, err->text, false, err));
    else
        VF_TRY(status);
    if (status == VF_OK)
        VF_TRY(bind_outputs(cx, plan, err));
    if (cx->n_unsupported == 0)
        return vf_low_finish(cx, plan, err);
    return cx->lacks_room ? vf_fail(err, VF_NO_MEMORY,
                                    "the plan needs more than the %zu bytes of memory allowed",
                                    cx->options.max_arena_bytes)
                          : VF_UNSUPPORTED;
}

/* Those whom no contents would help come first. */
static VfStatus tell_unsupported(const VfLower *cx, VfUnsupported *to, VfErr *err)
{
    size_t n = 0;
    *to = (VfUnsupported){.first = cx->first_unsupported};
    to->text = VF_NEW_ARRAY(cx->report_arena, const char *, cx->n_unsupported + 1);
    VF_TRY_ALLOC(to->text, err);
    for (int waits = 0; waits < 2; waits++) {
        for (size_t i = 0; i < cx->n_unsupported; i++)
            if (cx->unsupported[i].waits == (waits == 1))
                to->text[n++] = cx->unsupported[i].text;
        if (waits == 0)
            to->n_real = (int32_t)n;
    }
    to->n = (int32_t)n;
    return vf_unsupported_fail(to, err);
}

VfStatus vf_unsupported_fail(const VfUnsupported *unsupported, VfErr *err)
{
    if (unsupported->n == 1)
        return vf_fail(err, VF_UNSUPPORTED, "%s", unsupported->text[0]);
    return vf_fail(err, VF_UNSUPPORTED, "%s (and %d more)", unsupported->text[0],
                   unsupported->n - 1);
}

typedef struct Request {
    const VfModel *model;
    int32_t n_binding;
    const VfBinding *binding;
    const VfLowerOptions *options;
    VfArena *arena;
} Request;

static VfStatus attempt(const Request *request, bool use_values, VfPlan **plan,
                        VfUnsupported *unsupported, VfErr *err)
{
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    vf_arena_use_huge_pages(arena); /* of weights, which each run reads from end to end */
    VfLower cx = {.model = request->model, .arena = arena, .use_values = use_values,
                  .report_arena = request->arena != NULL ? request->arena : arena};
    if (request->options != NULL)
        cx.options = *request->options;
    *plan = VF_NEW(arena, VfPlan);
    VfStatus status = VF_NO_MEMORY;
    if (*plan == NULL)
        vf_no_memory(err);
    else
        status = lower(&cx, request->n_binding, request->binding, *plan, err);
    free(cx.copy);
    VfUnsupported told = {0};
    if (status == VF_UNSUPPORTED && cx.n_unsupported > 0)
        status = tell_unsupported(&cx, &told, err);
    if (unsupported != NULL && request->arena != NULL)
        *unsupported = told;
    if (status != VF_OK) {
        *plan = NULL;
        vf_arena_free(arena);
        return status;
    }
    (*plan)->arena = arena;
    (*plan)->depends_on_values = use_values || cx.took_strings || cx.options.n_given > 0;
    return VF_OK;
}

VfStatus vf_lower(const VfModel *model, int32_t n_binding, const VfBinding *binding,
                  const VfLowerOptions *options, VfArena *arena, VfPlan **plan,
                  VfUnsupported *unsupported, VfErr *err)
{
    const Request request = {model, n_binding, binding, options, arena};
    bool has_values = false;
    for (int32_t i = 0; i < n_binding; i++)
        has_values = has_values || (binding[i].value != NULL && binding[i].value->count > 0);
    VfStatus status = attempt(&request, false, plan, unsupported, err);
    /* A plan for any contents is better; where there is none, one for these contents. */
    if (status == VF_UNSUPPORTED && has_values)
        status = attempt(&request, true, plan, unsupported, err);
    return status;
}
