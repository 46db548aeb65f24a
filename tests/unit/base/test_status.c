#include <string.h>

#include "runtime/base/status.h"
#include "tests/support/check_main.h"

START_TEST(fail_stores_sentence_and_status)
{
    VfErr err = {0};
    ck_assert_int_eq(vf_fail(&err, VF_INVALID, "node '%s' has %d inputs", "a", 3), VF_INVALID);
    ck_assert_int_eq(err.status, VF_INVALID);
    ck_assert_str_eq(err.text, "node 'a' has 3 inputs");
    ck_assert_int_eq(vf_fail(NULL, VF_IO, "%s", ""), VF_IO);
}
END_TEST

START_TEST(context_is_prepended)
{
    VfErr err = {0};
    vf_fail(&err, VF_UNSUPPORTED, "no kernel for '%s'", "Foo");
    ck_assert_int_eq(vf_context(&err, "node '%s'", "b"), VF_UNSUPPORTED);
    ck_assert_str_eq(err.text, "node 'b': no kernel for 'Foo'");
}
END_TEST

START_TEST(long_sentences_are_cut_between_characters)
{
    static char word[VF_ERR_TEXT_BYTES + 8];
    VfErr err = {0};
    /* Two-byte characters after one byte: the cut falls inside one of them. */
    word[0] = 'a';
    for (size_t i = 1; i + 2 < sizeof word; i += 2)
        memcpy(word + i, "\xc3\xa9", 2);
    vf_fail(&err, VF_INVALID, "%s", word);
    size_t n = strlen(err.text);
    ck_assert_uint_ge(n, VF_ERR_TEXT_BYTES - 3);
    ck_assert_int_eq((unsigned char)err.text[n - 1], 0xa9);
    vf_context(&err, "file");
    n = strlen(err.text);
    ck_assert_uint_lt(n, VF_ERR_TEXT_BYTES);
    ck_assert_int_eq((unsigned char)err.text[n - 1], 0xa9);
    ck_assert_int_eq(strncmp(err.text, "file: a", 7), 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("status");
    TCase *tests = tcase_create("status");
    tcase_add_test(tests, fail_stores_sentence_and_status);
    tcase_add_test(tests, context_is_prepended);
    tcase_add_test(tests, long_sentences_are_cut_between_characters);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
