/* Linear attention as one step: which spellings become one, and that the numbers stay. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/fuse_random.h"

/* Sizes: heads, queries, keys, columns of keys, columns of values. */
typedef struct Sizes {
    int h, m, n, d, e;
} Sizes;

static const Sizes size_table[] = {
    {3, 49, 49, 32, 32}, {3, 197, 197, 64, 64}, {2, 5, 3, 33, 35}, {2, 31, 900, 3, 17},
};

/* Operands: q 1 h m d, k 1 h n d, v 1 h n e. */
static const struct Spelling {
    const char *what, *nodes;
} fused_table[] = {
    {"relu and a quotient",
     "fq = Relu(q)\n fk = Relu(k)\n ft = Transpose(fk) {perm=[0, 1, 3, 2]}\n"
     "kv = MatMul(ft, v)\n o = MatMul(fq, kv)\n"
     "ks = ReduceSum(ft, last) {keepdims=1}\n z = MatMul(fq, ks)\n"
     "y = Div(o, z)\n"},
    {"something added to the divisor",
     "fq = Relu(q)\n fk = Relu(k)\n ft = Transpose(fk) {perm=[0, 1, 3, 2]}\n"
     "ks = ReduceSum(ft, last) {keepdims=1}\n z0 = MatMul(fq, ks)\n z = Add(z0, c)\n"
     "kv = MatMul(ft, v)\n o = MatMul(fq, kv)\n y = Div(o, z)\n"},
    {"a reciprocal, scaled",
     "fq = Relu(q)\n fk = Relu(k)\n ft = Transpose(fk) {perm=[0, 1, 3, 2]}\n"
     "ks = ReduceSum(ft, last) {keepdims=1}\n z0 = MatMul(fq, ks)\n"
     "z1 = Add(c, z0)\n z2 = Reciprocal(z1)\n z = Mul(z2, c)\n"
     "kv = MatMul(ft, v)\n o = MatMul(fq, kv)\n y = Mul(z, o)\n"},
    {"features of another kind",
     "fq = Sigmoid(q)\n fk = Exp(k)\n"
     "ft = Transpose(fk) {perm=[0, 1, 3, 2]}\n kv = MatMul(ft, v)\n"
     "o = MatMul(fq, kv)\n ks = ReduceSum(ft, last) {keepdims=1}\n"
     "z = MatMul(fq, ks)\n y = Div(o, z)\n"},
    {"heads turned before relu",
     "qt = Transpose(q) {perm=[0, 2, 1, 3]}\n q1 = Relu(qt)\n"
     "fq = Transpose(q1) {perm=[0, 2, 1, 3]}\n kt = Transpose(k) {perm=[0, 1, 3, 2]}\n"
     "ft = Relu(kt)\n kv = MatMul(ft, v)\n o = MatMul(fq, kv)\n"
     "ks = ReduceSum(ft, last) {keepdims=1}\n z = MatMul(fq, ks)\n y = Div(o, z)\n"},
};

/* What must stay as it is. */
static const struct Spelling apart_table[] = {
    {"sums of other keys",
     "fq = Relu(q)\n fk = Relu(k)\n ft = Transpose(fk) {perm=[0, 1, 3, 2]}\n"
     "kv = MatMul(ft, v)\n o = MatMul(fq, kv)\n"
     "kt = Transpose(k) {perm=[0, 1, 3, 2]}\n"
     "ks = ReduceSum(kt, last) {keepdims=1}\n z = MatMul(fq, ks)\n"
     "y = Div(o, z)\n"},
    {"other queries in the divisor",
     "fq = Relu(q)\n fk = Relu(k)\n ft = Transpose(fk) {perm=[0, 1, 3, 2]}\n"
     "kv = MatMul(ft, v)\n o = MatMul(fq, kv)\n ks = ReduceSum(ft, last) {keepdims=1}\n"
     "z = MatMul(q, ks)\n y = Div(o, z)\n"},
    {"the quotient upside down",
     "fq = Relu(q)\n fk = Relu(k)\n ft = Transpose(fk) {perm=[0, 1, 3, 2]}\n"
     "kv = MatMul(ft, v)\n o = MatMul(fq, kv)\n ks = ReduceSum(ft, last) {keepdims=1}\n"
     "z = MatMul(fq, ks)\n y = Div(z, o)\n"},
    {"sums that are read twice",
     "fq = Relu(q)\n fk = Relu(k)\n ft = Transpose(fk) {perm=[0, 1, 3, 2]}\n"
     "kv = MatMul(ft, v)\n o = MatMul(fq, kv)\n ks = ReduceSum(ft, last) {keepdims=1}\n"
     "z = MatMul(fq, ks)\n r = Div(o, z)\n y = Add(r, o)\n"},
};

static const char *make_text(VfArena *arena, const Sizes *s, const char *nodes)
{
    VfText text;
    case_begin(&text, arena);
    case_add_input(&text, "q", 4, (int[]){1, s->h, s->m, s->d});
    case_add_input(&text, "k", 4, (int[]){1, s->h, s->n, s->d});
    case_add_input(&text, "v", 4, (int[]){1, s->h, s->n, s->e});
    case_begin_nodes(&text);
    vf_text_printf(&text, "c = const f32[] {2.5}\n last = const i64[1] {3}\n%s", nodes);
    return case_end(&text);
}

START_TEST(becomes_one_step)
{
    VfArena *arena = vf_arena_new();
    for (size_t i = 0; i < sizeof fused_table / sizeof *fused_table; i++)
        case_fuse_random(make_text(arena, &size_table[_i], fused_table[i].nodes),
                         fused_table[i].what, "linear_attention_f32", 1, 0);
    vf_arena_free(arena);
}
END_TEST

/* The relu that makes both keys and values stays a step. */
START_TEST(values_may_be_the_keys)
{
    const Sizes sizes = {2, 5, 9, 8, 8};
    VfArena *arena = vf_arena_new();
    case_fuse_random(make_text(arena, &sizes,
                               "fq = Relu(q)\n fk = Relu(k)\n"
                               "ft = Transpose(fk) {perm=[0, 1, 3, 2]}\n kv = MatMul(ft, fk)\n"
                               "o = MatMul(fq, kv)\n ks = ReduceSum(ft, last) {keepdims=1}\n"
                               "z = MatMul(fq, ks)\n y = Div(o, z)\n"),
                     "values that are the keys", "linear_attention_f32", 1, 0);
    vf_arena_free(arena);
}
END_TEST

START_TEST(stays_apart)
{
    const Sizes sizes = {3, 5, 7, 4, 6};
    VfArena *arena = vf_arena_new();
    case_fuse_random(make_text(arena, &sizes, apart_table[_i].nodes), apart_table[_i].what,
                     "linear_attention_f32", 0, 3);
    vf_arena_free(arena);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/fuse_linear_attention");
    TCase *tcase = tcase_create("linear_attention");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, becomes_one_step, 0, (int)(sizeof size_table / sizeof *size_table));
    tcase_add_test(tcase, values_may_be_the_keys);
    tcase_add_loop_test(tcase, stays_apart, 0, (int)(sizeof apart_table / sizeof *apart_table));
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
