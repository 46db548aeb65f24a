/* Every command: its exit statuses, its sentences, its JSON. */
#include <stdio.h>
#include <string.h>

#include "tests/support/tool_case.h"

#define MODEL "%mnist/mnist_softmax_prepbn_op17.onnx"
#define OTHER "%mnist/mnist_softmax_ln_op17.onnx"
#define DATA "%mnist/test_500.npz"

/* Words, exit status, a part of the message. */
static const struct {
    const char *words;
    int status;
    const char *message;
} status_row[] = {
    {"help", 0, ""},
    {"--version", 0, ""},
    {"help convert", 0, ""},
    {"run --help", 0, ""},
    {"", 2, "no command"},
    {"konvert", 2, "unknown command 'konvert', did you mean 'convert'"},
    {"help konvert", 2, "unknown command"},
    {"inspect", 2, "usage: vitfold inspect MODEL..."},
    {"inspect --nothing " MODEL, 2, "unknown option '--nothing'"},
    {"inspect " MODEL " --dim batch", 2, "'batch' is not NAME=N"},
    {"inspect @none.onnx", 6, "none.onnx': No such file or directory"},
    {"inspect " DATA, 3, "test_500.npz"},
    {"inspect " MODEL " --json @no/such/folder/x.json", 6, "cannot write"},
    {"check " MODEL, 0, ""},
    {"check " DATA, 3, "has 1 fault"},
    {"check @none.onnx", 6, "none.onnx"},
    {"explain " MODEL " --pass fold-pn", 2, "unknown pass 'fold-pn'"},
    {"explain " MODEL " --node none*", 2, "no node or site is named 'none*'"},
    {"explain " MODEL " --node *Softmax*", 0, ""},
    {"passes", 0, ""},
    {"passes fold-bn", 0, ""},
    {"passes --operators", 0, ""},
    {"passes --operators fold-bn", 2, "lists all operators, not a pass"},
    {"passes fold-bm", 2, "unknown pass 'fold-bm', did you mean 'fold-bn'"},
    {"run " MODEL, 2, "no data for input 'image'"},
    {"run " MODEL " --random x", 2, "option 'random': 'x' is not a number"},
    {"run " MODEL " --random 1 --threads 2", 0, ""},
    {"run " MODEL " --input image", 2, "'image' is not NAME=FILE"},
    {"run " MODEL " --input images=@x.npy", 6, "x.npy"},
    {"run " MODEL " --inputs " DATA, 2, "the model has no input 'x'"},
    {"compare " MODEL, 2, "compare takes two models"},
    {"compare " MODEL " " MODEL " --exact", 0, ""},
    {"compare " MODEL " " OTHER " --dim batch=3", 1, "1 outputs differ"},
    {"compare " MODEL " " OTHER " --rtol 10 --atol 100", 0, ""},
    {"compare " MODEL " " OTHER " --limit logits=10,100", 0, ""},
    {"compare " MODEL " " OTHER " --limit logits=10", 2, "is not OUTPUT=RTOL,ATOL"},
    {"diff " MODEL, 2, "usage: vitfold diff A.onnx B.onnx"},
    {"diff " MODEL " " MODEL, 0, ""},
    {"diff " MODEL " " OTHER " --dim batch=2 --random 1", 1, "the models differ"},
    {"diff " MODEL " " OTHER " --context -1", 2, "option 'context'"},
    {"eval " MODEL, 2, "eval needs --data"},
    {"eval " MODEL " --data @none.npz", 6, "none.npz"},
    {"eval " MODEL " --data " MODEL, 3, "cannot read"},
    {"bench " MODEL " " OTHER " --beside unfused", 2, "two models, or one and --beside"},
    {"bench " MODEL " --repeats 1 --trace " MODEL, 2, "named for two different files"},
    {"bench " MODEL " --repeats 0", 2, "option 'repeats': 0 is not within"},
    {"convert " MODEL, 2, "convert needs one output"},
    {"convert " MODEL " @o.onnx --passes nothing", 2, "unknown pass 'nothing'"},
    {"convert " MODEL " @o.onnx --passes fold-bn:x=1", 2, "fold-bn"},
    {"convert " MODEL " @o.onnx --report @r.md", 2, "none of .html, .txt, .json"},
    {"convert " MODEL " @o.onnx --dim nothing=3", 2, "no input has a dimension 'nothing'"},
    {"convert " MODEL " @no/such/folder/o.onnx", 6, "cannot write"},
    {"convert " DATA " @o.onnx", 3, "test_500.npz"},
    {"convert " OTHER " @o.onnx --passes fold-bn --strict", 4, "'fold-bn' found no site"},
    {"convert " OTHER " @o.onnx --passes fold-bn;fold-repbn --strict", 4,
     "'fold-bn', 'fold-repbn' found no site to change: nothing is written"},
    {"convert " MODEL " @o.onnx --passes softmax-to-relu,fold-ln-affine,fold-bn:sites=99 --strict",
     4, "'fold-ln-affine', 'fold-bn' found no site to change"},
    {"convert " MODEL " -", 2, "'-' is no file to write: /dev/stdout is standard output, ./- a"},
    {"convert " MODEL " @o.onnx --report -", 2, "none of .html, .txt, .json"},
    {"convert " MODEL " @o.onnx --save-recipe -", 2, "'-' is no file to write"},
    {"convert " MODEL " @o.onnx --emit-c -", 2, "'-' is no file to write"},
    {"emit-c " MODEL " -o -", 2, "'-' is no file to write"},
    {"run " MODEL " --random 1 --outputs -", 2, "'-' is no file to write"},
    {"run " MODEL " --random 1 --output-dir -", 2, "'-' is no file to write"},
    {"passes sofmax", 2, "unknown pass 'sofmax', did you mean 'softmax-to-relu'"},
};

