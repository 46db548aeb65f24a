#include "converter/lower/fuse.h"

#include <string.h>

#include "runtime/base/text.h"

static VfFuseFn *const fusion_table[] = {
#define VF_FUSION(name) vf_fuse_##name,
#include "converter/lower/fuse.def"
#undef VF_FUSION
};

/* --- lists of uses --- */

static void link_use(VfFuseUse **list, VfFuseUse *use, int32_t step)
{
    *use = (VfFuseUse){NULL, *list, step};
    if (*list != NULL)
        (*list)->prev = use;
    *list = use;
}

static void unlink_use(VfFuseUse **list, VfFuseUse *use)
{
    if (use->next != NULL)
        use->next->prev = use->prev;
    if (use->prev != NULL)
        use->prev->next = use->next;
    else
        *list = use->next;
}

static VfStatus know_buffers(VfFuse *fuse, VfErr *err)
{
    size_t n = fuse->cx->n_buffer;
    VF_TRY(vf_arena_grow(fuse->cx->arena, (void **)&fuse->reader, &fuse->cap_reader, n + 1,
                         sizeof *fuse->reader, err));
    VF_TRY(vf_arena_grow(fuse->cx->arena, (void **)&fuse->writer, &fuse->cap_writer, n + 1,
                         sizeof *fuse->writer, err));
    for (; fuse->n_buffer < n; fuse->n_buffer++)
        fuse->reader[fuse->n_buffer] = fuse->writer[fuse->n_buffer] = NULL;
    return VF_OK;
}

static VfStatus link_step(VfFuse *fuse, int32_t at, VfErr *err)
{
    const VfLowStep *step = &fuse->cx->step[at];
    VfFuseUse *use =
        VF_NEW_ARRAY(fuse->cx->arena, VfFuseUse, (size_t)step->n_in + (size_t)step->n_out + 1);
    VF_TRY_ALLOC(use, err);
    VF_TRY(know_buffers(fuse, err));
    fuse->use[at] = use;
    for (int32_t i = 0; i < step->n_in; i++)
        if (step->in[i].buffer != LOW_NO_BUFFER)
            link_use(&fuse->reader[step->in[i].buffer], &use[i], at);
    for (int32_t i = 0; i < step->n_out; i++)
        if (step->out[i].buffer != LOW_NO_BUFFER)
            link_use(&fuse->writer[step->out[i].buffer], &use[step->n_in + i], at);
    return VF_OK;
}

static void remove_step(VfFuse *fuse, int32_t at)
{
    VfLowStep *step = &fuse->cx->step[at];
    VfFuseUse *use = fuse->use[at];
    for (int32_t i = 0; i < step->n_in; i++)
        if (step->in[i].buffer != LOW_NO_BUFFER)
            unlink_use(&fuse->reader[step->in[i].buffer], &use[i]);
    for (int32_t i = 0; i < step->n_out; i++)
        if (step->out[i].buffer != LOW_NO_BUFFER)
            unlink_use(&fuse->writer[step->out[i].buffer], &use[step->n_in + i]);
    step->kernel = NULL;
}

/* --- what a step is --- */

VfDtype vf_fuse_dtype(const VfLowStep *step)
{
    const char *suffix = strrchr(step->kernel->name, '_');
    for (int i = 0; suffix != NULL && i < VF_DTYPE_COUNT; i++)
        if (strcmp(vf_dtype_info((VfDtype)i)->name, suffix + 1) == 0)
            return (VfDtype)i;
    return VF_UNDEFINED;
}

bool vf_fuse_is(const VfLowStep *step, const char *op)
{
    size_t n = strlen(op);
    const char *name = step->kernel->name, *suffix = strrchr(name, '_');
    return suffix == name + n && memcmp(name, op, n) == 0;
}

bool vf_fuse_is_same(VfLowRef a, VfLowRef b)
{
    return a.buffer == b.buffer && a.offset == b.offset;
}

int32_t vf_fuse_count(const VfLowRef *ref, int32_t n, int32_t buffer)
{
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++)
        count += ref[i].buffer == buffer;
    return count;
}

/* --- who reads and writes --- */

int32_t vf_fuse_writer(const VfFuse *fuse, int32_t buffer)
{
    const VfFuseUse *use = buffer == LOW_NO_BUFFER ? NULL : fuse->writer[buffer];
    return use != NULL && use->next == NULL ? use->step : FUSE_NO_STEP;
}

int32_t vf_fuse_source(const VfFuse *fuse, VfLowRef ref)
{
    int32_t at = vf_fuse_writer(fuse, ref.buffer);
    if (at == FUSE_NO_STEP)
        return FUSE_NO_STEP;
    const VfLowStep *step = &fuse->cx->step[at];
    return step->n_out == 1 && vf_fuse_is_same(step->out[0], ref) ? at : FUSE_NO_STEP;
}

