/* Offsets of random buffers: those alive at the same time never overlap. */
#include <string.h>

#include "converter/lower/finish.h"
#include "runtime/kernels/map.h"
#include "tests/support/check_main.h"

enum { N_STEP = 60, N_CASE = 200 };

static uint32_t random_below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % n;
}

/* Each step makes one buffer from two made before; some may overwrite their first operand. */
static void make_steps(VfLower *cx, uint64_t seed)
{
    cx->buffer = VF_NEW_ARRAY(cx->arena, VfLowBuffer, N_STEP + 1);
    cx->step = VF_NEW_ARRAY(cx->arena, VfLowStep, N_STEP);
    cx->n_buffer = N_STEP + 1;
    cx->n_step = N_STEP;
    cx->buffer[0] = (VfLowBuffer){.space = VF_SPACE_INPUT, .bytes = 640};
    for (int32_t i = 0; i < N_STEP; i++) {
        VfLowRef *ref = VF_NEW_ARRAY(cx->arena, VfLowRef, 3);
        uint32_t from = i < 8 ? 0 : (uint32_t)i - 8;
        for (int32_t k = 0; k < 2; k++)
            ref[k].buffer = (int32_t)(from + random_below(&seed, (uint32_t)i + 1 - from));
        ref[2].buffer = i + 1;
        cx->step[i] = (VfLowStep){.kernel = vfk_kernel_find("add_f32", 0), .n_in = 2, .n_out = 1,
                                  .in = ref, .out = ref + 2, .units = 1, .grain = 1,
                                  .may_overwrite = random_below(&seed, 2) == 0};
        size_t bytes = 64 * (1 + random_below(&seed, 4));
        cx->buffer[i + 1] = (VfLowBuffer){.space = VF_SPACE_ARENA, .bytes = bytes};
        cx->buffer[i + 1].is_kept = random_below(&seed, 16) == 0;
    }
    cx->buffer[N_STEP].space = VF_SPACE_OUTPUT;
}

static int32_t root_of(const VfLower *cx, int32_t i)
{
    while (cx->buffer[i].root != i)
        i = cx->buffer[i].root;
    return i;
}

/* The content of a buffer is who wrote it last; every read must find what its buffer holds, and
 * at the end those that are kept must still be there. */
static void check_reads(const VfLower *cx, const bool *is_kept)
{
    static int32_t owner[1 << 16];
    memset(owner, 0, sizeof owner);
    for (size_t i = 0; i < cx->n_step; i++) {
        const VfLowStep *s = &cx->step[i];
        for (int32_t k = 0; k < 2; k++) {
            int32_t b = s->in[k].buffer;
            const VfLowBuffer *root = &cx->buffer[root_of(cx, b)];
            for (size_t at = 0; root->space == VF_SPACE_ARENA && at < cx->buffer[b].bytes; at += 64)
                ck_assert_int_eq(owner[(root->offset + at) / 64], b);
        }
        int32_t b = s->out[0].buffer;
        const VfLowBuffer *root = &cx->buffer[root_of(cx, b)];
        for (size_t at = 0; root->space == VF_SPACE_ARENA && at < cx->buffer[b].bytes; at += 64)
            owner[(root->offset + at) / 64] = b;
    }
    for (size_t b = 1; b < cx->n_buffer; b++) {
        const VfLowBuffer *root = &cx->buffer[root_of(cx, (int32_t)b)];
        if (is_kept[b] && root->space == VF_SPACE_ARENA)
            ck_assert_int_eq(owner[root->offset / 64], (int32_t)b);
    }
}

START_TEST(what_is_read_was_not_overwritten)
{
    VfErr err = {0};
    VfPlan plan = {0};
    VfLower cx = {.arena = vf_arena_new()};
    bool is_kept[N_STEP + 1];
    make_steps(&cx, (uint64_t)_i + 1);
    for (size_t i = 0; i < cx.n_buffer; i++)
        is_kept[i] = cx.buffer[i].is_kept;
    ck_assert_int_eq(vf_low_memory(&cx, &plan, &err), VF_OK);
    check_reads(&cx, is_kept);
    ck_assert_uint_ge(plan.arena_bytes, plan.live_bytes);
    ck_assert_uint_le(plan.arena_bytes, 2 * plan.live_bytes);
    vf_arena_free(cx.arena);
}
END_TEST

/* `n` steps make a buffer each, of which every third is read by the next step and the others by one
 * more step, the last. None takes room that another could have had. */
static void check_wide(int32_t n)
{
    VfErr err = {0};
    VfPlan plan = {0};
    VfLower cx = {.arena = vf_arena_new(), .n_buffer = (size_t)n, .n_step = (size_t)n + 1};
    cx.buffer = VF_NEW_ARRAY(cx.arena, VfLowBuffer, (size_t)n);
    cx.step = VF_NEW_ARRAY(cx.arena, VfLowStep, (size_t)n + 1);
    VfLowRef *ref = VF_NEW_ARRAY(cx.arena, VfLowRef, (size_t)n);
    VfLowRef *late = VF_NEW_ARRAY(cx.arena, VfLowRef, (size_t)n);
    int32_t n_late = 0;
    for (int32_t i = 0; i < n; i++) {
        bool is_brief = i % 3 == 0;
        cx.buffer[i] = (VfLowBuffer){.space = VF_SPACE_ARENA, .bytes = 64};
        ref[i].buffer = i;
        cx.step[i] = (VfLowStep){.n_in = i % 3 == 1, .n_out = 1, .in = i > 0 ? ref + i - 1 : ref,
                                  .out = ref + i};
        if (!is_brief)
            late[n_late++].buffer = i;
    }
    cx.step[n] = (VfLowStep){.n_in = n_late, .in = late};
    ck_assert_int_eq(vf_low_memory(&cx, &plan, &err), VF_OK);
    ck_assert_uint_eq(plan.arena_bytes, plan.live_bytes);
    vf_arena_free(cx.arena);
}

START_TEST(a_wide_graph_takes_the_lower_bound)
{
    check_wide(5000);
    check_wide(50000);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/memory");
    TCase *tcase = tcase_create("random");
    tcase_add_loop_test(tcase, what_is_read_was_not_overwritten, 0, N_CASE);
    tcase_add_test(tcase, a_wide_graph_takes_the_lower_bound);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
