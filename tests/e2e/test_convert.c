/* convert: what it writes, when it writes nothing, what it says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/tool_case.h"

#define MODEL "%mnist/mnist_softmax_prepbn_op17.onnx"
#define DATA "%mnist/test_500.npz"

static double number_of(const char *text, const char *key)
{
    json_error_t error;
    json_t *document = json_loads(text, 0, &error);
    ck_assert_ptr_nonnull(document);
    double value = json_number_value(json_object_get(document, key));
    json_decref(document);
    return value;
}

START_TEST(folding_keeps_the_function)
{
    const VfToolResult *result = expect(0, "convert " MODEL " @o.onnx --check --passes "
                                           "normalize,fold-constants,fold-repbn,fold-bn");
    ck_assert_ptr_nonnull(strstr(result->out, "batch norms          9          0"));
    expect(0, "compare " MODEL " @o.onnx --dim batch=5");
    double before = number_of(expect(0, "eval --json " MODEL " -d " DATA)->out, "top1_hits");
    double after = number_of(expect(0, "eval --json @o.onnx -d " DATA)->out, "top1_hits");
    ck_assert_double_gt(before, 450);
    ck_assert_double_eq(before, after);
}
END_TEST

START_TEST(the_same_words_give_the_same_bytes)
{
    expect(0, "convert " MODEL " @a.onnx --report @a.txt");
    expect(0, "convert " MODEL " -o @b.onnx --report @b.txt");
    assert_same_file("@a.onnx", "@b.onnx");
    assert_same_file("@a.txt", "@b.txt");
}
END_TEST

START_TEST(a_file_may_be_converted_onto_itself)
{
    expect(0, "convert " MODEL " @a.onnx --passes none");
    expect(0, "convert " MODEL " @b.onnx");
    const VfToolResult *result = expect(0, "convert @a.onnx @a.onnx");
    ck_assert_ptr_nonnull(strstr(result->out, "operators          246        125"));
    expect(0, "compare @a.onnx @b.onnx --exact");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 2);
}
END_TEST

START_TEST(no_passes_change_no_bit)
{
    expect(0, "convert " MODEL " @a.onnx --passes none");
    expect(0, "compare " MODEL " @a.onnx --exact");
    expect(0, "convert @a.onnx @b.onnx --passes none");
    assert_same_file("@a.onnx", "@b.onnx");
}
END_TEST

START_TEST(external_data_goes_beside_the_model)
{
    expect(0, "convert " MODEL " @a.onnx --passes none --external-data always");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 2);
    size_t size;
    unsigned char *data = vf_tool_read(vf_tool_path(folder, "@a.onnx.data"), &size);
    ck_assert_ptr_nonnull(data);
    free(data);
    expect(0, "compare " MODEL " @a.onnx --exact");
}
END_TEST

START_TEST(a_refused_conversion_writes_nothing)
{
    expect(0, "convert " MODEL " @a.onnx --passes none");
    /* softmax-to-relu leaves nothing for a second one to change. */
    expect(0, "convert " MODEL " @relu.onnx --passes softmax-to-relu --check");
    size_t before = vf_temp_folder_count(folder);
    const VfToolResult *result =
        expect(4, "convert @relu.onnx @a.onnx --passes softmax-to-relu --strict --report @r.txt");
    ck_assert_ptr_nonnull(strstr(result->message, "softmax-to-relu found no site to change"));
    ck_assert_ptr_null(strstr(result->message, "@@")); /* no diff, which would bury it */
    ck_assert_uint_eq(vf_temp_folder_count(folder), before);
    expect(0, "compare " MODEL " @a.onnx --exact");
    result = expect(0, "convert @relu.onnx @a.onnx --passes softmax-to-relu");
    ck_assert_ptr_nonnull(strstr(result->out, "softmax-to-relu found no site to change"));
}
END_TEST

