/* inspect: costs by operator, models side by side. */
#include <string.h>

#include "tests/support/tool_case.h"
#include "tests/support/vft_file.h"

#define MODEL "%mnist/mnist_softmax_prepbn_op17.onnx"
#define OTHER "%mnist/mnist_softmax_ln_op17.onnx"

static double number(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "no number '%s'", key);
    return json_number_value(value);
}

static json_t *cost_in(json_t *document, size_t model)
{
    return json_object_get(json_array_get(json_object_get(document, "models"), model), "cost");
}

static json_t *row_of(json_t *cost, const char *op)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(cost, "by_operator"), i, row)
        if (strcmp(json_string_value(json_object_get(row, "operator")), op) == 0)
            return row;
    ck_abort_msg("no row of %s", op);
    return NULL;
}

/* The rows add up to the whole. */
START_TEST(operators_add_up)
{
    json_t *document = document_of("inspect --json " MODEL " " OTHER);
    for (size_t m = 0; m < 2; m++) {
        json_t *cost = cost_in(document, m), *row;
        double flops = 0, parameters = 0, bytes = 0, last = 1e300;
        size_t i;
        json_array_foreach(json_object_get(cost, "by_operator"), i, row)
        {
            flops += number(row, "flops");
            parameters += number(row, "parameters");
            bytes += number(row, "parameter_bytes");
            ck_assert_double_le(number(row, "flops"), last);
            last = number(row, "flops");
        }
        ck_assert_double_eq(flops, number(cost, "flops"));
        ck_assert_double_eq(parameters, number(cost, "parameters"));
        ck_assert_double_eq(bytes, number(cost, "parameter_bytes"));
    }
    json_decref(document);
}
END_TEST

/* By hand: 2*3*4*5 flops in each product, 20 weights shared by both; a Relu of 15 results; a view
 * has none. */
START_TEST(costs_by_hand)
{
    vf_vft_file(vf_tool_path(folder, "@in.onnx"),
                "graph g (x: f32[3, 4]) -> (y: f32[15], z: f32[3, 5]) {\n"
                "    w = const f32[4, 5] random(1); s = const i64[1] {15}\n"
                "    a = MatMul(x, w); z = Relu(a)\n"
                "    n = Neg(x); b = MatMul(n, w); y = Reshape(b, s)\n"
                "}\n");
    json_t *document = document_of("inspect --json @in.onnx");
    json_t *cost = cost_in(document, 0), *product = row_of(cost, "MatMul");
    ck_assert_double_eq(number(product, "nodes"), 2);
    ck_assert_double_eq(number(product, "flops"), 2 * 120);
    ck_assert_double_eq(number(product, "parameters"), 20);
    ck_assert_double_eq(number(product, "parameter_bytes"), 80);
    ck_assert_double_eq(number(product, "result_bytes"), 2 * 60);
    ck_assert_double_eq(number(row_of(cost, "Relu"), "flops"), 15);
    ck_assert_double_eq(number(row_of(cost, "Reshape"), "result_bytes"), 0);
    json_decref(document);
    const VfToolResult *result = expect(0, "inspect @in.onnx");
    const char *line = "MatMul       2    240  89.9%          20     80 B    120 B";
    ck_assert_msg(strstr(result->out, line) != NULL, "%s", result->out);
}
END_TEST

/* All models are shown, in tables of six, without the folder they share. */
START_TEST(side_by_side)
{
    const VfToolResult *result = expect(0, "inspect " MODEL " " OTHER " " MODEL " " OTHER " " MODEL
                                           " " OTHER " " MODEL " " OTHER);
    int n = 0;
    for (const char *at = strstr(result->out, " mnist_softmax_"); at != NULL;
         at = strstr(at + 1, " mnist_softmax_"))
        n++;
    ck_assert_int_eq(n, 8);
    ck_assert_ptr_nonnull(strstr(result->out, "\n\n"));
    ck_assert_ptr_nonnull(strstr(result->out, "opset"));
    ck_assert_ptr_nonnull(strstr(result->out, "flops in MatMul"));
}
END_TEST

static Suite *make_suite(void)
{
    vf_tool_need();
    Suite *suite = suite_create("inspect");
    TCase *tests = tcase_create("inspect");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, operators_add_up);
    tcase_add_test(tests, costs_by_hand);
    tcase_add_test(tests, side_by_side);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
