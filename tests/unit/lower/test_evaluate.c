/* The evaluator that inference and fold-constants use. */
#include "tests/support/check_main.h"
#include "tests/unit/lower/lower_case.h"

static VfStatus evaluate(LowerCase *c, const char *text, const VfTensor **out)
{
    const VfTensor *in[8];
    case_open(c, text);
    const VfNode *node = c->model->graph->first_node;
    for (int32_t i = 0; i < node->n_in; i++)
        in[i] = vf_value_const(vf_node_in(node, i));
    const VfEvaluator *evaluator = vf_evaluator();
    return evaluator->evaluate(evaluator, c->arena, node, in, out, &c->err);
}

START_TEST(computes_one_node)
{
    LowerCase c;
    const VfTensor *out[2] = {NULL, NULL};
    VfStatus status = evaluate(&c, "graph g () -> (y: f32[2, 2]) {\n"
                                   "    a = const f32[2, 2] {1, 2, 3, 4}\n"
                                   "    b = const f32[2, 1] {10, 20}\n"
                                   "    y = Add(a, b)\n"
                                   "}\n", out);
    ck_assert_msg(status == VF_OK, "%s", c.err.text);
    static const float want[] = {11, 12, 23, 24};
    ck_assert_int_eq(out[0]->rank, 2);
    ck_assert_mem_eq(out[0]->data, want, sizeof want);
    case_close(&c);
}
END_TEST

START_TEST(views_become_data)
{
    LowerCase c;
    const VfTensor *out[2] = {NULL, NULL};
    VfStatus status = evaluate(&c, "graph g () -> (y: i64[3, 2]) {\n"
                                   "    a = const i64[2, 3] {1, 2, 3, 4, 5, 6}\n"
                                   "    y = Transpose(a)\n"
                                   "}\n", out);
    ck_assert_msg(status == VF_OK, "%s", c.err.text);
    static const int64_t want[] = {1, 4, 2, 5, 3, 6};
    ck_assert_mem_eq(out[0]->data, want, sizeof want);
    case_close(&c);
}
END_TEST

START_TEST(several_results)
{
    LowerCase c;
    const VfTensor *out[2] = {NULL, NULL};
    VfStatus status = evaluate(&c, "graph g () -> (v: f32[1], i: i64[1]) {\n"
                                   "    a = const f32[3] {1, 7, 3}\n"
                                   "    k = const i64[1] {1}\n"
                                   "    v, i = TopK(a, k)\n"
                                   "}\n", out);
    ck_assert_msg(status == VF_OK, "%s", c.err.text);
    ck_assert_double_eq(vf_tensor_get_double(out[0], 0), 7);
    ck_assert_int_eq(vf_tensor_get_i64(out[1], 0), 1);
    case_close(&c);
}
END_TEST

START_TEST(an_index_outside_its_axis_is_told)
{
    LowerCase c;
    const VfTensor *out[2] = {NULL, NULL};
    VfStatus status = evaluate(&c, "graph g () -> (y: f32[1]) {\n"
                                   "    a = const f32[3] {1, 7, 3}\n"
                                   "    k = const i64[1, 1] {3}\n"
                                   "    y = GatherND(a, k) @n\n"
                                   "}\n", out);
    ck_assert_int_eq(status, VF_INVALID);
    ck_assert_str_eq(c.err.text, "node 'n': index 3 lies outside an axis of 3");
    case_close(&c);
}
END_TEST

static const char *const refused[] = {
    "model opset=17 opset my=1\ngraph g () -> (y: f32[1]) { a = const f32[1] {1}; y = my::f(a) }\n",
    "graph g () -> (y: f32[2]) { y = RandomNormal() {shape=[2]} }\n",
};

START_TEST(refuses_what_is_no_function_of_known_operands)
{
    LowerCase c;
    const VfTensor *out[2] = {NULL, NULL};
    ck_assert_int_eq(evaluate(&c, refused[_i], out), VF_UNSUPPORTED);
    ck_assert_uint_gt(strlen(c.err.text), 0);
    case_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("lower/evaluate");
    TCase *tcase = tcase_create("cases");
    tcase_add_test(tcase, computes_one_node);
    tcase_add_test(tcase, views_become_data);
    tcase_add_test(tcase, several_results);
    tcase_add_test(tcase, an_index_outside_its_axis_is_told);
    tcase_add_loop_test(tcase, refuses_what_is_no_function_of_known_operands, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
