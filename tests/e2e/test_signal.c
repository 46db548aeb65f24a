/* inspect --signal: table, JSON, plot, one model and two. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/tool_case.h"

#define MODEL "%mnist/mnist_softmax_ln_op17.onnx"
#define OTHER "%mnist/mnist_softmax_prepbn_op17.onnx"

static json_t *signal_of(const char *words)
{
    json_t *document = document_of(words);
    ck_assert_str_eq(json_string_value(json_object_get(document, "schema")), "vitfold.signal.1");
    return document;
}

static json_t *layer_of(const json_t *document, size_t model, size_t layer)
{
    json_t *layers =
        json_object_get(json_array_get(json_object_get(document, "models"), model), "layers");
    ck_assert_uint_eq(json_array_size(layers), 4);
    return json_array_get(layers, layer);
}

static double zero_of(const json_t *layer, const char *key)
{
    json_t *number = json_object_get(json_object_get(layer, "zero"), key);
    ck_assert_msg(json_is_number(number), "no %s", key);
    return json_number_value(number);
}

/* 50 tokens, pre-norm, plain skips: behind the first attention the kernel is I + 11ᵀ/50. */
START_TEST(json)
{
    static const char *const key[] = {"layer", "name", "attention", "tokens", "zero", "data",
                                      "note"};
    json_t *document = signal_of("inspect " MODEL " --signal --json");
    json_t *layer = layer_of(document, 0, 0);
    const char *found;
    json_t *value;
    size_t i = 0;
    json_object_foreach(layer, found, value)
        ck_assert_str_eq(found, key[i++]);
    ck_assert_int_eq(json_integer_value(json_object_get(layer, "tokens")), 50);
    ck_assert(fabs(zero_of(layer, "correlation") - 0.02 / 1.02) < 1e-7);
    ck_assert(fabs(zero_of(layer, "effective_rank") -
                   2500 / (50 + 50 * 49 * 0.02 * 0.02 / 1.02 / 1.02)) < 1e-5);
    ck_assert(fabs(zero_of(layer, "diagonal_low") - 1.02) < 1e-7);
    ck_assert(fabs(zero_of(layer, "diagonal_high") - 1.02) < 1e-7);
    ck_assert(zero_of(layer, "matrix_rank") == 1);
    ck_assert(json_is_null(json_object_get(layer, "data")));
    for (size_t l = 1; l < 4; l++) /* plain softmax brings tokens together */
        ck_assert(zero_of(layer_of(document, 0, l), "correlation") >
                  zero_of(layer_of(document, 0, l - 1), "correlation"));
    json_decref(document);
}
END_TEST

/* On 500 digits; the numbers are those of another implementation (NumPy on another runtime). */
START_TEST(measured)
{
    static const struct {
        double correlation, rank, low, high, matrix_rank;
    } wanted[] = {
        {0.327575796, 3.282402947, 0.019953447, 1.234377801, 47.03125},
        {0.394803949, 2.931503037, 0.174479648, 1.648919948, 41.34375},
        {0.485052312, 2.621899869, 0.338799515, 2.428389316, 39.40625},
        {0.570388246, 2.343256625, 0.456284349, 4.790728752, 39.6875},
    };
    json_t *document =
        signal_of("inspect " MODEL " --signal --inputs %mnist/test_500.npz --json");
    json_t *model = json_array_get(json_object_get(document, "models"), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(model, "samples")), 500);
    for (size_t l = 0; l < 4; l++) {
        double correlation, rank, low, high, matrix_rank;
        json_t *data = json_object_get(layer_of(document, 0, l), "data");
        ck_assert_int_eq(json_unpack(data, "{s:F, s:F, s:F, s:F, s:F}", "correlation",
                                     &correlation, "effective_rank", &rank, "diagonal_low", &low,
                                     "diagonal_high", &high, "matrix_rank", &matrix_rank), 0);
        ck_assert(fabs(correlation - wanted[l].correlation) < 1e-5);
        ck_assert(fabs(rank - wanted[l].rank) < 1e-4);
        ck_assert(fabs(low - wanted[l].low) < 1e-4);
        ck_assert(fabs(high - wanted[l].high) < 1e-4);
        ck_assert(fabs(matrix_rank - wanted[l].matrix_rank) < 0.5); /* rounding moves a few */
    }
    json_decref(document);
}
END_TEST

