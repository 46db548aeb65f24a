/* Nodes computed when the plan is made: lowered by themselves and run at once. */
#include "converter/lower/emit.h"
#include "converter/lower/finish.h"

#include <stdlib.h>
#include <string.h>

typedef struct Memory {
    char **place; /* of each buffer */
} Memory;

static VfStatus give_memory(VfLower *cx, Memory *memory, VfErr *err)
{
    memory->place = VF_NEW_ARRAY(cx->arena, char *, cx->n_buffer + 1);
    VF_TRY_ALLOC(memory->place, err);
    for (size_t i = 0; i < cx->n_buffer; i++) {
        const VfLowBuffer *b = &cx->buffer[i];
        if (b->space == VF_SPACE_WEIGHT) {
            memory->place[i] = (char *)(uintptr_t)cx->weight[b->index].data; /* only read */
            continue;
        }
        memory->place[i] = vf_arena_alloc(cx->arena, b->bytes);
        VF_TRY_ALLOC(memory->place[i], err);
    }
    return VF_OK;
}

static void *place_of(const Memory *memory, VfLowRef ref)
{
    if (ref.buffer == LOW_NO_BUFFER || memory->place[ref.buffer] == NULL)
        return NULL;
    return memory->place[ref.buffer] + ref.offset;
}

static VfStatus run_step(VfLower *cx, const Memory *memory, const VfLowStep *step, VfErr *err)
{
    const void **in = VF_NEW_ARRAY(cx->arena, const void *, (size_t)step->n_in + 1);
    void **out = VF_NEW_ARRAY(cx->arena, void *, (size_t)step->n_out + 1);
    void *scratch = vf_arena_alloc(cx->arena, step->scratch_bytes + 256);
    if (in == NULL || out == NULL || scratch == NULL)
        return vf_no_memory(err);
    for (int32_t i = 0; i < step->n_in; i++)
        in[i] = place_of(memory, step->in[i]);
    for (int32_t i = 0; i < step->n_out; i++)
        out[i] = place_of(memory, step->out[i]);
    VfkFault fault = {0};
    VfkArgs args = {in, out, scratch, step->params, 0, step->units, &fault};
    step->kernel->fn(&args);
    return fault.is_set ? vf_plan_fail(&cx->node[step->node], &fault, err) : VF_OK;
}

/* Strings are known or lowering refuses: a copy of the list and of what it points at. */
static VfStatus take_strings(const VfTensor *from, VfArena *arena, VfTensor *made, VfErr *err)
{
    const VfBytes *old = from->data;
    VfBytes *list = VF_NEW_ARRAY(arena, VfBytes, from->count + 1);
    VF_TRY_ALLOC(list, err);
    for (size_t i = 0; i < from->count; i++) {
        list[i] = (VfBytes){vf_arena_copy(arena, old[i].data, old[i].size), old[i].size};
        VF_TRY_ALLOC(list[i].data, err);
    }
    made->data = list;
    made->bytes = from->bytes;
    return VF_OK;
}

static VfStatus take_result(const Memory *memory, const VfLowValue *value, VfArena *arena,
                            const VfTensor **out, VfErr *err)
{
    if (value->kind != LOW_TENSOR)
        return vf_fail(err, VF_UNSUPPORTED, "a result is no tensor");
    const void *from = value->known != NULL
                           ? value->known->data
                           : place_of(memory, (VfLowRef){value->buffer, value->offset});
    VfTensor made = {.dtype = value->dtype, .rank = value->rank, .dims = value->dims};
    VF_TRY(vf_dims_count(made.rank, made.dims, &made.count, err));
    made.bytes = vf_dtype_bytes(made.dtype, made.count);
    if (made.dtype == VF_STRING) {
        VF_TRY(take_strings(value->known, arena, &made, err));
    } else if (made.count > 0) {
        made.data = vf_arena_stream_copy(arena, from, made.bytes);
        VF_TRY_ALLOC(made.data, err);
    }
    *out = vf_tensor_view(arena, &made, made.rank, made.dims);
    VF_TRY_ALLOC(*out, err);
    return VF_OK;
}

static VfStatus evaluate(VfLower *cx, VfArena *arena, const VfNode *node, const VfTensor *const *in,
                         const VfTensor **out, VfErr *err)
{
    VfLowValue **list =
        VF_NEW_ARRAY(cx->arena, VfLowValue *, (size_t)node->n_in + (size_t)node->n_out + 1);
    VF_TRY_ALLOC(list, err);
    VfLowValue **result = list + node->n_in;
    for (int32_t i = 0; i < node->n_in; i++)
        if (in[i] != NULL)
            VF_TRY(vf_low_const(cx, in[i], &list[i], err));
    VF_TRY(vf_low_node(cx, node, list, result, err));
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL)
            VF_TRY(vf_low_dense(cx, result[i], &result[i], err));
    Memory memory;
    VF_TRY(vf_low_align_weights(cx, err));
    VF_TRY(give_memory(cx, &memory, err));
    for (size_t i = 0; i < cx->n_step; i++)
        VF_TRY(run_step(cx, &memory, &cx->step[i], err));
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL)
            VF_TRY(take_result(&memory, result[i], arena, &out[i], err));
    return VF_OK;
}

VfStatus vf_low_evaluate(VfArena *arena, const VfModel *model, const VfNode *node,
                         const VfTensor *const *in, const VfTensor **out, VfErr *err)
{
    VfArena *own = vf_arena_new();
    VF_TRY_ALLOC(own, err);
    VfLower cx = {.model = model, .arena = own, .report_arena = own, .is_inner = true};
    cx.symbols = vf_symbols_new(own);
    VfStatus status = cx.symbols == NULL ? vf_no_memory(err)
                                         : evaluate(&cx, arena, node, in, out, err);
    free(cx.copy);
    vf_arena_free(own);
    return status;
}

static VfStatus evaluate_node(const VfEvaluator *self, VfArena *arena, const VfNode *node,
                              const VfTensor *const *in, const VfTensor **out, VfErr *err)
{
    (void)self;
    if (vf_op_has(node->op, VF_OPF_CONTROL | VF_OPF_IMPURE))
        return vf_fail(err, VF_UNSUPPORTED, "node '%s' is not a function of its operands",
                       vf_node_label(node));
    return vf_low_evaluate(arena, node->graph->model, node, in, out, err);
}

const VfEvaluator *vf_evaluator(void)
{
    static const VfEvaluator evaluator = {evaluate_node};
    return &evaluator;
}
