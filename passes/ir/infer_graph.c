#include "passes/ir/infer_graph.h"

#include <string.h>

#include "passes/ir/attr.h"
#include "passes/ir/infer_op.h"
#include "passes/ir/judge.h"

enum { DEPTH_MAX = 32, VISITS_PER_NODE = 32, VISITS_SPARE = 100000 };

/* --- facts of values --- */

const VfFact *vf_infer_run_fact(VfInferRun *run, const VfValue *value)
{
    if (!run->is_set[value->id]) {
        run->fact[value->id] = vf_value_fact(value);
        run->is_set[value->id] = true;
    }
    return &run->fact[value->id];
}

/* A declaration that is wrong: what follows from the operator is kept, so that only this value is
 * at fault and not those that are computed from it. */
static VfStatus contradict(VfInferRun *run, const VfValue *value, const VfFact *fact)
{
    const char *found = vf_type_text(run->scratch, run->model->symbols, &fact->type);
    const char *known = vf_type_text(run->scratch, run->model->symbols, &value->type);
    run->fact[value->id] = *fact;
    run->is_set[value->id] = true;
    return vf_fail(run->err, VF_INVALID, "value '%s' is declared %s but must be %s",
                   vf_value_label(value), known ? known : "?", found ? found : "?");
}

VfStatus vf_infer_run_set(VfInferRun *run, const VfValue *value, const VfFact *fact)
{
    if (!value)
        return VF_OK;
    VfFact met = *fact;
    VfStatus status = vf_infer_meet(run->scratch, &fact->type, &value->type, &met.type, run->err);
    bool is_read = value->n_use > 0;
    if (status == VF_INVALID &&
        !is_read) { /* exporters declare results nobody reads as they please */
        met.type = fact->type;
        status = VF_OK;
    }
    if (status == VF_INVALID)
        return contradict(run, value, fact);
    VF_TRY(status);
    run->fact[value->id] = met;
    run->is_set[value->id] = true;
    run->is_visited[value->id] = true;
    return VF_OK;
}

/* --- attributes that refer to the function's --- */

static const VfAttr *find_attr(const VfAttr *first, VfBytes name)
{
    for (const VfAttr *attr = first; attr; attr = attr->next)
        if (vf_bytes_is_equal(attr->name, name))
            return attr;
    return NULL;
}

/* The attribute a reference stands for in this call, or NULL: then it is absent. */
static const VfAttr *resolve(const VfInferRun *run, const VfNode *node, const VfAttr *attr)
{
    if (attr->ref.size == 0)
        return attr;
    const VfAttr *given = run->call ? find_attr(run->call->first_attr, attr->ref) : NULL;
    const VfFunction *function = node->graph->function;
    if (!given && function && run->call)
        given = find_attr(function->first_attr_default, attr->ref);
    return given;
}

static bool has_reference(const VfNode *node)
{
    for (const VfAttr *attr = node->first_attr; attr; attr = attr->next)
        if (attr->ref.size > 0)
            return true;
    return false;
}

/* A copy of the node with the values of this call in place of references; outside a call they stay.
 */
static VfStatus resolve_node(VfInferRun *run, const VfNode *node, VfNode *copy)
{
    *copy = *node;
    if (!run->call || !has_reference(node))
        return VF_OK;
    VfAttr **end = &copy->first_attr;
    for (const VfAttr *attr = node->first_attr; attr; attr = attr->next) {
        const VfAttr *value = resolve(run, node, attr);
        if (!value)
            continue;
        VfAttr *resolved = VF_NEW(run->scratch, VfAttr);
        VF_TRY_ALLOC(resolved, run->err);
        *resolved = *value;
        resolved->name = attr->name;
        *end = resolved;
        end = &resolved->next;
    }
    *end = NULL;
    return VF_OK;
}

/* --- function calls --- */

