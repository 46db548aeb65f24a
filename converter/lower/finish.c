/* From what the walk collected to a plan. */
#include "converter/lower/finish.h"
#include "converter/lower/fuse.h"

#include <string.h>

#include "runtime/base/file.h"
#include "runtime/base/intern.h"
#include "runtime/base/text.h"

/* --- the nodes that steps belong to --- */

static void add_shape(VfText *text, const VfLowValue *value)
{
    if (value == NULL || value->kind != LOW_TENSOR) {
        vf_text_string(text, "-");
        return;
    }
    if (value->rank == 0)
        vf_text_string(text, "scalar");
    for (int32_t i = 0; i < value->rank; i++)
        vf_text_printf(text, i == 0 ? "%lld" : "x%lld", (long long)value->dims[i]);
}

static VfStatus shapes_text(VfLower *cx, const VfLowCall *call, const char **out, VfErr *err)
{
    VfText text;
    vf_text_init(&text, cx->arena);
    for (int32_t i = 0; i < call->n_in; i++) {
        vf_text_string(&text, i == 0 ? "" : " \xc2\xb7 ");
        add_shape(&text, call->in[i]);
    }
    vf_text_string(&text, " -> ");
    for (int32_t i = 0; i < call->n_out; i++) {
        vf_text_string(&text, i == 0 ? "" : ", ");
        add_shape(&text, call->out[i]);
    }
    VfBytes bytes;
    VF_TRY(vf_text_get(&text, &bytes, err));
    *out = bytes.data;
    return VF_OK;
}

static const char pass_key[] = "vitfold.pass";

static bool is_pass_key(VfBytes key)
{
    return key.size >= sizeof pass_key - 1 && memcmp(key.data, pass_key, sizeof pass_key - 1) == 0;
}

/* The last entry of the model's metadata for each node: pass_key, a colon and the node's name. */
typedef struct VfLowPasses {
    VfIntern *node;
    const VfMeta **meta; /* by the number of the name */
    size_t capacity;
} VfLowPasses;

static VfStatus index_passes(VfLower *cx, VfErr *err)
{
    size_t n = sizeof pass_key - 1;
    VfLowPasses *passes = VF_NEW(cx->arena, VfLowPasses);
    VF_TRY_ALLOC(passes, err);
    passes->node = vf_intern_new(cx->arena);
    VF_TRY_ALLOC(passes->node, err);
    cx->passes = passes;
    for (const VfMeta *meta = cx->model->meta; meta != NULL; meta = meta->next) {
        int32_t id;
        if (!is_pass_key(meta->key) || meta->key.size == n || meta->key.data[n] != ':')
            continue;
        VfBytes name = {meta->key.data + n + 1, meta->key.size - n - 1};
        VF_TRY(vf_intern_add(passes->node, name, &id, err));
        VF_TRY(vf_arena_grow(cx->arena, (void **)&passes->meta, &passes->capacity, (size_t)id + 1,
                             sizeof *passes->meta, err));
        passes->meta[id] = meta;
    }
    return VF_OK;
}

/* The pass that made the node: in this process, or as the file says; NULL if none did or the node
 * is only evaluated. Files that have no metadata of nodes have it with that of the model. */
static VfStatus find_pass(VfLower *cx, const VfNode *node, const char **pass, VfErr *err)
{
    *pass = node->origin != NULL ? node->origin->pass : NULL;
    if (*pass != NULL || cx->is_inner)
        return VF_OK;
    if (cx->passes == NULL)
        VF_TRY(index_passes(cx, err));
    int32_t id = node->name.size > 0 ? vf_intern_find(cx->passes->node, node->name) : -1;
    const VfMeta *found = id < 0 ? NULL : cx->passes->meta[id];
    for (const VfMeta *meta = node->meta; meta != NULL; meta = meta->next)
        found = is_pass_key(meta->key) && meta->key.size == sizeof pass_key - 1 ? meta : found;
    if (found == NULL)
        return VF_OK;
    *pass = vf_arena_copy(cx->arena, found->value.data, found->value.size);
    VF_TRY_ALLOC(*pass, err);
    return VF_OK;
}

VfStatus vf_low_open_node(VfLower *cx, const VfNode *node, VfErr *err)
{
    VF_TRY(vf_arena_grow(cx->arena, (void **)&cx->node, &cx->cap_node, cx->n_node + 1,
                         sizeof *cx->node, err));
    const char *op = vf_arena_copy(cx->arena, node->op_type.data, node->op_type.size);
    VF_TRY_ALLOC(op, err);
    const char *pass;
    VF_TRY(find_pass(cx, node, &pass, err));
    cx->current_node = (int32_t)cx->n_node;
    cx->node[cx->n_node++] = (VfPlanNode){vf_bytes(vf_node_label(node)), op, pass, ""};
    return VF_OK;
}

VfStatus vf_low_close_node(VfLower *cx, const VfLowCall *call, int32_t outer, size_t n_step,
                            VfErr *err)
{
    int32_t mine = cx->current_node;
    cx->current_node = outer;
    if (cx->n_step == n_step && mine == (int32_t)cx->n_node - 1)
        cx->n_node--;
    else
        VF_TRY(shapes_text(cx, call, &cx->node[mine].shapes, err));
    return VF_OK;
}

