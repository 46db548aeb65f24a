#include <math.h>
#include <string.h>

#include "converter/emit/spell.h"
#include "tests/support/arena_case.h"

#define BYTES(literal) {literal, sizeof(literal) - 1}

/* Bytes; in a comment, as a string, as a word of a shell. */
static const struct {
    VfBytes in;
    const char *comment, *string, *word;
} spelling[] = {
    {BYTES("plain.0/a-b"), "plain.0/a-b", "\"plain.0/a-b\"", "plain.0/a-b"},
    {BYTES(""), "", "\"\"", "$''"},
    {BYTES("*/"), "* / ", "\"*/\"", "$'*/'"},
    {BYTES("/*"), "/ * ", "\"/*\"", "$'/*'"},
    {BYTES("/"), "/ ", "\"/\"", "/"},
    {BYTES("**/*"), "** / * ", "\"**/*\"", "$'**/*'"},
    {BYTES("a?\?/b"), "a? ?/b", "\"a\\077\\077/b\"", "$'a?\?/b'"},
    {BYTES("a\nb\\"), "a\\x0ab\\x5c", "\"a\\012b\\134\"", "$'a\\012b\\134'"},
    {BYTES("\"'`$"), "\"'`$", "\"\\042'`$\"", "$'\"\\047\\140$'"},
    {BYTES("\xff\0012"), "\\xff\\x012", "\"\\377\\0012\"", "$'\\377\\0012'"},
    {BYTES("%s"), "%s", "\"%s\"", "$'%s'"},
};

START_TEST(any_bytes_are_spelled)
{
    VfText text;
    vf_text_init(&text, arena);
    vf_text_string(&text, "");
    vf_spell_comment(&text, spelling[_i].in);
    ck_assert_str_eq(text.data, spelling[_i].comment);
    vf_text_init(&text, arena);
    vf_spell_string(&text, spelling[_i].in);
    ck_assert_str_eq(text.data, spelling[_i].string);
    vf_text_init(&text, arena);
    vf_spell_shell_word(&text, spelling[_i].in);
    ck_assert_str_eq(text.data, spelling[_i].word);
}
END_TEST

/* Every pair of bytes: no comment, line or trigraph can begin or end. */
START_TEST(no_pair_means_anything)
{
    for (int second = 0; second < 256; second++) {
        char pair[2] = {(char)_i, (char)second};
        VfText text;
        vf_text_init(&text, arena);
        vf_spell_comment(&text, (VfBytes){pair, sizeof pair});
        vf_text_string(&text, "*/");
        ck_assert_ptr_eq(strstr(text.data, "*/"), text.data + text.size - 2);
        ck_assert(strstr(text.data, "/*") == NULL && strstr(text.data, "??") == NULL);
        ck_assert(strpbrk(text.data, "\n\r") == NULL);
        vf_arena_reset(arena);
    }
}
END_TEST

START_TEST(identifiers_are_unique)
{
    static const VfBytes name[] = {BYTES("a.b"), BYTES("a/b"), BYTES("a_b"), BYTES("a_b_2"),
                                   BYTES(""), BYTES(""), BYTES("\xc3\xa9"),
                                   BYTES("0123456789012345678901234567890123456789x"),
                                   BYTES("0123456789012345678901234567890123456789y")};
    static const char *const wanted[] = {"a_b", "a_b_2", "a_b_3", "a_b_2_2", "", "_2", "__",
                                         "0123456789012345678901234567890123456789",
                                         "0123456789012345678901234567890123456789_2"};
    enum { N = sizeof name / sizeof name[0] };
    const char *identifier[N];
    ck_assert_int_eq(vf_spell_identifiers(arena, N, name, identifier, NULL), VF_OK);
    for (int i = 0; i < N; i++)
        ck_assert_str_eq(identifier[i], wanted[i]);
}
END_TEST

START_TEST(numbers_read_back)
{
    VfText text;
    vf_text_init(&text, arena);
    vf_spell_int(&text, INT64_MIN);
    vf_text_char(&text, ' ');
    vf_spell_int(&text, INT64_MAX);
    vf_text_char(&text, ' ');
    vf_spell_int(&text, -5);
    vf_text_char(&text, ' ');
    vf_spell_int(&text, INT32_MIN);
    vf_text_char(&text, ' ');
    vf_spell_double(&text, 0.1, "");
    vf_text_char(&text, ' ');
    vf_spell_double(&text, -0.0, "f");
    vf_text_char(&text, ' ');
    vf_spell_double(&text, -(double)INFINITY, "");
    vf_text_char(&text, ' ');
    vf_spell_double(&text, (double)NAN, "f");
    ck_assert_str_eq(text.data, "(-INT64_C(9223372036854775807) - 1) "
                                "INT64_C(9223372036854775807) -5 INT64_C(-2147483648) "
                                "0x1.999999999999ap-4 -0x0p+0f -INFINITY NAN");
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("spell");
    TCase *tests = tcase_create("spell");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, any_bytes_are_spelled, 0, sizeof spelling / sizeof spelling[0]);
    tcase_add_loop_test(tests, no_pair_means_anything, 0, 256);
    tcase_add_test(tests, identifiers_are_unique);
    tcase_add_test(tests, numbers_read_back);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
