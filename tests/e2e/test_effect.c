/* The numeric effect: convert with data, and compare --per-node. */
#include <string.h>

#include "tests/support/tool_case.h"

#define MODEL "%mnist/mnist_softmax_ln_op17.onnx"
#define REP "%mnist/mnist_softmax_prepbn_op17.onnx"

static json_t *stages_of(const char *words, json_t **document)
{
    *document = document_of(words);
    json_t *stages = json_object_get(json_object_get(*document, "effect"), "stages");
    ck_assert_msg(json_array_size(stages) > 0, "'%s': no stages", words);
    return stages;
}

static double number_of(const json_t *row, const char *key)
{
    json_t *number = json_object_get(row, key);
    ck_assert_msg(json_is_number(number), "no %s", key);
    return json_number_value(number);
}

static const char *string_of(const json_t *row, const char *key)
{
    const char *string = json_string_value(json_object_get(row, key));
    ck_assert_msg(string != NULL, "no %s", key);
    return string;
}

static json_t *last_of(json_t *array)
{
    return json_array_get(array, json_array_size(array) - 1);
}

/* Blocks before the site do not move at all, those behind it do; an exact pass moves nothing. */
START_TEST(blocks_move_behind_the_site)
{
    json_t *document;
    json_t *stages = stages_of("convert " MODEL " @o.onnx --passes softmax-to-relu:sites=2 "
                               "--random 3 --json", &document);
    json_t *first = json_array_get(stages, 0), *last = last_of(stages);
    json_t *blocks = json_object_get(last, "blocks");
    ck_assert_str_eq(string_of(first, "pass"), "normalize");
    ck_assert_str_eq(string_of(json_array_get(json_object_get(first, "outputs"), 0), "verdict"),
                     "equal");
    ck_assert_str_eq(string_of(last, "pass"), "softmax-to-relu");
    ck_assert_int_eq((int)number_of(last, "edits"), 1);
    ck_assert_uint_eq(json_array_size(blocks), 8);
    for (size_t i = 0; i < 8; i++) {
        json_t *row = json_array_get(blocks, i);
        ck_assert_int_eq(number_of(row, "norm_rel") > 1e-3, i >= 4);
        ck_assert_int_eq(number_of(row, "differ") > 0, i >= 4);
        ck_assert(number_of(row, "noise_norm_rel") > 0 && number_of(row, "noise_norm_rel") < 1e-5);
    }
    json_decref(document);
}
END_TEST

/* The last stage says of the outputs what compare says of the two files. */
START_TEST(agrees_with_compare)
{
    static const char *const key[] = {"max_abs", "mean_abs", "norm_rel", "cosine", "max_ulp",
                                      "noise_max_abs"};
    json_t *document;
    json_t *stages = stages_of("convert " MODEL " @o.onnx --passes default,softmax-to-relu "
                               "--random 5 --json", &document);
    json_t *mine = json_array_get(json_object_get(last_of(stages), "outputs"), 0);
    json_error_t error;
    const VfToolResult *result = expect(1, "compare " MODEL " @o.onnx --random 5 --json");
    json_t *other = json_loads(result->out, 0, &error);
    json_t *theirs = json_array_get(json_object_get(other, "outputs"), 0);
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        ck_assert_msg(json_equal(json_object_get(mine, key[i]), json_object_get(theirs, key[i])),
                      "%s", key[i]);
    ck_assert_str_eq(string_of(mine, "verdict"), "moved");
    json_decref(document);
    json_decref(other);
}
END_TEST

/* normalize-skip puts other adds in place of the old ones; they are followed. */
START_TEST(follows_replaced_blocks)
{
    json_t *document;
    json_t *stages = stages_of("convert " MODEL " @o.onnx --passes normalize-skip --random 1 "
                               "--json", &document);
    json_t *blocks = json_object_get(last_of(stages), "blocks");
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        json_t *row = json_array_get(blocks, i);
        ck_assert_msg(json_is_null(json_object_get(row, "fault")), "%s", string_of(row, "name"));
        ck_assert(number_of(row, "norm_rel") > 0.01);
    }
    json_decref(document);
}
END_TEST

