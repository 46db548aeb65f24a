/* Where results end up: the caller's memory, copies, shared memory; bits of fused steps. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/lower_case.h"

typedef struct OutputCase {
    const char *name;
    int32_t n_step;
    const char *text;
} OutputCase;

static const OutputCase output_table[] = {
    {"written in place", 1,
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[2]) {\n"
     "    want_y = const f32[2] {-1, -2}\n"
     "    y = Neg(x)\n"
     "}\n"},
    {"an input", 1,
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (x: f32[2]) { want_x = const f32[2] {1, 2} }\n"},
    {"a constant", 1,
     "graph g () -> (k: f32[2]) { k = const f32[2] {3, 4}; want_k = const f32[2] {3, 4} }\n"},
    {"computed when the plan is made", 1,
     "graph g () -> (y: f32[2]) {\n"
     "    want_y = const f32[2] {-3, -4}\n"
     "    k = const f32[2] {3, 4}\n"
     "    y = Neg(k)\n"
     "}\n"},
    {"twice the same value", 2,
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y = v: f32[2], z = v: f32[2]) {\n"
     "    want_y = const f32[2] {-1, -2}\n"
     "    want_z = const f32[2] {-1, -2}\n"
     "    v = Neg(x)\n"
     "}\n"},
    {"a value and a view of it", 2,
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[2], z: f32[2, 1]) {\n"
     "    want_y = const f32[2] {-1, -2}\n"
     "    want_z = const f32[2, 1] {-1, -2}\n"
     "    a = const i64[1] {1}\n"
     "    y = Neg(x)\n"
     "    z = Unsqueeze(y, a)\n"
     "}\n"},
    {"an output that is read on", 2,
     "graph g (x: f32[2] = f32[2] {1, 2}) -> (y: f32[2], z: f32[2]) {\n"
     "    want_y = const f32[2] {-1, -2}\n"
     "    want_z = const f32[2] {0, 0}\n"
     "    y = Neg(x)\n"
     "    z = Relu(y)\n"
     "}\n"},
    {"views make no step, the output copies", 1,
     "graph g (x: f32[2, 3] = f32[2, 3] {1, 2, 3, 4, 5, 6}) -> (y: f32[3]) {\n"
     "    want_y = const f32[3] {4, 5, 6}\n"
     "    i = const i64[] {1}\n"
     "    y = Gather(x, i)\n"
     "}\n"},
    {"nothing to compute", 0,
     "graph g (x: f32[0, 2] = f32[0, 2] {}) -> (y: f32[0, 2]) {\n"
     "    want_y = const f32[0, 2] {}\n"
     "    y = Neg(x)\n"
     "}\n"},
    {"an empty input beside sizes whose product is none", 0,
     "graph g (x: f32[0, 4611686018427387904, 4] = f32[0, 4611686018427387904, 4] {})\n"
     "    -> (x: f32[0, 4611686018427387904, 4]) {\n"
     "    want_x = const f32[0, 4611686018427387904, 4] {}\n"
     "}\n"},
};

START_TEST(outputs_reach_the_caller)
{
    const OutputCase *o = &output_table[_i];
    LowerCase c;
    case_open(&c, o->text);
    ck_assert_msg(case_lower(&c, (VfLowerOptions){0}, false) == VF_OK, "%s: %s", o->name,
                  c.err.text);
    ck_assert_msg(c.plan->n_step == o->n_step, "%s: %d steps", o->name, c.plan->n_step);
    case_run(&c, 1);
    case_compare(&c, o->name);
    case_close(&c);
}
END_TEST

static const char block_text[] = "graph g (x: f32[1, 50, 48] = f32[1, 50, 48] random(1), q: "
                                 "f32[50, 48] = f32[50, 48] random(2))\n"
                                 "    -> (y: f32[1, 50, 48], z: f32[1, 50, 50]) {\n"
                                 "    w = const f32[48, 48] random(3)\n"
                                 "    b = const f32[48] random(4)\n"
                                 "    v = const f32[48, 192] random(5)\n"
                                 "    u = const f32[192, 48] random(6)\n"
                                 "    n = LayerNormalization(x, b)\n"
                                 "    p0 = MatMul(n, w)\n"
                                 "    p = Add(b, p0)\n"
                                 "    t = Transpose(p) {perm=[0, 2, 1]}\n"
                                 "    s = MatMul(n, t)\n"
                                 "    z = Softmax(s)\n"
                                 "    o = MatMul(z, p)\n"
                                 "    r = Add(o, x)\n"
                                 "    m = MatMul(r, v)\n"
                                 "    e = Erf(m)\n"
                                 "    f = MatMul(e, u)\n"
                                 "    g0 = Add(f, b)\n"
                                 "    h = Mul(g0, q)\n"
                                 "    y = Add(h, r)\n"
                                 "}\n";

/* Keeping every value rules out shared memory, steps in place, and a bias within a product. With
 * the reference kernels: a tuned BLAS sums in another order where an operand is read transposed. */
