/* sensitivity: each site alone as convert and eval see it, budgets and their recipes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/tool_case.h"

#define MODEL "%mnist/mnist_softmax_ln_op17.onnx"
#define REP "%mnist/mnist_softmax_prepbn_op17.onnx"
#define DATA "%mnist/test_500.npz"

/* Words, exit status, a part of what is printed, a part of the message. */
static const struct {
    const char *words;
    int status;
    const char *out, *message;
} row[] = {
    {MODEL " --pass fold-ln-affine --random 1", 0, "noise floor", ""},
    {MODEL " --pass fold-bn --random 1", 0, "there are no sites", ""},
    {MODEL " --pass fuse-gelu --random 1", 0, "site 3 '/blocks.3/Mul_1' is left alone: opset 17",
     ""},
    {MODEL " --pass softmax-to-relu:act=gelu,sites=1-2 --random 1 --svg @s.svg", 0,
     "/blocks.2/attn/Softmax", ""},
    {MODEL " --pass softmax-to-relu --random 1 --budget 1e-9 --save-recipe @r.xml", 1,
     "no site fits within 1e-09", "no site fits"},
    {MODEL " --random 1", 2, "", "needs --pass"},
    {MODEL " --pass default --random 1", 2, "", "passes, sensitivity takes one"},
    {MODEL " --pass nothing --random 1", 2, "", "unknown pass 'nothing'"},
    {MODEL " --pass fold-bn --random 1 --save-recipe @r.xml", 2, "", "needs --budget"},
    {MODEL " --pass fold-bn --random 1 --budget -1", 2, "", "'-1' is not a number from 0 on"},
    {MODEL " --pass fold-bn --random 1 --metric accuracy", 2, "", "needs labelled data"},
    {MODEL " --pass fold-bn --random 1 --svg @s.svg", 2, "", "nothing to plot"},
    {MODEL " --pass softmax-to-relu --data @none.npz", 6, "", "none.npz"},
};

START_TEST(statuses)
{
    char words[600];
    snprintf(words, sizeof words, "sensitivity %s", row[_i].words);
    const VfToolResult *result = expect(row[_i].status, words);
    ck_assert_msg(strstr(result->out, row[_i].out) != NULL, "'%s': %s", words, result->out);
    ck_assert_msg(strstr(result->message, row[_i].message) != NULL, "'%s': %s", words,
                  result->message);
}
END_TEST

static double number_of(const json_t *object, const char *key)
{
    json_t *number = json_object_get(object, key);
    ck_assert_msg(json_is_number(number), "no %s", key);
    return json_number_value(number);
}

/* Accuracy on the labelled data of what convert makes with `words`. */
static double accuracy_after(const char *words)
{
    char line[400];
    snprintf(line, sizeof line, "convert %s @o.onnx %s", MODEL, words);
    expect(0, line);
    json_t *document = document_of("eval @o.onnx --data " DATA " --json");
    double accuracy = number_of(document, "top1");
    json_decref(document);
    return accuracy;
}

START_TEST(agrees_with_convert_and_eval)
{
    json_t *document =
        document_of("sensitivity " MODEL " --pass softmax-to-relu --data " DATA " --json");
    json_t *sites = json_object_get(document, "sites"), *site;
    size_t i;
    int worst = -1;
    double least = 2, before = INFINITY;
    ck_assert_uint_eq(json_array_size(sites), 4);
    json_array_foreach(sites, i, site) {
        char words[100];
        int index = (int)number_of(site, "site");
        snprintf(words, sizeof words, "--passes softmax-to-relu:sites=%d", index);
        double accuracy = accuracy_after(words);
        ck_assert(accuracy == number_of(site, "accuracy"));
        ck_assert(number_of(site, "loss") <= before);
        before = number_of(site, "loss");
        if (accuracy < least) {
            least = accuracy;
            worst = index;
        }
    }
    ck_assert_int_eq((int)number_of(json_array_get(sites, 0), "site"), worst);
    json_decref(document);
}
END_TEST

START_TEST(recipe_keeps_the_budget)
{
    json_t *document = document_of("sensitivity " MODEL " --pass softmax-to-relu --data " DATA
                                   " --budget 0.05 --save-recipe @r.xml --json");
    json_t *budget = json_object_get(document, "budget");
    double original = number_of(json_object_get(document, "original"), "accuracy");
    ck_assert(json_is_true(json_object_get(budget, "verified")));
    ck_assert(number_of(budget, "loss") <= 0.05);
    double accuracy = accuracy_after("--recipe @r.xml");
    ck_assert(accuracy == number_of(json_object_get(budget, "together"), "accuracy"));
    ck_assert(fabs(original - accuracy - number_of(budget, "loss")) < 1e-12);
    size_t size;
    char *recipe = (char *)vf_tool_read(vf_tool_path(folder, "@r.xml"), &size), sites[60];
    ck_assert_ptr_nonnull(recipe);
    snprintf(sites, sizeof sites, "sites=\"%s\"",
             json_string_value(json_object_get(budget, "sites")));
    ck_assert_ptr_nonnull(memmem(recipe, size, sites, strlen(sites)));
    free(recipe);
    json_decref(document);
}
END_TEST

/* A number means one site, however many edits it takes to reach a fixed point. */
START_TEST(one_number_is_one_site)
{
    static const char *const pass[] = {"fold-repbn", "fold-bn", "normalize-skip",
                                       "linearize-attention"};
    char words[200];
    snprintf(words, sizeof words, "sensitivity %s --pass %s --random 1 --json", REP, pass[_i]);
    json_t *document = document_of(words), *site;
    size_t i;
    ck_assert_uint_gt(json_array_size(json_object_get(document, "sites")), 0);
    json_array_foreach(json_object_get(document, "sites"), i, site)
        ck_assert_msg(number_of(site, "edits") == 1, "%s: site %d: %g edits", pass[_i],
                      (int)number_of(site, "site"), number_of(site, "edits"));
    json_decref(document);
}
END_TEST

static Suite *make_suite(void)
{
    vf_tool_need();
    Suite *suite = suite_create("sensitivity");
    TCase *tests = tcase_create("sensitivity");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 240);
    tcase_add_loop_test(tests, statuses, 0, (int)(sizeof row / sizeof row[0]));
    tcase_add_test(tests, agrees_with_convert_and_eval);
    tcase_add_test(tests, recipe_keeps_the_budget);
    tcase_add_loop_test(tests, one_number_is_one_site, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
