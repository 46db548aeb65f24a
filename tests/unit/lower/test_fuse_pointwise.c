/* Activations in pieces, in the spellings of exporters and beside them. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/fuse_case.h"

#define MODEL(body)                                                                             \
    "graph g (x: f32[3, 40] = f32[3, 40] random(1)) -> (y: f32[3, 40]) {\n" body "}\n"
#define NUMBERS                                                                                 \
    "    r = const f32[] {1.41421354}\n"                                                        \
    "    i = const f32[] {0.707106769}\n"                                                       \
    "    one = const f32[] {1}\n"                                                               \
    "    half = const f32[] {0.5}\n"
#define TANH_NUMBERS                                                                            \
    "    s = const f32[] {0.797884583}\n"                                                       \
    "    k = const f32[] {0.044715}\n"                                                          \
    "    one = const f32[] {1}\n"                                                               \
    "    half = const f32[] {0.5}\n"                                                            \
    "    three = const f32[] {3}\n"

static const FuseCase case_table[] = {
    {"gelu of PyTorch", "gelu_f32", 2e-6,
     MODEL(NUMBERS "    a = Div(x, r)\n"
                   "    b = Erf(a)\n"
                   "    c = Add(b, one)\n"
                   "    d = Mul(x, c)\n"
                   "    y = Mul(d, half)\n")},
    {"gelu, half of x first", "gelu_f32", 2e-6,
     MODEL(NUMBERS "    h = Mul(half, x)\n"
                   "    a = Mul(i, x)\n"
                   "    b = Erf(a)\n"
                   "    c = Add(one, b)\n"
                   "    y = Mul(c, h)\n")},
    {"gelu, half multiplied in", "gelu_f32", 2e-6,
     MODEL(NUMBERS "    a = Mul(x, i)\n"
                   "    b = Erf(a)\n"
                   "    c = Mul(b, half)\n"
                   "    d = Add(c, half)\n"
                   "    y = Mul(x, d)\n")},
    {"gelu of a value that is computed", "neg_f32 gelu_f32", 2e-6,
     MODEL(NUMBERS "    v = Neg(x)\n"
                   "    a = Div(v, r)\n"
                   "    b = Erf(a)\n"
                   "    c = Add(b, one)\n"
                   "    d = Mul(v, c)\n"
                   "    y = Mul(d, half)\n")},
    {"another factor", "div_f32 erf_f32 add_f32 mul_f32 mul_f32", 0,
     MODEL(NUMBERS "    a = Div(x, half)\n"
                   "    b = Erf(a)\n"
                   "    c = Add(b, one)\n"
                   "    d = Mul(x, c)\n"
                   "    y = Mul(d, half)\n")},
    {"the tanh form", "gelu_tanh_f32", 2e-6,
     MODEL(TANH_NUMBERS "    p = Pow(x, three)\n"
                        "    q = Mul(k, p)\n"
                        "    u = Add(x, q)\n"
                        "    v = Mul(s, u)\n"
                        "    t = Tanh(v)\n"
                        "    c = Add(t, one)\n"
                        "    h = Mul(x, half)\n"
                        "    y = Mul(h, c)\n")},
    {"the tanh form by squares", "gelu_tanh_f32", 2e-6,
     MODEL(TANH_NUMBERS "    p = Mul(x, x)\n"
                        "    q = Mul(k, p)\n"
                        "    u = Add(one, q)\n"
                        "    w = Mul(u, x)\n"
                        "    v = Mul(s, w)\n"
                        "    t = Tanh(v)\n"
                        "    c = Add(t, one)\n"
                        "    h = Mul(c, half)\n"
                        "    y = Mul(h, x)\n")},
    {"silu", "silu_f32", 2e-6,
     MODEL("    a = Sigmoid(x)\n"
           "    y = Mul(x, a)\n")},
    {"quick gelu", "silu_f32", 2e-6,
     MODEL("    k = const f32[] {1.702}\n"
           "    b = Mul(k, x)\n"
           "    a = Sigmoid(b)\n"
           "    y = Mul(a, x)\n")},
    {"a gate of another value", "abs_f32 sigmoid_f32 mul_f32", 0,
     MODEL("    v = Abs(x)\n"
           "    a = Sigmoid(v)\n"
           "    y = Mul(x, a)\n")},
    {"hard swish", "hard_swish_f32", 2e-6,
     MODEL("    l = const f32[] {0}\n"
           "    h = const f32[] {6}\n"
           "    k = const f32[] {3}\n"
           "    a = Add(x, k)\n"
           "    b = Clip(a, l, h)\n"
           "    c = Mul(x, b)\n"
           "    y = Div(c, h)\n")},
    {"hard swish of a hard sigmoid", "hard_swish_f32", 2e-6,
     MODEL("    a = HardSigmoid(x) {alpha=0.16666667, beta=0.5}\n"
           "    y = Mul(x, a)\n")},
};

START_TEST(pieces_are_one_step)
{
    case_fuse(&case_table[_i]);
}
END_TEST

/* Values that somebody else reads, or that are kept, stay. */
START_TEST(shared_values_stay)
{
    LowerCase c;
    case_open(&c, "graph g (x: f32[8] = f32[8] random(1)) -> (y: f32[8], a: f32[8]) {\n"
                  "    a = Sigmoid(x)\n"
                  "    y = Mul(x, a)\n"
                  "}\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_int_eq(c.plan->n_step, 2);
    case_close(&c);
    case_open(&c, "graph g (x: f32[8] = f32[8] random(1)) -> (y: f32[8]) {\n"
                  "    a = Sigmoid(x)\n"
                  "    y = Mul(x, a)\n"
                  "}\n");
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){.save_all = true}, false), VF_OK);
    ck_assert_int_eq(c.plan->n_step, 2);
    vf_plan_free(c.plan);
    VfValue *keep[] = {vf_graph_find_value(c.model->graph, vf_bytes("a"), false)};
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){.n_keep = 1, .keep = keep}, false), VF_OK);
    ck_assert_int_eq(c.plan->n_step, 2);
    case_close(&c);
}
END_TEST

/* The node of a fused step tells whose work it does; weights of no step are gone. */
START_TEST(nodes_tell_what_was_merged)
{
    LowerCase c;
    case_open(&c, MODEL("    k = const f32[] {1.702}\n"
                        "    v = Neg(x)\n"
                        "    b = Mul(k, v)\n"
                        "    a = Sigmoid(b)\n"
                        "    y = Mul(a, v)\n"));
    ck_assert_int_eq(case_lower(&c, (VfLowerOptions){0}, false), VF_OK);
    ck_assert_int_eq(c.plan->n_step, 2);
    ck_assert_int_eq(c.plan->n_node, 2);
    ck_assert_int_eq(c.plan->n_weight, 0);
    ck_assert_str_eq(c.plan->node[0].op, "Neg");
    ck_assert_str_eq(c.plan->node[1].op, "Mul+Sigmoid+Mul");
    ck_assert_int_eq(c.plan->step[1].node, 1);
    case_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/fuse_pointwise");
    TCase *tcase = tcase_create("pointwise");
    tcase_add_loop_test(tcase, pieces_are_one_step, 0,
                        (int)(sizeof case_table / sizeof *case_table));
    tcase_add_test(tcase, shared_values_stay);
    tcase_add_test(tcase, nodes_tell_what_was_merged);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