START_TEST(sharing_and_fusing_change_no_bit)
{
    LowerCase plain, kept;
    case_open(&plain, block_text);
    case_open(&kept, block_text);
    VfLowerOptions shared = {.reference = true}, all = {.reference = true, .save_all = true};
    ck_assert_int_eq(case_lower(&plain, shared, false), VF_OK);
    ck_assert_int_eq(case_lower(&kept, all, false), VF_OK);
    ck_assert_int_lt(plain.plan->n_step, kept.plan->n_step);
    ck_assert_uint_lt(plain.plan->arena_bytes, kept.plan->arena_bytes);
    ck_assert_int_eq(kept.plan->n_saved, 14);
    case_run(&plain, 1);
    case_run(&kept, 1);
    for (int32_t i = 0; i < plain.plan->n_output; i++)
        ck_assert_mem_eq(plain.out[i], kept.out[i], plain.plan->output[i].bytes);
    case_close(&plain);
    case_close(&kept);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    LowerCase one, many;
    case_open(&one, block_text);
    case_open(&many, block_text);
    ck_assert_int_eq(case_lower(&one, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_int_eq(case_lower(&many, (VfLowerOptions){0}, false), VF_OK);
    for (int32_t i = 0; i < many.plan->n_step; i++)
        many.plan->step[i].grain = 1; /* share even the smallest step */
    case_run(&one, 1);
    for (int32_t n = 2; n < 6; n++) {
        case_run(&many, n);
        for (int32_t i = 0; i < one.plan->n_output; i++)
            ck_assert_mem_eq(one.out[i], many.out[i], one.plan->output[i].bytes);
    }
    case_close(&one);
    case_close(&many);
}
END_TEST

START_TEST(memory_is_near_what_lives_at_once)
{
    LowerCase c;
    case_open(&c, block_text);
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_uint_ge(c.plan->arena_bytes, c.plan->live_bytes);
    ck_assert_uint_le(c.plan->arena_bytes, c.plan->live_bytes + c.plan->live_bytes / 4);
    ck_assert_uint_gt(c.plan->total_bytes, c.plan->arena_bytes);
    ck_assert_double_gt(c.plan->flops, 2.0 * 50 * 48 * (48 + 50 + 50 + 192 + 192));
    case_close(&c);
}
END_TEST

/* A step reads nothing that lies where it writes, but the operand it overwrites on purpose. */
START_TEST(a_step_does_not_overlap_itself)
{
    LowerCase c;
    case_open(&c, block_text);
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    for (int32_t i = 0; i < c.plan->n_step; i++) {
        const VfPlanStep *s = &c.plan->step[i];
        for (int32_t k = 0; k < s->n_in; k++) {
            bool is_same = s->in[k].space == VF_SPACE_ARENA && s->out[0].space == VF_SPACE_ARENA &&
                           s->in[k].offset == s->out[0].offset;
            ck_assert(!is_same || (k == 0 && (s->kernel->flags & VFK_IN_PLACE) != 0));
        }
    }
    case_close(&c);
}
END_TEST

/* A constant that is repeated keeps the memory that it has. */
START_TEST(repeated_numbers_take_no_memory)
{
    LowerCase c;
    case_open(&c, "model opset=17\n"
                  "graph g (x: f32[8, 3] = f32[8, 3] random(1)) -> (y: f32[8, 3]) {\n"
                  "    w = const f32[1, 3] {1.5, 0.25, -2}\n"
                  "    s = const i64[2] {8, 3}\n"
                  "    e = Expand(w, s)\n"
                  "    y = Add(x, e)\n"
                  "}\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_int_eq(c.plan->n_weight, 1);
    ck_assert_uint_eq(c.plan->weight[0].bytes, 12);
    case_close(&c);
}
END_TEST

/* Masks that depend on no input are made once, with the plan: a fill, changed in places. */
START_TEST(constant_masks_are_no_steps)
{
    LowerCase c;
    case_open(&c, "model opset=17\n"
                  "graph g (x: f32[4, 4] = f32[4, 4] random(1)) -> (y: f32[4, 4]) {\n"
                  "    s = const i64[2] {4, 4}\n"
                  "    i = const i64[2, 2] {0, 1, 3, 2}\n"
                  "    u = const f32[2] {-100, -50}\n"
                  "    f = ConstantOfShape(s)\n"
                  "    e = Expand(f, s)\n"
                  "    m = ScatterND(e, i, u)\n"
                  "    y = Add(x, m)\n"
                  "}\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_int_eq(c.plan->n_step, 1);
    ck_assert_int_eq(c.plan->n_weight, 1);
    case_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/outputs");
    TCase *tcase = tcase_create("cases");
    int n = (int)(sizeof output_table / sizeof *output_table);
    tcase_add_loop_test(tcase, outputs_reach_the_caller, 0, n);
    tcase_add_test(tcase, sharing_and_fusing_change_no_bit);
    tcase_add_test(tcase, threads_change_no_bit);
    tcase_add_test(tcase, memory_is_near_what_lives_at_once);
    tcase_add_test(tcase, a_step_does_not_overlap_itself);
    tcase_add_test(tcase, repeated_numbers_take_no_memory);
    tcase_add_test(tcase, constant_masks_are_no_steps);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