START_TEST(statuses)
{
    const VfToolResult *result = vf_tool_run(folder, status_row[_i].words);
    ck_assert_msg(result->status == status_row[_i].status, "'%s': status %d, %s",
                  status_row[_i].words, result->status, result->message);
    ck_assert_msg(strstr(result->message, status_row[_i].message) != NULL, "'%s': %s",
                  status_row[_i].words, result->message);
    /* A success is silent on standard error, a failure without a report on standard output. */
    ck_assert_int_eq(result->message[0] == '\0', result->status == 0);
    if (result->status > 1 && strncmp(status_row[_i].words, "check", 5) != 0)
        ck_assert_str_eq(result->out, "");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 0);
}
END_TEST

/* Words, schema, a key that must be there. */
static const struct {
    const char *words, *schema, *key;
} json_row[] = {
    {"inspect " MODEL " " OTHER, "vitfold.inspect.1", "models"},
    {"explain " MODEL, "vitfold.explain.1", "passes"},
    {"passes", "vitfold.passes.1", "passes"},
    {"passes --operators", "vitfold.operators.1", "operators"},
    {"check " MODEL, "vitfold.check.1", "faults"},
    {"run " MODEL " --random 1", "vitfold.run.1", "tensors"},
    {"compare " MODEL " " OTHER " --per-node", "vitfold.compare.1", "nodes"},
    {"diff " MODEL " " OTHER, "vitfold.diff.1", "nodes"},
    {"eval " MODEL " --samples 70 --data " DATA, "vitfold.eval.1", "top1"},
    {"bench " MODEL " --repeats 2 --per-node", "vitfold.bench.2", "models"},
    {"bench " MODEL " " OTHER " --repeats 2", "vitfold.bench.2", "ratio"},
    {"bench " MODEL " --beside unfused --repeats 2", "vitfold.bench.2", "ratio"},
    {"convert " MODEL " @o.onnx", "vitfold.convert.1", "after"},
};

