/* convert --emit-c: model and program appear together or not at all. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/tool_case.h"
#include "tests/support/vft_file.h"

#define MODEL "%mnist/mnist_softmax_prepbn_op17.onnx"

/* No kernel knows the operator. */
static const char unknown[] = "model opset=17 opset com.acme=1\n"
                              "graph g (x: f32[2, 4]) -> (y: f32[2, 4]) {\n"
                              "    y = com.acme::Mystery(x)\n"
                              "}\n";

START_TEST(nothing_appears_when_there_is_no_program)
{
    vf_vft_file(vf_tool_path(folder, "@in.onnx"), unknown);
    expect(4, "convert @in.onnx @out.onnx --emit-c @c --report @r.txt --save-recipe @r.xml");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 1);
    expect(4, "convert @in.onnx @out.onnx --emit-c @c --external-data always");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 1);
}
END_TEST

START_TEST(what_was_there_stays_when_there_is_no_program)
{
    size_t before, after;
    vf_vft_file(vf_tool_path(folder, "@in.onnx"), unknown);
    expect(0, "convert " MODEL " @out.onnx");
    free(vf_tool_read(vf_tool_path(folder, "@out.onnx"), &before));
    expect(4, "convert @in.onnx @out.onnx --emit-c @c");
    free(vf_tool_read(vf_tool_path(folder, "@out.onnx"), &after));
    ck_assert_uint_eq(before, after);
    ck_assert_uint_eq(vf_temp_folder_count(folder), 2);
}
END_TEST

/* Neither does a folder that is something else's give way. */
START_TEST(nothing_appears_when_the_folder_is_taken)
{
    ck_assert_int_eq(mkdir(vf_tool_path(folder, "@c"), 0777), 0);
    expect(0, "convert " MODEL " @c/other.onnx --passes none");
    expect(2, "convert " MODEL " @out.onnx --emit-c @c");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 1);
}
END_TEST

/* Nor is a program left when the table cannot be told, which comes later. */
START_TEST(nothing_appears_when_the_table_cannot_be_told)
{
    expect(6, "convert " MODEL " @out.onnx --emit-c @c --json=@no/where.json");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 0);
}
END_TEST

START_TEST(the_program_is_that_of_the_file)
{
    const VfToolResult *result =
        expect(0, "convert " MODEL " @out.onnx --external-data always --emit-c @c");
    ck_assert_ptr_nonnull(strstr(result->out, "/out.onnx\n  code "));
    ck_assert_ptr_null(strstr(result->out, ".tmp"));
    ck_assert_uint_eq(vf_temp_folder_count(folder), 3); /* out.onnx, its data, the program */
    expect(0, "emit-c @out.onnx -o @d");
    size_t n_c, n_d;
    unsigned char *c = vf_tool_read(vf_tool_path(folder, "@c/FILES"), &n_c);
    unsigned char *d = vf_tool_read(vf_tool_path(folder, "@d/FILES"), &n_d);
    ck_assert_uint_eq(n_c, n_d);
    ck_assert_int_eq(memcmp(c, d, n_c), 0);
    free(c);
    free(d);
}
END_TEST

START_TEST(a_file_may_be_converted_onto_itself)
{
    expect(0, "convert " MODEL " @a.onnx --passes none");
    expect(0, "convert @a.onnx @a.onnx --emit-c @c");
    expect(0, "convert @a.onnx @a.onnx --emit-c @c");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 2);
}
END_TEST

static Suite *make_suite(void)
{
    vf_tool_need();
    Suite *suite = suite_create("convert --emit-c");
    TCase *tests = tcase_create("convert --emit-c");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, nothing_appears_when_there_is_no_program);
    tcase_add_test(tests, what_was_there_stays_when_there_is_no_program);
    tcase_add_test(tests, nothing_appears_when_the_folder_is_taken);
    tcase_add_test(tests, nothing_appears_when_the_table_cannot_be_told);
    tcase_add_test(tests, the_program_is_that_of_the_file);
    tcase_add_test(tests, a_file_may_be_converted_onto_itself);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
