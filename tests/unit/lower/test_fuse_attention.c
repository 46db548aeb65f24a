/* Attention as one step: which spellings become one, and that the numbers stay. */
#include <stdio.h>

#include "runtime/base/text.h"
#include "tests/support/check_main.h"
#include "tests/unit/lower/lower_case.h"

/* Sizes: batch, heads, queries, keys, columns of keys, columns of values. */
typedef struct Sizes {
    int b, h, m, n, d, e;
} Sizes;

static const Sizes size_table[] = {
    {2, 3, 49, 49, 32, 32}, {1, 3, 197, 197, 64, 64}, {2, 2, 5, 1, 33, 33}, {1, 4, 1, 33, 7, 5},
    {2, 1, 31, 400, 3, 17}, {1, 1, 1, 1, 1, 1},       {1, 2, 9, 1200, 20, 8},
};

/* Operands: q b h m d, k b h n d, v b h n e, one key head k1 v1, biases; masks. */
static const struct Spelling {
    const char *what, *nodes;
} fused_table[] = {
    {"plain", "s = MatMul(q, kt)\n p = Softmax(s) {axis=-1}\n y = MatMul(p, v)\n"},
    {"scaled by a product", "r = MatMul(q, kt)\n s = Mul(r, c)\n p = Softmax(s) {axis=3}\n"
                            "y = MatMul(p, v)\n"},
    {"scaled by a quotient", "r = MatMul(q, kt)\n s = Div(r, c)\n p = Softmax(s) {axis=3}\n"
                             "y = MatMul(p, v)\n"},
    {"the factor first", "r = MatMul(q, kt)\n s = Mul(c, r)\n p = Softmax(s) {axis=3}\n"
                         "y = MatMul(p, v)\n"},
    {"a bias for all", "r = MatMul(q, kt)\n s = Add(r, whole)\n p = Softmax(s) {axis=3}\n"
                       "y = MatMul(p, v)\n"},
    {"scaled, a bias of heads and one of batches",
     "r = MatMul(q, kt)\n a = Mul(r, c)\n o = Add(a, by_head)\n s = Add(by_batch, o)\n"
     "p = Softmax(s) {axis=3}\n y = MatMul(p, v)\n"},
    {"biases of queries and keys", "r = MatMul(q, kt)\n a = Add(by_query, r)\n"
                                   "s = Add(a, by_key)\n p = Softmax(s) {axis=3}\n"
                                   "y = MatMul(p, v)\n"},
    {"a bias made after the scores", "r = MatMul(q, kt)\n x = Mul(whole, whole)\n"
                                     "s = Add(r, x)\n p = Softmax(s) {axis=3}\n"
                                     "y = MatMul(p, v)\n"},
    {"masked keys", "r = MatMul(q, kt)\n s = Add(r, mask)\n p = Softmax(s) {axis=3}\n"
                    "y = MatMul(p, v)\n"},
    {"a number added", "r = MatMul(q, kt)\n s = Add(r, c)\n p = Softmax(s) {axis=3}\n"
                       "y = MatMul(p, v)\n"},
    {"one key head", "s = MatMul(q, kt1)\n p = Softmax(s) {axis=3}\n y = MatMul(p, v1)\n"},
    {"weights scaled", "s = MatMul(q, kt)\n w = Softmax(s) {axis=3}\n p = Mul(w, c)\n"
                       "y = MatMul(p, v)\n"},
    {"relu", "r = MatMul(q, kt)\n s = Mul(r, c)\n w = Relu(s)\n p = Div(w, c)\n"
             "y = MatMul(p, v)\n"},
    {"sigmoid", "r = MatMul(q, kt)\n s = Add(r, c)\n p = Sigmoid(s)\n y = MatMul(p, v)\n"},
    {"heads joined behind", "s = MatMul(q, kt)\n p = Softmax(s) {axis=3}\n o = MatMul(p, v)\n"
                            "y = Transpose(o) {perm=[0, 2, 1, 3]}\n"},
    {"batches in one axis", "s = MatMul(q, kt)\n s3 = Reshape(s, flat)\n t = Add(s3, by_head3)\n"
                            "s4 = Reshape(t, unflat)\n p = Softmax(s4) {axis=3}\n"
                            "y = MatMul(p, v)\n"},
};

