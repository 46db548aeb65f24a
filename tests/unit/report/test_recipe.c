/* Recipes as XML: what is read, what is refused with which sentence, and that writing is stable. */
#include "converter/report/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/check_main.h"

#define HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<recipe format=\"1\""

static VfArena *arena;
static VfErr err;

static void set_up(void)
{
    arena = vf_arena_new();
    err = (VfErr){0};
}

static void tear_down(void)
{
    vf_arena_free(arena);
}

static VfStatus read_bytes(const char *data, size_t size, VfRecipe *recipe)
{
    return vf_recipe_read(arena, (VfBytes){data, size}, "r.xml", recipe, &err);
}

static const char *write_text(const VfRecipe *recipe)
{
    VfText text;
    VfBytes done;
    vf_text_init(&text, arena);
    ck_assert_msg(vf_recipe_write(recipe, &text, &err) == VF_OK, "%s", err.text);
    ck_assert_int_eq(vf_text_get(&text, &done, &err), VF_OK);
    return done.data;
}

START_TEST(everything_is_read)
{
    static const char text[] =
        HEAD " tool=\"other 9\" clean-up=\"off\">\n"
             "<note>two\nlines &amp; &#60;more&gt;</note>\n<skip pass=\"a\"/><skip pass=\"b\"/>\n"
             "<!-- a comment -->\n<pass name=\"c\" sites=\"0-3,blk.*\"/>\n"
             "<pass name=\"d\">\n<option name=\"k\" value=\"1,2;3\"/>\n</pass></recipe>";
    VfRecipe recipe;
    ck_assert_msg(read_bytes(text, sizeof text - 1, &recipe) == VF_OK, "%s", err.text);
    ck_assert_str_eq(recipe.tool, "other 9");
    ck_assert_str_eq(recipe.note, "two\nlines & <more>");
    ck_assert(recipe.is_bare);
    ck_assert_int_eq(recipe.n_skip, 2);
    ck_assert_str_eq(recipe.skip[1].name, "b");
    ck_assert_int_eq(recipe.n_pass, 2);
    ck_assert_str_eq(recipe.pass[0].sites, "0-3,blk.*");
    ck_assert_int_eq(recipe.pass[0].line, 7);
    ck_assert_ptr_null(recipe.pass[1].sites);
    ck_assert_int_eq(recipe.pass[1].n_option, 1);
    ck_assert_str_eq(recipe.pass[1].option[0].value, "1,2;3");
    ck_assert_int_eq(recipe.pass[1].option[0].line, 9);
}
END_TEST

START_TEST(writing_is_stable)
{
    static const VfRecipeOption option[] = {{"x", "a\"b<c>&d\t\n\r'e", 0}, {"y", "", 0}};
    static const VfRecipePass skip[] = {{.name = "s"}};
    static const VfRecipePass pass[] = {
        {.name = "p", .sites = "ü*", .option = option, .n_option = 2}, {.name = "q"}};
    VfRecipe recipe = {.tool = "t", .note = " a\r\n<b>\t", .skip = skip, .n_skip = 1,
                       .pass = pass, .n_pass = 2};
    VfRecipe again;
    const char *text = write_text(&recipe);
    ck_assert_msg(read_bytes(text, strlen(text), &again) == VF_OK, "%s", err.text);
    ck_assert_str_eq(again.note, recipe.note);
    ck_assert_str_eq(again.pass[0].option[0].value, option[0].value);
    ck_assert_str_eq(again.pass[0].option[1].value, "");
    ck_assert_str_eq(again.pass[0].sites, "ü*");
    ck_assert_str_eq(write_text(&again), text);
}
END_TEST

START_TEST(a_recipe_may_be_empty)
{
    VfRecipe recipe;
    static const char text[] = "<recipe format='1'/>";
    ck_assert_msg(read_bytes(text, sizeof text - 1, &recipe) == VF_OK, "%s", err.text);
    ck_assert_int_eq(recipe.n_pass + recipe.n_skip, 0);
    ck_assert(!recipe.is_bare && recipe.note == NULL && recipe.tool == NULL);
}
END_TEST

typedef struct Bad {
    const char *text, *says;
} Bad;

