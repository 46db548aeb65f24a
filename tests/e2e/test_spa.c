/* insert-spa, normalize-skip and transform-activation through the tool: the signal of what they
 * write, second runs on the saved file, and options that are wrong. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/tool_case.h"

#define MODEL "%mnist/mnist_softmax_ln_op17.onnx"

static json_int_t edits_of(const json_t *document, const char *pass)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(document, "passes"), i, row)
        if (strcmp(json_string_value(json_object_get(row, "pass")), pass) == 0)
            return json_integer_value(json_object_get(row, "edits"));
    ck_abort_msg("no %s", pass);
    return -1;
}

/* Mean correlation of two tokens behind layer `at`, logits at zero. */
static double correlation_of(const json_t *document, size_t at)
{
    json_t *model = json_array_get(json_object_get(document, "models"), 0);
    json_t *layer = json_array_get(json_object_get(model, "layers"), at);
    return json_number_value(json_object_get(json_object_get(layer, "zero"), "correlation"));
}

/* Without skips the kernel of the tokens ends at its target: a mean of 0.5, or what is asked. */
START_TEST(signal)
{
    static const struct {
        const char *passes;
        double wanted;
    } row[] = {
        {"insert-spa:tau=1", 0.5},
        {"insert-spa:tau=1,kernel=r,rho-bar=0.3", 0.3},
        {"insert-spa:tau=1,kernel=s", 0.5},
        {"insert-spa:tau=1,kernel=u", 0.5},
        {"insert-spa:tau=1,kernel=u,rho=0.7,fold=on", 0.7},
        /* Leaky ReLUs between the layers bring tokens together; the number is of numpy. */
        {"insert-spa:tau=1,kernel=s,transform-activation:target=0.3", 0.7463519},
        {"softmax-to-relu,insert-spa:tau=1,kernel=s", 0.5},
    };
    char words[256];
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(words, sizeof words, "convert %s @a.onnx -p %s,normalize-skip:alpha=0", MODEL,
                 row[i].passes);
        const VfToolResult *result = vf_tool_run(folder, words);
        ck_assert_msg(result->status == 0, "'%s': %s", words, result->message);
        json_t *document = document_of("inspect @a.onnx --signal --json");
        double last = 0;
        for (size_t l = 0; l < 4; l++) {
            ck_assert(correlation_of(document, l) > last);
            last = correlation_of(document, l);
        }
        ck_assert_msg(fabs(last - row[i].wanted) < 1e-5, "%s: %g", row[i].passes, last);
        json_decref(document);
    }
}
END_TEST

/* What the pass checked of its own matrices, for programs. */
START_TEST(checks_are_numbers)
{
    json_t *document = document_of("convert " MODEL " @a.onnx -p insert-spa:tau=1,kernel=s --json");
    json_t *notes = json_object_get(document, "notes"), *note;
    size_t i;
    ck_assert_uint_eq(json_array_size(notes), 4);
    json_array_foreach(notes, i, note)
    {
        json_t *numbers = json_object_get(note, "numbers");
        ck_assert(json_number_value(json_object_get(numbers, "smallest_entry")) > 0);
        ck_assert(json_is_number(json_object_get(numbers, "row_error")));
        ck_assert(json_is_number(json_object_get(numbers, "product_error")));
        ck_assert(json_number_value(json_object_get(numbers, "row_error")) < 1e-9);
        ck_assert(json_number_value(json_object_get(numbers, "product_error")) < 1e-6);
    }
    json_decref(document);
}
END_TEST

/* The saved file says what was done to it, before IR 10 too. */
START_TEST(second_run)
{
    static const char *const passes[] = {
        "insert-spa:tau=1",
        "insert-spa:tau=1,kernel=u",
        "insert-spa:tau=1,kernel=u,fold=on",
        "insert-spa:kernel=skipinit",
        "insert-spa:kernel=shaped",
        "normalize-skip:alpha=0.8",
        "transform-activation:target=0.3",
        "softmax-to-relu,insert-spa:tau=1",
        "softmax-to-relu,insert-spa:tau=1,form=multiplicative",
        "softmax-to-relu,insert-spa:tau=1,form=split",
    };
    char words[256], name[64];
    for (size_t i = 0; i < 2 * sizeof passes / sizeof passes[0]; i++) {
        const char *list = passes[i / 2];
        bool is_relu = strncmp(list, "softmax", 7) == 0;
        const char *own = is_relu ? list + strlen("softmax-to-relu,") : list;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(own, ":"), own);
        snprintf(words, sizeof words, "convert %s @a.onnx -p %s%s --json", MODEL, list,
                 i % 2 == 0 ? "" : " --ir-version 10");
        json_t *first = document_of(words);
        ck_assert_msg(edits_of(first, name) > 0, "%s", words);
        snprintf(words, sizeof words, "convert @a.onnx @b.onnx -p %s --json", own);
        json_t *second = document_of(words);
        ck_assert_msg(edits_of(second, name) == 0, "%s", words);
        json_decref(first);
        json_decref(second);
    }
}
END_TEST

START_TEST(usage)
{
    static const struct {
        const char *passes, *words;
    } row[] = {
        {"insert-spa", "option 'tau' has to be given: 0 is the old network, 1 the full bias"},
        {"insert-spa:tau=2", "option 'tau': '2' is no number from 0 to 1"},
        {"insert-spa:tau=1,grid=7", "option 'grid': '7' is neither auto nor like 14x14"},
        {"insert-spa:tau=1,prefix=x", "option 'prefix': 'x' is neither auto nor a number"},
        {"normalize-skip:alpha=1", "option 'alpha': '1' is neither depth, equal nor a number"},
        {"transform-activation:target=2", "target"},
    };
    char words[128];
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(words, sizeof words, "convert %s @a.onnx -p %s", MODEL, row[i].passes);
        const VfToolResult *result = vf_tool_run(folder, words);
        ck_assert_msg(result->status == 2, "'%s' ends with %d", words, result->status);
        ck_assert_msg(strstr(result->message, row[i].words) != NULL, "'%s': %s", words,
                      result->message);
    }
}
END_TEST

/* The check of the stack is printed and stands in the report. */
START_TEST(report)
{
    size_t size;
    const VfToolResult *result =
        vf_tool_run(folder, "convert " MODEL " @a.onnx -p insert-spa:tau=1 --report @a.json");
    ck_assert_int_eq(result->status, 0);
    ck_assert_ptr_nonnull(strstr(result->out, "layer 4 of 4"));
    ck_assert_ptr_nonnull(strstr(result->out, "product error"));
    char *text = (char *)vf_tool_read(vf_tool_path(folder, "@a.json"), &size);
    ck_assert_ptr_nonnull(text);
    json_t *document = json_loadb(text, size, 0, NULL);
    ck_assert_ptr_nonnull(document);
    json_t *edits = json_object_get(document, "edits");
    json_t *edit = json_array_get(edits, json_array_size(edits) - 1);
    const char *note = json_string_value(json_object_get(edit, "note"));
    ck_assert_ptr_nonnull(note);
    ck_assert_ptr_nonnull(strstr(note, "product error"));
    json_decref(document);
    free(text);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("spa");
    TCase *tcase = tcase_create("cases");
    vf_tool_need();
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, signal);
    tcase_add_test(tcase, checks_are_numbers);
    tcase_add_test(tcase, second_run);
    tcase_add_test(tcase, usage);
    tcase_add_test(tcase, report);
    suite_add_tcase(suite, tcase);
    return suite;
}

VF_CHECK_MAIN(make_suite)
