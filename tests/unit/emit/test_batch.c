#include <stdio.h>
#include <string.h>

#include "converter/emit/batch.h"
#include "runtime/kernels/map.h"
#include "tests/support/arena_case.h"

/* A plan of one step, an elementwise function of a batch. */
typedef struct Toy {
    VfPlan plan;
    VfPlanStep step;
    VfPlanNode node;
    VfPlanBuffer buffer;
    VfPlanRef in, out;
    VfkMapParams params;
    char shapes[64];
} Toy;

/* `rest` bytes lie before the operand in its buffer. */
static void make(Toy *toy, int64_t batch, int64_t n, int64_t units, size_t rest)
{
    *toy = (Toy){.params = {.n = n}};
    snprintf(toy->shapes, sizeof toy->shapes, "%lldx4 \xc2\xb7 4 -> %lldx4", (long long)batch,
             (long long)(2 * batch));
    toy->node = (VfPlanNode){{"bend", 4}, "Relu", NULL, toy->shapes};
    toy->buffer = (VfPlanBuffer){64, 1024};
    toy->in = (VfPlanRef){VF_SPACE_ARENA, 0, 64 + rest};
    toy->out = (VfPlanRef){VF_SPACE_OUTPUT, 0, 0};
    toy->step = (VfPlanStep){.kernel = vfk_kernel_find("relu_f32", 1), .params = &toy->params,
                             .n_in = 1, .n_out = 1, .in = &toy->in, .out = &toy->out,
                             .units = units};
    toy->plan = (VfPlan){.step = &toy->step, .n_step = 1, .node = &toy->node, .n_node = 1,
                         .buffer = &toy->buffer, .n_buffer = 1};
}

typedef struct Row {
    const char *label;
    int64_t n, units;
    size_t rest;
    const char *want; /* NULL: it fits */
} Row;

static const Row row[] = {
    {"on the lines", 16, 16, 48, NULL},
    {"another field", 17, 16, 48, "'n' of kernel relu_f32 is no linear function of the batch: 4 "
                                  "for a batch of 1, 17 for 4, 32 for 8"},
    {"another amount of work", 16, 15, 48, "its work is no linear function"},
    {"another place", 16, 16, 44, "the place of an operand is no linear function"},
};

START_TEST(numbers_lie_on_the_lines)
{
    Toy low, high, between;
    VfErr err = {0};
    make(&low, 1, 4, 4, 12);
    make(&high, 8, 32, 32, 96);
    make(&between, 4, row[_i].n, row[_i].units, row[_i].rest);
    VfEmitRange range = {1, 8, &low.plan, &high.plan};
    ck_assert_int_eq(vf_emit_range_check(&range, &low.plan, 1, &err), VF_OK);
    VfStatus status = vf_emit_range_check(&range, &between.plan, 4, &err);
    ck_assert_int_eq(status, row[_i].want == NULL ? VF_OK : VF_UNSUPPORTED);
    if (row[_i].want != NULL)
        ck_assert_msg(strstr(err.text, row[_i].want) != NULL, "%s: %s", row[_i].label, err.text);
    if (row[_i].want != NULL)
        ck_assert_ptr_nonnull(strstr(err.text, "node 'bend' (Relu)"));
}
END_TEST

START_TEST(other_steps_are_refused)
{
    Toy low, high;
    VfErr err = {0};
    make(&low, 1, 4, 4, 12);
    make(&high, 8, 32, 32, 96);
    VfEmitRange range = {1, 8, &low.plan, &high.plan};
    low.step.kernel = vfk_kernel_find("neg_f32", 1);
    ck_assert_int_eq(vf_emit_range_check(&range, &low.plan, 1, &err), VF_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.text, "takes other steps"));
    make(&low, 1, 4, 4, 12);
    low.plan.n_step = 0;
    ck_assert_int_eq(vf_emit_range_check(&range, &low.plan, 1, &err), VF_UNSUPPORTED);
    make(&low, 1, 4, 4, 12);
    /* The buffer of the largest batch must have room. */
    low.buffer.bytes = 2048;
    ck_assert_int_eq(vf_emit_range_check(&range, &low.plan, 1, &err), VF_UNSUPPORTED);
}
END_TEST

/* 9 more for seven more in the batch is no whole number for each. */
START_TEST(slopes_are_whole)
{
    Toy low, high;
    make(&low, 1, 4, 4, 12);
    make(&high, 8, 13, 32, 96);
    VfEmitRange range = {1, 8, &low.plan, &high.plan};
    ck_assert_int_eq(vf_emit_range_check(&range, &low.plan, 1, NULL), VF_UNSUPPORTED);
}
END_TEST

START_TEST(numbers_are_spelled)
{
    static const struct {
        int64_t low, high;
        const char *want;
    } spelled[] = {{7, 7, "7"}, {1, 8, "batch"}, {3, 10, "2 + batch"}, {4, 32, "4 * batch"},
                   {16, 58, "10 + 6 * batch"}};
    VfEmitRange range = {.min = 1, .max = 8};
    for (size_t i = 0; i < sizeof spelled / sizeof spelled[0]; i++) {
        VfText text;
        VfBytes done;
        vf_text_init(&text, arena);
        vf_emit_number(&range, spelled[i].low, spelled[i].high, &text);
        ck_assert_int_eq(vf_text_get(&text, &done, NULL), VF_OK);
        ck_assert_str_eq(done.data, spelled[i].want);
    }
}
END_TEST

START_TEST(shapes_are_spelled)
{
    Toy low, high;
    VfText text;
    VfBytes done;
    make(&low, 1, 4, 4, 12);
    make(&high, 8, 32, 32, 96);
    VfEmitRange range = {1, 8, &low.plan, &high.plan}, fixed = {0, 0, &low.plan, &low.plan};
    vf_text_init(&text, arena);
    vf_emit_shapes(&range, low.shapes, high.shapes, &text);
    ck_assert_int_eq(vf_text_get(&text, &done, NULL), VF_OK);
    ck_assert_str_eq(done.data, "batch x 4, 4 -> (2 * batch) x 4");
    vf_text_init(&text, arena);
    vf_emit_shapes(&fixed, low.shapes, low.shapes, &text);
    ck_assert_int_eq(vf_text_get(&text, &done, NULL), VF_OK);
    ck_assert_str_eq(done.data, "1x4, 4 -> 2x4");
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("emit/batch");
    TCase *tests = tcase_create("batch");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, numbers_lie_on_the_lines, 0, (int)(sizeof row / sizeof row[0]));
    tcase_add_test(tests, other_steps_are_refused);
    tcase_add_test(tests, slopes_are_whole);
    tcase_add_test(tests, numbers_are_spelled);
    tcase_add_test(tests, shapes_are_spelled);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