START_TEST(report_and_plot)
{
    json_error_t error;
    size_t size;
    const VfToolResult *result = expect(0, "convert " REP " @o.onnx --random 1 --report @r.json "
                                           "--effect-svg @e.svg");
    ck_assert_ptr_nonnull(strstr(result->out, "numeric effect"));
    ck_assert_ptr_nonnull(strstr(result->out, "along the depth"));
    json_t *journal = json_load_file(vf_tool_path(folder, "@r.json"), 0, &error);
    ck_assert_ptr_nonnull(json_object_get(json_object_get(journal, "effect"), "stages"));
    json_decref(journal);
    char *svg = (char *)vf_tool_read(vf_tool_path(folder, "@e.svg"), &size);
    ck_assert_ptr_nonnull(svg);
    ck_assert_int_eq(strncmp(svg, "<svg ", 5), 0);
    ck_assert_ptr_nonnull(memmem(svg, size, ">noise floor<", 13));
    ck_assert_ptr_nonnull(memmem(svg, size, ">fold-bn<", 9));
    free(svg);
    json_t *document = document_of("convert " MODEL " @o.onnx --json");
    ck_assert(json_is_null(json_object_get(document, "effect")));
    json_decref(document);
}
END_TEST

START_TEST(compare_tells_depth)
{
    json_error_t error;
    expect(0, "convert " MODEL " @o.onnx --passes softmax-to-relu:sites=1");
    const VfToolResult *result =
        expect(1, "compare " MODEL " @o.onnx --random 1 --svg @c.svg --json");
    json_t *document = json_loads(result->out, 0, &error), *row;
    size_t i, n_end = 0;
    int depth = 0;
    json_array_foreach(json_object_get(document, "nodes"), i, row) {
        json_t *own = json_object_get(row, "depth");
        n_end += json_is_true(json_object_get(row, "ends_block"));
        if (json_is_integer(own) && json_integer_value(own) > depth)
            depth = (int)json_integer_value(own);
        if (json_is_integer(own) && json_integer_value(own) < 2)
            ck_assert_int_eq((int)number_of(row, "differ"), 0);
    }
    ck_assert_uint_eq(n_end, 8);
    ck_assert_int_eq(depth, 8);
    unsigned char *svg = vf_tool_read(vf_tool_path(folder, "@c.svg"), &i);
    ck_assert_ptr_nonnull(svg);
    free(svg);
    json_decref(document);
}
END_TEST

START_TEST(diff_tells_noise)
{
    json_error_t error;
    expect(0, "convert " MODEL " @o.onnx --passes fold-ln-affine");
    const VfToolResult *result = expect(1, "diff " MODEL " @o.onnx --random 1 --json");
    json_t *document = json_loads(result->out, 0, &error), *row;
    size_t i, n_noise = 0;
    json_array_foreach(json_object_get(document, "moved"), i, row)
        n_noise += number_of(row, "noise_norm_rel") > 0;
    ck_assert_uint_gt(n_noise, 20);
    json_decref(document);
}
END_TEST

START_TEST(mistakes)
{
    const VfToolResult *result = expect(2, "convert " MODEL " @o.onnx --effect-svg @e.svg");
    ck_assert_ptr_nonnull(strstr(result->message, "needs data"));
    result = expect(2, "convert " MODEL " @o.onnx --passes none --random 1 --effect-svg @e.svg");
    ck_assert_ptr_nonnull(strstr(result->message, "no effect to plot"));
    expect(2, "compare " MODEL " --expect @none.npz --svg @c.svg");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 0);
}
END_TEST

static Suite *make_suite(void)
{
    vf_tool_need();
    Suite *suite = suite_create("effect");
    TCase *tests = tcase_create("effect");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, blocks_move_behind_the_site);
    tcase_add_test(tests, agrees_with_compare);
    tcase_add_test(tests, follows_replaced_blocks);
    tcase_add_test(tests, report_and_plot);
    tcase_add_test(tests, compare_tells_depth);
    tcase_add_test(tests, diff_tells_noise);
    tcase_add_test(tests, mistakes);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
