/* bisect: what it finds is what convert and compare say of the same edits. */
#include <stdio.h>
#include <string.h>

#include "tests/support/tool_case.h"

#define MODEL "%mnist/mnist_softmax_ln_op17.onnx"
#define DATA "%mnist/test_500.npz"

/* Words behind the model, exit status, a part of what is printed, a part of the message. */
static const struct {
    const char *words;
    int status;
    const char *out, *message;
} row[] = {
    {"--passes default --random 1 --metric rel --threshold 1e-5", 0, "nothing breaks", ""},
    {"--passes none --random 1 --metric max-abs --threshold 0", 0, "nothing breaks", ""},
    {"--passes default --random 1 --metric max-abs --threshold 0", 1, "fold-ln-affine breaks",
     "fold-ln-affine breaks a threshold"},
    {"--passes default --random 1 --metric max-abs --threshold -1", 1, "clean-up breaks",
     "clean-up breaks"},
    {"--passes softmax-to-relu --random 1 --metric cosine --threshold 0.99", 1, "edit 3 of 4",
     "softmax-to-relu"},
    {"--passes softmax-to-relu:sites=3 --metric max-abs --threshold 1e9 --metric rel "
     "--threshold 1e-3", 1, "site    /blocks.3/attn/Softmax", "softmax-to-relu"},
    {"--passes softmax-to-relu:gain=3.4e38 --random 1 --metric ulp --threshold 1e300", 1,
     "not finite", "softmax-to-relu"},
    {"--passes softmax-to-relu --samples 100 --data " DATA " --metric accuracy --threshold 0.99",
     1, "accuracy", "breaks"},
    {"--passes default --random 1", 2, "", "--metric and --threshold"},
    {"--passes default --random 1 --metric rel", 2, "", "--metric and --threshold"},
    {"--passes default --random 1 --metric rel --threshold x", 2, "", "'x' is not a number"},
    {"--passes default --random 1 --metric size --threshold 1", 2, "", "unknown metric 'size'"},
    {"--passes default --random 1 --metric accuracy --threshold 1", 2, "", "needs labelled data"},
    {"--passes default --random 1 --data " DATA " --metric rel --threshold 1", 2, "",
     "one of both"},
    {"--passes nothing --random 1 --metric rel --threshold 1", 2, "", "unknown pass 'nothing'"},
    {"--data @none.npz --metric rel --threshold 1", 6, "", "none.npz"},
};

START_TEST(statuses)
{
    char words[600];
    snprintf(words, sizeof words, "bisect %s %s", MODEL, row[_i].words);
    const VfToolResult *result = expect(row[_i].status, words);
    ck_assert_msg(strstr(result->out, row[_i].out) != NULL, "'%s': %s", words, result->out);
    ck_assert_msg(strstr(result->message, row[_i].message) != NULL, "'%s': %s", words,
                  result->message);
}
END_TEST

/* What compare says of the original and its first `n_edit` edits. */
static double relative_after(int n_edit)
{
    char words[300];
    json_error_t error;
    snprintf(words, sizeof words,
             "convert %s @o.onnx --passes default,softmax-to-relu --stop-after %d", MODEL, n_edit);
    expect(0, words);
    const VfToolResult *result = vf_tool_run(folder, "compare " MODEL " @o.onnx --random 4 --json");
    json_t *document = json_loads(result->out, 0, &error);
    json_t *output = json_array_get(json_object_get(document, "outputs"), 0);
    double value = json_number_value(json_object_get(output, "norm_rel"));
    json_decref(document);
    return value;
}

START_TEST(agrees_with_convert)
{
    static const char *const threshold[] = {"0.05", "0.1", "0.2", "0.3"};
    char words[300];
    json_error_t error;
    snprintf(words, sizeof words,
             "bisect %s --passes default,softmax-to-relu --random 4 --metric rel "
             "--threshold %s --json", MODEL, threshold[_i]);
    const VfToolResult *result = expect(1, words);
    json_t *document = json_loads(result->out, 0, &error);
    json_t *found = json_object_get(document, "found");
    json_t *before = json_object_get(found, "before"), *after = json_object_get(found, "after");
    ck_assert(json_is_true(json_object_get(document, "complete")));
    ck_assert_str_eq(json_string_value(json_object_get(found, "pass")), "softmax-to-relu");
    ck_assert(json_equal(json_object_get(found, "first_edit"),
                         json_object_get(found, "last_edit")));
    int n_edit = (int)json_integer_value(json_object_get(after, "edits"));
    ck_assert_int_eq((int)json_integer_value(json_object_get(before, "edits")), n_edit - 1);
    double low = json_number_value(json_object_get(before, "rel"));
    double high = json_number_value(json_object_get(after, "rel")), limit;
    ck_assert_int_eq(sscanf(threshold[_i], "%lf", &limit), 1);
    ck_assert(low <= limit && limit < high);
    ck_assert(relative_after(n_edit - 1) == low);
    ck_assert(relative_after(n_edit) == high);
    json_decref(document);
}
END_TEST

static Suite *make_suite(void)
{
    vf_tool_need();
    Suite *suite = suite_create("bisect");
    TCase *tests = tcase_create("bisect");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, statuses, 0, (int)(sizeof row / sizeof row[0]));
    tcase_add_loop_test(tests, agrees_with_convert, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