START_TEST(reports_are_json)
{
    char words[600], first[80];
    json_error_t error;
    snprintf(words, sizeof words, "%s --json", json_row[_i].words);
    const VfToolResult *result = vf_tool_run(folder, words);
    snprintf(first, sizeof first, "{\n  \"schema\": \"%s\"", json_row[_i].schema);
    ck_assert_int_eq(strncmp(result->out, first, strlen(first)), 0);
    json_t *document = json_loads(result->out, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(document != NULL, "'%s': %s at line %d", words, error.text, error.line);
    ck_assert_ptr_nonnull(json_object_get(document, json_row[_i].key));
    json_decref(document);
}
END_TEST

START_TEST(json_goes_to_a_file_beside_the_text)
{
    json_error_t error;
    const VfToolResult *result = vf_tool_run(folder, "passes --json @p.json");
    ck_assert_int_eq(result->status, 0);
    ck_assert_ptr_nonnull(strstr(result->out, "fold-bn"));
    ck_assert_int_ne(result->out[0], '{');
    json_t *document = json_load_file(vf_tool_path(folder, "@p.json"), 0, &error);
    ck_assert_ptr_nonnull(document);
    json_decref(document);
    /* A model after --json is an operand, never the file to write. */
    result = vf_tool_run(folder, "inspect --json " MODEL);
    ck_assert_int_eq(result->status, 0);
    ck_assert_int_eq(result->out[0], '{');
}
END_TEST

START_TEST(inspect_counts_sites)
{
    json_error_t error;
    const VfToolResult *result = vf_tool_run(folder, "inspect --json " MODEL);
    json_t *document = json_loads(result->out, 0, &error);
    json_t *sites = json_object_get(json_array_get(json_object_get(document, "models"), 0),
                                    "sites");
    json_t *attention = json_object_get(sites, "attention");
    json_t *norm = json_object_get(sites, "batch_norm");
    ck_assert_uint_eq(json_array_size(attention), 4);
    ck_assert_uint_eq(json_array_size(norm), 9);
    for (size_t i = 0; i < 4; i++)
        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(attention, i), "kind")),
                         "softmax");
    for (size_t i = 0; i < 9; i++) {
        json_t *row = json_array_get(norm, i);
        ck_assert(json_is_true(json_object_get(row, "rep")));
        ck_assert_str_ne(json_string_value(json_object_get(row, "fold")), "none");
    }
    json_decref(document);
}
END_TEST

/* Words and what explain prints: sites that are alike share a line, one node is told in detail. */
static const struct {
    const char *words, *text;
} explain_row[] = {
    {"", "attention: 4 sites\n  0 '"},
    {"", "fold-repbn\n  can change 9: '"},
    {"", " and 5 more (repbn-to-bn)\n"},
    {"", "no site: "},
    {"--node /blocks.0/attn/Softmax", "node '/blocks.0/attn/Softmax': Softmax\n  reads '"},
    {"--node /blocks.0/attn/Softmax", "  weights of attention '/blocks.0/attn/Softmax'\n"},
    {"--pass softmax-to-relu", "softmax-to-relu\n  can change 4: '"},
};

START_TEST(explain_says)
{
    char words[600];
    snprintf(words, sizeof words, "explain %s %s", MODEL, explain_row[_i].words);
    const VfToolResult *result = vf_tool_run(folder, words);
    ck_assert_msg(strstr(result->out, explain_row[_i].text) != NULL, "'%s': %s", words,
                  result->out);
}
END_TEST

static Suite *make_suite(void)
{
    vf_tool_need();
    Suite *suite = suite_create("commands");
    TCase *tests = tcase_create("commands");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, statuses, 0, (int)(sizeof status_row / sizeof status_row[0]));
    tcase_add_loop_test(tests, reports_are_json, 0, (int)(sizeof json_row / sizeof json_row[0]));
    tcase_add_test(tests, json_goes_to_a_file_beside_the_text);
    tcase_add_test(tests, inspect_counts_sites);
    tcase_add_loop_test(tests, explain_says, 0, (int)(sizeof explain_row / sizeof explain_row[0]));
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
