/* Lifetimes of arena buffers, sharing, offsets.
 *
 * A buffer lives from the first to the last step that names it. Where a kernel may run in
 * place and its operand dies there, the result takes over the operand's memory. The rest is
 * placed in order of time, each at the lowest offset that is free then; where that needs more than
 * the lower bound, also largest first, each at the lowest offset free during its whole life. The
 * smaller plan is taken.
 */
#include "converter/lower/finish.h"

#include <stdlib.h>
#include <string.h>

#include "converter/lower/gaps.h"
#include "runtime/base/size.h"

enum {
    ALIGN = 64,
    /* Largest first costs the square of the number of buffers: not tried with more. */
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

static size_t rounded(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Buffers to be placed. */
typedef struct List {
    VfLowBuffer **item;
    size_t n;
} List;

static size_t end_of(const List *list)
{
    size_t end = 0;
    for (size_t i = 0; i < list->n; i++) {
        size_t own = list->item[i]->offset + rounded(list->item[i]->bytes);
        end = own > end ? own : end;
    }
    return end;
}

/* --- in order of time --- */

static int compare_first(const void *a, const void *b)
{
    const VfLowBuffer *x = *(const VfLowBuffer *const *)a, *y = *(const VfLowBuffer *const *)b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int compare_last(const void *a, const void *b)
{
    const VfLowBuffer *x = *(const VfLowBuffer *const *)a, *y = *(const VfLowBuffer *const *)b;
    if (x->last != y->last)
        return x->last < y->last ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* `arena`: of what is needed meanwhile. */
static VfStatus place_by_time(List *list, VfArena *arena, VfErr *err)
{
    VfGaps gaps;
    VfLowBuffer **dead = VF_NEW_ARRAY(arena, VfLowBuffer *, list->n);
    VF_TRY_ALLOC(dead, err);
    VF_TRY(vf_gaps_init(&gaps, arena, list->n, err));
    memcpy(dead, list->item, list->n * sizeof *dead);
    qsort(list->item, list->n, sizeof *list->item, compare_first);
    qsort(dead, list->n, sizeof *dead, compare_last);
    for (size_t i = 0; i < list->n; i++) {
        VfLowBuffer *buffer = list->item[i];
        for (; (*dead)->last < buffer->first; dead++)
            if ((*dead)->bytes > 0)
                vf_gaps_give(&gaps, (*dead)->offset, rounded((*dead)->bytes));
        buffer->offset = buffer->bytes > 0 ? vf_gaps_take(&gaps, rounded(buffer->bytes)) : 0;
    }
    return VF_OK;
}

/* --- largest first --- */

static int compare_size(const void *a, const void *b)
{
    const VfLowBuffer *x = *(const VfLowBuffer *const *)a, *y = *(const VfLowBuffer *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

/* Put the buffer beside those that are placed, which are in the order of their offsets. */
static void place(List *placed, VfLowBuffer *buffer)
{
    size_t cursor = 0, at = placed->n;
    size_t need = rounded(buffer->bytes);
    for (size_t i = 0; i < placed->n; i++) {
        const VfLowBuffer *p = placed->item[i];
        if (p->last < buffer->first || p->first > buffer->last)
            continue;
        if (p->offset >= cursor && p->offset - cursor >= need)
            break;
        if (p->offset + rounded(p->bytes) > cursor)
            cursor = p->offset + rounded(p->bytes);
    }
    buffer->offset = cursor;
    while (at > 0 && placed->item[at - 1]->offset > cursor)
        at--;
    memmove(placed->item + at + 1, placed->item + at, (placed->n - at) * sizeof *placed->item);
    placed->item[at] = buffer;
    placed->n++;
}

static VfStatus place_by_size(List *list, VfArena *arena, VfErr *err)
{
    List placed = {VF_NEW_ARRAY(arena, VfLowBuffer *, list->n), 0};
    VF_TRY_ALLOC(placed.item, err);
    qsort(list->item, list->n, sizeof *list->item, compare_size);
    for (size_t i = 0; i < list->n; i++)
        place(&placed, list->item[i]);
    return VF_OK;
}

/* --- the better of both --- */

static VfStatus place_best(VfLower *cx, List *list, VfPlan *plan, VfArena *arena, VfErr *err)
{
    VF_TRY(place_by_time(list, arena, err));
    plan->arena_bytes = end_of(list);
    if (plan->arena_bytes == plan->live_bytes || list->n > MANY_BUFFERS)
        return VF_OK;
    size_t *by_time = VF_NEW_ARRAY(arena, size_t, cx->n_buffer);
    VF_TRY_ALLOC(by_time, err);
    for (size_t i = 0; i < cx->n_buffer; i++)
        by_time[i] = cx->buffer[i].offset;
    VF_TRY(place_by_size(list, arena, err));
    size_t end = end_of(list);
    for (size_t i = 0; end > plan->arena_bytes && i < cx->n_buffer; i++)
        cx->buffer[i].offset = by_time[i];
    plan->arena_bytes = end < plan->arena_bytes ? end : plan->arena_bytes;
    return VF_OK;
}

/* --- the whole --- */

static VfStatus collect(VfLower *cx, List *list, VfArena *arena, VfErr *err)
{
    size_t sum = 0;
    *list = (List){VF_NEW_ARRAY(arena, VfLowBuffer *, cx->n_buffer + 1), 0};
    VF_TRY_ALLOC(list->item, err);
    for (size_t i = 0; i < cx->n_buffer; i++)
        if (needs_place(cx, (int32_t)i)) {
            list->item[list->n++] = &cx->buffer[i];
            if (!vf_size_add(sum, rounded(cx->buffer[i].bytes), &sum))
                return vf_no_memory(err);
        }
    return VF_OK;
}

static VfStatus measure(const VfLower *cx, VfPlan *plan, VfArena *arena, VfErr *err)
{
    int64_t *change = VF_NEW_ARRAY(arena, int64_t, cx->n_step + 2);
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

static VfStatus place_all(VfLower *cx, VfPlan *plan, VfArena *arena, VfErr *err)
{
    List list;
    VF_TRY(collect(cx, &list, arena, err));
    VF_TRY(measure(cx, plan, arena, err));
    return place_best(cx, &list, plan, arena, err);
}

VfStatus vf_low_allow(const VfLower *cx, size_t bytes, VfErr *err)
{
    size_t limit = cx->options.max_arena_bytes, all;
    if (__builtin_add_overflow(bytes, cx->options.held_bytes, &all) ||
        __builtin_add_overflow(all, cx->computed_bytes, &all))
        all = SIZE_MAX;
    if (limit != 0 && all > limit)
        return vf_fail(err, VF_NO_MEMORY, "the plan needs %zu bytes of memory, allowed are %zu",
                       all, limit);
    return VF_OK;
}

/* The outputs of a segment are held for those that follow. */
static size_t handed_on(const VfLower *cx, const VfPlan *plan)
{
    size_t bytes = 0;
    for (int32_t i = 0; i < plan->n_output && cx->options.end != NULL; i++)
        if (__builtin_add_overflow(bytes, plan->output[i].bytes, &bytes))
            return SIZE_MAX;
    return bytes;
}

VfStatus vf_low_memory(VfLower *cx, VfPlan *plan, VfErr *err)
{
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    find_lifetimes(cx);
    share_in_place(cx);
    VfStatus status = place_all(cx, plan, arena, err);
    vf_arena_free(arena);
    VF_TRY(status);
    size_t bytes;
    if (__builtin_add_overflow(plan->arena_bytes, handed_on(cx, plan), &bytes))
        bytes = SIZE_MAX;
    return vf_low_allow(cx, bytes, err);
}
