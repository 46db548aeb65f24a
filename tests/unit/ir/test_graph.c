#include "passes/ir/graph.h"

#include <stdio.h>

#include "passes/ir/verify.h"
#include "tests/support/check_main.h"
#include "tests/unit/ir/vft_case.h"

static void check_well_formed(const VfModel *model)
{
    VfErr err = {.status = VF_OK};
    ck_assert_msg(vf_verify_all(model, &err) == VF_OK, "%s", err.text);
}

/* "Relu:0 Add:1 return:0": users and slots in the order of the use list. */
static const char *uses_of(const VfValue *value)
{
    VfText text;
    vf_text_init(&text, value->graph->model->arena);
    vf_text_string(&text, "");
    int32_t n = 0;
    for (const VfUse *use = value->first_use; use != NULL; use = use->next, n++)
        vf_text_printf(&text, "%s%.*s:%d", n > 0 ? " " : "", (int)use->node->op_type.size,
                       use->node->op_type.data, (int)use->slot);
    ck_assert_int_eq(n, value->n_use);
    return n > 0 ? text.data : "";
}

#define CHAIN                                                          \
    "graph (x: f32[2], y: f32[2]) -> (o = b, p = x) {\n"               \
    "a = Relu(x)\nb = Add(a, x)\nc = Mul(x, x)\n}"

START_TEST(uses_are_in_order_of_linking)
{
    VfModel *model = read_vft(CHAIN);
    ck_assert_str_eq(uses_of(find_value(model, "x")), "Relu:0 Add:1 Mul:0 Mul:1 return:1");
    ck_assert_str_eq(uses_of(find_value(model, "y")), "");
    ck_assert(vf_value_is_output(find_value(model, "x")));
    ck_assert(!vf_value_is_output(find_value(model, "a")));
    ck_assert_ptr_eq(vf_value_single_user(find_value(model, "a")), find_def(model, "b"));
    ck_assert_ptr_null(vf_value_single_user(find_value(model, "b")));
    ck_assert_ptr_null(vf_value_single_user(find_value(model, "x")));
    ck_assert_ptr_null(vf_value_single_user(find_value(model, "c")));
    vf_model_free(model);
}
END_TEST

START_TEST(one_user_of_two_slots_is_single)
{
    VfModel *model = read_vft("graph (x: f32[2]) -> (y) {\n y = Mul(x, x)\n}");
    ck_assert_ptr_eq(vf_value_single_user(find_value(model, "x")), find_def(model, "y"));
    vf_model_free(model);
}
END_TEST

START_TEST(replacing_moves_all_uses)
{
    VfModel *model = read_vft(CHAIN);
    VfValue *x = find_value(model, "x"), *y = find_value(model, "y");
    vf_node_set_in(find_def(model, "a"), 0, y);
    vf_value_replace_uses(x, y);
    ck_assert_str_eq(uses_of(x), "");
    ck_assert_str_eq(uses_of(y), "Relu:0 Add:1 Mul:0 Mul:1 return:1");
    vf_value_replace_uses(y, y);
    ck_assert_str_eq(uses_of(y), "Relu:0 Add:1 Mul:0 Mul:1 return:1");
    check_well_formed(model);
    vf_model_free(model);
}
END_TEST

START_TEST(a_removed_node_stays_readable)
{
    VfModel *model = read_vft(CHAIN);
    VfNode *node = find_def(model, "c");
    VfValue *x = find_value(model, "x");
    vf_node_unlink(node);
    ck_assert(node->is_removed && !node->is_linked);
    ck_assert_str_eq(uses_of(x), "Relu:0 Add:1 return:1");
    ck_assert_ptr_eq(vf_node_in(node, 1), x);
    ck_assert_ptr_null(vf_graph_find_value(model->graph, vf_bytes("c"), false));
    ck_assert_int_eq(model->graph->n_node, 2);
    check_well_formed(model);
    vf_node_link(node, find_def(model, "b"));
    ck_assert_ptr_eq(find_def(model, "a")->next, node);
    ck_assert_str_eq(uses_of(x), "Relu:0 Add:1 return:1 Mul:0 Mul:1");
    check_well_formed(model);
    vf_model_free(model);
}
END_TEST