static const Bad bad[] = {
    {"", "r.xml:1: "},
    {"text", "r.xml:1: "},
    {"<recipe format=\"1\">\n<pass name=\"a\">\n</recipe>", "r.xml:3: "},
    {"<recipe format=\"1\"/><recipe/>", "r.xml:1: "},
    {"<recpe format=\"1\"/>", "r.xml:1: expecting element recipe, got recpe"},
    {"<x:recipe xmlns:x=\"y\" format=\"1\"/>", "r.xml:1: "},
    {"<recipe xmlns=\"y\" format=\"1\"/>", "r.xml:1: "},
    {"<recipe/>", "r.xml:1: an attribute of element recipe is missing"},
    {"<recipe format=\"2\"/>", "r.xml:1: an attribute of element recipe is missing or has"},
    {"<recipe format=\"1\" clean-up=\"maybe\"/>", "r.xml:1: invalid attribute clean-up for"},
    {"<recipe format=\"1\" color=\"red\"/>", "r.xml:1: invalid attribute color for element"},
    {"<recipe format=\"1\">\n\n<pas name=\"a\"/></recipe>", "r.xml:3: did not expect element pas"},
    {"<recipe format=\"1\">\n<pass/></recipe>", "r.xml:2: an attribute of element pass is missing"},
    {"<recipe format=\"1\">words</recipe>", "r.xml:1: "},
    {"<recipe format=\"1\"><pass name=\"a\"><option name=\"b\"/></pass></recipe>", "r.xml:1: "},
    {"<recipe format=\"1\"><pass name=\"a\"><pass name=\"b\"/></pass></recipe>", "r.xml:1: "},
    {"<recipe format=\"1\"><pass name=\"a\"/><note>late</note></recipe>", "r.xml:1: "},
    {"<recipe format=\"1\"><note>a</note><note>b</note></recipe>", "r.xml:1: "},
    {"<recipe format=\"1\" format=\"1\"/>", "r.xml:1: "},
    {"<recipe format=\"1\"><note>&who;</note></recipe>", "r.xml:1: entity 'who' not defined"},
    {"<recipe format=\"1\"><pass name=\"&who;\"/></recipe>", "r.xml:1: entity 'who'"},
    {"<recipe format=\"1\"><note>&#0;</note></recipe>", "r.xml:1: "},
    {"<!DOCTYPE recipe>\n<recipe format=\"1\"/>", "r.xml:1: a recipe has no DOCTYPE"},
    {"<!DOCTYPE recipe SYSTEM \"file:///etc/passwd\">\n<recipe format=\"1\"/>", "no DOCTYPE"},
    {"<!DOCTYPE r [<!ENTITY a \"x\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n"
     "<recipe format=\"1\"><note>&b;</note></recipe>", "no DOCTYPE"},
    {"<!DOCTYPE r [<!ENTITY a SYSTEM \"/etc/passwd\">]>\n"
     "<recipe format=\"1\"><pass name=\"&a;\"/></recipe>", "no DOCTYPE"},
    {"<recipe format=\"1\">\n<note>\xe9</note></recipe>", "r.xml:2: byte 0xe9 is not part of"},
    {"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<recipe format=\"1\"><note>\xe9</note>"
     "</recipe>", "r.xml:2: byte 0xe9"},
};

START_TEST(faults_are_told_with_their_line)
{
    VfRecipe recipe;
    VfStatus status = read_bytes(bad[_i].text, strlen(bad[_i].text), &recipe);
    ck_assert_msg(status == VF_USAGE, "row %d: status %d", _i, (int)status);
    ck_assert_msg(strstr(err.text, bad[_i].says) != NULL, "row %d: '%s' lacks '%s'", _i, err.text,
                  bad[_i].says);
    ck_assert_msg(strncmp(err.text, "r.xml:", 6) == 0, "row %d: '%s'", _i, err.text);
    ck_assert_ptr_null(strchr(err.text, '\n'));
}
END_TEST

START_TEST(zero_bytes_and_wide_text_are_refused)
{
    VfRecipe recipe;
    static const char zero[] = "<recipe format=\"1\">\n\0</recipe>";
    static const char wide[] = "<\0r\0e\0c\0i\0p\0e\0/\0>\0";
    ck_assert_int_eq(read_bytes(zero, sizeof zero - 1, &recipe), VF_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "r.xml:2: byte 0x00"));
    ck_assert_int_eq(read_bytes(wide, sizeof wide - 1, &recipe), VF_USAGE);
}
END_TEST

/* `n` times `piece` between `head` and `tail`. */
static const char *repeated(const char *head, const char *piece, int n, const char *tail)
{
    VfText text;
    VfBytes done;
    vf_text_init(&text, arena);
    vf_text_string(&text, head);
    for (int i = 0; i < n; i++)
        vf_text_string(&text, piece);
    vf_text_string(&text, tail);
    ck_assert_int_eq(vf_text_get(&text, &done, &err), VF_OK);
    return done.data;
}

