/* Lifetimes of arena buffers, sharing, offsets.
 *
 * A buffer lives from the first to the last step that names it. Where a kernel may run in
 * place and its operand dies there, the result takes over the operand's memory. The rest is
 * placed largest first, each at the lowest offset free during its whole life.
 */
#include "converter/lower/low.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/size.h"

enum {
    ALIGN = 64,
    /* Largest first costs the square of the number of buffers. Beyond this many they are placed
     * in order of time, which forgets the dead. */
    MANY_BUFFERS = 16384
};

static int32_t root_of(const VfLower *cx, int32_t buffer)
{
    while (cx->buffer[buffer].root != buffer)
        buffer = cx->buffer[buffer].root;
    return buffer;
}

static void touch(VfLower *cx, const VfLowRef *list, int32_t n, int32_t step)
{
    for (int32_t i = 0; i < n; i++) {
        if (list[i].buffer == LOW_NO_BUFFER)
            continue;
        VfLowBuffer *b = &cx->buffer[list[i].buffer];
        b->first = b->first < step ? b->first : step;
        b->last = b->last > step ? b->last : step;
    }
}

static void find_lifetimes(VfLower *cx)
{
    for (size_t i = 0; i < cx->n_buffer; i++) {
        cx->buffer[i].first = INT32_MAX;
        cx->buffer[i].last = -1;
        cx->buffer[i].root = (int32_t)i;
    }
    for (size_t i = 0; i < cx->n_step; i++) {
        touch(cx, cx->step[i].in, cx->step[i].n_in, (int32_t)i);
        touch(cx, cx->step[i].out, cx->step[i].n_out, (int32_t)i);
    }
    for (size_t i = 0; i < cx->n_buffer; i++)
        if (cx->buffer[i].is_kept || cx->buffer[i].space == VF_SPACE_OUTPUT)
            cx->buffer[i].last = (int32_t)cx->n_step;
}

/* Whether another operand or result of the step lies in the memory of `root`. */
static bool is_read_elsewhere(const VfLower *cx, const VfLowStep *step, int32_t root)
{
    for (int32_t i = 1; i < step->n_in; i++)
        if (step->in[i].buffer != LOW_NO_BUFFER && root_of(cx, step->in[i].buffer) == root)
            return true;
    for (int32_t i = 1; i < step->n_out; i++)
        if (step->out[i].buffer != LOW_NO_BUFFER && root_of(cx, step->out[i].buffer) == root)
            return true;
    return false;
}

static bool can_take_over(const VfLower *cx, const VfLowStep *step, int32_t at)
{
    if (!step->may_overwrite || step->in[0].buffer == LOW_NO_BUFFER)
        return false;
    const VfLowBuffer *from = &cx->buffer[root_of(cx, step->in[0].buffer)];
    const VfLowBuffer *to = &cx->buffer[step->out[0].buffer];
    bool is_placed_alike =
        step->in[0].offset == 0 && step->out[0].offset == 0 && from->bytes == to->bytes;
    return is_placed_alike && from->space == VF_SPACE_ARENA && !from->is_kept && from->last == at &&
           to->first == at && to->root == step->out[0].buffer &&
           !is_read_elsewhere(cx, step, root_of(cx, step->in[0].buffer));
}

static void share_in_place(VfLower *cx)
{
    for (size_t i = 0; i < cx->n_step; i++) {
        const VfLowStep *step = &cx->step[i];
        if (!can_take_over(cx, step, (int32_t)i))
            continue;
        int32_t root = root_of(cx, step->in[0].buffer);
        VfLowBuffer *to = &cx->buffer[step->out[0].buffer], *from = &cx->buffer[root];
        to->root = root;
        from->last = to->last;
        from->is_kept = to->is_kept;
        from->space = to->space;
        from->index = to->index;
    }
}

static bool needs_place(const VfLower *cx, int32_t buffer)
{
    const VfLowBuffer *b = &cx->buffer[buffer];
    return b->space == VF_SPACE_ARENA && b->root == buffer && b->last >= b->first;
}