START_TEST(a_pending_node_has_no_uses)
{
    VfModel *model = read_vft(CHAIN);
    VfValue *x = find_value(model, "x"), *in[] = {x, NULL};
    VfBytes name[] = {vf_bytes("n"), {NULL, 0}};
    VfNode *node = vf_node_new(model->graph, vf_bytes(""), vf_bytes("Neg"), 2, in, 2, name);
    ck_assert_int_eq(x->n_use, 5);
    ck_assert_ptr_null(node->out[1]);
    vf_node_set_in(node, 1, x);
    ck_assert_int_eq(x->n_use, 5);
    vf_node_set_in(node, 1, NULL);
    ck_assert_int_eq(node->op, VF_OP_NEG);
    vf_node_link(node, NULL);
    ck_assert_int_eq(x->n_use, 6);
    vf_model_free(model);
}
END_TEST

START_TEST(operands_may_be_added_to_a_linked_node)
{
    VfModel *model = read_vft(CHAIN);
    VfValue *x = find_value(model, "x"), *y = find_value(model, "y");
    VfNode *node = find_def(model, "b");
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(vf_node_add_in(node, i % 2 != 0 ? x : y, NULL), VF_OK);
    ck_assert_int_eq(node->n_in, 102);
    ck_assert_int_eq(x->n_use, 55);
    ck_assert_ptr_eq(vf_node_in(node, 101), x);
    ck_assert_ptr_null(vf_node_in(node, 102));
    vf_value_replace_uses(x, y);
    ck_assert_int_eq(y->n_use, 105);
    vf_node_unlink(find_def(model, "c"));
    ck_assert_int_eq(y->n_use, 103);
    vf_model_free(model);
}
END_TEST

#define BRANCHES                                                                   \
    "graph (c: bool[], x: f32[2]) -> (y) {\n"                                      \
    "y = If(c) {then_branch=graph () -> (a) { a = Neg(x) }, else_branch=graph () " \
    "-> (x2 = x) {}}\n}"

START_TEST(uses_of_subgraphs_go_with_their_owner)
{
    VfModel *model = read_vft(BRANCHES);
    VfNode *node = find_def(model, "y");
    VfValue *x = find_value(model, "x");
    ck_assert_str_eq(uses_of(x), "Neg:0 return:0");
    ck_assert(!vf_value_is_output(x));
    vf_value_replace_uses(node->out[0], x);
    vf_node_unlink(node);
    ck_assert_str_eq(uses_of(x), "return:0");
    ck_assert(vf_value_is_output(x));
    check_well_formed(model);
    vf_node_link(node, NULL);
    ck_assert_str_eq(uses_of(x), "return:0 Neg:0 return:0");
    check_well_formed(model);
    vf_model_free(model);
}
END_TEST

START_TEST(names_are_found_outwards)
{
    VfModel *model = read_vft(BRANCHES);
    const VfGraph *branch = find_def(model, "y")->first_attr->graph;
    ck_assert_ptr_null(vf_graph_find_value(branch, vf_bytes("x"), false));
    ck_assert_ptr_eq(vf_graph_find_value(branch, vf_bytes("x"), true), find_value(model, "x"));
    vf_model_free(model);
}
END_TEST

START_TEST(fresh_names_are_never_given_twice)
{
    VfModel *model = read_vft("graph (x: f32[], x_2: f32[]) -> (x) {\n y = Neg(x)\n}");
    static const char *const want[] = {"x_3", "x_4", "x_5", "z", "z_2", "value", "value_2"};
    static const char *const base[] = {"x", "x", "x", "z", "z", "", ""};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        VfBytes name;
        ck_assert_int_eq(vf_model_fresh_name(model, vf_bytes(base[i]), &name, NULL), VF_OK);
        ck_assert_str_eq(name.data, want[i]);
    }
    vf_model_free(model);
}
END_TEST

START_TEST(opsets_are_those_around_a_node)
{
    VfModel *model = read_vft("model opset=13 opset a=2\n"
                              "function l::F opset=11 (x) -> (y) { y = Relu(x) }\n"
                              "function l::G (x) -> (y) { y = Relu(x) }\n"
                              "graph (x: f32[]) -> (y) { y = If(x) {b=graph () -> () {}} }");
    const VfFunction *f = model->first_function;
    const VfGraph *branch = find_def(model, "y")->first_attr->graph;
    ck_assert_int_eq(vf_graph_opset(model->graph, vf_bytes("")), 13);
    ck_assert_int_eq(vf_graph_opset(branch, vf_bytes("a")), 2);
    ck_assert_int_eq(vf_graph_opset(branch, vf_bytes("b")), 0);
    ck_assert_int_eq(vf_graph_opset(f->body, vf_bytes("")), 11);
    ck_assert_int_eq(vf_graph_opset(f->body, vf_bytes("a")), 0);
    ck_assert_int_eq(vf_graph_opset(f->next->body, vf_bytes("")), 13);
    vf_model_free(model);
}
END_TEST