/* --- weights --- */

static bool is_aligned(const VfPlanTensor *weight)
{
    size_t align = vf_low_width(weight->dtype);
    return weight->bytes == 0 || align <= 1 || (uintptr_t)weight->data % align == 0;
}

VfStatus vf_low_align_weights(VfLower *cx, VfErr *err)
{
    for (size_t i = 0; i < cx->n_buffer; i++) {
        const VfLowBuffer *b = &cx->buffer[i];
        if (b->space != VF_SPACE_WEIGHT || is_aligned(&cx->weight[b->index]))
            continue;
        VfPlanTensor *weight = &cx->weight[b->index];
        const void *copy = vf_arena_copy(cx->arena, weight->data, weight->bytes);
        VF_TRY_ALLOC(copy, err);
        if (b->is_mapped)
            vf_file_release(weight->data, weight->bytes);
        weight->data = copy;
        weight->is_made = true;
    }
    return VF_OK;
}

/* --- the plan --- */

static VfPlanRef resolve(const VfLower *cx, VfLowRef ref)
{
    if (ref.buffer == LOW_NO_BUFFER)
        return (VfPlanRef){VF_SPACE_NONE, 0, 0};
    int32_t root = ref.buffer;
    while (cx->buffer[root].root != root)
        root = cx->buffer[root].root;
    const VfLowBuffer *b = &cx->buffer[root];
    if (b->space == VF_SPACE_ARENA)
        return (VfPlanRef){VF_SPACE_ARENA, root, b->offset + ref.offset};
    return (VfPlanRef){b->space, b->index, ref.offset};
}

static VfStatus resolve_list(VfLower *cx, int32_t n, const VfLowRef *list, const VfPlanRef **out,
                             VfErr *err)
{
    VfPlanRef *refs = VF_NEW_ARRAY(cx->arena, VfPlanRef, (size_t)n + 1);
    VF_TRY_ALLOC(refs, err);
    for (int32_t i = 0; i < n; i++)
        refs[i] = resolve(cx, list[i]);
    *out = refs;
    return VF_OK;
}

static VfStatus finish_steps(VfLower *cx, VfPlan *plan, VfErr *err)
{
    plan->step = VF_NEW_ARRAY(cx->arena, VfPlanStep, cx->n_step + 1);
    VF_TRY_ALLOC(plan->step, err);
    plan->n_step = (int32_t)cx->n_step;
    for (size_t i = 0; i < cx->n_step; i++) {
        const VfLowStep *from = &cx->step[i];
        VfPlanStep *to = &plan->step[i];
        *to = (VfPlanStep){.kernel = from->kernel, .params = from->params, .n_in = from->n_in,
                           .n_out = from->n_out, .scratch_bytes = from->scratch_bytes,
                           .units = from->units, .grain = from->grain, .node = from->node,
                           .may_fail = from->may_fail, .has_guard = from->has_guard,
                           .flops = from->flops, .bytes = from->bytes};
        VF_TRY(resolve_list(cx, from->n_in, from->in, &to->in, err));
        VF_TRY(resolve_list(cx, from->n_out, from->out, &to->out, err));
        if (to->scratch_bytes > plan->scratch_bytes)
            plan->scratch_bytes = to->scratch_bytes;
        plan->flops += to->flops;
    }
    return VF_OK;
}

static VfStatus finish_buffers(VfLower *cx, VfPlan *plan, VfErr *err)
{
    plan->buffer = VF_NEW_ARRAY(cx->arena, VfPlanBuffer, cx->n_buffer + 1);
    VF_TRY_ALLOC(plan->buffer, err);
    plan->n_buffer = (int32_t)cx->n_buffer;
    for (size_t i = 0; i < cx->n_buffer; i++)
        if (cx->buffer[i].space == VF_SPACE_ARENA)
            plan->buffer[i] = (VfPlanBuffer){cx->buffer[i].offset, cx->buffer[i].bytes};
    return VF_OK;
}

VfStatus vf_low_finish(VfLower *cx, VfPlan *plan, VfErr *err)
{
    if (cx->n_step > INT32_MAX || cx->n_buffer > INT32_MAX)
        return vf_fail(err, VF_UNSUPPORTED, "the plan has too many steps");
    if (!cx->options.no_fuse)
        VF_TRY(vf_low_fuse(cx, err));
    VF_TRY(vf_low_align_weights(cx, err));
    VF_TRY(vf_low_memory(cx, plan, err));
    VF_TRY(finish_steps(cx, plan, err));
    VF_TRY(finish_buffers(cx, plan, err));
    plan->weight = cx->weight;
    plan->n_weight = (int32_t)cx->n_weight;
    plan->node = cx->node;
    plan->n_node = (int32_t)cx->n_node;
    plan->saved = cx->saved;
    plan->n_saved = (int32_t)cx->n_saved;
    for (size_t i = 0; i < cx->n_saved; i++) {
        VfPlanRef *ref = &cx->saved[i].ref;
        *ref = resolve(cx, (VfLowRef){ref->index, ref->offset});
    }
    plan->input = cx->input;
    plan->n_input = (int32_t)cx->n_input;
    return VF_OK;
}