static VfStatus run_call(VfInferRun *run, const VfNode *node, const VfFunction *function,
                         const VfFact *const *in, VfFact *out)
{
    const VfGraph *body = function->body;
    if (!body || run->depth >= DEPTH_MAX || run->budget < body->n_node)
        return VF_OK;
    for (int32_t i = 0; i < body->n_input; i++) {
        VfFact unknown = {.type = {VF_TYPE_TENSOR, VF_UNDEFINED, VF_RANK_UNKNOWN, NULL}};
        VF_TRY(vf_infer_run_set(run, body->input[i], i < node->n_in && in[i] ? in[i] : &unknown));
    }
    const VfNode *outer = run->call;
    run->call = node;
    run->depth++;
    VfStatus status = vf_infer_run_graph(run, body);
    run->depth--;
    run->call = outer;
    if (status != VF_OK)
        return vf_context(run->err, "node '%s'", vf_node_label(node));
    for (int32_t i = 0; i < node->n_out && i < body->ret->n_in; i++)
        if (body->ret->in[i].value)
            out[i] = *vf_infer_run_fact(run, body->ret->in[i].value);
    return VF_OK;
}

/* --- computing small constants --- */

static bool is_small(const VfFact *fact)
{
    return fact->tensor && fact->tensor->count <= VF_CONTENT_MAX;
}

static bool is_small_result(const VfFact *fact)
{
    const VfType *type = &fact->type;
    int64_t count = 1;
    if (type->kind != VF_TYPE_TENSOR || type->dtype == VF_UNDEFINED || !vf_type_is_static(type))
        return false;
    for (int32_t i = 0; i < type->rank; i++)
        if (__builtin_mul_overflow(count, type->dims[i].k, &count) || count > VF_CONTENT_MAX)
            return false;
    return true;
}

static bool is_computable(const VfInferRun *run, const VfNode *node, const VfFact *const *in,
                          const VfFact *out)
{
    if (!run->evaluator || node->n_out == 0 || node->op == VF_OP_OTHER ||
        vf_op_has(node->op, VF_OPF_IMPURE | VF_OPF_CONTROL))
        return false;
    bool is_done = true;
    for (int32_t i = 0; i < node->n_out; i++) {
        if (!is_small_result(&out[i]))
            return false;
        is_done = is_done && out[i].tensor;
    }
    for (int32_t i = 0; i < node->n_in; i++)
        if (in[i] && !is_small(in[i]))
            return false;
    return !is_done;
}

static VfStatus compute(VfInferRun *run, const VfNode *node, const VfFact *const *in, VfFact *out)
{
    const VfTensor **operand = VF_NEW_ARRAY(run->scratch, const VfTensor *, (size_t)node->n_in);
    const VfTensor **result = VF_NEW_ARRAY(run->scratch, const VfTensor *, (size_t)node->n_out);
    VF_TRY_ALLOC(operand, run->err);
    VF_TRY_ALLOC(result, run->err);
    for (int32_t i = 0; i < node->n_in; i++)
        operand[i] = in[i] ? in[i]->tensor : NULL;
    VfStatus status =
        run->evaluator->evaluate(run->evaluator, run->scratch, node, operand, result, NULL);
    if (status == VF_NO_MEMORY)
        return vf_no_memory(run->err);
    for (int32_t i = 0; status == VF_OK && i < node->n_out; i++)
        if (result[i])
            out[i].tensor = result[i];
    return VF_OK; /* what cannot be computed is left to the run */
}

/* --- nodes --- */

static VfStatus refuse(void *cx, const char *fault)
{
    (void)cx;
    (void)fault;
    return VF_INVALID;
}

/* Of another node it was said what is wrong: what follows from that is no more. */
static bool is_sound(const VfNode *node)
{
    int64_t opset = vf_graph_opset(node->graph, node->domain);
    return opset > 0 && vf_judge_form(node, opset, refuse, NULL) == VF_OK &&
           vf_judge_ended(node, opset, refuse, NULL) == VF_OK;
}