static bool may_vanish(const VfFuse *fuse, int32_t buffer)
{
    const VfLowBuffer *b = &fuse->cx->buffer[buffer];
    return b->space == VF_SPACE_ARENA && !b->is_kept;
}

int32_t vf_fuse_reader(const VfFuse *fuse, int32_t buffer)
{
    if (buffer == LOW_NO_BUFFER || !may_vanish(fuse, buffer) ||
        vf_fuse_writer(fuse, buffer) == FUSE_NO_STEP)
        return FUSE_NO_STEP;
    const VfFuseUse *use = fuse->reader[buffer];
    for (const VfFuseUse *other = use; other != NULL; other = other->next)
        if (other->step != use->step)
            return FUSE_NO_STEP;
    return use != NULL ? use->step : FUSE_NO_STEP;
}

static bool is_among(int32_t n, const int32_t *list, int32_t step)
{
    for (int32_t i = 0; i < n; i++)
        if (list[i] == step)
            return true;
    return false;
}

bool vf_fuse_is_private(const VfFuse *fuse, int32_t buffer, int32_t n, const int32_t *step)
{
    if (buffer == LOW_NO_BUFFER || !may_vanish(fuse, buffer))
        return false;
    for (const VfFuseUse *use = fuse->reader[buffer]; use != NULL; use = use->next)
        if (!is_among(n, step, use->step))
            return false;
    for (const VfFuseUse *use = fuse->writer[buffer]; use != NULL; use = use->next)
        if (!is_among(n, step, use->step))
            return false;
    return true;
}

bool vf_fuse_is_stable(const VfFuse *fuse, int32_t buffer, int32_t from, int32_t to)
{
    if (buffer == LOW_NO_BUFFER)
        return true;
    for (const VfFuseUse *use = fuse->writer[buffer]; use != NULL; use = use->next)
        if (use->step >= from && use->step <= to)
            return false;
    return true;
}

/* --- constants --- */

const void *vf_fuse_data(const VfFuse *fuse, VfLowRef ref)
{
    if (ref.buffer == LOW_NO_BUFFER)
        return NULL;
    const VfLowBuffer *b = &fuse->cx->buffer[ref.buffer];
    if (b->space != VF_SPACE_WEIGHT || ref.offset >= b->bytes)
        return NULL;
    return (const char *)fuse->cx->weight[b->index].data + ref.offset;
}

bool vf_fuse_number(const VfFuse *fuse, VfLowRef ref, VfDtype dtype, double *number)
{
    const void *data = vf_fuse_data(fuse, ref);
    if (data == NULL || (dtype != VF_F32 && dtype != VF_F64))
        return false;
    float narrow = 0;
    if (dtype == VF_F64) {
        memcpy(number, data, sizeof *number);
        return true;
    }
    memcpy(&narrow, data, sizeof narrow);
    *number = (double)narrow;
    return true;
}

/* --- edits --- */

VfStatus vf_fuse_value(VfFuse *fuse, VfLowRef ref, VfLowValue **value, VfErr *err)
{
    *value = NULL;
    if (ref.buffer == LOW_NO_BUFFER)
        return VF_OK;
    *value = VF_NEW(fuse->cx->arena, VfLowValue);
    VF_TRY_ALLOC(*value, err);
    **value = (VfLowValue){.kind = LOW_TENSOR, .buffer = ref.buffer, .offset = ref.offset};
    return VF_OK;
}

VfStatus vf_fuse_row(VfFuse *fuse, VfLowRef ref, int64_t count, VfLowValue **value, VfErr *err)
{
    static const int64_t step = 1;
    VF_TRY(vf_fuse_value(fuse, ref, value, err));
    if (*value == NULL)
        return VF_OK;
    int64_t *dims = VF_NEW(fuse->cx->arena, int64_t);
    VF_TRY_ALLOC(dims, err);
    *dims = count;
    (*value)->dtype = VF_F32;
    (*value)->rank = 1;
    (*value)->dims = dims;
    (*value)->stride = &step;
    (*value)->count = (size_t)count;
    return VF_OK;
}

/* A node named after that of the last step; nodes of several steps count once. The pass that made
 * it is that of the last node that a pass made. */
static VfStatus merge_nodes(VfFuse *fuse, int32_t n, const int32_t *step, VfErr *err)
{
    VfLower *cx = fuse->cx;
    VfText text;
    vf_text_init(&text, cx->arena);
    for (int32_t i = 0; i < n; i++) {
        int32_t node = cx->step[step[i]].node;
        if (i == 0 || node != cx->step[step[i - 1]].node)
            vf_text_printf(&text, i == 0 ? "%s" : "+%s", cx->node[node].op);
    }
    VfBytes op;
    VF_TRY(vf_text_get(&text, &op, err));
    VF_TRY(vf_arena_grow(cx->arena, (void **)&cx->node, &cx->cap_node, cx->n_node + 1,
                         sizeof *cx->node, err));
    VfPlanNode node = cx->node[cx->step[step[n - 1]].node];
    node.op = op.data;
    for (int32_t i = n - 1; i >= 0 && node.pass == NULL; i--)
        node.pass = cx->node[cx->step[step[i]].node].pass;
    cx->current_node = (int32_t)cx->n_node;
    cx->node[cx->n_node++] = node;
    return VF_OK;
}

