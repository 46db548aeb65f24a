/* convert --recipe and --save-recipe: what was run can be run again, to the byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "passes/pass.h"
#include "tests/support/tool_case.h"

#define MODEL "%mnist/mnist_softmax_prepbn_op17.onnx"

static char *read_text(const char *word)
{
    size_t size;
    unsigned char *bytes = vf_tool_read(vf_tool_path(folder, word), &size);
    ck_assert_msg(bytes != NULL, "no '%s'", word);
    char *text = malloc(size + 1);
    ck_assert_ptr_nonnull(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    free(bytes);
    return text;
}

static void write_text(const char *word, const char *text)
{
    FILE *file = fopen(vf_tool_path(folder, word), "wb");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* --- replaying --- */

static const char *const pipeline[] = {
    "",
    "--passes none",
    "--passes default --skip fold-bn,fuse-gelu",
    "--passes softmax-to-relu:act=relu2,alpha=0.5,sites=0-1,default",
    "--passes softmax-to-relu:sites=/blocks.[01]*,linearize-attention:sites=3",
    "--skip normalize,fold-constants",
};

static void replay(const char *words)
{
    char line[512];
    snprintf(line, sizeof line, "convert %s @a.onnx --save-recipe @a.xml%s%s", MODEL,
             words[0] == '\0' ? "" : " ", words);
    expect(0, line);
    expect(0, "convert " MODEL " @b.onnx --recipe @a.xml --save-recipe @b.xml");
    assert_same_file("@a.onnx", "@b.onnx");
    assert_same_file("@a.xml", "@b.xml");
}

START_TEST(a_saved_recipe_replays)
{
    replay(pipeline[_i]);
}
END_TEST

/* Also those that come later: every pass with its defaults. */
START_TEST(every_pass_replays)
{
    char words[256];
    snprintf(words, sizeof words, "convert %s @try.onnx --passes %s", MODEL,
             vf_pass_table[_i]->name);
    int status = vf_tool_run(folder, words)->status;
    if (status == 2) /* an option or data is missing: this pass has no defaults that run */
        return;
    snprintf(words, sizeof words, "--passes %s", vf_pass_table[_i]->name);
    replay(words);
}
END_TEST

START_TEST(notes_and_skips_are_kept)
{
    write_text("@r.xml", "<recipe format=\"1\">\n<note>why &amp; how</note>\n"
                         "<skip pass=\"fold-bn\"/>\n<pass name=\"default\"/></recipe>\n");
    expect(0, "convert " MODEL " @a.onnx --recipe @r.xml --save-recipe @s.xml --skip fuse-gelu");
    char *text = read_text("@s.xml");
    ck_assert_ptr_nonnull(strstr(text, "<note>why &amp; how</note>"));
    ck_assert_ptr_nonnull(strstr(text, "<skip pass=\"fold-bn\"/>"));
    ck_assert_ptr_nonnull(strstr(text, "<skip pass=\"fuse-gelu\"/>"));
    ck_assert_ptr_null(strstr(text, "<pass name=\"fold-bn\""));
    ck_assert_ptr_nonnull(strstr(text, "<pass name=\"fold-repbn\""));
    ck_assert_ptr_null(strstr(text, "default"));
    free(text);
}
END_TEST

/* A recipe may be put into its full form in place. */
START_TEST(a_recipe_may_be_saved_onto_itself)
{
    write_text("@r.xml", "<recipe format=\"1\"><pass name=\"fold-bn\"/></recipe>");
    expect(0, "convert " MODEL " @a.onnx --recipe @r.xml --save-recipe @r.xml");
    expect(0, "convert " MODEL " @b.onnx --recipe @r.xml --save-recipe @s.xml");
    assert_same_file("@r.xml", "@s.xml");
    assert_same_file("@a.onnx", "@b.onnx");
}
END_TEST

/* --- refusals --- */

typedef struct Bad {
    const char *text, *says;
} Bad;

#define RECIPE(body) "<recipe format=\"1\">\n" body "\n</recipe>\n"

