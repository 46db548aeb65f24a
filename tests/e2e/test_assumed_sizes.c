/* Models that fit only some sizes of an open dimension: costs are told for 1, conversions are not
 * about costs. */
#include <string.h>

#include "tests/support/tool_case.h"
#include "tests/support/vft_file.h"

typedef struct Misfit {
    const char *what, *text;
} Misfit;

static const Misfit misfit[] = {
    {"an output is declared as another size",
     "graph g (x: f32[N, 4]) -> (y: f32[4, 4]) {\n"
     "    y = Relu(x)\n"
     "}\n"},
    {"the sizes of a Reshape are another number of elements",
     "graph g (x: f32[N, 4]) -> (y: f32[2, 8]) {\n"
     "    s = const i64[2] {2, 8}\n"
     "    y = Reshape(x, s)\n"
     "}\n"},
    {"clean-up has something to compute before the output is looked at",
     "graph g (x: f32[N, 4]) -> (y: f32[4, 4], p: f32[4]) {\n"
     "    zero = const i64[] {0}; one = const i64[] {1}\n"
     "    s = Shape(x); n = Gather(s, zero) {axis=0}\n"
     "    r = Range(zero, n, one); f = Cast(r) {to=1}\n"
     "    p = MatMul(f, x)\n"
     "    y = Relu(x)\n"
     "}\n"},
    {"only computing tells the size",
     "graph g (x: f32[N, 4]) -> (y: i64[2, 16]) {\n"
     "    s = Shape(x)\n"
     "    k = ConstantOfShape(s) {value=tensor i64[1] {1}}\n"
     "    y = NonZero(k)\n"
     "}\n"},
};

enum { N_MISFIT = sizeof misfit / sizeof misfit[0] };

START_TEST(costs_that_are_not_known_are_no_failure)
{
    static const char said[] =
        "costs are not known for N = 1, which the model does not fit: give a size with --dim";
    const Misfit *one = &misfit[_i];
    vf_vft_file(vf_tool_path(folder, "@in.onnx"), one->text);
    const VfToolResult *result = expect(0, "convert @in.onnx @out.onnx");
    ck_assert_msg(strstr(result->out, said) != NULL, "%s:\n%s", one->what, result->out);
    ck_assert_msg(strstr(result->out, "flops             ?      ?") != NULL, "%s:\n%s", one->what,
                  result->out);
    expect(0, "compare @in.onnx @out.onnx --dim N=4");
    result = expect(0, "inspect @in.onnx");
    ck_assert_msg(strstr(result->out, said) != NULL, "%s:\n%s", one->what, result->out);
    json_t *document = document_of("convert @in.onnx @out.onnx --json");
    json_t *after = json_object_get(document, "after");
    ck_assert(json_is_null(json_object_get(after, "flops")));
    ck_assert(json_is_null(json_object_get(after, "activation_bytes")));
    json_decref(document);
}
END_TEST

START_TEST(a_size_that_fits_has_costs)
{
    vf_vft_file(vf_tool_path(folder, "@in.onnx"), misfit[_i].text);
    const VfToolResult *result = expect(0, "convert @in.onnx @out.onnx --dim N=4");
    ck_assert_ptr_null(strstr(result->out, "costs are not known"));
    expect(3, "convert @in.onnx @out.onnx --dim N=3");
}
END_TEST

/* Without an open size it is the model that is wrong, which only computing tells. */
START_TEST(a_wrong_declaration_is_the_fault_of_the_model)
{
    vf_vft_file(vf_tool_path(folder, "@in.onnx"),
                "graph g (x: f32[1]) -> (y: i64[2, 16]) {\n"
                "    s = const i64[2] {1, 4}\n"
                "    k = ConstantOfShape(s) {value=tensor i64[1] {1}}\n"
                "    y = NonZero(k)\n"
                "}\n");
    const VfToolResult *result = expect(3, "convert @in.onnx @out.onnx");
    ck_assert_ptr_nonnull(
        strstr(result->message, "value 'y' is declared i64[2, 16] but must be i64[2, 4]"));
}
END_TEST

static Suite *make_suite(void)
{
    vf_tool_need();
    Suite *suite = suite_create("assumed sizes");
    TCase *tests = tcase_create("assumed sizes");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, costs_that_are_not_known_are_no_failure, 0, N_MISFIT);
    tcase_add_loop_test(tests, a_size_that_fits_has_costs, 0, N_MISFIT);
    tcase_add_test(tests, a_wrong_declaration_is_the_fault_of_the_model);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