static VfStatus infer_results(VfInferRun *run, const VfNode *node, const VfFact *const *in,
                              VfFact *out)
{
    const VfFunction *function =
        node->op == VF_OP_OTHER && run->model->first_function ? vf_node_function(node) : NULL;
    if (function)
        return run_call(run, node, function, in, out);
    if (vf_op_has(node->op, VF_OPF_CONTROL))
        return vf_infer_run_control(run, node, out);
    if (run->model->n_subgraph > 0)
        VF_TRY(vf_infer_run_bodies(run, node));
    if (run->faults && !is_sound(node))
        return VF_OK;
    VF_TRY(vf_infer_node(run->scratch, run->model->symbols, node, in, out, run->err));
    return is_computable(run, node, in, out) ? compute(run, node, in, out) : VF_OK;
}

/* Of a node that contradicts itself, what the file declares of its results counts. */
static void forget_results(VfInferRun *run, const VfNode *node)
{
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i])
            run->is_set[node->out[i]->id] = false;
}

static VfStatus run_node(VfInferRun *run, const VfNode *node)
{
    VfNode resolved;
    const VfFact **in = VF_NEW_ARRAY(run->scratch, const VfFact *, (size_t)node->n_in);
    VfFact *out = VF_NEW_ARRAY(run->scratch, VfFact, (size_t)node->n_out);
    VF_TRY_ALLOC(in, run->err);
    VF_TRY_ALLOC(out, run->err);
    for (int32_t i = 0; i < node->n_in; i++)
        in[i] = node->in[i].value ? vf_infer_run_fact(run, node->in[i].value) : NULL;
    for (int32_t i = 0; i < node->n_out; i++)
        out[i].type = (VfType){VF_TYPE_TENSOR, VF_UNDEFINED, VF_RANK_UNKNOWN, NULL};
    if (run->faults)
        forget_results(run, node);
    VF_TRY(resolve_node(run, node, &resolved));
    VF_TRY(infer_results(run, &resolved, in, out));
    for (int32_t i = 0; i < node->n_out; i++)
        VF_TRY(vf_infer_run_set(run, node->out[i], &out[i]));
    return VF_OK;
}

/* A contradiction among those collected, once: bodies are visited more than once. */
static VfStatus note_fault(VfInferRun *run)
{
    VfFaults *faults = run->faults;
    for (int32_t i = 0; i < faults->n; i++)
        if (strcmp(faults->text[i], run->err->text) == 0)
            return VF_OK;
    if (faults->n >= VF_FAULT_MAX)
        return VF_OK;
    const char *text = vf_arena_string(run->fault_arena, run->err->text);
    VF_TRY_ALLOC(text, run->err);
    VF_TRY(vf_arena_grow(run->fault_arena, (void **)&faults->text, &run->fault_capacity,
                         (size_t)faults->n + 1, sizeof *faults->text, run->err));
    faults->text[faults->n++] = text;
    return VF_OK;
}

VfStatus vf_infer_run_graph(VfInferRun *run, const VfGraph *graph)
{
    for (const VfNode *node = graph->first_node; node; node = node->next) {
        run->budget--;
        VfStatus status = run_node(run, node);
        if (status != VF_INVALID || !run->faults) {
            VF_TRY(status);
            continue;
        }
        VF_TRY(note_fault(run));
    }
    return VF_OK;
}

/* --- keeping the facts --- */

static VfStatus copy_dims(VfModel *model, int32_t n, const VfDim *from, const VfDim **to,
                          VfErr *err)
{
    *to = NULL;
    if (n <= 0)
        return VF_OK;
    VfDim *copy = VF_NEW_ARRAY(model->arena, VfDim, (size_t)n);
    VF_TRY_ALLOC(copy, err);
    memcpy(copy, from, (size_t)n * sizeof *copy);
    *to = copy;
    return VF_OK;
}

/* Contents in integers, also when they came as a tensor. */
static VfStatus take_content(VfInferRun *run, VfFact *fact)
{
    if (fact->content || !fact->tensor || !vf_infer_has_content(fact->tensor))
        return VF_OK;
    fact->content = vf_infer_content_of_tensor(run->scratch, fact->tensor, &fact->n_content);
    return fact->content ? VF_OK : vf_no_memory(run->err);
}

