#include <math.h>
#include <string.h>

#include "runtime/base/text.h"
#include "tests/support/arena_case.h"

#define BYTES(literal) {literal, sizeof(literal) - 1}

/* Bytes, as JSON, for people. */
static const struct {
    VfBytes in;
    const char *json, *visible;
} spelling[] = {
    {BYTES("plain"), "\"plain\"", "plain"},
    {BYTES(""), "\"\"", ""},
    {BYTES("a\"b\\c"), "\"a\\\"b\\\\c\"", "a\"b\\c"},
    {BYTES("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"", "\\x08\\x0c\\x0a\\x0d\\x09"},
    {BYTES("a\0b\x1f\x7f"), "\"a\\u0000b\\u001f\\u007f\"", "a\\x00b\\x1f\\x7f"},
    {BYTES("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
     "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    {BYTES("\xff\xfe"), "\"\\\\xff\\\\xfe\"", "\\xff\\xfe"},
    {BYTES("\xc3"), "\"\\\\xc3\"", "\\xc3"},
    {BYTES("\xc0\x80"), "\"\\\\xc0\\\\x80\"", "\\xc0\\x80"},             /* overlong */
    {BYTES("\xed\xa0\x80"), "\"\\\\xed\\\\xa0\\\\x80\"", "\\xed\\xa0\\x80"}, /* surrogate */
    {BYTES("\xf4\x90\x80\x80"), "\"\\\\xf4\\\\x90\\\\x80\\\\x80\"", "\\xf4\\x90\\x80\\x80"},
    {BYTES("\xc2\x9b"), "\"\xc2\x9b\"", "\\xc2\\x9b"}, /* a control character past ASCII */
};

START_TEST(any_bytes_are_spelled)
{
    VfText text;
    VfBytes out;
    vf_text_init(&text, arena);
    vf_text_json(&text, spelling[_i].in);
    ck_assert_int_eq(vf_text_get(&text, &out, NULL), VF_OK);
    ck_assert_str_eq(out.data, spelling[_i].json);
    vf_text_init(&text, arena);
    vf_text_visible(&text, spelling[_i].in);
    ck_assert_int_eq(vf_text_get(&text, &out, NULL), VF_OK);
    ck_assert_str_eq(out.data, spelling[_i].visible);
}
END_TEST

static const struct {
    double value;
    const char *text;
} number[] = {
    {0.1, "0.1"}, {1e300, "1e+300"}, {-0.0, "-0"}, {3, "3"}, {1.0 / 3.0, "0.3333333333333333"},
    {5e-324, "5e-324"}, {(double)INFINITY, "inf"}, {-(double)INFINITY, "-inf"},
    {(double)NAN, "nan"}, {123456789.0, "123456789"}, {0.1 + 0.2, "0.30000000000000004"},
};

START_TEST(doubles_are_short_and_exact)
{
    VfText text;
    vf_text_init(&text, arena);
    vf_text_double(&text, number[_i].value);
    ck_assert_str_eq(text.data, number[_i].text);
}
END_TEST

START_TEST(floats_are_short_and_exact)
{
    VfText text;
    vf_text_init(&text, arena);
    vf_text_float(&text, 0.1f);
    vf_text_char(&text, ' ');
    vf_text_float(&text, 16777216.0f);
    ck_assert_str_eq(text.data, "0.1 16777216");
}
END_TEST

START_TEST(text_grows)
{
    VfText text;
    vf_text_init(&text, arena);
    for (int i = 0; i < 5000; i++)
        vf_text_printf(&text, "%04d", i);
    vf_text_repeat(&text, '-', 3);
    ck_assert_uint_eq(text.size, 20003);
    ck_assert_int_eq(memcmp(text.data + 4 * 4321, "4321", 4), 0);
    ck_assert_str_eq(text.data + 19996, "4999---");
}
END_TEST

START_TEST(failure_sticks)
{
    VfText text;
    VfBytes out;
    vf_text_init(&text, arena);
    vf_text_string(&text, "kept");
    vf_text_repeat(&text, 'x', SIZE_MAX - 2);
    vf_text_string(&text, "ignored");
    ck_assert_str_eq(text.data, "kept");
    ck_assert_int_eq(vf_text_get(&text, &out, NULL), VF_NO_MEMORY);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("text");
    TCase *tests = tcase_create("text");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, any_bytes_are_spelled, 0,
                        (int)(sizeof spelling / sizeof spelling[0]));
    tcase_add_loop_test(tests, doubles_are_short_and_exact, 0,
                        (int)(sizeof number / sizeof number[0]));
    tcase_add_test(tests, floats_are_short_and_exact);
    tcase_add_test(tests, text_grows);
    tcase_add_test(tests, failure_sticks);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