/* A fusion that takes away what another operand of its own step reads would compute from memory
 * that nothing wrote. */
static VfStatus check_operands(const VfFuse *fuse, const VfLowStep *step, VfErr *err)
{
    for (int32_t i = 0; i < step->n_in; i++) {
        int32_t at = step->in[i].buffer;
        const VfLowBuffer *buffer = at != LOW_NO_BUFFER ? &fuse->cx->buffer[at] : NULL;
        if (buffer != NULL && buffer->space == VF_SPACE_ARENA && buffer->bytes > 0 &&
            fuse->writer[at] == NULL)
            return vf_fail(err, VF_INTERNAL, "a fused step reads what nothing writes");
    }
    return VF_OK;
}

VfStatus vf_fuse_replace(VfFuse *fuse, int32_t n, const int32_t *step, const VfLowEmit *emit,
                         VfErr *err)
{
    VfLower *cx = fuse->cx;
    int32_t last = step[n - 1];
    size_t n_step = cx->n_step;
    VF_TRY(merge_nodes(fuse, n, step, err));
    VF_TRY(vf_low_emit(cx, emit, err));
    if (cx->n_step != n_step + 1)
        return vf_fail(err, VF_INTERNAL, "a fused step does nothing");
    for (int32_t i = 0; i < n; i++)
        remove_step(fuse, step[i]);
    cx->step[last] = cx->step[--cx->n_step];
    fuse->n_fused++;
    VF_TRY(link_step(fuse, last, err));
    return check_operands(fuse, &cx->step[last], err);
}

/* --- what is left --- */

/* Nodes in the order of their steps, without those that lost them. */
static VfStatus number_nodes(VfLower *cx, VfErr *err)
{
    VfPlanNode *node = VF_NEW_ARRAY(cx->arena, VfPlanNode, cx->n_node + 1);
    int32_t *number = VF_NEW_ARRAY(cx->arena, int32_t, cx->n_node + 1);
    VF_TRY_ALLOC(node, err);
    VF_TRY_ALLOC(number, err);
    int32_t n = 0;
    for (size_t i = 0; i < cx->n_step; i++) {
        int32_t *of_step = &cx->step[i].node;
        if (number[*of_step] == 0) {
            node[n] = cx->node[*of_step];
            number[*of_step] = ++n; /* 0: none yet */
        }
        *of_step = number[*of_step] - 1;
    }
    cx->node = node;
    cx->n_node = (size_t)n;
    return VF_OK;
}

/* The buffers of weights stay; those that nobody reads are nowhere. */
static void number_weights(const VfFuse *fuse)
{
    VfLower *cx = fuse->cx;
    size_t n = 0;
    /* Buffers of weights are in the order of the weights: both are made together. */
    for (size_t i = 0; i < fuse->n_buffer; i++) {
        VfLowBuffer *b = &cx->buffer[i];
        if (b->space != VF_SPACE_WEIGHT)
            continue;
        if (fuse->reader[i] == NULL && !b->is_kept) {
            b->space = VF_SPACE_NONE;
            continue;
        }
        cx->weight[n] = cx->weight[b->index];
        cx->weight[n].ref.index = b->index = (int32_t)n;
        n++;
    }
    cx->n_weight = n;
}

static VfStatus compact(VfFuse *fuse, VfErr *err)
{
    VfLower *cx = fuse->cx;
    size_t n = 0;
    for (size_t i = 0; i < cx->n_step; i++)
        if (cx->step[i].kernel != NULL)
            cx->step[n++] = cx->step[i];
    cx->n_step = n;
    VF_TRY(number_nodes(cx, err));
    number_weights(fuse);
    return VF_OK;
}

VfStatus vf_low_fuse(VfLower *cx, VfErr *err)
{
    VfFuse fuse = {.cx = cx, .use = VF_NEW_ARRAY(cx->arena, VfFuseUse *, cx->n_step + 1)};
    VF_TRY_ALLOC(fuse.use, err);
    VF_TRY(know_buffers(&fuse, err));
    for (size_t i = cx->n_step; i-- > 0;)
        VF_TRY(link_step(&fuse, (int32_t)i, err));
    for (size_t k = 0; k < sizeof fusion_table / sizeof *fusion_table; k++)
        for (size_t i = 0; i < cx->n_step; i++)
            if (cx->step[i].kernel != NULL)
                VF_TRY(fusion_table[k](&fuse, (int32_t)i, err));
    return fuse.n_fused > 0 ? compact(&fuse, err) : VF_OK;
}