static bool is_same_content(const VfValue *value, const VfFact *fact)
{
    if (!value->content || !fact->content || value->n_content != fact->n_content)
        return !value->content && !fact->content;
    for (int32_t i = 0; i < fact->n_content; i++)
        if (value->content[i].k != fact->content[i].k ||
            value->content[i].sym != fact->content[i].sym)
            return false;
    return true;
}

static VfStatus keep_fact(VfInferRun *run, VfValue *value)
{
    VfFact *fact = &run->fact[value->id];
    if (!run->is_visited[value->id] || value->kind == VF_VALUE_CONST)
        return VF_OK;
    if (!vf_type_is_equal(&value->type, &fact->type)) {
        VfType type = fact->type;
        VF_TRY(copy_dims(run->model, type.rank, fact->type.dims, &type.dims, run->err));
        value->type = type;
    }
    VF_TRY(take_content(run, fact));
    if (is_same_content(value, fact))
        return VF_OK;
    value->n_content = fact->content ? fact->n_content : 0;
    if (fact->content && fact->n_content == 0) { /* an empty list is known too */
        value->content = VF_NEW(run->model->arena, VfDim);
        return value->content ? VF_OK : vf_no_memory(run->err);
    }
    return copy_dims(run->model, value->n_content, fact->content, &value->content, run->err);
}

/* Bodies of functions are not kept: they differ from call to call. */
static VfStatus keep_graph(VfInferRun *run, VfGraph *graph)
{
    for (VfValue *value = graph->first_value; value; value = value->next)
        VF_TRY(keep_fact(run, value));
    if (run->model->n_subgraph == 0)
        return VF_OK;
    for (VfNode *node = graph->first_node; node; node = node->next)
        for (VfAttr *attr = node->first_attr; attr; attr = attr->next) {
            if (attr->type == VF_ATTR_GRAPH && attr->graph)
                VF_TRY(keep_graph(run, attr->graph));
        }
    return VF_OK;
}

static VfStatus start_run(VfInferRun *run)
{
    size_t n = (size_t)run->model->n_value_id;
    run->fact = VF_NEW_ARRAY(run->scratch, VfFact, n);
    run->is_set = VF_NEW_ARRAY(run->scratch, bool, n);
    run->is_visited = VF_NEW_ARRAY(run->scratch, bool, n);
    run->budget = (int64_t)run->model->n_node_id * VISITS_PER_NODE + VISITS_SPARE;
    return run->fact && run->is_set && run->is_visited ? VF_OK : vf_no_memory(run->err);
}

VfStatus vf_infer_graph(VfGraph *graph, const VfEvaluator *evaluator, VfErr *err)
{
    VfArena *scratch = vf_arena_new();
    VF_TRY_ALLOC(scratch, err);
    VfInferRun run = {.model = graph->model, .scratch = scratch, .evaluator = evaluator,
                      .err = err};
    VfStatus status = start_run(&run);
    if (status == VF_OK)
        status = vf_infer_run_graph(&run, graph);
    if (status == VF_OK)
        status = keep_graph(&run, graph);
    vf_arena_free(scratch);
    return status;
}

VfStatus vf_infer_check(VfGraph *graph, VfArena *arena, VfFaults *faults, VfErr *err)
{
    VfErr own;
    VfArena *scratch = vf_arena_new();
    VF_TRY_ALLOC(scratch, err);
    VfInferRun run = {.model = graph->model, .scratch = scratch, .faults = faults,
                      .fault_arena = arena, .err = &own};
    *faults = (VfFaults){0, NULL};
    VfStatus status = start_run(&run);
    if (status == VF_OK)
        status = vf_infer_run_graph(&run, graph);
    vf_arena_free(scratch);
    return status == VF_OK ? VF_OK : vf_fail(err, status, "%s", own.text);
}