/* What must stay as it is. */
static const struct Spelling apart_table[] = {
    {"scores that are read twice", "s = MatMul(q, kt)\n p = Softmax(s) {axis=3}\n"
                                   "o = MatMul(p, v)\n x = ReduceMax(s) {axes=[3], keepdims=1}\n"
                                   "y = Add(o, x)\n"},
    {"weights that are read twice", "s = MatMul(q, kt)\n p = Softmax(s) {axis=3}\n"
                                    "o = MatMul(p, v)\n x = ReduceMax(p) {axes=[3], keepdims=1}\n"
                                    "y = Add(o, x)\n"},
    {"softmax of columns", "s = MatMul(q, kt)\n p = Softmax(s) {axis=2}\n y = MatMul(p, v)\n"},
    {"a bias that is scaled", "r = MatMul(q, kt)\n a = Add(r, whole)\n s = Mul(a, c)\n"
                              "p = Softmax(s) {axis=3}\n y = MatMul(p, v)\n"},
    {"three biases", "r = MatMul(q, kt)\n a = Add(r, whole)\n o = Add(a, by_head)\n"
                     "s = Add(o, by_batch)\n p = Softmax(s) {axis=3}\n y = MatMul(p, v)\n"},
    {"a mask by Where", "r = MatMul(q, kt)\n o = Greater(whole, c)\n s = Where(o, r, whole)\n"
                        "p = Softmax(s) {axis=3}\n y = MatMul(p, v)\n"},
    {"no function", "s = MatMul(q, kt)\n y = MatMul(s, v)\n"},
    {"two functions", "s = MatMul(q, kt)\n w = Softmax(s) {axis=3}\n p = Relu(w)\n"
                      "y = MatMul(p, v)\n"},
    {"a factor that is no constant", "r = MatMul(q, kt)\n s = Mul(r, one)\n"
                                     "p = Softmax(s) {axis=3}\n y = MatMul(p, v)\n"},
};

/* "name: f32[dims] = f32[dims] {...}, " with numbers in [-2, 2). */
static void add_input(VfText *text, const char *name, int rank, const int *dims)
{
    char shape[64];
    size_t used = 0, count = 1;
    uint32_t state = (uint32_t)rank * 77u + (uint32_t)name[0];
    for (int i = 0; i < rank; i++) {
        count *= (size_t)dims[i];
        int n = snprintf(shape + used, sizeof shape - used, i == 0 ? "%d" : ", %d", dims[i]);
        used += (size_t)n;
    }
    vf_text_printf(text, "%s: f32[%s] = f32[%s] {", name, shape, shape);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        vf_text_printf(text, "%s%g", i == 0 ? "" : ", ", (int)(state >> 24) / 64.0 - 2);
    }
    vf_text_printf(text, "},\n");
}

static void add_biases(VfText *text, const Sizes *s)
{
    add_input(text, "whole", 4, (int[]){s->b, s->h, s->m, s->n});
    add_input(text, "by_head", 3, (int[]){s->h, s->m, s->n});
    add_input(text, "by_batch", 4, (int[]){s->b, 1, s->m, s->n});
    add_input(text, "by_query", 2, (int[]){s->m, 1});
    add_input(text, "by_key", 1, (int[]){s->n});
    add_input(text, "by_head3", 3, (int[]){1, s->h * s->m, s->n});
}