/* Opset 17 has no Gelu: that is told, but nobody could have fused one. */
START_TEST(an_operator_of_a_later_opset_is_no_refusal)
{
    const VfToolResult *result = expect(0, "convert " MODEL " @a.onnx --strict");
    ck_assert_ptr_nonnull(strstr(result->out, "opset 17 has no Gelu, which came with 20"));
}
END_TEST

/* The opset is raised first, so that the passes find its operators. */
START_TEST(the_opset_can_be_chosen)
{
    const VfToolResult *result = expect(0, "convert " MODEL " @a.onnx --opset 20 --strict --check");
    ck_assert_ptr_nonnull(strstr(result->out, "fuse-gelu       rounding       4           0"));
    expect(0, "compare " MODEL " @a.onnx --dim batch=5");
    expect(0, "convert " MODEL " @b.onnx --opset 24 --ir-version 10 --passes none");
    expect(0, "compare " MODEL " @b.onnx --exact");
    result = expect(0, "inspect --json @b.onnx");
    ck_assert_ptr_nonnull(strstr(result->out, "24"));
    size_t before = vf_temp_folder_count(folder);
    result = expect(4, "convert @a.onnx @c.onnx --opset 19");
    ck_assert_ptr_nonnull(strstr(result->message, "opset 20 cannot become 19 for 4 of the"));
    expect(2, "convert " MODEL " @c.onnx --opset 99");
    expect(2, "convert " MODEL " @c.onnx --ir-version 99");
    expect(4, "convert %onnx/full.onnx @c.onnx --ir-version 3");
    ck_assert_uint_eq(vf_temp_folder_count(folder), before);
}
END_TEST

/* What is told last may fail, too. */
START_TEST(nothing_is_left_when_the_table_cannot_be_told)
{
    expect(6, "convert " MODEL " @a.onnx --external-data always --report @r.txt "
              "--save-recipe @r.xml --json=@no/where.json");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 0);
    expect(6, "convert " MODEL " @a.onnx --report @r.html --json=@no/where.json");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 0);
}
END_TEST

START_TEST(the_journal_is_text_or_json)
{
    json_error_t error;
    size_t size;
    expect(0, "convert " MODEL " @a.onnx --passes fold-repbn --report @r.json");
    json_t *document = json_load_file(vf_tool_path(folder, "@r.json"), 0, &error);
    ck_assert_ptr_nonnull(document);
    size_t n_edit = 0, i;
    json_t *edit;
    json_array_foreach(json_object_get(document, "edits"), i, edit)
    {
        n_edit += strcmp(json_string_value(json_object_get(edit, "pass")), "fold-repbn") == 0;
        ck_assert(json_is_array(json_object_get(edit, "before")));
    }
    ck_assert_uint_eq(n_edit, 9);
    json_decref(document);
    expect(0, "convert " MODEL " @a.onnx --passes fold-repbn --report @r.txt");
    unsigned char *text = vf_tool_read(vf_tool_path(folder, "@r.txt"), &size);
    ck_assert_ptr_nonnull(text);
    text[size] = '\0';
    ck_assert_ptr_nonnull(strstr((char *)text, "\n- "));
    ck_assert_ptr_nonnull(strstr((char *)text, "\n+ "));
    free(text);
}
END_TEST

/* tests/e2e/test_page.sh looks at pages in a browser. */
START_TEST(the_journal_is_a_page)
{
    size_t size;
    expect(0, "convert " MODEL " @a.onnx --passes fold-repbn --report @r.html");
    unsigned char *text = vf_tool_read(vf_tool_path(folder, "@r.html"), &size);
    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_nonnull(memmem(text, size, "<!DOCTYPE html>\n<html lang=\"en\">", 32));
    ck_assert_ptr_nonnull(memmem(text, size, "9 places alike", 14));
    ck_assert_int_eq(memcmp(text + size - 8, "</html>\n", 8), 0);
    free(text);
}
END_TEST

