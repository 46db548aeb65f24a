#include "passes/ir/clone.h"

#include <stdio.h>

#include "passes/ir/verify.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

/* Put the body of `body` where `call` stands, and take the call away. */
static void inline_at(VfNode *call, const VfGraph *body, bool takes_operands)
{
    VfErr err = {.status = VF_OK};
    VfCloneInto into = {.graph = call->graph, .before = call, .call = call};
    VfValue *in[8], *out[8];
    int32_t n_in = takes_operands ? call->n_in : 0;
    for (int32_t i = 0; i < n_in; i++)
        in[i] = vf_node_in(call, i);
    ck_assert_msg(vf_graph_clone(&into, body, n_in, in, out, &err) == VF_OK, "%s", err.text);
    for (int32_t i = 0; i < call->n_out; i++) {
        if (call->out[i] != NULL)
            vf_value_replace_uses(call->out[i], out[i]);
    }
    vf_node_unlink(call);
    ck_assert_msg(vf_verify_all(call->graph->model, &err) == VF_OK, "%s", err.text);
}

/* What stands in the main graph after "{\n". */
static const char *body_text(const VfModel *model)
{
    const char *graph = strstr(write_vft(model), "\ngraph ");
    return strstr(graph, "{\n") + 2;
}

#define HEAD "graph (x: f32[2], c: bool[]) -> (y) {\n"

/* functions and call in the first line; the main graph afterwards */
static const struct {
    const char *function, *call, *want;
} function_case[] = {
    {"function l::F (a) -> (b) { b = Relu(a) @r }", "y = l::F(x) @f",
     "    f/b = Relu(x) @f/r\n}\n"},
    {"function l::F (a) -> (b) { b = Relu(a) }", "y = l::F(x)", "    b_2 = Relu(x)\n}\n"},
    {"function l::F (a, o) -> (b) { b = Clip(a, o, a) }", "y = l::F(x) @f",
     "    f/b = Clip(x, _, x)\n}\n"},
    {"function l::F attr k attr d=7 (a) -> (b) { b = Op(a) {p=ref int k, q=ref int d, "
     "r=ref int none, s=4} }",
     "y = l::F(x) {k=5} @f", "    f/b = Op(x) {p=5, q=7, s=4}\n}\n"},
    {"function l::F attr d=7 (a) -> (b) { b = Op(a) {q=ref int d} }", "y = l::F(x) {d=8} @f",
     "    f/b = Op(x) {q=8}\n}\n"},
    {"function l::F (a) -> (b) { k = const f32[] {2}; b = Mul(a, k) [doc=\"d\", raw=0x01] }",
     "y = l::F(x) @f",
     "    f/k = const f32[] {2}\n    f/b = Mul(x, f/k) [doc=\"d\", raw=0x01]\n}\n"},
    {"function l::F (a) -> (b) { b, _ = TopK(a, a); u = Neg(b) }", "y = l::F(x) @f",
     "    f/b, _ = TopK(x, x)\n    f/u = Neg(f/b)\n}\n"},
    {"function l::F attr k (a) -> (b) {\nb = If(a) {then_branch=graph t (i) -> (z, z2 = a) {\n"
     "z = Op(a, i) {p=ref int k}\n}} @if\n}",
     "y = l::F(c) {k=5} @f",
     "    f/b = If(c) {then_branch=graph t (f/i) -> (f/z, f/z2 = c) {\n"
     "        f/z = Op(c, f/i) {p=5}\n    }} @f/if\n}\n"},
};

START_TEST(functions_are_inlined)
{
    char text[2048];
    snprintf(text, sizeof text, "%s\n" HEAD "%s\n}\n", function_case[_i].function,
             function_case[_i].call);
    VfModel *model = read_vft(text);
    VfNode *call = find_def(model, "y");
    inline_at(call, model->first_function->body, true);
    ck_assert_str_eq(body_text(model), function_case[_i].want);
    vf_model_free(model);
}
END_TEST

START_TEST(two_calls_get_two_names)
{
    VfModel *model = read_vft("function l::F (a) -> (b) { t = Neg(a); b = Relu(t) }\n" HEAD
                              "u = l::F(x)\ny = l::F(u)\n}");
    const VfGraph *body = model->first_function->body;
    VfNode *first = find_def(model, "u"), *second = find_def(model, "y");
    inline_at(first, body, true);
    inline_at(second, body, true);
    ck_assert_str_eq(body_text(model), "    t_2 = Neg(x)\n    b_2 = Relu(t_2)\n"
                                       "    t_3 = Neg(b_2)\n    b_3 = Relu(t_3)\n}\n");
    vf_model_free(model);
}
END_TEST