START_TEST(functions_are_found_by_all_three_parts)
{
    VfModel *model = vf_model_new();
    VfBytes d = vf_bytes("d"), n = vf_bytes("n"), o = vf_bytes("o"), none = vf_bytes("");
    VfFunction *first = vf_function_new(model, d, n, none);
    VfFunction *second = vf_function_new(model, d, n, o);
    VfFunction *third = vf_function_new(model, n, d, none);
    ck_assert_ptr_ne(vf_function_new(model, d, n, none), first);
    ck_assert_ptr_eq(vf_function_find(model, d, n, none), first);
    ck_assert_ptr_eq(vf_function_find(model, d, n, o), second);
    ck_assert_ptr_eq(vf_function_find(model, n, d, none), third);
    ck_assert_ptr_null(vf_function_find(model, n, d, o));
    vf_model_free(model);
}
END_TEST

START_TEST(labels_are_printable)
{
    VfModel *model = read_vft("graph (x: f32[]) -> (y) {\n y = Relu(x) @\"a\\n\\xff\"\n}");
    VfNode *node = find_def(model, "y");
    ck_assert_str_eq(vf_node_label(node), "a\\x0a\\xff");
    node->name = (VfBytes){"", 0};
    char want[32];
    snprintf(want, sizeof want, "Relu#%d", (int)node->id);
    ck_assert_str_eq(vf_node_label(node), want);
    ck_assert_str_eq(vf_value_label(node->out[0]), "y");
    vf_model_free(model);
}
END_TEST

/* Building, replacing and verifying do not take the square of the size: that would not end before
 * the test is stopped. */
START_TEST(large_graphs_are_built)
{
    enum { N = 100000 };
    VfModel *model = vf_model_new();
    VfType type = {VF_TYPE_TENSOR, VF_F32, VF_RANK_UNKNOWN, NULL};
    VfValue *x = vf_graph_add_input(model->graph, vf_bytes("x"), type), *last = x;
    for (int i = 0; i < N; i++) {
        char text[32];
        VfValue *in[] = {last, x};
        snprintf(text, sizeof text, "value_%d", i);
        VfBytes name = vf_bytes(text);
        VfNode *node = vf_node_new(model->graph, vf_bytes(""), vf_bytes("Add"), 2, in, 1, &name);
        vf_node_link(node, NULL);
        last = node->out[0];
    }
    VfBytes name = vf_bytes("y");
    ck_assert_int_eq(vf_graph_set_outputs(model->graph, 1, &last, &name, &type, NULL), VF_OK);
    check_well_formed(model);
    ck_assert_int_eq(x->n_use, N + 1);
    while (model->graph->last_node != NULL) {
        VfNode *node = model->graph->last_node;
        vf_value_replace_uses(node->out[0], vf_node_in(node, 0));
        vf_node_unlink(node);
    }
    ck_assert_int_eq(x->n_use, 1);
    vf_model_free(model);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("graph");
    TCase *tcase = tcase_create("graph");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, uses_are_in_order_of_linking);
    tcase_add_test(tcase, one_user_of_two_slots_is_single);
    tcase_add_test(tcase, replacing_moves_all_uses);
    tcase_add_test(tcase, a_removed_node_stays_readable);
    tcase_add_test(tcase, a_pending_node_has_no_uses);
    tcase_add_test(tcase, operands_may_be_added_to_a_linked_node);
    tcase_add_test(tcase, uses_of_subgraphs_go_with_their_owner);
    tcase_add_test(tcase, names_are_found_outwards);
    tcase_add_test(tcase, fresh_names_are_never_given_twice);
    tcase_add_test(tcase, opsets_are_those_around_a_node);
    tcase_add_test(tcase, functions_are_found_by_all_three_parts);
    tcase_add_test(tcase, labels_are_printable);
    tcase_add_test(tcase, large_graphs_are_built);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
