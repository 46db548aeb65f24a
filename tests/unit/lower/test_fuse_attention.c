/* Attention as one step: which spellings become one, and that the numbers stay. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/fuse_random.h"

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
    {"queries and keys scaled by powers of two",
     "z = Mul(q, half)\n w = Mul(half, kt)\n s = MatMul(z, w)\n p = Softmax(s) {axis=3}\n"
     "y = MatMul(p, v)\n"},
    {"scaled queries that are turned",
     "t = Transpose(qt) {perm=[0, 2, 1, 3]}\n z = Mul(t, half)\n s = MatMul(z, kt)\n"
     "p = Softmax(s) {axis=3}\n y = MatMul(p, v)\n"},
    {"scaled queries that are keys, too",
     "z = Mul(q, half)\n t = Transpose(z) {perm=[0, 1, 3, 2]}\n s = MatMul(z, t)\n"
     "p = Softmax(s) {axis=3}\n y = MatMul(p, q)\n"},
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

static void add_biases(VfText *text, const Sizes *s)
{
    case_add_input(text, "whole", 4, (int[]){s->b, s->h, s->m, s->n});
    case_add_input(text, "by_head", 3, (int[]){s->h, s->m, s->n});
    case_add_input(text, "by_batch", 4, (int[]){s->b, 1, s->m, s->n});
    case_add_input(text, "by_query", 2, (int[]){s->m, 1});
    case_add_input(text, "by_key", 1, (int[]){s->n});
    case_add_input(text, "by_head3", 3, (int[]){1, s->h * s->m, s->n});
}

static const char *make_text(VfArena *arena, const Sizes *s, const char *nodes)
{
    VfText text;
    case_begin(&text, arena);
    case_add_input(&text, "q", 4, (int[]){s->b, s->h, s->m, s->d});
    case_add_input(&text, "qt", 4, (int[]){s->b, s->m, s->h, s->d});
    case_add_input(&text, "k", 4, (int[]){s->b, s->h, s->n, s->d});
    case_add_input(&text, "v", 4, (int[]){s->b, s->h, s->n, s->e});
    case_add_input(&text, "k1", 4, (int[]){s->b, 1, s->n, s->d});
    case_add_input(&text, "v1", 4, (int[]){s->b, 1, s->n, s->e});
    add_biases(&text, s);
    case_begin_nodes(&text);
    vf_text_printf(&text,
                   "c = const f32[] {0.375}\n half = const f32[] {0.5}\n"
                   "flat = const i64[3] {%d, %d, %d}\n"
                   "unflat = const i64[4] {%d, %d, %d, %d}\n"
                   "low = const f32[] {-inf}\n zero = const f32[] {0}\n"
                   "odd = Greater(by_key, zero)\n mask = Where(odd, low, zero)\n"
                   "kt = Transpose(k) {perm=[0, 1, 3, 2]}\n"
                   "kt1 = Transpose(k1) {perm=[0, 1, 3, 2]}\n%s",
                   s->b, s->h * s->m, s->n,
                   s->b, s->h, s->m, s->n, nodes);
    return case_end(&text);
}

START_TEST(becomes_one_step)
{
    VfArena *arena = vf_arena_new();
    for (size_t i = 0; i < sizeof fused_table / sizeof *fused_table; i++)
        case_fuse_random(make_text(arena, &size_table[_i], fused_table[i].nodes),
                         fused_table[i].what, "attention_f32", 1, 0);
    vf_arena_free(arena);
}
END_TEST

START_TEST(stays_apart)
{
    const Sizes sizes = {2, 3, 5, 7, 4, 6};
    VfArena *arena = vf_arena_new();
    case_fuse_random(make_text(arena, &sizes, apart_table[_i].nodes), apart_table[_i].what,
                     "attention_f32", 0, 2);
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