START_TEST(two_models)
{
    json_t *document = signal_of("inspect " MODEL " " OTHER " --signal --json");
    ck_assert_uint_eq(json_array_size(json_object_get(document, "models")), 2);
    ck_assert(zero_of(layer_of(document, 1, 0), "correlation") > 0);
    json_decref(document);
    const VfToolResult *result = vf_tool_run(folder, "inspect " MODEL " " OTHER " --signal");
    ck_assert_ptr_nonnull(strstr(result->out, "side by side"));
    ck_assert_ptr_nonnull(strstr(result->out, "correlation 2"));
}
END_TEST

START_TEST(table)
{
    const VfToolResult *result = vf_tool_run(folder, "inspect " MODEL " --signal");
    ck_assert_int_eq(result->status, 0);
    ck_assert_ptr_nonnull(strstr(
        result->out, "  0  softmax        50       0.0196  49.1  1.02..1.02        1.0  "));
    ck_assert_ptr_null(strstr(result->out, "side by side"));
    result = vf_tool_run(folder, "inspect %onnx/plain.onnx --signal");
    ck_assert_int_eq(result->status, 0);
    ck_assert_ptr_nonnull(strstr(result->out, "no attention"));
}
END_TEST

/* One line in each of the two panels for each model; the same bytes every time. */
START_TEST(plot)
{
    size_t size;
    char *first;
    const VfToolResult *result =
        vf_tool_run(folder, "inspect " MODEL " " OTHER " --signal-svg @s.svg --quiet");
    ck_assert_msg(result->status == 0, "%s", result->message);
    ck_assert_ptr_nonnull(strstr(result->out, "side by side"));
    first = (char *)vf_tool_read(vf_tool_path(folder, "@s.svg"), &size);
    ck_assert_ptr_nonnull(first);
    char *text = calloc(size + 1, 1);
    memcpy(text, first, size);
    ck_assert_int_eq(strncmp(text, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39), 0);
    ck_assert_str_eq(text + size - 7, "</svg>\n");
    ck_assert_int_eq(count(text, "<text"), count(text, "</text>"));
    ck_assert_int_eq(count(text, "stroke-linecap"), 4);
    ck_assert_int_eq(count(text, "mnist_softmax"), 2);
    ck_assert_int_eq(count(text, "href"), 0);
    ck_assert_int_eq(count(text, "nan"), 0);
    vf_tool_run(folder, "inspect " MODEL " " OTHER " --signal-svg @t.svg");
    size_t again_size;
    char *again = (char *)vf_tool_read(vf_tool_path(folder, "@t.svg"), &again_size);
    ck_assert_uint_eq(again_size, size);
    ck_assert_int_eq(memcmp(again, first, size), 0);
    free(again);
    free(first);
    free(text);
}
END_TEST

static const struct {
    const char *words;
    int status;
    const char *message;
} refusal[] = {
    {"inspect " MODEL " --inputs %mnist/test_500.npz", 2, "option 'inputs' needs --signal"},
    {"inspect " MODEL " --signal-svg @no/such/s.svg", 6, "cannot write"},
    {"inspect " MODEL " --signal --inputs @none.npz", 6, "none.npz"},
    {"inspect " MODEL " @none.onnx --signal", 6, "none.onnx"},
};

START_TEST(refusals)
{
    const VfToolResult *result = vf_tool_run(folder, refusal[_i].words);
    ck_assert_msg(result->status == refusal[_i].status, "'%s': %d, %s", refusal[_i].words,
                  result->status, result->message);
    ck_assert_msg(strstr(result->message, refusal[_i].message) != NULL, "%s", result->message);
    ck_assert_str_eq(result->out, "");
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("e2e/signal");
    TCase *tcase = tcase_create("signal");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, json);
    tcase_add_test(tcase, measured);
    tcase_add_test(tcase, two_models);
    tcase_add_test(tcase, table);
    tcase_add_test(tcase, plot);
    tcase_add_loop_test(tcase, refusals, 0, sizeof refusal / sizeof refusal[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