START_TEST(size_and_depth_are_bounded)
{
    VfRecipe recipe;
    const char *deep = repeated("<recipe format=\"1\">", "<a>", 100000, "");
    ck_assert_int_eq(read_bytes(deep, strlen(deep), &recipe), VF_USAGE);
    ck_assert_msg(strstr(err.text, "epth") != NULL, "%s", err.text);
    const char *large = repeated("<recipe format=\"1\"><note>", "0123456789", 110000,
                                 "</note></recipe>");
    ck_assert_int_eq(read_bytes(large, strlen(large), &recipe), VF_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "at most 1048576"));
    const char *many = repeated("<recipe format=\"1\">", "<pass name=\"a\"/>", 20000, "</recipe>");
    ck_assert_msg(read_bytes(many, strlen(many), &recipe) == VF_OK, "%s", err.text);
    ck_assert_int_eq(recipe.n_pass, 20000);
}
END_TEST

/* Pairs of attributes are compared: 100,000 of them would take minutes. */
START_TEST(attributes_are_bounded)
{
    VfRecipe recipe;
    const char *many = repeated("<recipe format=\"1\"", " a='>'", 100000, "/>");
    ck_assert_int_eq(read_bytes(many, strlen(many), &recipe), VF_USAGE);
    ck_assert_msg(strstr(err.text, "more than 64 attributes") != NULL, "%s", err.text);
    const char *comment = repeated("<!-- <' --><recipe format=\"1\"", " a=''", 100000, "/>");
    ck_assert_int_eq(read_bytes(comment, strlen(comment), &recipe), VF_USAGE);
    ck_assert_msg(strstr(err.text, "more than 64 attributes") != NULL, "%s", err.text);
    const char *words = repeated("<recipe format=\"1\"><note>", " a='' ", 1000, "</note></recipe>");
    ck_assert_msg(read_bytes(words, strlen(words), &recipe) == VF_OK, "%s", err.text);
}
END_TEST

/* Every prefix of a recipe is no recipe, and is told so. */
START_TEST(a_cut_recipe_is_refused)
{
    static const VfRecipeOption option[] = {{"x", "1", 0}};
    static const VfRecipePass pass[] = {
        {.name = "p", .sites = "2", .option = option, .n_option = 1}};
    VfRecipe recipe = {.tool = "t", .note = "n", .pass = pass, .n_pass = 1}, again;
    const char *text = write_text(&recipe);
    for (size_t n = strlen(text) - 2; n > 0; n--) {
        char *cut = malloc(n);
        ck_assert_ptr_nonnull(cut);
        memcpy(cut, text, n);
        ck_assert_int_eq(read_bytes(cut, n, &again), VF_USAGE);
        free(cut);
    }
}
END_TEST

static const char *const unwritable[] = {
    "a\x01", "\x7f\x80", "\xff", "\xef\xbf\xbe", "\xef\xbf\xbf", "\xed\xa0\x80", "\x1b[0m"};

START_TEST(what_xml_cannot_hold_is_not_written)
{
    VfRecipePass pass = {.name = "p", .sites = unwritable[_i]};
    VfRecipe recipe = {.pass = &pass, .n_pass = 1};
    VfText text;
    vf_text_init(&text, arena);
    ck_assert_int_eq(vf_recipe_write(&recipe, &text, &err), VF_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "a recipe cannot hold byte 0x"));
}
END_TEST

#define LOOP(tcase, test, rows) \
    tcase_add_loop_test(tcase, test, 0, (int)(sizeof rows / sizeof rows[0]))

static Suite *make_suite(void)
{
    Suite *suite = suite_create("recipe");
    TCase *tests = tcase_create("recipe");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, everything_is_read);
    tcase_add_test(tests, writing_is_stable);
    tcase_add_test(tests, a_recipe_may_be_empty);
    LOOP(tests, faults_are_told_with_their_line, bad);
    tcase_add_test(tests, zero_bytes_and_wide_text_are_refused);
    tcase_add_test(tests, size_and_depth_are_bounded);
    tcase_add_test(tests, attributes_are_bounded);
    tcase_add_test(tests, a_cut_recipe_is_refused);
    LOOP(tests, what_xml_cannot_hold_is_not_written, unwritable);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
