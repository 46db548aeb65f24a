#include <string.h>

#include "runtime/base/sha256.h"
#include "tests/support/check_main.h"

/* Text, how often, digest: the examples of FIPS 180-2, and lengths around the end of a block. */
static const struct {
    const char *text;
    size_t times;
    const char *digest;
} row[] = {
    {"", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    {"a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
    {"a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
    {"a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
};

START_TEST(known_digests)
{
    VfSha256 sha;
    char text[VF_SHA256_TEXT];
    vf_sha256_init(&sha);
    for (size_t i = 0; i < row[_i].times; i++)
        vf_sha256_add(&sha, row[_i].text, strlen(row[_i].text));
    vf_sha256_text(&sha, text);
    ck_assert_str_eq(text, row[_i].digest);
}
END_TEST

/* However the bytes are cut, the digest is that of the whole. */
START_TEST(pieces_do_not_matter)
{
    static const char whole[300] = "some bytes and then zeros";
    VfSha256 sha;
    char one[VF_SHA256_TEXT], two[VF_SHA256_TEXT];
    vf_sha256_init(&sha);
    vf_sha256_add(&sha, whole, sizeof whole);
    vf_sha256_text(&sha, one);
    vf_sha256_init(&sha);
    vf_sha256_add(&sha, whole, (size_t)_i);
    vf_sha256_add(&sha, whole + _i, sizeof whole - (size_t)_i);
    vf_sha256_text(&sha, two);
    ck_assert_str_eq(one, two);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("sha256");
    TCase *tests = tcase_create("sha256");
    tcase_add_loop_test(tests, known_digests, 0, sizeof row / sizeof row[0]);
    tcase_add_loop_test(tests, pieces_do_not_matter, 0, 300);
    suite_add_tcase(suite, tests);
    return suite;
}

VF_CHECK_MAIN(make_suite)