static const char *make_text(VfArena *arena, const Sizes *s, const char *nodes)
{
    VfText text;
    VfBytes bytes;
    VfErr err;
    vf_text_init(&text, arena);
    vf_text_printf(&text, "model opset=17\ngraph g (");
    add_input(&text, "q", 4, (int[]){s->b, s->h, s->m, s->d});
    add_input(&text, "k", 4, (int[]){s->b, s->h, s->n, s->d});
    add_input(&text, "v", 4, (int[]){s->b, s->h, s->n, s->e});
    add_input(&text, "k1", 4, (int[]){s->b, 1, s->n, s->d});
    add_input(&text, "v1", 4, (int[]){s->b, 1, s->n, s->e});
    add_biases(&text, s);
    vf_text_printf(&text,
                   "one: f32[1] = f32[1] {0.75}) -> (y: f32[?, ?, ?, ?]) {\n"
                   "c = const f32[] {0.375}\n"
                   "flat = const i64[3] {%d, %d, %d}\n"
                   "unflat = const i64[4] {%d, %d, %d, %d}\n"
                   "low = const f32[] {-inf}\n zero = const f32[] {0}\n"
                   "odd = Greater(by_key, zero)\n mask = Where(odd, low, zero)\n"
                   "kt = Transpose(k) {perm=[0, 1, 3, 2]}\n"
                   "kt1 = Transpose(k1) {perm=[0, 1, 3, 2]}\n",
                   s->b, s->h * s->m, s->n,
                   s->b, s->h, s->m, s->n);
    vf_text_printf(&text, "%s}\n", nodes);
    ck_assert_int_eq(vf_text_get(&text, &bytes, &err), VF_OK);
    return bytes.data;
}

static int count_steps(const VfPlan *plan, const char *name)
{
    int n = 0;
    for (int32_t i = 0; i < plan->n_step; i++)
        n += strcmp(plan->step[i].kernel->name, name) == 0;
    return n;
}

/* The model with fusion and without: the same numbers, by as many steps as they should be. */
static void check(const char *text, const char *what, int n_attention, int n_matmul)
{
    LowerCase plain, fused;
    VfDistance d;
    case_open(&plain, text);
    case_open(&fused, text);
    VfStatus status = case_lower(&plain, (VfLowerOptions){.no_fuse = true}, false);
    ck_assert_msg(status == VF_OK, "%s: %s", what, plain.err.text);
    ck_assert_int_eq(case_lower(&fused, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_msg(count_steps(fused.plan, "attention_f32") == n_attention, "%s", what);
    ck_assert_msg(count_steps(fused.plan, "matmul_f32") == n_matmul, "%s", what);
    ck_assert_int_eq(count_steps(plain.plan, "attention_f32"), 0);
    /* a bias that the walk gives to a product is not counted there */
    ck_assert_msg(fused.plan->flops <= plain.plan->flops &&
                      fused.plan->flops >= 0.8 * plain.plan->flops,
                  "%s: %g operations, not %g", what, fused.plan->flops, plain.plan->flops);
    case_run(&plain, 1);
    case_run(&fused, 2);
    const VfPlanTensor *y = &plain.plan->output[0];
    ck_assert_uint_eq(y->bytes, fused.plan->output[0].bytes);
    status = vf_compare(VF_F32, y->bytes / 4, 0, fused.out[0], plain.out[0], &d, &plain.err);
    ck_assert_int_eq(status, VF_OK);
    ck_assert_msg(d.max_abs <= 1e-5 * fmax(1, d.max_abs_b) && d.n_special_differ == 0,
                  "%s: off by %g of %g", what, d.max_abs, d.max_abs_b);
    case_close(&plain);
    case_close(&fused);
}

START_TEST(becomes_one_step)
{
    VfArena *arena = vf_arena_new();
    for (size_t i = 0; i < sizeof fused_table / sizeof *fused_table; i++)
        check(make_text(arena, &size_table[_i], fused_table[i].nodes), fused_table[i].what,
              1, 0);
    vf_arena_free(arena);
}
END_TEST

START_TEST(stays_apart)
{
    const Sizes sizes = {2, 3, 5, 7, 4, 6};
    VfArena *arena = vf_arena_new();
    check(make_text(arena, &sizes, apart_table[_i].nodes), apart_table[_i].what, 0, 2);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/fuse_attention");
    TCase *tcase = tcase_create("attention");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, becomes_one_step, 0, (int)(sizeof size_table / sizeof *size_table));
    tcase_add_loop_test(tcase, stays_apart, 0, (int)(sizeof apart_table / sizeof *apart_table));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