static const Bad bad[] = {
    {RECIPE("<pass name=\"fold-bm\"/>"), ":2: unknown pass 'fold-bm', did you mean 'fold-bn'"},
    {RECIPE("<skip pass=\"fold-bm\"/>"), ":2: unknown pass 'fold-bm', did you mean 'fold-bn'"},
    {RECIPE("<pass name=\"softmax-to-relu\">\n<option name=\"alpa\" value=\"1\"/></pass>"),
     ":3: pass 'softmax-to-relu' has no option 'alpa', did you mean 'alpha'"},
    {RECIPE("<pass name=\"softmax-to-relu\">\n<option name=\"act\" value=\"x\"/></pass>"),
     ":3: pass 'softmax-to-relu': option 'act': 'x' is not one of"},
    {RECIPE("<pass name=\"softmax-to-relu\"><option name=\"act\" value=\"relu\"/>\n"
            "<option name=\"act\" value=\"relu\"/></pass>"), ":3: option 'act' is given twice"},
    {RECIPE("<pass name=\"fold-bn\"><option name=\"x\" value=\"\"/></pass>"),
     ":2: pass 'fold-bn' has no option 'x'"},
    {RECIPE("<pass name=\"fold-bn\" sites=\"5-2\"/>"), ":2: sites '5-2' is neither"},
    {RECIPE("<pass name=\"fold-bn\" sites=\"\"/>"), ":2: sites '' is neither"},
    {RECIPE("<pass name=\"softmax-to-relu\">\n<option name=\"alpha\" value=\"9\"/></pass>"),
     "r.xml:3: pass 'softmax-to-relu': option 'alpha': 9 is not within 0 to 2"},
    /* What only the pass itself can tell. */
    {RECIPE("\n<pass name=\"insert-spa\"><option name=\"tau\" value=\"9\"/></pass>"),
     "r.xml:3: pass 'insert-spa': option 'tau': '9' is no number from 0 to 1"},
    {RECIPE("<pass name=\"softmax-to-relu\"><option name=\"gain\" value=\"x\"/></pass>"),
     "r.xml:2: pass 'softmax-to-relu': option 'gain': 'x' is neither auto nor a number"},
    {RECIPE("<pass name=\"default\" sites=\"1\"/>"), ":2: 'default' takes no options"},
    {RECIPE("<pass name=\"softmax-to-relu\"/><pass name=\"linearize-attention\"/>"),
     "'linearize-attention' cannot follow 'softmax-to-relu' on the same sites"},
    {RECIPE("<step/>"), ":2: did not expect element step there"},
    {"<recipe", ":1: "},
};

START_TEST(a_bad_recipe_is_bad_usage)
{
    write_text("@r.xml", bad[_i].text);
    size_t before = vf_temp_folder_count(folder);
    const VfToolResult *result = expect(2, "convert " MODEL " @a.onnx --recipe @r.xml");
    ck_assert_msg(strstr(result->message, bad[_i].says) != NULL, "'%s' lacks '%s'",
                  result->message, bad[_i].says);
    ck_assert_uint_eq(vf_temp_folder_count(folder), before);
}
END_TEST

START_TEST(passes_come_from_one_place)
{
    write_text("@r.xml", RECIPE(""));
    expect(2, "convert " MODEL " @a.onnx --recipe @r.xml --passes default");
    expect(2, "convert " MODEL " @a.onnx --recipe @r.xml --skip fold-bm");
    expect(2, "convert " MODEL " @a.onnx --save-recipe @a.onnx");
    expect(2, "convert " MODEL " @a.onnx --save-recipe @a.xml --report @a.xml");
    expect(6, "convert " MODEL " @a.onnx --recipe @none.xml");
    expect(6, "convert " MODEL " @a.onnx --save-recipe @no/where.xml");
    ck_assert_uint_eq(vf_temp_folder_count(folder), 1);
}
END_TEST

START_TEST(nothing_is_saved_when_nothing_is_converted)
{
    expect(0, "convert " MODEL " @relu.onnx --passes softmax-to-relu");
    size_t before = vf_temp_folder_count(folder);
    expect(4, "convert @relu.onnx @a.onnx --passes softmax-to-relu --strict --save-recipe @a.xml");
    ck_assert_uint_eq(vf_temp_folder_count(folder), before);
}
END_TEST

START_TEST(the_schema_is_printed)
{
    const VfToolResult *result = expect(0, "passes --recipe-schema");
    size_t size;
    unsigned char *file = vf_tool_read(vf_tool_path(folder, "%../converter/report/recipe.rng"),
                                       &size);
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(strlen(result->out), size);
    ck_assert_int_eq(memcmp(result->out, file, size), 0);
    free(file);
}
END_TEST

#define LOOP(tcase, test, rows) \
    tcase_add_loop_test(tcase, test, 0, (int)(sizeof rows / sizeof rows[0]))

static Suite *make_suite(void)
{
    vf_tool_need();
    Suite *suite = suite_create("recipe");
    TCase *tests = tcase_create("recipe");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 120);
    LOOP(tests, a_saved_recipe_replays, pipeline);
    tcase_add_loop_test(tests, every_pass_replays, 0, vf_pass_count);
    tcase_add_test(tests, notes_and_skips_are_kept);
    tcase_add_test(tests, a_recipe_may_be_saved_onto_itself);
    LOOP(tests, a_bad_recipe_is_bad_usage, bad);
    tcase_add_test(tests, passes_come_from_one_place);
    tcase_add_test(tests, nothing_is_saved_when_nothing_is_converted);
    tcase_add_test(tests, the_schema_is_printed);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
