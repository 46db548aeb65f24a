/* convert --calibration and passes --schedule from the command line. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/tool_case.h"

#define MODEL "%mnist/mnist_softmax_ln_op17.onnx"
#define SAMPLES "%mnist/test_500.npz"

/* R2 of each norm, in the document of the conversion. The first reads tokens just embedded. */
START_TEST(least_squares)
{
    json_t *document = document_of("convert " MODEL " @a.onnx --passes ln-to-repbn --calibration "
                                   SAMPLES " --json");
    json_t *notes = json_object_get(document, "notes"), *note;
    size_t i;
    ck_assert_uint_eq(json_array_size(notes), 9);
    json_array_foreach(notes, i, note) {
        const char *text = json_string_value(json_object_get(note, "note"));
        const char *r2 = strstr(text, "R2 of an affine map ");
        ck_assert_msg(r2 != NULL && strstr(text, "25000 values a channel") != NULL, "'%s'", text);
        double number = strtod(r2 + strlen("R2 of an affine map "), NULL);
        ck_assert_msg(number > 0.7 && number < 1, "norm %zu: %g", i, number);
    }
    json_decref(document);
}
END_TEST

/* The text tells it of each norm, too; sites with one note share a line. */
START_TEST(notes_are_printed)
{
    const VfToolResult *result = vf_tool_run(
        folder, "convert " MODEL " @a.onnx --passes ln-to-repbn --calibration " SAMPLES);
    ck_assert_int_eq(count(result->out, ": init lsq, eta 1, R2 of an affine map 0."), 9);
    result = vf_tool_run(folder, "convert " MODEL " @a.onnx --passes softmax-to-relu");
    ck_assert_int_eq(count(result->out, "(4 sites): act relu, alpha 1, "), 1);
    result = vf_tool_run(folder, "convert " MODEL " @a.onnx --passes default");
    ck_assert_int_eq(count(result->out, " at "), 0);
}
END_TEST

/* lambda is no input that has to be given, and leaves the model what it was. */
START_TEST(mixed_and_back)
{
    static const char *const words[] = {
        "convert " MODEL " @a.onnx --passes progressive-norm --calibration " SAMPLES,
        "compare " MODEL " @a.onnx --exact",
        "convert @a.onnx @b.onnx --passes progressive-norm:finish=ln",
        "convert @a.onnx @c.onnx --passes progressive-norm:finish=repbn,fold-repbn,fold-bn",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const VfToolResult *result = vf_tool_run(folder, words[i]);
        ck_assert_msg(result->status == 0, "'%s': %s%s", words[i], result->out, result->message);
    }
    json_t *document = document_of("inspect @c.onnx --json");
    char *text = json_dumps(document, 0);
    ck_assert_ptr_null(strstr(text, "Normalization"));
    ck_assert_ptr_null(strstr(text, "norm_lambda"));
    free(text);
    json_decref(document);
}
END_TEST

static const struct {
    const char *words;
    int status;
    const char *message;
} mistake[] = {
    {"convert " MODEL " @a.onnx --passes ln-to-repbn", 2,
     "init is measured on calibration data, and none is given; init=default needs none"},
    {"convert " MODEL " @a.onnx --passes ln-to-repbn --calibration @none.npz", 6, "none.npz"},
    {"convert " MODEL " @a.onnx --calibration %mnist/mnist_softmax_ln_op17.onnx", 3,
     "Not a zip archive"},
    {"convert %mnist/mnist_softmax_prepbn_op17.onnx @a.onnx --passes none --calibration @z.npz", 2,
     "calibration data: no data for input"},
    {"passes fold-bn --schedule 5", 2, "only 'progressive-norm' has a schedule"},
    {"passes progressive-norm --schedule 5 --kind round", 2, "round"},
};

START_TEST(mistakes)
{
    const VfToolResult *result =
        vf_tool_run(folder, "run " MODEL " --random 1 --outputs @z.npz");
    ck_assert_msg(result->status == 0, "%s", result->message);
    result = vf_tool_run(folder, mistake[_i].words);
    ck_assert_msg(result->status == mistake[_i].status, "'%s': status %d, %s", mistake[_i].words,
                  result->status, result->message);
    ck_assert_msg(strstr(result->message, mistake[_i].message) != NULL, "'%s': %s",
                  mistake[_i].words, result->message);
}
END_TEST

START_TEST(schedule)
{
    json_t *document =
        document_of("passes progressive-norm --schedule 8 --kind step --steps 2 --json");
    json_t *rows = json_object_get(document, "rows"), *row;
    size_t i;
    ck_assert_str_eq(json_string_value(json_object_get(document, "schema")),
                     "vitfold.schedule.1");
    ck_assert_uint_eq(json_array_size(rows), 9);
    json_array_foreach(rows, i, row) {
        ck_assert_int_eq(json_integer_value(json_object_get(row, "t")), (int)i);
        double lambda = json_number_value(json_object_get(row, "lambda"));
        ck_assert(lambda == (i < 4 ? 1.0 : i < 8 ? 0.5 : 0.0));
    }
    json_decref(document);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("calibration");
    TCase *tcase = tcase_create("calibration");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, least_squares);
    tcase_add_test(tcase, notes_are_printed);
    tcase_add_test(tcase, mixed_and_back);
    tcase_add_loop_test(tcase, mistakes, 0, (int)(sizeof mistake / sizeof *mistake));
    tcase_add_test(tcase, schedule);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