static int compare_size(const void *a, const void *b)
{
    const VfLowBuffer *x = *(const VfLowBuffer *const *)a, *y = *(const VfLowBuffer *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

static int compare_time(const void *a, const void *b)
{
    const VfLowBuffer *x = *(const VfLowBuffer *const *)a, *y = *(const VfLowBuffer *const *)b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x < y ? -1 : x > y;
}

static size_t rounded(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Buffers already placed, by offset. */
typedef struct Placed {
    VfLowBuffer **list;
    size_t n;
} Placed;

static void place(Placed *placed, VfLowBuffer *buffer)
{
    size_t cursor = 0, at = placed->n;
    size_t need = rounded(buffer->bytes);
    for (size_t i = 0; i < placed->n; i++) {
        const VfLowBuffer *p = placed->list[i];
        if (p->last < buffer->first || p->first > buffer->last)
            continue;
        if (p->offset >= cursor && p->offset - cursor >= need)
            break;
        if (p->offset + rounded(p->bytes) > cursor)
            cursor = p->offset + rounded(p->bytes);
    }
    buffer->offset = cursor;
    while (at > 0 && placed->list[at - 1]->offset > cursor)
        at--;
    memmove(placed->list + at + 1, placed->list + at, (placed->n - at) * sizeof *placed->list);
    placed->list[at] = buffer;
    placed->n++;
}

static void forget_dead(Placed *placed, int32_t now)
{
    size_t n = 0;
    for (size_t i = 0; i < placed->n; i++)
        if (placed->list[i]->last >= now)
            placed->list[n++] = placed->list[i];
    placed->n = n;
}

static VfStatus place_all(VfLower *cx, VfPlan *plan, VfErr *err)
{
    VfLowBuffer **order = VF_NEW_ARRAY(cx->arena, VfLowBuffer *, cx->n_buffer + 1);
    Placed placed = {VF_NEW_ARRAY(cx->arena, VfLowBuffer *, cx->n_buffer + 1), 0};
    if (order == NULL || placed.list == NULL)
        return vf_no_memory(err);
    size_t n = 0, sum = 0;
    for (size_t i = 0; i < cx->n_buffer; i++)
        if (needs_place(cx, (int32_t)i)) {
            order[n++] = &cx->buffer[i];
            if (!vf_size_add(sum, rounded(cx->buffer[i].bytes), &sum))
                return vf_no_memory(err);
        }
    bool is_many = n > MANY_BUFFERS;
    qsort(order, n, sizeof *order, is_many ? compare_time : compare_size);
    for (size_t i = 0; i < n; i++) {
        if (is_many)
            forget_dead(&placed, order[i]->first);
        place(&placed, order[i]);
        size_t end = order[i]->offset + rounded(order[i]->bytes);
        plan->arena_bytes = end > plan->arena_bytes ? end : plan->arena_bytes;
    }
    return VF_OK;
}

static VfStatus measure(VfLower *cx, VfPlan *plan, VfErr *err)
{
    int64_t *change = VF_NEW_ARRAY(cx->arena, int64_t, cx->n_step + 2);
    VF_TRY_ALLOC(change, err);
    for (size_t i = 0; i < cx->n_buffer; i++) {
        const VfLowBuffer *b = &cx->buffer[i];
        if (cx->buffer[root_of(cx, (int32_t)i)].space != VF_SPACE_ARENA || b->last < b->first)
            continue;
        plan->total_bytes += rounded(b->bytes);
        if (b->root != (int32_t)i)
            continue;
        change[b->first] += (int64_t)rounded(b->bytes);
        change[b->last + 1] -= (int64_t)rounded(b->bytes);
    }
    int64_t now = 0;
    for (size_t i = 0; i <= cx->n_step; i++) {
        now += change[i];
        plan->live_bytes = (size_t)now > plan->live_bytes ? (size_t)now : plan->live_bytes;
    }
    return VF_OK;
}

VfStatus vf_low_memory(VfLower *cx, VfPlan *plan, VfErr *err)
{
    find_lifetimes(cx);
    share_in_place(cx);
    VF_TRY(place_all(cx, plan, err));
    VF_TRY(measure(cx, plan, err));
    size_t limit = cx->options.max_arena_bytes;
    if (limit != 0 && plan->arena_bytes > limit)
        return vf_fail(err, VF_NO_MEMORY, "the plan needs %zu bytes of memory, allowed are %zu",
                       plan->arena_bytes, limit);
    return VF_OK;
}