START_TEST(edits_can_be_limited_and_the_graph_printed)
{
    expect(0, "convert " MODEL " @a.onnx --passes fold-repbn --stop-after 0 --report @r.txt");
    const VfToolResult *result = expect(0, "convert " MODEL " @b.onnx --print-after fold-repbn");
    ck_assert_ptr_nonnull(strstr(result->out, "BatchNormalization"));
    expect(2, "convert " MODEL " @b.onnx --print-after nothing");
}
END_TEST

START_TEST(dims_are_fixed_in_the_file)
{
    json_error_t error;
    expect(0, "convert " MODEL " @a.onnx --dim batch=2");
    const VfToolResult *result = expect(0, "inspect --json @a.onnx");
    json_t *document = json_loads(result->out, 0, &error);
    ck_assert_ptr_nonnull(document);
    json_t *model = json_array_get(json_object_get(document, "models"), 0);
    json_t *input = json_array_get(json_object_get(model, "inputs"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(input, "type")), "f32[2, 1, 28, 28]");
    json_decref(document);
    expect(0, "compare @a.onnx " MODEL);
}
END_TEST

START_TEST(quiet_says_nothing_of_what_was_written)
{
    const VfToolResult *result =
        expect(0, "convert " MODEL " @a.onnx -q --check --passes softmax-to-relu --emit-c @c");
    ck_assert_str_eq(result->out, "");
    ck_assert_str_eq(result->message, "");
    result = expect(0, "emit-c @a.onnx -o @d --quiet");
    ck_assert_str_eq(result->out, "");
    result = expect(0, "convert " MODEL " @b.onnx -q --json=@t.json");
    ck_assert_str_eq(result->out, "");
    json_decref(document_of("convert " MODEL " @b.onnx -q --json"));
    result = expect(4, "convert @a.onnx @b.onnx -q --strict --passes softmax-to-relu");
    ck_assert_str_eq(result->out, "");
    ck_assert_ptr_nonnull(strstr(result->message, "'softmax-to-relu' found no site to change"));
    ck_assert_ptr_nonnull(strstr(expect(0, "inspect -q @a.onnx")->out, "operators"));
}
END_TEST

/* The table of costs assumes 1 for open sizes, where this model has no image for its window. */
START_TEST(open_sizes_need_not_fit_the_cost_table)
{
    const VfToolResult *result = expect(0, "convert %onnx/patches.onnx @a.onnx");
    ck_assert_ptr_nonnull(strstr(result->out, "batch norms       1      0"));
    expect(0, "convert --json %onnx/patches.onnx @b.onnx");
    expect(0, "compare %onnx/patches.onnx @a.onnx --dim n=1 --dim h=4 --dim w=6");
}
END_TEST

static Suite *make_suite(void)
{
    vf_tool_need();
    Suite *suite = suite_create("convert");
    TCase *tests = tcase_create("convert");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, folding_keeps_the_function);
    tcase_add_test(tests, the_same_words_give_the_same_bytes);
    tcase_add_test(tests, a_file_may_be_converted_onto_itself);
    tcase_add_test(tests, no_passes_change_no_bit);
    tcase_add_test(tests, external_data_goes_beside_the_model);
    tcase_add_test(tests, a_refused_conversion_writes_nothing);
    tcase_add_test(tests, an_operator_of_a_later_opset_is_no_refusal);
    tcase_add_test(tests, the_opset_can_be_chosen);
    tcase_add_test(tests, nothing_is_left_when_the_table_cannot_be_told);
    tcase_add_test(tests, the_journal_is_text_or_json);
    tcase_add_test(tests, the_journal_is_a_page);
    tcase_add_test(tests, edits_can_be_limited_and_the_graph_printed);
    tcase_add_test(tests, dims_are_fixed_in_the_file);
    tcase_add_test(tests, quiet_says_nothing_of_what_was_written);
    tcase_add_test(tests, open_sizes_need_not_fit_the_cost_table);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