START_TEST(a_branch_takes_the_place_of_its_if)
{
    VfModel *model = read_vft(HEAD "n = Neg(x)\n"
                                   "y = If(c) {then_branch=graph () -> (a: f32[2]) {\n"
                                   "k = const f32[2] {1, 2}\na = Add(n, k)\n}} @if\n}");
    VfNode *node = find_def(model, "y");
    inline_at(node, node->first_attr->graph, false);
    ck_assert_str_eq(body_text(model),
                     "    if/k = const f32[2] {1, 2}\n    n = Neg(x)\n"
                     "    if/a: f32[2] = Add(n, if/k)\n}\n");
    vf_model_free(model);
}
END_TEST

START_TEST(outputs_may_be_inputs_and_outer_values)
{
    VfModel *model = read_vft("function l::F (a, b) -> (p = a, q = b) {}\n" HEAD
                              "y, z = l::F(x)\n}");
    VfErr err = {.status = VF_OK};
    VfNode *call = find_def(model, "y");
    VfCloneInto into = {.graph = model->graph, .before = call, .call = call};
    VfValue *x = find_value(model, "x"), *out[2];
    ck_assert_int_eq(vf_graph_clone(&into, model->first_function->body, 1, &x, out, &err), VF_OK);
    ck_assert_ptr_eq(out[0], x);
    ck_assert_ptr_null(out[1]);
    vf_model_free(model);
}
END_TEST

/* A body copied several times with values carried from copy to copy, as when unrolling. */
START_TEST(loops_are_unrolled)
{
    VfModel *model = read_vft(HEAD "y = Loop(c, c, x) {body=graph (i: i64[], d: bool[], v: f32[2] "
                                   "= f32[2] {5, 5}) -> (d2 = d, w) {\nw = Add(v, x)\n}}\n}");
    VfErr err = {.status = VF_OK};
    VfNode *loop = find_def(model, "y");
    const VfGraph *body = loop->first_attr->graph;
    VfCloneInto into = {.graph = model->graph, .before = loop, .prefix = vf_bytes("l")};
    VfValue *in[] = {NULL, find_value(model, "c"), NULL}, *out[2];
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(vf_graph_clone(&into, body, 3, in, out, &err), VF_OK);
        ck_assert_ptr_eq(out[0], in[1]);
        in[2] = out[1];
    }
    vf_value_replace_uses(loop->out[0], out[1]);
    vf_node_unlink(loop);
    ck_assert_msg(vf_verify_all(model, &err) == VF_OK, "%s", err.text);
    ck_assert_str_eq(body_text(model), "    l/v: f32[2] = const f32[2] {5, 5}\n"
                                       "    l/w = Add(l/v, x)\n"
                                       "    l/w_2 = Add(l/w, x)\n    l/w_3 = Add(l/w_2, x)\n}\n");
    vf_model_free(model);
}
END_TEST

START_TEST(sizes_count_subgraphs)
{
    VfModel *model = read_vft(HEAD "y = If(c) {a=graph () -> () { p = Neg(x); q = Neg(x) }, "
                                   "b=graphs [\"\" () -> () { r = Neg(x) }]}\n}");
    ck_assert_uint_eq(vf_graph_size(model->graph), 4);
    vf_model_free(model);
}
END_TEST

START_TEST(sparse_initializers_are_not_copied)
{
    VfModel *model = read_vft(HEAD "y = If(c) {b=graph () -> (s) {\n"
                                   "s = Constant() {sparse_value=sparse_tensor} "
                                   "[sparse_initializer]\n}}\n}");
    VfNode *node = find_def(model, "y");
    VfCloneInto into = {.graph = model->graph, .before = node};
    VfValue *out[1];
    ck_assert_int_eq(vf_graph_clone(&into, node->first_attr->graph, 0, NULL, out, NULL),
                     VF_UNSUPPORTED);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("clone");
    TCase *tcase = tcase_create("clone");
    tcase_add_loop_test(tcase, functions_are_inlined, 0,
                        sizeof function_case / sizeof function_case[0]);
    tcase_add_test(tcase, two_calls_get_two_names);
    tcase_add_test(tcase, a_branch_takes_the_place_of_its_if);
    tcase_add_test(tcase, outputs_may_be_inputs_and_outer_values);
    tcase_add_test(tcase, loops_are_unrolled);
    tcase_add_test(tcase, sizes_count_subgraphs);
    tcase_add_test(tcase, sparse_initializers_are_not_copied);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
